"""The Lion's Den by dice: kicks, penalties, injuries, periods."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from declared_game import DeclaredGame
from declared_game import kinds as kinds_of

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Carrier, ChoiceMade, ClockSet, KickDeclared, LineUpDeclared, Roll
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.lions_den.system import LIONS_DEN
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import GameState, Phase

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


def test_ratings_and_careers_are_rolled_before_the_game() -> None:
    table = DeclaredGame("lions-den")
    with pytest.raises(RefusedError, match="has no rating"):
        table.declare(KickDeclared("kickoff"))
    with pytest.raises(RefusedError, match="name the team"):
        table.declare(Roll((5, 5), "kicker"))
    calls = table.declare(Roll((10, 10), "quarterback_1", "home"), Roll((3,), "career_quarterback_1", "home"))
    assert [call.text for call in calls] == ["Home, quarterback 1: 60", "Home, quarterback 1: 3 seasons"]


def test_a_kickoff() -> None:
    table = game()
    table.declare(KickDeclared("kickoff", returner="dark-22"))
    calls = table.declare(Roll((5, 5, 5, 5)))
    assert kinds_of(calls) == ["kick"]
    state = table.state
    assert state.play.carrier == "dark-22"
    assert state.play.landed_yd == state.board_x_yd(100 - (35 + 15 + 20 + 10))
    assert state.phase is Phase.STOPPED
    table = game()
    table.declare(KickDeclared("kickoff"), Roll((5, 5, 5, 9)))
    assert (table.state.offense, table.state.progress_yd(table.state.los_yd)) == ("home", 35)
    table = game()
    table.declare(KickDeclared("kickoff"), Roll((10, 10, 10, 1)))
    assert table.state.play.landed_yd is not None


def test_a_punt_may_be_blocked_go_out_of_bounds_or_be_returned() -> None:
    table = game().at(30, 4)
    table.declare(KickDeclared("punt"))
    assert kinds_of(table.declare(Roll((8, 1)))) == ["kick"]
    assert table.state.play.ball_side == "away"
    table = game().at(30, 4)
    table.declare(KickDeclared("punt"), Roll((8, 0)), Roll((5, 5, 5, 10)))
    assert (table.state.offense, table.state.los_yd) == ("away", 30 - 7 + 45)
    table = game().at(30, 4)
    table.declare(KickDeclared("punt"), Roll((0, 1)), Roll((5, 5, 5, 7)))
    assert table.state.play.ball_side == "away"
    assert table.state.play.landed_yd == 68


@pytest.mark.parametrize(
    ("spot", "dice", "good"), [(80, (8, 0), True), (80, (8, 1), False), (60, (6, 0), True), (60, (6, 1), False)]
)
def test_field_goals_lose_one_percent_per_yard(spot: float, dice: tuple[int, int], good: bool) -> None:
    table = game().at(spot, 4)
    table.declare(KickDeclared("field_goal"), Roll(dice))
    assert table.state.score == ((3, 0) if good else (0, 0))
    if not good:
        assert (table.state.offense, table.state.los_yd) == ("away", spot)


def by_hand(kind: str, **more: object) -> Ruling:
    call = Call("by hand", kind, 0, "lions-den", (), "called", kind, **more)  # type: ignore[arg-type]
    return Ruling("", "manual", call)


def tackled(table: DeclaredGame, spot: float = 45.0) -> DeclaredGame:
    table.at(40).declare(Carrier("dark-22"), by_hand("tackle", players=("dark-22", "light-50"), spot_yd=(spot, 26.0)))
    return table


NO_PENALTY = (5, 0, 3)
HOLDING_BY_OFFENSE = (0, 7, 8)


def penalized(table: DeclaredGame, dice: tuple[int, int, int]) -> GameState:
    table.declare(Roll(dice))
    return table.state


def test_a_penalty_is_rolled_after_every_down() -> None:
    table = tackled(game())
    assert table.state.wait is not None
    assert (table.state.wait.purpose, table.state.wait.by) == ("penalty", "away")
    assert penalized(table, (5, 0, 3)).situation == "2nd & 5 at H 45"


@pytest.mark.parametrize(
    ("dice", "situation"),
    [
        ((0, 7, 8), "1st & 20 at H 30"),
        ((0, 7, 2), "1st & 5 at H 45"),
        ((9, 3, 2), "1st & 10 at 50"),
        ((9, 8, 9), "1st & 20 at H 30"),
        ((0, 0, 1), "1st & 10 at 50"),
    ],
)
def test_an_accepted_penalty_replays_the_down(dice: tuple[int, int, int], situation: str) -> None:
    table = tackled(game())
    penalized(table, dice)
    table.declare(ChoiceMade("accept"))
    assert table.state.situation == situation
    table = tackled(game())
    penalized(table, dice)
    table.declare(ChoiceMade("decline"))
    assert table.state.situation == "2nd & 5 at H 45"


def touchdown() -> DeclaredGame:
    table = game().at(90)
    table.declare(Carrier("dark-22"), by_hand("touchdown", side="home"))
    return table


def safety() -> DeclaredGame:
    table = game().at(5)
    table.declare(Carrier("dark-22"), by_hand("tackle", players=("dark-22",), spot_yd=(-1.0, 26.0)))
    return table


def field_goal(dice: tuple[int, int]) -> DeclaredGame:
    table = game().at(80, 4)
    table.declare(KickDeclared("field_goal"), Roll(dice))
    return table


def punt_out_of_bounds() -> DeclaredGame:
    table = game().at(30, 4)
    table.declare(KickDeclared("punt"), Roll((8, 0)), Roll((5, 5, 5, 10)))
    return table


def waits_for(table: DeclaredGame) -> str:
    return "" if table.state.wait is None else table.state.wait.purpose


@pytest.mark.parametrize(
    ("down", "due", "then", "replayed"),
    [
        (touchdown, "extra_point", "extra_point", "1st & goal at A 20"),
        (safety, "free_kick", "", "1st & 12.5 at H 2.5"),
        (lambda: field_goal((8, 0)), "kickoff", "", "4th & 20 at A 30"),
        (lambda: field_goal((9, 9)), "scrimmage", "", "4th & 20 at A 30"),
        (punt_out_of_bounds, "scrimmage", "", "4th & 20 at H 20"),
    ],
    ids=["touchdown", "safety", "field goal", "missed field goal", "punt out of bounds"],
)
def test_a_penalty_is_rolled_after_a_down_that_ends_in_a_score_or_a_kick(
    down: Callable[[], DeclaredGame], due: str, then: str, replayed: str
) -> None:
    table = down()
    score = table.state.score
    assert waits_for(table) == "penalty"
    table.declare(Roll(NO_PENALTY))
    assert (table.state.score, table.state.due, waits_for(table)) == (score, due, then)
    declined = down()
    declined.declare(Roll(HOLDING_BY_OFFENSE), ChoiceMade("decline"))
    assert (declined.state.score, declined.state.due, waits_for(declined)) == (score, due, then)
    accepted = down()
    accepted.declare(Roll(HOLDING_BY_OFFENSE), ChoiceMade("accept"))
    assert (accepted.state.score, accepted.state.offense, waits_for(accepted)) == ((0, 0), "home", "")
    assert accepted.state.situation == replayed


def test_no_penalty_is_rolled_after_a_try_or_a_kickoff() -> None:
    table = touchdown()
    table.declare(Roll(NO_PENALTY), Roll((8, 0)))
    assert (table.state.score, waits_for(table), table.state.due) == ((7, 0), "", "kickoff")
    table.declare(KickDeclared("kickoff"), Roll((5, 5, 5, 9)))
    assert waits_for(table) == ""


def test_the_lost_penalty_row_is_decided_by_a_person_or_the_league() -> None:
    table = tackled(game())
    calls = table.declare(Roll((0, 3, 8)))
    assert [call.detail for call in calls] == ["lost"]
    assert table.state.situation == "2nd & 5 at H 45"
    ours = with_ratings(DeclaredGame(Rulebook("ours", "Ours", LIONS_DEN, {"penalty.first_row": [[5, 5]]})))
    ours.declare(LineUpDeclared((Player("dark-22", "dark", role="RB"),), "dark"))
    tackled(ours).declare(Roll((0, 3, 8)), ChoiceMade("accept"))
    assert ours.state.situation == "1st & 15 at H 35"


def test_a_sacked_quarterback_rolls_for_injury_first() -> None:
    def sacked() -> DeclaredGame:
        table = game().at(40)
        table.declare(Carrier("dark-7"), by_hand("tackle", players=("dark-7", "light-50"), spot_yd=(35.0, 26.0)))
        assert table.state.wait is not None
        assert (table.state.wait.purpose, table.state.wait.by) == ("injury", "home")
        return table

    table = sacked()
    table.declare(Roll((8,)))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "penalty"
    table = sacked()
    calls = table.declare(Roll((9,)), Roll((1, 2)))
    assert "rests 3 offensive downs" in calls[-1].text
    assert table.state.note("winded_home_1") == 3
    table = sacked()
    calls = table.declare(Roll((10,)), Roll((9,)))
    assert "next two games" in calls[-1].text
    assert table.state.note("out_home_1") == 1


def test_an_extra_point_by_percentage() -> None:
    for dice, points in (((8, 0), 7), ((8, 1), 6)):
        table = game().at(95)
        table.declare(Carrier("dark-22"), by_hand("touchdown", side="home"), Roll(NO_PENALTY), Roll(dice))
        assert table.state.score == (points, 0)


def test_a_safety_is_punted_from_the_twenty() -> None:
    table = game().at(5)
    table.declare(Carrier("dark-22"), by_hand("tackle", players=("dark-22",), spot_yd=(-1.0, 26.0)))
    assert (table.state.score, table.state.due, table.state.kicking) == ((0, 2), "free_kick", "home")
    table.declare(Roll(NO_PENALTY), KickDeclared("punt"), Roll((5, 5, 5, 1)))
    assert table.state.play.landed_yd == 20 + 15 + 20 + 10


def test_a_recovery_behind_ones_own_goal_line_is_a_safety_and_in_the_other_end_zone_a_touchdown() -> None:
    table = game().at(5)
    table.declare(
        Carrier("dark-22"), by_hand("fumble_recovery", players=("dark-22",), spot_yd=(-1.0, 26.0), side="home")
    )
    assert table.state.score == (0, 2)
    table = game().at(95)
    table.declare(
        Carrier("dark-22"), by_hand("fumble_recovery", players=("dark-22",), spot_yd=(101.0, 26.0), side="home")
    )
    assert table.state.score == (6, 0)


def test_two_halves() -> None:
    table = game().at(40)
    table.declare(ClockSet(False, 0))
    assert (table.state.period, table.state.due) == (2, "kickoff")
    table.at(40, period=2, score=(7, 7))
    assert kinds_of(table.declare(ClockSet(False, 0))) == ["period", "game_over"]
