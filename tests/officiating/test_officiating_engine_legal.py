"""What may be declared and what is refused agree in every state of whole games of each rulebook."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Step
from hypothesis import strategies as st
from legal_engines import BOOKS, begin, replayed, word_of
from legal_moves import filled, playable
from legal_states import FIGURES, SIDES, assert_legal

from downfield.core.errors import RefusedError
from downfield.officiating import declarations as d
from downfield.officiating.engine.legal import legal
from downfield.officiating.state.game_state import Phase
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed

MIDDLE = (50.0, 26.0)

side = st.sampled_from(SIDES)
figure = st.sampled_from(FIGURES)
anything: st.SearchStrategy[Any] = st.one_of(
    st.builds(d.Carrier, figure),
    st.builds(d.Switch, st.booleans(), st.one_of(st.none(), side)),
    st.builds(d.PassDeclared, st.one_of(st.none(), figure)),
    st.builds(d.PassEnded, st.sampled_from(["complete", "incomplete", "intercepted"]), st.one_of(st.none(), figure)),
    st.builds(d.Pitch, figure),
    st.builds(d.PivotsDone, side),
    st.builds(d.KickDeclared, st.sampled_from(["kickoff", "onside", "punt", "field_goal", "extra_point", "free_kick"])),
    st.builds(d.KickEnded, st.sampled_from(["good", "no_good", "blocked", "out_of_bounds", "touched"]), st.just(50.0)),
    st.builds(d.PlayEnded, st.sampled_from(["tackle", "sack", "fumble", "recovered"]), st.just(MIDDLE), by=side),
    st.builds(d.PlayEnded, st.sampled_from(["touchdown", "safety", "touchback", "incomplete"]), by=side),
    st.builds(d.ChoiceMade, st.sampled_from(["touchback", "return", "extra_point", "two_point", "accept", "decline",
                                             "punt", "stop_here", "let_run", "spike", "kneel", "hurry_up"]),
              st.one_of(st.none(), side)),
    st.builds(d.Roll, st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)),
    st.builds(d.Coin, st.booleans()),
    st.builds(d.Claim, st.sampled_from(["time_out", "review", "delay_of_game"]), side),
    st.sampled_from([d.Separated(), d.OffenseSet(), ReturnPlayed("5"), d.ClockSet(True), d.FoulDeclared("home", 5)]),
    st.builds(CardPlayed, st.sampled_from(["run", "pass", "punt", "kickoff", "extra_point"]), st.just("9")),
)  # fmt: skip


@pytest.mark.parametrize("book", BOOKS)
@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Step.explicit, Step.reuse, Step.generate),  # a game does not shrink to anything shorter that says more
)
@given(st.randoms(use_true_random=False), st.booleans(), st.lists(anything, min_size=25, max_size=25))
def test_nothing_legal_is_refused_and_nothing_else_accepted(
    book: str, chance: random.Random, line_up: bool, tries: list[Any]
) -> None:
    table = begin(book, line_up=line_up)
    for body in tries:
        now = table.game.legal()
        before = table.state
        copy = replayed(table)
        try:
            copy.declare(body)
        except RefusedError:
            assert copy.state == before
        else:
            entry = now.find(body.type, word_of(body, table))
            assert entry is not None
            assert entry.allowed, (body, entry.reason, before.text)
        if before.phase is Phase.OVER:
            return
        moves = playable(now)
        table.declare(filled(chance.choice(moves), now, before, chance))
        assert_legal(table.state, before)
        left = table.state.clock.left_s
        assert left is None or left >= 0


def test_asking_changes_nothing() -> None:
    table = begin("tap", line_up=True)
    before = table.game._state
    assert table.game.legal() == legal(table.game._engine, before)
    assert table.game._state == before
    assert table.game.calls == ()


@pytest.mark.parametrize("book", BOOKS)
def test_a_correction_starts_from_the_game_as_it_stands(book: str) -> None:
    table = begin(book, line_up=True)
    table.declare(d.SetUp("away", -1, 37.0, 3, 4.0, 2, 300.0, (14, 6)))
    before = table.state
    entry = table.game.legal().find("set_up")
    assert entry is not None
    assert entry.example is not None
    table.declare(entry.example)
    assert (table.state.situation, table.state.score, table.state.period) == (before.situation, (14, 6), before.period)
    assert table.state.clock.left_s == 300.0


def test_the_dice_that_are_due_are_told_with_their_count_and_sides() -> None:
    table = begin("lions-den", line_up=True)
    table.declare(d.SetUp("home", 1, 40.0), d.Carrier("dark-7"), d.Switch(True))
    table.declare(d.PassDeclared("dark-22", 12.0, ("light-50", "light-7")), d.Roll((4, 4)))
    due = table.game.legal().dice
    assert due is not None
    assert (due.purpose, due.count, due.sides, due.by) == ("interception", 2, 10, "away")
    with pytest.raises(RefusedError, match="2 dice expected"):
        table.declare(d.Roll((4,)))


def test_pivots_and_stoppages_left_are_told() -> None:
    table = begin("tap", line_up=True)
    table.declare(d.SetUp("home", 1, 40.0), d.Carrier("dark-7"), d.Switch(True), d.Switch(False))
    now = table.game.legal()
    assert now.stoppages_left == 2
    offense, defense = now.pivots
    assert (offense.most, defense.beyond_offense, defense.none_for_none) == (None, 1, True)
    table.declare(d.PivotsDone("home"))
    assert table.game.legal().pivots[0].done


def test_who_may_be_named_and_who_may_decide_are_told() -> None:
    table = begin("tap", line_up=True)
    table.declare(d.SetUp("home", 1, 40.0), d.Carrier("dark-7"), d.Switch(True), d.Switch(False))
    passing = table.game.legal().find("pass")
    assert passing is not None
    assert passing.players == ("dark-22",)
    claims = table.game.legal().find("claim", "time_out")
    assert claims is not None
    assert "none with a running game clock" in claims.reason
    table.declare(d.PassDeclared("dark-22"))
    again = table.game.legal().find("pass")
    assert again is not None
    assert not again.allowed
