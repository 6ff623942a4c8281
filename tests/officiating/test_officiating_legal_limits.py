"""Corrections of the table, and numbers at their limits: in any state refused, or legal and possible after."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Step
from hypothesis import strategies as st
from legal_engines import BOOKS, begin, replayed, word_of
from legal_moves import filled, playable
from legal_states import FIGURES, ROSTER, SIDES, assert_legal
from possible_states import LONGEST_CLOCK_S, assert_possible

from downfield.core.errors import RefusedError
from downfield.officiating import declarations as d
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import OvertimeSetUp

LENGTH_YD, WIDTH_YD, END_ZONE_YD = 100.0, 160 / 3, 10.0


def near(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers at, just inside and just outside the limits, in between, and those that are none."""
    edges = [edge + step for edge in (low, high) for step in (0.0, 1e-9, -1e-9, 0.5, -0.5)]
    return st.one_of(st.sampled_from([*edges, math.nan, math.inf, -math.inf]), st.floats(low, high))


side = st.sampled_from(SIDES)
figure = st.sampled_from([*FIGURES, "nobody"])
places = st.tuples(near(-END_ZONE_YD, LENGTH_YD + END_ZONE_YD), near(0.0, WIDTH_YD))
few = st.integers(-1, 4)
pairs = st.one_of(st.none(), st.tuples(few, few))
set_ups = st.builds(
    d.SetUp,
    side,
    st.sampled_from([1, -1]),
    st.one_of(st.none(), near(0.0, LENGTH_YD)),
    st.integers(0, 5),
    near(0.0, LENGTH_YD),
    st.integers(0, 6),
    st.one_of(st.none(), near(0.0, 1800.0)),
    st.tuples(st.sampled_from([-1, 0, 1, 6, 255, 256]), st.sampled_from([0, 3, 6, 7])),
    due=st.sampled_from(["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"]),
    time_outs=pairs,
    reviews_used=pairs,
    spiked=st.one_of(st.none(), st.tuples(st.booleans(), st.booleans())),
    overtime=st.one_of(st.none(), st.builds(OvertimeSetUp, side, few, st.lists(near(0.0, 6.0), max_size=3).map(tuple))),
)
corrections: st.SearchStrategy[Any] = st.one_of(
    set_ups,
    st.builds(
        d.LineUpDeclared,
        st.sampled_from([ROSTER, ROSTER[:2], (), (*ROSTER, ROSTER[0])]),
        st.sampled_from([None, "dark", "light"]),
    ),
    st.builds(d.FrontDeclared, figure, near(-360.0, 360.0)),
    st.builds(d.BaseSwap, figure, st.booleans()),
    st.builds(d.BallPlaced, st.one_of(st.none(), places.map(lambda place: place[0])), near(0.0, WIDTH_YD)),
    st.builds(d.ClockSet, st.booleans(), st.one_of(st.none(), near(0.0, LONGEST_CLOCK_S))),
    st.builds(d.PlayEnded, st.sampled_from(["tackle", "out_of_bounds", "stopped", "fumble"]), places, by=side),
    st.builds(d.PassEnded, st.sampled_from(["complete", "intercepted"]), figure, places),
    st.builds(
        d.KickEnded, st.just("touched"), near(-END_ZONE_YD, LENGTH_YD + END_ZONE_YD), near(0.0, WIDTH_YD), by=side
    ),
    st.builds(d.PassDeclared, figure, near(0.0, 130.0)),
    st.builds(d.FoulDeclared, side, st.sampled_from([-5, 0, 5, 15, 99])),
)


@pytest.mark.parametrize("book", BOOKS)
@settings(
    max_examples=8, suppress_health_check=[HealthCheck.too_slow], phases=(Step.explicit, Step.reuse, Step.generate)
)
@given(st.randoms(use_true_random=False), st.booleans(), st.lists(corrections, min_size=20, max_size=20))
def test_a_correction_is_refused_or_legal_and_leaves_a_possible_game(
    book: str, chance: random.Random, line_up: bool, tries: list[Any]
) -> None:
    table = begin(book, line_up=line_up)
    for body in tries:
        now, before = table.game.legal(), table.state
        copy = replayed(table)
        try:
            copy.declare(body)
        except RefusedError:
            assert copy.state == before
        else:
            entry = now.find(body.type, word_of(body, table))
            assert entry is not None
            assert entry.allowed, (body, entry.reason, before.text)
            assert_possible(copy.state)
            if isinstance(body, d.SetUp):
                table.declare(body)
                continue
        if before.phase is Phase.OVER:
            return
        table.declare(filled(chance.choice(playable(now)), now, before, chance))
        assert_legal(table.state, before)
        assert_possible(table.state)
