"""What holds for one book, figure or instant holds for the others too: places, passers, returns, overtime, kickoffs."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from declared_game import DeclaredGame, kinds
from scripted_plays import FIELD, ScriptedFigure, film, judge_play, runs, stands

from downfield.core.errors import RefusedError
from downfield.core.field.model import load_field
from downfield.core.footprint import BaseSize, signed_gap
from downfield.core.scene import Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    BallPlaced,
    Carrier,
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    Declaration,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    Pitch,
    PivotsDone,
    PlayEnded,
    Roll,
    SetUp,
    Switch,
)
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.lions_den.play import base_gap_yd
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardPlayed

MEN = (
    Player("dark-7", "dark", role="QB"),
    Player("dark-22", "dark", role="RB"),
    Player("dark-80", "dark", role="WR"),
    Player("light-21", "light", role="DB"),
)
MIDDLE = (50.0, 26.0)


def table(book: str, **more: object) -> DeclaredGame:
    game = DeclaredGame(book)
    game.declare(LineUpDeclared(MEN, "dark"))
    if book == "lions-den":
        for player in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
            game.declare(Roll((4, 5), player, "home"), Roll((4, 5), player, "away"))
    if more:
        game.declare(SetUp("home", 1, **more))  # type: ignore[arg-type]
    return game


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])
@pytest.mark.parametrize(
    "place", [(math.inf, 20.0), (math.nan, 20.0), (50.0, -1.0), (50.0, 54.0), (-10.1, 20.0), (50.0, None)]
)
def test_a_ball_is_placed_on_the_field_or_not_at_all(book: str, place: tuple[float, float | None]) -> None:
    game = table(book, spot_yd=40.0)
    with pytest.raises(RefusedError, match="ball placed"):
        game.declare(BallPlaced(*place))
    game.declare(BallPlaced(-9.0, 0.0), BallPlaced(None, None))
    assert game.state.play.ball_mm is None


@pytest.mark.parametrize("book", ["tap", "efl"])
@pytest.mark.parametrize("spot", [(math.nan, 20.0), (130.0, 20.0), (50.0, 80.0)])
def test_a_pass_is_caught_on_the_field(book: str, spot: tuple[float, float]) -> None:
    game = table(book, spot_yd=40.0)
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))
    with pytest.raises(RefusedError, match="not on the field"):
        game.declare(PassEnded("complete", "dark-80", spot))


@pytest.mark.parametrize(("book", "body"), [
    ("tap", PassDeclared("dark-7")), ("efl", PassDeclared("dark-7")), ("lions-den", PassDeclared("dark-7", 12.0)),
    ("tap", Pitch("dark-7")), ("lions-den", Pitch("dark-7")),
])  # fmt: skip
def test_nobody_passes_to_himself(book: str, body: Declaration) -> None:
    game = table(book, spot_yd=40.0)
    # Nobody's role is known, so that it is not his role that bars him.
    game.declare(LineUpDeclared(tuple(Player(man.id, man.jersey, role="QB" if "7" in man.id else "") for man in MEN)))
    game.declare(Carrier("dark-7"), Switch(True), Switch(False))
    with pytest.raises(RefusedError, match=r"own receiver|already has the ball"):
        game.declare(body)


@pytest.mark.parametrize("book", ["tap", "efl"])
def test_a_pass_told_as_caught_by_its_passer_or_by_a_fallen_figure_is_refused(book: str) -> None:
    men = [
        ScriptedFigure("dark-7", stands(34, heading=0.0), "QB"),
        ScriptedFigure("dark-80", stands(48, 40.0, 0.0), "WR", falls_s=0.8),
        ScriptedFigure("light-21", stands(60, 40.0), "DB", falls_s=0.8),
    ]
    filmed = film(men, 3.0, on=((0.5, 1.2), (2.0, 2.2)))
    told = [PassEnded("complete", "dark-80"), PassEnded("complete", "dark-7"), PassEnded("intercepted", "light-21")]
    judged = judge_play(filmed, "dark-7", (1.5, PassDeclared()), *((2.5, body) for body in told), book=book)
    assert [refused.event for refused in judged.refused] == ["e5", "e6", "e7"]
    assert "fallen" in judged.refused[0].reason
    assert "own receiver" in judged.refused[1].reason


def test_a_touched_kickoff_is_a_stoppage_whose_pivots_can_be_done() -> None:
    game = table("efl", due="kickoff")
    game.declare(KickDeclared("kickoff"), KickEnded("touched", 55.0, 20.0, by="away"))
    assert game.state.play.stoppage is not None
    game.declare(PivotsDone("away"))


@pytest.mark.parametrize(("start_x", "safe"), [(96.0, False), (102.0, True)])
def test_an_interceptor_who_carries_the_ball_behind_his_goal_line_gives_up_a_safety(start_x: float, safe: bool) -> None:
    """Where he got it there, it is a touchback."""
    game = table("tap", spot_yd=80.0)
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))
    game.declare(PassEnded("intercepted", "light-21", (start_x, 20.0)), Switch(True))
    calls = kinds(game.declare(PlayEnded("tackle", (103.0, 20.0))))
    assert ("safety" in calls, "touchback" in calls) == (not safe, safe)
    assert game.state.score == ((0, 0) if safe else (2, 0))


def test_under_lions_den_any_carrier_down_behind_his_goal_line_gives_up_a_safety() -> None:
    """LD-024 knows no touchback: a returner who got the ball in his end zone and is tackled there is one too."""
    game = table("lions-den", due="kickoff")
    game.declare(KickDeclared("kickoff"), Roll((10, 10, 10, 1)))
    assert game.state.play.hold is not None
    game.declare(PlayEnded("tackle", (-2.0, 20.0)))
    assert game.state.score == (0, 2)


def overtime() -> DeclaredGame:
    game = table("tap", spot_yd=60.0, score=(7, 7), clock_s=0.0)
    game.declare(PlayEnded("tackle", (62.0, 20.0)), ChoiceMade("offense_first", "home"))
    assert game.state.overtime is not None
    return game


def kept_fumble(game: DeclaredGame) -> None:
    game.declare(PlayEnded("fumble", (57.0, 20.0)), Coin(True))


def lost_to_interference(game: DeclaredGame) -> None:
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))
    (call,) = game.declare(Claim("offensive_pass_interference", "away"))
    game.declare(Ruling(call.id, "confirm"))


@pytest.mark.parametrize(("play", "gain"), [
    (kept_fumble, 7.0),
    (lambda game: game.declare(PlayEnded("safety")), -50.0),
    (lambda game: game.declare(PlayEnded("touchback", by="away")), 0.0),
    (lost_to_interference, -15.0),
], ids=["fumble kept", "safety", "touchback", "interference"])  # fmt: skip
def test_every_end_of_an_overtime_play_is_its_end(play: Callable[[DeclaredGame], object], gain: float) -> None:
    game = overtime()
    play(game)
    state = game.state
    assert state.overtime is not None
    assert state.overtime.gains_yd == (gain,)
    assert (state.offense, state.los_yd, state.down, state.score) == ("away", 50.0, 1, (7, 7))


@pytest.mark.parametrize("kick", ["punt", "field_goal", "kickoff"])
def test_nobody_kicks_in_overtime(kick: str) -> None:
    with pytest.raises(RefusedError, match="overtime"):
        overtime().declare(KickDeclared(kick, ("dark-80",)))  # type: ignore[arg-type]


def test_a_kickoff_keeps_the_yards_of_a_penalty_before_it() -> None:
    game = table("tap", due="kickoff")
    game.declare(KickDeclared("kickoff"))
    moved = game.state.los_yd + 5.0
    delay = Call("hand", "penalty", 0, "tap", (), "called", "delay", side="home", detail="delay_of_game")
    game.declare(Ruling("", "manual", delay))
    assert game.state.los_yd == moved
    game.declare(KickDeclared("kickoff"))
    assert game.state.los_yd == moved


def test_a_field_goal_missed_in_front_of_the_own_goal_line_leaves_the_ball_on_the_field() -> None:
    game = DeclaredGame("nfl-strategy")
    game.at(4.0)
    game.declare(CardPlayed("field_goal", "no good", roll=60))
    assert game.state.offense == "away"
    assert game.state.los_yd == 1.0


def test_yards_between_bases_are_those_of_the_field() -> None:
    field, size = load_field("ultimate"), BaseSize()
    ahead = [
        ScriptedFigure(name, stands(x, 20.0, 0.0)).figure(0.0) for name, x in (("dark-1", 20.0), ("light-1", 30.0))
    ]
    beside = [
        ScriptedFigure(name, stands(20.0, y, 0.0)).figure(0.0) for name, y in (("dark-1", 20.0), ("light-1", 30.0))
    ]
    assert base_gap_yd(ahead[0], ahead[1], field) == pytest.approx(10.0 - size.length_mm / field.mm_per_yd_x, abs=1e-3)
    assert base_gap_yd(beside[0], beside[1], field) == pytest.approx(10.0 - size.width_mm / field.mm_per_yd_y, abs=1e-3)
    near = ScriptedFigure("light-2", stands(21.0, 20.4, 33.0)).figure(0.0)
    assert signed_gap(ahead[0].footprint, near.footprint).gap_mm < 0
    assert base_gap_yd(ahead[0], near, field) == 0.0


@pytest.mark.parametrize(("beside_yd", "near"), [(4.95, True), (5.05, False)])
def test_five_yards_across_the_field_are_five_yards(beside_yd: float, near: bool) -> None:
    """A yard is 9.9 mm along this field and 10.9 mm across it."""
    across_yd = beside_yd + BaseSize().width_mm / FIELD.mm_per_yd_y
    men = [
        ScriptedFigure("dark-7", stands(34, heading=0.0), "QB"),
        ScriptedFigure("dark-80", stands(48, 20.0, 0.0), "WR"),
        ScriptedFigure("light-21", stands(48, 20.0 + across_yd), "DB"),
    ]
    rolled = [(0.0, Roll((4, 5), player, "home")) for player in ("quarterback_1", "quarterback_2", "quarterback_3")]
    judged = judge_play(
        film(men, 2.0, on=((0.5, 1.0),)), "dark-7", *rolled, (1.5, PassDeclared("dark-80")), book="lions-den"
    )
    (thrown,) = [call.text for call in judged.calls if call.detail == "pass"]
    assert ("light-21" in thrown) is near


@pytest.mark.parametrize("stopped", [True, False])
def test_nobody_is_tackled_while_his_throw_is_in_the_air_under_the_efl_either(stopped: bool) -> None:
    """The rusher meets the passer squarely, but only once the ball is gone."""
    men = [
        ScriptedFigure("dark-7", stands(34, heading=0.0), "QB"),
        ScriptedFigure("dark-80", stands(48, 40.0, 0.0), "WR"),
        ScriptedFigure("light-99", runs(42, speed=-10.0, facing=180.0, stop_s=1.3 if stopped else 1.2), "DL"),
    ]
    on = ((0.5, 0.7), (1.0, 9.0)) if stopped else ((0.5, 9.0),)
    thrown, told = (0.8 if stopped else 0.7, PassDeclared("dark-80")), (2.0, PassEnded("incomplete"))
    untold = judge_play(film(men, 2.4, on=on), "dark-7", thrown, book="efl")
    assert "tackle" not in [call.kind for call in untold.calls]
    assert untold.state.phase is Phase.IN_AIR
    judged = judge_play(film(men, 2.4, on=on), "dark-7", thrown, told, book="efl")
    assert not judged.refused
    assert judged.state.phase is not Phase.IN_AIR


@pytest.mark.parametrize("book", ["tap", "efl"])
@pytest.mark.parametrize(("x_yd", "scored"), [(104.0, True), (97.0, False)])
def test_a_pass_told_as_caught_in_the_end_zone_is_a_touchdown(book: str, x_yd: float, scored: bool) -> None:
    game = table(book, spot_yd=80.0)
    game.declare(Carrier("dark-7"), Switch(True), Switch(False), PassDeclared("dark-80"))
    calls = kinds(game.declare(PassEnded("complete", "dark-80", (x_yd, 20.0))))
    assert ("touchdown" in calls) is scored
    assert game.state.score == ((6, 0) if scored else (0, 0))


@pytest.mark.parametrize(("book", "length_s"), [("efl", 900.0), ("lions-den", 1800.0), ("nfl-strategy", 900.0)])
def test_a_clock_is_not_set_to_more_than_its_period_has(book: str, length_s: float) -> None:
    game = table(book, spot_yd=40.0) if book != "nfl-strategy" else DeclaredGame(book).at(40.0)
    game.declare(ClockSet(False, length_s))
    with pytest.raises(RefusedError, match="can't be left"):
        game.declare(ClockSet(False, length_s + 10.0))
