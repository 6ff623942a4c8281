"""Fouls with yards that a league plays beside its book's, kicks at the posts that are kicked, forward progress."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame, kinds
from scripted_plays import ScriptedFigure, film, judge_play, only_call, stands

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import (
    ChoiceMade,
    ClockSet,
    FoulDeclared,
    KickDeclared,
    KickEnded,
    PlayEnded,
    Roll,
    SetUp,
    Switch,
)
from downfield.officiating.rulebooks.rulebook import parse_rulebook
from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import OvertimeSetUp

BOOKS = ("tap", "efl", "lions-den")


def league(book: str, *lines: str) -> DeclaredGame:
    """A game under a book with some parameters of a league."""
    return DeclaredGame(parse_rulebook("\n".join([f'base = "{book}"', *lines]), "league"))


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize(
    ("foul", "at", "expected"),
    [
        (FoulDeclared("home", 10, "holding"), (40.0, 2, 8.0), ("home", 2, 18.0, 30.0)),
        (FoulDeclared("away", 5, "offside"), (40.0, 2, 8.0), ("home", 2, 3.0, 45.0)),
        (FoulDeclared("away", 10, "clipping"), (40.0, 2, 8.0), ("home", 1, 10.0, 50.0)),
        (FoulDeclared("away", 5, "face mask", first_down=True), (40.0, 2, 8.0), ("home", 1, 10.0, 45.0)),
        (FoulDeclared("home", 10, "intentional grounding", loss_of_down=True), (40.0, 2, 8.0), ("home", 3, 18.0, 30.0)),
        (FoulDeclared("home", 15, "tripping"), (12.0, 1, 10.0), ("home", 1, 16.0, 6.0)),
    ],
)
def test_a_foul_of_the_league_is_walked_off_from_where_the_ball_lies(
    book: str, foul: FoulDeclared, at: tuple[float, int, float], expected: tuple[Any, ...]
) -> None:
    table = league(book, "[fouls]", "longest_yd = 15").at(*at)
    (called, *_) = table.declare(foul)
    state = table.state
    assert (state.offense, state.down, pytest.approx(state.distance_yd), pytest.approx(state.los_yd)) == expected
    assert called.text.startswith(f"{foul.name}, ")
    assert ("half the distance" in called.text) == (foul.name == "tripping")


@pytest.mark.parametrize("book", BOOKS)
def test_a_foul_after_a_play_moves_the_next_line_and_takes_nothing_back(book: str) -> None:
    table = league(
        book, "[fouls]", "longest_yd = 15", *(["[penalty]", "rolled = false"] if book == "lions-den" else [])
    )
    table.at(40.0).declare(PlayEnded("stopped", (44.0, 20.0)), FoulDeclared("home", 5, "taunting"))
    assert (table.state.down, table.state.los_yd) == (2, 39.0)
    assert [kind for kind in kinds(list(table.game.calls)) if kind != "info"] == ["stopped", "penalty"]


@pytest.mark.parametrize("book", BOOKS)
def test_other_fouls_are_refused_with_what_a_league_sets(book: str) -> None:
    with pytest.raises(RefusedError, match=r"a league that plays others sets fouls\.longest_yd"):
        DeclaredGame(book).at(40.0).declare(FoulDeclared("home", 5))
    table = league(book, "[fouls]", "longest_yd = 15").at(40.0)
    with pytest.raises(RefusedError, match="say its yards, from 1 to 15"):
        table.declare(FoulDeclared("home", 20))
    with pytest.raises(RefusedError, match="leave the rest out"):
        table.declare(FoulDeclared("home", 5, offsetting=True))


@pytest.mark.parametrize(("end", "points"), [("good", (3, 0)), ("no_good", (0, 0)), ("blocked", (0, 0))])
def test_a_league_kicks_its_field_goals_and_extra_points(end: Any, points: tuple[int, int]) -> None:
    table = league("tap", "[field_goal]", "kicked = true").at(80.0, 4)
    table.declare(KickDeclared("field_goal"), KickEnded(end))
    assert table.state.score == points
    assert (table.state.due, table.state.offense) == ("kickoff" if end == "good" else "scrimmage", "away")
    tried = league("tap", "[field_goal]", "kicked = true")
    tried.declare(SetUp("home", 1, due="extra_point", score=(6, 0)), KickEnded(end))
    assert (tried.state.score, tried.state.due) == ((7 if end == "good" else 6, 0), "kickoff")
    with pytest.raises(RefusedError, match=r"a league that really kicks sets field_goal\.kicked"):
        DeclaredGame("tap").at(80.0, 4).declare(KickDeclared("field_goal"), KickEnded(end))


def driven_back(t_s: float) -> tuple[float, float, float]:
    """A runner whose base's front gets to the 47.5 and is then driven back to the 43, facing ahead."""
    ahead = 41.0 + 5.0 * max(0.0, t_s - 0.5)
    return (ahead if t_s < 1.5 else max(43.0, 46.0 - 3.0 * (t_s - 1.5))), 26.0, 0.0


@pytest.mark.parametrize(("kept", "line"), [(False, 43.0), (True, 47.5)])
def test_a_league_keeps_forward_progress_of_a_carrier_who_is_driven_back(kept: bool, line: float) -> None:
    text = f'base = "tap"\n[downs]\nforward_progress = {str(kept).lower()}\n'
    men = [ScriptedFigure("dark-22", driven_back, "RB"), ScriptedFigure("light-50", stands(80), "LB")]
    shown = film(men, 3.5, on=((0.5, 99.0),))
    judged = judge_play(
        shown, "dark-22", (3.2, PlayEnded("stopped", (43.0, 26.0))), book=parse_rulebook(text, "league")
    )
    stopped = only_call(judged, "stopped")
    assert stopped.spot_yd == pytest.approx((line, 26.0), abs=0.1)  # what the call says is where the ball lies
    assert ("forward progress to" in stopped.text) == kept
    assert judged.state.los_yd == pytest.approx(line, abs=0.1)


def tied(book: str) -> DeclaredGame:
    """A game of a league with series in overtime, tied as its last period ends; home had kicked off."""
    lines = ["[overtime]", "series_from_yd = 25", *(["[penalty]", "rolled = false"] if book == "lions-den" else [])]
    table = league(book, *lines)
    if book == "lions-den":
        table.declare(*(Roll((4, 5), skill, side) for skill in ("kicker", "punter") for side in SIDES))
    last = {"tap": 1, "efl": 4, "lions-den": 2}[book]
    table.declare(SetUp("home", 1, 40.0, period=last, score=(7, 7), clock_s=60.0, opening_kicker="home"))
    table.declare(ClockSet(False, 0.0))
    return table


def scored(table: DeclaredGame) -> None:
    """The side with the ball scores a touchdown and misses its try."""
    table.declare(PlayEnded("touchdown"))
    if table.game.rulebook.system.name == "tap":
        table.declare(ChoiceMade("extra_point"))
    table.declare(Roll((10, 10)) if table.game.rulebook.system.name == "lions-den" else Roll((1, 1)))


@pytest.mark.parametrize("book", BOOKS)
def test_a_league_plays_overtime_in_series_until_a_round_decides(book: str) -> None:
    table = tied(book)
    assert (table.state.offense, table.state.situation[:8]) == ("home", "1st & 10")
    assert (table.state.los_yd, table.state.clock.left_s) == (75.0, None)
    scored(table)
    assert (table.state.offense, table.state.los_yd, table.state.score) == ("away", 25.0, (13, 7))
    scored(table)
    assert (table.state.offense, table.state.los_yd, table.state.score) == ("away", 25.0, (13, 13))  # first now
    table.declare(PlayEnded("stopped", (40.0, 20.0), by="home"))  # intercepted: that series is over
    assert (table.state.offense, table.state.los_yd, table.state.phase) == ("home", 75.0, Phase.BETWEEN_PLAYS)
    table.declare(PlayEnded("touchdown"))  # no try decides anything any more
    assert (table.state.phase, table.state.score, table.state.winner) == (Phase.OVER, (19, 13), "home")


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize(("end", "score"), [("touchdown", (7, 13)), ("safety", (7, 9))])
def test_a_series_ends_the_game_that_the_defense_leads_after_it(book: str, end: Any, score: tuple[int, int]) -> None:
    table = tied(book)
    table.declare(PlayEnded(end, by="away" if end == "touchdown" else "home"))
    assert (table.state.phase, table.state.score, table.state.winner) == (Phase.OVER, score, "away")


@pytest.mark.parametrize("book", BOOKS)
def test_a_lost_or_kicked_ball_ends_a_series_and_a_foul_in_it_is_walked_off(book: str) -> None:
    table = tied(book)
    table.declare(KickDeclared("field_goal"), Roll({"tap": (1, 1), "efl": (6, 6), "lions-den": (0, 1)}[book]))
    assert (table.state.score, table.state.offense, table.state.los_yd) == ((10, 7), "away", 25.0)
    for _ in range(4):
        table.declare(PlayEnded("incomplete"))
    assert (table.state.phase, table.state.winner) == (Phase.OVER, "home")


@pytest.mark.parametrize("book", BOOKS)
def test_an_overtime_in_series_can_be_set_up(book: str) -> None:
    period = {"tap": 2, "efl": 5, "lions-den": 3}[book]
    table = tied(book)
    standing = SetUp("away", -1, 25.0, period=period, score=(14, 7), overtime=OvertimeSetUp("home", 1, (0.0,)))
    table.declare(standing, PlayEnded("stopped", (60.0, 20.0), by="home"))
    assert (table.state.phase, table.state.winner) == (Phase.OVER, "home")
    table = tied(book)
    with pytest.raises(RefusedError, match="the next series of this overtime is Home's"):
        table.declare(SetUp("away", -1, 25.0, period=period, score=(7, 7), overtime=OvertimeSetUp("home")))
    with pytest.raises(RefusedError, match="tied as a round begins"):
        table.declare(SetUp("home", 1, 75.0, period=period, score=(14, 7), overtime=OvertimeSetUp("home")))


KICKED = ("[kickoff]", "kicked = true", "[punt]", "kicked = true")


def punting() -> DeclaredGame:
    """A league that kicks, home's punt from its own 30 declared."""
    table = league("tap", *KICKED).at(30.0, 4)
    table.declare(KickDeclared("punt"))
    return table


@pytest.mark.parametrize("switched", [False, True])
def test_a_kicked_kickoff_is_returned_from_where_it_is_touched(switched: bool) -> None:
    table = league("tap", *KICKED)
    table.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"))
    if switched:
        table.declare(Switch(True), Switch(False))
    table.declare(KickEnded("touched", 8.0, 20.0, by="home"))
    assert (table.state.phase, table.state.play.ball_side, table.state.play.switch) == (Phase.STOPPED, "home", "away")
    table.declare(Switch(True), PlayEnded("tackle", (31.5, 20.0)))
    assert (table.state.offense, table.state.down, table.state.los_yd) == ("home", 1, 31.5)


def test_a_kicked_kickoff_into_the_end_zone_out_of_bounds_and_recovered() -> None:
    for choice, line in (("touchback", 20.0), ("return", 12.0)):
        table = league("tap", *KICKED)
        table.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), KickEnded("touched", -3.0, by="home"))
        table.declare(ChoiceMade(choice))  # type: ignore[arg-type]
        if choice == "return":
            table.declare(PlayEnded("stopped", (12.0, 20.0)))
        assert (table.state.offense, table.state.due, table.state.los_yd) == ("home", "scrimmage", line)
    out = league("tap", *KICKED)
    out.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), KickEnded("out_of_bounds", 40.0))
    assert (out.state.offense, out.state.los_yd) == ("home", 35.0)
    taken = league("tap", *KICKED)
    taken.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"), KickEnded("touched", 58.0, by="away"))
    assert (taken.state.offense, taken.state.los_yd, taken.state.due) == ("away", 58.0, "scrimmage")


@pytest.mark.parametrize(("by", "offense"), [("away", "away"), ("home", "home")])
def test_a_kicked_onside_kick_rolls_no_dice_and_is_whose_it_is_touched_by(by: Any, offense: str) -> None:
    table = league("tap", *KICKED)
    table.declare(SetUp("home", 1, due="kickoff", score=(7, 0)), KickDeclared("onside"))
    assert table.state.wait is None
    table.declare(KickEnded("touched", 58.0, by=by))
    assert (table.state.offense, table.state.los_yd) == (offense, 58.0)
    out = league("tap", *KICKED)
    out.declare(SetUp("home", 1, due="kickoff", score=(7, 0)), KickDeclared("onside"), KickEnded("out_of_bounds", 61.0))
    assert (out.state.offense, out.state.los_yd) == ("home", 61.0)


@pytest.mark.parametrize(
    ("end", "offense", "line"),
    [
        (KickEnded("out_of_bounds", 71.0, 0.0), "away", 71.0),
        (KickEnded("out_of_bounds", 104.0, 0.0), "away", 80.0),
        (KickEnded("touched", 66.0, by="home"), "away", 66.0),
        (KickEnded("blocked"), "away", 30.0),
        (KickEnded("blocked", 22.0), "away", 22.0),
    ],
)
def test_a_kicked_punt_is_dead_where_nobody_returns_it(end: KickEnded, offense: str, line: float) -> None:
    table = punting()
    table.declare(end)
    assert (table.state.offense, table.state.due, table.state.los_yd) == (offense, "scrimmage", line)


def test_a_kicked_punt_is_returned_and_one_blocked_out_of_the_end_zone_is_a_safety() -> None:
    table = punting()
    table.declare(KickEnded("touched", 72.0, by="away"), PlayEnded("stopped", (64.0, 20.0)))
    assert (table.state.offense, table.state.los_yd) == ("away", 64.0)
    blocked = punting()
    blocked.declare(KickEnded("blocked", -2.0))
    assert (blocked.state.score, blocked.state.due, blocked.state.kicking) == ((0, 2), "free_kick", "home")


def test_kicks_that_are_not_kicked_here_are_refused_with_what_a_league_sets() -> None:
    table = DeclaredGame("tap").at(30.0, 4)
    table.declare(KickDeclared("punt"))
    with pytest.raises(RefusedError, match=r"comes down on the field and is touched there$"):
        table.declare(KickEnded("out_of_bounds", 70.0))
    kickoff = DeclaredGame("tap")
    kickoff.declare(SetUp("home", 1, due="kickoff"), KickDeclared("kickoff"))
    with pytest.raises(RefusedError, match="kick ended: not now"):
        kickoff.declare(KickEnded("touched", 8.0, by="home"))
    kicked = league("tap", *KICKED).at(30.0, 4)
    kicked.declare(KickDeclared("punt"), Switch(True), Switch(False))
    with pytest.raises(RefusedError, match="declare where it came down"):
        kicked.declare(ChoiceMade("punt"))
    with pytest.raises(RefusedError, match="or out of bounds, or blocked"):
        kicked.declare(KickEnded("good"))


@pytest.mark.parametrize("book", BOOKS)
def test_a_foul_before_a_kickoff_moves_the_kick(book: str) -> None:
    table = league(book, "[fouls]", "longest_yd = 15")
    if book == "lions-den":
        table.declare(*(Roll((4, 5), skill, side) for skill in ("kicker", "punter") for side in SIDES))
    table.declare(SetUp("home", 1, due="kickoff"))
    line = table.state.los_yd
    table.declare(FoulDeclared("away", 15), KickDeclared("kickoff"))
    assert table.state.los_yd == line + 15.0
    if book == "efl":
        table.declare(Roll((2, 1)))  # 51 yards from the kickers' own 20
        assert table.state.los_yd == 29.0


def test_a_foul_before_an_onside_kick_moves_it_and_a_kick_declared_again_counts_from_the_book_s_line() -> None:
    table = league("tap", "[fouls]", "longest_yd = 15")
    table.declare(SetUp("home", 1, due="kickoff", score=(7, 0)), FoulDeclared("away", 10), KickDeclared("onside"))
    table.declare(Roll((4, 4)))  # fails: the receivers' ball 8 yards from the kickers' own 20
    assert (table.state.offense, table.state.los_yd) == ("home", 72.0)
    again = DeclaredGame("tap")
    again.declare(SetUp("home", 1, due="kickoff", score=(7, 0)), KickDeclared("onside"), Roll((5, 5)))
    again.declare(KickDeclared("onside"), Roll((4, 4)))
    assert again.state.los_yd == 62.0
