"""The Lion's Den on the board: hand-built plays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import pytest
from scripted_plays import (
    BASE,
    FIELD,
    HALF_YD,
    MIDDLE_YD,
    Film,
    Path,
    ScriptedFigure,
    film,
    in_order,
    judge_play,
    kinds,
    number_events,
    only_call,
    opening,
    runs,
    stands,
)

from downfield.core.scene import Ball, Scene
from downfield.officiating.calls import Call
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.events import Event, Ruling
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.state.game_state import Phase

RUNNER, PASSER, RECEIVER, HITTER = "dark-22", "dark-7", "dark-80", "light-50"

HAND_MM = (6.0, 8.0)
"""Ahead of the base's center and to its left."""

HAND_YD = HAND_MM[0] / FIELD.mm_per_yd_x


def carried_ball(
    path: Path, carrier: str = RUNNER, ahead_mm: float = HAND_MM[0], until_s: float = math.inf
) -> Callable[[float], Ball]:
    """The ball in a hand that many millimeters ahead; left lying where the carrier was at an instant."""

    def ball(t_s: float) -> Ball:
        x_yd, y_yd, heading = path(min(t_s, until_s))
        turn = math.radians(heading)
        x_mm = x_yd * FIELD.mm_per_yd_x + ahead_mm * math.cos(turn)
        y_mm = y_yd * FIELD.mm_per_yd_y + ahead_mm * math.sin(turn)
        if t_s < until_s:
            return Ball("carried", x_mm, y_mm, carrier)
        return Ball("loose", x_mm, y_mm)

    return ball


def film_run(path: Path, *others: ScriptedFigure, seconds: float = 2.0, role: str = "RB", **ball: float) -> Film:
    judgment = film([ScriptedFigure(RUNNER, path, role), *others], seconds, ball=carried_ball(path, **ball))  # type: ignore[arg-type]
    players = tuple(dataclasses.replace(player, hand_mm=HAND_MM) for player in judgment.players)
    return dataclasses.replace(judgment, players=players)


def judge_film(judgment: Film, carrier: str = RUNNER, book: str | Rulebook = "lions-den", **line: float) -> Judgment:
    return judge_play(judgment, carrier, book=book, **line)


def decisive_kinds(judgment: Judgment) -> list[str]:
    return [kind for kind in kinds(judgment) if kind not in {"line_of_scrimmage", "info"}]


# Tackle, hand, ball


def test_any_touch_of_bases_is_a_tackle_under_the_hand() -> None:
    stop = 0.5 + (9 - 2 * HALF_YD) / 10
    judgment = judge_film(film_run(runs(41, stop_s=stop + 0.02), ScriptedFigure(HITTER, stands(50), "LB")))
    tackle = only_call(judgment, "tackle")
    assert tackle.spot_yd is not None
    assert tackle.spot_yd[0] == pytest.approx(50 - 2 * HALF_YD + HAND_YD, abs=0.05)
    assert {"LD-010", "LD-011"} <= set(tackle.clauses)


def test_a_corner_and_a_fallen_defender_tackle_too() -> None:
    beside = MIDDLE_YD + BASE.width_mm / FIELD.mm_per_yd_y
    corner = judge_film(film_run(runs(41), ScriptedFigure(HITTER, stands(48, beside - 0.1, 30.0), "LB")))
    assert "tackle" in decisive_kinds(corner)
    lying = film_run(runs(41, stop_s=1.4), ScriptedFigure(HITTER, stands(50), "LB", falls_s=0.6))
    assert "tackle" in decisive_kinds(judge_film(lying))
    ours = Rulebook("ours", "Ours", LIONS_DEN, {"tackle.fallen_tackles": False})
    assert "tackle" not in decisive_kinds(judge_film(lying, book=ours))


def test_a_fall_means_nothing_while_the_ball_stays_in_hand() -> None:
    judgment = film([ScriptedFigure(RUNNER, runs(41), "RB", falls_s=1.0)], 2.0, ball=carried_ball(runs(41)))
    assert decisive_kinds(judge_film(judgment)) == []


def test_the_ball_scores_the_touchdown_and_not_the_base() -> None:
    tip_yd = HAND_YD + 3.0 / FIELD.mm_per_yd_x
    path = runs(95, speed=8.0, stop_s=0.5 + (5 - tip_yd - 0.05) / 8)
    assert decisive_kinds(judge_film(film_run(path), line_yd=90.0)) == []
    through = runs(95, speed=8.0, stop_s=0.5 + (5 - tip_yd + 0.05) / 8)
    judgment = judge_film(film_run(through), line_yd=90.0)
    assert "touchdown" in decisive_kinds(judgment)
    assert judgment.state.wait is not None
    assert judgment.state.wait.purpose == "penalty"  # which is rolled before the try


def test_a_ball_out_of_bounds_is_spotted_at_the_inbounds_mark() -> None:
    path = runs(41, 3.0, 10.0, -30.0)
    judgment = judge_film(film_run(path, seconds=2.5))
    out = only_call(judgment, "out_of_bounds")
    assert judgment.state.lateral_yd == min(FIELD.hash_rows_y_yd)
    x_yd, _, _ = path(out.t_ns / 1e9)
    assert judgment.state.los_yd == pytest.approx(x_yd + HAND_YD * math.cos(math.radians(-30)), abs=0.15)


def test_the_ball_over_the_sideline_is_out_when_the_base_is_not() -> None:
    low = (BASE.width_mm / 2 + 2) / FIELD.mm_per_yd_y
    path = runs(41, low)

    def outside(t_s: float) -> Ball:
        x_yd, _, _ = path(t_s)
        return Ball("carried", x_yd * FIELD.mm_per_yd_x, -1.0, RUNNER)

    judgment = film([ScriptedFigure(RUNNER, path, "RB")], 1.5, ball=outside)
    assert "out_of_bounds" in decisive_kinds(judge_film(judgment))
    inside = film([ScriptedFigure(RUNNER, path, "RB")], 1.5)
    assert "out_of_bounds" not in decisive_kinds(judge_film(inside))


# Turning back, the pocket


def turning(*turns: tuple[float, float]) -> Path:
    """A runner at eight yards a second who faces a heading from an instant on."""

    def path(t_s: float) -> tuple[float, float, float]:
        x_yd, heading, at = 50.0, 0.0, 0.5
        for start, new in (*turns, (math.inf, 0.0)):
            run_s = max(0.0, min(t_s, start) - at)
            x_yd += run_s * 8 * math.cos(math.radians(heading))
            if t_s < start:
                return x_yd, MIDDLE_YD, heading
            heading, at = new, start
        return x_yd, MIDDLE_YD, heading

    return path


def test_the_first_turn_back_is_reported_and_the_second_ends_the_play() -> None:
    once = judge_film(film_run(turning((1.0, 170.0)), seconds=3.0))
    assert [call.detail for call in once.calls if call.kind == "turned_back"] == ["first"]
    assert once.state.phase is Phase.LIVE
    twice = judge_film(film_run(turning((1.0, 170.0), (1.5, 0.0), (2.2, 180.0)), seconds=3.0))
    assert [call.detail for call in twice.calls if call.kind == "turned_back"] == ["first", "second"]
    second = [call for call in twice.calls if call.kind == "turned_back"][1]
    assert second.t_ns / 1e9 == pytest.approx(2.2, abs=0.05)
    assert twice.state.play.carrier is None


def test_facing_back_without_moving_back_is_not_a_turn() -> None:
    pushed = runs(50, speed=8.0, facing=180.0)
    assert [call for call in judge_film(film_run(pushed)).calls if call.kind == "turned_back"] == []


def test_a_passer_deeper_than_ten_yards_is_sacked() -> None:
    def drop(to_yd: float) -> Judgment:
        path = runs(38, speed=8.0, heading=180.0, facing=0.0, stop_s=0.5 + (38 - to_yd) / 8)
        judgment = film([ScriptedFigure(PASSER, path, "QB")], 3.0, ball=carried_ball(path, PASSER))
        players = tuple(dataclasses.replace(player, hand_mm=HAND_MM) for player in judgment.players)
        return judge_film(dataclasses.replace(judgment, players=players), PASSER)

    sack = only_call(drop(28.0), "sack")
    assert sack.spot_yd is not None
    assert sack.spot_yd[0] == pytest.approx(30.0, abs=0.1)
    assert "sack" not in decisive_kinds(drop(31.0))


# Fumbles


def test_a_lost_ball_is_a_fumble_and_the_first_to_touch_it_recovers_it() -> None:
    path = runs(41, stop_s=1.0)
    chaser = runs(56, speed=8.0, heading=180.0)
    ball = carried_ball(path, until_s=1.0, ahead_mm=40.0)
    judgment = film(
        [ScriptedFigure(RUNNER, path, "RB"), ScriptedFigure(HITTER, chaser, "LB")],
        3.0,
        on=((0.5, 1.1), (1.4, 99.0)),
        ball=ball,
    )
    calls = judge_film(judgment)
    # The ball lies right before its old carrier, who tackles the man that picks it up.
    assert decisive_kinds(calls) == ["fumble", "fumble_recovery", "tackle", "first_down"]
    assert only_call(calls, "fumble_recovery").players == (HITTER,)
    assert calls.state.offense == "away"


# Tracks with noise: the same contact is measured again and again, by and by surer


def rubbed(*probabilities: float) -> list[Scene | Event]:
    """A run into a hitter whose touch becomes as sure from frame to frame as given, and then stays."""
    stop = 0.5 + (9 - 2 * HALF_YD) / 10
    made = film_run(runs(41, stop_s=stop + 0.02), ScriptedFigure(HITTER, stands(50), "LB"))
    scenes, touched = [], 0
    for scene in made.scenes:
        contacts = tuple(
            dataclasses.replace(one, probability=probabilities[min(touched, len(probabilities) - 1)], sigma_mm=0.3)
            if one.probability
            else one
            for one in scene.contacts
        )
        touched += any(one.probability for one in scene.contacts)
        scenes.append(dataclasses.replace(scene, contacts=contacts))
    made = dataclasses.replace(made, scenes=tuple(scenes))
    return in_order(made, number_events(*opening(made, RUNNER)))


@pytest.mark.parametrize("book", ["lions-den", "efl", "tap"])
@pytest.mark.parametrize("frames", [1, 6, 30])
def test_a_tackle_that_becomes_sure_is_one_call(book: str, frames: int) -> None:
    """However long it was too close to call: 30 frames are half a second, after which it was left open."""
    entries = rubbed(*[0.8] * frames, 1.0)
    game = JudgedGame(load_rulebook(book), FIELD)
    published: dict[str, Call] = {}
    for entry in entries:
        update = game.apply(entry)
        published |= {call.id: call for call in update.calls}
        for name in update.withdrawn:
            published.pop(name, None)
    tackles = [call for call in game.calls if call.kind == "tackle"]
    assert [call.verdict for call in tackles] == ["called"]
    assert [call for call in published.values() if call.kind == "tackle"] == tackles
    assert game.state.proposals == (), "nothing waits for a person any more"


def test_a_doubtful_tackle_that_a_person_has_confirmed_stays_his() -> None:
    entries = rubbed(*[0.8] * 30, 1.0)
    game = JudgedGame(load_rulebook("lions-den"), FIELD)
    waiting = iter(entries)
    for entry in waiting:
        game.apply(entry)
        if game.state.proposals:
            break
    (close,) = game.state.proposals
    game.apply(Event("ruled", game.state.now_ns, "operator", Ruling(close, "confirm")))
    for entry in waiting:
        game.apply(entry)
    assert [(call.id, call.verdict) for call in game.calls if call.kind == "tackle"] == [(close, "called")]
