"""The refiner's patches: geometry there and back, and the picture in them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.models.refiner import (
    BASE_LENGTH_PX,
    PATCH_PX,
    apparent_lengths,
    cut_patches,
    from_patch,
    from_units,
    patch_transform,
    scale_of,
    to_patch,
    to_units,
)

MIDDLE = (PATCH_PX - 1) / 2

turns = st.floats(-np.pi, np.pi)
places = st.tuples(st.floats(0, 1919), st.floats(0, 1079))
lengths = st.floats(10, 160)


def base_in_picture(place: tuple[float, float], turn: float, length_px: float, width: float = 18 / 30) -> Array:
    """Corners of a base seen from straight above, y down: a figure facing right has its left up."""
    half = length_px / 2 * np.array([[1, -width], [1, width], [-1, width], [-1, -width]])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(half @ rotation.T + place)


@given(places, turns, lengths)
def test_every_upright_base_lies_in_the_same_place_of_its_patch(
    place: tuple[float, float], turn: float, length_px: float
) -> None:
    corners = base_in_picture(place, turn, length_px)[None]
    seen = to_patch(corners, patch_transform(corners))
    np.testing.assert_allclose(seen[0], base_in_picture((MIDDLE, MIDDLE), 0, BASE_LENGTH_PX), atol=1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 1919), st.floats(0, 1079)), min_size=4, max_size=4),
    st.lists(st.tuples(st.floats(-100, 2000), st.floats(-100, 1200)), min_size=1, max_size=5),
)
def test_points_map_there_and_back_for_any_corners(
    corners: list[tuple[float, float]], points: list[tuple[float, float]]
) -> None:
    transform = patch_transform(np.array(corners)[None])
    there = to_patch(np.array(points)[None], transform)
    np.testing.assert_allclose(from_patch(there, transform)[0], points, atol=1e-6)
    np.testing.assert_allclose(from_units(to_units(there)), there, atol=1e-9 * (1 + np.abs(there).max()))


@given(places, turns, lengths)
def test_steps_in_the_picture_are_scaled_equally_in_every_direction(
    place: tuple[float, float], turn: float, length_px: float
) -> None:
    transform = patch_transform(base_in_picture(place, turn, length_px)[None])
    steps = to_patch([[(0, 0), (1, 0), (0, 1)]], transform)[0]
    np.testing.assert_allclose(np.linalg.norm(steps[1:] - steps[0], axis=1), scale_of(transform)[0], rtol=1e-9)
    assert scale_of(transform)[0] == pytest.approx(BASE_LENGTH_PX / length_px)


@given(turns)
def test_a_base_standing_on_its_front_edge_is_not_enlarged_and_keeps_its_direction(turn: float) -> None:
    corners = base_in_picture((500, 400), turn, 6.0, width=6.0)[None]  # 36 px wide, foreshortened to 6 px
    transform = patch_transform(corners)
    assert scale_of(transform)[0] == pytest.approx(BASE_LENGTH_PX / 60)
    seen = to_patch(corners, transform)[0]
    assert seen[:2, 0].mean() > seen[2:, 0].mean()
    assert seen[0, 1] < seen[1, 1]


def test_units_reach_from_edge_to_edge() -> None:
    np.testing.assert_allclose(to_units([-0.5, MIDDLE, PATCH_PX - 0.5]), [-1, 0, 1], atol=1e-12)


@pytest.mark.parametrize("length_px", [30.0, 60.0, 90.0, 200.0])
def test_a_spot_in_the_picture_is_in_the_patch_where_the_transform_says(length_px: float) -> None:
    """Painted bases of any size come out as the same patch: no half pixel is lost on the way, halved or not."""
    grown = length_px / 30
    image = np.full((1080, 1920, 3), 40, np.uint8)
    corners = base_in_picture((700.3, 500.8), 2.1, length_px)
    front_left = corners[0]
    cv2.circle(
        image, tuple(round(v * 256) for v in front_left), int(5 * grown * 256), (255, 255, 255), -1, cv2.LINE_AA, 8
    )
    transforms = patch_transform(corners[None])
    patch = cut_patches(image, transforms)[0, :, :, 0].astype(float) - 40
    rows, columns = np.indices(patch.shape)
    middle = np.array([(columns * patch).sum(), (rows * patch).sum()]) / patch.sum()
    np.testing.assert_allclose(middle, to_patch(front_left[None, None], transforms)[0, 0], atol=0.12)


def test_patches_keep_the_order_of_figures_and_of_colors() -> None:
    image = np.zeros((200, 400, 3), np.uint8)
    image[:, :200] = (10, 20, 30)
    image[:, 200:] = (200, 100, 50)
    bases = np.stack([base_in_picture((300, 100), 1.0, 40), base_in_picture((80, 100), -2.0, 40)])
    patches = cut_patches(image, patch_transform(bases))
    assert patches.shape == (2, PATCH_PX, PATCH_PX, 3)
    np.testing.assert_array_equal(patches[0, 32, 32], (200, 100, 50))
    np.testing.assert_array_equal(patches[1, 32, 32], (10, 20, 30))
    assert cut_patches(image, np.empty((0, 2, 3))).shape == (0, PATCH_PX, PATCH_PX, 3)


def test_a_base_far_from_the_usual_size_is_cut_near_the_usual_size() -> None:
    base = np.array([[15.0, -9.0], [15.0, 9.0], [-15.0, 9.0], [-15.0, -9.0]])
    for times, shown in ((0.4, 1 / 1.25), (0.9, 0.9), (1.0, 1.0), (1.2, 1.2), (2.0, 1.25)):
        scale = scale_of(patch_transform(base * times + 100, usual_px=30.0))
        assert scale == pytest.approx(BASE_LENGTH_PX / (30.0 * shown), rel=1e-6)
    assert apparent_lengths(base) == pytest.approx(30.0)


def test_any_number_of_patches_can_be_cut() -> None:
    image = np.random.default_rng(3).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    one = patch_transform(np.array([[70.0, 40.0], [70.0, 50.0], [40.0, 50.0], [40.0, 40.0]]))
    many = cut_patches(image, np.repeat(one[None], 700, axis=0))
    assert many.shape == (700, PATCH_PX, PATCH_PX, 3)
    np.testing.assert_array_equal(many, np.broadcast_to(cut_patches(image, one[None]), many.shape))


def test_a_patch_may_be_stretched() -> None:
    down, across = np.mgrid[0:300, 0:400]
    image = np.stack([across / 2, down / 2, across * 0], axis=2).astype(np.uint8)
    cut = np.array([[0.8, 0.3, -130.0], [-0.5, 1.1, 20.0]])
    patch = cut_patches(image, cut)[0].astype(float)
    place = np.linalg.solve(cut[:, :2], np.array([20.0, 40.0]) - cut[:, 2])
    np.testing.assert_allclose(patch[40, 20, :2], place / 2, atol=1.0)
