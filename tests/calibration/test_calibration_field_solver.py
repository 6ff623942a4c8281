from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, board_look, camera_over, photograph, worst_error_yd

from downfield.calibration.camera import Camera
from downfield.calibration.field import refinement, solver
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.prior import lens_at_height
from downfield.calibration.quality import to_calibration
from downfield.core.errors import CalibrationError
from downfield.core.field.model import preset


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


@pytest.fixture(scope="module")
def solution(scene: Scene) -> FieldSolution:
    return solve_field([scene.image], [scene.field])


def solved(scene: Scene) -> Camera:
    return solve_field([scene.image], [scene.field]).fit.camera


def test_a_table_with_figures_an_arm_and_glare_is_solved_to_hundredths_of_a_yard(
    scene: Scene, solution: FieldSolution
) -> None:
    assert worst_error_yd(solution.fit.camera, scene) < 0.04
    assert worst_error_yd(solution.fit.camera, scene, 5.5) < 0.06
    calibration = to_calibration(scene.field, solution.fit, solution.observations, method="field", made_from=["a.png"])
    assert calibration.quality is not None
    assert calibration.quality.rms_px < 0.2
    assert sum(cell.points for cell in calibration.quality.cells) == calibration.quality.points


@pytest.mark.parametrize(
    ("name", "barrel", "tilt_deg", "roll_deg"),
    [("ultimate", 0.2, 15.0, -4.0), ("arena-50", 0.0, 4.0, 0.0), ("canadian", 0.05, 10.0, 3.0)],
)
def test_other_boards_lenses_and_tilts_are_solved(name: str, barrel: float, tilt_deg: float, roll_deg: float) -> None:
    field = preset(name)
    scene = photograph(
        field, camera_over(field, barrel=barrel, tilt_deg=tilt_deg, roll_deg=roll_deg, fill=0.82), seed=4
    )
    assert worst_error_yd(solved(scene), scene) < 0.06


def test_dark_paint_on_a_light_board_is_solved() -> None:
    look = dataclasses.replace(
        board_look((0.1, 0.15, 0.5)), grass=((0.9, 0.9, 0.92),), border=(0.9, 0.9, 0.92), stripe_yd=10.0
    )
    scene = photograph(look=look)
    assert worst_error_yd(solved(scene), scene) < 0.05


def test_of_two_symmetric_answers_the_upright_one_is_taken() -> None:
    upside_down = photograph(camera=camera_over(TUDOR, roll_deg=181.0))
    camera = solved(upside_down)
    goals = camera.to_pixels(np.array([(0.0, 0.0), (TUDOR.length_mm, 0.0)]))
    assert goals[0, 0] < goals[1, 0]
    turned = Camera(camera.lens, camera.rotation, camera.translation_mm, camera.bow)
    far = np.array([TUDOR.length_mm, TUDOR.width_mm])
    seen = turned.to_board(upside_down.camera.to_pixels(np.array([100.0, 100.0, 0.0])))
    np.testing.assert_allclose(seen, far - 100.0, atol=0.5)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda image: np.full_like(image, 90), "no evenly spaced yard lines"),
        (lambda image: image // 12, "too dark"),
        (lambda image: cv2.GaussianBlur(image, (0, 0), 9), "Focus"),
        (lambda image: cv2.resize(image, (320, 180)), "only 320x180"),
        (lambda image: np.full_like(image, 255), "overexposed"),
    ],
)
def test_a_bad_picture_is_refused_with_what_to_change(scene: Scene, spoil: object, says: str) -> None:
    assert callable(spoil)
    with pytest.raises(CalibrationError, match=says):
        solve_field([spoil(scene.image)], [scene.field])


@pytest.mark.parametrize("shift", [(-420, 0), (400, 0), (0, 260)])
def test_a_field_cut_by_the_picture_is_refused(scene: Scene, shift: tuple[int, int]) -> None:
    move = np.array([[1.0, 0, shift[0]], [0, 1, shift[1]]])
    cut = cv2.warpAffine(scene.image, move, (1920, 1080), borderValue=(95, 90, 85))
    with pytest.raises(CalibrationError, match="the field is cut by the picture"):
        solve_field([np.asarray(cut, dtype=np.uint8)], [scene.field])


@pytest.mark.parametrize("name", ["ultimate", "arena-50", "canadian"])
def test_the_wrong_preset_is_refused(scene: Scene, name: str) -> None:
    with pytest.raises(CalibrationError, match=name):
        solve_field([scene.image], [preset(name)])


def test_several_frames_are_used_together(scene: Scene, solution: FieldSolution) -> None:
    move = np.array([[1.0, 0, 1.7], [0, 1, -1.2]])
    shaken = np.asarray(cv2.warpAffine(photograph(seed=9).image, move, (1920, 1080)), dtype=np.uint8)
    two = solve_field([scene.image, shaken], [TUDOR])
    assert len(two.observations.px) > 1.6 * len(solution.observations.px)
    assert worst_error_yd(two.fit.camera, scene) < 0.065  # a thousandth of the proportions, which are measured


@pytest.mark.parametrize("known", [False, True])
def test_focal_lengths_are_averaged_once_whether_the_distance_is_told_afterwards_or_not(
    known: bool, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    averaged: list[FieldSolution] = []

    def count(solution: FieldSolution, *_: object) -> FieldSolution:
        averaged.append(solution)
        return solution

    for module in (solver, refinement):
        monkeypatch.setattr(module, "with_mean_focal", count)
    true_mm = float(scene.camera.position_mm[2])
    found = solve_field(
        [scene.image], [scene.field], distance=lambda camera: lens_at_height(camera, true_mm) if known else None
    )
    assert len(averaged) == 1
    assert worst_error_yd(found.fit.camera, scene) < 0.05
    if known:
        assert float(found.fit.camera.position_mm[2]) == pytest.approx(true_mm, rel=0.03)
