"""Lion's Den's skilled players: their ratings and careers, who is hurt, and whose turn it is."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import RefusedError
from downfield.officiating.calls import Finding
from downfield.officiating.consequences.rolls_and_choices import checked_faces, d10
from downfield.officiating.declarations import Roll, Side
from downfield.officiating.engine.interfaces import Outcome, RuleContext
from downfield.officiating.engine.state import GameState
from downfield.officiating.rulebooks.lions_den import tables
from downfield.officiating.rulebooks.params import Param

SKILLED: Final = ("quarterback_1", "quarterback_2", "quarterback_3", "kicker", "punter")
SKILL_PARAMS: Final = (
    Param("skill.quarterback_base", tables.QUARTERBACK_BASE, "", "LD-002", low=0, high=100),
    Param("skill.kicker_base", tables.KICKER_BASE, "", "LD-004", low=0, high=100),
    Param("injury.unhurt_to", 8, "", "LD-067: the first row is lost, 1-8 by elimination", low=0, high=8),
    Param("injury.no_games_to", 6, "", "LD-068: the first row is lost, 1-6 by elimination", low=0, high=6),
)
SKILL: Final = "skill"


def rated(game: GameState, roll: Roll, context: RuleContext) -> Outcome:
    """A skilled player's 2d10, or the seasons of his career, rolled before the game (LD-002..006)."""
    if roll.by is None:
        raise RefusedError(f"roll {roll.purpose}: say whose (by)")
    if roll.purpose.startswith("career_"):
        seasons = tables.career_seasons(checked_faces(roll.dice, count=1, low=1, high=4, purpose="career")[0])
        text = f"{game.team(roll.by).name}, {roll.purpose[7:].replace('_', ' ')}: {seasons} seasons"
        return Outcome(game, (_told(context, text, ("LD-006",), roll.purpose, roll.by),))
    bonus = sum(d10(roll.dice, 2, roll.purpose))
    base = context.params.count(
        "skill.quarterback_base" if roll.purpose.startswith("quarterback") else "skill.kicker_base"
    )
    game = game.with_note(f"rating_{roll.purpose}_{roll.by}", tables.rating(base, (bonus,)))
    text = f"{game.team(roll.by).name}, {roll.purpose.replace('_', ' ')}: {base + bonus}"
    clauses = ("LD-002", "LD-003") if roll.purpose.startswith("quarterback") else ("LD-004",)
    return Outcome(game, (_told(context, text, clauses, roll.purpose, roll.by),))


def is_skill_roll(purpose: str) -> bool:
    """Whether dice are for a rating or a career."""
    return purpose.removeprefix("career_") in SKILLED


def rating_of(game: GameState, who: str, side: Side) -> int:
    """A skilled player's rating; the quarterback's is that of whoever plays.

    Raises:
        RefusedError: it was never rolled.

    """
    name = f"quarterback_{string_of(game, side)}" if who == "quarterback" else who
    value = game.note(f"rating_{name}_{side}")
    if value is None:
        raise RefusedError(
            f"{name.replace('_', ' ')} of {game.team(side).name}: roll his rating first, two d10 for {name!r}"
        )
    return round(value)


def kick_modifier(game: GameState, who: str, side: Side, context: RuleContext) -> int:
    """What a kicker adds to a kick's length: the 2d10 of his rating (LD-032, LD-054)."""
    return rating_of(game, who, side) - context.params.count("skill.kicker_base")


def string_of(game: GameState, side: Side) -> int:
    """Which string the quarterback in play is, 1..3."""
    lost = round(game.note(f"lost_{side}") or 0.0)
    winded = 1 if (game.note(f"winded_{side}") or 0.0) > 0 else 0
    return min(3, 1 + lost + winded)


def down_played(game: GameState, side: Side) -> GameState:
    """An offensive down of a side is over: a winded quarterback has rested one more."""
    left = game.note(f"winded_{side}") or 0.0
    return game.with_note(f"winded_{side}", left - 1) if left > 0 else game


def injury_rolled(game: GameState, roll: Roll, context: RuleContext) -> tuple[GameState, str, tuple[Finding, ...]]:
    """One die for each man who sacked him (LD-044, LD-067): the game, what is rolled next, what is told."""
    count = round(game.note("todo_injury") or 1.0)
    side: Side = "home" if game.note("sacked_home") else "away"
    unhurt = context.params.count("injury.unhurt_to")
    results = [tables.injury(die, unhurt).out for die in d10(roll.dice, count, "injury")]
    game = game.with_note("todo_injury", 0.0)
    if "game" in results:
        text = f"{game.team(side).name}'s quarterback is out for the game"
        game = game.with_note(f"lost_{side}", (game.note(f"lost_{side}") or 0.0) + 1)
        return (
            game.with_note(f"winded_{side}", 0.0),
            "injury_games",
            (_told(context, text, ("LD-067",), "injury", side),),
        )
    if "downs" in results:
        return game, "injury_downs", ()
    return game, "", (_told(context, "the quarterback is unhurt", ("LD-067",), "injury", side),)


def injury_downs(game: GameState, roll: Roll, context: RuleContext) -> tuple[GameState, Finding]:
    """For how many offensive downs he rests."""
    side: Side = "home" if game.note("sacked_home") else "away"
    downs = sum(d10(roll.dice, 2, "injury downs"))
    text = f"{game.team(side).name}'s quarterback is winded and rests {downs} offensive downs"
    return game.with_note(f"winded_{side}", downs), _told(context, text, ("LD-067",), "injury_downs", side)


def injury_games(game: GameState, roll: Roll, context: RuleContext) -> Finding:
    """For how many further games he is out (LD-068)."""
    side: Side = "home" if game.note("sacked_home") else "away"
    games = tables.injury_games(d10(roll.dice, 1, "injury games")[0], context.params.count("injury.no_games_to"))
    until = {0: "no further game", 1: "the next game", 2: "the next two games"}.get(games, "the rest of the season")
    return _told(context, f"{game.team(side).name}'s quarterback misses {until} too", ("LD-068",), "injury_games", side)


def _told(context: RuleContext, text: str, clauses: tuple[str, ...], detail: str, side: Side) -> Finding:
    return Finding(
        SKILL, "info", context.t_ns, text, clauses, f"{detail}:{side}", side=side, detail=detail, reported=True
    )
