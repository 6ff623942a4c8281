"""Declarations that may be made now, with numbers that a table could produce, for tests that play whole games."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from downfield.officiating import declarations as d
from downfield.officiating.engine.legal import LegalDeclaration, LegalDeclarations
from downfield.officiating.state.game_state import GameState

SETTINGS = frozenset({"line_up", "set_up", "front", "identities", "ball_placed", "base_swap", "pivots_done"})
"""Types that correct the table rather than play the game."""

CARDS: dict[str, tuple[str, ...]] = {
    "run": ("7", "-2", "0", "12F", "40"),
    "pass": ("inc", "14", "9i", "-5", "60", "21F"),
    "punt": ("40", "35FC", "44OB", "30DN", "55TB", "blocked"),
    "touch_punt": ("30", "20DN"),
    "field_goal": ("good", "no good", "blocked"),
    "fair_catch_kick": ("good", "no good"),
    "kickoff": ("60", "65TB", "50OB", "55"),
    "onside": ("12",),
    "extra_point": ("good", "no good"),
    "two_point": ("2", "1", "inc"),
}
LONGEST_PASS_YD = 40


def playable(legal: LegalDeclarations) -> list[LegalDeclaration]:
    """Return what may be declared to go on with the game."""
    return [entry for entry in legal.declarations if entry.allowed and entry.type not in SETTINGS]


def filled(entry: LegalDeclaration, legal: LegalDeclarations, game: GameState, chance: random.Random) -> Any:
    """Return one declaration of a kind that may be made, with a side, a figure and numbers of its own."""
    body: Any = entry.example
    assert body is not None
    named = getattr(body, "by", None) is not None
    free_choice = entry.type in {"roll", "choice"} and game.wait is None
    if entry.by and (named or free_choice):
        body = replace(body, by=chance.choice(entry.by))
    return _with_numbers(body, legal, game, chance)


def _with_numbers(body: Any, legal: LegalDeclarations, game: GameState, chance: random.Random) -> Any:
    spot_yd = (chance.uniform(1.0, game.length_yd - 1.0), chance.uniform(0.0, game.width_yd))
    if isinstance(body, d.Roll) and legal.dice is not None and body.purpose == legal.dice.purpose:
        return replace(body, dice=tuple(chance.randint(1, legal.dice.sides) for _ in range(legal.dice.count)))
    if isinstance(body, d.Coin):
        return d.Coin(chance.random() < 0.5)
    if isinstance(body, d.PlayEnded) and body.spot_yd is not None:
        return replace(body, spot_yd=spot_yd)
    if isinstance(body, d.KickEnded) and body.x_yd is not None:
        return replace(body, x_yd=spot_yd[0], y_yd=spot_yd[1])
    if isinstance(body, d.PassDeclared) and body.distance_yd is not None:
        return replace(body, distance_yd=chance.uniform(0, LONGEST_PASS_YD))
    if isinstance(body, d.CardPlayed) and body.kind in CARDS:
        return replace(body, shown=chance.choice(CARDS[body.kind]), roll=chance.choice((None, 44, 71)))
    if isinstance(body, d.ReturnPlayed):
        return d.ReturnPlayed(chance.choice(("12", "25", "3F", "0F", "70")))
    return body
