from __future__ import annotations

import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph, worst_error_yd

from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.core.errors import CalibrationError, InputError

CORNERS = ((0.0, 0.0), (100.0, 0.0), (100.0, TUDOR.width_yd), (0.0, TUDOR.width_yd))


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


def shown(scene: Scene, places: tuple[tuple[float, float], ...], shake_px: float = 2.0) -> list[Landmark]:
    rng = np.random.default_rng(2)
    px = scene.camera.to_pixels(TUDOR.to_mm(np.array(places))) + rng.uniform(-shake_px, shake_px, (len(places), 2))
    return [Landmark(x, y, (float(u), float(v))) for (x, y), (u, v) in zip(places, px, strict=True)]


def test_four_rough_corners_are_refined_to_the_paint(scene: Scene) -> None:
    solution = solve_landmarks([scene.image], TUDOR, shown(scene, CORNERS))
    assert worst_error_yd(solution.fit.camera, scene) < 0.04


def test_any_crossings_of_lines_serve(scene: Scene) -> None:
    places = ((20.0, 0.0), (80.0, 0.0), (50.0, TUDOR.width_yd), (10.0, TUDOR.width_yd), (90.0, TUDOR.width_yd))
    solution = solve_landmarks([scene.image], TUDOR, shown(scene, places))
    assert worst_error_yd(solution.fit.camera, scene) < 0.04


@pytest.mark.parametrize(
    ("places", "says"),
    [(CORNERS[:3], "at least 4"), (((0.0, 0.0), (10.0, 0.0), (40.0, 0.0), (90.0, 0.0)), "on one line")],
)
def test_too_few_landmarks_are_refused(scene: Scene, places: tuple[tuple[float, float], ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_landmarks([scene.image], TUDOR, shown(scene, places))


def test_a_landmark_named_wrongly_is_refused(scene: Scene) -> None:
    marks = shown(scene, (*CORNERS, (50.0, 0.0), (50.0, TUDOR.width_yd)))
    wrong = Landmark(30.0, marks[4].y_yd, marks[4].px)
    with pytest.raises(CalibrationError, match=r"named or placed wrongly|not where"):
        solve_landmarks([scene.image], TUDOR, [*marks[:4], wrong, marks[5]])


def test_a_mirrored_picture_is_refused(scene: Scene) -> None:
    mirrored = Scene(np.ascontiguousarray(scene.image[:, ::-1]), scene.camera, TUDOR)
    width = scene.image.shape[1]
    # Named as they look from the camera: left for right.
    seen = {(mark.x_yd, mark.y_yd): mark.px for mark in shown(scene, CORNERS)}
    marks = [Landmark(x, y, (width - 1 - seen[100.0 - x, y][0], seen[100.0 - x, y][1])) for x, y in CORNERS]
    with pytest.raises(CalibrationError, match="the picture is mirrored"):
        solve_landmarks([mirrored.image], TUDOR, marks)
    # Named as they are printed: no camera sees a field from below.
    named = [Landmark(x, y, (width - 1 - u, v)) for (x, y), (u, v) in seen.items()]
    with pytest.raises(CalibrationError, match="the picture is mirrored"):
        solve_landmarks([mirrored.image], TUDOR, named)
