"""Possession of a down as a chain: who gained the ball where, and what series, touchback or safety follows."""

from __future__ import annotations

import pytest
from declared_game import DeclaredGame, kinds
from drawn_spots import first_downs, safeties
from read_kicks import kick_differences
from scripted_plays import FIELD, MIDDLE_YD, ScriptedFigure, film, number_events, stands
from second_reader import TELLERS, Teller, card_differences, differences

from downfield.core.scene import Player
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Coin,
    KickDeclared,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    PlayEnded,
    Roll,
    SetUp,
    Side,
    Switch,
)
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.scenes import KeyFrame, along
from downfield.officiating.sides import SIDES
from downfield.officiating.state.play_state import PlayState

TEAMS = (
    Player("dark-10", "dark", role="QB"),
    Player("dark-80", "dark", role="WR"),
    Player("light-21", "light", role="DB"),
)


@pytest.mark.parametrize("teller", TELLERS)
@pytest.mark.parametrize(("links", "every"), [(0, 1), (1, 3), (2, 61)])
@pytest.mark.parametrize("book", ["tap", "lions-den", "efl"])
def test_engine_and_second_reader_say_the_same_of_chains(book: str, links: int, every: int, teller: Teller) -> None:
    assert differences(book, links, teller, every) == []


def test_engine_and_second_reader_say_the_same_of_every_kick() -> None:
    assert kick_differences() == []


def test_engine_and_second_reader_say_the_same_of_every_card_play() -> None:
    assert card_differences() == []


@pytest.mark.parametrize("book", ["tap", "efl"])
def test_of_what_is_called_of_drawn_spots_at_most_one_in_twenty_is_wrong(book: str) -> None:
    for tally in (first_downs(book, 5), safeties(book, 5)):
        assert tally.called > 50
        assert tally.too_close > 50
        assert tally.wrong_share <= 0.05


def test_a_hold_says_who_gained_the_ball_and_who_lost_it_where_and_when() -> None:
    play = PlayState().gained("home", "dark-1", "snap", 1_000)
    play = play.gained("away", "light-1", "interception", 2_000, (60.0, 20.0), sigma_s=0.01, spot_sigma_yd=(0.2, 0.2))
    play = play.lost(3_000, (50.0, 20.0))
    assert [(hold.side, hold.how, hold.t_ns, hold.lost_ns) for hold in play.holds] == [
        ("home", "snap", 1_000, 2_000),
        ("away", "interception", 2_000, 3_000),
    ]
    assert (play.carrier, play.ball_side, play.holds[1].lost_yd) == (None, "away", (50.0, 20.0))
    again = play.gained("home", "dark-2", "recovery", 4_000, (48.0, 20.0))
    assert again.changed_sides("home")
    assert again.holds_since_gained == (again.hold,)
    pitched = again.gained("home", "dark-3", "pitch", 5_000)
    assert pitched.holds_since_gained == (pitched.holds[3], pitched.holds[2])


def thrown(book: str, **set_up: object) -> DeclaredGame:
    """A game with a pass on its way."""
    game = DeclaredGame(book)
    game.declare(LineUpDeclared(TEAMS, "dark"), SetUp("home", 1, **set_up))  # type: ignore[arg-type]
    game.declare(Carrier("dark-10"), Switch(True), Switch(False), PassDeclared("dark-80"))
    return game


@pytest.mark.parametrize("book", ["tap", "efl"])
def test_an_interception_on_a_try_ends_it(book: str) -> None:
    game = thrown(book, due="two_point", score=(6, 0))
    calls = game.declare(PassEnded("intercepted", "light-21", (99.0, 20.0)))
    assert kinds(calls) == ["interception", "two_point"]
    assert (game.state.score, game.state.due) == ((6, 0), "kickoff")


@pytest.mark.parametrize("book", ["tap", "efl"])
def test_an_interception_fumbled_back_is_a_new_series(book: str) -> None:
    game = thrown(book, spot_yd=40.0, down=3, distance_yd=8.0)
    game.declare(PassEnded("intercepted", "light-21", (60.0, 20.0)), Switch(True))
    game.declare(PlayEnded("tackle", (55.0, 20.0), by="home"))
    assert (game.state.offense, game.state.down, game.state.los_yd) == ("home", 1, 55.0)
    assert game.state.distance_yd == pytest.approx(10.0)


def test_the_coin_is_asked_of_the_side_that_fumbled() -> None:
    game = DeclaredGame("tap").at(40.0)
    game.declare(PlayEnded("fumble", (45.0, 20.0), by="away"))
    assert game.state.wait is not None
    assert game.state.wait.by == "away"
    game.declare(Coin(True))
    assert (game.state.offense, game.state.down) == ("away", 1)


def returned(*frames: KeyFrame, meets_yd: float) -> tuple[int, int]:
    """The score after a TAP kickoff that home returns along key frames until a defender meets it, by the camera."""
    men = [
        ScriptedFigure("dark-22", along(*frames), "RB"),
        ScriptedFigure("light-50", stands(meets_yd, MIDDLE_YD, 0.0), "LB"),
    ]
    play = film(men, 8.0, on=((0.5, 3.5), (4.0, 99.0)))
    events = number_events(
        (0.0, SetUp("home", 1, due="kickoff")),
        (0.1, LineUpDeclared(play.players, "dark")),
        (0.2, KickDeclared("kickoff", returner="dark-22")),
        (3.7, ChoiceMade("return")),
    )
    made = judge_recording(play.scenes, events, load_rulebook("tap"), FIELD)
    assert made.refused == ()
    assert [call.kind for call in made.calls if call.kind in {"tackle", "safety", "touchback"}][:1] == ["tackle"]
    return made.state.score


def test_a_returner_who_came_out_and_is_tackled_behind_his_line_gives_up_a_safety() -> None:
    back = (KeyFrame(5.0, 6.0, MIDDLE_YD, 0.0), KeyFrame(6.5, -8.0, MIDDLE_YD, 180.0))
    assert returned(KeyFrame(4.0, -5.0, MIDDLE_YD, 0.0), *back, meets_yd=-9.5) == (0, 2)


def test_a_returner_who_never_came_out_has_a_touchback() -> None:
    stays = (KeyFrame(5.0, -3.0, MIDDLE_YD, 0.0), KeyFrame(6.5, -8.0, MIDDLE_YD, 180.0))
    assert returned(KeyFrame(4.0, -5.0, MIDDLE_YD, 0.0), *stays, meets_yd=-9.5) == (0, 0)


def rated() -> DeclaredGame:
    """A game of Lion's Den with its players rated."""
    game = DeclaredGame("lions-den")
    for name in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
        game.declare(*(Roll((4, 5), name, side) for side in SIDES))
    return game


@pytest.mark.parametrize(("side_die", "due"), [(9, "touchback"), (5, "returned")])
def test_a_punt_out_of_bounds_in_the_end_zone_is_not_returned(side_die: int, due: str) -> None:
    game = rated().at(75.0)
    calls = game.declare(KickDeclared("punt"), Roll((1, 1)), Roll((1, 5, 5, side_die)))
    assert any(call.kind == "touchback" for call in calls) == (due == "touchback")
    assert (game.state.play.hold is not None) == (due == "returned")


def test_a_penalty_that_gives_the_ball_back_gives_back_possession_too() -> None:
    """LD-062: after a turnover on downs the defense's foul replays the down."""
    game = rated().at(40.0, 4, 8.0)
    game.declare(PlayEnded("tackle", (41.0, 20.0)))
    assert game.state.offense == "away"
    game.declare(Roll((0, 8, 2)), ChoiceMade("accept"))
    assert (game.state.offense, game.state.play.ball_side, game.state.down) == ("home", "home", 4)
    assert "H ball, 4th & 3" in game.state.text


def test_turns_back_are_counted_for_each_mans_run() -> None:
    play = PlayState().gained("home", "dark-1", "snap", 1).with_hold(turns=1)
    after = play.gained("away", "light-1", "recovery", 2)
    assert after.hold is not None
    assert (after.hold.turns, after.holds[0].turns) == (0, 1)


@pytest.mark.parametrize(("fumbled_by", "keeps"), [("home", True), ("away", False)])
def test_whose_fumble_it_was_is_in_the_chain(fumbled_by: Side, keeps: bool) -> None:
    game = rated().at(40.0, 2, 8.0)
    game.declare(PlayEnded("fumble", (45.0, 20.0), by=fumbled_by), PlayEnded("recovered", (44.0, 20.0), by="home"))
    game.declare(PlayEnded("tackle", (44.0, 20.0)))
    assert game.state.down == (3 if keeps else 1)
