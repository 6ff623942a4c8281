"""Verifies a solution: how much of the field is really in the picture where the camera predicts it.

A wrong solution can fit what it was made from. So it is tested on what it was not made from: the hash marks between the
yard lines and the bare ground between the hash marks, yard lines that must end at the sidelines, and every line of the
model, found or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.calibration.camera_fit import CameraFit
from downfield.calibration.field.paint.paint_measurement import PaintMeasurement, measure_paint
from downfield.calibration.field.paint.paint_samples import (
    PaintSamples,
    sample_beyond_goal_lines,
    sample_hash_marks,
    sample_inside_sidelines,
    sample_long_lines,
    sample_overrun,
)
from downfield.core.arrays import Array, Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import PaintKind


@dataclass(frozen=True, slots=True)
class VerificationLimits:
    """What a correct solution must show; shares of what is searched for, unless stated."""

    first_every_yd: float = 4.0
    """Spacing of the samples of the first check."""
    hash_search_px: float = 1.2
    """Distance from its prediction within which a hash mark is searched for."""
    inside_search_px: float = 2.5
    """Distance within which a line inside a sideline is searched for."""
    inside_mm: tuple[float, ...] = (
        2.5,
        5.0,
        7.5,
        10.0,
        12.5,
        15.0,
    )
    """Places inside a sideline, beyond the paint's own width, where a rail or rim mistaken for it would have it."""
    min_sideline: float = 0.30
    """Visible share of a sideline; figures, hands, glare and wear cover the rest."""
    min_goal_line: float = 0.25
    """Visible share of a goal line."""
    min_yard_lines: float = 0.50
    """Visible share of the yard lines."""
    min_line_ends: float = 0.35
    """Visible share of the yard lines' ends at the sidelines."""
    max_beyond: float = 0.30
    """Share of the places beyond the lines, which must be bare, where paint may seem to be."""
    max_inside: float = 0.55
    """Share of the places inside a sideline where paint may seem to be."""
    sure_line_ends: float = 0.75
    """Share of the yard lines' ends: with more, and fewer overruns than the next, the sidelines are there."""
    sure_overrun: float = 0.1
    """Share of the places beyond the sidelines where a yard line seems to go on."""
    min_hash_contrast: float = 0.25
    """Share of hash marks found, less that of bare ground taken for them."""
    max_between: float = 0.3
    """Share of the bare ground half-way between hash marks where others are found: on prints as they are read, 0.01."""
    max_residual_px: float = 0.45
    """Largest robust rms of the paint about the solution."""
    max_strain: float = 1.9
    """Largest deviation from what webcams are like, standard deviations."""
    rival_within: float = 0.05
    """Another solution with a score as near as this leaves the answer open."""
    min_edge_distance_px: float = 2.0
    """A field nearer than this to the edge of the picture is cut."""


VERIFICATION_LIMITS: Final = VerificationLimits()


@dataclass(frozen=True, slots=True)
class FieldEvidence:
    """Shares found of what was searched for, 0..1.

    Attributes:
        sidelines, goal_lines, end_lines: of each of the two, lower or left one first; 1 where none is printed.
        yard_lines: of all samples on yard lines.
        line_ends: of the yard-line samples next to a sideline.
        overrun: of the places beyond the sidelines where there must be no yard line.
        beyond: of the clearest line one step beyond a goal line, where the field has none.
        inside: of the clearest line just inside a sideline, where there must be none.
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
    """Look for every part of a field where a camera predicts it.

    Args:
        plane: gray picture, shape (height, width).
        camera: the solution to test.
        search_px: how far off the solution may be.
        every_yd: spacing of the samples on long lines.
    """
    samples = sample_long_lines(field, every_yd=every_yd)
    seen = measure_paint(plane, camera, samples, search_px)
    kinds = np.array([line.kind for line in field.lines()])[samples.line]
    y_yd = samples.points_mm[:, 1] / field.mm_per_yd_y
    near_end = (kinds == "yard_line") & (np.minimum(y_yd, field.width_yd - y_yd) < 1 + every_yd)
    return FieldEvidence(
        _both(samples, kinds, "sideline", seen.found),
        _both(samples, kinds, "goal_line", seen.found),
        _both(samples, kinds, "end_line", seen.found),
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
    samples: PaintSamples, kinds: NDArray[np.str_], kind: PaintKind, found: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the shares found of the two lines of a kind, in the order of the field model."""
    chosen = kinds == kind
    first, second = (_share(found[chosen & (samples.line == line)]) for line in _pair(samples.line[chosen]))
    return first, second


def _pair(lines: NDArray[np.intp]) -> tuple[int, int]:
    return (int(lines.min()), int(lines.max())) if len(lines) else (-1, -1)


def _beyond(plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: PaintMeasurement) -> float:
    samples = sample_beyond_goal_lines(field)
    found = measure_paint(plane, camera, samples, search_px, seen).found
    low = samples.points_mm[:, 0] < field.length_mm / 2
    return max(_share(found[low]), _share(found[~low])) if len(found) else 0.0


def _inside(plane: Plane, camera: Camera, field: FieldModel, seen: PaintMeasurement) -> float:
    shares = [0.0]
    for off_mm in VERIFICATION_LIMITS.inside_mm:
        samples = sample_inside_sidelines(field, field.line_mm + off_mm)
        found = measure_paint(plane, camera, samples, VERIFICATION_LIMITS.inside_search_px, seen).found
        shares += [_share(found[samples.line == line]) for line in _pair(samples.line)]
    return max(shares)


def _hashes(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: PaintMeasurement
) -> tuple[float, float] | None:
    samples, bare = sample_hash_marks(field), sample_hash_marks(field, shift_yd=field.hash_every_yd / 2)
    if not len(samples.line):
        return None
    search = min(search_px, VERIFICATION_LIMITS.hash_search_px)
    shares = [_share(measure_paint(plane, camera, part, search, seen).found) for part in (samples, bare)]
    return shares[0], shares[1]


def find_problems(
    evidence: FieldEvidence, fit: CameraFit, field: FieldModel, *, placed: bool = False, numbered: bool = False
) -> list[str]:
    """Return what speaks against a solution, worst first; empty when it can be trusted.

    Args:
        evidence: what the picture shows of the field.
        placed: whether the field was known to lie there to a pixel or two: then no line is mistaken for another, and
            a sideline that is covered or borders on other paint is no reason to distrust it.
        numbered: whether the kind of field is known, and numbers stand on just the yard lines that have them: then
            neither a goal line of the color of what lies beyond it nor paint in an end zone that looks like a line is
            a reason to distrust which line is which.
    """
    cut = cut_edges(fit.camera, field)
    if cut:
        return [
            f"the field is cut by the picture's {' and '.join(cut)} edge: move the camera until all of it is in view"
        ]
    # Yard lines that all end there, and none beyond, show a sideline better than its own paint does.
    ended = (
        evidence.line_ends > VERIFICATION_LIMITS.sure_line_ends and evidence.overrun < VERIFICATION_LIMITS.sure_overrun
    )
    sided = placed or ended
    found = [
        (
            not sided and min(evidence.sidelines) < VERIFICATION_LIMITS.min_sideline,
            "a sideline is not where it should be",
        ),
        (
            not numbered and min(evidence.goal_lines) < VERIFICATION_LIMITS.min_goal_line,
            "a goal line is not where it should be",
        ),
        (evidence.yard_lines < VERIFICATION_LIMITS.min_yard_lines, "too few of the yard lines are seen"),
        (evidence.line_ends < VERIFICATION_LIMITS.min_line_ends, "the yard lines end before the sidelines"),
        (evidence.overrun > VERIFICATION_LIMITS.max_beyond, "the yard lines go on beyond the sidelines"),
        (
            not placed and not numbered and evidence.beyond > VERIFICATION_LIMITS.max_beyond,
            "there is a line beyond a goal line where the field has none",
        ),
        (
            not sided and evidence.inside > VERIFICATION_LIMITS.max_inside,
            "there is a line along a sideline and inside it",
        ),
        (
            evidence.hash_contrast < VERIFICATION_LIMITS.min_hash_contrast,
            "the hash marks are not where the field model has them",
        ),
        (
            evidence.hashes is not None and evidence.hashes[1] > VERIFICATION_LIMITS.max_between,
            "there are marks half-way between the yards, as where the yard lines are farther apart than supposed",
        ),
    ]
    problems = [text for failed, text in found if failed]
    rms = robust_rms(fit.residual_px)
    if rms > VERIFICATION_LIMITS.max_residual_px:
        problems.append(f"the paint is {rms:.2f} px (rms) off the solution")
    if fit.strain > VERIFICATION_LIMITS.max_strain:
        problems.append(
            "no ordinary lens fits: the print may have other proportions (measure it from goal line to goal line"
            " and from sideline to sideline, and give its .toml file to --field)"
        )
    return problems


def cut_edges(camera: Camera, field: FieldModel) -> list[str]:
    """Return the edges of the picture that the playing field reaches beyond."""
    along, across = np.linspace(0, field.length_mm, 9), np.linspace(0, field.width_mm, 5)
    rim = [(x, y) for x in along for y in (0.0, field.width_mm)] + [
        (x, y) for x in (0.0, field.length_mm) for y in across
    ]
    px = camera.to_pixels(np.array(rim))
    width, height = camera.lens.size_px
    low, high = np.nanmin(px, axis=0), np.nanmax(px, axis=0)
    checks = [
        (low[0] < VERIFICATION_LIMITS.min_edge_distance_px, "left"),
        (high[0] > width - 1 - VERIFICATION_LIMITS.min_edge_distance_px, "right"),
        (low[1] < VERIFICATION_LIMITS.min_edge_distance_px, "upper"),
        (high[1] > height - 1 - VERIFICATION_LIMITS.min_edge_distance_px, "lower"),
    ]
    return [side for beyond, side in checks if beyond]


def robust_rms(residual_px: Array) -> float:
    """Return the root mean square of residuals, estimated from their median, so that outliers do not count."""
    return float(1.4826 * np.median(np.abs(residual_px))) if len(residual_px) else 0.0
