"""NFL Strategy end to end: penalties, the choice of plays, and what is legal when."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from card_games import CardGameTable, run
from declared_game import DeclaredGame, kinds
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import ChoiceMade, Claim, Coin, Declaration, FoulDeclared, Roll, SetUp
from downfield.officiating.rulebooks.nfl_strategy.play import kick_from_yd, with_kickoff_penalty
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardKind, CardPlayed, ReturnPlayed

# Penalties


def fouled(foul: FoulDeclared, spot: float = 40, shown: str = "6", **more: Any) -> CardGameTable:
    table = CardGameTable().at(spot, **more)
    table.declare(run(shown, roll=31, reroll=60), foul)
    return table


def test_a_penalty_roll_needs_one_second_roll() -> None:
    table = CardGameTable().at(40)
    with pytest.raises(RefusedError, match="roll again"):
        table.declare(run("6", roll=31))
    with pytest.raises(RefusedError, match="no second roll"):
        table.declare(run("6", roll=61, reroll=5))
    table.declare(run("6", roll=31, reroll=31))
    assert table.state.wait is not None
    assert table.state.wait.purpose == "penalty"


def test_the_offended_side_chooses() -> None:
    table = fouled(FoulDeclared("away", 5, "D5"))
    assert table.state.wait is not None
    assert table.state.wait.by == "home"
    with pytest.raises(RefusedError, match="Home"):
        table.declare(ChoiceMade("accept", by="away"))
    table.declare(ChoiceMade("accept"))
    assert table.state.situation == "1st & 5 at H 45"
    assert not table.clock_runs
    table = fouled(FoulDeclared("away", 5, "D5"))
    table.declare(ChoiceMade("decline"))
    assert table.state.situation == "2nd & 4 at H 46"
    assert not table.clock_runs


def test_penalties_from_the_line() -> None:
    table = fouled(FoulDeclared("home", 10, "O10"))
    table.declare(ChoiceMade("accept"))
    assert table.state.situation == "1st & 20 at H 30"
    table = fouled(FoulDeclared("home", 10, "O10 loss dwn", loss_of_down=True))
    table.declare(ChoiceMade("accept"))
    assert table.state.situation == "2nd & 20 at H 30"
    table = fouled(FoulDeclared("away", 15, "D15", first_down=True))
    assert kinds(table.declare(ChoiceMade("accept")))[-1] == "first_down"
    assert table.state.situation == "1st & 10 at A 45"
    table = fouled(FoulDeclared("home", 15, "O15"), spot=11)
    table.declare(ChoiceMade("accept"))
    assert table.state.los_yd == 6


def test_an_auto_5_leaves_no_choice_and_takes_a_line_less() -> None:
    table = CardGameTable().at(40).running()
    table.declare(run("6", roll=31, reroll=60))
    table.declare(FoulDeclared("home", 5, "auto-5", automatic=True))
    assert table.state.situation == "1st & 15 at H 35"
    assert (table.lines, table.clock_runs) == (87, False)


def test_a_holding_penalty_on_a_pass_from_the_three_is_a_safety() -> None:
    table = CardGameTable().at(3)
    table.declare(CardPlayed("pass", "20", roll=31, reroll=60), FoulDeclared("home", 10, "O10"))
    assert "safety" in kinds(table.declare(ChoiceMade("accept")))
    assert table.state.score == (0, 2)
    table = CardGameTable().at(4)
    table.declare(CardPlayed("pass", "20", roll=31, reroll=60), FoulDeclared("home", 10, "O10"), ChoiceMade("accept"))
    assert (table.state.score, table.state.los_yd) == ((0, 0), 2)


def test_a_personal_foul_on_a_touchdown_moves_the_kickoff() -> None:
    table = fouled(FoulDeclared("away", 15, "D15"), spot=95, shown="5")
    table.declare(ChoiceMade("accept"))
    assert table.state.score == (6, 0)
    table.declare(CardPlayed("extra_point", "good", roll=60), CardPlayed("kickoff", "OB", roll=60))
    assert (table.state.offense, table.state.los_yd) == ("away", 80)


def test_fouls_on_a_kickoff_return() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("22", roll=31, reroll=60))
    table.declare(FoulDeclared("home", 10, "O10"), ChoiceMade("accept"))
    assert table.state.los_yd == 10 + 11 - 10
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "55", roll=60), ReturnPlayed("22", roll=31, reroll=60))
    table.declare(FoulDeclared("away", 15, "D15"), ChoiceMade("accept"))
    assert table.state.los_yd == 47


def test_fouls_on_a_punt_return() -> None:
    def punt(foul: FoulDeclared, choice: Literal["accept", "decline"], distance: float = 10) -> CardGameTable:
        table = CardGameTable().at(30, 4, distance)
        table.declare(
            CardPlayed("punt", "40", roll=60), ReturnPlayed("6", roll=31, reroll=60), foul, ChoiceMade(choice)
        )
        return table

    assert punt(FoulDeclared("away", 10, "O10"), "accept").state.los_yd == 100 - (30 + 3 - 10)
    assert punt(FoulDeclared("home", 15, "D15"), "accept").state.los_yd == 100 - (36 + 15)
    kicker = FoulDeclared("away", 5, "running into the kicker", on_kicker=True)
    replayed = punt(kicker, "accept").state
    assert (replayed.offense, replayed.situation) == ("home", "4th & 5 at H 35")
    assert punt(kicker, "accept", 5).state.situation == "1st & 10 at H 35"
    kept = punt(kicker, "decline").state
    assert (kept.offense, kept.los_yd) == ("away", 69)


def test_kicks_that_can_have_no_penalty() -> None:
    table = CardGameTable()
    table.declare(CardPlayed("kickoff", "55", roll=31))
    table.declare(ReturnPlayed("22", roll=60))
    assert table.state.situation == "1st & 10 at H 32"
    table = CardGameTable()
    table.declare(CardPlayed("onside", "11", roll=31), ReturnPlayed("2", roll=31))
    assert table.state.due == "scrimmage"
    table = CardGameTable().at(30, 4)
    table.declare(CardPlayed("punt", "40FC", roll=31))
    assert table.state.offense == "away"


# Play choice, order


def test_long_passes_and_short_yardage() -> None:
    with pytest.raises(RefusedError, match="NFLS-084"):
        CardGameTable().at(80).declare(CardPlayed("pass", "5", roll=60, play="Z Post"))
    with pytest.raises(RefusedError, match="NFLS-085"):
        CardGameTable().at(40).declare(run("1", defense="Short Yardage"))
    CardGameTable().at(40, 3, 2).declare(run("1", defense="Short Yardage"))


@pytest.mark.parametrize(
    "body",
    [
        CardPlayed("kickoff", "60", roll=60),
        CardPlayed("extra_point", "good", roll=60),
        ReturnPlayed("5"),
        Roll((50,)),
        Coin(True),
        FoulDeclared("home", 10),
        ChoiceMade("accept"),
        Claim("review", "home"),
        Claim("delay_of_game", "home"),
        CardPlayed("run", "nonsense", roll=60),
        CardPlayed("run", "5", roll=101),
    ],
)
def test_declarations_that_the_state_does_not_allow_change_nothing(body: Declaration) -> None:
    table = CardGameTable().at(40)
    before = table.state
    with pytest.raises(RefusedError):
        table.declare(body)
    assert table.state == before


CARDS: tuple[CardKind, ...] = ("run", "pass", "punt", "field_goal", "kickoff", "onside", "extra_point", "two_point")
RESULTS = ("7", "-4", "33", "4F", "9i", "inc", "good", "no good", "blocked", "40FC", "50 OB", "TB", "0F")


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.builds(
                CardPlayed,
                kind=st.sampled_from(CARDS),
                shown=st.sampled_from(RESULTS),
                roll=st.sampled_from([31, 45, 60]),
                reroll=st.sampled_from([None, 60]),
                dot=st.sampled_from([None, "black", "red", "blue"]),
                return_to=st.integers(0, 30),
                highlighted=st.booleans(),
            ),
            st.builds(ReturnPlayed, shown=st.sampled_from(["12", "99", "-3", "5F", "0F"]), roll=st.just(60)),
            st.builds(Roll, dice=st.tuples(st.integers(1, 100))),
            st.builds(Coin, heads=st.booleans()),
            st.builds(
                ChoiceMade, choice=st.sampled_from(["accept", "decline", "extra_point", "two_point", "kneel", "spike"])
            ),
            st.builds(
                FoulDeclared,
                by=st.sampled_from(["home", "away"]),
                yards=st.sampled_from([5, 10, 15]),
                first_down=st.booleans(),
                loss_of_down=st.booleans(),
            ),
            st.builds(Claim, claim=st.sampled_from(["time_out", "review"]), by=st.sampled_from(["home", "away"])),
        ),
        max_size=80,
    )
)
def test_score_downs_and_clock_are_always_legal(bodies: list[Declaration]) -> None:
    table = CardGameTable()
    for body in bodies:
        before = table.state
        try:
            table.declare(body)
        except RefusedError:
            assert table.state == before
            continue
        state = table.state
        assert all(now >= then for now, then in zip(state.score, before.score, strict=True))
        assert 1 <= state.down <= 4
        assert 0 <= state.los_yd <= 100
        if state.due == "scrimmage" and state.phase is Phase.BETWEEN_PLAYS:
            assert 0 < state.distance_yd <= 100
            assert 0 < state.los_yd < 100
        assert table.lines >= 0


def test_fouls_on_a_kickoff_are_walked_off_one_after_another_each_half_the_distance_at_most() -> None:
    table = DeclaredGame("nfl-strategy")
    table.declare(SetUp("home", 1, due="kickoff"))
    params = table.game.rulebook.params
    game, at = table.state, []
    for by in ("home", "home", "home", "home", "away"):
        game = with_kickoff_penalty(game, by, 15.0)
        at.append(kick_from_yd(game, params))
    # From the 80 half the distance is ten yards; 60 yards at once would have been cut to 32 from the 35.
    assert at == [50.0, 65.0, 80.0, 90.0, 75.0]
