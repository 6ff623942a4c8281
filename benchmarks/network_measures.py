"""The measures of the network's benchmarks beyond those that training needs, with intervals of chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.training.evaluation.measures import (
    Frames,
    ball_precision,
    ball_recall,
    corner_mm,
    fallen_f1,
    fronts,
    hand_precision,
    hand_recall,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.training.evaluation.scoring import WELL_SEEN, FrameScore

_RESAMPLES = 400


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


def seen_corner_mm(frames: Frames, percentile: float) -> float:
    """A percentile of the errors on the board of corners that are seen, of standing, clearly visible figures."""
    return _percentile(
        [frame.corners_mm[frame.corners_seen & (frame.visible >= WELL_SEEN)[:, None]] for frame in frames], percentile
    )


def heading_deg(frames: Frames, percentile: float) -> float:
    """A percentile of the headings' errors, of standing, clearly visible figures."""
    return _percentile([frame.heading_deg[frame.visible >= WELL_SEEN] for frame in frames], percentile)


def front_certainty(frames: Frames) -> float:
    """Mean certainty of fronts, 0..1, as reported."""
    certainty, _ = fronts(frames)
    return float(certainty.mean()) if len(certainty) else np.nan


def fronts_right(frames: Frames) -> float:
    """Share of fronts that are right: what their certainty should be."""
    _, right = fronts(frames)
    return float(right.mean()) if len(right) else np.nan


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
    Measure("corner error, seen corners, median", lambda frames: seen_corner_mm(frames, 50), "mm"),
    Measure("corner error, seen corners, p95", lambda frames: seen_corner_mm(frames, 95), "mm"),
    Measure("heading error, median", lambda frames: heading_deg(frames, 50), "deg", 2.0, least=False),
    Measure("heading wrong by over 90 deg", turned, promised=0.005, least=False),
    Measure("fallen against upright, F1", fallen_f1, promised=0.99),
    Measure("errors in stated sigmas, 68 %", sigma_ratio, "sigma"),
)


def interval(
    frames: Sequence[FrameScore], statistic: Callable[[Sequence[FrameScore]], float], seed: int = 0
) -> tuple[float, float, float]:
    """Return a statistic of pictures with its 95 % bootstrap interval over tables: value, low, high."""
    rng = np.random.default_rng(seed)
    tables: dict[int, list[FrameScore]] = {}
    for frame in frames:
        tables.setdefault(frame.table, []).append(frame)
    groups = list(tables.values())
    drawn = [
        statistic([frame for k in rng.integers(len(groups), size=len(groups)) for frame in groups[k]])
        for _ in range(_RESAMPLES)
    ]
    kept = [value for value in drawn if np.isfinite(value)]
    low, high = np.percentile(kept, (2.5, 97.5)) if kept else (np.nan, np.nan)
    return statistic(frames), float(low), float(high)


def _percentile(parts: Sequence[Array], percentile: float) -> float:
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    return float(np.percentile(values, percentile)) if len(values) else np.nan
