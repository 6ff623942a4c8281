"""The exact gap of two bases, against shapely and against itself turned, swapped and moved."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from downfield.core.footprint import BaseSize, Footprint, PoseError, signed_gap, signed_gaps

sizes = st.builds(
    BaseSize, length_mm=st.floats(27, 33), width_mm=st.floats(16, 20), height_mm=st.just(5.0), corner_mm=st.floats(0, 4)
)
bases = st.builds(Footprint, st.floats(-45, 45), st.floats(-45, 45), st.floats(-180, 180), sizes)


def moved(base: Footprint, by: tuple[float, float]) -> Footprint:
    return dataclasses.replace(base, x_mm=base.x_mm + by[0], y_mm=base.y_mm + by[1])


def turned(base: Footprint, degrees: float) -> Footprint:
    x, y = np.array([base.x_mm, base.y_mm]) @ _rotation(degrees)
    return Footprint(float(x), float(y), base.heading_deg + degrees, base.size)


def _rotation(degrees: float) -> np.ndarray:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, s], [-s, c]])


@given(bases, bases)
def test_gap_of_bases_apart_is_shapelys_distance(a: Footprint, b: Footprint) -> None:
    distance = Polygon(a.core_mm()).distance(Polygon(b.core_mm()))
    gap = signed_gap(a, b).gap_mm
    if distance > 1e-6:
        assert gap == pytest.approx(distance - a.size.corner_mm - b.size.corner_mm, abs=1e-7)
    else:
        assert gap <= 1e-6


@given(bases, bases)
def test_moving_along_the_normal_by_the_gap_makes_them_just_touch(a: Footprint, b: Footprint) -> None:
    found = signed_gap(a, b)
    shift = (-found.normal[0] * found.gap_mm, -found.normal[1] * found.gap_mm)
    assert signed_gap(a, moved(b, shift)).gap_mm == pytest.approx(0.0, abs=1e-6)


@given(bases, bases, st.floats(0, 360), st.floats(0.05, 0.95))
def test_no_shorter_way_out_of_an_overlap(a: Footprint, b: Footprint, way_deg: float, share: float) -> None:
    gap = signed_gap(a, b).gap_mm
    if gap < -1e-3:
        way = (math.cos(math.radians(way_deg)) * -gap * share, math.sin(math.radians(way_deg)) * -gap * share)
        assert signed_gap(a, moved(b, way)).gap_mm < 0


@given(bases, bases, st.floats(-180, 180))
def test_turning_the_board_changes_nothing(a: Footprint, b: Footprint, degrees: float) -> None:
    before, after = signed_gap(a, b), signed_gap(turned(a, degrees), turned(b, degrees))
    assert after.gap_mm == pytest.approx(before.gap_mm, abs=1e-7)


@given(bases, bases)
def test_swapping_the_bases_swaps_the_faces(a: Footprint, b: Footprint) -> None:
    assert signed_gap(b, a).gap_mm == pytest.approx(signed_gap(a, b).gap_mm, abs=1e-9)


@given(bases, bases)
def test_nearest_points_are_a_gap_apart_along_the_normal(a: Footprint, b: Footprint) -> None:
    found = signed_gap(a, b)
    between = np.subtract(found.point_b_mm, found.point_a_mm)
    assert between @ np.array(found.normal) == pytest.approx(found.gap_mm, abs=1e-6)


def square_hit(
    heading_a: float, heading_b: float, direction_deg: float, apart_mm: float
) -> tuple[Footprint, Footprint]:
    size = BaseSize(30, 18, 5, 1)
    a = Footprint(0, 0, heading_a, size)
    b = Footprint(0, 0, heading_b, size)
    along = (math.cos(math.radians(direction_deg)), math.sin(math.radians(direction_deg)))
    reach = a.reach_mm(direction_deg) + b.reach_mm(direction_deg + 180) + apart_mm
    return a, moved(b, (along[0] * reach, along[1] * reach))


@pytest.mark.parametrize(
    ("heading_b", "direction", "faces"),
    [
        (180, 0, ("front", "front")),
        (0, 0, ("front", "rear")),
        (90, 0, ("front", "left")),
        (-90, 0, ("front", "right")),
        (180, 180, ("rear", "rear")),
        (0, 90, ("left", "right")),
        (180, 90, ("left", "left")),
        (-90, 90, ("left", "front")),
    ],
)
@pytest.mark.parametrize("apart_mm", [0.3, -0.3])
def test_square_hits_name_their_faces(
    heading_b: float, direction: float, faces: tuple[str, str], apart_mm: float
) -> None:
    found = signed_gap(*square_hit(0, heading_b, direction, apart_mm))
    assert (found.face_a, found.face_b) == faces
    assert found.gap_mm == pytest.approx(apart_mm, abs=1e-9)
    assert found.angle_deg == pytest.approx(0, abs=1e-5)


def test_full_frontal_overlap_is_the_width_of_the_base() -> None:
    assert signed_gap(*square_hit(0, 180, 0, 0.1)).overlap_mm == pytest.approx(18)


def test_a_corner_that_pokes_a_side_is_a_corner() -> None:
    size = BaseSize(30, 18, 5, 0)
    a = Footprint(0, 0, 45, size)
    b = Footprint(a.reach_mm(0) + 9 + 0.2, 0, 90, size)
    found = signed_gap(a, b)
    assert (found.face_a, found.face_b) == ("corner", "left")
    assert found.gap_mm == pytest.approx(0.2, abs=1e-9)
    assert found.angle_deg == pytest.approx(45, abs=1e-6)


def test_rounding_opens_a_corner_hit_by_a_known_amount() -> None:
    sharp, rounded = BaseSize(30, 18, 5, 0), BaseSize(30, 18, 5, 2)
    wall = Footprint(40, 0, 90, sharp)
    opened = signed_gap(Footprint(0, 0, 45, rounded), wall).gap_mm - signed_gap(Footprint(0, 0, 45, sharp), wall).gap_mm
    assert opened == pytest.approx(2 * (math.sqrt(2) - 1), abs=1e-9)


def test_sigma_adds_positions_along_the_normal_and_swings_of_the_arm() -> None:
    a, b = square_hit(0, 180, 0, 0.5)
    found = signed_gap(a, b)
    still = PoseError((b.x_mm, b.y_mm), (0, 0), 0)
    assert found.sigma_mm(PoseError((0, 0), (0.3, 9.0), 0), still) == pytest.approx(0.3)
    arm = abs(found.point_a_mm[1]) * math.radians(2)
    assert found.sigma_mm(PoseError((0, 0), (0.3, 0), 2), still) == pytest.approx(math.hypot(0.3, arm))


def test_many_pairs_at_once_give_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(4)
    made = [
        Footprint(float(x), float(y), float(h), BaseSize(30, 18, 5, 1)) for x, y, h in rng.uniform(-60, 60, (40, 3))
    ]
    assert signed_gaps(made[:20], made[20:]) == [signed_gap(a, b) for a, b in zip(made[:20], made[20:], strict=True)]
    assert signed_gaps([], []) == []
