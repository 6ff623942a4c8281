from __future__ import annotations

import dataclasses
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.calibration.certificate import (
    Ruler,
    add_certificate,
    check_hash_marks,
    check_rulers,
    check_spots,
    render_certificate,
)
from downfield.calibration.drawing import draw_calibration
from downfield.calibration.field.landmarks import Landmark
from downfield.calibration.field.solver import solve_field
from downfield.calibration.jacobians import STRETCH
from downfield.calibration.pictures import read_pictures, write_picture
from downfield.calibration.quality import to_calibration
from downfield.cli.commands.calibrate import parse_landmark
from downfield.core.errors import CalibrationError, InputError
from downfield.core.texts import parse_span


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


@pytest.fixture(scope="module")
def calibration(scene: Scene) -> Calibration:
    solution = solve_field([scene.image], [TUDOR])
    return to_calibration(
        TUDOR, solution.fit, solution.observations, method="field", made_from=["a.png"], made_at="now"
    )


def test_a_calibration_file_reads_as_it_was_written(calibration: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "a.calibration.json"
    write_calibration(path, calibration)
    assert read_calibration(path) == calibration
    with pytest.raises(InputError, match="covariance"):
        dataclasses.replace(calibration, covariance=((1.0,),))


def test_hash_marks_certify_a_good_calibration(scene: Scene, calibration: Calibration, tmp_path: Path) -> None:
    check = check_hash_marks(scene.image, calibration)
    done = add_certificate(calibration, check)
    assert done.certificate is not None
    assert done.certificate.points > 200
    assert done.certificate.p95_mm < 0.5
    page = render_certificate(done, check, draw_calibration(scene.image, done))
    assert f"{done.certificate.p95_mm:.3f} mm" in page
    assert page.count("data:image/jpeg;base64,") == 2
    assert "two sigma, typical" in page
    assert "across was not measured" in page
    with pytest.raises(CalibrationError, match="not certified"):
        render_certificate(calibration, check, scene.image)
    path = tmp_path / "a.calibration.json"
    write_calibration(path, done)
    assert read_calibration(path).certificate == done.certificate


def test_a_moved_camera_is_not_certified(scene: Scene, calibration: Calibration) -> None:
    moved = np.asarray(cv2.warpAffine(scene.image, np.array([[1.0, 0, 30], [0, 1, 17]]), (1920, 1080)), dtype=np.uint8)
    with pytest.raises(CalibrationError, match="hash marks are seen"):
        check_hash_marks(moved, calibration)


def test_known_spots_measure_both_axes(scene: Scene, calibration: Calibration) -> None:
    places = np.array([(20.0, 10.0), (50.0, 30.0), (80.0, 45.0), (60.0, 5.0)])
    px = scene.camera.to_pixels(TUDOR.to_mm(places + np.array([0.0, 0.1])))
    spots = [Landmark(x, y, (u, v)) for (x, y), (u, v) in zip(places.tolist(), px.tolist(), strict=True)]
    done = add_certificate(calibration, check_spots(calibration, spots))
    assert done.certificate is not None
    assert done.certificate.p95_yd[1] == pytest.approx(0.1, abs=0.03)
    with pytest.raises(CalibrationError, match="too few"):
        check_spots(calibration, spots[:2])


def ruler(scene: Scene, ends: tuple[float, float, float, float], off_mm: float, height_mm: float = 0.0) -> Ruler:
    """A ruler between two places in yards, read with an error."""
    (a, b) = TUDOR.to_mm(np.array(ends).reshape(2, 2))
    (ax, ay), (bx, by) = scene.camera.to_pixels(np.array([[*a, height_mm], [*b, height_mm]])).tolist()
    return Ruler((ax, ay), (bx, by), float(np.linalg.norm(b - a)) + off_mm)


def test_a_ruler_measures_the_axes_it_lies_along(scene: Scene, calibration: Calibration) -> None:
    along = [(10.0, y, 50.0, y) for y in (5.0, 26.0, 48.0)]
    across = [(x, 5.0, x, 45.0) for x in (20.0, 70.0)]
    laid = [ruler(scene, ends, 0.7) for ends in along] + [ruler(scene, ends, -0.3) for ends in across]
    done = add_certificate(calibration, check_rulers(calibration, laid)).certificate
    assert done is not None
    assert done.against == "ruler"
    assert done.p95_yd[0] * TUDOR.mm_per_yd_x == pytest.approx(0.7, abs=0.15)
    assert done.p95_yd[1] * TUDOR.mm_per_yd_y == pytest.approx(0.3, abs=0.15)
    with pytest.raises(CalibrationError, match="too few"):
        check_rulers(calibration, laid[:2])
    with pytest.raises(CalibrationError, match="along the field"):
        check_rulers(calibration, [laid[3], laid[4], laid[3]])


def test_a_thick_ruler_is_measured_at_its_face(scene: Scene, calibration: Calibration) -> None:
    laid = [ruler(scene, (10.0, y, 90.0, y), 0.0, 3.0) for y in (5.0, 26.0, 48.0)]
    thick, thin = (check_rulers(calibration, laid, height_mm=height) for height in (3.0, 0.0))
    assert thick.distances_mm.max() < 0.3
    assert thin.distances_mm.min() > 1.0


def test_rulers_are_written_as_two_ends_and_a_length() -> None:
    assert Ruler(*parse_span("412.5,600=900,604.2=300", "a ruler")) == Ruler((412.5, 600.0), (900.0, 604.2), 300.0)
    for text in ("412.5,600=900,604.2", "1,2=3=4", "1,2=3,4=0"):
        with pytest.raises(InputError, match="ruler"):
            Ruler(*parse_span(text, "a ruler"))


def test_positions_carry_detection_noise_and_calibration_error(calibration: Calibration) -> None:
    px = np.array([[500.0, 300.0], [1400.0, 800.0]])
    bare, alone = calibration.to_board_with_cov(px, 5.5)
    _, noisy = calibration.to_board_with_cov(px, 5.5, sigma_px=0.5, sigma_height_mm=1.0)
    np.testing.assert_allclose(bare, calibration.camera.to_board(px, 5.5))
    assert (np.linalg.eigvalsh(alone) > 0).all()
    assert (np.linalg.eigvalsh(noisy - alone) > 0).all()
    exact = dataclasses.replace(calibration, covariance=(), unmodeled_px=0.0)
    _, none = exact.to_board_with_cov(px, 5.5)
    assert not none.any()
    _, given = exact.to_board_with_cov(px, 5.5, sigma_px=np.tile(np.eye(2) * 0.25, (2, 1, 1)))
    np.testing.assert_allclose(given, exact.to_board_with_cov(px, 5.5, sigma_px=0.5)[1])
    assert len(calibration.covariance) == STRETCH + 1


def test_the_drawing_has_the_model_over_the_photograph(scene: Scene, calibration: Calibration) -> None:
    drawn = draw_calibration(scene.image, calibration)
    assert drawn.shape[1] == scene.image.shape[1]
    assert drawn.shape[0] > scene.image.shape[0]


def test_pictures_are_read_and_other_files_are_refused(scene: Scene, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    write_picture(path, scene.image)
    np.testing.assert_array_equal(read_pictures(path)[0], scene.image)
    broken = tmp_path / "b.png"
    broken.write_text("no picture")
    with pytest.raises(InputError, match="not a readable picture"):
        read_pictures(broken)
    with pytest.raises(InputError, match="no such file"):
        read_pictures(tmp_path / "c.mp4")
    film = tmp_path / "d.mp4"
    film.write_text("no video")
    with pytest.raises(InputError, match="neither"):
        read_pictures(film)


def test_landmarks_are_written_as_yards_and_pixels() -> None:
    assert parse_landmark("50,0=962.5,871") == Landmark(50.0, 0.0, (962.5, 871.0))
    with pytest.raises(InputError, match="is not a landmark"):
        parse_landmark("50=962")


def test_a_spot_that_was_named_or_read_wrongly_is_refused(scene: Scene, calibration: Calibration) -> None:
    places = np.array([(20.0, 10.0), (50.0, 30.0), (80.0, 45.0), (60.0, 5.0)])
    px = scene.camera.to_pixels(TUDOR.to_mm(places))

    def spots(wrong: tuple[float, float]) -> list[Landmark]:
        read = [*px[:3].tolist(), (px[3] + wrong).tolist()]
        return [Landmark(x, y, (u, v)) for (x, y), (u, v) in zip(places.tolist(), read, strict=True)]

    assert len(check_spots(calibration, spots((0.5, 0.0))).points_mm) == 4
    for wrong in ((45.0, 0.0), (0.0, -300.0), (0.0, 8.0)):
        with pytest.raises(CalibrationError, match=r"the spot 60,5 at pixel .* the calibration has it at"):
            check_spots(calibration, spots(wrong))
    for wrong in ((5000.0, 0.0), (0.0, float("nan"))):
        with pytest.raises(CalibrationError, match=r"outside the picture of 1920x1080"):
            check_spots(calibration, spots(wrong))


def test_a_ruler_that_was_read_wrongly_is_refused(scene: Scene, calibration: Calibration) -> None:
    ends = scene.camera.to_pixels(TUDOR.to_mm(np.array([(20.0, 20.0), (60.0, 20.0)]))).tolist()
    length_mm = 40 * TUDOR.mm_per_yd_x
    right = Ruler((ends[0][0], ends[0][1]), (ends[1][0], ends[1][1]), length_mm)
    assert len(check_rulers(calibration, [right] * 3).points_mm) == 3
    with pytest.raises(CalibrationError, match=r"the ruler of 400 mm measures"):
        check_rulers(calibration, [right, right, dataclasses.replace(right, length_mm=400.0)])
