"""Schedules: every rule of the event's clock holds, and too little time is said."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime

import pytest
from desk_events import BY, event_of, play
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import InputError, RefusedError
from downfield.desk.event.operations import enter_late
from downfield.desk.event.outcomes import settled
from downfield.desk.event.placing import (
    change_clock,
    delay,
    find_match,
    hold,
    make_schedule,
    move,
    moved_by_delay,
    scheduled,
    swap,
)
from downfield.desk.event.progress import Progress, depends_on
from downfield.desk.event.records import Entrant, EventClock, Match, Rules, Session
from downfield.desk.event.schedule import slot_times
from downfield.desk.event.state import TableGame, TournamentEvent
from downfield.desk.event.tickets import ticket_for
from downfield.store.sealing.signing import RigKey


@given(
    st.integers(2, 24),
    st.integers(1, 8),
    st.integers(0, 2),
    st.sampled_from([Rules(pools=1), Rules(pools=2), Rules(), Rules(elimination="double"), Rules(consolation=True)]),
)
def test_a_schedule_keeps_every_rule_of_the_clock(count: int, tables: int, rest: int, rules: Rules) -> None:
    count = max(count, 4 if rules.pools else 2)
    event = event_of(count, rules)
    names = [f"table {n}" for n in range(tables)]
    placed = scheduled(replace(event, tables=tuple(names), clock=EventClock(rest_slots=rest))).matches
    assert len({(match.slot, match.table) for match in placed}) == len(placed), "two games on one table"
    by_slot: dict[int, list[Match]] = {}
    for match in placed:
        assert match.slot is not None
        by_slot.setdefault(match.slot, []).append(match)
        for other in placed:
            if depends_on(match, other):
                assert other.slot is not None
                assert other.slot + rest < match.slot, f"{match.id} before {other.id} is over and rested from"
    played = play(replace(event, matches=placed), random.Random(count))
    progress, last = Progress(played), dict[str, int]()
    for slot in sorted(by_slot):
        for match in by_slot[slot]:
            if progress.is_needed(match) is False:
                continue
            for side in progress.sides(match):
                assert side is not None
                assert slot - last.get(side, -100) > rest, f"{side} plays twice within {rest} slots"
                last[side] = slot
    assert len(by_slot) >= -(-len(placed) // tables)


def test_a_round_robin_with_a_table_for_everybody_takes_as_many_slots_as_rounds() -> None:
    event = event_of(8, Rules(pools=1, elimination="none"))
    placed = scheduled(replace(event, tables=("1", "2", "3", "4"))).matches
    assert {match.slot for match in placed} == set(range(7))


def test_slots_follow_the_common_clock_over_two_days() -> None:
    clock = EventClock(
        60, 10, (Session("2026-09-05T09:00", "2026-09-05T12:00"), Session("2026-09-06T10:00", "2026-09-06T11:00"))
    )
    assert slot_times(clock) == [datetime(2026, 9, 5, 9, 0), datetime(2026, 9, 5, 10, 10), datetime(2026, 9, 6, 10, 0)]


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        ((Session("2026-09-05T12:00", "2026-09-05T09:00"),), "ends .* before it begins"),
        (
            (Session("2026-09-05T09:00", "2026-09-05T12:00"), Session("2026-09-05T11:00", "2026-09-05T13:00")),
            "before session 1",
        ),
        ((Session("tomorrow", "2026-09-05T12:00"),), "no time such as"),
    ],
)
def test_impossible_sessions_are_refused(sessions: tuple[Session, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        slot_times(EventClock(sessions=sessions))


def test_too_little_time_is_said_with_what_is_needed() -> None:
    event = event_of(8, Rules())
    clock = EventClock(60, 0, (Session("2026-09-05T09:00", "2026-09-05T11:00"),))
    with pytest.raises(InputError, match="room for 2 games one after another, and 4 are needed"):
        make_schedule(change_clock(event, clock, ["1", "2"], BY), BY)


# --- standings -----------------------------------------------------------------------------------------------------


DAY = EventClock(game_min=50, sessions=(Session("2026-09-05T09:00", "2026-09-05T18:00"),))
TABLES = ("1", "2", "3")


def begun(event: TournamentEvent, *matches: str) -> TournamentEvent:
    """Return an event with games in play."""
    games = {}
    for identity in matches:
        match = find_match(event, identity)
        home, away = (str(side) for side in Progress(event).sides(match))
        ticket = ticket_for(event, match, "rig", (home, away), RigKey.generate())
        games[identity] = TableGame(identity, 1, "in_play", match.table, home, away, ticket=ticket)
    return settled(replace(event, games=games))


def place(event: TournamentEvent, identity: str) -> tuple[str, int | None]:
    match = find_match(event, identity)
    return match.table, match.slot


@pytest.fixture
def two_in_play() -> TournamentEvent:
    """Six teams in two pools on three tables, the first game of each pool in play."""
    event = event_of(6, Rules(pools=2, advance=2))
    return begun(make_schedule(change_clock(event, DAY, TABLES, BY), BY), "A1", "B1")


def test_no_schedule_times_or_late_coach_moves_a_game_in_play_or_takes_its_table(two_in_play: TournamentEvent) -> None:
    event = two_in_play
    were = [place(event, identity) for identity in ("A1", "B1")]
    for changed in (
        make_schedule(event, BY),
        change_clock(event, replace(DAY, game_min=40, rest_slots=1), ("3", "2", "1"), BY),
        enter_late(event, Entrant("late", "Larry"), BY),
        make_schedule(hold(move(event, "A3", "3", 2, BY), "B2", "postponed", BY), BY),
    ):
        assert [place(changed, identity) for identity in ("A1", "B1")] == were
        placed = [place(changed, match.id) for match in changed.matches if match.slot is not None]
        assert len(set(placed)) == len(placed), "two games on one table"
        progress = Progress(changed)
        playing = [(match.slot, side) for match in changed.matches for side in progress.sides(match) if side]
        playing = [one for one in playing if one[0] is not None]
        assert len(set(playing)) == len(playing), "a team at two tables"
    assert place(changed, "A3") == ("3", 2)  # a moved game stays
    assert place(changed, "B2") == ("", None)


def test_two_games_exchange_tables_and_times_but_none_that_has_begun_or_is_decided_by_the_other(
    two_in_play: TournamentEvent,
) -> None:
    event = two_in_play
    swapped = swap(event, "A2", "A3", BY)
    assert (place(swapped, "A2"), place(swapped, "A3")) == (place(event, "A3"), place(event, "A2"))
    assert place(make_schedule(swapped, BY), "A2") == place(event, "A3")
    with pytest.raises(RefusedError, match="One of them plays A3 then"):
        swap(event, "A2", "B3", BY)
    with pytest.raises(RefusedError, match=f"A1 is in play at table {place(event, 'A1')[0]}. It stays there"):
        swap(event, "A2", "A1", BY)
    with pytest.raises(RefusedError, match="A3 decides who plays W1-1"):
        swap(event, "A3", "W1-1", BY)
    with pytest.raises(RefusedError, match="B2 has no time yet"):
        swap(hold(event, "B2", "postponed", BY), "A2", "B2", BY)
    with pytest.raises(RefusedError, match="in play"):
        move(event, "B1", "3", 7, BY)


def test_a_delay_moves_a_round_and_those_after_it_and_says_so_before(two_in_play: TournamentEvent) -> None:
    event = two_in_play
    late = delay(event, 1, 20, BY)
    before, after = slot_times(event.clock), slot_times(late.clock)
    assert [(b - a).seconds // 60 for a, b in zip(before, after, strict=True)] == [0, *[20] * (len(before) - 1)]
    assert [place(late, match.id) for match in event.matches] == [place(event, match.id) for match in event.matches]
    assert "7 games begin at another time, the first at 10:20" in moved_by_delay(event, late, 1)
    assert delay(late, 1, -20, BY).clock == event.clock
    with pytest.raises(InputError, match="0 to 600 minutes late"):
        delay(event, 1, -5, BY)
