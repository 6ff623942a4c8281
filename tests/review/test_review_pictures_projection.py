"""The view from above is to scale: what is at a place of the board is at its place in the picture."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.footprint import BASE_TOP_MM
from downfield.review.pictures.projection import BoardRegion, board_map, rectify


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


@pytest.mark.parametrize("plane_mm", [0.0, BASE_TOP_MM])
@pytest.mark.parametrize(
    ("corner_mm", "extent_mm", "px_per_mm"),
    [
        ((300.0, 400.0), (200.0, 120.0), 6.0),
        ((-100.0, -10.0), (1200.0, 600.0), 1.5),
        ((985.0, 3.0), (37.0, 21.0), 11.7),
    ],
)
def test_every_pixel_is_taken_from_where_the_camera_sees_its_place(
    calibration: Calibration,
    corner_mm: tuple[float, float],
    extent_mm: tuple[float, float],
    px_per_mm: float,
    plane_mm: float,
) -> None:
    region = BoardRegion(*corner_mm, *extent_mm, px_per_mm, plane_mm)
    width, height = region.size_px
    map_x, map_y = np.moveaxis(board_map(calibration.camera, region), -1, 0)
    columns = np.array([0, 1, 7, width // 3, width // 2 + 1, width - 2, width - 1])
    rows = np.array([0, 1, 9, height // 3, height // 2 + 1, height - 2, height - 1])
    board = region.board_mm(np.stack([columns, rows], axis=1))
    truth = calibration.camera.to_pixels(np.column_stack([board, np.full(len(board), plane_mm)]))
    assert np.abs(map_x[rows, columns] - truth[:, 0]).max() < 0.02
    assert np.abs(map_y[rows, columns] - truth[:, 1]).max() < 0.02
    assert rectify(np.zeros((1080, 1920, 3), np.uint8), calibration.camera, region).shape == (height, width, 3)


@pytest.mark.parametrize(("quick", "away_mm"), [(False, 0.1), (True, 0.15)])
def test_a_mark_on_the_board_is_at_its_place_to_a_tenth_of_a_millimeter(
    calibration: Calibration, quick: bool, away_mm: float
) -> None:
    region = BoardRegion(350.0, 250.0, 200.0, 120.0, 5.0, BASE_TOP_MM)
    for mark in ((380.0, 270.0), (455.5, 312.25), (530.0, 355.0)):
        image = np.zeros((1080, 1920, 3), np.uint8)
        x, y = calibration.camera.to_pixels([[*mark, BASE_TOP_MM]])[0]
        center = (round(x * 16), round(y * 16))
        cv2.circle(image, center, 3 * 16, (255, 255, 255), -1, cv2.LINE_AA, 4)
        seen = rectify(image, calibration.camera, region, quick=quick)[..., 0].astype(np.float64)
        rows, columns = np.indices(seen.shape)
        centroid = np.array([[(seen * columns).sum(), (seen * rows).sum()]]) / seen.sum()
        assert np.abs(region.board_mm(centroid)[0] - mark).max() < away_mm


def test_what_the_camera_does_not_see_is_dark(calibration: Calibration) -> None:
    white = np.full((1080, 1920, 3), 255, np.uint8)
    seen = rectify(white, calibration.camera, BoardRegion(-4000.0, -4000.0, 100.0, 100.0, 2.0, 0.0))
    assert seen.max() < 40
