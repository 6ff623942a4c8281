"""Corners of the four rulebooks, from their texts: boards with figures, and games told by declarations."""

from __future__ import annotations

from typing import Any

import pytest
from card_games import CardGameTable, run
from declared_game import DeclaredGame
from ended_plays import NO_PENALTY, table, waits_for
from scripted_plays import HALF_YD, MIDDLE_YD, Path, ScriptedFigure, film, judge_play, kinds, runs, stands

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    Coin,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    SetUp,
    Switch,
)
from downfield.officiating.engine.recording import Judgment
from downfield.officiating.events import Event, Ruling, Undo
from downfield.officiating.scenes import KeyFrame, along
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardPlayed, OvertimeSetUp, ReturnPlayed

ON_THE_BOARD = pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])


def back(path: Path, **more: Any) -> ScriptedFigure:
    return ScriptedFigure("dark-22", path, "RB", **more)


def backer(path: Path) -> ScriptedFigure:
    return ScriptedFigure("light-50", path, "LB")


def judged(book: str, *men: ScriptedFigure, **line: Any) -> Judgment:
    return judge_play(film(men, 3.0), men[0].id, book=book, **line)


# On the board


@ON_THE_BOARD
def test_a_teammates_base_tackles_nobody(book: str) -> None:
    guard = ScriptedFigure("dark-60", stands(46, heading=0.0), "G")
    assert "tackle" not in kinds(judged(book, back(runs(41)), guard))


@ON_THE_BOARD
def test_a_runner_out_of_bounds_is_not_tackled_there(book: str) -> None:
    found = kinds(judged(book, back(runs(41, 0.6, heading=-45.0)), backer(stands(60, 0.6))))
    assert "out_of_bounds" in found
    assert "tackle" not in found


@ON_THE_BOARD
def test_a_runner_met_in_his_own_end_zone_gives_up_two_points(book: str) -> None:
    play = judged(book, back(stands(-3, heading=0.0)), backer(runs(4, heading=180.0)), line_yd=3.0)
    assert play.state.score == (0, 2)


def test_a_runner_who_lies_already_is_not_tackled_by_who_comes_later() -> None:
    found = kinds(judged("tap", back(runs(41), falls_s=0.9), backer(runs(52, heading=180.0, start_s=1.2))))
    assert (found.count("down_by_fall"), "tackle" in found, "fumble" in found) == (1, False, False)


def test_a_passer_who_drops_back_ten_yards_and_no_further_is_not_sacked() -> None:
    drop = along(KeyFrame(0.5, 38, MIDDLE_YD, 0.0), KeyFrame(2.0, 30.5 + HALF_YD, MIDDLE_YD, 0.0))
    assert "sack" not in kinds(judged("lions-den", ScriptedFigure("dark-7", drop, "QB")))


@pytest.mark.parametrize(("heading", "eligible"), [(0.0, True), (90.0, True), (-90.0, True), (120.0, False)])
def test_a_receiver_may_face_the_sideline_but_not_backward(heading: float, eligible: bool) -> None:
    men = [
        ScriptedFigure("dark-7", stands(34, heading=0.0), "QB"),
        ScriptedFigure("dark-80", stands(48, 40.0, heading), "WR"),
    ]
    more = ((1.0, Roll((4, 4), "quarterback_1", "home")), (1.5, PassDeclared("dark-80")))
    assert bool(judge_play(film(men, 3.0), "dark-7", *more, book="lions-den").refused) != eligible


# Fouls and passes of TAP


def thrown(**more: Any) -> DeclaredGame:
    game = table("tap", **more)
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))
    return game


def confirmed(game: DeclaredGame, claim: Any, by: Any) -> None:
    game.declare(Ruling(game.declare(Claim(claim, by))[-1].id, "confirm"))


@pytest.mark.parametrize(("down", "situation", "offense"), [(2, (3, 25.0), "home"), (4, (1, 10.0), "away")])
def test_offensive_interference_costs_fifteen_yards_and_the_down(
    down: int, situation: tuple[int, float], offense: str
) -> None:
    game = thrown(spot_yd=40.0, down=down)
    confirmed(game, "offensive_pass_interference", "away")
    state = game.state
    assert (state.los_yd, (state.down, state.distance_yd), state.offense) == (25.0, situation, offense)


def test_interference_before_an_interception_takes_its_touchdown_back() -> None:
    game = thrown(spot_yd=40.0)
    game.declare(PassEnded("intercepted", "light-21", (60.0, 20.0)), PlayEnded("touchdown"))
    assert game.state.score == (0, 6)
    confirmed(game, "defensive_pass_interference", "home")
    assert (game.state.score, game.state.offense, game.state.down) == ((0, 0), "home", 1)


def test_interference_on_a_try_for_two_repeats_it() -> None:
    game = thrown(due="two_point", score=(6, 0))
    game.declare(PassEnded("incomplete"))
    confirmed(game, "defensive_pass_interference", "home")
    assert game.state.due == "two_point"


@pytest.mark.parametrize(("down", "offense"), [(3, "home"), (4, "away")])
def test_a_fumble_kept_short_of_the_line_to_gain_is_a_down_used(down: int, offense: str) -> None:
    game = table("tap", spot_yd=40.0, down=down)
    game.declare(Carrier("dark-22"), Switch(True), PlayEnded("fumble", (45.0, 20.0), "light-21"), Coin(True))
    assert (game.state.los_yd, game.state.offense) == (45.0, offense)


def test_a_recovered_fumble_run_in_is_the_defenses_touchdown_and_try() -> None:
    game = table("tap", spot_yd=40.0)
    game.declare(Carrier("dark-22"), Switch(True), PlayEnded("fumble", (30.0, 20.0), "light-21"), Coin(False))
    game.declare(PlayEnded("touchdown"))
    assert (game.state.score, waits_for(game)) == ((0, 6), "try")
    assert game.state.wait is not None
    assert game.state.wait.by == "away"


def test_an_undone_touchdown_takes_its_try_along() -> None:
    game = table("tap", spot_yd=90.0)
    touchdown = f"e{next(game._count) + 1}"
    game.declare(PlayEnded("touchdown"), ChoiceMade("extra_point"), Roll((3, 4)))
    assert game.state.score == (7, 0)
    game.game.apply(Event("undo", 100_000_000_000, "operator", Undo(touchdown)))
    assert (game.state.score, len(game.game.refused)) == ((0, 0), 2)


# Overtime of the EFL


def overtime(offense: Any = "home", score: tuple[int, int] = (7, 7), gains: tuple[float, ...] = (), **more: Any) -> Any:
    standing = OvertimeSetUp("home", 1, gains)
    game = table("efl", spot_yd=40.0)
    settings: dict[str, Any] = {"spot_yd": 40.0, "period": 5, "clock_s": 100.0, "score": score, "overtime": standing}
    game.declare(SetUp(offense, 1, **{**settings, **more}))
    return game


PICKED_OFF = (Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))


FIELD_GOAL = (KickDeclared("field_goal"), KickEnded("good"))
RETURNED = (*PICKED_OFF, PassEnded("intercepted", "light-21", (60.0, 20.0)), PlayEnded("touchdown"))


@pytest.mark.parametrize(("game", "told", "over"), [
    (lambda: overtime(), RETURNED, True),
    (lambda: overtime(spot_yd=2.0), (PlayEnded("tackle", (-1.0, 20.0)),), True),
    (lambda: overtime(spot_yd=70.0, down=4), FIELD_GOAL, False),
    (lambda: overtime("away", (10, 7), (3.0,), down=4), (PlayEnded("tackle", (41.0, 20.0)),), True),
    (lambda: overtime("away", (10, 7), (3.0,), spot_yd=70.0, down=4), FIELD_GOAL, False),
], ids=["interception returned", "safety", "field goal to be answered", "answer fails", "answer ties"])  # fmt: skip
def test_an_overtime_ends_as_its_first_possessions_decide(game: Any, told: tuple[Any, ...], over: bool) -> None:
    playing = game()
    playing.declare(*told)
    assert (playing.state.phase is Phase.OVER) == over


# The dice of Lion's Den


@pytest.mark.parametrize(("yards", "less"), [(20.0, 0), (20.9, 0), (21.0, 1), (35.5, 15)])
def test_a_pass_loses_a_percent_for_each_whole_yard_past_twenty(yards: float, less: int) -> None:
    game = table("lions-den", spot_yd=40.0)
    game.declare(Carrier("dark-7"), Switch(True))
    passed = next(call for call in game.declare(PassDeclared("dark-80", yards)) if call.detail == "pass")
    assert passed.numbers is not None
    assert passed.numbers.needed == 45 - less


def test_interference_called_by_the_dice_takes_an_interception_back() -> None:
    game = table("lions-den", spot_yd=40.0)
    game.declare(
        Carrier("dark-7"), Switch(True), PassDeclared("dark-80", 10.0, ("light-21",)), Roll((0, 1)), Roll((10,))
    )
    game.declare(PlayEnded("tackle", (55.0, 20.0)), Roll((9, 3, 2)), ChoiceMade("accept"))
    assert (game.state.offense, game.state.los_yd, game.state.down) == ("home", 55.0, 1)


def test_a_blocked_punt_run_in_is_rolled_for_before_its_try() -> None:
    game = table("lions-den", spot_yd=10.0, down=4)
    game.declare(KickDeclared("punt"), Roll((9, 9)), PlayEnded("touchdown"))
    assert waits_for(game) == "penalty"
    game.declare(NO_PENALTY, Roll((0, 1)))
    assert (game.state.score, game.state.kicking) == ((0, 7), "away")


# The cards of NFL Strategy


@pytest.mark.parametrize(("cards", "offense", "los_yd", "score"), [
    ((40, 4, 10), "away", 43.0, (0, 0)), ((92, 1, 8), "home", None, (6, 0)), ((3, 1, 10), "home", 6.0, (0, 0)),
])  # fmt: skip
def test_a_fumble_that_the_offense_keeps(
    cards: Any, offense: str, los_yd: float | None, score: tuple[int, int]
) -> None:
    game = CardGameTable().at(*cards)
    game.declare(run("10F" if cards[0] == 92 else "3F"))
    if game.state.wait is not None and game.state.wait.kind == "roll":
        game.declare(Roll((90,)))
    assert (game.state.score, game.state.offense) == (score, offense)
    assert los_yd is None or game.state.los_yd == los_yd


@pytest.mark.parametrize(("spot", "kind", "accepted", "score", "los_yd"), [
    (3, "pass", "decline", (0, 0), 11.0), (4, "pass", "accept", (0, 0), 2.0), (3, "run", "accept", (0, 0), 2.0),
    (3, "pass", "accept", (0, 2), None),
])  # fmt: skip
def test_holding_near_the_own_goal_line_is_a_safety_on_a_pass_from_the_three_only(
    spot: float, kind: Any, accepted: Any, score: tuple[int, int], los_yd: float | None
) -> None:
    game = CardGameTable().at(spot, 2)
    game.declare(CardPlayed(kind, "8", roll=11, reroll=60), FoulDeclared("home", 10, "O10"), ChoiceMade(accepted))
    assert game.state.score == score
    assert los_yd is None or game.state.los_yd == los_yd


def test_a_blocked_extra_point_run_back_is_two_points_for_the_defense() -> None:
    game = CardGameTable().at(95)
    game.declare(run("10"), CardPlayed("extra_point", "blocked", roll=60), ReturnPlayed("99", 60))
    assert (game.state.score, game.state.due, game.state.kicking) == ((6, 2), "kickoff", "home")


def test_a_touchdown_on_the_last_line_has_its_try_and_then_the_game_is_over() -> None:
    game = CardGameTable()
    game.declare(SetUp("home", 1, 95.0, 1, 5.0, 4, 1.0, (0, 7)))
    game.declare(run("10"), CardPlayed("two_point", "3", roll=60))
    assert (game.state.score, game.state.phase) == ((8, 7), Phase.OVER)


def test_the_defense_stops_a_clock_that_the_offense_would_let_run_out() -> None:
    game = CardGameTable()
    game.declare(SetUp("home", 1, 40.0, 1, 10.0, 2, 20.0))
    game.running().declare(Claim("time_out", "away"))
    with pytest.raises(RefusedError, match="let the clock run"):
        game.declare(ChoiceMade("let_run"))
