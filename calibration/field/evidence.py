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
from downfield.calibration.field.marks import Marks, beyond_marks, hash_marks, inside_marks, long_marks, overrun_marks
from downfield.calibration.field.profiles import Profiles, measure
from downfield.core.arrays import Plane
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
class Evidence:
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


def first_look(plane: Plane, camera: Camera, field: FieldModel, search_px: float) -> float:
    """Share of a field's long lines found where a camera says they are, each line counting the same, 0..1."""
    marks = long_marks(field, every_yd=_FIRST_LOOK_YD)
    found = measure(plane, camera, marks, search_px).found
    _, line = np.unique(marks.line, return_inverse=True)
    shares = np.bincount(line, found) / np.bincount(line)
    return float(shares.mean())


def gather(plane: Plane, camera: Camera, field: FieldModel, search_px: float, *, every_yd: float = 1.0) -> Evidence:
    """Look for every part of a field where a camera says it is.

    Args:
        plane: gray picture, shape (height, width).
        camera: the solution to test.
        field: the printed field.
        search_px: how far off the solution may be.
        every_yd: spacing of the samples on long lines.

    """
    marks = long_marks(field, every_yd=every_yd)
    seen = measure(plane, camera, marks, search_px)
    kinds = np.array([line.kind for line in field.lines()])[marks.line]
    y_yd = marks.points_mm[:, 1] / field.mm_per_yd_y
    near_end = (kinds == "yard_line") & (np.minimum(y_yd, field.width_yd - y_yd) < 1 + every_yd)
    return Evidence(
        _both(marks, kinds, "sideline", seen.found),
        _both(marks, kinds, "goal_line", seen.found),
        _both(marks, kinds, "end_line", seen.found),
        _share(seen.found[kinds == "yard_line"]),
        _share(seen.found[near_end]),
        _share(measure(plane, camera, overrun_marks(field), search_px, seen).found),
        _beyond(plane, camera, field, search_px, seen),
        _inside(plane, camera, field, seen),
        _hashes(plane, camera, field, search_px, seen),
    )


def _share(found: NDArray[np.bool_]) -> float:
    return float(found.mean()) if len(found) else 1.0


def _both(marks: Marks, kinds: NDArray[np.str_], kind: PaintKind, found: NDArray[np.bool_]) -> tuple[float, float]:
    """Shares found of the two lines of a kind, in the order of the field model."""
    chosen = kinds == kind
    first, second = (_share(found[chosen & (marks.line == line)]) for line in _pair(marks.line[chosen]))
    return first, second


def _pair(lines: NDArray[np.intp]) -> tuple[int, int]:
    return (int(lines.min()), int(lines.max())) if len(lines) else (-1, -1)


def _beyond(plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: Profiles) -> float:
    marks = beyond_marks(field)
    found = measure(plane, camera, marks, search_px, seen).found
    low = marks.points_mm[:, 0] < field.length_mm / 2
    return max(_share(found[low]), _share(found[~low])) if len(found) else 0.0


def _inside(plane: Plane, camera: Camera, field: FieldModel, seen: Profiles) -> float:
    shares = [0.0]
    for off_mm in _INSIDE_MM:
        marks = inside_marks(field, field.line_mm + off_mm)
        found = measure(plane, camera, marks, _INSIDE_SEARCH_PX, seen).found
        shares += [_share(found[marks.line == line]) for line in _pair(marks.line)]
    return max(shares)


def _hashes(
    plane: Plane, camera: Camera, field: FieldModel, search_px: float, seen: Profiles
) -> tuple[float, float] | None:
    marks, bare = hash_marks(field), hash_marks(field, shift_yd=field.hash_every_yd / 2)
    if not len(marks.line):
        return None
    search = min(search_px, _HASH_SEARCH_PX)
    shares = [_share(measure(plane, camera, part, search, seen).found) for part in (marks, bare)]
    return shares[0], shares[1]
