"""The accuracy measures of a detector, from the scores of single pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from downfield.core.arrays import Array
from downfield.training.evaluation.scoring import WELL_SEEN, Bools, FrameScore

Frames = Sequence[FrameScore]


def recall(frames: Frames, least_visible: float) -> float:
    """Share of figures found, of those whose base top is visible at least so much."""
    found = np.concatenate([frame.found[frame.visible >= least_visible] for frame in frames])
    return float(found.mean()) if len(found) else np.nan


def precision(frames: Frames) -> float:
    """Share of detected figures that exist."""
    true = sum(int(frame.found.sum()) for frame in frames)
    return _share(true, sum(len(frame.false_scores) for frame in frames))


def fallen_f1(frames: Frames) -> float:
    """F1 of classifying fallen figures, over the figures found."""
    true, reported = (
        np.concatenate([getattr(frame, name)[frame.found] for frame in frames]) for name in ("fallen", "said_fallen")
    )
    wrong = int((true != reported).sum())
    right = int((true & reported).sum())
    return 2 * right / (2 * right + wrong) if right + wrong else np.nan


def corner_mm(frames: Frames, percentile: float) -> float:
    """A percentile of the corners' errors on the board, of standing, clearly visible figures."""
    return _percentile(np.concatenate([frame.corners_mm[_well_seen(frame)].ravel() for frame in frames]), percentile)


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


def ball_recall(frames: Frames, least_shown: float = WELL_SEEN) -> float:
    """Share of pictures with a visible ball, at least so much of it, in which it was found."""
    found = [frame.ball_found for frame in frames if frame.ball_shown >= least_shown]
    return float(np.mean(found)) if found else np.nan


def ball_precision(frames: Frames) -> float:
    """Share of detected balls that are the ball."""
    return _share(sum(frame.ball_found for frame in frames), sum(frame.balls_false for frame in frames))


def hand_recall(frames: Frames) -> float:
    """Share of hands found."""
    there = sum(frame.hands for frame in frames)
    return sum(frame.hands_found for frame in frames) / there if there else np.nan


def hand_precision(frames: Frames) -> float:
    """Share of detected hands that exist."""
    return _share(sum(frame.hands_found for frame in frames), sum(frame.hands_false for frame in frames))


def sigma_ratio(frames: Frames) -> float:
    """Factor by which the reported standard deviations must be scaled to hold 68 % of the errors; 1 is right."""
    ratios = np.concatenate(
        [(np.abs(frame.corners_px) / frame.sigmas_px[..., None])[_right(frame)] for frame in frames]
    )
    return _percentile(ratios, 68.27)


def _share(true: int, false: int) -> float:
    return true / (true + false) if true + false else np.nan


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
