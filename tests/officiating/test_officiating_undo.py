"""Undo: a game is as if the event calls never been entered, whatever came after it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_plays import FIELD, Film, ScriptedFigure, film, in_order, number_events, opening, runs, shifted, stands

from downfield.core.errors import RefusedError
from downfield.core.records import adapter, to_json
from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, Claim
from downfield.officiating.engine.calling import LINE_UPS
from downfield.officiating.engine.engine_state import calls_to_append
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.game_state import GameState

RUNNER, HITTER = "dark-22", "light-50"


def tackled() -> Film:
    figures = [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(HITTER, stands(50), "LB")]
    return film(figures, 4.0, on=((0.5, 1.65),))


def live(play: Film, events: tuple[Event, ...]) -> JudgedGame:
    game = JudgedGame(load_rulebook("tap"), FIELD)
    for entry in in_order(play, events):
        game.apply(entry)
    return game


def late(name: str, body: Ruling | Undo | Tick | Carrier | Claim) -> Event:
    return Event(name, 4_000_000_000, "operator", body)


def without_time(game: JudgedGame) -> GameState:
    return replace(game.state, now_ns=0)


def test_an_undone_carrier_is_as_if_never_declared() -> None:
    play = tackled()
    events = number_events(*opening(play, RUNNER))
    game = live(play, events)
    carrier = next(event for event in events if isinstance(event.body, Carrier))
    assert any(call.kind == "tackle" for call in game.calls)
    update = game.apply(late("u", Undo(carrier.id)))
    never = live(play, tuple(event for event in events if event is not carrier))
    assert game.calls == never.calls
    assert without_time(game) == without_time(never)
    assert any("tackle" in name for name in update.withdrawn)
    assert game.undone == {carrier.id}


def test_an_undone_ruling_leaves_the_call_as_it_was() -> None:
    play = tackled()
    game = live(play, number_events(*opening(play, RUNNER)))
    calls, state = game.calls, without_time(game)
    tackle = next(call for call in calls if call.kind == "tackle")
    game.apply(late("r", Ruling(tackle.id, "strike")))
    assert tackle not in game.calls
    game.apply(late("u", Undo("r")))
    assert game.calls == calls
    assert without_time(game) == state


@pytest.mark.parametrize("taken_back", ["e3", "r"])
def test_an_undo_is_undone_as_if_it_never_was(taken_back: str) -> None:
    play = tackled()
    game = live(play, number_events(*opening(play, RUNNER)))
    tackle = next(call for call in game.calls if call.kind == "tackle")
    game.apply(late("r", Ruling(tackle.id, "strike")))
    calls, state = game.calls, without_time(game)
    game.apply(late("u", Undo(taken_back)))
    assert game.calls != calls
    game.apply(late("v", Undo("u")))
    assert game.calls == calls
    assert without_time(game) == state
    assert game.undone == {"u"}
    game.apply(late("w", Undo("v")))
    assert game.undone == {"v", taken_back}


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(before=NAMES, now=NAMES)
def test_moving_the_named_calls_to_the_end_gives_the_right_order(before: list[str], now: list[str]) -> None:
    calls = [name for name in before if name in now] + [name for name in now if name not in before]
    moved = calls_to_append(before, now)
    for name in moved:
        calls.remove(name)
        calls.append(name)
    assert calls == now


@given(before=NAMES, new=NAMES)
def test_no_call_moves_where_calls_are_only_dropped_or_appended(before: list[str], new: list[str]) -> None:
    now = [name for name in before if name not in new] + [name for name in new if name not in before]
    assert calls_to_append(before, now) == ()


def test_undoing_the_second_ruling_restores_the_first() -> None:
    play = tackled()
    game = live(play, number_events(*opening(play, RUNNER)))
    tackle = next(call for call in game.calls if call.kind == "tackle")
    game.apply(late("1", Ruling(tackle.id, "strike")))
    struck = game.calls
    game.apply(late("2", Ruling(tackle.id, "confirm")))
    game.apply(late("u", Undo("2")))
    assert game.calls == struck


def test_a_recording_judged_with_an_undo_is_judged_without_the_event() -> None:
    play, book = tackled(), load_rulebook("tap")
    events = number_events(*opening(play, RUNNER))
    undone = judge_recording(play.scenes, (*events, late("u", Undo(events[-1].id))), book, FIELD)
    assert undone.calls == judge_recording(play.scenes, events[:-1], book, FIELD).calls


@pytest.mark.parametrize(
    ("event", "reason"), [("gone", "there is no event 'gone'"), ("t", "time that passed"), ("e3", "already")]
)
def test_an_impossible_undo_is_refused_and_changes_nothing(event: str, reason: str) -> None:
    play = tackled()
    game = live(play, number_events(*opening(play, RUNNER)))
    game.apply(late("t", Tick()))
    game.apply(late("u", Undo("e3")))
    before = game.state, game.calls
    with pytest.raises(RefusedError, match=reason):
        game.apply(late("v", Undo(event)))
    assert (game.state, game.calls) == before


def test_a_ruling_out_of_order_is_refused_and_changes_nothing() -> None:
    play = tackled()
    game = live(play, number_events(*opening(play, RUNNER)))
    before = game.state, game.calls
    tackle = next(call for call in game.calls if call.kind == "tackle")
    with pytest.raises(RefusedError, match="out of order"):
        game.apply(Event("r", 1, "operator", Ruling(tackle.id, "strike")))
    assert (game.state, game.calls) == before


def test_the_log_read_back_from_json_gives_the_same_game() -> None:
    play = tackled()
    events = number_events(*opening(play, RUNNER))
    game, logged = JudgedGame(load_rulebook("tap"), FIELD), list[Scene | Event]()
    for entry in in_order(play, events):
        logged += game.apply(entry).logged
    logged += game.apply(late("u", Undo(events[-1].id))).logged
    assert len(logged) < len(in_order(play, events))
    again = JudgedGame(load_rulebook("tap"), FIELD)
    for entry in logged:
        kind = type(entry)
        again.apply(adapter(kind).validate_json(to_json(kind, entry, defaults=kind is Event)))
    assert again.calls == game.calls
    assert without_time(again) == without_time(game)


@pytest.mark.parametrize("decision", ["strike", "overturn"])
def test_a_line_up_is_of_the_game_as_it_stood_when_it_was_made(decision: str) -> None:
    """A ruling after it makes no violations of it, and one before it leaves it to be judged."""
    play = tackled()
    again = shifted(play, 10_000_000_000)

    def game(ruled_s: float) -> list[Call]:
        events = number_events(*opening(play, RUNNER), (10.1, Carrier(RUNNER)))
        judged = live(play, events[:-1])
        tackle = next(call for call in judged.calls if call.kind == "tackle")
        moved = replace(tackle, spot_yd=(47.0, 26.0)) if decision == "overturn" else None
        ruling = Event("r", round(ruled_s * 1e9), "referee", Ruling(tackle.id, decision, moved))  # type: ignore[arg-type]
        for entry in in_order(again, (events[-1], ruling)):
            with suppress(RefusedError):  # of a play that goes on the carrier is known
                judged.apply(entry)
        return [call for call in judged.calls if call.kind in LINE_UPS and call.t_ns > 10**10]

    assert game(20.0) == []
    if decision == "overturn":
        assert game(9.9) != []


def test_a_tried_undo_says_what_it_would_change_and_changes_nothing() -> None:
    play = tackled()
    events = number_events(*opening(play, RUNNER))
    game = live(play, events)
    carrier = next(event for event in events if isinstance(event.body, Carrier))
    before, log = (game.state, game.calls, game.plays, game.undone), game.capture()
    update, other = game.tried(late("u", Undo(carrier.id)))
    assert any("tackle" in name for name in update.withdrawn)
    assert (game.state, game.calls, game.plays, game.undone) == before
    assert game.capture() == log
    assert game.apply(late("u", Undo(carrier.id))) == update
    assert (game.state, game.calls) == (other.state, other.calls)
    tackle = next(call for call in before[1] if call.kind == "tackle")
    fresh = live(play, events)
    fresh.tried(late("r", Ruling(tackle.id, "strike")))
    assert fresh.apply(late("t", Tick())).withdrawn == ()
    assert tackle in fresh.calls
