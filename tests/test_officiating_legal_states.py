"""Any declarations in any order: each is refused and changes nothing, or leads to a state that football allows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from declared_game import DeclaredGame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from downfield.core.errors import RefusedError
from downfield.core.scene import Player
from downfield.officiating.calls import Call, CallKind
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
from downfield.officiating.engine.state import GameState, Phase
from downfield.officiating.events import Ruling

FIGURES = ("dark-7", "dark-22", "dark-60", "light-50", "light-7")
ROSTER = tuple(
    Player(name, "dark" if name.startswith("dark") else "light", role=role)
    for name, role in zip(FIGURES, ("QB", "RB", "G", "LB", "QB"), strict=True)
)
SIDES: tuple[Side, ...] = ("home", "away")
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
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
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


def assert_legal(state: GameState, before: GameState) -> None:
    assert all(now >= then for now, then in zip(state.score, before.score, strict=True))
    assert sum(state.score) - sum(before.score) in {0, 1, 2, 3, 6}
    assert 1 <= state.down <= 4
    assert (state.wait is None) == (state.phase not in {Phase.PENDING_ROLL, Phase.PENDING_CHOICE})
    if state.due == "scrimmage" and state.phase is Phase.BETWEEN_PLAYS:
        assert 0 < state.progress_yd(state.los_yd) < state.length_yd
        assert 0 < state.distance_yd <= state.length_yd
    assert state.time_outs is None or min(state.time_outs) >= 0
