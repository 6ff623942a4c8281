"""Properties of the rules engine: symmetry, locality, time shifts, replay, legal states."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_plays import (
    FIELD,
    Film,
    ScriptedFigure,
    event,
    film,
    in_order,
    judge_play,
    number_events,
    opening,
    runs,
    shifted,
    stands,
)

from downfield.core.footprint import Face
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Contact, Figure, Scene
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Coin, Roll
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import Judgment, judge_recording
from downfield.officiating.events import Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import load_rulebook

RUNNER, HITTER, OTHER = "dark-22", "light-50", "light-30"
Symmetry = Literal["mirror", "swap", "half"]
BOOKS = st.sampled_from(["tap", "efl", "lions-den"])
quick = settings(suppress_health_check=[HealthCheck.too_slow])


@st.composite
def plays(draw: st.DrawFn) -> Film:
    """A runner short of the goal line and two defenders in the way; any of them may fall, the board may stop."""
    x_yd = draw(st.floats(60, 92))
    heading = draw(st.floats(-60, 60))
    speed = draw(st.floats(4, 20))
    fall_time = st.one_of(st.none(), st.floats(0.6, 1.9))
    path = runs(x_yd, draw(st.floats(6, 47)), speed, heading)
    fall_delay = st.sampled_from([0.0, 0.15])
    figures = [
        ScriptedFigure(RUNNER, path, "RB", draw(fall_time), draw(st.sampled_from([0, 0.3])), late_s=draw(fall_delay))
    ]
    for name in (HITTER, OTHER):
        meets_x, meets_y, _ = path(draw(st.floats(0.8, 2.2)))
        aside = draw(st.floats(-2.5, 2.5))
        figures.append(
            ScriptedFigure(
                name,
                stands(meets_x, meets_y + aside, draw(st.floats(-180, 180))),
                "LB",
                draw(fall_time),
                late_s=draw(fall_delay),
            )
        )
    off = draw(st.one_of(st.just(9.0), st.floats(0.8, 1.6)))
    return film(figures, 2.2, on=((0.5, off), (off + 0.2, 9.0)), sigma_gap_mm=draw(st.sampled_from([0.0, 0.2])), fps=30)


def judged(play: Film, direction: int = 1, line_yd: float = 75.0, book: str = "tap") -> Judgment:
    return judge_play(play, RUNNER, (3.0, Coin(False)), book=book, direction=direction, line_yd=line_yd)


def mirrored(play: Film, symmetry: Symmetry) -> Film:
    return replace(play, scenes=tuple(_turned(scene, symmetry) for scene in play.scenes))


def _turned(scene: Scene, symmetry: Symmetry) -> Scene:
    return replace(
        scene,
        figures=tuple(_figure(figure, symmetry) for figure in scene.figures),
        contacts=tuple(_contact(contact, symmetry) for contact in scene.contacts),
    )


def _figure(figure: Figure, symmetry: Symmetry) -> Figure:
    x_mm = figure.x_mm if symmetry == "mirror" else FIELD.length_mm - figure.x_mm
    y_mm = figure.y_mm if symmetry == "swap" else FIELD.width_mm - figure.y_mm
    heading = {"mirror": -figure.heading_deg, "swap": 180 - figure.heading_deg, "half": figure.heading_deg + 180}[
        symmetry
    ]
    return replace(figure, x_mm=x_mm, y_mm=y_mm, heading_deg=wrap_deg(heading))


def _contact(contact: Contact, symmetry: Symmetry) -> Contact:
    if symmetry == "half":
        return contact
    opposite: dict[Face, Face] = {"left": "right", "right": "left"}
    face_a, face_b = opposite.get(contact.face_a, contact.face_a), opposite.get(contact.face_b, contact.face_b)
    return replace(contact, face_a=face_a, face_b=face_b)


def summary(call: Call, symmetry: Symmetry | None = None) -> tuple[object, ...]:
    spot = call.spot_yd
    if spot is not None and symmetry is not None:
        x_yd = spot[0] if symmetry == "mirror" else FIELD.length_yd - spot[0]
        spot = (x_yd, spot[1] if symmetry == "swap" else FIELD.width_yd - spot[1])
    rounded = None if spot is None else (round(spot[0], 4), round(spot[1], 4))
    return call.kind, call.verdict, round(call.t_ns / 1e6), call.players, call.clauses, rounded


def assert_same(a: list[tuple[object, ...]], b: list[tuple[object, ...]]) -> None:
    assert sorted(map(repr, a)) == sorted(map(repr, b))


def measured_calls(made: Judgment) -> list[Call]:
    return [call for call in made.calls if call.kind != "formation"]


@given(plays(), st.sampled_from(["mirror", "swap", "half"]), BOOKS)
@quick
def test_a_mirrored_or_turned_game_gives_mirrored_calls(play: Film, symmetry: Symmetry, book: str) -> None:
    straight = judged(play, book=book)
    flipped = symmetry != "mirror"
    other = judged(mirrored(play, symmetry), -1 if flipped else 1, FIELD.length_yd - 75.0 if flipped else 75.0, book)
    assert_same(
        [summary(call, symmetry) for call in measured_calls(straight)],
        [summary(call) for call in measured_calls(other)],
    )
    assert straight.state.score == other.state.score
    assert straight.state.down == other.state.down
    assert math.isclose(straight.state.distance_yd, other.state.distance_yd, abs_tol=1e-6)


@given(plays(), st.floats(2, 40), st.floats(2, 51), BOOKS)
@quick
def test_a_figure_far_away_changes_nothing(play: Film, x_yd: float, y_yd: float, book: str) -> None:
    bystander = ScriptedFigure("light-99", stands(x_yd, y_yd), "DB")
    crowded = replace(
        play,
        scenes=tuple(
            replace(scene, figures=(*scene.figures, bystander.figure(scene.t_ns / 1e9))) for scene in play.scenes
        ),
        players=(*play.players, bystander.player),
    )
    alone, beside = judged(play, book=book), judged(crowded, book=book)
    assert_same([summary(call) for call in measured_calls(alone)], [summary(call) for call in measured_calls(beside)])


@given(plays(), st.integers(1, 10**14), BOOKS)
@quick
def test_a_shift_in_time_changes_nothing_but_times(play: Film, by_ns: int, book: str) -> None:
    def at(film: Film, offset_ns: int) -> Judgment:
        declared = number_events(*opening(film, RUNNER, line_yd=75.0))
        events = tuple(replace(entry, t_ns=entry.t_ns + offset_ns) for entry in declared)
        return judge_recording(film.scenes, events, load_rulebook(book), FIELD)

    def without_offset(call: Call, offset_ns: int) -> tuple[object, ...]:
        return call.kind, call.verdict, call.t_ns - offset_ns, call.players, call.spot_yd, call.probability

    straight, late = at(play, 0), at(shifted(play, by_ns), by_ns)
    assert [without_offset(call, 0) for call in straight.calls] == [without_offset(call, by_ns) for call in late.calls]


@given(plays(), BOOKS)
@quick
def test_a_replay_equals_the_live_game_also_after_its_last_call_was_struck(play: Film, book: str) -> None:
    rulebook = load_rulebook(book)
    events = number_events(*opening(play, RUNNER, line_yd=75.0))
    game = JudgedGame(rulebook, FIELD, keep_s=None)
    for entry in in_order(play, (*events, event("end", 9.0, Tick()))):
        game.apply(entry)
    assert game.calls == judge_recording(play.scenes, (*events, event("end", 9.0, Tick())), rulebook, FIELD).calls
    decided = [call for call in game.calls if call.verdict == "called"]
    if not decided:
        return
    ruling = Ruling(decided[-1].id, "strike")
    before = game.calls[: game.calls.index(decided[-1])]
    game.apply(Event("strike", 9_000_000_000, "referee", ruling))
    never = judge_recording(play.scenes, (*events, event("end", 9.0, Tick()), event("s", 9.0, ruling)), rulebook, FIELD)
    assert game.calls == never.calls
    assert decided[-1].id not in {call.id for call in game.calls}
    assert game.calls[: len(before)] == before


@given(plays(), st.lists(st.one_of(st.booleans().map(Coin), st.tuples(*[st.integers(1, 6)] * 2).map(Roll)), max_size=3))
@quick
def test_downs_distance_and_score_are_always_legal(play: Film, dice: list[Coin | Roll]) -> None:
    rolls = [(3.0 + n, roll) for n, roll in enumerate(dice)]
    state = judge_play(play, RUNNER, *rolls, line_yd=75.0, down=4).state
    assert 1 <= state.down <= 4
    assert 0 <= state.progress_yd(state.los_yd) <= FIELD.length_yd
    if state.due == "scrimmage":
        assert 0 < state.distance_yd <= 10 + 1e-6
    assert set(state.score) <= {0, 1, 2, 3, 6, 7, 8}
