"""The truth of a table: exact gaps, contacts that begin once and in time, falls, the ball, hands."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from twin_worlds import ALONE, FIELD, MS, PAIR, STILL, S, scrimmage

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Figure, Player, Scene
from downfield.twin.physics.body import Placement, Trait
from downfield.twin.physics.outlines import Bases
from downfield.twin.physics.poses import Poses
from downfield.twin.physics.truth import PARTED_NS, TOUCHING_MM, Truth, by_frame
from downfield.twin.physics.truth_file import TruthEvent
from downfield.twin.physics.world import World
from downfield.twin.table.snapshot import HandPose, StickPose

HEAD_ON = {"a": Placement(300, 250, 0), "b": Placement(350, 253, 180)}
WALK = {"a": Trait(70, wander=0), "b": Trait(50, wander=0)}


def head_on() -> tuple[World, Truth]:
    world = World(PAIR, HEAD_ON, WALK, field=FIELD, seed=1)
    return world, Truth(world)


def scene(world: World, truth: Truth) -> Scene:
    return truth.scene(world.snapshot(), frame=0)


def test_scenes_hold_positions_of_all_figures() -> None:
    size = BaseSize(31, 17, 5, 1.5)
    players = (Player("b", "light", base=size), Player("a", "dark"), Player("c", "dark"))
    at = {"b": Placement(300, 200, -170), "a": Placement(333, 204, 20), "c": Placement(600, 200)}
    world = World(players, at, {}, field=FIELD, seed=1)
    truth = Truth(world)
    world.step_to(40 * MS)
    seen = truth.scene(world.snapshot(), frame=7)
    assert (seen.frame, seen.t_ns, seen.board, seen.ball, seen.hands) == (7, 40 * MS, "off", None, ())
    assert [figure.id for figure in seen.figures] == ["b", "a", "c"]
    first = seen.figures[0]
    assert (first.x_mm, first.y_mm, first.heading_deg) == pytest.approx((300, 200, -170), abs=0.01)
    assert (first.length_mm, first.width_mm, first.corner_mm) == (31, 17, 1.5)
    assert (first.posture, first.sigma_mm, first.sigma_deg, first.sure) == ("upright", (0, 0), 0, True)
    (contact,) = seen.contacts
    expected = signed_gap(Footprint(333, 204, 20, players[1].base), Footprint(300, 200, -170, size))
    assert (contact.a, contact.b) == ("a", "b")
    assert contact.gap_mm == pytest.approx(expected.gap_mm, abs=0.01)
    assert (contact.face_a, contact.face_b) == (expected.face_a, expected.face_b)
    assert (contact.sigma_mm, contact.probability, contact.since_ns) == (0, 0, None)


def test_a_contact_begins_when_the_gap_closes_whatever_the_frame_rate() -> None:
    """To 1 ms against poses looked at every quarter of a millisecond."""
    world, _ = head_on()
    world.power(True)
    closed = None
    for t_ns in range(0, S, MS // 4):
        world.step_to(t_ns)
        if signed_gap(world.footprint("a"), world.footprint("b")).gap_mm <= TOUCHING_MM:
            closed = t_ns
            break
    assert closed is not None
    began = set()
    for fps in (24, 30, 60):
        world, truth = head_on()
        world.power(True)
        for frame in range(fps // 2 + 1):
            world.step_to(frame * S // fps)
            contact = scene(world, truth).contacts
            assert not contact or contact[0].since_ns is None or contact[0].since_ns <= world.t_ns
        since = scene(world, truth).contacts[0].since_ns
        assert since is not None
        assert abs(since - closed) <= MS
        began.add(since)
    assert len(began) == 1


def test_a_locked_pair_touches_once() -> None:
    world, truth = head_on()
    gaps: list[float] = []
    bases = Bases(PAIR)
    world.watch(lambda poses: gaps.append(float(bases.outlines(poses).gaps_mm(np.array([[0, 1]]))[0])))
    world.power(True)
    world.step_to(3 * S)
    assert [event.type for event in truth.events] == ["touched"]
    assert scene(world, truth).contacts[0].since_ns == truth.events[0].t_ns
    after = np.array(gaps[truth.events[0].t_ns // (2 * MS) + 1 :])
    assert (after > -0.3).all()


def test_a_contact_ends_when_figures_part_for_good() -> None:
    world, truth = head_on()
    world.power(True)
    world.step_to(S)
    world.set_trait("a", Trait(-60, wander=0))
    world.set_trait("b", Trait(40, wander=0))
    world.step_to(2 * S)
    touched, parted = truth.events
    assert (touched.type, parted.type, parted.player, parted.other) == ("touched", "parted", "a", "b")
    assert S <= parted.t_ns < S + 300 * MS
    assert all(contact.since_ns is None for contact in scene(world, truth).contacts)


def test_watching_skips_nothing() -> None:
    """Against every gap of every pair at every step."""
    world = scrimmage(2, com_mm=15.0)
    bases = Bases(world.players)
    closed: dict[tuple[str, ...], int] = {}
    count = len(world.players)
    pairs = np.array([(a, b) for a in range(count) for b in range(a + 1, count)])

    def appearance(poses: Poses) -> None:
        gaps = bases.outlines(poses).gaps_mm(pairs)
        for a, b in pairs[gaps <= TOUCHING_MM]:
            closed.setdefault(tuple(sorted((world.players[a].id, world.players[b].id))), poses.t_ns)

    world.watch(appearance)
    truth = Truth(world)
    world.power(True)
    world.step_to(2 * S)
    first: dict[tuple[str, ...], int] = {}
    for event in truth.events:
        if event.type == "touched":
            first.setdefault((event.player, str(event.other)), event.t_ns)
    assert len(closed) > 10
    assert first.keys() == closed.keys()
    assert all(0 <= closed[pair] - first[pair] <= 2 * MS for pair in closed)


def test_events_alternate() -> None:
    world = scrimmage(4, com_mm=18.0)
    truth = Truth(world)
    world.power(True)
    world.step_to(3 * S)
    events = truth.events
    assert [event.t_ns for event in events] == sorted(event.t_ns for event in events)
    state: dict[tuple[str, str | None], TruthEvent] = {}
    for event in events:
        before = state.get((event.player, event.other))
        if event.type == "touched":
            assert before is None or before.type == "parted"
        if event.type == "parted":
            assert before is not None
            assert before.type == "touched"
        if event.type != "fell":
            state[event.player, event.other] = event
    fallen = {event.player for event in events if event.type == "fell"}
    assert fallen == {figure.id for figure in scene(world, truth).figures if figure.posture == "fallen"}
    assert fallen


def test_a_fall_is_timed_and_seen_lying() -> None:
    world = World(ALONE, {"a": Placement(300, 250, 30)}, {}, field=FIELD, seed=1)
    truth = Truth(world)
    world.step_to(100 * MS)
    world.topple("a", 120.0)  # over its left side
    upright_at = world.t_ns
    while world.tilt_deg("a") < 45:
        upright_at = world.t_ns
        assert scene(world, truth).figures[0].posture == "upright"
        world.step_to(world.t_ns + MS // 2)
    world.step_to(world.t_ns + 400 * MS)
    (fell,) = truth.events
    assert (fell.type, fell.player, fell.other) == ("fell", "a", None)
    assert upright_at <= fell.t_ns <= upright_at + MS
    figure = scene(world, truth).figures[0]
    assert figure.posture == "fallen"
    assert figure.length_mm == pytest.approx(30, abs=0.2)
    assert figure.width_mm == pytest.approx(5.5, abs=1.5)  # the base stands on its edge
    assert abs(figure.heading_deg - 30) < 5
    world.place("a", 300, 250, 30)
    assert [event.type for event in truth.events] == ["fell", "rose"]
    assert scene(world, truth).figures[0].posture == "upright"


def test_a_figure_on_its_face_keeps_a_heading() -> None:
    world = World(ALONE, {"a": Placement(300, 250, -60)}, {}, field=FIELD, seed=1)
    truth = Truth(world)
    world.topple("a", -60)
    world.step_to(S)
    figure = scene(world, truth).figures[0]
    assert figure.posture == "fallen"
    assert abs(figure.heading_deg + 60) < 5
    assert figure.width_mm == pytest.approx(18, abs=0.2)
    assert figure.length_mm < 16


def test_hands_make_and_break_contacts_at_once() -> None:
    at = {"a": Placement(300, 250), "b": Placement(330, 250, 180)}
    world = World(PAIR, at, {}, field=FIELD, seed=1)
    truth = Truth(world)
    assert [(event.type, event.t_ns) for event in truth.events] == [("touched", 0)]
    world.step_to(501 * MS)
    world.hold("a", 300, 250, 20)
    assert truth.events[-1] == TruthEvent("parted", 501 * MS, "a", "b")
    seen = scene(world, truth)
    assert seen.figures[0].posture == "lifted"
    assert seen.contacts == ()
    world.step_to(903 * MS)
    world.hold("a", 300, 250, 0)
    world.release("a")
    assert truth.events[-1] == TruthEvent("touched", 903 * MS, "a", "b")
    assert scene(world, truth).contacts[0].since_ns == 903 * MS
    assert scene(world, truth).contacts[0].probability == 1


def test_the_first_to_touch_the_ball_is_remembered() -> None:
    at = {"a": Placement(300, 250), "b": Placement(400, 250, 180)}
    traits = {"a": Trait(60, wander=0), "b": Trait(90, wander=0)}
    world = World(PAIR, at, traits, field=FIELD, seed=1, vibration=STILL)
    truth = Truth(world)
    world.put_ball("magnetic", 350, 250)
    world.power(True)
    world.step_to(S // 5)
    ball = scene(world, truth).ball
    assert ball is not None
    assert (ball.state, ball.x_mm, ball.touched_by, ball.touched_ns) == ("magnetic", 350, None, None)
    world.step_to(S)
    ball = scene(world, truth).ball
    assert ball is not None
    assert ball.touched_by == "b"
    way = 400 - 15 - (350 + 4.5 + TOUCHING_MM)
    assert ball.touched_ns == pytest.approx(way / 90 * S, abs=25 * MS)  # it has to get going first
    assert {event.player for event in truth.events if event.type == "touched_ball"} == {"a", "b"}
    world.put_ball("foam", 350, 100)
    ball = scene(world, truth).ball
    assert ball is not None
    assert (ball.state, ball.touched_by) == ("loose", None)
    world.give_ball("a")
    ball = scene(world, truth).ball
    assert ball is not None
    assert (ball.state, ball.carrier, ball.touched_by) == ("carried", "a", None)
    at_a = world.footprint("a")
    assert math.dist((ball.x_mm, ball.y_mm), (at_a.x_mm, at_a.y_mm)) < 15


def test_hands_and_sticks_are_outlined_and_cover_figures() -> None:
    at = {"a": Placement(300, 250), "b": Placement(500, 250, 180)}
    world = World(PAIR, at, {}, field=FIELD, seed=1)
    truth = Truth(world)
    hand = HandPose((300.0, 265.0, 30.0), (300.0, -200.0, 150.0), holds="a")
    stick = StickPose((450.0, 250.0, 3.0), (550.0, 250.0, 3.0), 8.0)
    seen = truth.scene(replace(world.snapshot(), hands=(hand,), sticks=(stick,)), frame=0)
    arm, rod = seen.hands
    assert arm.covers == ("a",)
    assert rod.covers == ("b",)
    xs = [x for x, _ in rod.outline_mm]
    assert (min(xs), max(xs)) == pytest.approx((450, 550), abs=2)
    assert max(y for _, y in arm.outline_mm) == pytest.approx(265, abs=15)


def test_figures_off_the_board_are_in_no_scene() -> None:
    world = World(PAIR, HEAD_ON, WALK, field=FIELD, seed=1)
    truth = Truth(world)
    world.remove("b")
    assert [figure.id for figure in scene(world, truth).figures] == ["a"]
    assert scene(world, truth).contacts == ()


def test_upright_figures_are_at_the_worlds_positions() -> None:
    world, truth = head_on()
    world.power(True)
    world.step_to(777_777_777)
    figures: dict[str, Figure] = {figure.id: figure for figure in scene(world, truth).figures}
    for id_ in ("a", "b"):
        base, figure = world.footprint(id_), figures[id_]
        assert (figure.x_mm, figure.y_mm, figure.heading_deg) == (base.x_mm, base.y_mm, base.heading_deg)
        assert base.size == BaseSize()


def test_events_go_to_the_first_frame_not_before_them() -> None:
    events = tuple(TruthEvent("fell", t_ns, "a") for t_ns in (0, 5, 10, 11, 25, 99))
    frames = by_frame(events, (0, 10, 20, 30))
    assert [[event.t_ns for event in frame] for frame in frames] == [[0], [5, 10], [11], [25]]
    assert by_frame((), ()) == ()


def test_parting_takes_a_tenth_of_a_second_to_be_certain() -> None:
    world, truth = head_on()
    world.power(True)
    world.step_to(S)
    world.set_trait("a", Trait(-60, wander=0))
    world.set_trait("b", Trait(stationary=True))
    while truth.events[-1].type != "parted":
        world.step_to(world.t_ns + 2 * MS)
    assert world.t_ns - truth.events[-1].t_ns == pytest.approx(PARTED_NS, abs=2 * MS)
