"""The ball: which of the detector's candidates it is, and whether a figure carries it.

A refiner that sees the ball gives, after a figure's numbers, the logits of the ball's center being visible in each of
16 x 16 cells of the patch, row by row; that of "none" is 0. Patches are cut around candidates and around figures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Pixel
from downfield.models.refiner import (
    BASE_LENGTH_PX,
    OUTPUTS,
    from_patch,
    from_units,
    longer_sides,
    scale_of,
    to_patch,
    to_units,
)
from downfield.models.runtime import Network, Outputs, logit, sigmoid
from downfield.models.suppression import point_px


@dataclass(frozen=True, slots=True)
class BallRefinerLimits:
    """Thresholds of the ball's refinement."""

    # between these a patch is worth a second view: one in thirty shows the ball
    unclear_logits: tuple[float, float] = (-1.5, 3.0)
    max_logit: float = 6.0  # limit of one view's logit among several views
    max_only_logit: float = 8.0  # limit of the logit when there is only one view
    hopeless_logit: float = -4.0  # below this logit, the other views of a place are not consulted
    shown_within: float = 0.8  # a place this near to a patch's center is in the patch, units
    cell_radius: float = 0.3  # cells this near to a place count for it, units
    place_radius: float = 0.2  # cells this near to the likeliest one, along x and y, give the ball's place, units
    other_view_weight: float = 0.5  # weight of another patch that shows a place, relative to the patch around it
    half_box_share: float = 0.25  # half the side of the ball's box, relative to a base's length


BALL_REFINER_LIMITS: Final = BallRefinerLimits()

CELLS: Final = 16  # of the ball in a row of a patch

SHARED_OUTPUTS: Final = OUTPUTS + CELLS**2
"""Numbers that a refiner which sees the ball gives for a patch: a figure's, and then the ball's cells."""

FIGURE_COLUMNS, BALL_COLUMNS = slice(0, OUTPUTS), slice(OUTPUTS, SHARED_OUTPUTS)
"""The columns of the figure, and of the ball's cells."""

_CENTERS: Final = (np.arange(CELLS) + 0.5) * 2 / CELLS - 1  # units
_CELL_CENTERS: Final = np.stack(np.meshgrid(_CENTERS, _CENTERS), axis=-1).reshape(1, -1, 2)


class NetworkColumns:
    """Some columns of another network's output."""

    def __init__(self, network: Network, columns: slice) -> None:
        self.name, self.size_px = network.name, network.size_px
        self._network, self._columns = network, columns

    def run(self, pictures: Image) -> Outputs:
        """Run the network on pictures, uint8 (n, height, width, 3); the output is valid until the next run.

        Raises:
            InputError: the network gives other numbers.
        """
        outputs = self._network.run(pictures)
        if outputs.shape != (len(pictures), SHARED_OUTPUTS):
            raise InputError(
                f"{self.name}: its output has shape {outputs.shape}; a refiner that sees the ball gives"
                f" (n, {SHARED_OUTPUTS})."
            )
        return outputs[:, self._columns]


class BallRefiner:
    """Finds the ball in patches; one thread may search for it while another tracks it.

    Args:
        searching: the network for patches that may show the ball.
        tracking: the same network, opened a second time, for patches around the ball's last place.
        odds: slope and intercept that turn logits of a ball into log-odds.
    """

    def __init__(self, searching: Network, tracking: Network, odds: tuple[float, float] = (1.0, 0.0)) -> None:
        self._searching, self._tracking, self._odds = searching, tracking, odds

    def find(self, balls: Sequence[Detection], patches: Image, transforms: Array) -> list[Detection]:
        """Return the most probable ball in patches, or an empty list where there are none.

        Args:
            balls: the detector's candidates, whose patches come last.
            patches: uint8 (n, 64, 64, 3), of figures and of candidates.
            transforms: of the patches, shape (n, 2, 3).

        Raises:
            InputError: the network is no ball refiner.
        """
        logits = logit(np.array([ball.score for ball in balls]))
        return self._scored(decode_ball(logits, self._search(patches), transforms))

    def track(self, ball: Detection, patches: Image, transforms: Array) -> list[Detection]:
        """Return the ball tracked a moment ago at its present place, in a patch around its last one.

        Raises:
            InputError: the network is no ball refiner.
        """
        slope, intercept = self._odds
        before = (logit(np.array([ball.score])) - intercept) / slope
        return self._scored(decode_ball(before, _run(self._tracking, patches), transforms))

    def _scored(self, found: tuple[Array, float, float] | None) -> list[Detection]:
        if found is None:
            return []
        (x, y), half_px, logits = found
        slope, intercept = self._odds
        box = (x - half_px, y - half_px, x + half_px, y + half_px)
        score = float(sigmoid(np.array(slope * logits + intercept)))
        return [Detection("ball", score, box, helmet_px=(float(x), float(y)), helmet_score=1.0)]

    def _search(self, patches: Image) -> Array:
        """Return the logits of the cells of patches that may show the ball; shape (n, 256).

        Unclear patches are run again, rotated by half a turn, and averaged.
        """
        heat = _run(self._searching, patches)
        low, high = BALL_REFINER_LIMITS.unclear_logits
        anywhere = np.logaddexp.reduce(heat, axis=1)
        rows = np.flatnonzero((anywhere > low) & (anywhere < high))
        if len(rows):
            heat[rows] = (heat[rows] + _run(self._searching, patches[rows, ::-1, ::-1])[:, ::-1]) / 2
        return heat


def _run(network: Network, patches: Image) -> Array:
    output = network.run(patches)
    if output.shape != (len(patches), CELLS**2):
        raise InputError(f"{network.name}: its output has shape {output.shape}; a ball refiner's is (n, {CELLS**2}).")
    return output.astype(np.float64)


def with_patch_corners(balls: Sequence[Detection], figures: Sequence[Detection]) -> list[Detection]:
    """Return balls with corners, so that patches around them have the size of figures' patches."""
    if not balls:
        return []
    length = float(np.median(longer_sides(np.array([figure.corners_px for figure in figures]))))
    square = length / 2 * np.array([[1.0, -0.6], [1.0, 0.6], [-1.0, 0.6], [-1.0, -0.6]])
    out = []
    for ball in balls:
        corners: list[Pixel] = [(x, y) for x, y in (square + point_px(ball)).tolist()]
        out.append(dataclasses.replace(ball, corners_px=tuple(corners)))
    return out


def decode_ball(candidates: Array, heat: Array, transforms: Array) -> tuple[Array, float, float] | None:
    """Return place (x, y), half the side of its box, px, and logit of the most probable ball; None without patches.

    Args:
        candidates: logits of the candidates, whose patches come last, shape (m,).
        heat: logits of the cells of all patches, shape (n, 256).
        transforms: of the patches, shape (n, 2, 3).
    """
    if not len(heat):
        return None
    scores, units = _likeliest_places(heat)
    places = from_patch(from_units(units[:, None]), transforms)[:, 0]
    # Both networks vote on a candidate, and neither may outvote the other completely.
    own = len(heat) - len(candidates)
    logits = np.minimum(scores, BALL_REFINER_LIMITS.max_only_logit)
    logits[own:] = (np.minimum(scores[own:], BALL_REFINER_LIMITS.max_logit) + candidates) / 2
    logits = _average_views(logits, places, heat, transforms)
    best = int(logits.argmax())
    half_px = BALL_REFINER_LIMITS.half_box_share * BASE_LENGTH_PX / scale_of(transforms)[best]
    return places[best], float(half_px), float(logits[best])


def _likeliest_places(heat: Array) -> tuple[Array, Array]:
    """Return the log-odds that the ball is about the likeliest cell of each patch, (n,), and its place, units, (n, 2).

    The place is the mean of the cells around it: that of all cells would be between two places that may show it.
    """
    likeliest = _CELL_CENTERS[0][heat.argmax(axis=1)]
    near = np.abs(_CELL_CENTERS - likeliest[:, None]).max(axis=2) < BALL_REFINER_LIMITS.place_radius
    inside = np.where(near, heat, -np.inf)
    here = np.logaddexp.reduce(inside, axis=1)
    elsewhere = np.logaddexp.reduce(np.where(near, -np.inf, heat), axis=1)
    shares = np.exp(inside - here[:, None])
    return here - np.logaddexp(elsewhere, 0.0), shares @ _CELL_CENTERS[0]


def _average_views(logits: Array, places: Array, heat: Array, transforms: Array) -> Array:
    """Average the logit of a ball in each patch, (n,), with those of other patches that show its place, px, (n, 2).

    A false ball seldom appears in all of them, since each is cut and turned differently.
    """
    out = logits.copy()
    for row in np.flatnonzero(logits > BALL_REFINER_LIMITS.hopeless_logit).tolist():
        units = to_units(to_patch(np.broadcast_to(places[row], (len(heat), 1, 2)), transforms))
        others = np.abs(units[:, 0]).max(axis=1) < BALL_REFINER_LIMITS.shown_within
        others[row] = False
        if others.any():
            near = np.linalg.norm(_CELL_CENTERS - units[others], axis=2) < BALL_REFINER_LIMITS.cell_radius
            votes = np.logaddexp.reduce(np.where(near, heat[others], -np.inf), axis=1)
            weight, most = BALL_REFINER_LIMITS.other_view_weight, BALL_REFINER_LIMITS.max_logit
            out[row] = (logits[row] + (weight * np.clip(votes, -most, most)).sum()) / (1 + weight * len(votes))
    return out
