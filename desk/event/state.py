"""An event as it stands: its parts, what tables say and persons decided, and the audit trail.

What decides matches is kept as it came, in `games`, `decisions` and `assignments`; results are made of it (`outcomes`).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from downfield.core.records import record
from downfield.desk.event.records import Entrant, EventClock, Match, Result, Rules
from downfield.game.records.commands import MatchTicket
from downfield.officiating.sides import Side

GameState = Literal["in_play", "ended", "signed", "reopened", "corrected"]
"""Of a table's game: ``ended`` without both signatures; ``corrected``: closed again at another score than signed."""


@record
class TableGame:
    """A game at a table, as the newest entry of its journal that matters here says."""

    game: str
    seq: int  # number of that entry
    state: GameState
    table: str
    # home, away: the teams' names there
    home: str
    away: str
    score: tuple[int, int] = (0, 0)  # home, away; as it is closed. 0 to 0 while it is in play
    signed: tuple[int, int] | None = None  # the score that both coaches have signed last; None before
    signed_by: tuple[str, ...] = ()  # the coaches, home and away; empty before
    notes: tuple[str, ...] = ()  # what they disagree with
    why: str = ""  # who reopened or closed it again, and why
    overtime_winner: Side | None = None  # the side that won an overtime that the score does not show
    # what it is played for; None where it names no match, or the desk did not assign it to this rig
    ticket: MatchTicket | None = None

    @property
    def key(self) -> str:
        """Names what it says by now."""
        return f"{self.game}:{self.seq}"

    @property
    def text(self) -> str:
        """The game on one line."""
        where = f"{self.table}: " if self.table else ""
        return f"{where}{self.home} {self.score[0]}, {self.away} {self.score[1]}"


@record
class MatchDecision:
    """What a person decided about a match. The latest of a match counts, for the sides it was made for."""

    id: str  # of the change that it was made by
    # draw, match: it is about
    draw: str
    match: str
    sides: tuple[str | None, str | None]  # ids of who plays it, home and away
    # how it came out; None: what is named in ``over`` does not count, and nobody forfeits it
    result: Result | None = None
    over: tuple[str, ...] = ()  # keys of the tables' games that were known then: what they say does not contradict it


@record
class GameAssignment:
    """A table's game that a person counted for a match, or for none."""

    game: str
    # draw, match: that it counts for; an empty match for none
    draw: str
    match: str
    sides: tuple[str | None, str | None] = (None, None)  # ids of who plays that, home and away
    turned: bool = False  # whether the table's home is away there


@record
class Change:
    """An entry of the event's audit trail.

    Attributes:
        at: wall clock, ISO 8601 with offset; a label only, the order is that of the entries.
        by: who made it.
        text: what was changed.
        id: unique in the event.
        why: as they gave it.
        old, new: the values, one line each.
        request: digest of the request that it was made by; empty for none.
    """

    at: str
    by: str
    text: str
    id: str = ""
    why: str = ""
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    request: str = ""


@record
class Before:
    """What a change replaced, so that it can be undone; None for what it left."""

    change: str  # id of the change
    name: str | None = None
    rules: Rules | None = None
    clock: EventClock | None = None
    tables: tuple[str, ...] | None = None
    entrants: tuple[Entrant, ...] | None = None
    pools: dict[str, tuple[str, ...]] | None = None
    byes: tuple[str, ...] | None = None
    matches: tuple[Match, ...] | None = None
    lots: tuple[str, ...] | None = None
    draw: str | None = None
    decisions: tuple[MatchDecision, ...] | None = None
    assignments: tuple[GameAssignment, ...] | None = None
    here: tuple[str, ...] | None = None


@record
class TournamentEvent:
    """An event as it stands."""

    name: str  # of the event
    # rules, clock: how and when it is played
    rules: Rules = Rules()
    clock: EventClock = EventClock()
    tables: tuple[str, ...] = ()
    entrants: tuple[Entrant, ...] = ()  # in the order of registration
    # the entrants' ids of each pool, by its name; empty before the draw
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    byes: tuple[str, ...] = ()  # ids of those who had a bye in a Swiss round, in the order of the rounds
    matches: tuple[Match, ...] = ()  # every game, in the order they are listed
    lots: tuple[str, ...] = ()  # entrants' ids in the order that lots gave them, for ties that nothing else breaks
    draw: str = ""  # id of the draw; empty before it
    decisions: tuple[MatchDecision, ...] = ()  # of persons, about matches, in order
    assignments: tuple[GameAssignment, ...] = ()  # of tables' games to matches, by persons, the latest of a game counts
    games: dict[str, TableGame] = field(default_factory=dict)  # what the tables say, by id of the game
    here: tuple[str, ...] = ()  # ids of entrants who have checked in
    changes: tuple[Change, ...] = ()  # the audit trail, the oldest first
    undo: tuple[Before, ...] = ()  # what the latest changes replaced, the oldest first
    # number of the change that changed something last, by what it was
    touched: dict[str, int] = field(default_factory=dict)
    revision: int = 0  # number of changes
    # number of the last game in the tournament's store when the draw was made; None before the draw
    games_after: int | None = None
    format: Literal["downfield-event"] = "downfield-event"
    version: Literal[2] = 2
