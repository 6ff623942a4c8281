"""Lion's Den's skilled players: ratings, careers, and the quarterback in play."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import RefusedError
from downfield.core.records import replace
from downfield.officiating.calls import CallNumbers, Finding
from downfield.officiating.consequences.rolls_and_choices import d10
from downfield.officiating.declarations import Roll, Side
from downfield.officiating.state.dice import checked_faces
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Outcome, RuleContext

SKILLED_PLAYERS: Final = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
STRINGS: Final = (1, 2, 3)  # a team's quarterbacks, in the order in which they play


def roll_skill(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """Handle a skilled player's 2d10, or the seasons of his career, rolled before the game (LD-002..006)."""
    if roll.by is None:
        raise RefusedError(f"roll {roll.purpose}: name the team it is for (by)")
    if roll.purpose.startswith("career_"):
        seasons = checked_faces(roll.dice, count=1, low=1, high=4, purpose="career")[0]
        text = f"{game.team(roll.by).name}, {roll.purpose[7:].replace('_', ' ')}: {seasons} seasons"
        numbers = CallNumbers(seasons=seasons)
        return Outcome(game, (report(context, text, ("LD-006",), roll.purpose, roll.by, numbers),))
    quarterback = roll.purpose.startswith("quarterback")
    bonus = sum(d10(roll.dice, 2, roll.purpose))
    base = context.params.count("skill.quarterback_base" if quarterback else "skill.kicker_base")
    game = game.with_note(f"rating_{roll.purpose}_{roll.by}", base + bonus)
    text = f"{game.team(roll.by).name}, {roll.purpose.replace('_', ' ')}: {base + bonus}"
    clauses = ("LD-002", "LD-003") if quarterback else ("LD-004",)
    numbers = CallNumbers(rolled=bonus, rating=base + bonus)
    return Outcome(game, (report(context, text, clauses, roll.purpose, roll.by, numbers),))


def is_skill_roll(purpose: str) -> bool:
    """Return whether dice are for a rating or a career."""
    return purpose.removeprefix("career_") in SKILLED_PLAYERS


def rating_of(game: GameState, position: str, side: Side) -> int:
    """Return a player's rating, of quarterbacks the one in play. Raises RefusedError: it was never rolled."""
    player = f"quarterback_{quarterback_string(game, side)}" if position == "quarterback" else position
    value = game.note(f"rating_{player}_{side}")
    if value is None:
        name = player.replace("_", " ")
        raise RefusedError(f"{name} of {game.team(side).name} has no rating: roll two d10 for {player!r} first")
    return round(value)


def kick_modifier(game: GameState, position: str, side: Side, context: RuleContext) -> int:
    """Return what a kicker adds to a kick's length: the 2d10 of his rating (LD-032, LD-054)."""
    return rating_of(game, position, side) - context.params.count("skill.kicker_base")


def quarterback_string(game: GameState, side: Side) -> int:
    """Return the string of the quarterback in play, 1..3: the first fit one, else the first winded, else the third."""
    playing = [string for string in STRINGS if not game.note(f"out_{side}_{string}")]
    fit = (string for string in playing if (game.note(f"winded_{side}_{string}") or 0.0) <= 0)
    return next(fit, playing[0] if playing else STRINGS[-1])


def count_rested_down(game: GameState, side: Side) -> GameState:
    """Return the game after an offensive down of a side: each winded quarterback has rested one more."""
    for string in STRINGS:
        left = game.note(f"winded_{side}_{string}") or 0.0
        if left > 0:
            game = game.with_note(f"winded_{side}_{string}", left - 1)
    return game


def report(
    context: RuleContext, text: str, clauses: tuple[str, ...], detail: str, side: Side, numbers: CallNumbers | None
) -> Finding:
    """Return a report about a skilled player."""
    found = Finding("skill", "info", context.t_ns, text, clauses, f"{detail}:{side}", side=side, detail=detail)
    return replace(found, reported=True, numbers=numbers)
