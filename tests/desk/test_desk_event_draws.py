"""Draws: pools and brackets for any number of coaches, and who loses how often in them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from desk_events import coaches, event_of, losses, play, sides
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.desk.event.brackets import (
    double_elimination,
    draw_pools,
    pool_names,
    round_robin,
    seed_order,
    seeded_places,
    single_elimination,
)
from downfield.desk.event.progress import depends_on, ranking
from downfield.desk.event.records import Elimination, PoolPlace, Rules


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


@given(st.integers(2, 33), st.randoms(use_true_random=False))
def test_in_a_single_elimination_all_but_the_winner_lose_once(count: int, decide: random.Random) -> None:
    event = play(event_of(count, Rules()), decide)
    assert len(event.matches) == count - 1
    assert sorted(losses(event, "winners", "final").values()) == [1] * (count - 1)
    places = ranking(event)
    assert len(places) == count
    assert losses(event, "winners", "final")[places[0].entrant] == 0


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


@given(st.integers(4, 33), st.randoms(use_true_random=False))
def test_first_round_losers_play_on_in_the_consolation(count: int, decide: random.Random) -> None:
    event = play(event_of(count, Rules(consolation=True, third_place=True)), decide)
    first = sum(match.stage == "winners" and match.round == 1 for match in event.matches)
    assert sum(match.stage == "consolation" for match in event.matches) == max(0, first - 1)
    assert sorted(losses(event, "consolation").values()) == [1] * max(0, first - 1)
    assert len(ranking(event)) == count
    assert [rank.place for rank in ranking(event)][:4] == [1, 2, 3, 4]


# --- schedule ------------------------------------------------------------------------------------------------------


@given(st.integers(2, 20), st.integers(2, 4))
@settings(max_examples=60)
def test_those_of_one_pool_meet_again_as_late_as_they_can(pools: int, advance: int) -> None:
    places = seeded_places(dict.fromkeys(pool_names(pools), ("e",) * advance), 1, advance)
    assert [place.place for place in places] == sorted(place.place for place in places)
    order = seed_order(1 << (len(places) - 1).bit_length())
    at = {(place.pool, place.place): order.index(seed) for seed, place in enumerate(places, start=1)}
    assert len(at) == pools * advance
    last = (len(order) - 1).bit_length()
    for pool in {place.pool for place in places}:
        own = [at[pool, place] for place in range(1, advance + 1)]
        meetings = [(one ^ other).bit_length() for one, other in combinations(own, 2)]
        assert (own[0] ^ own[1]).bit_length() == last, "first and second meet before the final"
        # Of three and four, two at most share a half.
        assert min(meetings) >= last - 1
        assert sum(meeting == last for meeting in meetings) >= {2: 1, 3: 2, 4: 4}[advance]


@pytest.mark.parametrize(("pools", "kind"), [(2, "single"), (4, "single"), (2, "double"), (4, "double"), (8, "single")])
def test_nobody_meets_somebody_of_their_pool_in_the_first_round(pools: int, kind: Elimination) -> None:
    event = event_of(4 * pools, Rules(pools=pools, advance=2, elimination=kind))
    first = [match for match in event.matches if match.stage == "winners" and match.round == 1]
    assert len(first) == pools
    for match in first:
        assert isinstance(match.home, PoolPlace)
        assert isinstance(match.away, PoolPlace)
        assert match.home.pool != match.away.pool
        assert {match.home.place, match.away.place} == {1, 2}


@given(st.integers(3, 24), st.integers(1, 6), st.integers(1, 3), st.sampled_from(["single", "double"]), st.randoms())
def test_who_does_not_go_on_from_the_pools_plays_the_consolation(
    count: int, pools: int, advance: int, kind: Elimination, decide: random.Random
) -> None:
    pools = min(pools, count // max(2, advance))
    if pools * advance < 2 or pools == 0:
        return
    event = event_of(count, Rules(pools=pools, advance=advance, elimination=kind, consolation=True))
    stay = count - pools * advance
    assert sum(match.stage == "consolation" for match in event.matches) == max(0, stay - 1)
    ended = play(event, decide)
    if stay > 1:
        assert sorted(losses(ended, "consolation").values()) == [1] * (stay - 1)
    places = ranking(ended)
    assert sorted(rank.entrant for rank in places) == sorted(entrant.id for entrant in ended.entrants)
    gone_on = {rank.entrant for rank in places[: pools * advance]}
    assert all(rank.entrant not in gone_on for rank in places[pools * advance :])
    if stay > 1:
        assert places[pools * advance].text.startswith("won C")
        assert places[pools * advance].place == pools * advance + 1


def test_first_round_losers_who_play_on_after_pools_as_drawn_by_an_earlier_version_keep_their_places() -> None:
    rules = Rules(pools=2, advance=4, consolation=True)
    drawn = event_of(8, rules)
    old = single_elimination(seeded_places(drawn.pools, 1, 4), consolation=True)
    event = replace(drawn, matches=(*(match for match in drawn.matches if match.stage == "pool"), *old))
    places = ranking(play(event))
    assert [rank.place for rank in places] == [1, 2, 3, 3, 5, 5, 5, 5]
    assert len({rank.entrant for rank in places}) == 8
