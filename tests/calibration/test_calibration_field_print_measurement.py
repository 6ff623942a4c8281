"""Which paint beyond the yard lines' ends is the sideline, in small pictures drawn from straight above."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from small_prints import CAMERA, FIELD, at_px

from downfield.calibration.field.print_measurement import with_line_inset
from downfield.core.arrays import Image

GROUND, PAINT, BLUE, TAN = (70, 110, 45), (235, 235, 235), (150, 60, 45), (90, 150, 190)
Color = tuple[int, int, int]


def beyond_the_ends(between: Color, band: Color, *, outer_yd: float = 1.2) -> Image:
    """Return yard lines with something between their ends and a band beyond, both half a yard wide, and a dark rim."""
    image = np.full((540, 1040, 3), 30, np.uint8)
    for reach_yd, color in ((outer_yd, band), (0.7, between), (0.0, GROUND)):
        low, high = at_px(-reach_yd, -reach_yd), at_px(100 + reach_yd, 50 + reach_yd)
        cv2.rectangle(image, low, high, color, -1)
    for yard in FIELD.yard_lines_yd():
        cv2.line(image, at_px(yard, 0), at_px(yard, 50), PAINT, 2)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.6), dtype=np.uint8)


def inset_yd(image: Image) -> float:
    """Return how far inside of the sidelines the yard lines end, in the red channel, where blue is like the ground."""
    red = np.asarray(image[:, :, 2], dtype=np.float32)
    return with_line_inset(red, image, CAMERA, FIELD, 190.0)[0].yard_line_inset_yd


def test_paint_beyond_bare_ground_is_the_sideline() -> None:
    assert inset_yd(beyond_the_ends(GROUND, PAINT)) == pytest.approx(0.7, abs=0.15)


@pytest.mark.parametrize("band", [PAINT, TAN])
def test_what_lies_beyond_a_border_of_another_color_is_no_sideline(band: Color) -> None:
    assert inset_yd(beyond_the_ends(BLUE, band)) == 0.0


def test_a_rail_of_another_color_beyond_bare_ground_is_no_sideline() -> None:
    assert inset_yd(beyond_the_ends(GROUND, TAN)) == 0.0
