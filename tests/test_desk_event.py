"""Events: draws, brackets, schedules, standings and withdrawals, for any number of coaches and any results."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.errors import DownfieldError, InputError, RefusedError
from downfield.desk.event.brackets import double_elimination, seed_order, single_elimination
from downfield.desk.event.operations import (
    change_clock,
    draw,
    draw_lots,
    enter_result,
    make_schedule,
    move,
    register,
    undo_draw,
    withdraw,
)
from downfield.desk.event.pools import draw_pools, round_robin
from downfield.desk.event.progress import Progress, depends_on
from downfield.desk.event.ranking import ranking
from downfield.desk.event.records import (
    Change,
    Elimination,
    Entrant,
    EventClock,
    KnownEntrant,
    Match,
    Result,
    Rules,
    Session,
    TournamentEvent,
)
from downfield.desk.event.schedule import schedule, slot_times
from downfield.desk.event.standings import pool_standings

BY = Change("2026-09-05T09:00:00+02:00", "the director", "test")


def coaches(count: int, *, seeded: bool = True) -> list[Entrant]:
    return [Entrant(f"e{n}", f"Coach {n}", seed=n if seeded else None) for n in range(1, count + 1)]


def sides(count: int) -> list[KnownEntrant]:
    return [KnownEntrant(entrant.id) for entrant in coaches(count)]


def event_of(count: int, rules: Rules) -> TournamentEvent:
    return draw(TournamentEvent("Open", rules, entrants=tuple(coaches(count))), BY)


def better_seed(home: str, away: str) -> Result:
    return Result(7, 0) if int(home[1:]) < int(away[1:]) else Result(0, 7)


def play(event: TournamentEvent, decide: random.Random | None = None) -> TournamentEvent:
    """Play everything that can be played, by seeds or at random."""
    while True:
        progress = Progress(event)
        match = next((match for match in event.matches if progress.is_ready(match)), None)
        if match is None:
            return event
        home, away = progress.sides(match)
        assert home is not None
        assert away is not None
        assert home != away, f"{match.id}: somebody plays themselves"
        if decide is None:
            result = better_seed(home, away)
        else:
            result = Result(decide.randrange(40), decide.randrange(40))
            if match.stage != "pool" and result.winner is None:
                result = replace(result, home=result.home + 3, overtime=True)
        event = enter_result(event, match.id, result, BY)


def losses(event: TournamentEvent, *stages: str) -> Counter[str]:
    progress, out = Progress(event), Counter[str]()
    for match in event.matches:
        if match.result is not None and match.stage in stages:
            loser = progress.sides(match)[1 if match.result.winner == "home" else 0]
            assert loser is not None
            out[loser] += 1
    return out


# --- pools ---------------------------------------------------------------------------------------------------------


@given(st.integers(2, 24))
def test_in_a_pool_everybody_plays_everybody_once_and_never_twice_in_a_round(count: int) -> None:
    ids = [f"e{n}" for n in range(count)]
    matches = round_robin("A", ids)
    pairs = [(match.home.entrant, match.away.entrant) for match in matches]  # type: ignore[union-attr]
    assert Counter(frozenset(pair) for pair in pairs) == Counter(frozenset(pair) for pair in combinations(ids, 2))
    for number in {match.round for match in matches}:
        playing = [one for match, pair in zip(matches, pairs, strict=True) if match.round == number for one in pair]
        assert len(set(playing)) == len(playing)
    assert max(match.round for match in matches) == (count if count % 2 else count - 1)
    at_home = Counter(home for home, _ in pairs)
    for one in ids:
        assert abs(at_home[one] - (count - 1 - at_home[one])) <= 1, f"{one} is at home in {at_home[one]} of {count - 1}"


@given(st.integers(1, 8), st.integers(2, 70))
def test_pools_are_equally_large_and_about_equally_strong(pools: int, count: int) -> None:
    count = max(count, pools)
    drawn = draw_pools(coaches(count), pools)
    assert sorted(one for pool in drawn.values() for one in pool) == sorted(entrant.id for entrant in coaches(count))
    sizes = [len(pool) for pool in drawn.values()]
    assert max(sizes) - min(sizes) <= 1
    tops = sorted(min(int(one[1:]) for one in pool) for pool in drawn.values())
    assert tops == list(range(1, pools + 1)), "the strongest of each pool are not the strongest of all"


def test_those_of_one_club_are_drawn_apart() -> None:
    entrants = [replace(entrant, club="River" if entrant.seed in {1, 4, 5} else "") for entrant in coaches(9)]
    drawn = draw_pools(entrants, 3)
    assert all(sum(one in {"e1", "e4", "e5"} for one in pool) == 1 for pool in drawn.values())


# --- brackets ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 7))
def test_the_order_of_seeds_puts_the_two_strongest_of_every_part_at_its_ends(power: int) -> None:
    order = seed_order(2**power)
    assert sorted(order) == list(range(1, 2**power + 1))
    assert all(sum(pair) == 2**power + 1 for pair in zip(order[::2], order[1::2], strict=False) if power)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 33), st.randoms(use_true_random=False))
def test_in_a_single_elimination_all_but_the_winner_lose_once(count: int, decide: random.Random) -> None:
    event = play(event_of(count, Rules()), decide)
    assert len(event.matches) == count - 1
    assert sorted(losses(event, "winners", "final").values()) == [1] * (count - 1)
    places = ranking(event)
    assert len(places) == count
    assert losses(event, "winners", "final")[places[0].entrant] == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 33))
def test_if_the_stronger_wins_every_game_the_ranking_is_the_seeding(count: int) -> None:
    for rules in (Rules(), Rules(elimination="double")):
        places = ranking(play(event_of(count, rules)))
        assert [rank.entrant for rank in places[:2]] == ["e1", "e2"]
        for rank in places:
            assert rank.place <= int(rank.entrant[1:]) or rank.place < len(places)
    first_round = [match for match in single_elimination(sides(count)) if match.round == 1]
    playing = {side.entrant for match in first_round for side in (match.home, match.away)}  # type: ignore[union-attr]
    byes = [entrant for entrant in coaches(count) if entrant.id not in playing]
    assert [entrant.seed for entrant in byes] == list(range(1, len(byes) + 1)), "byes are not the strongest's"


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 24), st.randoms(use_true_random=False))
def test_in_a_double_elimination_all_but_the_winner_lose_twice(count: int, decide: random.Random) -> None:
    event = play(event_of(count, Rules(elimination="double")), decide)
    lost = losses(event, "winners", "losers", "final")
    champion = ranking(event)[0].entrant
    assert lost[champion] <= 1
    assert all(lost[entrant.id] == 2 for entrant in event.entrants if entrant.id != champion)
    played = sum(match.result is not None for match in event.matches)
    assert played == 2 * count - 2 + lost[champion]


@given(st.integers(2, 40))
def test_games_are_listed_after_those_that_decide_them(count: int) -> None:
    for matches in (
        double_elimination(sides(count)),
        single_elimination(sides(count), consolation=True, third_place=True),
    ):
        for place, match in enumerate(matches):
            assert not any(depends_on(match, later) for later in matches[place:])
        assert len({match.id for match in matches}) == len(matches)


@given(st.integers(0, 30), st.sampled_from(["none", "single", "double"]))
def test_every_game_of_an_event_has_a_name_of_its_own(pools: int, elimination: Elimination) -> None:
    if pools == 0 and elimination == "none":
        return
    event = event_of(max(4, 2 * pools), Rules(pools, 1 if pools > 1 else 2, elimination))
    names = [match.id for match in event.matches]
    assert len(set(names)) == len(names)


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 33), st.randoms(use_true_random=False))
def test_first_round_losers_play_on_in_the_consolation(count: int, decide: random.Random) -> None:
    event = play(event_of(count, Rules(consolation=True, third_place=True)), decide)
    first = sum(match.stage == "winners" and match.round == 1 for match in event.matches)
    assert sum(match.stage == "consolation" for match in event.matches) == max(0, first - 1)
    assert sorted(losses(event, "consolation").values()) == [1] * max(0, first - 1)
    assert len(ranking(event)) == count
    assert [rank.place for rank in ranking(event)][:4] == [1, 2, 3, 4]


# --- schedule ------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
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
    assert slot_times(clock) == [
        datetime(2026, 9, 5, 9, 0),
        datetime(2026, 9, 5, 10, 10),
        datetime(2026, 9, 6, 10, 0),
    ]


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


def test_a_correction_that_changes_who_went_on_needs_the_later_result_removed_first() -> None:
    event = play(event_of(4, Rules()))
    assert enter_result(event, "W1-1", Result(70, 0), BY).matches[0].result == Result(70, 0)
    with pytest.raises(RefusedError, match="FINAL was played with who came out of W1-1"):
        enter_result(event, "W1-1", Result(0, 7), BY)
    open_again = enter_result(event, "FINAL", None, BY)
    corrected = play(enter_result(open_again, "W1-1", Result(0, 7), BY))
    assert "e4" in {rank.entrant for rank in ranking(corrected)[:2]}


def test_the_second_final_is_only_played_if_needed() -> None:
    event = event_of(2, Rules(elimination="double"))
    first = enter_result(enter_result(event, "W1-1", Result(7, 0), BY), "FINAL", Result(7, 0), BY)
    with pytest.raises(RefusedError, match="only played if"):
        enter_result(first, "FINAL2", Result(7, 0), BY)
    again = enter_result(enter_result(event, "W1-1", Result(7, 0), BY), "FINAL", Result(0, 7), BY)
    assert ranking(again) == []
    assert ranking(enter_result(again, "FINAL2", Result(0, 7), BY))[0].place == 1


@settings(max_examples=30, deadline=None)
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
    with pytest.raises(RefusedError, match=f"W1-2 is played on table {second.table} then"):
        move(event, "W1-1", second.table, 0, BY)
    with pytest.raises(RefusedError, match="decide one another"):
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


@settings(max_examples=40, deadline=None)
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
