"""What a director does to an event: draws, moves, withdrawals and results, in any order."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from desk_events import BY, coaches, event_of, play
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import DownfieldError, InputError, NotFoundError, RefusedError
from downfield.desk.event.operations import check_in, draw, enter_result, register, undo_draw, withdraw
from downfield.desk.event.placing import change_clock, make_schedule, move
from downfield.desk.event.progress import Progress, ranking
from downfield.desk.event.records import Entrant, EventClock, Result, Rules
from downfield.desk.event.state import TournamentEvent


@given(
    st.integers(3, 16),
    st.sets(st.integers(1, 16)),
    st.sampled_from(["single", "double"]),
    st.randoms(use_true_random=False),
)
def test_an_event_ends_whoever_leaves_it(count: int, leaving: set[int], kind: str, decide: random.Random) -> None:
    rules = Rules(elimination="double") if kind == "double" else Rules(third_place=True)
    event = event_of(count, rules)
    for number in sorted(leaving & set(range(1, count))):
        event = withdraw(event, f"e{number}", BY)
    event = play(event, decide)
    progress = Progress(event)
    assert not any(progress.is_ready(match) for match in event.matches)
    open_games = [match.id for match in event.matches if match.result is None and progress.is_needed(match)]
    assert open_games == []
    champion = next(entrant for entrant in event.entrants if entrant.id == ranking(event)[0].entrant)
    assert not champion.withdrawn or all(entrant.withdrawn for entrant in event.entrants[:-1])


def test_before_the_draw_a_withdrawal_is_as_if_never_registered() -> None:
    event = TournamentEvent("Open", entrants=tuple(coaches(3)))
    assert [entrant.id for entrant in withdraw(event, "e2", BY).entrants] == ["e1", "e3"]


def test_registration_refuses_twice_the_same_and_strangers_after_the_draw() -> None:
    event = TournamentEvent("Open", entrants=tuple(coaches(3)))
    with pytest.raises(InputError, match="registered already"):
        register(event, Entrant("new", "coach 1"), BY)
    with pytest.raises(InputError, match="has seed 2 already"):
        register(event, Entrant("new", "New", seed=2), BY)
    drawn = draw(event, BY)
    with pytest.raises(RefusedError, match="nobody can be added"):
        register(drawn, Entrant("new", "New"), BY)
    assert register(drawn, replace(drawn.entrants[0], team="Lions"), BY).entrants[0].name == "Lions"
    with pytest.raises(RefusedError, match="seeds can't change"):
        register(drawn, replace(drawn.entrants[0], seed=9), BY)
    assert undo_draw(drawn, BY).matches == ()
    with pytest.raises(RefusedError, match="played already"):
        undo_draw(play(drawn), BY)


@pytest.mark.parametrize(
    ("count", "rules", "told"),
    [
        (1, Rules(), "at least two"),
        (5, Rules(pools=3), "3 pools need at least 6"),
        (6, Rules(pools=3, advance=3), "the smallest pool has 2"),
        (3, Rules(pools=1, advance=1), "Only one would go on"),
    ],
)
def test_an_impossible_draw_is_refused(count: int, rules: Rules, told: str) -> None:
    with pytest.raises(InputError, match=told):
        event_of(count, rules)


def test_a_game_is_moved_only_where_nothing_collides() -> None:
    event = make_schedule(change_clock(event_of(4, Rules()), EventClock(), ["1", "2"], BY), BY)
    first, second, _ = event.matches
    assert (first.slot, second.slot) == (0, 0)
    with pytest.raises(RefusedError, match=f"W1-2 is played at table {second.table} then"):
        move(event, "W1-1", second.table, 0, BY)
    with pytest.raises(RefusedError, match="W1-1 decides who plays FINAL"):
        move(event, "W1-1", first.table, 2, BY)
    with pytest.raises(InputError, match="no table '3'"):
        move(event, "FINAL", "3", 4, BY)
    assert move(event, "FINAL", "2", 3, BY).matches[2].slot == 3


def attempt(event: TournamentEvent, chance: random.Random) -> TournamentEvent:
    """Do something at random that a director may try."""
    match = chance.choice([match.id for match in event.matches] or ["W1-1"])
    number = chance.randrange(1, 9)
    actions = [
        lambda: register(event, Entrant(f"e{number}", f"Coach {number}", seed=chance.choice([None, number])), BY),
        lambda: withdraw(event, f"e{number}", BY),
        lambda: draw(event, BY),
        lambda: undo_draw(event, BY),
        lambda: change_clock(event, EventClock(), ["1", "2"], BY),
        lambda: make_schedule(event, BY),
        lambda: enter_result(event, match, Result(chance.randrange(20), chance.randrange(20)), BY),
        lambda: enter_result(event, match, None, BY),
        lambda: move(event, match, "1", chance.randrange(9), BY),
    ]
    return chance.choice(actions)()


@given(
    st.integers(0, 10**6),
    st.sampled_from(
        [Rules(), Rules(pools=2), Rules(elimination="double"), Rules(pools=1, elimination="none", advance=1)]
    ),
)
def test_whatever_is_tried_an_event_stays_consistent(seed: int, rules: Rules) -> None:
    chance = random.Random(seed)
    event = TournamentEvent("Open", rules)
    for _ in range(60):
        with suppress(DownfieldError):
            event = attempt(event, chance)
        progress = Progress(event)
        for match in event.matches:
            home, away = progress.sides(match)
            assert home is None or home != away
            assert match.result is None or None not in {home, away}, f"{match.id} was played by nobody"
        taken = [(match.slot, match.table) for match in event.matches if match.slot is not None]
        assert len(set(taken)) == len(taken)


def test_coaches_are_checked_in_and_out_each_once_and_strangers_are_not() -> None:
    event = event_of(4, Rules())
    first, second = (entrant.id for entrant in event.entrants[:2])
    for identity in (first, second, first):
        event = check_in(event, identity, here=True, by=BY)
    assert sorted(event.here) == sorted([first, second])
    event = check_in(event, first, here=False, by=BY)
    assert event.here == (second,)
    with pytest.raises(NotFoundError):
        check_in(event, "nobody", here=True, by=BY)
