"""Verifies a solution: how much of the field is really in the picture where the camera predicts it.

A wrong solution can fit what it was made from. So it is tested on what it was not made from: the hash marks between the
yard lines and the bare ground between the hash marks, yard lines that must end at the sidelines, and every line of the
model, found or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import CameraFit
from downfield.calibration.field.paint.paint_measurement import measure_paint
from downfield.calibration.field.paint.paint_samples import (
    PaintSamples,
    sample_beyond_goal_lines,
    sample_hash_marks,
    sample_inside_sidelines,
    sample_long_lines,
    sample_overrun,
)
from downfield.core.arrays import Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import PaintKind


@dataclass(frozen=True, slots=True)
class VerificationLimits:
    """What a correct solution must show; shares of what is searched for, unless stated."""

    first_every_yd: float = 4.0  # spacing of the samples of the first check
    hash_search_px: float = 1.2  # distance from its prediction within which a hash mark is searched for
    inside_search_px: float = 2.5  # distance within which a line inside a sideline is searched for
    # places inside a sideline, beyond the paint's own width, where a rail or rim mistaken for it would have it
    inside_mm: tuple[float, ...] = (2.5, 5.0, 7.5, 10.0, 12.5, 15.0)
    max_residual_px: float = 0.45  # robust rms of the paint about the solution that speaks neither for nor against it
    # the same of the deviation from what lenses are like, standard deviations, where the print is exactly known
    max_strain: float = 1.9
    trusted: float = 0.8  # probability from which a reading is trusted
    min_edge_distance_px: float = 2.0  # a field nearer than this to the edge of the picture is cut


VERIFICATION_LIMITS: Final = VerificationLimits()


@dataclass(frozen=True, slots=True)
class FieldEvidence:
    """Shares found of what was searched for, 0..1."""

    # sidelines, goal_lines, end_lines: of each of the two, lower or left one first; 1 where none is printed
    sidelines: tuple[float, float]
    goal_lines: tuple[float, float]
    end_lines: tuple[float, float]
    yard_lines: float  # of all samples on yard lines
    line_ends: float  # of the yard-line samples next to a sideline
    overrun: float  # of the places beyond the sidelines where there must be no yard line
    beyond: float  # of the clearest line one step beyond a goal line, where the field has none
    inside: float  # of the clearest line just inside a sideline, where there must be none
    hashes: tuple[float, float] | None  # of hash marks, and of the ground half-way between; None without any

    @property
    def score(self) -> float:
        """One number to rank solutions by; a correct one is near 1, or near 2 with hash marks."""
        long = (2 * sum(self.sidelines) + sum(self.goal_lines) + sum(self.end_lines) / 2 + 3 * self.yard_lines) / 10
        bare = self.overrun + self.beyond + self.inside
        return long + 0.3 * self.line_ends - 0.6 * bare + (0.0 if self.hashes is None else self.hash_contrast) - 0.3

    @property
    def hash_contrast(self) -> float:
        """Hash marks found less bare ground taken for them, -0.2 at least; 1 when none is printed."""
        return 1.0 if self.hashes is None else max(self.hashes[0] - self.hashes[1], -0.2)


def share_of_lines_found(plane: Plane, camera: Camera, field: FieldModel, search_px: float) -> float:
    """Return the share of a field's long lines found where a camera predicts them, every line counting alike, 0..1."""
    samples = sample_long_lines(field, every_yd=VERIFICATION_LIMITS.first_every_yd)
    found = measure_paint(plane, camera, samples, search_px).found
    _, line = np.unique(samples.line, return_inverse=True)
    shares = np.bincount(line, found) / np.bincount(line)
    return float(shares.mean())


def gather_evidence(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, *, every_yd: float = 1.0
) -> FieldEvidence:
    """Look for every part of a field where a camera predicts it. `every_yd`: spacing of the samples on long lines."""
    samples = sample_long_lines(field, every_yd=every_yd)
    seen = measure_paint(plane, camera, samples, search_px)
    kinds = np.array([line.kind for line in field.lines()])[samples.line]
    y_yd = samples.points_mm[:, 1] / field.mm_per_yd_y
    near_end = (kinds == "yard_line") & (np.minimum(y_yd, field.width_yd - y_yd) < 1 + every_yd)

    def found(at: PaintSamples, within_px: float = search_px) -> NDArray[np.bool_]:
        return measure_paint(plane, camera, at, within_px, seen).found

    further = sample_beyond_goal_lines(field)
    low, beyond = further.points_mm[:, 0] < field.length_mm / 2, found(further)
    inside = [0.0]
    for off_mm in VERIFICATION_LIMITS.inside_mm:
        near = sample_inside_sidelines(field, field.line_mm + off_mm)
        there = found(near, VERIFICATION_LIMITS.inside_search_px)
        inside += [_share(there[near.line == line]) for line in _pair(near.line)]
    marks, bare = sample_hash_marks(field), sample_hash_marks(field, shift_yd=field.hash_every_yd / 2)
    within_px = min(search_px, VERIFICATION_LIMITS.hash_search_px)
    return FieldEvidence(
        _both(samples, kinds, "sideline", seen.found),
        _both(samples, kinds, "goal_line", seen.found),
        _both(samples, kinds, "end_line", seen.found),
        _share(seen.found[kinds == "yard_line"]),
        _share(seen.found[near_end]),
        _share(found(sample_overrun(field))),
        max(_share(beyond[low]), _share(beyond[~low])) if len(beyond) else 0.0,
        max(inside),
        (_share(found(marks, within_px)), _share(found(bare, within_px))) if len(marks.line) else None,
    )


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else 1.0


def _both(
    samples: PaintSamples, kinds: NDArray[np.str_], kind: PaintKind, found: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the shares found of the two lines of a kind, in the order of the field model."""
    chosen = kinds == kind
    first, second = (_share(found[chosen & (samples.line == line)]) for line in _pair(samples.line[chosen]))
    return first, second


def _pair(lines: NDArray[np.intp]) -> tuple[int, int]:
    return (int(lines.min()), int(lines.max())) if len(lines) else (-1, -1)


What = Literal["goal lines", "sidelines", "yards", "field"]


@dataclass(frozen=True, slots=True)
class Testimony:
    """What one kind of paint says of a reading."""

    # what it tells: which rungs are the goal lines, where the sidelines are, how many yards the yard lines are apart,
    # or whether it is a field at all
    about: What
    log_odds: float  # natural logarithm of how much likelier it is if the reading is right than if it is wrong
    problem: str  # what speaks against the reading, for people, where it does


def weigh(
    evidence: FieldEvidence, fit: CameraFit, *, placed: bool = False, placing: float = 0.0, exact: bool = True
) -> tuple[Testimony, ...]:
    """Return what the picture says of a reading. A single line that is painted otherwise never outweighs the others.

    Samples along one line are seen or missed together, so a line counts once, by its share.

    Args:
        placed: whether the field was known to lie there to a pixel or two.
        placing: log odds of what else tells which lines are the goal lines: numbers, and where one-yard marks end.
        exact: whether the print is exactly known, so that an unlikely lens speaks against the reading.
    """
    known = 6.0 if placed else 1.0
    said: list[tuple[What, float, str]] = [
        ("goal lines", known + placing, "numbers and marks show other goal lines"),
        ("goal lines", 2.5 * (min(evidence.goal_lines) - 0.25), "a goal line is not where it should be"),
        ("goal lines", 4 * (min(evidence.end_lines) - 0.3), "an end line is not where it should be"),
        ("goal lines", 3 * (0.3 - evidence.beyond), "there is a line beyond a goal line where the field has none"),
        ("sidelines", known, ""),
        ("sidelines", 2 * (min(evidence.sidelines) - 0.3), "a sideline is not where it should be"),
        ("sidelines", 6 * (evidence.line_ends - 0.35), "the yard lines end before the sidelines"),
        ("sidelines", 8 * (0.3 - evidence.overrun), "the yard lines go on beyond the sidelines"),
        ("sidelines", min(0.0, 4 * (0.55 - evidence.inside)), "there is a line along a sideline and inside it"),
        ("field", 12 * (evidence.yard_lines - 0.4), "too few of the yard lines are seen"),
    ]
    if evidence.hashes is not None:
        marks = 6 * (evidence.hash_contrast - 0.25)
        said.append(("goal lines", marks, "the hash marks are not where the field model has them"))
        text = "there are marks half-way between the yards, as where the yard lines are farther apart than supposed"
        said.append(("yards", 20 * (0.3 - evidence.hashes[1]), text))
    # By their median, so that outliers do not count.
    rms = float(1.4826 * np.median(np.abs(fit.residual_px))) if len(fit.residual_px) else 0.0
    off = 12 * (VERIFICATION_LIMITS.max_residual_px - rms)
    said.append(("field", off, f"the paint is {rms:.2f} px (rms) off the solution"))
    if exact:
        strain = min(0.0, 8 * (VERIFICATION_LIMITS.max_strain - fit.strain))
        said.append(("field", strain, "no ordinary lens fits, so the print may have other proportions"))
    return tuple(Testimony(*each) for each in said)


def probability(testimony: Sequence[Testimony]) -> float:
    """Return the probability that all is right: goal lines, sidelines, and that it is a field."""
    sums: dict[str, float] = {}
    for each in testimony:
        sums[each.about] = sums.get(each.about, 0.0) + each.log_odds
    return math.prod(1 / (1 + math.exp(-max(-50.0, total))) for total in sums.values())


def find_problems(evidence: FieldEvidence, fit: CameraFit, field: FieldModel, *, placed: bool = False) -> list[str]:
    """Return what speaks against a solution of a known print, worst first; empty when it can be trusted.

    Args:
        placed: whether the field was known to lie there to a pixel or two: then no line is mistaken for another, and
            a sideline that is covered or borders on other paint is no reason to distrust it.
    """
    if cut := cut_text(fit.camera, field):
        return [cut]
    testimony = weigh(evidence, fit, placed=placed)
    return problems_of(testimony) if probability(testimony) < VERIFICATION_LIMITS.trusted else []


def problems_of(testimony: Sequence[Testimony]) -> list[str]:
    """Return what speaks against a reading, worst first."""
    against = sorted((each for each in testimony if each.log_odds < 0 and each.problem), key=lambda each: each.log_odds)
    return [each.problem for each in against]


def cut_text(camera: Camera, field: FieldModel) -> str:
    """Return what to do where the playing field reaches beyond the picture; empty where it does not."""
    along, across = np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5)
    sides = [(x, y) for x in along for y in (0.0, field.width_mm)]
    px = camera.to_pixels(np.array(sides + [(x, y) for x in (0.0, field.length_mm) for y in across]))
    (width, height), least = camera.lens.size_px, VERIFICATION_LIMITS.min_edge_distance_px
    low, high = np.nanmin(px, axis=0), np.nanmax(px, axis=0)
    checks = [
        (low[0] < least, "left"),
        (high[0] > width - 1 - least, "right"),
        (low[1] < least, "upper"),
        (high[1] > height - 1 - least, "lower"),
    ]
    cut = " and ".join(side for beyond, side in checks if beyond)
    return f"the field is cut by the picture's {cut} edge: move the camera until all of it is in view" if cut else ""
