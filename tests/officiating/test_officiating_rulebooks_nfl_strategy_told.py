"""NFL Strategy's plays told by their end: the same downs, clock, hash and score as from the cards."""

from __future__ import annotations

import pytest
from card_games import CardGameTable, run
from declared_game import kinds

from downfield.core.errors import RefusedError
from downfield.officiating.declarations import PlayEnded, SetUp, Side
from downfield.officiating.unseen_declarations import HASH_UNTOLD, CardPlayed

LEFT, CENTER, RIGHT = 42.0, 27.0, 11.0


def test_a_told_gain_is_the_same_as_from_its_card() -> None:
    told, carded = CardGameTable().at(25).running(), CardGameTable().at(25).running()
    assert kinds(told.declare(PlayEnded("stopped", (31.0, LEFT)))) == kinds(carded.declare(run("6", dot="black")))
    for name in ("situation", "hash", "offense", "score"):
        assert getattr(told.state, name) == getattr(carded.state, name)
    assert (told.lines, told.clock_runs) == (carded.lines, carded.clock_runs)


@pytest.mark.parametrize(("y_yd", "third"), [(LEFT, "left"), (CENTER, "center"), (RIGHT, "right"), (53.3, "left")])
def test_the_hash_is_the_third_that_the_ball_is_in(y_yd: float, third: str) -> None:
    table = CardGameTable().at(25)
    table.declare(PlayEnded("stopped", (31.0, y_yd)))
    assert table.state.hash == third


def test_a_change_of_possession_is_the_other_sides_first_down_and_stops_the_clock() -> None:
    table = CardGameTable().at(25).running()
    assert "first_down" in kinds(table.declare(PlayEnded("stopped", (60.0, CENTER), by="away")))
    assert (table.state.offense, table.state.down, table.state.los_yd, table.clock_runs) == ("away", 1, 60.0, False)


def test_an_incomplete_pass_costs_the_down_and_stops_the_clock() -> None:
    table = CardGameTable().at(25).running()
    table.declare(PlayEnded("incomplete"))
    assert (table.state.down, table.state.los_yd, table.clock_runs) == (2, 25.0, False)


@pytest.mark.parametrize(("by", "score"), [(None, (6, 0)), ("away", (0, 6))])
def test_a_touchdown_counts_for_the_side_that_had_the_ball(by: Side | None, score: tuple[int, int]) -> None:
    table = CardGameTable().at(25)
    table.declare(PlayEnded("touchdown", by=by))
    assert table.state.score == score
    assert table.state.wait is not None
    assert table.state.wait.purpose == "try"


def test_a_safety_is_the_other_sides_two_points() -> None:
    table = CardGameTable().at(2)
    table.declare(PlayEnded("safety"))
    assert (table.state.score, table.state.due) == ((0, 2), "free_kick")


def test_a_touchback_of_a_change_of_possession_is_on_the_20() -> None:
    table = CardGameTable().at(80)
    table.declare(PlayEnded("touchback", by="away"))
    assert table.state.situation == "1st & 10 at A 20"


def test_a_kickoff_told_by_its_return_is_the_receivers_first_down() -> None:
    table = CardGameTable()
    table.declare(SetUp("home", 1, due="kickoff"))
    receivers = table.state.offense
    table.declare(PlayEnded("stopped", (28.0, LEFT)))
    assert (table.state.offense, table.state.down, table.state.due) == (receivers, 1, "scrimmage")
    assert table.state.los_yd == 28.0


@pytest.mark.parametrize(("end", "points"), [(PlayEnded("touchdown"), 8), (PlayEnded("stopped", (99.0, CENTER)), 6)])
def test_a_try_for_two_is_good_or_fails(end: PlayEnded, points: int) -> None:
    table = CardGameTable().at(25)
    table.declare(SetUp("home", 1, score=(6, 0), due="two_point"), end)
    assert table.state.score == (points, 0)
    assert table.state.due == "kickoff"


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (PlayEnded("tackle", (31.0, CENTER)), "no tackle"),
        (PlayEnded("stopped"), "say where"),
        (PlayEnded("touchdown", (31.0, CENTER)), "leave it out"),
        (PlayEnded("stopped", (131.0, CENTER)), "not on the field"),
        (PlayEnded("stopped", (100.0, CENTER)), "end zone"),
        (PlayEnded("touchback"), "change of possession"),
        (PlayEnded("incomplete", by="away"), "only the offense"),
        (PlayEnded("safety", by="away"), "the offense's"),
        (PlayEnded("stopped", (31.0, CENTER), "dark-28"), "no figures"),
    ],
)
def test_an_end_that_the_play_cannot_have_is_refused(end: PlayEnded, reason: str) -> None:
    table = CardGameTable().at(25)
    with pytest.raises(RefusedError, match=reason):
        table.declare(end)


def test_an_extra_point_is_declared_by_its_card() -> None:
    table = CardGameTable().at(25)
    table.declare(SetUp("home", 1, score=(6, 0), due="extra_point"))
    with pytest.raises(RefusedError, match="declare its card"):
        table.declare(PlayEnded("touchdown"))
    table.declare(CardPlayed("extra_point", "good"))
    assert table.state.score == (7, 0)


def test_a_corrected_score_does_not_stop_the_clock() -> None:
    table = CardGameTable().at(25).running()
    table.declare(SetUp("home", 1, 25.0, clock_s=table.lines * 10.0, score=(3, 0)))
    assert table.clock_runs


def test_a_card_without_its_dot_leaves_the_hash_open_until_the_next_play() -> None:
    table = CardGameTable().at(25)
    table.declare(run("3"))
    assert table.state.note(HASH_UNTOLD) == 1.0
    table.declare(run("3", dot="blue"))
    assert table.state.note(HASH_UNTOLD) is None
    table.declare(run("3"), SetUp("home", 1, 40.0, hash="left"))
    assert table.state.note(HASH_UNTOLD) is None
