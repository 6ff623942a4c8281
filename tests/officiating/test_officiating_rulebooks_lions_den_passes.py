"""The Lion's Den's passes, with the board in view."""

from __future__ import annotations

import dataclasses

import pytest
from declared_game import DeclaredGame
from declared_game import kinds as kinds_of
from scripted_plays import HALF_YD, ScriptedFigure, film, stands

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Declaration,
    KickDeclared,
    LineUpDeclared,
    PassDeclared,
    Pitch,
    Roll,
    SetUp,
)
from downfield.officiating.events import Ruling
from downfield.officiating.state.game_state import Phase

RUNNER, PASSER, RECEIVER, HITTER = "dark-22", "dark-7", "dark-80", "light-50"


# Dice


def with_ratings(table: DeclaredGame) -> DeclaredGame:
    for side in ("home", "away"):
        for who in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
            table.declare(Roll((5, 5), who, side))
    return table


def game() -> DeclaredGame:
    table = DeclaredGame("lions-den")
    table.declare(LineUpDeclared((Player("dark-7", "dark", role="QB"), Player("dark-22", "dark", role="RB")), "dark"))
    return with_ratings(table)


def by_hand(kind: str, **more: object) -> Ruling:
    call = Call("by hand", kind, 0, "lions-den", (), "called", kind, **more)  # type: ignore[arg-type]
    return Ruling("", "manual", call)


# Passes, with the board in view


class Filmed(DeclaredGame):
    """A game that has seen a few frames before its declarations."""

    def __init__(self, *men: ScriptedFigure) -> None:
        super().__init__("lions-den")
        with_ratings(self)
        self.game_film = film(men, 0.2, on=((0.0, 9.0),))
        self.declare(SetUp("home", 1, 40.0), LineUpDeclared(self.game_film.players, "dark"), Carrier(PASSER))
        after = 30_000_000_000
        for scene in self.game_film.scenes:
            self.game.apply(dataclasses.replace(scene, t_ns=scene.t_ns + after, frame=scene.frame))
        self._count = iter(range(31, 200))  # type: ignore[assignment]


def passing(receiver_yd: float, *others: ScriptedFigure, heading: float = 0.0) -> Filmed:
    return Filmed(
        ScriptedFigure(PASSER, stands(35, heading=0.0), "QB"),
        ScriptedFigure(RECEIVER, stands(receiver_yd, heading=heading), "WR"),
        *others,
    )


@pytest.mark.parametrize(("dice", "kind"), [((5, 0), "reception"), ((5, 1), "incomplete")])
def test_a_short_pass_is_caught_at_the_rating_or_less(dice: tuple[int, int], kind: str) -> None:
    table = passing(45)
    assert table.state.phase is Phase.LIVE
    told = table.declare(PassDeclared(RECEIVER))
    assert told[0].numbers is not None
    assert told[0].numbers.pass_yd == pytest.approx(10 - 2 * HALF_YD, abs=0.01)
    assert (told[0].margin, told[0].words) == (None, "")  # a length is no limit
    assert kinds_of(table.declare(Roll(dice)))[0] == kind


def test_a_long_pass_loses_one_percent_per_yard_past_twenty() -> None:
    table = passing(35 + 2 * HALF_YD + 25.5)
    table.declare(PassDeclared(RECEIVER))
    assert kinds_of(table.declare(Roll((4, 6))))[0] == "incomplete"
    table = passing(35 + 2 * HALF_YD + 25.5)
    table.declare(PassDeclared(RECEIVER))
    assert kinds_of(table.declare(Roll((4, 5))))[0] == "reception"


def test_a_defender_within_five_yards_intercepts_on_ten_and_one_that_touches_on_seven() -> None:
    near = ScriptedFigure(HITTER, stands(45 + 2 * HALF_YD + 1), "DB")
    table = passing(45, near)
    table.declare(PassDeclared(RECEIVER))
    assert table.declare(Roll((0, 1))) == []
    assert table.state.wait is not None
    assert table.state.wait.purpose == "interception"
    calls = table.declare(Roll((10,)))
    assert kinds_of(calls) == ["interception"]
    assert (table.state.play.carrier, table.state.play.ball_side) == (HITTER, "away")
    table = passing(45, near)
    table.declare(PassDeclared(RECEIVER), Roll((0, 1)))
    assert kinds_of(table.declare(Roll((9,)))) == ["reception"]
    touching = ScriptedFigure(HITTER, stands(45 + 2 * HALF_YD - 0.01), "DB")
    table = passing(45, touching)
    table.declare(PassDeclared(RECEIVER), Roll((0, 1)))
    assert kinds_of(table.declare(Roll((7,)))) == ["interception"]
    far = ScriptedFigure(HITTER, stands(70), "DB")
    table = passing(45, far)
    table.declare(PassDeclared(RECEIVER))
    assert kinds_of(table.declare(Roll((0, 1)))) == ["reception"]


@pytest.mark.parametrize(("dice", "kind"), [((0, 1), "reception"), ((9, 9), "incomplete")])
def test_the_defense_need_not_roll_for_an_interception(dice: tuple[int, int], kind: str) -> None:
    table = passing(45, ScriptedFigure(HITTER, stands(45 + 2 * HALF_YD + 1), "DB"))
    table.declare(PassDeclared(RECEIVER), Roll(dice))
    offered = table.game.legal().find("choice", "decline")
    assert offered is not None
    assert (offered.allowed, offered.by) == (True, ("away",))
    with pytest.raises(RefusedError, match="not on offer"):
        table.declare(ChoiceMade("accept"))
    with pytest.raises(RefusedError, match="to make"):
        table.declare(ChoiceMade("decline", "home"))
    assert kinds_of(table.declare(ChoiceMade("decline", "away")))[0] == kind
    assert table.state.play.ball_side == "home"


def test_the_offense_can_not_decline_its_own_pass_roll() -> None:
    table = passing(45)
    table.declare(PassDeclared(RECEIVER))
    with pytest.raises(RefusedError):
        table.declare(ChoiceMade("decline"))


def test_a_catch_in_the_end_zone_is_a_touchdown() -> None:
    table = Filmed(
        ScriptedFigure(PASSER, stands(35, heading=0.0), "QB"), ScriptedFigure(RECEIVER, stands(102, heading=0.0), "WR")
    )
    table.declare(PassDeclared(RECEIVER))
    calls = table.declare(Roll((0, 1)))
    assert [call.kind for call in calls if call.kind != "info"] == ["reception", "touchdown"]


def test_ineligible_receivers_are_refused() -> None:
    with pytest.raises(RefusedError, match="LD-047"):
        passing(45, heading=100.0).declare(PassDeclared(RECEIVER))
    passing(45, heading=90.0).declare(PassDeclared(RECEIVER))
    lineman = Filmed(
        ScriptedFigure(PASSER, stands(35, heading=0.0), "QB"), ScriptedFigure(RECEIVER, stands(45, heading=0.0), "G")
    )
    with pytest.raises(RefusedError, match="LD-046"):
        lineman.declare(PassDeclared(RECEIVER))
    table = passing(45)
    table.declare(by_hand("line_of_scrimmage", players=(PASSER,)))
    with pytest.raises(RefusedError, match="LD-040"):
        table.declare(PassDeclared(RECEIVER))


@pytest.mark.parametrize(("dice", "carrier"), [((5, 0), RECEIVER), ((5, 1), PASSER)])
def test_a_pitch_is_rolled_for(dice: tuple[int, int], carrier: str) -> None:
    table = passing(33)
    table.declare(Pitch(RECEIVER))
    calls = table.declare(Roll(dice))
    assert table.state.play.carrier == carrier
    assert [call.verdict for call in calls] == ([] if carrier == RECEIVER else ["proposed"])


def test_refusals_change_nothing() -> None:
    table = game().at(40)
    before = table.state
    bodies: tuple[Declaration, ...] = (
        Roll((5, 5)),
        KickDeclared("onside"),
        KickDeclared("extra_point"),
        ChoiceMade("accept"),
        PassDeclared("dark-22"),
        Pitch("dark-22"),
    )
    for body in bodies:
        with pytest.raises(RefusedError):
            table.declare(body)
        assert table.state == before
