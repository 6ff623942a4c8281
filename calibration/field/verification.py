"""How much of a field is really in the picture where a camera says it is: what tells a right solution from a wrong one.

A wrong solution can fit what it was made from. So it is asked about what it was not made from: the hash marks between
the yard lines and the bare ground between the hash marks, yard lines that must end at the sidelines, and every line of
the model, found or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import CameraFit
from downfield.calibration.field.paint_measurement import PaintMeasurement, measure_paint
from downfield.calibration.field.paint_samples import (
    PaintSamples,
    sample_beyond_goal_lines,
    sample_hash_marks,
    sample_inside_sidelines,
    sample_long_lines,
    sample_overrun,
)
from downfield.core.arrays import Array, Plane
from downfield.core.field import FieldModel, PaintKind

_FIRST_LOOK_YD = 4.0
_HASH_SEARCH_PX = 1.2
_INSIDE_SEARCH_PX = 2.5
_INSIDE_MM = (
    2.5,
    5.0,
    7.5,
    10.0,
    12.5,
    15.0,
)  # beyond the paint's own width: where a rail or rim mistaken for it would be


@dataclass(frozen=True, slots=True)
class FieldEvidence:
    """Shares of what was looked for and found, 0..1.

    Attributes:
        sidelines, goal_lines, end_lines: of each of the two, lower or left one first; 1 where none is printed.
        yard_lines: of all samples on yard lines.
        line_ends: of the yard-line samples next to a sideline.
        overrun: of the places beyond the sidelines where there must be no yard line.
        beyond: of the likeliest line one step beyond a goal line, where the field has none.
        inside: of the places along the likeliest line just inside a sideline, where there must be none.
        hashes: of hash marks, and of the bare ground half-way between them; None when none is printed.

    """

    sidelines: tuple[float, float]
    goal_lines: tuple[float, float]
    end_lines: tuple[float, float]
    yard_lines: float
    line_ends: float
    overrun: float
    beyond: float
    inside: float
    hashes: tuple[float, float] | None

    @property
    def score(self) -> float:
        """One number to rank solutions by; a right one is near 1, or near 2 with hash marks."""
        long = (2 * sum(self.sidelines) + sum(self.goal_lines) + sum(self.end_lines) / 2 + 3 * self.yard_lines) / 10
        bare = self.overrun + self.beyond + self.inside
        return long + 0.3 * self.line_ends - 0.6 * bare + (0.0 if self.hashes is None else self.hash_contrast) - 0.3

    @property
    def hash_contrast(self) -> float:
        """Hash marks found less bare ground taken for them, -0.2 at least; 1 when none is printed."""
        return 1.0 if self.hashes is None else max(self.hashes[0] - self.hashes[1], -0.2)


def share_of_lines_found(plane: Plane, camera: Camera, field: FieldModel, search_px: float) -> float:
    """Share of a field's long lines found where a camera says they are, each line counting the same, 0..1."""
    marks = sample_long_lines(field, every_yd=_FIRST_LOOK_YD)
    found = measure_paint(plane, camera, marks, search_px).found
    _, line = np.unique(marks.line, return_inverse=True)
    shares = np.bincount(line, found) / np.bincount(line)
    return float(shares.mean())


def gather_evidence(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, *, every_yd: float = 1.0
) -> FieldEvidence:
    """Look for every part of a field where a camera says it is.

    Args:
        plane: gray picture, shape (height, width).
        camera: the solution to test.
        field: the printed field.
        search_px: how far off the solution may be.
        every_yd: spacing of the samples on long lines.

    """
    marks = sample_long_lines(field, every_yd=every_yd)
    seen = measure_paint(plane, camera, marks, search_px)
    kinds = np.array([line.kind for line in field.lines()])[marks.line]
    y_yd = marks.points_mm[:, 1] / field.mm_per_yd_y
    near_end = (kinds == "yard_line") & (np.minimum(y_yd, field.width_yd - y_yd) < 1 + every_yd)
    return FieldEvidence(
        _both(marks, kinds, "sideline", seen.found),
        _both(marks, kinds, "goal_line", seen.found),
        _both(marks, kinds, "end_line", seen.found),
        _share(seen.found[kinds == "yard_line"]),
        _share(seen.found[near_end]),
        _share(measure_paint(plane, camera, sample_overrun(field), search_px, seen).found),
        _beyond(plane, camera, field, search_px, seen),
        _inside(plane, camera, field, seen),
        _hashes(plane, camera, field, search_px, seen),
    )


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else 1.0


def _both(
    marks: PaintSamples, kinds: NDArray[np.str_], kind: PaintKind, found: NDArray[np.bool_]
) -> tuple[float, float]:
    """Shares found of the two lines of a kind, in the order of the field model."""
    chosen = kinds == kind
    first, second = (_share(found[chosen & (marks.line == line)]) for line in _pair(marks.line[chosen]))
    return first, second


def _pair(lines: NDArray[np.intp]) -> tuple[int, int]:
    return (int(lines.min()), int(lines.max())) if len(lines) else (-1, -1)


def _beyond(plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: PaintMeasurement) -> float:
    marks = sample_beyond_goal_lines(field)
    found = measure_paint(plane, camera, marks, search_px, seen).found
    low = marks.points_mm[:, 0] < field.length_mm / 2
    return max(_share(found[low]), _share(found[~low])) if len(found) else 0.0


def _inside(plane: Plane, camera: Camera, field: FieldModel, seen: PaintMeasurement) -> float:
    shares = [0.0]
    for off_mm in _INSIDE_MM:
        marks = sample_inside_sidelines(field, field.line_mm + off_mm)
        found = measure_paint(plane, camera, marks, _INSIDE_SEARCH_PX, seen).found
        shares += [_share(found[marks.line == line]) for line in _pair(marks.line)]
    return max(shares)


def _hashes(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: PaintMeasurement
) -> tuple[float, float] | None:
    marks, bare = sample_hash_marks(field), sample_hash_marks(field, shift_yd=field.hash_every_yd / 2)
    if not len(marks.line):
        return None
    search = min(search_px, _HASH_SEARCH_PX)
    shares = [_share(measure_paint(plane, camera, part, search, seen).found) for part in (marks, bare)]
    return shares[0], shares[1]


# Of paint looked for, the least that a right solution shows: figures, hands, glare and wear cover the rest.
LEAST_OF_A_SIDELINE = 0.30
LEAST_OF_A_GOAL_LINE = 0.25
LEAST_OF_YARD_LINES = 0.50
LEAST_OF_LINE_ENDS = 0.35
# Of places that must be bare, the most at which paint may seem to be.
MOST_BEYOND = 0.30
MOST_INSIDE = 0.55
LEAST_HASH_CONTRAST = 0.25  # hash marks found, less bare ground taken for them
LARGEST_RESIDUAL_PX = 0.45  # robust rms of paint about the solution
LARGEST_STRAIN = 1.9  # standard deviations from what webcams are like
RIVAL_WITHIN = 0.05  # another solution as good as this leaves the answer open
_OUTSIDE_PX = 2.0


def find_problems(evidence: FieldEvidence, fit: CameraFit, field: FieldModel, *, placed: bool = False) -> list[str]:
    """What speaks against a solution, worst first; empty when it may be trusted.

    Args:
        evidence: what the picture shows of it.
        fit: the solution.
        field: the print.
        placed: whether the field was known to lie there to a pixel or two: then no line is mistaken for another, and
            a sideline under feet and hands, or borders beside it, are no reason to distrust it.

    """
    cut = cut_edges(fit.camera, field)
    if cut:
        return [f"the field is cut by the picture's {' and '.join(cut)} edge: move the camera until all of it is seen"]
    found = [
        (not placed and min(evidence.sidelines) < LEAST_OF_A_SIDELINE, "a sideline is not where it should be"),
        (min(evidence.goal_lines) < LEAST_OF_A_GOAL_LINE, "a goal line is not where it should be"),
        (evidence.yard_lines < LEAST_OF_YARD_LINES, "too few of the yard lines are seen"),
        (evidence.line_ends < LEAST_OF_LINE_ENDS, "the yard lines end before the sidelines"),
        (evidence.overrun > MOST_BEYOND, "the yard lines go on beyond the sidelines"),
        (not placed and evidence.beyond > MOST_BEYOND, "there is a line beyond a goal line where the field has none"),
        (not placed and evidence.inside > MOST_INSIDE, "there is a line along a sideline and inside it"),
        (evidence.hash_contrast < LEAST_HASH_CONTRAST, "the hash marks are not where the field model has them"),
    ]
    problems = [text for failed, text in found if failed]
    rms = robust_rms(fit.residual_px)
    if rms > LARGEST_RESIDUAL_PX:
        problems.append(f"the paint lies {rms:.2f} px (rms) off the solution")
    if fit.strain > LARGEST_STRAIN:
        problems.append(
            "no ordinary lens sees it so: the print may be of other proportions (measure it from goal line to goal line"
            " and from sideline to sideline, and give its .toml file to --field)"
        )
    return problems


def cut_edges(camera: Camera, field: FieldModel) -> list[str]:
    """Edges of the picture that the playing field reaches beyond."""
    along, across = np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5)
    rim = [(x, y) for x in along for y in (0.0, field.width_mm)] + [
        (x, y) for x in (0.0, field.length_mm) for y in across
    ]
    px = camera.to_pixels(np.array(rim))
    width, height = camera.lens.size_px
    low, high = np.nanmin(px, axis=0), np.nanmax(px, axis=0)
    checks = [
        (low[0] < _OUTSIDE_PX, "left"),
        (high[0] > width - 1 - _OUTSIDE_PX, "right"),
        (low[1] < _OUTSIDE_PX, "upper"),
        (high[1] > height - 1 - _OUTSIDE_PX, "lower"),
    ]
    return [side for beyond, side in checks if beyond]


def robust_rms(residual_px: Array) -> float:
    """Root mean square of residuals, not minding outliers (from their median)."""
    return float(1.4826 * np.median(np.abs(residual_px))) if len(residual_px) else 0.0
