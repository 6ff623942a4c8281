"""The lines of a field in a picture: the yard lines' family and ladder, the other family, and the lens's bending."""

from __future__ import annotations

from downfield.calibration.field.lines.line_chains import find_chains
from downfield.calibration.field.lines.line_pencils import DivisionModel, Pencil, estimate_distortion, fit_pencil
from downfield.calibration.field.lines.matching import Ladder, find_ladder
from downfield.calibration.pictures import BLURRED, is_blurred
from downfield.core.arrays import Image, Plane
from downfield.core.errors import CalibrationError

FieldLines = tuple[Pencil, Pencil, Ladder, DivisionModel]
"""The yard lines' family, the other one, the ladder among the first, and the lens's distortion."""


def find_lines(image: Image, plane: Plane) -> FieldLines:
    """Find the yard lines' family, the other one, the ladder among the first, and the lens's distortion."""
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
    return pencil, fit_pencil(along, distortion), ladder, distortion
