"""Which painted line is which: ladders of evenly spaced lines, matched to a printed field.

Yard lines are evenly spaced on the board, so in the picture their crossings follow one projective law: with the right
perspective they are a regular ladder, found as a peak of its spectrum. Which rung is the goal line follows from where
rungs are missing or extra (a ten-yard end zone has no line at its middle). Which two lines of the other family are the
sidelines, between rails, board edges and paint of every kind, follows from the print's proportions and is settled by
looking at the picture (see `verify`): here every possibility is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.camera_fit import Observations, fit_camera
from downfield.calibration.field.line_pencils import Bending, Pencil
from downfield.core.arrays import Array
from downfield.core.field import FieldModel

_STEEPEST = 0.9  # change of scale across the picture's width by perspective, at most
_PERSPECTIVES = 41
_RUNG_OFF = 0.13  # of a step: how far a line may lie from its rung
_STRONG = 0.4  # of a typical line's support: what a line of the field must have to count when rungs are named
_EMPTY_RUNG = 0.6  # of a typical line's weight
_BESIDE = 0.5
_FEWEST_RUNGS = 6
_PEAK = 0.5  # of the highest peak of the spectrum
_PEAKS_TRIED = 12
_OVERTONES = (1, 2, 3, 5)  # stripes of grass between the lines can favor a fraction of the true step
_SHIFTS_KEPT = 3
_SIDELINE_SUPPORT = 0.20  # of the longest line of its family
_RIDGE_EDGE_PX = 4.5
_PROPORTION_OFF = 0.09  # of the print: what tilt and lens can do to it before the camera is known
_ASPECT_OFF = 0.05
_FOCALS = np.geomspace(0.4, 2.5, 40)  # of the picture's width
_TYPICAL_FOCAL, _FOCAL_SPREAD = 0.78, 0.35
_START_SIGMA_PX = 1.0
_START_STEPS = 12


@dataclass(frozen=True, slots=True)
class Ladder:
    """Evenly spaced lines of a pencil.

    Attributes:
        rung: number of each line's rung, or a large negative number for lines on none, shape (n,).
        law: p, q, r of ``rung = (p c + q) / (1 + r c)`` for crossings c in px.
        score: weight of the lines on rungs, px of support.

    """

    rung: NDArray[np.intp]
    law: tuple[float, float, float]
    score: float

    def position(self, crossing_px: Array) -> Array:
        """Crossings in steps."""
        p, q, r = self.law
        position: Array = (p * crossing_px + q) / (1 + r * crossing_px)
        return position

    def crossing_px(self, position: Array) -> Array:
        """The inverse of `position`."""
        p, q, r = self.law
        crossing: Array = (position - q) / (p - r * position)
        return crossing


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer.

    Attributes:
        field: the printed field.
        camera: lens and pose, good to a few pixels.
        shift_score: share of the field's lines across that the ladder confirms, less contradictions.

    """

    field: FieldModel
    camera: Camera
    shift_score: float


NO_RUNG = -9999


def find_ladder(pencil: Pencil, width_px: float) -> Ladder | None:
    """The evenly spaced lines among a family's ridges; None when fewer than six lines are."""
    ridge = pencil.is_ridge
    crossing, support = pencil.crossing_px[ridge], pencil.support_px[ridge]
    if len(crossing) < _FEWEST_RUNGS:
        return None
    weight = np.minimum(support, _typical(support)) ** 2 / _typical(support)
    steps = np.geomspace(width_px / 90, width_px / 5, 500)
    steeps = np.linspace(-_STEEPEST, _STEEPEST, _PERSPECTIVES) / width_px
    levels = crossing / (1 + steeps[:, None] * crossing)
    spectrum = np.stack([np.abs(np.exp(2j * np.pi * level / steps[:, None]) @ weight) for level in levels])
    best = spectrum.max(axis=0)
    inner = best[1:-1]
    peaks = 1 + np.flatnonzero((inner >= best[:-2]) & (inner > best[2:]) & (inner > _PEAK * best.max()))
    peaks = peaks[np.argsort(-best[peaks])][:_PEAKS_TRIED]
    trials = [(float(steeps[spectrum[:, peak].argmax()]), float(steps[peak])) for peak in peaks]
    ladders = [_climb(pencil, steep, times * step) for steep, step in trials for times in _OVERTONES]
    return max((ladder for ladder in ladders if ladder is not None), key=lambda ladder: ladder.score, default=None)


def _climb(pencil: Pencil, steep: float, step: float) -> Ladder | None:
    """Number the lines on the rungs of a trial ladder and refine its law."""
    crossing = pencil.crossing_px
    typical = _typical(pencil.support_px)
    weight = np.where(pencil.is_ridge, np.minimum(pencil.support_px, typical) ** 2 / typical, 0.0)
    level = crossing / (1 + steep * crossing)
    phase = np.angle(np.exp(2j * np.pi * level / step) @ weight) / (2 * np.pi)
    law = (1 / step - phase * steep, -phase, steep)
    rung = np.full(len(crossing), NO_RUNG)
    for _ in range(4):
        position = (law[0] * crossing + law[1]) / (1 + law[2] * crossing)
        nearest = np.round(position)
        on = (np.abs(position - nearest) < _RUNG_OFF) & (weight > 0)
        if len(np.unique(nearest[on & (weight > _STRONG**2 * typical)])) < _FEWEST_RUNGS:
            return None
        rung = np.where(on, nearest, NO_RUNG).astype(np.intp)
        rows = np.stack([crossing, np.ones_like(crossing), -nearest * crossing], axis=1)[on]
        root = np.sqrt(weight[on])[:, None]
        scale = np.array([1.0, 1.0, 1.0]) / np.maximum(np.abs(rows).max(axis=0), 1e-9)
        answer = np.linalg.lstsq(rows * root * scale, nearest[on] * root[:, 0], rcond=None)[0] * scale
        law = (float(answer[0]), float(answer[1]), float(answer[2]))
    position = (law[0] * crossing + law[1]) / (1 + law[2] * crossing)
    on = rung != NO_RUNG
    fit = 1 - np.abs(position - rung)[on] / _RUNG_OFF
    rungs = np.unique(rung[on & (weight > _STRONG**2 * typical)])
    empty = rungs[-1] - rungs[0] + 1 - len(rungs)
    # A ladder of half the step holds the same lines, and every other rung of it is empty; one of twice the step leaves
    # every other line beside its rungs.
    beside = ~on & (position > rungs[0]) & (position < rungs[-1])
    score = (weight[on] * fit).sum() - _EMPTY_RUNG * empty * typical - _BESIDE * weight[beside].sum()
    return Ladder(rung, law, float(score))


def _typical(support_px: Array) -> float:
    """The support of a typical long line: half of all chain length is in lines with at least as much."""
    order = np.sort(support_px)
    return float(order[np.searchsorted(np.cumsum(order), order.sum() / 2)])


def candidates(
    across: Pencil, along: Pencil, ladder: Ladder, bending: Bending, fields: tuple[FieldModel, ...]
) -> Iterator[Candidate]:
    """Every way the lines could be one of the fields, the likelier shifts of the ladder first.

    Args:
        across: the family that holds the yard lines.
        along: the other family.
        ladder: the yard lines in `across`.
        bending: the lens's bending so far.
        fields: printed fields to try.

    """
    for field in fields:
        for shift, score in _shifts(across, ladder, field):
            for first, second in _sideline_pairs(across, along, ladder, field, shift):
                camera = _camera(across, along, ladder, bending, field, shift, (first, second))
                if camera is not None:
                    yield Candidate(field, camera, score)


def _line_positions(field: FieldModel) -> Array:
    """Where the field's lines across are, in steps of the ladder from the left goal line."""
    step = field.yard_line_every_yd * field.mm_per_yd_x
    return np.array([sum(line.x_mm) / 2 / step for line in field.lines() if line.is_across and line.kind != "hash"])


def _shifts(across: Pencil, ladder: Ladder, field: FieldModel) -> list[tuple[int, float]]:
    """Rung numbers of the left goal line that explain the lines best, with their scores."""
    strong = across.is_ridge & (across.support_px > _STRONG * _typical(across.support_px))
    seen = ladder.position(across.crossing_px[strong])
    expected = np.sort(_line_positions(field))
    rungs = np.unique(ladder.rung[ladder.rung != NO_RUNG])
    last = round(field.length_yd / field.yard_line_every_yd)
    scored = []
    for shift in range(int(rungs[0]) - last, int(rungs[-1]) + last):
        off = np.abs(seen[:, None] - shift - expected).min(axis=1)
        met = np.abs(seen[:, None] - shift - expected).min(axis=0) < 1.6 * _RUNG_OFF
        within = (seen - shift > expected[0] - 0.5) & (seen - shift < expected[-1] + 0.5)
        strange = (within & (off > 1.6 * _RUNG_OFF)).sum()
        scored.append((shift, float((met.sum() - 0.7 * strange) / len(expected))))
    scored.sort(key=lambda item: -item[1])
    return [item for item in scored[:_SHIFTS_KEPT] if item[1] > 0.4]


def _sideline_pairs(
    across: Pencil, along: Pencil, ladder: Ladder, field: FieldModel, shift: int
) -> Iterator[tuple[int, int]]:
    """Pairs of lines of the other family whose distance suits the print, as they cross the middle of the field."""
    strong = _distinct(along)
    steps = field.length_yd / field.yard_line_every_yd
    goals = ladder.crossing_px(shift + np.array([0.0, steps]))
    middle = ladder.crossing_px(shift + np.array([steps / 2]))
    crossed = np.array([_meet(across, float(middle[0]), along, float(along.crossing_px[i])) for i in strong])
    if not len(crossed):
        return
    wanted = field.width_mm / field.length_mm
    for a, i in enumerate(strong):
        for b in range(a + 1, len(strong)):
            center = (crossed[a] + crossed[b]) / 2
            ends = [across.points(goals[k : k + 1], center[across.along : across.along + 1])[0] for k in (0, 1)]
            length = float(np.linalg.norm(ends[1] - ends[0]))
            proportion = float(np.linalg.norm(crossed[b] - crossed[a])) / max(length, 1.0)
            if abs(np.log(proportion / wanted)) < _PROPORTION_OFF:
                yield int(i), int(strong[b])


def _distinct(along: Pencil) -> NDArray[np.intp]:
    """The well-supported lines; the two edges on both sides of a ridge are left out, for the ridge says it better."""
    strong = np.flatnonzero(along.support_px > _SIDELINE_SUPPORT * along.support_px.max(initial=0.0))
    at, ridge = along.crossing_px[strong], along.is_ridge[strong]
    kept = np.ones(len(strong), dtype=bool)
    for place in at[ridge]:
        beside = ~ridge & (np.abs(at - place) < _RIDGE_EDGE_PX)
        if (beside & (at < place)).any() and (beside & (at > place)).any():
            kept &= ~beside
    return strong[kept]


def _meet(across: Pencil, crossing: float, along: Pencil, other: float) -> Array:
    """Where a line of one pencil meets a line of the other, straightened px, shape (2,)."""
    first = across.homogeneous(np.array([crossing]))[0]
    second = along.homogeneous(np.array([other]))[0]
    point = np.cross(first, second)
    meeting: Array = point[:2] / point[2]
    return meeting


def _camera(
    across: Pencil,
    along: Pencil,
    ladder: Ladder,
    bending: Bending,
    field: FieldModel,
    shift: int,
    pair: tuple[int, int],
) -> Camera | None:
    """The camera that the matched lines make, or None when no camera makes them."""
    step = field.yard_line_every_yd
    found = np.flatnonzero(ladder.rung != NO_RUNG)
    yards = (ladder.rung[found] - shift) * step
    inside = (yards > 0) & (yards < field.length_yd)
    found, yards = found[inside], yards[inside]
    if len(found) < 4:
        return None
    half = field.line_mm / 2
    board, seen = [], []
    # Rising crossings run to the right in a level picture and down in an upright one.
    for k, side in enumerate(pair):
        low_side = (k == 1) == (across.along == 1)
        outward = -half if low_side else half
        y_mm = (0.0 if low_side else field.width_mm) + (outward if along.is_ridge[side] else 0.0)
        for i, yard in zip(found, yards, strict=True):
            board.append((yard * field.mm_per_yd_x, y_mm))
            seen.append(_meet(across, float(across.crossing_px[i]), along, float(along.crossing_px[side])))
    return camera_from_points(np.array(board), np.array(seen), bending, field)


def camera_from_points(board_mm: Array, straight_px: Array, bending: Bending, field: FieldModel) -> Camera | None:
    """The camera that sees board points, shape (n, 2), at places of the straightened picture, same shape.

    None when fewer than four are independent, or when no camera with square pixels sees them so.
    """
    plane = np.asarray(cv2.findHomography(board_mm, straight_px)[0], dtype=np.float64)
    if plane.shape != (3, 3):
        return None
    start = _camera_of_plane(plane, bending)
    return None if start is None else _with_lens(start, plane, bending, field)


def _camera_of_plane(plane: Array, bending: Bending) -> Camera | None:
    """Focal length and pose from a board-to-straightened-picture homography; None when the proportions can't be."""
    width, _ = bending.size_px
    costs = []
    for focal in _FOCALS * width:
        x, y, _ = (plane / plane[2, 2] / np.array([[focal], [focal], [1.0]])).T
        lengths = np.linalg.norm(x), np.linalg.norm(y)
        skew, aspect = float(x @ y / (lengths[0] * lengths[1])), float(np.log(lengths[1] / lengths[0]))
        habit = np.log(focal / width / _TYPICAL_FOCAL) / _FOCAL_SPREAD
        costs.append(((skew / 0.004) ** 2 + (aspect / 0.008) ** 2 + habit**2, focal, aspect))
    _, focal, aspect = min(costs)
    if abs(aspect) > _ASPECT_OFF:
        return None
    x, y, shift = (plane / plane[2, 2] / np.array([[focal], [focal], [1.0]])).T
    scale = 2 / (np.linalg.norm(x) + np.linalg.norm(y))
    left, _, right = np.linalg.svd(np.stack([x * scale, y * scale, np.cross(x, y) * scale**2], axis=1))
    rotation = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    # The camera is above: the board's z points back at it, so the picture's orientation must be mirrored by the plane.
    if rotation[2, 2] > -0.5:
        return None
    rx, ry, rz = (float(value) for value in cv2.Rodrigues(rotation)[0].ravel())
    tx, ty, tz = (float(value) for value in shift * scale)
    k1 = bending.amount * focal**2 / float((bending.center_px**2).sum())
    cx, cy = (float(value) for value in bending.center_px)
    lens = Lens(bending.size_px, (float(focal), float(focal)), (cx, cy), (k1, 0.0, 0.0, 0.0, 0.0))
    return Camera(lens, (rx, ry, rz), (tx, ty, tz))


def _with_lens(start: Camera, plane: Array, bending: Bending, field: FieldModel) -> Camera:
    """The camera whose full lens mimics the one-term bending over the field."""
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 7), np.linspace(0, field.width_mm, 4))
    board = np.stack([x.ravel(), y.ravel(), np.ones(x.size)], axis=1)
    straight = board @ plane.T
    seen = bending.bend(straight[:, :2] / straight[:, 2:])
    return fit_camera(
        start, Observations.of_points(board[:, :2], seen, _START_SIGMA_PX), most_steps=_START_STEPS
    ).camera
