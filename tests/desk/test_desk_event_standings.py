"""Standings: ties and how they are broken, results and their corrections."""

from __future__ import annotations

import pytest
from desk_events import BY, event_of, play

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.changes import question
from downfield.desk.event.operations import draw, draw_lots, enter_result
from downfield.desk.event.placing import find_match
from downfield.desk.event.progress import ranking
from downfield.desk.event.records import Entrant, Result, Rules
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import TournamentEvent


def pool_of(results: dict[tuple[str, str], tuple[int, int]], rules: Rules | None = None) -> TournamentEvent:
    """An event of one pool with the given results."""
    rules = rules or Rules(pools=1, elimination="none")
    ids = sorted({one for pair in results for one in pair})
    event = draw(TournamentEvent("Open", rules, entrants=tuple(Entrant(one, one) for one in ids)), BY)
    for match in event.matches:
        pair = match.home.entrant, match.away.entrant  # type: ignore[union-attr]
        home, away = results[pair] if pair in results else results[pair[::-1]][::-1]
        event = enter_result(event, match.id, Result(home, away), BY)
    return event


def order(event: TournamentEvent) -> list[tuple[int, str, str]]:
    return [(line.place, line.entrant, line.decided_by) for line in pool_standings(event, "A")]


def test_two_that_are_level_are_separated_by_their_own_game() -> None:
    event = pool_of({("a", "b"): (7, 6), ("a", "c"): (0, 21), ("b", "c"): (14, 13)})
    # all three have one win: head to head can't separate them, differences do: c +20, b 0, a -20
    assert [line[1] for line in order(event)] == ["c", "b", "a"]
    event = pool_of(
        {
            ("a", "b"): (7, 6),
            ("a", "c"): (7, 0),
            ("b", "c"): (40, 0),
            ("a", "d"): (0, 1),
            ("b", "d"): (9, 0),
            ("c", "d"): (3, 0),
        }
    )
    assert order(event)[:2] == [(1, "a", "games against each other"), (2, "b", "games against each other")]


def test_a_tie_break_that_separates_some_begins_again_for_the_others() -> None:
    # a, b and c have beaten each other in a circle. The difference puts a first; b and c, level in it, are separated
    # by their own game again, which b won.
    results = {
        ("a", "b"): (20, 0),
        ("b", "c"): (10, 0),
        ("c", "a"): (10, 0),
        ("a", "d"): (7, 0),
        ("b", "d"): (17, 0),
        ("c", "d"): (7, 0),
    }
    assert order(pool_of(results))[:3] == [
        (1, "a", "point difference"),
        (2, "b", "games against each other"),
        (3, "c", "games against each other"),
    ]


def test_a_game_counts_for_the_difference_only_up_to_the_limit() -> None:
    results = {("a", "b"): (60, 0), ("a", "c"): (0, 7), ("b", "c"): (7, 0)}
    unlimited = pool_of(results, Rules(pools=1, elimination="none", tie_breaks=("point_difference",)))
    limited = pool_of(
        results, Rules(pools=1, elimination="none", tie_breaks=("point_difference",), largest_difference=7)
    )
    assert order(unlimited)[0][:2] == (1, "a")
    assert {line[0] for line in order(limited)} == {1}, "with 7 at most all three are level"


def test_who_is_level_in_everything_shares_the_place_until_lots_are_drawn() -> None:
    event = pool_of({("a", "b"): (7, 7)})
    assert order(event) == [(1, "a", "lots are to be drawn"), (1, "b", "lots are to be drawn")]
    drawn = draw_lots(event, ["b", "a"], BY)
    assert order(drawn) == [(1, "b", "lots"), (2, "a", "lots")]
    with pytest.raises(InputError, match="exactly once"):
        draw_lots(event, ["b"], BY)


# --- what a director does ------------------------------------------------------------------------------------------


def test_a_result_waits_until_its_sides_are_known_and_may_not_tie_in_an_elimination() -> None:
    event = event_of(4, Rules())
    with pytest.raises(RefusedError, match="not decided yet who plays FINAL"):
        enter_result(event, "FINAL", Result(7, 0), BY)
    with pytest.raises(RefusedError, match="can't be a tie"):
        enter_result(event, "W1-1", Result(7, 7), BY)


def test_a_correction_that_changes_who_went_on_leaves_no_result_to_others() -> None:
    event = play(event_of(4, Rules()))
    assert enter_result(event, "W1-1", Result(70, 0), BY).matches[0].result == Result(70, 0)
    corrected = enter_result(event, "W1-1", Result(0, 7), BY)
    assert [match.result for match in corrected.matches if match.id == "FINAL"] == [None]
    assert "W1-1" in question(event, corrected) or "FINAL" in question(event, corrected, "W1-1")
    assert enter_result(corrected, "W1-1", Result(7, 0), BY).matches == event.matches  # nothing was lost
    assert "e4" in {rank.entrant for rank in ranking(play(corrected))[:2]}


def test_a_wrong_pool_score_is_mended_after_the_semifinals_where_the_order_stays_and_asks_where_it_does_not() -> None:
    event = play(event_of(6, Rules(pools=2, advance=2)))
    entered = find_match(event, "A1").result
    assert entered is not None
    mended = enter_result(event, "A1", Result(2 * entered.home, 2 * entered.away), BY)
    assert question(event, mended, "A1") == ""
    assert [match.result for match in mended.matches[1:]] == [match.result for match in event.matches[1:]]
    turned = enter_result(event, "A1", Result(10 * entered.away, 10 * entered.home), BY)
    assert "The result of W1-" in question(event, turned, "A1")


def test_lots_that_would_give_a_played_game_to_others_ask_first() -> None:
    event = event_of(3, Rules(pools=1, advance=2))
    for match in event.matches[:3]:
        event = enter_result(event, match.id, Result(7, 7), BY)
    drawn = enter_result(draw_lots(event, ["e3", "e1", "e2"], BY), "FINAL", Result(7, 0), BY)
    again = draw_lots(drawn, ["e2", "e1", "e3"], BY)
    assert question(drawn, again) == "The result of FINAL, 7 to 0, would not count any more."
    assert find_match(again, "FINAL").result is None


def test_the_second_final_is_only_played_if_needed() -> None:
    event = event_of(2, Rules(elimination="double"))
    first = enter_result(enter_result(event, "W1-1", Result(7, 0), BY), "FINAL", Result(7, 0), BY)
    with pytest.raises(RefusedError, match="only played if"):
        enter_result(first, "FINAL2", Result(7, 0), BY)
    again = enter_result(enter_result(event, "W1-1", Result(7, 0), BY), "FINAL", Result(0, 7), BY)
    assert ranking(again) == []
    assert ranking(enter_result(again, "FINAL2", Result(0, 7), BY))[0].place == 1
