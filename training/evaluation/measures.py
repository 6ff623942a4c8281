"""The accuracy measures of a detector, from the scores of single pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.training.evaluation.scoring import WELL_SEEN, Bools, FrameScore

Frames = Sequence[FrameScore]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of accuracy and its target."""

    name: str  # printed name
    of: Callable[[Frames], float]  # from pictures to its value; NaN where there is nothing to measure
    unit: str = "%"  # printed after it; shares are printed as percentages
    promised: float | None = None  # target value; None for a measure without one
    least: bool = True  # whether the target is a minimum, else a maximum

    def kept(self, value: float) -> bool:
        """Return whether a value meets the target."""
        return self.promised is None or (value >= self.promised if self.least else value <= self.promised)


def recall(frames: Frames, least_visible: float) -> float:
    """Share of figures found, of those whose base top is visible at least so much."""
    found = np.concatenate([frame.found[frame.visible >= least_visible] for frame in frames])
    return float(found.mean()) if len(found) else np.nan


def precision(frames: Frames) -> float:
    """Share of detected figures that exist."""
    true = sum(int(frame.found.sum()) for frame in frames)
    false = sum(len(frame.false_scores) for frame in frames)
    return true / (true + false) if true + false else np.nan


def fallen_f1(frames: Frames) -> float:
    """F1 of classifying fallen figures, over the figures found."""
    true, reported = (
        np.concatenate([getattr(frame, name)[frame.found] for frame in frames]) for name in ("fallen", "said_fallen")
    )
    wrong = int((true != reported).sum())
    right = int((true & reported).sum())
    return 2 * right / (2 * right + wrong) if right + wrong else np.nan


def corner_mm(frames: Frames, percentile: float, *, seen_only: bool = False) -> float:
    """A percentile of the corners' errors on the board, of standing, clearly visible figures."""
    errors = np.concatenate(
        [
            frame.corners_mm[_well_seen(frame)][frame.corners_seen[_well_seen(frame)] | (not seen_only)]
            for frame in frames
        ]
    )
    return _percentile(errors, percentile)


def heading_deg(frames: Frames, percentile: float) -> float:
    """A percentile of the headings' errors, of standing, clearly visible figures."""
    return _percentile(np.concatenate([frame.heading_deg[_well_seen(frame)] for frame in frames]), percentile)


def turned(frames: Frames) -> float:
    """Share of standing, clearly visible figures whose heading is wrong by more than 90 degrees."""
    errors = np.concatenate([frame.heading_deg[_well_seen(frame)] for frame in frames])
    errors = errors[np.isfinite(errors)]
    return float((errors > 90).mean()) if len(errors) else np.nan


def fronts(frames: Frames) -> tuple[Array, Bools]:
    """Certainty of the fronts of standing, clearly visible figures, 0..1, and which are right, shape (n,) each."""
    certainty = np.concatenate([frame.front_scores[_well_seen(frame)] for frame in frames])
    errors = np.concatenate([frame.heading_deg[_well_seen(frame)] for frame in frames])
    known = np.isfinite(errors)
    right: Bools = errors[known] <= 90
    return certainty[known], right


def front_certainty(frames: Frames) -> float:
    """Mean certainty of fronts, 0..1, as reported."""
    certainty, _ = fronts(frames)
    return float(certainty.mean()) if len(certainty) else np.nan


def fronts_right(frames: Frames) -> float:
    """Share of fronts that are right: what their certainty should be."""
    _, right = fronts(frames)
    return float(right.mean()) if len(right) else np.nan


def ball_recall(frames: Frames, least_shown: float = WELL_SEEN) -> float:
    """Share of pictures with a visible ball, at least so much of it, in which it was found."""
    found = [frame.ball_found for frame in frames if frame.ball_shown >= least_shown]
    return float(np.mean(found)) if found else np.nan


def ball_precision(frames: Frames) -> float:
    """Share of detected balls that are the ball."""
    true, false = sum(frame.ball_found for frame in frames), sum(frame.balls_false for frame in frames)
    return true / (true + false) if true + false else np.nan


def hand_recall(frames: Frames) -> float:
    """Share of hands found."""
    there = sum(frame.hands for frame in frames)
    return sum(frame.hands_found for frame in frames) / there if there else np.nan


def hand_precision(frames: Frames) -> float:
    """Share of detected hands that exist."""
    true, false = sum(frame.hands_found for frame in frames), sum(frame.hands_false for frame in frames)
    return true / (true + false) if true + false else np.nan


def sigma_ratio(frames: Frames) -> float:
    """Factor by which the reported standard deviations must be scaled to hold 68 % of the errors; 1 is right."""
    ratios = np.concatenate(
        [(np.abs(frame.corners_px) / frame.sigmas_px[..., None])[_right(frame)] for frame in frames]
    )
    return _percentile(ratios, 68.27)


def of_size(frames: Frames, low_px: float, high_px: float) -> list[FrameScore]:
    """Restrict pictures to bases of a size; balls, hands and false detections stay."""
    out = []
    for frame in frames:
        rows = (frame.length_px >= low_px) & (frame.length_px < high_px)
        parts = {
            name: getattr(frame, name)[rows]
            for name in FrameScore.__slots__
            if isinstance(getattr(frame, name), np.ndarray) and name != "false_scores"
        }
        rest = {name: getattr(frame, name) for name in FrameScore.__slots__ if name not in parts}
        out.append(FrameScore(**parts, **rest))
    return out


MEASURES: Final = (
    Measure("recall, 30 % of base top seen", lambda frames: recall(frames, WELL_SEEN), promised=0.995),
    Measure("recall, all figures", lambda frames: recall(frames, 0.0), promised=0.97),
    Measure("precision", precision, promised=0.995),
    Measure("ball recall where seen", ball_recall, promised=0.97),
    Measure("ball recall, 70 % of it seen", partial(ball_recall, least_shown=0.7)),
    Measure("ball precision", ball_precision),
    Measure("hand recall", hand_recall),
    Measure("hand precision", hand_precision),
    Measure("corner error, median", lambda frames: corner_mm(frames, 50), "mm", 0.6, least=False),
    Measure("corner error, p95", lambda frames: corner_mm(frames, 95), "mm", 1.8, least=False),
    Measure("corner error, seen corners, median", lambda frames: corner_mm(frames, 50, seen_only=True), "mm"),
    Measure("corner error, seen corners, p95", lambda frames: corner_mm(frames, 95, seen_only=True), "mm"),
    Measure("heading error, median", lambda frames: heading_deg(frames, 50), "deg", 2.0, least=False),
    Measure("heading wrong by over 90 deg", turned, promised=0.005, least=False),
    Measure("fallen against upright, F1", fallen_f1, promised=0.99),
    Measure("errors in stated sigmas, 68 %", sigma_ratio, "sigma"),
)


def _well_seen(frame: FrameScore) -> Bools:
    rows: Bools = frame.visible >= WELL_SEEN
    return rows


def _right(frame: FrameScore) -> Bools:
    """Return which corners have front and rear right, shape (n, 4)."""
    rows: Bools = frame.corners_seen & (frame.heading_deg < 90)[:, None]
    return rows


def _percentile(values: Array, percentile: float) -> float:
    values = values[np.isfinite(values)]
    return float(np.percentile(values, percentile)) if len(values) else np.nan
