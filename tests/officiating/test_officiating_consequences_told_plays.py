"""Whole plays told by declarations alone, without a line-up and without a scene."""

from __future__ import annotations

from typing import Any

import pytest
from declared_game import DeclaredGame, kinds

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    Coin,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    SetUp,
    Side,
    Switch,
)
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardPlayed

MIDDLE = 26.0
ON, OFF = Switch(True), Switch(False)
BOOKS = ["tap", "efl", "lions-den"]
SIDES: tuple[Side, Side] = ("home", "away")


def table(book: str, spot_yd: float | None = 40.0, **given: Any) -> DeclaredGame:
    game = DeclaredGame(book)
    if book == "lions-den":
        players = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
        game.declare(*(Roll((4, 5), player, side) for player in players for side in SIDES))
    game.declare(SetUp(**{"offense": "home", "direction": 1, "spot_yd": spot_yd, **given}))
    return game


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("kind", ["tackle", "sack", "down_by_fall", "out_of_bounds", "stopped"])
def test_a_dead_ball_is_spotted_where_it_is_told(book: str, kind: Any) -> None:
    if (book, kind) == ("lions-den", "down_by_fall"):
        pytest.skip("falls end no play there")
    game = table(book)
    calls = game.declare(PlayEnded(kind, (44.0, MIDDLE)))
    assert kinds(calls)[0] == kind
    assert (game.state.down, game.state.los_yd, game.state.distance_yd) == (2, 44.0, 6.0)


@pytest.mark.parametrize("book", BOOKS)
def test_a_pass_nobody_catches_costs_the_down(book: str) -> None:
    game = table(book)
    game.declare(PlayEnded("incomplete"))
    assert (game.state.down, game.state.los_yd) == (2, 40.0)


@pytest.mark.parametrize("book", BOOKS)
def test_a_turnover_is_told_by_who_has_the_ball(book: str) -> None:
    game = table(book)
    game.declare(PlayEnded("tackle", (55.0, MIDDLE), by="away"))
    assert (game.state.offense, game.state.down, game.state.los_yd, game.state.direction) == ("away", 1, 55.0, -1)


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("by", SIDES)
def test_points_go_to_whom_they_are_told(book: str, by: Side) -> None:
    game = table(book)
    game.declare(PlayEnded("touchdown", by=by))
    assert (game.state.points(by), game.state.try_for) == (6, by)


@pytest.mark.parametrize("book", BOOKS)
def test_a_safety_is_against_the_side_with_the_ball(book: str) -> None:
    game = table(book, 4.0)
    game.declare(PlayEnded("safety"))
    assert (game.state.score, game.state.due, game.state.kicking) == ((0, 2), "free_kick", "home")
    spotted = table(book, 4.0)
    spotted.declare(PlayEnded("tackle", (-2.0, MIDDLE)))
    assert spotted.state.score == (0, 2)


def test_every_stop_of_a_play_can_be_told_as_it_happens() -> None:
    game = table("tap")
    game.declare(ON, OFF, PassDeclared(), ON, PassEnded("complete", spot_yd=(52.0, MIDDLE)))
    assert game.state.play.pass_caught
    game.declare(OFF, ON, PlayEnded("tackle", (58.0, MIDDLE)))
    assert (game.state.down, game.state.los_yd) == (1, 58.0)


def test_a_pass_ends_without_the_board_coming_on() -> None:
    game = table("tap")
    game.declare(ON, OFF, PassDeclared(), PassEnded("intercepted", spot_yd=(52.0, MIDDLE)))
    assert (game.state.phase, game.state.play.ball_side) == (Phase.STOPPED, "away")
    game.declare(PlayEnded("tackle", (49.0, MIDDLE)))
    assert (game.state.offense, game.state.los_yd) == ("away", 49.0)


@pytest.mark.parametrize("heads", [True, False])
def test_a_fumble_told_waits_for_its_coin(heads: bool) -> None:
    game = table("tap")
    game.declare(PlayEnded("fumble", (45.0, MIDDLE)))
    assert game.state.wait is not None
    game.declare(Coin(heads))
    if not heads:
        game.declare(PlayEnded("tackle", (38.0, MIDDLE)))
    assert (game.state.offense, game.state.los_yd) == (("home", 45.0) if heads else ("away", 38.0))


@pytest.mark.parametrize("by", SIDES)
def test_a_loose_ball_is_recovered_by_whom_it_is_told(by: Side) -> None:
    game = table("lions-den")
    game.declare(ON, PlayEnded("fumble", (45.0, MIDDLE)), OFF)
    with pytest.raises(RefusedError, match="say where"):
        game.declare(PlayEnded("recovered", by=by))
    game.declare(PlayEnded("recovered", (46.0, MIDDLE), by=by), PlayEnded("tackle", (47.0, MIDDLE)))
    assert (game.state.offense, game.state.los_yd) == (by, 47.0)


def test_a_punt_is_told_by_where_it_comes_down() -> None:
    game = table("tap")
    game.declare(LineUpDeclared((Player("dark-80", "dark", role="WR"),), "dark"))
    game.declare(KickDeclared("punt", ("dark-80",)), ON, OFF, KickEnded("touched", 72.0))
    assert (game.state.play.ball_side, game.state.phase) == ("away", Phase.STOPPED)
    game.declare(ON, PlayEnded("out_of_bounds", (66.0, 0.0)))
    assert (game.state.offense, game.state.los_yd) == ("away", 66.0)


@pytest.mark.parametrize("by", SIDES)
def test_an_onside_kick_is_recovered_by_whom_it_is_told(by: Side) -> None:
    game = table("tap", None, offense="away", due="kickoff", score=(0, 7))
    game.declare(KickDeclared("onside"), Roll((5, 6)), Roll((3, 3)), KickEnded("touched", by=by))
    assert (game.state.offense, game.state.down, game.state.phase) == (by, 1, Phase.BETWEEN_PLAYS)


@pytest.mark.parametrize(("book", "dice"), [("efl", (3, 4)), ("lions-den", (4, 5, 6, 2))])
def test_a_kickoff_can_be_kicked_again(book: str, dice: tuple[int, ...]) -> None:
    game = table(book, None, due="kickoff")
    game.declare(KickDeclared("kickoff"), KickDeclared("kickoff"), Roll(dice))
    assert game.state.play.ball_side == "home"


def test_a_kickoff_that_has_run_can_be_kicked_again() -> None:
    game = table("tap", None, due="kickoff")
    game.declare(KickDeclared("kickoff"), ON, OFF, KickDeclared("kickoff"))
    assert (game.state.phase, game.state.wait) == (Phase.LINE_UP, None)
    game.declare(ON, OFF, ChoiceMade("return"))
    with pytest.raises(RefusedError, match="not now"):
        game.declare(KickDeclared("kickoff"))
    game.declare(PlayEnded("tackle", (22.0, MIDDLE)))
    assert (game.state.offense, game.state.los_yd) == ("home", 22.0)


def test_a_time_out_may_answer_a_question() -> None:
    game = DeclaredGame("nfl-strategy")
    game.declare(SetUp("home", 1, due="try", score=(6, 0)), Claim("time_out", "away"))
    assert (game.state.phase, game.state.time_outs) == (Phase.PENDING_CHOICE, (3, 2))
    game.declare(ChoiceMade("extra_point"), CardPlayed("extra_point", "good", 50))
    assert game.state.score == (7, 0)


def test_the_lions_den_pass_is_measured_by_a_person() -> None:
    game = table("lions-den")
    with pytest.raises(RefusedError, match="enter it"):
        game.declare(ON, PassDeclared())
    call = game.declare(PassDeclared(distance_yd=24.0, near=("light-50",)))[0]
    assert "may intercept: light-50" in call.text
    game.declare(Roll((12,)), Roll((3,)))
    assert game.state.play.pass_caught


def test_the_efl_throws_at_most_once_at_a_time() -> None:
    game = table("efl")
    game.declare(ON, PassDeclared())
    with pytest.raises(RefusedError, match="in the air"):
        game.declare(PassDeclared())
    game.declare(PassEnded("incomplete"), PassDeclared(), PassEnded("complete", spot_yd=(50.0, MIDDLE)))
    game.declare(PlayEnded("tackle", (55.0, MIDDLE)))
    assert (game.state.down, game.state.los_yd) == (1, 55.0)


def test_the_next_play_is_snapped_though_the_board_was_never_declared_off() -> None:
    game = table("tap")
    game.declare(ON, PlayEnded("tackle", (44.0, MIDDLE)), SetUp("home", 1, 44.0), ON)
    assert game.state.phase is Phase.LIVE
    with pytest.raises(RefusedError, match="on already"):
        game.declare(ON)


def test_only_its_owner_starts_the_board() -> None:
    game = table("tap")
    with pytest.raises(RefusedError, match="TAP-085"):
        game.declare(Switch(True, "away"))
    game.declare(Switch(True, "home"))
    assert game.state.phase is Phase.LIVE


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (PlayEnded("tackle"), "say where"),
        (PlayEnded("tackle", (200.0, MIDDLE)), "not on the field"),
        (PlayEnded("tackle", (103.0, MIDDLE)), "declare a touchdown"),
        (PlayEnded("touchdown", (103.0, MIDDLE)), "leave it out"),
        (PlayEnded("touchback"), "change of possession"),
        (PlayEnded("incomplete", by="away"), "only the offense"),
        (PlayEnded("recovered", (50.0, MIDDLE)), "no fumble lies|has no recovered"),
        (PlayEnded("tackle", (50.0, MIDDLE), "dark-9"), "no figure"),
    ],
)
def test_what_no_play_can_end_in_is_refused(book: str, told: PlayEnded, reason: str) -> None:
    game = table(book)
    before = game.state
    with pytest.raises(RefusedError, match=reason):
        game.declare(told)
    assert game.state == before


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("by", SIDES)
@pytest.mark.parametrize("kick", ["kickoff", "free_kick"])
def test_a_kick_is_told_by_where_its_return_ended(book: str, by: Side, kick: Any) -> None:
    """By away where the kickers have recovered it."""
    game = table(book, None, due=kick, score=(2, 2))
    game.declare(PlayEnded("tackle", (30.0, MIDDLE), by=by))
    assert (game.state.offense, game.state.down, game.state.los_yd, game.state.due) == (by, 1, 30.0, "scrimmage")
    assert game.state.opening_kicker == ("away" if kick == "kickoff" else None)
    scored = table(book, None, due=kick, score=(2, 2))
    scored.declare(PlayEnded("touchdown", by=by))
    assert scored.state.points(by) == 8


def test_a_try_is_good_or_fails() -> None:
    for end, points in ((PlayEnded("touchdown"), 8), (PlayEnded("tackle", (97.0, MIDDLE)), 6)):
        game = table("tap", None, due="two_point", score=(6, 0))
        with pytest.raises(RefusedError, match="good or fails"):
            game.declare(PlayEnded("safety"))
        game.declare(end)
        assert game.state.score == (points, 0)


def test_a_named_player_plays_for_the_side_with_the_ball() -> None:
    game = table("tap")
    players = (Player("dark-7", "dark", role="QB"), Player("light-50", "light", role="LB"))
    game.declare(LineUpDeclared(players, "dark"), Carrier("dark-7"))
    with pytest.raises(RefusedError, match="does not play for"):
        game.declare(PlayEnded("tackle", (50.0, MIDDLE), "light-50"))
    game.declare(PlayEnded("tackle", (50.0, MIDDLE), "light-50", "away"))
    assert game.state.offense == "away"
