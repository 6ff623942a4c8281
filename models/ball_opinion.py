"""The second refiner's opinion about the ball: whether what the ball's networks take for it is one.

The second refiner outputs the ball's cells as well as a figure's numbers (`models/ball_detection.py`), for patches that
are not enlarged. It was trained on path-traced pictures, the ball's own networks on faster ones, so their errors are
less correlated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.ball_detection import BALL_COLUMNS, CELLS, NetworkColumns, with_patch_corners
from downfield.models.refiner import cut_figures
from downfield.models.runtime import Network, logit, sigmoid


@dataclass(frozen=True, slots=True)
class BallOpinionLimits:
    """Thresholds of the opinion."""

    near_cells: float = 2.5
    """Cells this near to a patch's center count for the place that it was cut around."""
    max_logit: float = 8.0
    """Limit of the logit of one view."""


_LIMITS: Final = BallOpinionLimits()

_ROWS, _COLUMNS = np.mgrid[:CELLS, :CELLS] - (CELLS - 1) / 2
_NEAR: Final = (np.hypot(_ROWS, _COLUMNS) < _LIMITS.near_cells).ravel()


class BallOpinion:
    """Weighs places where the ball may be; one thread may search for it while another tracks it.

    Args:
        searching: the second refiner, of the thread that searches.
        tracking: that of the thread that tracks.
        weights: slopes of the logit of the ball's own networks and of this one's, and an intercept.
    """

    def __init__(self, searching: Network, tracking: Network, weights: tuple[float, float, float]) -> None:
        self._searching, self._tracking, self._weights = searching, tracking, weights

    def weigh(
        self,
        image: Image,
        places: Sequence[Detection],
        figures: Sequence[Detection],
        usual_px: float,
        *,
        tracked: bool = False,
    ) -> list[Detection]:
        """Return places with the scores of both opinions together, best first.

        Args:
            places: balls with the scores of their own networks.
            figures: in the picture, for the size of patches.
            usual_px: median base length.
            tracked: whether the ball is tracked rather than searched for.

        Raises:
            InputError: the second refiner gives no cells.
        """
        votes = ball_votes(self._tracking if tracked else self._searching, image, places, figures, usual_px)
        own, other, constant = self._weights
        logits = own * logit(np.array([place.score for place in places])) + other * votes + constant
        weighed = [
            dataclasses.replace(place, score=score)
            for place, score in zip(places, sigmoid(logits).tolist(), strict=True)
        ]
        return sorted(weighed, key=lambda ball: -ball.score)


def ball_votes(
    network: Network, image: Image, places: Sequence[Detection], figures: Sequence[Detection], usual_px: float
) -> Array:
    """Return the second refiner's logit of a ball at each place, the mean of two views, shape (n,).

    Args:
        network: the second refiner.
        figures: in the picture, for the size of patches.
        usual_px: median base length.

    Raises:
        InputError: the network gives no cells.
    """
    if not places:
        return np.zeros(0)
    _, patches = cut_figures(with_patch_corners(places, figures), image, usual_px)
    cells = NetworkColumns(network, BALL_COLUMNS)
    both = np.concatenate([patches, patches[:, ::-1, ::-1]])
    heat = np.where(_NEAR, cells.run(both).astype(np.float64), -np.inf)  # near the center is near when turned, too
    logits = np.clip(np.logaddexp.reduce(heat, axis=1), -_LIMITS.max_logit, _LIMITS.max_logit)
    mean: Array = logits.reshape(2, -1).mean(axis=0)
    return mean
