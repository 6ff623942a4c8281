"""Games that seek out what they have seen least reach every phase of each book and everything it ever waits for.

The random machines of `test_officiating_engine_legal` go where chance takes them. Here each move is the one that leads
to the state seen least so far; in every state everything that may be declared is tried, and must be accepted.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest
from declared_game import DeclaredGame
from legal_engines import begin, replayed
from legal_moves import filled, playable
from legal_states import assert_legal

from downfield.officiating import declarations as d
from downfield.officiating.engine.legal import LegalDeclaration
from downfield.officiating.events import Tick
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.unseen_declarations import CardPlayed

ON_THE_BOARD: Final = {"BETWEEN_PLAYS", "LINE_UP", "SET", "KICK", "LIVE", "STOPPED", "OVER"}
"""Phases of every book that is played on a vibrating board."""

EXPECTED: Final[dict[str, set[str]]] = {
    "tap": ON_THE_BOARD
    | {
        "PASS",
        "IN_AIR",
        "roll onside_length",
        "roll onside_place",
        "roll field_goal",
        "roll extra_point",
        "coin fumble",
    }
    | {"choice try", "choice kickoff", "choice punt", "choice overtime"},
    "efl": ON_THE_BOARD | {"IN_AIR", "roll kickoff", "roll punt", "roll field_goal", "roll extra_point"},
    "lions-den": ON_THE_BOARD
    | {f"roll {dice}" for dice in ("pass", "interception", "pitch", "kickoff", "punt", "punt_length", "field_goal")}
    | {f"roll {dice}" for dice in ("extra_point", "penalty", "injury", "injury_downs", "injury_games")}
    | {"choice penalty", "IN_AIR"},
    "nfl-strategy": {"BETWEEN_PLAYS", "LINE_UP", "OVER", "coin onside", "choice try", "choice review", "choice penalty"}
    | {f"roll {dice}" for dice in ("return", "fumble", "fumble_return", "interception_return", "review", "penalty")},
}
STARTS: Final[dict[str, tuple[d.SetUp, ...]]] = {
    "tap": (
        d.SetUp("home", 1, 60.0, 4, 8.0, score=(7, 7), clock_s=300.0),
        d.SetUp("home", 1, due="kickoff", score=(7, 0)),
        d.SetUp("away", -1, due="free_kick", score=(0, 2)),
    ),
    "efl": (d.SetUp("home", 1, 60.0, 2, 8.0, 4, 30.0, (7, 7)), d.SetUp("home", 1, 95.0, 4, 5.0, 4, 30.0, (7, 9))),
    "lions-den": (d.SetUp("home", 1, 40.0, 2, 8.0, 2, 30.0), d.SetUp("away", -1, 60.0, 3, 0, 2, 1.0, (3, 9))),
    "nfl-strategy": (d.SetUp("home", 1, 40.0, 2, 8.0, 4, 30.0), d.SetUp("home", 1, 97.0, 4, 0, 2, 60.0, (7, 9))),
}
MOVES: Final = 70
"""Moves of one game at most."""
GAMES: Final = 8
"""Games at most, in turn from each start."""


def name_of(game: GameState) -> str:
    return game.phase.name if game.wait is None else f"{game.wait.kind} {game.wait.purpose}"


def situation_of(game: GameState) -> str:
    """Return what a game that seeks novelty tells apart: also what is due, and who has the ball."""
    carrier = game.player(game.play.carrier)
    has_it = "" if carrier is None else carrier.role
    return f"{name_of(game)}, {game.due}, {has_it}, {game.play.ball_side == game.offense}"


def variants(entry: LegalDeclaration, table: DeclaredGame, now: Any, chance: random.Random) -> list[Any]:
    """Return a move with a few sets of numbers: dice decide where they lead."""
    moves = [filled(entry, now, table.state, chance) for _ in range(6 if entry.type in {"roll", "card"} else 1)]
    if entry.type == "roll" and now.dice is not None and entry.word == now.dice.purpose and now.dice.count == 1:
        moves = [replace(moves[0], dice=(face,)) for face in range(1, now.dice.sides + 1)]
    if entry.type == "card":
        moves = [replace(move, highlighted=True) if move.shown.endswith("F") else move for move in moves]
    if entry.type == "card" and entry.word == "run":
        moves.append(CardPlayed("run", "4", roll=11, reroll=60))
    if entry.type == "kick_ended" and moves[0].x_yd is not None:
        moves.append(replace(moves[0], x_yd=-4.0 if table.state.direction < 0 else 104.0))  # into the end zone
    if entry.type == "card" and entry.word == "pass":
        moves.append(CardPlayed("pass", "9i", roll=45))
    if entry.type == "return":
        moves.append(d.ReturnPlayed("0F"))
    if entry.type == "pass" and now.find("pass").example.distance_yd is not None:
        moves[0] = d.PassDeclared(moves[0].receiver, 12.0, ("light-50",) if table.state.players else ("a",))
    if entry.type == "clock" and entry.word == "stop":
        moves.append(d.ClockSet(False, 0.0))
    return moves


def walk(table: DeclaredGame, seen: Counter[str], chance: random.Random) -> None:
    """Play a game, always toward what was seen least."""
    for _ in range(MOVES):
        if table.state.phase is Phase.OVER:
            return
        now, before = table.game.legal(), table.state
        ahead: list[tuple[bool, int, float, Any]] = []
        for entry in playable(now):
            for move in variants(entry, table, now, chance):
                copy = replayed(table)
                copy.declare(move, Tick())  # a moment later, as the board has come to rest
                if name_of(before) != "choice penalty":  # an accepted one takes points back
                    assert_legal(copy.state, before)
                name, situation = name_of(copy.state), situation_of(copy.state)
                ahead.append((seen[name] > 0, seen[situation], chance.random(), move))
        table.declare(min(ahead, key=lambda found: found[:3])[3], Tick())
        seen.update((name_of(table.state), situation_of(table.state)))


@pytest.mark.parametrize("book", EXPECTED)
def test_games_reach_every_phase_of_the_book_and_everything_it_waits_for(book: str) -> None:
    seen: Counter[str] = Counter()
    for number in range(GAMES):
        table = begin(book, line_up=number % 4 != 3)
        if number:
            table.declare(STARTS[book][number % len(STARTS[book])])
        seen.update((name_of(table.state), situation_of(table.state)))
        walk(table, seen, random.Random(number))
        if EXPECTED[book] <= set(seen):
            break
    assert EXPECTED[book] - set(seen) == set()
