"""Rulings and undo at random times: the game afterwards is the one judged anew, and one that can be."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from declared_game import DeclaredGame, kinds
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Step
from hypothesis import strategies as st
from legal_engines import BOOKS, begin
from legal_moves import filled, playable
from legal_states import ROSTER, SIDES
from possible_states import assert_possible

from downfield.core.errors import RefusedError
from downfield.core.field.model import load_field
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration, LineUpDeclared, PlayEnded, Roll
from downfield.officiating.engine.recording import judge_recording
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.lions_den.skilled_players import SKILLED_PLAYERS
from downfield.officiating.state.game_state import Phase

MOVES = 25
REPLACEMENTS: tuple[CallKind, ...] = ("tackle", "incomplete", "touchdown", "turnover_on_downs", "safety")


@pytest.mark.parametrize("book", ["tap", "efl", "lions-den"])
@pytest.mark.parametrize("again", [1, 2])
def test_a_ruling_is_not_about_the_call_that_follows_from_it(book: str, again: int) -> None:
    """A turnover on downs that becomes a tackle on fourth down is followed by a turnover on downs, once."""
    table = begin(book, line_up=True).at(40.0, 4)
    (lost,) = [call for call in table.declare(PlayEnded("tackle", (42.0, 20.0))) if call.kind == "turnover_on_downs"]
    for _ in range(again):
        tackle = Call("x", "tackle", lost.t_ns, book, (), "called", "tackle", spot_yd=(43.0, 20.0), side="home")
        table.declare(Ruling(lost.id, "overturn", tackle))
        standing = list(table.game.calls)
        assert len({call.id for call in standing}) == len(standing)
        assert "turnover_on_downs" in kinds(standing)
        (lost,) = [call for call in standing if call.kind == "turnover_on_downs"]
    assert (table.state.offense, table.state.down) == ("away", 1)


@pytest.mark.parametrize("decision", ["strike", "overturn"])
def test_a_call_made_by_hand_is_ruled_on_like_any_other(decision: str) -> None:
    """Its points go with it, and come back when the ruling is undone."""
    game = DeclaredGame("tap").at(60.0)
    touchdown = Call("manual:1", "touchdown", 2_000_000_000, "tap", (), "called", "touchdown", side="home")
    tackle = Call("x", "tackle", 2_000_000_000, "tap", (), "called", "tackle", spot_yd=(70.5, 20.0))
    game.declare(Ruling("manual:1", "manual", touchdown))
    assert game.state.score == (6, 0)
    game.declare(Ruling("manual:1", decision, tackle if decision == "overturn" else None))  # type: ignore[arg-type]
    assert game.state.score == (0, 0)
    assert kinds(list(game.game.calls)) == (["tackle", "first_down"] if decision == "overturn" else [])
    game.declare(Undo("e3"))
    assert game.state.score == (6, 0)


class RuledGame:
    """A game of random declarations, rulings and undos, with its log."""

    def __init__(self, book: str, chance: random.Random) -> None:
        self.table = DeclaredGame(book)
        self.log: list[Event] = []
        self._chance = chance
        self._book = book
        self.enter(LineUpDeclared(ROSTER, "dark"))
        if book == "lions-den":
            for player, side in itertools.product(SKILLED_PLAYERS, SIDES):
                self.enter(Roll((4, 5), player, side))

    def enter(self, body: Declaration | Ruling | Undo | Tick) -> None:
        """Enter something, unless the state refuses it."""
        number = next(self.table._count)
        event = Event(f"e{number}", number * 1_000_000_000, "operator", body)
        try:
            self.table.game.apply(event)
        except RefusedError:
            return
        self.log.append(event)

    def step(self) -> None:
        """Go on with the game, and now and then take something back."""
        legal, state = self.table.game.legal(), self.table.state
        self.enter(filled(self._chance.choice(playable(legal)), legal, state, self._chance))
        calls = self.table.game.calls
        if calls and self._chance.random() < 0.3:
            self.enter(self._ruling(self._chance.choice(calls)))
        if len(self.log) > 3 and self._chance.random() < 0.2:
            self.enter(Undo(self._chance.choice(self.log[1:]).id))

    def _ruling(self, call: Call) -> Ruling:
        if self._chance.random() < 0.5:
            return Ruling(call.id, "strike" if self._chance.random() < 0.5 else "confirm")
        kind = self._chance.choice(REPLACEMENTS)
        spot, side = (self._chance.uniform(5.0, 95.0), 20.0), self._chance.choice(SIDES)
        replacement = Call("x", kind, call.t_ns, self._book, (), "called", kind, (), spot, side=side)
        return Ruling(call.id, "overturn", replacement)


@pytest.mark.parametrize("book", BOOKS)
@settings(
    max_examples=3, suppress_health_check=[HealthCheck.too_slow], phases=(Step.explicit, Step.reuse, Step.generate)
)
@given(st.randoms(use_true_random=False))
def test_whatever_is_ruled_or_undone_the_game_is_the_one_judged_anew(book: str, chance: random.Random) -> None:
    game = RuledGame(book, chance)
    for _ in range(MOVES):
        if game.table.state.phase is Phase.OVER:
            break
        game.step()
        assert_possible(game.table.state)
    game.enter(Tick())
    anew = judge_recording((), tuple(game.log), game.table.game.rulebook, load_field("ultimate"))
    assert [call.id for call in game.table.game.calls] == [call.id for call in anew.calls]
    assert replace(game.table.state, now_ns=0) == replace(anew.state, now_ns=0)
