from __future__ import annotations

import cv2
import numpy as np
import pytest

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.field.paint.paint_measurement import observe_paint
from downfield.calibration.field.paint.yard_line_ends import observe_line_ends
from downfield.core.arrays import Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle

FIELD = FieldModel(
    "small", "Small", 50.0, 25.0, 0.0, 8.0, 8.0, 1.6,
    sideline=LineStyle(1.4, "inner"), number_every_yd=0.0, hash_every_yd=0.0, sideline_marks=False,
)  # fmt: skip
CAMERA = Camera(Lens((640, 360), (700.0, 700.0), (319.5, 179.5)), (np.pi, 0.0, 0.0), (-200.0, 100.0, 560.0))


def picture(border: float, margin: float, *, gap_mm: float = 0.0) -> Plane:
    """Draw the field from straight above at eight times the resolution, a pixel wide border and all."""
    finer = 8
    image = np.full((360 * finer, 640 * finer), margin, np.float32)

    def box(x0: float, y0: float, x1: float, y1: float, level: float) -> None:
        corners = (CAMERA.to_pixels(np.array([(x0, y1), (x1, y0)])) + 0.5) * finer
        (left, top), (right, bottom) = np.rint(corners).astype(int).tolist()
        image[top:bottom, left:right] = level

    edge, length, width = FIELD.line_width_mm("sideline"), FIELD.length_mm, FIELD.width_mm
    box(-edge, -edge, length + edge, width + edge, border)
    box(0, 0, length, width, 80.0)
    for yard in FIELD.yard_lines_yd():
        box(yard * 8 - 0.8, gap_mm, yard * 8 + 0.8, width - gap_mm, 220.0)
    small = cv2.resize(image, (640, 360), interpolation=cv2.INTER_AREA)
    noisy = cv2.GaussianBlur(small, (0, 0), 0.8) + np.random.default_rng(1).normal(0, 1.5, small.shape)
    return np.asarray(noisy, dtype=np.float32)


@pytest.mark.parametrize(("border", "margin"), [(220.0, 30.0), (20.0, 230.0), (150.0, 230.0), (80.0, 80.0)])
def test_ends_are_placed_to_a_tenth_of_a_pixel_whatever_lies_beyond(border: float, margin: float) -> None:
    seen = observe_line_ends(picture(border, margin), CAMERA, FIELD, 2.0, 0.9, 7)
    off = ((seen.px - CAMERA.to_pixels(seen.points_mm)) * seen.normals).sum(axis=1)
    assert len(off) >= 16
    assert abs(float(np.mean(off))) < 0.1
    assert set(seen.cluster.tolist()) == {7, 8, 9, 10}


def test_covered_ends_are_left_out() -> None:
    plane = picture(220.0, 30.0)
    x, y = CAMERA.to_pixels(np.array([(200.0, 0.0)]))[0]
    cv2.circle(plane, (round(x), round(y)), 9, 150.0, -1)
    seen = observe_line_ends(plane, CAMERA, FIELD, 2.0, 0.9, 0)
    assert (np.abs(seen.points_mm[:, 0] - 200.0) + seen.points_mm[:, 1] > 1).all()


def test_a_border_that_blurs_into_a_light_margin_does_not_move_the_sideline() -> None:
    observations = observe_paint([picture(150.0, 230.0)], CAMERA, FIELD, 1.8)
    ends = observations[observations.boundary < 0]
    ends = ends[np.isin(ends.points_mm[:, 1], (0.0, FIELD.width_mm))]
    off = ((ends.px - CAMERA.to_pixels(ends.points_mm)) * ends.normals).sum(axis=1)
    assert len(off) >= 16
    assert abs(float(np.mean(off))) < 0.1
