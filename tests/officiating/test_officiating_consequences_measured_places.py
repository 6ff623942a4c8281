"""What follows from a measured place is as sure as the place and the line: first downs, downs, safeties, touchbacks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from declared_game import DeclaredGame
from drawn_spots import tackled
from scripted_plays import (
    FIELD,
    HALF_YD,
    ScriptedFigure,
    event,
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

from downfield.officiating.calls import Call
from downfield.officiating.consequences.measured_places import PastLine
from downfield.officiating.declarations import ChoiceMade, PlayEnded
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.game_state import PendingInput, Phase

RUNNER, HITTER = "dark-22", "light-50"
MEASUREMENT = PendingInput("ruling", "measurement")
BOOKS = ("tap", "efl", "lions-den")


def tackled_at(
    front_yd: float, sigma_yd: float, *, book: str = "tap", down: int = 4, distance_yd: float = 10.0
) -> Judgment:
    """A runner from the 40 whose front is at a place as he is met."""
    return judge_play(film(met_at(front_yd, sigma_yd), 4.0), RUNNER, book=book, down=down, distance_yd=distance_yd)


def met_at(front_yd: float, sigma_yd: float) -> list[ScriptedFigure]:
    """A runner who stops at a defender, with his front at a place."""
    start = front_yd - HALF_YD - 10.0
    sigma_mm = sigma_yd * FIELD.mm_per_yd_x
    return [
        ScriptedFigure(RUNNER, runs(start, stop_s=1.5), "RB", sigma_mm=sigma_mm),
        ScriptedFigure(HITTER, stands(front_yd + HALF_YD, heading=180), "LB", sigma_mm=sigma_mm),
    ]


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize(
    ("short_yd", "kind", "verdict"),
    [
        (0.05, "first_down", "too_close"),
        (-0.05, "first_down", "too_close"),
        (0.5, "turnover_on_downs", "called"),
        (-0.5, "first_down", "called"),
    ],
)
def test_fourth_down_at_the_line_to_gain_is_as_sure_as_the_spot(
    book: str, short_yd: float, kind: str, verdict: str
) -> None:
    made = tackled_at(50.0 - short_yd, 0.2, book=book)
    call = only_call(made, kind)
    assert call.verdict == verdict
    assert abs(call.margin or 0.0) == pytest.approx(abs(short_yd), abs=0.02)
    assert call.sigma == pytest.approx(0.2, abs=0.02)
    assert call.unit == "yd"
    if verdict == "too_close":
        assert "turnover_on_downs" not in kinds(made)
        assert [reading.kind for reading in call.readings] == ["first_down", "turnover_on_downs"]
        assert made.state.wait == MEASUREMENT
        assert made.state.offense == "home"


def test_a_spot_that_is_told_is_exact() -> None:
    made = tackled_at(49.99, 0.0)
    assert only_call(made, "turnover_on_downs").probability == 1.0


def game_with(front_yd: float, down: int) -> tuple[JudgedGame, Call]:
    """A game that waits for a measurement at the line to gain, and the call that it waits for."""
    play = film(met_at(front_yd, 0.2), 4.0)
    game = JudgedGame(load_rulebook("tap"), FIELD)
    for entry in in_order(play, number_events(*opening(play, RUNNER, down=down))):
        game.apply(entry)
    return game, next(call for call in game.calls if call.kind == "first_down")


@pytest.mark.parametrize(
    ("down", "decision", "offense", "next_down"),
    [
        (4, "confirm", "home", 1),
        (4, "strike", "away", 1),
        (4, "overturn", "away", 1),
        (2, "confirm", "home", 1),
        (2, "overturn", "home", 3),
    ],
)
def test_one_ruling_makes_the_game_go_on(down: int, decision: str, offense: str, next_down: int) -> None:
    game, close = game_with(49.95, down)
    assert (game.state.wait, game.state.phase) == (MEASUREMENT, Phase.PENDING_CHOICE)
    game.apply(event("r", 4.0, Ruling(close.id, decision)))  # type: ignore[arg-type]
    assert game.state.wait is None
    assert (game.state.offense, game.state.down) == (offense, next_down)
    if decision != "confirm":
        assert "first_down" not in [
            call.kind for call in game.calls if call.spot_yd == close.spot_yd and call.side == "home"
        ]


def test_a_series_from_a_measured_spot_has_a_line_to_gain_with_its_error() -> None:
    made = tackled_at(52.0, 0.2, down=2)
    assert made.state.to_gain_sigma_yd == pytest.approx(0.2, abs=0.02)
    assert tackled_at(96.0, 0.2, down=2, distance_yd=20.0).state.to_gain_sigma_yd == 0.0  # a goal line is painted


@pytest.mark.parametrize(
    ("front_yd", "sigma_yd", "verdict"), [(-0.04, 0.3, "too_close"), (-1.0, 0.3, "called"), (-0.04, 0.0, "called")]
)
def test_a_safety_is_as_sure_as_the_spot(front_yd: float, sigma_yd: float, verdict: str) -> None:
    sigma_mm = sigma_yd * FIELD.mm_per_yd_x
    men = [
        ScriptedFigure(
            RUNNER, runs(front_yd - HALF_YD + 3.0, speed=-2.0, facing=0.0, stop_s=2.0), "QB", sigma_mm=sigma_mm
        ),
        ScriptedFigure(HITTER, stands(front_yd - 3 * HALF_YD, heading=0.0), "LB", sigma_mm=sigma_mm),
    ]
    made = judge_play(film(men, 4.0), RUNNER, line_yd=4.0, down=2)
    safety = only_call(made, "safety")
    assert safety.verdict == verdict
    if verdict == "too_close":
        assert (made.state.score, made.state.wait) == ((0, 0), MEASUREMENT)
        assert safety.margin == pytest.approx(0.04, abs=0.02)
        assert safety.numbers is not None
        assert safety.numbers.measured_yd is not None
        assert safety.numbers.measured_yd[0] == pytest.approx(-0.04, abs=0.02)  # drawn with the goal line


def test_a_doubtful_touchdown_holds_up_what_follows_from_the_tackle() -> None:
    men = met_at(99.95, 0.2)
    made = judge_play(film(men, 4.0), RUNNER, line_yd=91.0, down=4, distance_yd=9.0)
    assert only_call(made, "touchdown").verdict == "too_close"
    assert only_call(made, "tackle").verdict == "called"
    assert "turnover_on_downs" not in kinds(made)
    assert made.state.wait == MEASUREMENT


def test_a_chain_is_as_sure_as_its_weakest_link() -> None:
    play = film(met_at(55.0, 0.2), 4.0, sigma_gap_mm=1.0)
    scenes = tuple(
        replace(
            scene,
            contacts=tuple(
                replace(one, probability=0.96 if one.since_ns is not None else 0.0) for one in scene.contacts
            ),
        )
        for scene in play.scenes
    )
    made = judge_play(replace(play, scenes=scenes), RUNNER)
    assert only_call(made, "tackle").probability == pytest.approx(0.96)
    assert only_call(made, "first_down").probability == pytest.approx(0.96)


def test_a_place_on_a_line_has_reached_it() -> None:
    assert PastLine(0.0).probability == 1.0
    assert PastLine(0.1, 0.1).probability == pytest.approx(0.841, abs=0.001)
    assert PastLine(0.1, 0.1).short.probability == pytest.approx(0.159, abs=0.001)


@pytest.mark.parametrize(("second_yd", "verdict"), [(58.05, "too_close"), (58.9, "called"), (57.0, "called")])
def test_an_overtime_of_yards_is_as_sure_as_both_gains(second_yd: float, verdict: str) -> None:
    game = DeclaredGame("tap").at(60.0, score=(7, 7), clock_s=0.0)
    game.declare(PlayEnded("tackle", (62.0, 20.0)), ChoiceMade("offense_first", "home"))
    tackled(game, 58.0, 0.2)
    made = tackled(game, game.state.board_x_yd(second_yd), 0.2)
    over = next(call for call in made if call.kind == "game_over")
    assert over.verdict == verdict
    assert game.state.phase is (Phase.OVER if verdict == "called" else Phase.PENDING_CHOICE)
    assert over.sigma == pytest.approx(0.2 * 2**0.5)


def test_a_table_certified_to_a_length_calls_nothing_finer() -> None:
    play = film(met_at(49.95, 0.0), 4.0)
    game = JudgedGame(load_rulebook("tap"), FIELD, certified_yd=(0.2, 0.2))
    for entry in in_order(play, number_events(*opening(play, RUNNER, down=4))):
        game.apply(entry)
    close = next(call for call in game.calls if call.kind == "first_down")
    assert (close.verdict, close.unit) == ("too_close", "yd")
    assert game.state.wait == MEASUREMENT
