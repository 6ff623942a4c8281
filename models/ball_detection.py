"""The ball's two networks: a detector for the whole frame, and a refiner that decides which candidate is the ball.

The ball detector takes the frame at two thirds of its size. For each cell of 8 x 8 pixels it gives three numbers: the
logit of a ball's center being in it, and its offset to the right and down from the cell's center, in cells.

The ball refiner takes patches like the refiner's, at a higher zoom: uint8 (n, 64, 64, 3), blue green red. It gives the
logits of the ball's center being visible in each of 16 x 16 cells of the patch, row by row; that of "none" is 0. It
decides whether a candidate is the ball, and whether a figure carries it.
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
from downfield.models.frame_detector import Letterbox
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
from downfield.models.suppression import non_maximum_suppression, point_px


@dataclass(frozen=True, slots=True)
class BallDetectionLimits:
    """Thresholds of the ball's networks."""

    max_candidates: int = 3  # candidates kept: there is one ball on the table, but the best candidate may be a helmet
    same_place_px: float = 16.0  # candidates nearer than this in the input are one ball
    half_box_px: float = 7.0  # half the side of a candidate's box in the input, with a margin
    # between these a patch is worth a second view: one in thirty shows the ball
    unclear_logits: tuple[float, float] = (-1.5, 3.0)
    max_logit: float = 6.0  # limit of one view's logit among several views
    max_only_logit: float = 8.0  # limit of the logit when there is only one view
    hopeless_logit: float = -4.0  # below this logit, the other views of a place are not consulted
    shown_within: float = 0.8  # a place this near to a patch's center is in the patch, units
    cell_radius: float = 0.3  # cells this near to a place count for it, units
    other_view_weight: float = 0.5  # weight of another patch that shows a place, relative to the patch around it
    half_box_share: float = 0.25  # half the side of the ball's box, relative to a base's length
    max_places: int = 4  # number of places about which another opinion is requested
    min_place_score: float = 0.005  # least score of such a place: another opinion may raise it


BALL_DETECTION_LIMITS: Final = BallDetectionLimits()
CELL_PX: Final = 8  # side of the ball detector's cells, pixels of the input
CELLS: Final = 16  # the ball refiner's cells in a row of a patch

BALL_PATCH_ZOOM: Final = 1.4
"""Enlargement relative to the refiner's patches, since a ball is small. An ordinary base has a margin of 5 mm in
the patch, and 24 of 25 carried balls lie over the base."""

BALL_BATCHES: Final = (1, 4, 12, 25)
"""Patches of one pass: the candidates, the unclear ones, and 22 figures with the candidates."""

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


class BallDetector:
    """Finds ball candidates in whole frames.

    Args:
        threshold: score from which a candidate is reported.
        odds: slope and intercept that turn the network's logit into calibrated log-odds.
    """

    def __init__(self, network: Network, *, threshold: float = 0.02, odds: tuple[float, float] = (1.0, 0.0)) -> None:
        self._network, self._threshold, self._odds = network, threshold, odds
        self._box = Letterbox(network.size_px, network.size_px)
        self._input = self._box.new_input()

    def find_candidates(self, image: Image) -> list[Detection]:
        """Return ball candidates in a picture, uint8 (height, width, 3), best first.

        Raises:
            InputError: the network is no ball detector.
        """
        frame_px = (image.shape[1], image.shape[0])
        if frame_px != self._box.frame_px:
            self._box = Letterbox(frame_px, self._network.size_px)
            self._input = self._box.new_input()
        self._box.fit(image, self._input)
        slope, intercept = self._odds
        least = (float(logit(np.array(self._threshold))) - intercept) / slope
        places, logits = self._run(least)
        kept = non_maximum_suppression(
            len(places),
            lambda row, rest: np.linalg.norm(places[rest] - places[row], axis=1) <= BALL_DETECTION_LIMITS.same_place_px,
            BALL_DETECTION_LIMITS.max_candidates,
        )
        half = BALL_DETECTION_LIMITS.half_box_px / self._box.scale
        return _balls_at(self._box.to_frame(places[kept]), half, sigmoid(slope * logits[kept] + intercept))

    def _run(self, least: float) -> tuple[Array, Array]:
        """Return places in the input, from its outer edge, (n, 2), and their logits, (n,), of at least `least`."""
        output = self._network.run(self._input)
        columns, rows = (side // CELL_PX for side in self._network.size_px)
        if output.shape != (1, 3, rows, columns):
            name, shape = self._network.name, output.shape
            raise InputError(f"{name}: its output has shape {shape}; a ball detector's is (1, 3, {rows}, {columns}).")
        cells = output[0].reshape(3, -1)
        picked = np.flatnonzero(cells[0] >= least)
        picked = picked[np.argsort(-cells[0, picked], kind="stable")]
        values = cells[:, picked].astype(np.float64)
        centers = np.stack([picked % columns, picked // columns], axis=1) + 0.5
        return (centers + values[1:].T) * CELL_PX, values[0]


class BallRefiner:
    """Finds the ball in patches; one thread may search for it while another tracks it.

    Args:
        searching: the network for patches that may show the ball.
        tracking: the same network, opened a second time, for patches around the ball's last place.
        zoom: enlargement of the patches it was trained on, relative to the refiner's.
    """

    def __init__(self, searching: Network, tracking: Network, *, zoom: float = BALL_PATCH_ZOOM) -> None:
        self._searching, self._tracking, self.zoom = searching, tracking, zoom

    def search(self, patches: Image) -> Array:
        """Return the logits of the cells of patches (n, 64, 64, 3) that may show the ball; shape (n, 256).

        Unclear patches are run again, rotated by half a turn, and averaged.

        Raises:
            InputError: the network is no ball refiner.
        """
        heat = _run(self._searching, patches)
        low, high = BALL_DETECTION_LIMITS.unclear_logits
        anywhere = np.logaddexp.reduce(heat, axis=1)
        rows = np.flatnonzero((anywhere > low) & (anywhere < high))
        if len(rows):
            heat[rows] = (heat[rows] + _run(self._searching, patches[rows, ::-1, ::-1])[:, ::-1]) / 2
        return heat

    def track(self, patches: Image) -> Array:
        """Return the logits of the cells of patches around the ball's last place, as `search` does.

        Raises:
            InputError: the network is no ball refiner.
        """
        return _run(self._tracking, patches)


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


def decode_ball_places(
    balls: Sequence[Detection], heat: Array, transforms: Array, zoom: float = BALL_PATCH_ZOOM
) -> list[Detection]:
    """Return the few places at which the ball may be, best first: one ball seen in several patches is one of them.

    Args:
        balls: the candidates, whose patches come last.
        heat: output of `BallRefiner` for all patches.
        transforms: transforms of the patches.
        zoom: enlargement of the patches, as of `BallRefiner`.
    """
    scores = np.logaddexp.reduce(heat, axis=1)
    shares = np.exp(heat - scores[:, None]).reshape(-1, CELLS, CELLS)
    units = np.stack([shares.sum(axis=1) @ _CENTERS, shares.sum(axis=2) @ _CENTERS], axis=1)
    places = from_patch(from_units(units[:, None]), transforms)[:, 0]
    # Both networks vote on a candidate, and neither may outvote the other completely.
    own = len(heat) - len(balls)
    logits = np.minimum(scores, BALL_DETECTION_LIMITS.max_only_logit)
    found = logit(np.array([ball.score for ball in balls]))
    logits[own:] = (np.minimum(scores[own:], BALL_DETECTION_LIMITS.max_logit) + found) / 2
    logits = _average_views(logits, places, heat, transforms)
    halves = BALL_DETECTION_LIMITS.half_box_share * zoom * BASE_LENGTH_PX / scale_of(transforms)
    order = np.argsort(-logits, kind="stable")
    order = order[sigmoid(logits[order]) >= BALL_DETECTION_LIMITS.min_place_score]
    kept = non_maximum_suppression(
        len(order),
        lambda row, rest: np.linalg.norm(places[order[rest]] - places[order[row]], axis=1) < halves[order[row]],
        BALL_DETECTION_LIMITS.max_places,
    )
    rows = order[kept]
    return _balls_at(places[rows], halves[rows, None], sigmoid(logits[rows]))


def _balls_at(centers: Array, half_px: Array, scores: Array) -> list[Detection]:
    """Return balls at centers, px, (n, 2), with boxes of half sides (n, 1) or (2,), and with scores (n,)."""
    boxes = np.concatenate([centers - half_px, centers + half_px], axis=1).tolist()
    return [
        Detection("ball", score, (left, top, right, bottom), helmet_px=(x, y), helmet_score=1.0)
        for (x, y), score, (left, top, right, bottom) in zip(centers.tolist(), scores.tolist(), boxes, strict=True)
    ]


def _average_views(logits: Array, places: Array, heat: Array, transforms: Array) -> Array:
    """Average the logit of a ball in each patch, (n,), with those of other patches that show its place, px, (n, 2).

    A false ball seldom appears in all of them, since each is cut and turned differently.
    """
    out = logits.copy()
    for row in np.flatnonzero(logits > BALL_DETECTION_LIMITS.hopeless_logit).tolist():
        units = to_units(to_patch(np.broadcast_to(places[row], (len(heat), 1, 2)), transforms))
        others = np.abs(units[:, 0]).max(axis=1) < BALL_DETECTION_LIMITS.shown_within
        others[row] = False
        if others.any():
            near = np.linalg.norm(_CELL_CENTERS - units[others], axis=2) < BALL_DETECTION_LIMITS.cell_radius
            votes = np.logaddexp.reduce(np.where(near, heat[others], -np.inf), axis=1)
            weight, most = BALL_DETECTION_LIMITS.other_view_weight, BALL_DETECTION_LIMITS.max_logit
            out[row] = (logits[row] + (weight * np.clip(votes, -most, most)).sum()) / (1 + weight * len(votes))
    return out
