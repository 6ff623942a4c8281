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
    """A game at a table, as the newest entry of its journal that matters here says.

    Attributes:
        game: its id.
        seq: number of that entry.
        state: of the game.
        table: its name.
        home, away: the teams' names there.
        score: home, away; as it is closed. 0 to 0 while it is in play.
        signed: the score that both coaches have signed last; None before.
        signed_by: the coaches, home and away; empty before.
        notes: what they disagree with.
        why: who reopened or closed it again, and why.
        overtime_winner: the side that won an overtime that the score does not show.
        ticket: what it is played for; None where it names no match, or the desk did not assign it to this rig.
    """

    game: str
    seq: int
    state: GameState
    table: str
    home: str
    away: str
    score: tuple[int, int] = (0, 0)
    signed: tuple[int, int] | None = None
    signed_by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    why: str = ""
    overtime_winner: Side | None = None
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
    """What a person decided about a match. The latest of a match counts, for the sides it was made for.

    Attributes:
        id: of the change that it was made by.
        draw, match: it is about.
        sides: ids of who plays it, home and away.
        result: how it came out; None: what is named in ``over`` does not count, and nobody forfeits it.
        over: keys of the tables' games that were known then: what they say does not contradict it.
    """

    id: str
    draw: str
    match: str
    sides: tuple[str | None, str | None]
    result: Result | None = None
    over: tuple[str, ...] = ()


@record
class GameAssignment:
    """A table's game that a person counted for a match, or for none.

    Attributes:
        game: its id.
        draw, match: that it counts for; an empty match for none.
        sides: ids of who plays that, home and away.
        turned: whether the table's home is away there.
    """

    game: str
    draw: str
    match: str
    sides: tuple[str | None, str | None] = (None, None)
    turned: bool = False


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
    """What a change replaced, so that it can be undone; None for what it left.

    Attributes:
        change: id of the change.
    """

    change: str
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
    """An event as it stands.

    Attributes:
        name: of the event.
        rules, clock: how and when it is played.
        tables: the tables' names.
        entrants: in the order of registration.
        pools: the entrants' ids of each pool, by its name; empty before the draw.
        byes: ids of those who had a bye in a Swiss round, in the order of the rounds.
        matches: every game, in the order they are listed.
        lots: entrants' ids in the order that lots gave them, for ties that nothing else breaks.
        draw: id of the draw; empty before it.
        decisions: of persons, about matches, in order.
        assignments: of tables' games to matches, by persons, the latest of a game counts.
        games: what the tables say, by id of the game.
        here: ids of entrants who have checked in.
        changes: the audit trail, the oldest first.
        undo: what the latest changes replaced, the oldest first.
        touched: number of the change that changed something last, by what it was.
        revision: number of changes.
        games_after: number of the last game in the tournament's store when the draw was made; None before the draw.
    """

    name: str
    rules: Rules = Rules()
    clock: EventClock = EventClock()
    tables: tuple[str, ...] = ()
    entrants: tuple[Entrant, ...] = ()
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    byes: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    lots: tuple[str, ...] = ()
    draw: str = ""
    decisions: tuple[MatchDecision, ...] = ()
    assignments: tuple[GameAssignment, ...] = ()
    games: dict[str, TableGame] = field(default_factory=dict)
    here: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    undo: tuple[Before, ...] = ()
    touched: dict[str, int] = field(default_factory=dict)
    revision: int = 0
    games_after: int | None = None
    format: Literal["downfield-event"] = "downfield-event"
    version: Literal[2] = 2
