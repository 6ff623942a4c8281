"""Playing a script: frames, hands, sticks and the ball, declarations, cuts."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import pytest

from downfield.core.errors import ScriptError
from downfield.core.field.model import preset
from downfield.officiating.declarations import OffenseSet, PivotsDone
from downfield.twin.plays.formations import FB, QB, RB, RCB, SE, placed, standard, teams
from downfield.twin.plays.recording import PlayRecording, play
from downfield.twin.plays.script import (
    Board,
    CutTo,
    Declare,
    GiveBall,
    Handling,
    Hands,
    LayStick,
    LoseBall,
    Reaches,
    Route,
    Script,
    Stance,
    Step,
    TakeBall,
    Topple,
    Until,
    WaitFor,
)

FIELD = preset("ultimate")
FORMATION = placed(standard(FIELD))


def script(*steps: Step, fps: float = 30.0) -> Script:
    return Script("stage", "A test.", teams(), FORMATION, steps, motion="exact", fps=fps)


@cache
def pivoted() -> PlayRecording:
    return play(
        script(
            Hands("home", (Handling(SE, turn_deg=30.0), Handling(FB, toward=RCB)), hands=1, seconds=0.6),
            Declare(PivotsDone("home")),
            WaitFor(0.1),
        ),
        0,
    )


@pytest.mark.parametrize("fps", [30.0, 60.0, 25.0])
def test_frames_are_evenly_spaced(fps: float) -> None:
    recording = play(script(WaitFor(0.5), fps=fps), 0)
    times = [snapshot.t_ns for snapshot in recording.snapshots]
    assert times[0] == 0
    assert len(times) == int(0.5 * fps) + 1
    steps = [b - a for a, b in itertools.pairwise(times)]
    assert max(steps) - min(steps) <= 1
    assert [scene.frame for scene in recording.scenes] == list(range(len(times)))
    assert [scene.t_ns for scene in recording.scenes] == times


def test_a_pivot_turns_in_place() -> None:
    recording = pivoted()
    first, last = ({figure.id: figure for figure in recording.scenes[i].figures} for i in (0, -1))
    assert last[SE].heading_deg - first[SE].heading_deg == pytest.approx(30.0)
    assert (last[SE].x_mm, last[SE].y_mm) == pytest.approx((first[SE].x_mm, first[SE].y_mm))
    untouched = set(first) - {SE, FB}
    assert all(first[id_].heading_deg == pytest.approx(last[id_].heading_deg) for id_ in untouched)


def test_a_figure_is_turned_to_face_another() -> None:
    recording = pivoted()
    last = {figure.id: figure for figure in recording.scenes[-1].figures}

    bearing = math.degrees(math.atan2(last[RCB].y_mm - last[FB].y_mm, last[RCB].x_mm - last[FB].x_mm))
    assert last[FB].heading_deg == pytest.approx(bearing)


def test_a_hand_is_seen_over_the_figure_it_holds_and_leaves() -> None:
    recording = pivoted()
    holding = [s for s in recording.snapshots if any(hand.holds == SE for hand in s.hands)]
    assert len(holding) >= 5
    for snapshot in holding:
        pose = next(figure for figure in snapshot.figures if figure.id == SE)
        hand = next(hand for hand in snapshot.hands if hand.holds == SE)
        assert pose.in_hand
        assert hand.fingertip_mm[:2] == pytest.approx(pose.position_mm[:2])
        assert hand.elbow_mm[1] < 0.0  # the home coach sits at the lower side
    assert recording.snapshots[0].hands == ()
    assert recording.snapshots[-1].hands == ()
    lifted = [s for s in recording.scenes if any(f.id == SE and f.posture == "lifted" for f in s.figures)]
    assert len(lifted) == len(holding)
    assert all(scene.hands for scene in lifted)


def test_a_hand_moves_smoothly() -> None:
    tips = [s.hands[0].fingertip_mm for s in pivoted().snapshots if s.hands]
    jumps = [max(abs(p - q) for p, q in zip(a, b, strict=True)) for a, b in itertools.pairwise(tips)]
    assert max(jumps) < 150.0


def test_declarations_keep_their_time_and_have_ids_of_their_own() -> None:
    recording = play(script(Declare(OffenseSet()), WaitFor(0.25), Board(on=True, by="home"), Declare(OffenseSet())), 0)
    assert [event.body.type for event in recording.events] == ["set", "switch", "set"]
    assert [event.t_ns for event in recording.events] == [0, 250_000_000, 250_000_000]
    assert len({event.id for event in recording.events}) == 3
    assert {event.origin for event in recording.events} == {"twin"}


def test_an_undeclared_switch_is_only_measured() -> None:
    recording = play(script(Board(on=True), WaitFor(0.2), Board(on=False), WaitFor(0.1)), 0)
    assert recording.events == ()
    assert [scene.board for scene in recording.scenes].count("on") in {6, 7}


def test_a_figure_lifted_away_is_gone_and_comes_back() -> None:
    away = Handling(RB, lift_away=True)
    back = Handling(RB, to=(-12.0, 10.0))
    recording = play(script(Hands("home", (away,), seconds=0.4), WaitFor(0.1), Hands("home", (back,), seconds=0.4)), 0)
    there = [any(figure.id == RB for figure in scene.figures) for scene in recording.scenes]
    assert there[0]
    assert not all(there)
    assert there[-1]
    figure = next(figure for figure in recording.scenes[-1].figures if figure.id == RB)
    assert (figure.x_mm, figure.y_mm) == pytest.approx((28.0 * 9.9, (FIELD.width_yd / 2 + 10.0) * 10.9))


def test_a_move_that_has_no_room_is_refused_or_left_out() -> None:
    onto = Handling(RB, to=(-1.5, 0.0))
    with pytest.raises(ScriptError, match=r"step 1 \(hands\): dark-28 .* inside dark-52"):
        play(script(Hands("home", (onto,))), 0)
    recording = play(script(Hands("home", (replace(onto, if_free=True),)), WaitFor(0.1)), 0)
    assert not any(snapshot.hands for snapshot in recording.snapshots)


def test_a_fallen_figure_is_skipped_where_only_free_ones_are_handled() -> None:
    turn = Hands("home", (Handling(SE, turn_deg=40.0, if_free=True),))
    recording = play(script(Topple(SE), WaitFor(0.3), turn, WaitFor(0.1)), 0)
    assert not any(snapshot.hands for snapshot in recording.snapshots)


def test_the_stick_comes_and_goes_and_leaves_the_ball() -> None:
    recording = play(script(LayStick("home", QB, (8.0, 12.0), seconds=1.0), WaitFor(0.1), TakeBall(), WaitFor(0.1)), 0)
    sticks = [bool(snapshot.sticks) for snapshot in recording.snapshots]
    assert sum(sticks) >= 25
    assert not sticks[0]
    assert not sticks[-1]
    balls = [snapshot.ball for snapshot in recording.snapshots]
    assert balls[0] is None
    assert balls[-1] is None
    ball = next(ball for ball in balls if ball is not None)
    assert ball.kind == "magnetic"
    assert ball.position_mm[:2] == pytest.approx((48.0 * 9.9, (FIELD.width_yd / 2 + 12.0) * 10.9))


def test_the_ball_is_carried_and_lost() -> None:
    recording = play(script(GiveBall(RB), WaitFor(0.1), LoseBall((-5.0, 15.0)), WaitFor(0.1)), 0)
    states = [scene.ball.state if scene.ball else None for scene in recording.scenes]
    assert states[1] == "carried"
    assert states[-1] == "loose"


def test_after_a_cut_all_figures_stand_at_the_spot() -> None:
    formation = placed(standard(FIELD), Stance(SE, 0.0, 14.0))
    recording = play(
        script(
            Board(on=True),
            Route(RB, ((-10.0, 12.0), (5.0, 15.0)), speed_mm_s=200.0),
            Until((Reaches(RB, 2.0),), mark="spot"),
            Board(on=False),
            CutTo(formation, spot=(RB, "spot"), seconds=0.2),
        ),
        0,
    )
    last = {figure.id: figure for figure in recording.scenes[-1].figures}
    fronts = [last[id_].footprint.reach_mm(0.0) / 9.9 for id_ in ("dark-52", SE)]
    assert fronts == pytest.approx([42.0, 42.0], abs=0.2)


def test_a_cut_to_an_unknown_mark_lists_the_known_ones() -> None:
    with pytest.raises(ScriptError, match="nothing is marked 'spot'"):
        play(script(CutTo(FORMATION, spot=(RB, "spot"))), 0)
