from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from sheet_scenes import LENS, drawn, filmed

from downfield.calibration.camera import Camera
from downfield.calibration.field.fiducials import Fiducial, read_fiducials, solve_fiducials
from downfield.calibration.lens.lens_calibration import (
    Sheet,
    calibrate_lens,
    detect_sheet,
    is_new_view,
    read_lens,
    write_lens,
    write_sheet,
)
from downfield.calibration.lens.prior import MeasuredLens
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, FormatError, InputError


@pytest.fixture(scope="module")
def views() -> list[Image]:
    page = drawn(Sheet())
    rng = np.random.default_rng(5)
    out = []
    for i in range(10):
        turn = (float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.2, 0.2)))
        place = ((i % 3 - 1) * 70.0 - 132.0, (i // 3 % 3 - 1) * 45.0 - 84.0, 300.0 + 12.0 * i)
        out.append(filmed(page, turn, place))
    return out


def test_the_pdf_holds_the_sheet_at_true_scale(tmp_path: Path) -> None:
    path = tmp_path / "sheet.pdf"
    write_sheet(path, Sheet(), "a4")
    text = path.read_bytes().decode("latin-1")
    assert text.startswith("%PDF-1.4")
    box = re.search(r"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", text)
    assert box is not None
    assert [float(side) / 72 * 25.4 for side in box.groups()] == pytest.approx([297, 210], abs=0.01)
    rectangles = np.array(re.findall(r"^([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re$", text, re.MULTILINE), dtype=float)
    squares = rectangles[np.isclose(rectangles[:, 2:], 24 / 25.4 * 72, atol=1e-3).all(axis=1)]
    assert len(squares) >= 11 * 7 // 2 - 8  # black squares that touch no other are drawn whole
    assert int(re.findall(r"startxref\n(\d+)", text)[0]) == text.index("xref\n0")


@pytest.mark.parametrize(("paper", "square_mm", "says"), [("a5", 24.0, "a5"), ("a4", 40.0, "does not fit")])
def test_an_impossible_sheet_is_refused(tmp_path: Path, paper: str, square_mm: float, says: str) -> None:
    with pytest.raises(InputError, match=says):
        write_sheet(tmp_path / "sheet.pdf", Sheet(square_mm=square_mm), paper)


def test_a_lens_is_measured_from_views_of_the_sheet(views: list[Image], tmp_path: Path) -> None:
    seen = [view for view in (detect_sheet(image, Sheet()) for image in views) if view is not None]
    assert len(seen) >= 8
    measured = calibrate_lens(seen, LENS.size_px)
    assert measured.rms_px < 0.2
    x, y = np.meshgrid(np.linspace(60, 1220, 9), np.linspace(40, 680, 6))
    px = np.stack([x.ravel(), y.ravel()], axis=1)
    # Straight through the middle both lenses must bend alike; focal length to a few pixels.
    assert measured.lens.focal_px[0] == pytest.approx(980, rel=0.006)
    bent = measured.lens.undistort(px) * measured.lens.focal_px - LENS.undistort(px) * LENS.focal_px
    assert np.abs(bent - bent.mean(axis=0)).max() < 6.0
    path = tmp_path / "a.lens.json"
    write_lens(path, measured)
    assert read_lens(path) == measured
    assert (
        np.abs(
            measured.prior().residual(
                np.array([*measured.lens.focal_px, *measured.lens.center_px, *measured.lens.distortion])
            )
        ).max()
        < 1e-6
    )


def test_the_same_view_twice_is_not_new_and_too_few_are_refused(views: list[Image]) -> None:
    view = detect_sheet(views[0], Sheet())
    assert view is not None
    assert not is_new_view(view, [view], LENS.size_px[0])
    with pytest.raises(CalibrationError, match="useful views"):
        calibrate_lens([view] * 3, LENS.size_px)
    with pytest.raises(CalibrationError, match="every corner"):
        calibrate_lens([view] * 8, (4000, 3000))


def marked(camera: Camera, fiducials: list[Fiducial]) -> Image:
    """Markers on a light table as the camera sees them."""
    page = np.full((720 * 2, 1100 * 2), 220, dtype=np.uint8)  # 2 px/mm, y up from the lower edge at -100 mm
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    for fiducial in fiducials:
        side = round(fiducial.side_mm * 2)
        image = cv2.aruco.generateImageMarker(dictionary, fiducial.id, side)
        left = round((fiducial.x_mm + 190) * 2 - side / 2)
        top = round(1440 - (fiducial.y_mm + 110) * 2 - side / 2)
        page[top : top + side, left : left + side] = image
    x, y = np.meshgrid(np.arange(LENS.size_px[0]), np.arange(LENS.size_px[1]))
    board = camera.to_board(np.stack([x, y], axis=-1).astype(np.float64))
    at = np.nan_to_num(
        np.stack([(board[..., 0] + 190) * 2 - 0.5, 1440 - (board[..., 1] + 110) * 2 - 0.5], axis=-1), nan=-1e4
    )
    places = at.astype(np.float32)
    seen = cv2.remap(page, places[..., 0], places[..., 1], cv2.INTER_AREA, borderValue=(120,))
    return np.asarray(cv2.GaussianBlur(seen, (0, 0), 0.7), dtype=np.uint8)


FIDUCIALS = [
    Fiducial(i, x, y, 60.0)
    for i, (x, y) in enumerate([(-120.0, -60.0), (830.0, -60.0), (830.0, 556.0), (-120.0, 556.0)])
]


def test_corner_markers_give_the_pose() -> None:
    from calibration_scenes import TUDOR, camera_over

    over = camera_over(TUDOR, LENS.size_px, fill=0.72, barrel=0.0)
    camera = Camera(
        LENS, over.rotation, (over.translation_mm[0], over.translation_mm[1], over.translation_mm[2] * 1.05)
    )
    prior = MeasuredLens.of(LENS, np.diag(np.square([1.0, 1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-4, 1e-4, 1e-3])))
    fit, sightings = solve_fiducials(marked(camera, FIDUCIALS), LENS, prior, FIDUCIALS)
    assert len(sightings.px) == 2 * 4 * len(FIDUCIALS)
    points = TUDOR.to_mm(np.array([(0.0, 0.0), (50.0, 26.0), (100.0, 53.0)]))
    assert np.abs(fit.camera.to_pixels(points) - camera.to_pixels(points)).max() < 0.6
    mirrored = np.ascontiguousarray(marked(camera, FIDUCIALS)[:, ::-1])
    with pytest.raises(CalibrationError, match="the picture is mirrored"):
        solve_fiducials(mirrored, LENS, prior, FIDUCIALS)
    with pytest.raises(CalibrationError, match="of 4 markers are seen"):
        solve_fiducials(np.full((720, 1280), 90, dtype=np.uint8), LENS, prior, FIDUCIALS)


def test_a_plan_of_markers_is_read_and_its_errors_are_named(tmp_path: Path) -> None:
    path = tmp_path / "markers.toml"
    path.write_text('family = "apriltag"\n[[markers]]\nid = 3\nx_mm = -40\ny_mm = 20.5\nside_mm = 30\n')
    plan = read_fiducials(path)
    assert plan.family == "apriltag"
    assert plan.markers == (Fiducial(3, -40.0, 20.5, 30.0),)
    path.write_text("[[markers]]\nid = 3\nx_mm = 1\ny_mm = 2\nside_mm = 0\n")
    with pytest.raises(FormatError, match=r"markers\.0"):
        read_fiducials(path)
    path.write_text("[[markers")
    with pytest.raises(FormatError, match="broken TOML"):
        read_fiducials(path)
