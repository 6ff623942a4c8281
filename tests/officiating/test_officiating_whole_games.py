"""What only a whole game shows: halves and their kickoffs, fouls carried to the next kickoff, plays told twice."""

from __future__ import annotations

from typing import Any

import pytest
from card_games import CardGameTable, run
from declared_game import DeclaredGame, kinds
from scripted_plays import FIELD, ScriptedFigure, film, judge_play, number_events, opening, runs, stands

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PlayEnded,
    Roll,
    SetUp,
    Side,
)
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.rulebooks.rulebook import load_rulebook, parse_rulebook
from downfield.officiating.state.game_state import Phase, opponent
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

MIDDLE = 26.0
SIDES: tuple[Side, Side] = ("home", "away")
FOUL: dict[str, Any] = {"roll": 31, "reroll": 60}
ACCEPT = ChoiceMade("accept")
TAP_HALVES = parse_rulebook('base = "tap"\n[clock]\nperiods = 2\n', "halves.toml")
BOOKS = [TAP_HALVES, load_rulebook("efl"), load_rulebook("lions-den"), load_rulebook("nfl-strategy")]


def in_game(book: Any, **given: Any) -> DeclaredGame:
    game = CardGameTable() if book.system.name == "nfl-strategy" else DeclaredGame(book)
    if given:
        game.declare(SetUp(**{"offense": "home", "direction": 1, **given}))
    return game


# Halves


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.name)
@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("has_ball", SIDES)
def test_each_team_kicks_off_one_half(book: Any, first: Side, has_ball: Side) -> None:
    """Whoever has the ball as the first half ends."""
    game = in_game(book, offense=opponent(first), due="kickoff", direction=1)
    game.declare(PlayEnded("stopped", (30.0, MIDDLE), by=has_ball))
    assert game.state.opening_kicker == first
    end_half(game)
    assert (game.state.due, game.state.kicking) == ("kickoff", opponent(first))


def end_half(game: DeclaredGame) -> None:
    half = game.game.rulebook.params.count("clock.periods") // 2
    while game.state.period <= half:
        if isinstance(game, CardGameTable):
            game.declare(ClockSet(True, 20.0), PlayEnded("stopped", (30.0, MIDDLE)))
        else:
            game.declare(ClockSet(False, 0.0))


def test_the_home_team_receives_first_under_the_efl_even_where_no_kickoff_was_told() -> None:
    for has_ball in SIDES:
        game = in_game(load_rulebook("efl"), offense=has_ball, spot_yd=40.0)
        end_half(game)
        assert (game.state.due, game.state.kicking) == ("kickoff", "home")


def test_a_game_of_cards_kicks_off_its_halves_from_the_cards() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "65TB", roll=60))
    assert table.state.opening_kicker == "away"
    end_half(table)
    assert table.state.kicking == "home"


def test_an_overtime_of_yards_is_won_in_state_and_text() -> None:
    game = DeclaredGame("tap").at(40.0, score=(7, 7))
    game.declare(ClockSet(False, 0.0), ChoiceMade("offense_first", by="home"))
    game.declare(PlayEnded("tackle", (55.0, MIDDLE)), PlayEnded("tackle", (48.0, MIDDLE)))
    assert (game.state.phase, game.state.score, game.state.winner) == (Phase.OVER, (7, 7), "home")
    assert "final, Home wins in overtime" in game.state.text
    assert DeclaredGame("tap").at(40.0, score=(7, 3)).declare(ClockSet(False, 0.0))[-1].side == "home"


def test_a_league_allows_each_side_a_number_of_time_outs_in_each_half_of_tap() -> None:
    text = 'base = "tap"\n[clock]\nperiods = 2\n[time_out]\nallowed = true\nper_half = 1\n'
    game = in_game(parse_rulebook(text, "time-outs.toml"), spot_yd=40.0)
    (call,) = game.declare(Claim("time_out", "home"))
    assert (call.text, game.state.time_outs) == ("time-out, Home", (0, 1))
    with pytest.raises(RefusedError, match="none left in this half"):
        game.declare(Claim("time_out", "home"))
    end_half(game)
    assert game.state.time_outs == (1, 1)
    assert DeclaredGame("tap").state.time_outs is None


@pytest.mark.parametrize(("choice", "due"), [("two_point", "two_point"), ("extra_point", "extra_point")])
def test_a_league_of_the_efl_lets_coaches_choose_the_try_and_the_onside_kick(choice: Any, due: str) -> None:
    game = in_game(parse_rulebook('base = "efl"\n[try]\nfree_choice = true\n[onside]\nfree_choice = true\n', "free"))
    game.declare(KickDeclared("onside"))
    game.declare(SetUp("home", 1, 95.0), PlayEnded("touchdown"))
    assert game.state.wait is not None
    assert game.state.wait.options == ("extra_point", "two_point")
    game.declare(ChoiceMade(choice))
    assert game.state.due == due
    bound = in_game(load_rulebook("efl"))
    with pytest.raises(RefusedError, match="EFL-068"):
        bound.declare(KickDeclared("onside"))


# Fouls of NFL Strategy


def scored(*fouls: FoulDeclared) -> CardGameTable:
    """A touchdown and its extra point with a foul on each."""
    table = CardGameTable().at(95.0)
    table.declare(run("5", **FOUL), fouls[0], ACCEPT)
    table.declare(CardPlayed("extra_point", "good", **(FOUL if len(fouls) > 1 else {"roll": 60})))
    if len(fouls) > 1:
        table.declare(fouls[1], ACCEPT)
    return table


def test_fouls_of_one_side_add_up_on_the_kickoff() -> None:
    table = scored(FoulDeclared("away", 15, "D15"), FoulDeclared("away", 5, "D5"))
    assert (table.state.score, table.state.situation) == ((7, 0), "kickoff from A 45")


def test_a_foul_at_the_end_of_a_half_counts_against_its_side_whoever_kicks_off() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "65TB", roll=60))  # away kicks off the first half, home the second
    table.declare(SetUp("away", 1, 95.0, period=2, clock_s=10.0))
    table.declare(run("5", **FOUL), FoulDeclared("home", 15, "D15"), ACCEPT)
    table.declare(CardPlayed("extra_point", "good", roll=60))
    assert (table.state.period, table.state.kicking) == (3, "home")
    assert table.state.situation == "kickoff from H 20"


def test_a_kick_with_the_fouls_of_both_sides_is_from_where_it_always_is() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "60", roll=60), ReturnPlayed("96", **FOUL))
    table.declare(FoulDeclared("away", 15), ACCEPT)  # on the return of a touchdown
    table.declare(CardPlayed("two_point", "-1i", return_to=50, **FOUL), Roll((10,)), FoulDeclared("home", 15), ACCEPT)
    assert (table.state.score, table.state.situation) == ((6, 2), "kickoff from H 35")


@pytest.mark.parametrize(("spot", "situation"), [(40.0, "1st & 10 at H 40"), (None, "kickoff from A 35")])
def test_offsetting_fouls_play_the_down_again(spot: float | None, situation: str) -> None:
    table = CardGameTable()
    if spot is None:
        table.declare(CardPlayed("kickoff", "60", roll=60), ReturnPlayed("25", **FOUL))
    else:
        table.at(spot).declare(run("25", **FOUL))
    table.declare(FoulDeclared("away", offsetting=True))
    assert (table.state.situation, table.clock_runs) == (situation, False)
    with pytest.raises(RefusedError, match="no yards"):
        table.at(40.0).declare(run("5", **FOUL), FoulDeclared("away", 5, offsetting=True))


def test_two_kicks_take_one_line_and_the_third_another() -> None:
    book = parse_rulebook('base = "nfl-strategy"\n[kickoff]\nkick_again = true\n', "again.toml")
    table = CardGameTable()
    table.game = JudgedGame(book, FIELD)
    lines = []
    for spot in (30, 25, 20):
        table.declare(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("25", **FOUL))
        table.declare(FoulDeclared("away", 5), ChoiceMade("kick_again"))
        assert table.state.situation == f"kickoff from A {spot}"
        lines.append(90 - table.lines)
    assert lines == [1, 1, 2]
    table.declare(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("25", roll=60))
    assert (90 - table.lines, table.state.due) == (2, "scrimmage")


def test_a_kick_is_kicked_again_only_by_a_house_rule() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("25", **FOUL), FoulDeclared("away", 5))
    with pytest.raises(RefusedError, match="not on offer"):
        table.declare(ChoiceMade("kick_again"))


@pytest.mark.parametrize(
    ("kick", "back", "spot"), [("70", "31", 6.0), ("67", "22", 5.0), ("55", "22", 11.0), ("73", "12", 1.0)]
)
def test_a_return_out_of_the_end_zone_has_its_middle_where_it_was(kick: str, back: str, spot: float) -> None:
    """Caught 5 yards deep and brought to the 26 its middle is the 10 and a half; half the distance is 5 and a half."""
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", kick, roll=60), ReturnPlayed(back, **FOUL), FoulDeclared("home", 10))
    if table.state.wait is not None:
        table.declare(ACCEPT)
    assert table.state.los_yd == spot


@pytest.mark.parametrize("kind", ["pass", "two_point"])
def test_a_long_pass_is_refused_near_the_goal_line_on_a_try_as_well(kind: Any) -> None:
    table = CardGameTable()
    table.declare(SetUp("home", 1, score=(6, 0), due="try") if kind == "two_point" else SetUp("home", 1, 85.0))
    with pytest.raises(RefusedError, match="NFLS-084"):
        table.declare(CardPlayed(kind, "5", roll=60, play="X Fly"))


def test_a_foul_is_told_by_what_was_walked_off() -> None:
    table = CardGameTable().at(2.0)
    (call,) = table.declare(run("6", **FOUL), FoulDeclared("home", 5, "O5"), ACCEPT)[-1:]
    assert call.text == "O5, Home: 1 of 5 yards, half the distance to the goal"
    table = CardGameTable().at(40.0)
    assert table.declare(run("6", **FOUL), FoulDeclared("home", 5, "O5"), ACCEPT)[-1].text == "O5, Home: 5 yards"


# By hand


def test_the_efl_notices_a_fourth_down_told_as_a_run_or_pass_where_it_must_punt() -> None:
    for end in (PlayEnded("tackle", (44.0, MIDDLE)), PlayEnded("incomplete"), PlayEnded("touchdown")):
        game = DeclaredGame("efl").at(40.0, 4, 5.0)
        (duty,) = [call for call in game.declare(end) if call.detail == "duty"]
        assert duty.clauses == ("EFL-032",)
    game = DeclaredGame("efl").at(40.0, 2, 5.0)
    assert not [call for call in game.declare(PlayEnded("tackle", (44.0, MIDDLE))) if call.detail == "duty"]


@pytest.mark.parametrize("by", SIDES)
def test_a_fumble_is_told_under_the_efl_and_run_on_from_its_recovery(by: Side) -> None:
    game = DeclaredGame("efl").at(40.0)
    game.declare(PlayEnded("fumble", (45.0, MIDDLE)), PlayEnded("recovered", (43.0, MIDDLE), by=by))
    game.declare(PlayEnded("tackle", (48.0, MIDDLE)))
    assert (game.state.offense, game.state.los_yd) == (by, 48.0)
    assert game.state.down == (2 if by == "home" else 1)


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])
@pytest.mark.parametrize(("by", "x_yd"), [("away", -3.0), ("home", 103.0)])
def test_a_fumble_recovered_in_the_end_zone_that_its_side_attacks_is_a_touchdown(
    book: str, by: Side, x_yd: float
) -> None:
    game = DeclaredGame(book).at(5.0 if by == "away" else 95.0)
    game.declare(PlayEnded("fumble", (x_yd, MIDDLE)))
    game.declare(Coin(by == "home") if book == "tap" else PlayEnded("recovered", (x_yd, MIDDLE), by=by))
    assert (game.state.points(by), game.state.try_for) == (6, by)


def test_a_punt_without_a_line_up_needs_no_gunners() -> None:
    game = DeclaredGame("tap").at(40.0, 4)
    game.declare(
        KickDeclared("punt"), KickEnded("touched", 80.0, MIDDLE, by="away"), PlayEnded("tackle", (75.0, MIDDLE))
    )
    assert (game.state.offense, game.state.los_yd, game.state.down) == ("away", 75.0, 1)
    with_players = DeclaredGame("tap").at(40.0, 4)
    with_players.declare(LineUpDeclared((Player("dark-1", "dark"), Player("light-1", "light"))))
    with pytest.raises(RefusedError, match="gunners"):
        with_players.declare(KickDeclared("punt"))


def test_interference_is_claimed_after_a_pass_told_incomplete() -> None:
    game = DeclaredGame("tap").at(40.0, 3)
    game.declare(PlayEnded("incomplete"))
    (claimed,) = game.declare(Claim("defensive_pass_interference", "home"))
    assert (claimed.verdict, game.state.down) == ("proposed", 4)
    run_game = DeclaredGame("tap").at(40.0, 3)
    run_game.declare(PlayEnded("tackle", (44.0, MIDDLE)))
    with pytest.raises(RefusedError, match="no pass"):
        run_game.declare(Claim("defensive_pass_interference", "home"))


def test_a_period_whose_time_is_up_ends_before_the_next_play_is_told() -> None:
    """The one in which it runs out counts, and a foul in it may be claimed until somebody goes on."""
    game = in_game(TAP_HALVES, spot_yd=40.0)
    game.declare(ClockSet(True, 0.5))
    assert kinds(game.declare(PlayEnded("incomplete"))) == ["incomplete"]
    assert kinds(game.declare(PlayEnded("touchdown"))) == ["period"]
    assert (game.state.period, game.state.score) == (2, (0, 0))


# One play, told by a camera and a person

RUNNER, HITTER = "dark-22", "light-50"


def tackle_film() -> Any:
    figures = [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(HITTER, stands(50), "LB")]
    return film(figures, 4.0, on=((0.5, 2.2),))


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])
@pytest.mark.parametrize("told_s", [1.6, 1.8, 2.0, 2.5, 3.0])
def test_a_person_who_tells_what_the_camera_calls_costs_no_down(book: str, told_s: float) -> None:
    seen = judge_play(tackle_film(), RUNNER, book=book)
    judged = judge_play(tackle_film(), RUNNER, (told_s, PlayEnded("tackle", (49.0, 20.0))), book=book)
    assert (judged.state.down, judged.state.los_yd) == (seen.state.down, 49.0)
    assert not judged.refused
    assert len([call for call in judged.calls if call.kind == "tackle"]) == 1


@pytest.mark.parametrize("told_s", [1.6, 1.8, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("kind", ["touchdown", "incomplete"])
def test_the_word_of_a_person_about_the_play_is_the_play(told_s: float, kind: Any) -> None:
    judged = judge_play(tackle_film(), RUNNER, (told_s, PlayEnded(kind)))
    ends = [call.kind for call in judged.calls if call.kind in {"tackle", "touchdown", "incomplete"}]
    assert ends == [kind]
    assert judged.state.score == ((6, 0) if kind == "touchdown" else (0, 0))


def test_the_play_after_it_is_another_play() -> None:
    judged = judge_play(tackle_film(), RUNNER, (8.0, PlayEnded("tackle", (55.0, 20.0))))
    assert judged.state.los_yd == 55.0
    assert len([call for call in judged.calls if call.kind == "tackle"]) == 2


def test_a_call_that_a_person_took_the_place_of_is_withdrawn_and_stays_so_when_all_is_judged_again() -> None:
    scenes = tackle_film().scenes
    game, withdrawn = JudgedGame(load_rulebook("tap"), FIELD), list[str]()
    events = number_events(*opening(tackle_film(), RUNNER), (2.6, PlayEnded("touchdown")))
    entries = sorted((*events, *scenes), key=lambda entry: entry.t_ns)
    for entry in entries:
        withdrawn += game.apply(entry).withdrawn
    assert [name.partition(":")[0] for name in withdrawn][:1] == ["tackle"]
    assert "tackle" not in kinds(list(game.calls))
    assert len(game.plays) == 1
    stood: tuple[Call, ...] = game.calls
    memento = game.capture()
    assert memento is None or memento.calls != stood
