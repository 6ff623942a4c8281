"""Late entries, and schedules that are made again in the middle of an event."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from desk_events import BY, better_seed, coaches, event_of, play
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.operations import enter_late, enter_result, register, withdraw
from downfield.desk.event.placing import assign_officials, change_clock, hold, make_schedule, move
from downfield.desk.event.progress import Progress, ranking
from downfield.desk.event.records import Entrant, EventClock, KnownEntrant, Match, Result, Rules, Session
from downfield.desk.event.state import TournamentEvent

LATE = Entrant("late", "Late Larry")


def result_of(match: Match) -> Result:
    home, away = (getattr(slot, "entrant", "") for slot in (match.home, match.away))
    return better_seed(home, away)


def players(event: TournamentEvent, pool: str) -> list[frozenset[str]]:
    """The pairs of a pool's games."""
    return [
        frozenset(side.entrant for side in (match.home, match.away) if isinstance(side, KnownEntrant))
        for match in event.matches
        if match.pool == pool
    ]


@given(
    st.sampled_from([3, 5, 7, 11, 13]),
    st.integers(1, 4),
    st.sampled_from(["none", "single", "double"]),
    st.integers(0, 60),
    st.randoms(use_true_random=False),
)
def test_who_comes_late_plays_everybody_of_the_smallest_pool_and_the_event_ends(
    count: int, pools: int, kind: str, played: int, decide: random.Random
) -> None:
    pools = min(pools, count // 2)
    elimination = "none" if pools == 1 and kind == "double" else kind
    advance = 2 if elimination != "none" else 1
    event = event_of(count, Rules(pools=pools, advance=advance, elimination=elimination))  # type: ignore[arg-type]
    pool_games = [match for match in event.matches if match.stage == "pool"]
    for match in pool_games[:played]:
        event = enter_result(event, match.id, Result(decide.randrange(9), decide.randrange(9)), BY)
    event = enter_late(event, LATE, BY)
    home = next(pool for pool, ids in event.pools.items() if "late" in ids)
    assert len(event.pools[home]) - 1 == min(len(ids) - ("late" in ids) for ids in event.pools.values())
    pairs = players(event, home)
    assert len(pairs) == len(set(pairs)) == len(event.pools[home]) * (len(event.pools[home]) - 1) // 2
    assert len({match.id for match in event.matches}) == len(event.matches)
    ended = play(event, decide)
    progress = Progress(ended)
    assert [match.id for match in ended.matches if match.result is None and progress.is_needed(match)] == []
    placed = [entry.entrant for entry in ranking(ended)]
    assert len(set(placed)) == len(placed)


def test_who_has_left_is_not_played_by_who_comes_late() -> None:
    event = withdraw(event_of(6, Rules(pools=2, advance=1)), "e1", BY)
    event = enter_late(event, LATE, BY)
    pool = next(pool for pool, ids in event.pools.items() if "late" in ids)
    assert "e1" in event.pools[pool], "the pool with fewer who are there"
    assert frozenset({"late", "e1"}) not in players(event, pool)


def test_a_late_coach_is_refused_where_there_is_no_place_for_one() -> None:
    bracket = event_of(5, Rules())
    with pytest.raises(RefusedError, match="change that coach's name"):
        enter_late(bracket, LATE, BY)
    with pytest.raises(RefusedError, match="not made"):
        enter_late(TournamentEvent("Open", entrants=tuple(coaches(4))), LATE, BY)
    pools = event_of(6, Rules(pools=2, advance=1))
    for match in [match for match in pools.matches if match.stage == "pool"]:
        pools = enter_result(pools, match.id, result_of(match), BY)
    assert len(enter_late(pools, LATE, BY).entrants) == 7
    with pytest.raises(RefusedError, match="elimination has begun"):
        enter_late(enter_result(pools, "FINAL", Result(7, 0), BY), LATE, BY)
    with pytest.raises(InputError, match="seed means nothing"):
        enter_late(pools, replace(LATE, seed=9), BY)
    with pytest.raises(InputError, match="registered already"):
        enter_late(pools, Entrant("late", "coach 1"), BY)
    with pytest.raises(RefusedError, match="Register who comes late"):
        register(pools, LATE, BY)


def test_games_of_who_comes_late_are_scheduled_or_the_missing_time_is_told() -> None:
    clock = EventClock(sessions=(Session("2026-09-05T09:00", "2026-09-05T23:00"),))
    event = event_of(5, Rules(pools=1, advance=1, elimination="none"))
    event = make_schedule(change_clock(event, clock, ["1", "2"], BY), BY)
    late = enter_late(event, LATE, BY)
    assert all(match.slot is not None for match in late.matches)
    short = EventClock(sessions=(Session("2026-09-05T09:00", "2026-09-05T18:00"),))
    event = make_schedule(change_clock(event, short, ["1", "2"], BY), BY)
    with pytest.raises(InputError, match="Add tables or time"):
        enter_late(event, LATE, BY)


def test_who_comes_late_moves_no_game_that_a_director_has_placed_held_or_staffed() -> None:
    event = event_of(6, Rules(pools=2, advance=2))
    event = make_schedule(change_clock(event, EventClock(), ["1", "2"], BY), BY)
    event = move(event, "FINAL", "2", 9, BY)
    event = assign_officials(event, "FINAL", ["Rea"], BY)
    event = hold(event, "W1-2", "postponed", BY)
    late = enter_late(event, LATE, BY)
    final, semifinal = (next(one for one in late.matches if one.id == name) for name in ("FINAL", "W1-2"))
    assert (final.table, final.slot, final.fixed, final.officials) == ("2", 9, True, ("Rea",))
    assert (semifinal.postponed, semifinal.slot) == (True, None)
    with pytest.raises(InputError, match="FINAL is fixed before"):
        enter_late(move(hold(event, "W1-2", "free", BY), "FINAL", "2", 4, BY), LATE, BY)


@settings(max_examples=25)
@given(st.integers(4, 12), st.integers(1, 12), st.integers(2, 5))
def test_nothing_is_scheduled_into_the_past(count: int, played: int, tables: int) -> None:
    names = [f"Table {number}" for number in range(1, tables + 1)]
    event = make_schedule(change_clock(event_of(count, Rules(pools=1, advance=2)), EventClock(), names, BY), BY)
    in_time = sorted(event.matches, key=lambda match: match.slot or 0)
    for match in [match for match in in_time if match.stage == "pool"][:played]:
        event = enter_result(event, match.id, Result(7, 0), BY)
    now = max(match.slot or 0 for match in event.matches if match.result is not None)
    again = change_clock(event, EventClock(), [*names, "Another", "And another"], BY)
    assert all((match.slot or 0) >= now for match in again.matches if match.result is None)
    stood = {match.id: (match.slot, match.table) for match in event.matches if match.result is not None}
    assert stood == {match.id: (match.slot, match.table) for match in again.matches if match.result is not None}


def test_games_that_are_forfeited_ahead_are_no_present() -> None:
    event = event_of(4, Rules(pools=1, advance=1, elimination="none"))
    event = make_schedule(change_clock(event, EventClock(), ["1"], BY), BY)
    first = min(event.matches, key=lambda match: match.slot or 0)
    leaving = next(entrant.id for entrant in event.entrants if entrant.id not in players_of(event, first.id))
    event = withdraw(event, leaving, BY)
    again = change_clock(event, EventClock(), ["1", "2"], BY)
    assert next(match.slot for match in again.matches if match.id == first.id) == 0


def players_of(event: TournamentEvent, identity: str) -> set[str]:
    match = next(match for match in event.matches if match.id == identity)
    return {side.entrant for side in (match.home, match.away) if isinstance(side, KnownEntrant)}
