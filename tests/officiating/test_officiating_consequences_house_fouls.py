"""Fouls with yards that a league plays beside its book's, kicks at the posts that are kicked, forward progress."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame, kinds
from scripted_plays import ScriptedFigure, film, judge_play, only_call, stands

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import ClockSet, FoulDeclared, KickDeclared, KickEnded, PlayEnded, Roll, SetUp
from downfield.officiating.rulebooks.rulebook import parse_rulebook
from downfield.officiating.sides import SIDES
from downfield.officiating.state.game_state import Phase

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
    assert only_call(judged, "stopped").spot_yd == (43.0, 26.0)
    assert judged.state.los_yd == pytest.approx(line, abs=0.1)


def tied(book: str) -> DeclaredGame:
    """A game of a league with series in overtime, tied as its last period ends; home had kicked off."""
    lines = ["[overtime]", "series_from_yd = 25", *(["[penalty]", "rolled = false"] if book == "lions-den" else [])]
    table = league(book, *lines)
    if book == "lions-den":
        table.declare(*(Roll((4, 5), skill, side) for skill in ("kicker", "punter") for side in SIDES))
    table.declare(
        SetUp(
            "home", 1, 40.0, period=2 if book == "lions-den" else 4, score=(7, 7), clock_s=60.0, opening_kicker="home"
        )
    )
    table.declare(ClockSet(False, 0.0))
    return table


def scored(table: DeclaredGame) -> None:
    """The side with the ball scores a touchdown and misses its try."""
    table.declare(PlayEnded("touchdown"))
    missed = Roll((1, 1)) if table.game.rulebook.system.name == "efl" else Roll((10, 10))
    table.declare(missed)


@pytest.mark.parametrize("book", ["efl", "lions-den"])
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
    scored(table)
    assert (table.state.phase, table.state.score, table.state.winner) == (Phase.OVER, (19, 13), "home")
