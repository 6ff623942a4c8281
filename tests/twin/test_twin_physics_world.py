"""The physics of a table: figures walk, push, fall, rest and are handled; nothing sinks in, drifts or explodes."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_worlds import FIELD, MS, PAIR, STILL, S, lone, scrimmage

from downfield.core.errors import ScriptError
from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Player
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.engine import Vibration
from downfield.twin.physics.world import World
from downfield.twin.table.snapshot import Snapshot


def test_same_seed_same_snapshots() -> None:
    def run(seed: int) -> list[Snapshot]:
        world = scrimmage(seed, com_mm=15.0)
        world.put_ball("foam", 340, 100)
        world.power(True)
        out = []
        for frame in range(1, 31):
            world.step_to(frame * S // 30)
            if frame == 20:
                world.topple("dark-4", 90.0)
            out.append(world.snapshot())
        return out

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_observing_a_world_does_not_change_it() -> None:
    often, once = scrimmage(5), scrimmage(5)
    for world in (often, once):
        world.power(True)
    for t_ns in range(7 * MS, S, 7 * MS):
        often.step_to(t_ns)
        often.snapshot()
    for world in (often, once):
        world.step_to(S)
    assert often.snapshot() == once.snapshot()


def test_poses_between_steps_lie_between_them() -> None:
    world = lone(Trait(speed_mm_s=80, curl_deg_s=40))
    world.power(True)
    seen = []
    for t_ns in range(500 * MS, 520 * MS, MS // 2):
        world.step_to(t_ns)
        seen.append(world.footprint("a"))
    moves = [math.dist((p.x_mm, p.y_mm), (q.x_mm, q.y_mm)) for p, q in pairwise(seen)]
    assert max(moves) < 2.0 * min(moves)  # no stair of one jump per physics step


@settings(max_examples=8)
@given(
    speed=st.floats(30, 120),
    curl=st.floats(-60, 60),
    heading=st.floats(-180, 180),
    base=st.builds(BaseSize, st.floats(27, 33), st.floats(16, 20), st.floats(4, 7), st.floats(0, 2)),
)
def test_a_lone_figure_walks_at_its_speed_and_within_its_curl(
    speed: float, curl: float, heading: float, base: BaseSize
) -> None:
    """Undisturbed: speed to 2 %, turning to 3 % of itself or 0.3 deg/s, and along its heading to 1 degree."""
    player = Player("a", "dark", base=base)
    trait = Trait(speed_mm_s=speed, curl_deg_s=curl, wander=0.0)
    at = {"a": Placement(350, 250, heading)}
    world = World((player,), at, {"a": trait}, field=FIELD, seed=2, vibration=STILL)
    world.power(True)
    world.step_to(S // 2)
    start = world.footprint("a")
    world.step_to(3 * S // 2)
    end = world.footprint("a")
    turned = (end.heading_deg - start.heading_deg + 180) % 360 - 180
    assert turned == pytest.approx(curl, rel=0.03, abs=0.3)
    half = math.radians(turned) / 2
    chord = speed * (math.sin(half) / half if abs(half) > 1e-6 else 1.0)
    assert math.dist((start.x_mm, start.y_mm), (end.x_mm, end.y_mm)) == pytest.approx(chord, rel=0.02)
    way = math.degrees(math.atan2(end.y_mm - start.y_mm, end.x_mm - start.x_mm))
    assert abs((way - start.heading_deg - turned / 2 + 180) % 360 - 180) < 1.0


def test_a_shaken_figure_still_walks_nearly_straight() -> None:
    """With the usual wander and shaking: within 10 % of its speed and 12 degrees of its heading after 2 s."""
    world = lone(Trait(speed_mm_s=70))
    world.power(True)
    world.step_to(2 * S)
    at = world.footprint("a")
    assert at.x_mm - 300 == pytest.approx(140, rel=0.1)
    assert abs(at.heading_deg) < 12
    assert world.tilt_deg("a") < 2


def test_a_stationary_figure_stays() -> None:
    world = lone(Trait(stationary=True))
    world.power(True)
    world.step_to(3 * S)
    at = world.footprint("a")
    assert math.dist((at.x_mm, at.y_mm), (300, 250)) < 1.0


@pytest.mark.parametrize("speed", [40.0, 120.0])
def test_figures_stop_when_the_board_does(speed: float) -> None:
    world = lone(Trait(speed_mm_s=speed, curl_deg_s=60))
    world.power(True)
    world.step_to(S)
    world.power(False)
    world.step_to(S + 300 * MS)
    stopped = world.footprint("a")
    assert not world.snapshot().power
    world.step_to(3 * S)
    rest = world.footprint("a")
    assert math.dist((stopped.x_mm, stopped.y_mm), (rest.x_mm, rest.y_mm)) < 0.01
    assert rest.heading_deg == pytest.approx(stopped.heading_deg, abs=0.01)


def test_bases_lined_up_touching_rest_without_sinking_into_each_other() -> None:
    size = BaseSize()
    players = tuple(Player(f"{i:02d}", "dark") for i in range(12))
    placements = {
        player.id: Placement(300 + (i % 3) * size.length_mm, 200 + (i // 3) * size.width_mm)
        for i, player in enumerate(players)
    }
    world = World(players, placements, {}, field=FIELD, seed=1)
    world.step_to(S)
    bases = {player.id: world.footprint(player.id) for player in players}
    deepest = min(signed_gap(bases[a], bases[b]).gap_mm for a in bases for b in bases if a < b)
    assert deepest > -0.1
    for id_, at in placements.items():
        assert math.dist((bases[id_].x_mm, bases[id_].y_mm), (at.x_mm, at.y_mm)) < 0.1
        assert world.tilt_deg(id_) < 0.1


def test_a_pile_at_rest_after_a_play_does_not_sink_in() -> None:
    world = scrimmage(6)
    world.power(True)
    world.step_to(2 * S)
    world.power(False)
    world.step_to(3 * S)
    standing = [p.id for p in world.players if world.tilt_deg(p.id) < 1]
    bases = {id_: world.footprint(id_) for id_ in standing}
    gaps = [signed_gap(bases[a], bases[b]).gap_mm for a in bases for b in bases if a < b]
    assert min(gaps) > -0.1
    assert sum(gap < 0.1 for gap in gaps) >= 5  # they did meet


def test_nothing_explodes_in_ten_seconds_of_twenty_two() -> None:
    world = scrimmage(8, com_mm=14.0)
    world.put_ball("foam", 340, 200)
    world.power(True)
    before = world.poses()
    fastest = 0.0
    x_low, y_low, x_high, y_high = FIELD.board_mm
    for t_ns in range(50 * MS, 10 * S + 1, 50 * MS):
        world.step_to(t_ns)
        now = world.poses()
        moved = np.linalg.norm(now.position_mm - before.position_mm, axis=1) / 0.05
        fastest = max(fastest, float(moved.max()))
        assert (now.position_mm[:, 2] > -1.0).all()
        assert (now.position_mm[:, 2] < 40.0).all()
        assert ((now.position_mm[:, :2] > (x_low, y_low)) & (now.position_mm[:, :2] < (x_high, y_high))).all()
        before = now
    assert fastest < 500  # a falling base swings at some 300 mm/s


def test_the_higher_the_center_of_mass_the_more_fall() -> None:
    def fallen(com_mm: float) -> int:
        world = scrimmage(1, com_mm)
        world.power(True)
        world.step_to(4 * S)
        return sum(world.tilt_deg(player.id) > 45 for player in world.players)

    assert fallen(9.0) == 0
    assert fallen(21.0) >= 6


@pytest.mark.parametrize("toward", [0.0, 45.0, 90.0, 135.0, 180.0, -90.0])
@pytest.mark.parametrize("power", [False, True])
def test_a_knock_topples_a_figure_where_it_was_aimed(toward: float, power: bool) -> None:
    world = lone(Trait(), heading_deg=30.0)
    world.step_to(100 * MS)
    world.power(power)
    world.topple("a", toward)
    world.step_to(S // 2)
    assert world.tilt_deg("a") > 80
    up = world.poses().axes[0][:2, 2]
    lean = math.degrees(math.atan2(up[1], up[0]))
    assert abs((lean - toward + 180) % 360 - 180) < 60  # over an edge, not a corner; on the running board it spins


def test_a_gentle_knock_does_not_topple() -> None:
    world = lone(Trait())
    world.topple("a", 90.0, strength=0.5)
    world.step_to(S)
    assert world.tilt_deg("a") < 1


def test_the_loser_of_an_engagement_can_be_knocked_over_and_the_winner_walks_on() -> None:
    at = {"a": Placement(300, 250), "b": Placement(335, 252, 180)}
    world = World(PAIR, at, {}, field=FIELD, seed=3)
    world.power(True)
    world.step_to(S)
    world.topple("b", 0.0)
    world.step_to(2 * S)
    assert world.tilt_deg("b") > 60
    assert world.tilt_deg("a") < 2


def test_the_stronger_drive_wins() -> None:
    at = {"a": Placement(300, 250), "b": Placement(332, 250, 180)}
    traits = {"a": Trait(drive=0.5, wander=0), "b": Trait(drive=0.25, wander=0)}
    world = World(PAIR, at, traits, field=FIELD, seed=1)
    world.power(True)
    world.step_to(S)
    assert world.footprint("a").x_mm > 310
    assert signed_gap(world.footprint("a"), world.footprint("b")).gap_mm < 0.1


def test_steering_brings_a_figure_to_its_target() -> None:
    world = lone(Trait(speed_mm_s=80, curl_deg_s=30))
    world.steer("a", (380.0, 330.0))
    world.power(True)
    nearest = math.inf
    for t_ns in range(50 * MS, 3 * S, 50 * MS):
        world.step_to(t_ns)
        at = world.footprint("a")
        nearest = min(nearest, math.dist((at.x_mm, at.y_mm), (380, 330)))
    assert nearest < 5


def test_a_figure_steered_at_another_meets_it() -> None:
    at = {"a": Placement(300, 250), "b": Placement(380, 200, 90)}
    world = World(PAIR, at, {"a": Trait(90), "b": Trait(40)}, field=FIELD, seed=1)
    world.steer("a", "b")
    world.power(True)
    world.step_to(2 * S)
    assert signed_gap(world.footprint("a"), world.footprint("b")).gap_mm < 1.0
    world.steer("a", None)


def test_rails_keep_figures_on_the_board() -> None:
    world = lone(Trait(speed_mm_s=120, wander=0))
    world.place("a", FIELD.board_mm[2] - 40, 250, 0)
    world.power(True)
    world.step_to(2 * S)
    assert world.footprint("a").reach_mm(0) == pytest.approx(FIELD.board_mm[2], abs=0.3)


def test_a_held_figure_stays_where_the_hand_has_it_and_lands_below() -> None:
    world = lone(Trait())
    world.power(True)
    world.hold("a", 310, 240, 75, lift_mm=20)
    world.step_to(S // 4)
    pose = world.snapshot().figures[0]
    assert pose.in_hand
    assert pose.position_mm == pytest.approx((310, 240, 20))
    world.power(False)
    world.release("a")
    world.step_to(S)
    at = world.footprint("a")
    assert (at.x_mm, at.y_mm, at.heading_deg) == pytest.approx((310, 240, 75), abs=0.01)
    assert not world.snapshot().figures[0].in_hand


def test_a_pivot_between_stops_holds() -> None:
    at = {"a": Placement(300, 250), "b": Placement(332, 250, 180)}
    world = World(PAIR, at, {}, field=FIELD, seed=1)
    for turn in range(0, 41, 5):
        world.hold("a", 295, 250, turn)
        world.step_to(world.t_ns + 33 * MS)
    world.release("a")
    world.step_to(world.t_ns + S)
    assert world.footprint("a").heading_deg == pytest.approx(40, abs=0.01)
    assert world.footprint("b").x_mm == pytest.approx(332, abs=0.01)


def test_a_hand_sets_a_fallen_figure_up() -> None:
    world = lone(Trait())
    world.topple("a", 90)
    world.step_to(S)
    world.place("a", 300, 250, 10)
    world.step_to(2 * S)
    assert world.tilt_deg("a") < 0.1


def test_figures_leave_and_enter() -> None:
    world = World(PAIR, {"a": Placement(300, 250)}, {}, field=FIELD, seed=1)
    assert [pose.id for pose in world.snapshot().figures] == ["a"]
    world.place("b", 350, 250, 180)
    world.remove("a")
    world.power(True)
    world.step_to(S)
    assert [pose.id for pose in world.snapshot().figures] == ["b"]
    assert world.footprint("b").x_mm < 330
    with pytest.raises(ScriptError, match="a is not on the board"):
        world.footprint("a")


def test_the_ball_is_carried_rolls_or_stands() -> None:
    world = World(PAIR, {"a": Placement(300, 250)}, {"a": Trait(wander=0)}, field=FIELD, seed=1)
    assert world.snapshot().ball is None
    world.give_ball("a")
    ball = world.snapshot().ball
    assert ball is not None
    assert ball.carrier == "a"
    assert math.dist(ball.position_mm[:2], (300, 250)) < 15
    world.put_ball("magnetic", 340, 250)
    world.power(True)
    world.step_to(2 * S)
    ball = world.snapshot().ball
    assert ball is not None
    assert (ball.kind, ball.carrier, ball.position_mm[:2]) == ("magnetic", None, (340, 250))
    disc = Footprint(340, 250, 0, BaseSize(9, 9, 6, 4.5))
    assert signed_gap(world.footprint("a"), disc).gap_mm == pytest.approx(0, abs=0.15)  # it stood in the way
    at = world.footprint("a")
    world.put_ball("foam", at.x_mm + 25, at.y_mm)
    world.step_to(4 * S)
    ball = world.snapshot().ball
    assert ball is not None
    assert ball.position_mm[0] > at.x_mm + 35  # it was pushed
    world.take_ball()
    assert world.snapshot().ball is None
    world.give_ball("a")
    world.remove("a")
    assert world.snapshot().ball is None


def test_impossible_scripts_are_refused() -> None:
    world = World(PAIR, {"a": Placement(300, 250)}, {}, field=FIELD, seed=1)
    with pytest.raises(ScriptError, match=r"b at 310.0, 255.0 mm would stand .* inside a"):
        world.place("b", 310, 255, 0)
    with pytest.raises(ScriptError, match="would not stand on the board"):
        world.place("b", 5000, 255, 0)
    with pytest.raises(ScriptError, match="no figure is named 'c'"):
        world.place("c", 400, 255, 0)
    with pytest.raises(ScriptError, match="not in a hand"):
        world.release("a")
    world.step_to(S)
    with pytest.raises(ScriptError, match="can't go back"):
        world.step_to(0)
    with pytest.raises(ScriptError, match="no figure is named 'z'"):
        World(PAIR, {}, {"z": Trait()}, field=FIELD, seed=1)
    with pytest.raises(ScriptError, match="same id"):
        World((*PAIR, PAIR[0]), {}, {}, field=FIELD, seed=1)


def test_unstable_physics_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # where MuJoCo leaves a log of its own
    world = lone(Trait(), vibration=Vibration(rock=1e300))
    world.power(True)
    with pytest.raises(ScriptError, match="unstable at"):
        world.step_to(S)
