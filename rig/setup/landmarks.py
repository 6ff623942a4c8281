"""The places of a field that can be dragged on the set-up page, and solving from those that were placed by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from downfield.api.setup.table_setup import PlacedLandmark, SetupLandmark
from downfield.calibration.calibration import Calibration
from downfield.calibration.field.free_solver import ROUGH
from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.stretch import DescribedProportions
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel, load_field, preset_names


def landmarks_of(calibration: Calibration) -> tuple[SetupLandmark, ...]:
    """Return where every line across the field meets its sidelines and its rows of hash marks.

    Shown at first are the corners, the quarters of both sidelines and one mark in each half: what a finger can tell
    apart on a phone.
    """
    field = calibration.field
    step = field.yard_line_every_yd
    quarter = round(field.length_yd / 4 / step) * step
    quarters = (0.0, quarter, field.length_yd / 2, field.length_yd - quarter, field.length_yd)
    rows = _rows(field)
    places = [(x, y) for y in rows for x in (0.0, *field.yard_lines_yd(), field.length_yd)]
    px = calibration.camera.to_pixels(field.to_mm(np.array(places)))
    hashes = [y for y in rows if 0 < y < field.width_yd]
    marks = {(quarters[1], hashes[0]), (quarters[3], hashes[-1])} if hashes else set()
    return tuple(
        SetupLandmark(
            name=_name(field, x, rows[y]),
            x_yd=x,
            y_yd=y,
            px=(float(u), float(v)),
            corner=_is_corner(field, x, y),
            shown=(x, y) in marks or (x in quarters and y in {0.0, field.width_yd}),
        )
        for (x, y), (u, v) in zip(places, px.tolist(), strict=True)
        if np.isfinite((u, v)).all()
    )


def solve_placed(
    images: Sequence[Image], name: str, placed: Sequence[PlacedLandmark], shown: Calibration | None
) -> FieldSolution:
    """Solve from landmarks placed by hand.

    Args:
        images: frames of the camera.
        name: of the printed field.
        placed: the landmarks.
        shown: what was solved before; a field that was measured there is known by its name.

    Raises:
        InputError: the field is not named, or not known.
        CalibrationError: no camera fits the landmarks.

    """
    marks = [Landmark(mark.x_yd, mark.y_yd, mark.px) for mark in placed]
    if name in preset_names():
        return solve_landmarks(images, load_field(name), marks)
    if shown is not None and name == shown.field.name:
        # Its proportions were measured with the camera that is solved again, so they are as open as that left them.
        proportions = DescribedProportions.of(shown.field, ROUGH.spread)
        return solve_landmarks(images, shown.field, marks, proportions=proportions)
    if name == "auto":
        raise InputError("Choose the printed field before placing its corners by hand.")
    raise InputError(f"There is no printed field '{name}'. Choose one of {', '.join(preset_names())}.")


def _rows(field: FieldModel) -> dict[float, str]:
    """Return the rows of places across the field by their yard, with their names, the lower sideline first."""
    hashes = sorted(field.hash_rows_y_yd)
    if not field.hash_every_yd or not hashes:
        return {0.0: "lower sideline", field.width_yd: "upper sideline"}
    marks = {hashes[0]: "lower hash marks", hashes[-1]: "upper hash marks"}
    return {0.0: "lower sideline", **marks, field.width_yd: "upper sideline"}


def _is_corner(field: FieldModel, x_yd: float, y_yd: float) -> bool:
    return x_yd in {0.0, field.length_yd} and y_yd in {0.0, field.width_yd}


def _name(field: FieldModel, x_yd: float, row: str) -> str:
    side = "Left" if x_yd < field.length_yd / 2 else "Right"
    if x_yd in {0.0, field.length_yd}:
        if row.endswith("sideline"):
            return f"{row.split()[0].capitalize()} {side.lower()} corner"
        return f"{side} goal line, {row}"
    if x_yd == field.length_yd / 2:
        return f"Midfield, {row}"
    return f"{side} {field.number_text(x_yd)}-yard line, {row}"
