"""A game of cards and dice drawn at random, and how its coach sets the strip after every play.

The rulebook's own engine judges the plays, so what the strip should say is the state of the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from downfield.core.errors import RefusedError
from downfield.core.field.model import preset
from downfield.core.strip import Count, StripSet
from downfield.officiating.declarations import ChoiceMade, Coin, Declaration, FoulDeclared, Roll
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.unseen_declarations import CardPlayed, ReturnPlayed
from downfield.twin.strip.look import StripState, set_to

_PLAY_NS = 40_000_000_000
_PENALTY_ROLLS = {11, 21, 31, 41, 51, 81}


@dataclass(frozen=True, slots=True)
class StripMove:
    """One play and the strip after it."""

    events: tuple[Event, ...]
    game: GameState
    strip: StripState  # as the coach sets it then, its line up to 0.2 yd off the yard


def play_moves(strip: StripSet, seed: int, count: int) -> Iterator[StripMove]:
    """Yield the moves of a game in order.

    Args:
        strip: the set; its dials must have every face that the game comes to.
        seed: of cards, dice and the slide's error.
        count: number of moves; fewer where the game ends before.
    """
    rng = np.random.default_rng([seed, 0x57A7E])
    game = JudgedGame(load_rulebook("nfl-strategy"), preset("tudor-620"))
    number = 0
    for move in range(count):
        events: list[Event] = []
        while not events or game.state.wait is not None:
            event = Event(f"cards-{number}", (move + 1) * _PLAY_NS, "operator", _next(game.state, rng))
            try:
                game.apply(event)
            except RefusedError:
                event = replace(event, body=_plain(game.state))
                game.apply(event)
            events.append(event)
            number += 1
        state = game.state
        if state.phase is Phase.OVER:
            return
        set_off_yd = float(np.clip(rng.normal(0, 0.08), -0.2, 0.2))
        slide_yd = min(max(round(state.los_yd), 1), 99) + set_off_yd
        yield StripMove(tuple(events), state, set_to(strip, slide_yd, state.hash, numbers_of(state)))


def numbers_of(game: GameState) -> dict[Count, int]:
    """Return what the dials should say in a state of the game."""
    left_s = max(round(game.clock.left_s or 0.0), 0)
    return {
        "home": game.score[0] % 100,
        "away": game.score[1] % 100,
        "down": game.down,
        "quarter": min(game.period, 5),
        "minutes": left_s // 60,
        "seconds": left_s % 60,
    }


def _d100(rng: np.random.Generator) -> int:
    """Return a percentile roll that brings no penalty, which would need further declarations."""
    while (roll := int(rng.integers(1, 101))) in _PENALTY_ROLLS:
        pass
    return roll


def _next(game: GameState, rng: np.random.Generator) -> Declaration:
    """Return the next thing to declare: the answer the game waits for, or a play."""
    wait = game.wait
    if wait is not None and wait.purpose not in {"try", "return"}:
        if wait.kind == "coin":
            return Coin(bool(rng.integers(2)))
        if wait.kind == "choice":
            return ChoiceMade(wait.options[int(rng.integers(len(wait.options)))], wait.by)
        if wait.purpose == "penalty":
            return FoulDeclared(wait.by or game.offense, 5)
        return Roll((_d100(rng),), by=wait.by)
    if wait is not None and wait.purpose == "return":
        return ReturnPlayed(str(int(rng.integers(5, 28))), roll=_d100(rng))
    if wait is not None:
        return CardPlayed("extra_point", "good" if rng.random() < 0.9 else "no good", roll=_d100(rng))
    return _card(game, rng)


def _card(game: GameState, rng: np.random.Generator) -> CardPlayed:
    dots: tuple[Literal["black", "red", "blue"], ...] = ("black", "red", "blue")
    dot = dots[int(rng.integers(3))]
    roll = _d100(rng)
    if game.due in {"kickoff", "free_kick"}:
        return CardPlayed("kickoff", str(int(rng.integers(45, 62))), roll=roll)
    to_goal = game.length_yd - game.progress_yd(game.los_yd)
    if game.down == 4 and game.distance_yd > 2:
        if to_goal < 38:
            return CardPlayed("field_goal", "good" if rng.random() < 0.7 else "no good", roll=roll)
        return CardPlayed("punt", f"{int(rng.integers(30, 48))}FC", roll=roll)
    if rng.random() < 0.45:
        return CardPlayed("run", str(int(rng.integers(-3, 14))), roll=roll, dot=dot)
    draw = rng.random()
    shown = "inc" if draw < 0.35 else f"{int(rng.integers(3, 30))}i" if draw < 0.4 else str(int(rng.integers(2, 34)))
    return CardPlayed("pass", shown, roll=roll, dot=dot if shown.isdecimal() else None)


def _plain(game: GameState) -> Declaration:
    """Return a declaration that is always possible in place of one that the state refused."""
    if game.wait is not None and game.wait.purpose == "return":
        return ReturnPlayed("10", roll=5)
    if game.wait is not None and game.wait.kind == "roll":
        return Roll((50,), by=game.wait.by)
    return CardPlayed("kickoff" if game.due in {"kickoff", "free_kick"} else "run", "2", roll=60, dot="red")
