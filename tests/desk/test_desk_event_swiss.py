"""Swiss rounds: nobody meets twice, byes go round, and those who have won as often meet; undone and made again."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from desk_events import BY, event_of, play
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.keeper import EventKeeper, Request
from downfield.desk.event.operations import enter_late, enter_result, swap_places, withdraw
from downfield.desk.event.placing import assign_officials, change_clock, find_match, make_schedule
from downfield.desk.event.progress import Progress, ranking
from downfield.desk.event.records import Entrant, EventClock, KnownEntrant, Result, Rules
from downfield.desk.event.standings import pool_standings
from downfield.desk.event.state import TournamentEvent
from downfield.desk.event.swiss import SWISS, next_round, pair_round


def sides_of(event: TournamentEvent, number: int) -> list[tuple[str, str]]:
    """Return who plays whom in a round, home and away."""
    matches = [match for match in event.matches if match.pool == SWISS and match.round == number]
    return [(m.home.entrant, m.away.entrant) for m in matches]  # type: ignore[union-attr]


def decide_all(event: TournamentEvent, chance: random.Random) -> TournamentEvent:
    for match in event.matches:
        if match.pool == SWISS and match.result is None:
            event = enter_result(event, match.id, Result(chance.randrange(30), chance.randrange(30)), BY)
    return event


@settings(deadline=None)
@given(st.integers(4, 33), st.data(), st.integers(0, 2**16))
def test_nobody_meets_twice_everybody_plays_and_byes_go_round(count: int, data: st.DataObject, seed: int) -> None:
    rounds = data.draw(st.integers(1, count // 2))
    chance = random.Random(seed)
    event = event_of(count, Rules(swiss=rounds, elimination="none"))
    met: set[frozenset[str]] = set()
    at_home: dict[str, int] = {}
    for number in range(1, rounds + 1):
        points = {line.entrant: line.won + line.tied / 2 for line in pool_standings(event, SWISS)}
        if number > 1:
            event = pair_round(event, BY)
        games = sides_of(event, number)
        pairs = {frozenset(pair) for pair in games}
        assert not pairs & met, "somebody meets an opponent again"
        met |= pairs
        playing = [one for pair in games for one in pair]
        assert len(set(playing)) == len(playing) == count - count % 2
        assert len(event.byes) == number * (count % 2)
        for home, away in games:
            at_home[home], at_home[away] = at_home.get(home, 0) + 1, at_home.get(away, 0) - 1
        if number == 2 and count >= 8:
            assert sum(abs(points[home] - points[away]) for home, away in games) <= count / 2
        event = decide_all(event, chance)
    assert len(set(event.byes)) == len(event.byes), "somebody has a second bye before all have had one"
    assert max(map(abs, at_home.values())) <= rounds // 2 + 1
    assert next_round(event) == 0
    wins = sum(line.won + line.tied / 2 for line in pool_standings(event, SWISS))
    assert wins == rounds * (count // 2) + len(event.byes)
    with pytest.raises(RefusedError, match="All Swiss rounds are paired"):
        pair_round(event, BY)


def test_the_first_round_is_by_seeds_and_the_best_go_on_after_the_last() -> None:
    event = event_of(8, Rules(swiss=3, advance=4, elimination="single"))
    assert {frozenset(pair) for pair in sides_of(event, 1)} == {frozenset((f"e{n}", f"e{n + 4}")) for n in range(1, 5)}
    with pytest.raises(RefusedError, match="S1-1, S1-2, S1-3, S1-4 of the round before"):
        pair_round(event, BY)
    for _ in range(2):
        event = pair_round(play(event), BY)
    assert [match.id for match in event.matches if match.stage != "pool"] == ["W1-1", "W1-2", "FINAL"]
    assert Progress(event).text(find_match(event, "W1-1").home) == "1st of the Swiss rounds"
    event = play(event)
    assert [rank.entrant for rank in ranking(event)][:2] == ["e1", "e2"]
    assert {line.decided_by for line in pool_standings(event, SWISS)} & {"strength of opponents"}


def test_too_many_rounds_are_refused_before_the_draw() -> None:
    with pytest.raises(InputError, match="7 entrants can play 3 Swiss rounds in which nobody meets twice, not 4"):
        event_of(7, Rules(swiss=4, elimination="none"))
    with pytest.raises(InputError, match="pools or Swiss rounds, not both"):
        Rules(swiss=2, pools=2)


def test_who_leaves_is_not_paired_any_more_and_who_comes_late_is() -> None:
    event = event_of(6, Rules(swiss=3, elimination="none"))
    event = withdraw(play(event), "e1", BY)
    event = enter_late(event, Entrant("late", "Zoe"), BY)
    second = pair_round(event, BY)
    playing = {one for pair in sides_of(second, 2) for one in pair}
    assert playing == {"e2", "e3", "e4", "e5", "e6", "late"}
    third = pair_round(decide_all(second, random.Random(1)), BY)
    with pytest.raises(RefusedError, match="The last Swiss round is paired"):
        enter_late(third, Entrant("later", "Yan"), BY)


def test_a_round_is_scheduled_after_the_one_before_and_undone_in_one_step(tmp_path: Path) -> None:
    keeper = EventKeeper(tmp_path / "event.json")
    by = Request("Dee", confirmed=True)
    drawn = make_schedule(change_clock(event_of(6, Rules(swiss=2, elimination="none")), EventClock(), ["1"], BY), BY)
    keeper.change(by, "drew", lambda _, change: replace(play(drawn), changes=(change,)))
    keeper.change(by, "paired round 2", pair_round)
    slots = {
        number: [m.slot for m in keeper.event.matches if m.round == number and m.slot is not None] for number in (1, 2)
    }
    assert max(slots[1]) < min(slots[2])
    keeper.undo(by)
    assert sides_of(keeper.event, 2) == []
    assert next_round(keeper.event) == 2


def test_places_in_a_draw_are_exchanged_until_a_game_has_begun() -> None:
    event = event_of(8, Rules(pools=2))
    one, two = event.pools["A"][0], event.pools["B"][0]
    swapped = swap_places(event, one, two, BY)
    assert (swapped.pools["A"][0], swapped.pools["B"][0]) == (two, one)
    for match in swapped.matches:
        if isinstance(match.home, KnownEntrant) and isinstance(match.away, KnownEntrant):
            assert {match.home.entrant, match.away.entrant} <= set(swapped.pools[match.pool])
    assert swap_places(swapped, one, two, BY).matches == event.matches
    played = enter_result(event, "A1", Result(7, 0), BY)
    with pytest.raises(RefusedError, match="A1 of one of them is played or in play"):
        swap_places(played, one, two, BY)


def test_an_official_is_at_one_game_at_a_time_and_does_not_play_then() -> None:
    event = event_of(6, Rules(pools=1, elimination="none"))
    event = make_schedule(change_clock(event, EventClock(), ["1", "2", "3"], BY), BY)
    first, second, third = (match for match in event.matches if match.slot == 0)
    event = assign_officials(event, first.id, ["Rita"], BY)
    assert find_match(event, first.id).officials == ("Rita",)
    with pytest.raises(RefusedError, match=f"rita has {first.id} at that time"):
        assign_officials(event, second.id, ["rita"], BY)
    coach = next(one.coach for one in event.entrants if KnownEntrant(one.id) == third.home)
    with pytest.raises(RefusedError, match=f"{coach} plays {third.id} at that time"):
        assign_officials(event, second.id, [coach], BY)
    assert find_match(assign_officials(event, first.id, [""], BY), first.id).officials == ()
