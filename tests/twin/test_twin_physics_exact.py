"""Exact paths: bases stop at the touch, lines are followed to the last digit, falls end where they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import ScriptError
from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Player
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.exact import FALL_S, LYING_DEG, STOP_GAP_MM, Crowd, ExactWorld

FIELD = preset("ultimate")
SECOND = 1_000_000_000
A, B = Player("a", "dark"), Player("b", "light")
STILL = Trait(speed_mm_s=0.0)


def table(first: Placement, second: Placement, **traits: Trait) -> ExactWorld:
    return ExactWorld((A, B), {"a": first, "b": second}, {"a": STILL, "b": STILL} | traits, field=FIELD)


@settings(max_examples=60)
@given(
    turn=st.tuples(st.floats(-180, 180), st.floats(-180, 180)),
    bearing=st.floats(-180, 180),
    step=st.tuples(st.floats(0, 12), st.floats(0, 12)),
    aside=st.floats(-14, 14),
)
def test_bases_that_walk_into_each_other_stop_at_the_touch(
    turn: tuple[float, float], bearing: float, step: tuple[float, float], aside: float
) -> None:
    size = BaseSize()
    way = np.array([math.cos(math.radians(bearing)), math.sin(math.radians(bearing))])
    left = np.array([-way[1], way[0]])
    before = np.array([[0.0, 0.0, turn[0]], [*(40.0 * way + aside * left), turn[1]]])
    after = before.copy()
    after[0, :2] += step[0] * way
    after[1, :2] -= step[1] * way
    share = Crowd.of([size, size]).shares(before, after)
    now = before + share[:, None] * (after - before)
    gap = signed_gap(*(Footprint(x, y, turn, size) for x, y, turn in now.tolist())).gap_mm
    assert gap >= -1e-9
    if share.min() < 1:
        assert gap <= STOP_GAP_MM + 1e-9
    else:
        assert signed_gap(*(Footprint(x, y, turn, size) for x, y, turn in after.tolist())).gap_mm >= 0


def test_a_walker_stops_at_a_standing_base_and_stays_there() -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(180.0, 100.0, 180.0), a=Trait(speed_mm_s=100.0))
    world.power(on=True)
    world.step_to(SECOND)
    assert signed_gap(world.footprint("a"), world.footprint("b")).gap_mm == pytest.approx(0.0, abs=2 * STOP_GAP_MM)
    assert world.footprint("a").x_mm == pytest.approx(150.0, abs=1e-5)
    assert world.footprint("b").x_mm == 180.0


def test_bases_slide_along_each_other() -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(150.0, 118.0 + 1e-7, 0.0), a=Trait(speed_mm_s=100.0))
    world.power(on=True)
    world.step_to(SECOND)
    assert world.footprint("a").x_mm == pytest.approx(200.0, abs=1.0)
    assert world.footprint("a").y_mm == 100.0


def test_nothing_walks_while_the_board_is_off_or_in_a_hand() -> None:
    walk = Trait(speed_mm_s=80.0)
    world = table(Placement(100.0, 100.0), Placement(300.0, 100.0), a=walk, b=walk)
    world.step_to(SECOND // 2)
    assert world.footprint("a").x_mm == 100.0
    world.hold("b", 300.0, 100.0, 0.0)
    world.power(on=True)
    world.step_to(SECOND)
    assert world.footprint("a").x_mm == pytest.approx(140.0, abs=1.0)
    assert world.footprint("b").x_mm == 300.0


def test_a_route_ends_at_its_last_point_and_faces_along_its_last_leg() -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(600.0, 400.0))
    world.route("a", [(150.0, 100.0), (150.0, 220.0)], speed_mm_s=150.0)
    world.power(on=True)
    world.step_to(2 * SECOND)
    base = world.footprint("a")
    assert (base.x_mm, base.y_mm) == (150.0, 220.0)
    assert base.heading_deg == pytest.approx(90.0)


def test_a_route_may_keep_its_heading() -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(600.0, 400.0))
    world.route("a", [(60.0, 100.0)], heading_deg=0.0, speed_mm_s=50.0)
    world.power(on=True)
    world.step_to(SECOND)
    assert world.footprint("a").x_mm == 60.0
    assert world.footprint("a").heading_deg == pytest.approx(0.0)


def test_a_steered_figure_reaches_its_target() -> None:
    world = table(Placement(100.0, 100.0, 90.0), Placement(300.0, 250.0), a=Trait(speed_mm_s=80.0))
    world.steer("a", "b")
    world.power(on=True)
    world.step_to(4 * SECOND)
    assert signed_gap(world.footprint("a"), world.footprint("b")).gap_mm == pytest.approx(0.0, abs=2 * STOP_GAP_MM)


@pytest.mark.parametrize(("toward_deg", "way"), [(0.0, (1, 0)), (90.0, (0, 1)), (180.0, (-1, 0)), (-90.0, (0, -1))])
def test_a_toppled_figure_tips_over_its_edge_the_way_it_was_knocked(toward_deg: float, way: tuple[int, int]) -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(300.0, 250.0))
    world.topple("a", toward_deg)
    world.step_to(int((FALL_S + 0.02) * SECOND))
    assert world.tilt_deg("a") == pytest.approx(LYING_DEG, abs=0.01)
    pose = world.snapshot().figures[0]
    reach = 15.0 if way[0] else 9.0
    moved = np.array(pose.position_mm) - (100.0, 100.0, 0.0)
    assert moved[:2] @ way == pytest.approx(reach * (1 - math.cos(math.radians(LYING_DEG))))
    assert moved[2] == pytest.approx(reach * math.sin(math.radians(LYING_DEG)))
    # The lowest corner of the base still touches the board.
    axes = world.poses().axes[0]
    corners = [axes @ (x, y, z) for x in (-15, 15) for y in (-9, 9) for z in (0.0, 5.5)]
    assert min(pose.position_mm[2] + corner[2] for corner in corners) == pytest.approx(0.0, abs=1e-9)


def test_a_fallen_figure_stands_again_where_it_is_placed() -> None:
    world = table(Placement(100.0, 100.0, 0.0), Placement(300.0, 250.0), a=Trait(speed_mm_s=50.0))
    world.topple("a", 90.0)
    world.step_to(SECOND // 2)
    world.place("a", 120.0, 130.0, 45.0)
    world.power(on=True)
    world.step_to(SECOND)
    assert world.tilt_deg("a") == 0.0
    assert world.footprint("a").x_mm > 130.0


def test_bases_are_not_placed_into_each_other() -> None:
    world = table(Placement(100.0, 100.0), Placement(300.0, 250.0))
    with pytest.raises(ScriptError, match="inside b"):
        world.place("a", 310.0, 250.0, 0.0)
