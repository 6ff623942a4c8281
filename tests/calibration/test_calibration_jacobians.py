import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.calibration.camera import Bow, Camera, Lens, Projection, flat_bow
from downfield.calibration.jacobians import PARAMETERS, camera_parameters, locate, project, with_parameters
from downfield.core.field.model import preset, preset_names

FIELD = preset("tudor-620")


def overhead(
    tilt_deg: float = 0.0,
    barrel: float = 0.0,
    turn_deg: float = 0.0,
    bow: Bow | None = None,
    height_mm: float = 1000.0,
    projection: Projection = "perspective",
) -> Camera:
    """A 1080p camera over the middle of the field; `barrel` is the inward shift at the corner as a share of radius."""
    focal = 1150.0
    corner2 = (960**2 + 540**2) / focal**2
    lens = Lens((1920, 1080), (focal, focal), (959.5, 539.5), (-barrel / corner2, 0.0, 0.0, 0.0, 0.0), projection)
    tilt, turn = math.radians(tilt_deg), math.radians(turn_deg)
    down = np.diag([1.0, -1.0, -1.0])
    lean = np.array([[1, 0, 0], [0, math.cos(tilt), -math.sin(tilt)], [0, math.sin(tilt), math.cos(tilt)]])
    spin = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    rotation = lean @ spin @ down
    middle = np.array([FIELD.length_mm / 2, FIELD.width_mm / 2, 0.0])
    translation = np.array([0.0, 0.0, height_mm]) - rotation @ middle
    rx, ry, rz = map(float, cv2.Rodrigues(rotation)[0].ravel())
    tx, ty, tz = map(float, translation)
    return Camera(lens, (rx, ry, rz), (tx, ty, tz), bow)


BOWED = Bow((-103.0, 813.0), (-19.0, 515.0), along_mm=1.5, twist_mm=-0.4, across_mm=0.8, both_mm=-0.5)
cameras = st.builds(
    overhead,
    tilt_deg=st.floats(-25, 25),
    barrel=st.floats(-0.05, 0.2),
    turn_deg=st.floats(-180, 180),
    bow=st.sampled_from([None, BOWED]),
    projection=st.sampled_from(["perspective", "equidistant"]),
)
pixels = st.lists(st.tuples(st.floats(0, 1919), st.floats(0, 1079)), min_size=1, max_size=8)


@given(cameras, pixels, st.floats(0, 50))
@settings(max_examples=150)
def test_pixels_to_board_and_back_is_the_same_pixel(
    camera: Camera, px: list[tuple[float, float]], height: float
) -> None:
    board = camera.to_board(px, height)
    back = camera.to_pixels(np.column_stack([board, np.full(len(px), height)]))
    seen = np.isfinite(board).all(axis=1)
    assert seen.any() or camera.lens.distortion[0] < 0
    assert np.abs(back - px)[seen].max(initial=0.0) < 1e-6


@given(cameras, st.lists(st.tuples(st.floats(-70, 780), st.floats(0, 496), st.floats(0, 50)), min_size=1, max_size=6))
@settings(max_examples=60)
def test_jacobians_agree_with_differences(camera: Camera, points: list[tuple[float, float, float]]) -> None:
    at = np.array(points)
    _, by_point, by_parameters = project(camera, at)
    step = 1e-4
    for axis in range(3):
        shift = np.eye(3)[axis] * step
        slope = (camera.to_pixels(at + shift) - camera.to_pixels(at - shift)) / (2 * step)
        np.testing.assert_allclose(by_point[:, :, axis], slope, atol=2e-5, rtol=1e-5)
    values = camera_parameters(camera)
    count = len(PARAMETERS) if camera.bow else len(PARAMETERS) - 4
    for index in range(count):
        size = max(abs(values[index]), 1.0) * 1e-6
        change = np.eye(len(values))[index] * size
        ahead, behind = (with_parameters(camera, values + sign * change).to_pixels(at) for sign in (1, -1))
        slope = (ahead - behind) / (2 * size)
        np.testing.assert_allclose(by_parameters[:, :, index], slope, atol=2e-3, rtol=1e-4, err_msg=PARAMETERS[index])


def test_the_jacobians_of_locate_agree_with_differences() -> None:
    camera = overhead(12, 0.15, 5, BOWED)
    px = np.array([[300.0, 200.0], [1500.0, 900.0]])
    board, by_pixel, by_height, by_parameters = locate(camera, px, 5.5)
    np.testing.assert_allclose(camera.to_board(px, 5.5), board)
    nudge = np.array([0.01, -0.02])
    np.testing.assert_allclose(camera.to_board(px + nudge, 5.5) - board, by_pixel @ nudge, atol=1e-6)
    np.testing.assert_allclose(camera.to_board(px, 5.51) - board, by_height * 0.01, atol=1e-6)
    longer = camera_parameters(camera) + np.eye(19)[0] * 0.1
    moved = with_parameters(camera, longer).to_board(px, 5.5) - board
    np.testing.assert_allclose(moved, by_parameters[:, :, 0] * 0.1, atol=1e-5)


def test_height_parallax_matches_a_hand_calculation() -> None:
    # Straight down from 1000 mm, something 40 mm up and 300 mm off the axis hides the board at 300 * 1000 / 960.
    camera = overhead()
    middle = np.array([FIELD.length_mm / 2, FIELD.width_mm / 2])
    helmet = np.array([middle[0] + 300.0, middle[1], 40.0])
    px = camera.to_pixels(helmet)
    assert px == pytest.approx((959.5 + 1150 * 300 / 960, 539.5))
    assert camera.to_board(px) == pytest.approx((middle[0] + 312.5, middle[1]))
    assert camera.to_board(px, 40.0) == pytest.approx((middle[0] + 300.0, middle[1]))
    # A tilted camera: its axis meets the board at the middle; a mark there, h up, hides the board h * tan(tilt) away.
    tilted = overhead(tilt_deg=10)
    hidden = tilted.to_board(tilted.to_pixels((*middle, 20.0)))
    assert np.hypot(*(hidden - middle)) == pytest.approx(20 * math.tan(math.radians(10)), rel=0.03)


@pytest.mark.parametrize("name", preset_names())
def test_yards_have_their_own_scale_on_each_axis(name: str) -> None:
    field = preset(name)
    corner = field.to_mm(np.array([field.length_yd, field.width_yd]))
    assert corner == pytest.approx((field.length_yd * field.mm_per_yd_x, field.width_yd * field.mm_per_yd_y))
    along, across = field.to_yards(np.array([[71.0, 0.0], [0.0, 71.0]]))
    assert along[0] / across[1] == pytest.approx(field.mm_per_yd_y / field.mm_per_yd_x)


def test_a_flat_bow_changes_nothing_and_a_dish_shifts_outward_marks() -> None:
    points = np.array([[0.0, 0.0], [710.0, 496.0], [355.0, 248.0]])
    plain = overhead(8)
    np.testing.assert_allclose(plain.to_pixels(points), overhead(8, bow=flat_bow(FIELD)).to_pixels(points))
    low, _, high, _ = FIELD.board_mm
    dish = Bow((low, high), (-19.0, 515.0), along_mm=2.0)
    lifted = overhead(bow=dish).to_pixels(np.array([[low, 248.0]]))[0, 0]
    assert lifted < overhead().to_pixels(np.array([[low, 248.0]]))[0, 0]  # a raised rim looks further out
