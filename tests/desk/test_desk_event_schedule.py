"""Schedules: every rule of the event's clock holds, and too little time is said."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime

import pytest
from desk_events import BY, event_of, play
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import InputError
from downfield.desk.event.placing import change_clock, make_schedule
from downfield.desk.event.progress import Progress, depends_on
from downfield.desk.event.records import EventClock, Match, Rules, Session
from downfield.desk.event.schedule import schedule, slot_times


@settings(max_examples=30)
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
    placed = schedule(event.matches, names, EventClock(rest_slots=rest))
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
    placed = schedule(event.matches, ["1", "2", "3", "4"], EventClock())
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
