"""The rules engine and a game judged by it: steps, rulings, policies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_plays import (
    FIELD,
    HALF_YD,
    MIDDLE_YD,
    Film,
    ScriptedFigure,
    event,
    film,
    in_order,
    number_events,
    opening,
    runs,
    stands,
)

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, Coin, SetUp, Side, Switch
from downfield.officiating.engine.engine_state import EngineState
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.rulebooks.tap.system import TAP
from downfield.officiating.state.game_state import Phase

RUNNER, HITTER = "dark-22", "light-50"
STOP_S = 0.5 + (9 - 2 * HALF_YD) / 10


def tackled(runner_falls: float | None = None) -> Film:
    """A runner meets a standing defender; the board goes off a quarter of a second later."""
    figures = [
        ScriptedFigure(RUNNER, runs(41, stop_s=STOP_S), "RB", runner_falls),
        ScriptedFigure(HITTER, stands(50), "LB"),
    ]
    return film(figures, on=((0.5, STOP_S + 0.25),))


def live(film: Film, events: tuple[Event, ...], book: Rulebook | None = None) -> JudgedGame:
    """Return a game to which everything was applied entry by entry."""
    game = JudgedGame(book or load_rulebook("tap"), FIELD)
    for entry in in_order(film, events):
        game.apply(entry)
    return game


def declared(film: Film, *more: tuple[float, Ruling | Coin | Tick]) -> tuple[Event, ...]:
    return number_events(*opening(film, RUNNER), *more)


def ball_side(game: JudgedGame) -> Side:
    return game.state.play.ball_side


def decided_kinds(calls: tuple[Call, ...]) -> list[str]:
    return [call.kind for call in calls if call.verdict != "reported"]


def test_a_step_does_not_change_its_arguments() -> None:
    play = tackled()
    engine = RulesEngine(load_rulebook("tap"), FIELD)
    state = engine.begin()
    states: list[EngineState] = [state]
    for entry in in_order(play, declared(play)):
        state, _ = engine.step(state, entry)
        states.append(state)
    again = engine.begin()
    for entry, known in zip(in_order(play, declared(play)), states[1:], strict=True):
        again, _ = engine.step(again, entry)
        assert again == known


def test_a_live_game_and_its_recording_have_the_same_calls() -> None:
    play = tackled()
    events = declared(play, (4.0, Tick()))
    game = live(play, events)
    made = judge_recording(play.scenes, events, load_rulebook("tap"), FIELD)
    assert game.calls == made.calls
    assert game.state.score == made.state.score
    assert game.state.text == made.state.text


def test_a_scene_of_an_earlier_time_is_refused() -> None:
    play = tackled()
    engine = RulesEngine(load_rulebook("tap"), FIELD)
    state, _ = engine.step(engine.begin(), play.scenes[5])
    with pytest.raises(RefusedError, match="out of order"):
        engine.step(state, play.scenes[4])


def test_events_out_of_order_too_late_or_twice_are_refused_and_change_nothing() -> None:
    game = live(tackled(), ())
    before = game.state
    game.apply(event("a", 3.1, Tick()))
    with pytest.raises(RefusedError, match="entered already"):
        game.apply(event("a", 3.2, Tick()))
    with pytest.raises(RefusedError, match="out of order"):
        game.apply(event("b", 3.0, Tick()))
    late = live(tackled(), ())
    with pytest.raises(RefusedError, match="too late"):
        late.apply(event("c", 0.1, Tick()))
    assert replace(game.state, now_ns=0) == replace(before, now_ns=0)


def test_no_call_is_made_from_unfit_scenes_and_the_state_gives_the_reason() -> None:
    play = tackled()
    unfit = replace(play, scenes=tuple(replace(scene, unfit=("camera moved",)) for scene in play.scenes))
    game = live(unfit, declared(unfit))
    assert decided_kinds(game.calls) == []
    assert game.state.suspended == ("camera moved",)


def test_a_line_up_that_was_not_seen_is_not_judged() -> None:
    play = tackled()
    blind = replace(
        play, scenes=tuple(replace(scene, figures=(), unfit=("no figure is known",)) for scene in play.scenes)
    )
    game = live(blind, (*declared(blind), event("on", 0.5, Switch(True))))
    assert game.state.phase is Phase.LIVE
    assert game.calls == ()


def test_a_declared_switch_and_the_measured_one_count_once() -> None:
    play = film([ScriptedFigure(RUNNER, stands(30), "QB")], 2.0, on=((0.55, 1.0), (1.5, 9)))
    events = (*number_events(*opening(play, RUNNER)), event("on", 0.5, Switch(True)), event("off", 0.98, Switch(False)))
    game = live(play, events)
    assert game.state.play.stoppages_used == 1


def test_a_game_with_its_last_call_struck_is_as_if_that_was_never_made() -> None:
    play = tackled()
    struck = live(play, declared(play))
    tackle = next(call for call in struck.calls if call.kind == "tackle")
    update = struck.apply(event("r", 3.5, Ruling(tackle.id, "strike")))
    without = judge_recording(
        play.scenes, (*declared(play), event("r", 3.5, Ruling(tackle.id, "strike"))), load_rulebook("tap"), FIELD
    )
    assert tackle.id in update.withdrawn
    assert struck.calls == without.calls
    # The board went off after it: with no tackle that is a stoppage of a live ball.
    assert struck.state.phase is Phase.STOPPED
    assert struck.state.down == 1


def test_a_ruling_recomputes_everything_after_it_and_lists_what_is_refused_then() -> None:
    play = tackled(runner_falls=STOP_S + 0.2)
    game = live(play, declared(play, (2.5, Coin(False))))
    assert ball_side(game) == "away"
    fumble = next(call for call in game.calls if call.kind == "fumble")
    tackle = replace(fumble, kind="tackle", text="down before he fell")
    update = game.apply(event("r", 3.5, Ruling(fumble.id, "overturn", tackle)))
    assert (ball_side(game), game.state.down) == ("home", 2)
    assert [refused.event for refused in game.refused] == ["e4"]
    assert any("recovery" in name for name in update.withdrawn)
    game.apply(event("r2", 3.6, Ruling(fumble.id, "confirm")))
    assert ball_side(game) == "away"
    assert game.refused == ()


def test_a_confirmed_close_call_counts_from_its_own_time() -> None:
    y_yd = MIDDLE_YD + 18.1 / FIELD.mm_per_yd_y
    figures = [ScriptedFigure(RUNNER, runs(41), "RB"), ScriptedFigure(HITTER, stands(50, y_yd), "LB")]
    play = film(figures, on=((0.5, 2.2),), sigma_gap_mm=0.3)
    game = live(play, declared(play))
    close = next(call for call in game.calls if call.verdict == "too_close")
    game.apply(event("r", 3.5, Ruling(close.id, "confirm")))
    assert game.state.down == 2
    assert game.state.proposals == ()


def test_a_call_can_be_made_by_hand() -> None:
    play = film([ScriptedFigure(RUNNER, runs(41), "RB")], 1.5)
    game = live(play, declared(play))
    call = Call("hand-1", "tackle", 1_400_000_000, "tap", (), "called", "tackled", (RUNNER,), (47.0, MIDDLE_YD))
    game.apply(event("r", 1.6, Ruling("", "manual", call)))
    assert (game.state.down, game.state.los_yd) == (2, 47.0)
    with pytest.raises(RefusedError):
        game.apply(event("r2", 1.7, Ruling("", "manual")))


def test_a_ruling_about_an_unknown_call_is_refused() -> None:
    with pytest.raises(RefusedError, match="no call"):
        live(tackled(), ()).apply(event("r", 3.5, Ruling("nothing", "strike")))


def test_a_ruling_about_a_call_whose_scenes_are_gone_points_to_the_recording() -> None:
    play = tackled()
    game = JudgedGame(load_rulebook("tap"), FIELD, keep_s=1.0)
    for entry in in_order(play, declared(play)):
        game.apply(entry)
    for n in range(30):
        long = film([ScriptedFigure(RUNNER, stands(30))], 1.0, on=((0.0, 9.0),))
        for scene in long.scenes:
            game.apply(replace(scene, t_ns=scene.t_ns + (4 + n) * 1_000_000_000))
    tackle = next(call for call in game.calls if call.kind == "tackle")
    with pytest.raises(RefusedError, match="judge the recording"):
        game.apply(event("r", 40.0, Ruling(tackle.id, "strike")))


@pytest.mark.parametrize(("policy", "verdict"), [("propose", "proposed"), ("log", "reported"), ("auto", "called")])
def test_a_policy_decides_what_is_done_with_a_call(policy: str, verdict: str) -> None:
    play = tackled()
    game = live(play, declared(play), Rulebook("league", "", TAP, {}, {"tackle": policy}))
    tackle = next(call for call in game.calls if call.kind == "tackle")
    assert tackle.verdict == verdict
    assert (game.state.down == 2) == (policy == "auto")


def test_a_carrier_may_be_declared_shortly_after_the_snap() -> None:
    play = tackled()
    without_carrier = [entry for entry in opening(play, RUNNER) if not isinstance(entry[1], Carrier)]
    game = live(play, number_events(*without_carrier, (0.8, Carrier(RUNNER))))
    assert "tackle" in decided_kinds(game.calls)


def test_the_state_reads_like_a_score_bug() -> None:
    game = JudgedGame(load_rulebook("tap"), FIELD)
    game.apply(event("1", 0.0, SetUp("away", -1, 34.0, 2, 7.0)))
    assert game.state.situation == "2nd & 7 at H 34"
    game.apply(event("2", 0.1, SetUp("home", 1, 97.0, 3, 0.0)))
    assert game.state.situation == "3rd & goal at A 3"
    game.apply(event("3", 0.2, SetUp("home", 1, 50.0, 4, 0.2)))
    assert game.state.situation == "4th & inches at 50"
    assert game.state.text.startswith("H 0, A 0 | H ball, 4th & inches at 50")
