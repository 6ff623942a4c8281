"""Any declarations in any order: each is refused and changes nothing, or leads to a state that football allows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from declared_game import DeclaredGame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from legal_states import FIGURES, ROSTER, SIDES, assert_legal

from downfield.core.errors import RefusedError
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import (
    Carrier,
    ChoiceMade,
    Claim,
    ClockSet,
    Coin,
    Declaration,
    KickDeclared,
    KickEnded,
    LineUpDeclared,
    PassDeclared,
    PassEnded,
    Roll,
    Separated,
    Side,
    Switch,
)
from downfield.officiating.events import Ruling

CALLED_BY_HAND: tuple[CallKind, ...] = (
    "tackle",
    "out_of_bounds",
    "touchdown",
    "incomplete",
    "interception",
    "fumble",
    "fumble_recovery",
    "sack",
    "safety",
)


def by_hand(kind: CallKind, x_yd: float, side: Side, player: str) -> Ruling:
    return Ruling("", "manual", Call(f"{kind}", kind, 0, "", (), "called", kind, (player,), (x_yd, 26.0), side=side))


side = st.sampled_from(SIDES)
figure = st.sampled_from(FIGURES)
yards = st.floats(1, 99)
bodies: st.SearchStrategy[Declaration | Ruling] = st.one_of(
    st.builds(Carrier, figure),
    st.builds(Switch, st.booleans()),
    st.just(Separated()),
    st.builds(PassDeclared, figure),
    st.builds(PassEnded, st.sampled_from(["complete", "incomplete", "intercepted"]), figure),
    st.builds(KickDeclared, st.sampled_from(["kickoff", "onside", "punt", "field_goal", "extra_point"])),
    st.builds(
        KickEnded,
        st.sampled_from(["good", "no_good", "blocked", "out_of_bounds", "touched"]),
        yards,
        st.just(26.0),
        figure,
    ),
    st.builds(ChoiceMade, st.sampled_from(["touchback", "return", "extra_point", "two_point", "accept", "decline"])),
    st.builds(Roll, st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)),
    st.builds(Coin, st.booleans()),
    st.builds(Claim, st.sampled_from(["time_out", "review", "delay_of_game"]), side),
    st.builds(ClockSet, st.booleans(), st.sampled_from([0.0, 100.0, 250.0, 800.0])),
    st.builds(by_hand, st.sampled_from(CALLED_BY_HAND), yards, side, figure),
)


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(bodies, min_size=10, max_size=60))
def test_states_are_always_legal(book: str, declared: Sequence[Declaration | Ruling]) -> None:
    table = DeclaredGame(book)
    table.declare(LineUpDeclared(ROSTER, "dark"))
    if book == "lions-den":
        for player in ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter"):
            table.declare(*(Roll((4, 5), player, coach) for coach in SIDES))
    for body in declared:
        before = table.state
        try:
            table.declare(body)
        except RefusedError:
            assert table.state == before
            continue
        assert_legal(table.state, before)
