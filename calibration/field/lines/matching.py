"""Matches lines in a picture to a printed field, by the ladder of evenly spaced yard lines.

Yard lines are evenly spaced on the board, so in the picture their crossings follow one projective law: with the right
perspective they are a regular ladder, found as a peak of its spectrum. Which rung is the goal line follows from where
rungs are missing or extra (a ten-yard end zone has no line at its middle).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.field.lines.line_chains import find_chains, find_peaks
from downfield.calibration.field.lines.line_pencils import DivisionModel, Pencil, estimate_distortion, fit_pencil
from downfield.calibration.pictures import BLURRED, is_blurred
from downfield.core.arrays import Array, Image, Indices, Plane
from downfield.core.errors import CalibrationError
from downfield.core.field.model import FieldModel


@dataclass(frozen=True, slots=True)
class MatchingLimits:
    """Thresholds of matching lines to a printed field."""

    max_scale_change: float = 0.9  # largest change of scale across the picture's width by perspective
    perspectives: int = 41  # number of perspectives that are tried
    max_rung_offset: float = 0.13  # largest distance of a line from its rung, as a share of a step
    # support that a line of the field must have to count when rungs are numbered, as a share of a typical line's
    min_support: float = 0.4
    empty_rung_cost: float = 0.6  # cost of an empty rung, as a share of a typical line's weight
    unmatched_line_cost: float = 0.5  # cost of a line that is on no rung, as a share of its own weight
    min_rungs: int = 6  # least number of rungs of a ladder
    min_peak: float = 0.5  # least height of a peak of the spectrum that is tried, as a share of the highest
    max_peaks: int = 12  # largest number of peaks of the spectrum that are tried
    # multiples of a peak's step that are tried: stripes of grass between the lines can favor a fraction of it
    overtones: tuple[int, ...] = (1, 2, 3, 5)
    max_shifts: int = 4  # number of likeliest positions of the goal line on the ladder that are tried


MATCHING_LIMITS: Final = MatchingLimits()
NO_RUNG: Final = -9999  # number of a line that is on no rung


@dataclass(frozen=True, slots=True)
class Ladder:
    """Evenly spaced lines of a pencil."""

    rung: NDArray[np.intp]  # number of each line's rung, or a large negative number for lines on none, shape (n,)
    law: tuple[float, float, float]  # p, q, r of `rung = (p c + q) / (1 + r c)` for crossings c in px
    score: float  # weight of the lines on rungs, px of support

    def position(self, crossing_px: Array) -> Array:
        """Convert crossings to steps."""
        p, q, r = self.law
        return (p * crossing_px + q) / (1 + r * crossing_px)

    def crossing_px(self, position: Array) -> Array:
        """Invert `position`."""
        p, q, r = self.law
        return (position - q) / (p - r * position)


@dataclass(frozen=True, slots=True)
class FieldLines:
    """The lines of a field in a picture."""

    across: Pencil  # the family that holds the yard lines
    along: Pencil  # the other family
    ladder: Ladder  # the yard lines in `across`
    distortion: DivisionModel  # of the lens, as estimated so far

    def meet(self, crossing: float, other: float) -> Array:
        """Return where a line of `across` meets one of `along`, undistorted px, shape (2,)."""
        first = self.across.homogeneous(np.array([crossing]))[0]
        second = self.along.homogeneous(np.array([other]))[0]
        point = np.cross(first, second)
        meeting: Array = point[:2] / point[2]
        return meeting

    def yards(self, field: FieldModel, shift: int) -> tuple[Indices, Array]:
        """Return the lines of `across` that are yard lines, by number, and their yards, if a rung is the goal line."""
        found = np.flatnonzero(self.ladder.rung != NO_RUNG)
        yards = np.asarray((self.ladder.rung[found] - shift) * field.yard_line_every_yd, dtype=np.float64)
        inside = (yards > 0) & (yards < field.length_yd)
        return found[inside], yards[inside]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible match."""

    field: FieldModel
    camera: Camera  # lens and pose, good to a few pixels
    shift_score: float  # share of the field's lines across that the ladder confirms, less lines that should not be
    shift: int = 0  # number of the rung that is the left goal line


def find_ladder(pencil: Pencil, width_px: float) -> Ladder | None:
    """Find the evenly spaced lines among a family's ridges; None when there are fewer than six."""
    ridge = pencil.is_ridge
    crossing, support = pencil.crossing_px[ridge], pencil.support_px[ridge]
    if len(crossing) < MATCHING_LIMITS.min_rungs:
        return None
    weight = np.minimum(support, _typical(support)) ** 2 / _typical(support)
    steps = np.geomspace(width_px / 90, width_px / 5, 500)
    most = MATCHING_LIMITS.max_scale_change
    steeps = np.linspace(-most, most, MATCHING_LIMITS.perspectives) / width_px
    levels = crossing / (1 + steeps[:, None] * crossing)
    spectrum = np.stack([np.abs(np.exp(2j * np.pi * level / steps[:, None]) @ weight) for level in levels])
    best = spectrum.max(axis=0)
    peaks, _ = find_peaks(best, MATCHING_LIMITS.min_peak * best.max())
    peaks = peaks[np.argsort(-best[peaks])][: MATCHING_LIMITS.max_peaks]
    trials = [(float(steeps[spectrum[:, peak].argmax()]), float(steps[peak])) for peak in peaks]
    ladders = [_climb(pencil, steep, times * step) for steep, step in trials for times in MATCHING_LIMITS.overtones]
    return max((ladder for ladder in ladders if ladder is not None), key=lambda ladder: ladder.score, default=None)


def _climb(pencil: Pencil, steep: float, step: float) -> Ladder | None:
    """Number the lines on the rungs of a trial ladder and refine its law."""
    crossing = pencil.crossing_px
    typical = _typical(pencil.support_px)
    weight = np.where(pencil.is_ridge, np.minimum(pencil.support_px, typical) ** 2 / typical, 0.0)
    level = crossing / (1 + steep * crossing)
    phase = np.angle(np.exp(2j * np.pi * level / step) @ weight) / (2 * np.pi)
    law = (1 / step - phase * steep, -phase, steep)
    rung, strong = np.full(len(crossing), NO_RUNG), weight > MATCHING_LIMITS.min_support**2 * typical
    for _ in range(4):
        position = (law[0] * crossing + law[1]) / (1 + law[2] * crossing)
        nearest = np.round(position)
        on = (np.abs(position - nearest) < MATCHING_LIMITS.max_rung_offset) & (weight > 0)
        if len(np.unique(nearest[on & strong])) < MATCHING_LIMITS.min_rungs:
            return None
        rung = np.where(on, nearest, NO_RUNG).astype(np.intp)
        rows = np.stack([crossing, np.ones_like(crossing), -nearest * crossing], axis=1)[on]
        root = np.sqrt(weight[on])[:, None]
        scale = np.array([1.0, 1.0, 1.0]) / np.maximum(np.abs(rows).max(axis=0), 1e-9)
        answer = np.linalg.lstsq(rows * root * scale, nearest[on] * root[:, 0], rcond=None)[0] * scale
        law = (float(answer[0]), float(answer[1]), float(answer[2]))
    position = (law[0] * crossing + law[1]) / (1 + law[2] * crossing)
    on = rung != NO_RUNG
    fit = 1 - np.abs(position - rung)[on] / MATCHING_LIMITS.max_rung_offset
    rungs = np.unique(rung[on & strong])
    empty = rungs[-1] - rungs[0] + 1 - len(rungs)
    # A ladder of half the step holds the same lines, and every other rung of it is empty; one of twice the step leaves
    # every other line beside its rungs.
    beside = ~on & (position > rungs[0]) & (position < rungs[-1])
    score = (weight[on] * fit).sum() - MATCHING_LIMITS.empty_rung_cost * empty * typical
    score -= MATCHING_LIMITS.unmatched_line_cost * weight[beside].sum()
    return Ladder(rung, law, float(score))


def _typical(support_px: Array) -> float:
    """Return the support of a typical long line: half of all chain length is in lines with at least as much."""
    order = np.sort(support_px)
    return float(order[np.searchsorted(np.cumsum(order), order.sum() / 2)])


def find_lines(image: Image, plane: Plane) -> FieldLines:
    """Find the lines of a field. Raises CalibrationError: no ladder of yard lines is seen."""
    size = (image.shape[1], image.shape[0])
    level, upright = find_chains(plane)
    distortion = estimate_distortion((level, upright), size)
    found = []
    # Yard lines may run either way in the picture: the family with the better ladder has them.
    for across, along in ((upright, level), (level, upright)):
        pencil = fit_pencil(across, distortion, ridges_only=True)
        ladder = find_ladder(pencil, size[0])
        if ladder is not None:
            found.append((ladder.score, pencil, along, ladder))
    if not found:
        if is_blurred(image):
            raise CalibrationError(BLURRED)
        raise CalibrationError(
            "no evenly spaced yard lines are seen. Bring the whole field into view, right side up, and light it evenly."
        )
    _, pencil, along, ladder = max(found, key=lambda item: item[0])
    return FieldLines(pencil, fit_pencil(along, distortion), ladder, distortion)


def likely_shifts(lines: FieldLines, field: FieldModel) -> list[tuple[int, float]]:
    """Return the rung numbers of the left goal line that explain the lines best, with their scores."""
    across, ladder = lines.across, lines.ladder
    strong = across.is_ridge & (across.support_px > MATCHING_LIMITS.min_support * _typical(across.support_px))
    seen = ladder.position(across.crossing_px[strong])
    step_mm = field.yard_line_every_yd * field.mm_per_yd_x
    across_mm = [sum(line.x_mm) / 2 for line in field.lines() if line.is_across and line.kind != "hash"]
    expected = np.sort(np.array(across_mm) / step_mm)
    rungs = np.unique(ladder.rung[ladder.rung != NO_RUNG])
    last = round(field.length_yd / field.yard_line_every_yd)
    scored = []
    for shift in range(int(rungs[0]) - last, int(rungs[-1]) + last):
        apart = np.abs(seen[:, None] - shift - expected)
        off, met = apart.min(axis=1), apart.min(axis=0) < 1.6 * MATCHING_LIMITS.max_rung_offset
        # End zones are checkered, lettered or painted in any way; between the goal lines are the yard lines alone.
        within = (seen - shift > 0) & (seen - shift < last)
        unexpected = (within & (off > 1.6 * MATCHING_LIMITS.max_rung_offset)).sum()
        scored.append((shift, float((met.sum() - 0.7 * unexpected) / len(expected))))
    scored.sort(key=lambda item: -item[1])
    return [item for item in scored[: MATCHING_LIMITS.max_shifts] if item[1] > 0.4]
