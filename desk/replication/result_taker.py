"""Reports to the event what the journals of the tables' games say: begun, ended, signed, reopened, closed again.

A report is made anew of the journal each time, so a desk that was down, or was killed between storing a batch and
taking it, reports the same later; and of two desks that share a store each finds what the other has stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from downfield.core.errors import DownfieldError, FormatError
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.event.state import GameState, TableGame
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.commands import MatchTicket
from downfield.game.records.entries import (
    END_KINDS,
    START_KINDS,
    Content,
    GameEnded,
    GameReopened,
    GameStarted,
    unpack_entry,
)
from downfield.game.records.final_score import ScoreSigned, Signatures, are_complete
from downfield.game.records.keeping import GameRow
from downfield.officiating.sides import Side
from downfield.store.database.reader import StoreReader
from downfield.store.writing.replication import JournalBatch

REPORTED_KINDS: Final = frozenset({*START_KINDS, *END_KINDS, "game_reopened", "score_signed"})
"""Kinds of the entries that a report is made of."""

_LOOK_S: Final = 0.5
_LOOK_AT_ALL_S: Final = 15.0  # Another desk may have stored what this one was not told of

_RETRY_S: Final = 5.0
_ENTRIES: Final = 400  # Latest entries of those kinds that are read of one game

_log = logging.getLogger(__name__)

IsAssigned = Callable[[MatchTicket, str], bool]  # Returns whether the desk has assigned a match to a rig


class ResultTaker:
    """Reports what the tables' games say to an event. Callable from any thread.

    Games that name no match count from the draw on: those of an earlier event are not listed.

    Args:
        is_assigned: whether this desk has given a ticket to a rig.
    """

    def __init__(self, tournament: TournamentStore, keeper: EventKeeper, is_assigned: IsAssigned) -> None:
        self._tournament, self._keeper, self._is_assigned = tournament, keeper, is_assigned
        self._lock = threading.Lock()
        self._is_due, self._seen, self._looked_s = True, "", 0.0

    def note(self, batch: JournalBatch) -> None:
        """Note a batch that was stored; a game of which it says something new is examined soon."""
        if any(entry.kind in REPORTED_KINDS for entry in batch.entries):
            self._is_due = True

    def run(self, closing: threading.Event) -> None:
        """Report whenever a game may have changed, until it is closing."""
        while not closing.wait(_LOOK_S):
            draw = self._keeper.event.draw
            if self._is_due or draw != self._seen or time.monotonic() - self._looked_s > _LOOK_AT_ALL_S:
                try:
                    self.take()
                    self._seen, self._looked_s = draw, time.monotonic()
                except DownfieldError as error:  # the database is away
                    self._is_due = True
                    _log.warning("Results could not be taken over: %s", error)
                    closing.wait(_RETRY_S)

    def take(self) -> None:
        """Report every game that has changed since the draw. Raises InputError, OutputError: store or event fail."""
        with self._lock:
            self._is_due = False
            after = self._after_the_draw()
            if after is None:
                return
            known = self._keeper.event.games
            latest = self._tournament.latest_entries(after, REPORTED_KINDS, known)
            changed = {game for game, seq in latest.items() if game not in known or known[game].seq < seq}
            if not changed:
                return
            reader = self._tournament.reader()
            rows = [row for row in self._tournament.games_after(after, known) if row.id in changed]
            found = (self._report(reader, row) for row in rows)
            self._keeper.report(report for report in found if report is not None)

    def _after_the_draw(self) -> int | None:
        """Return the number of the last game when a draw was seen first, noted once; None while nothing is drawn.

        Games of the draw that come before that are reported now: the desk was busy or killed since the draw, or the
        event is opened again.
        """
        event = self._keeper.event
        if event.matches and event.games_after is None:
            reader, last = self._tournament.reader(), self._tournament.last_number()
            found = [self._report(reader, row) for row in self._tournament.games_after(0)]
            self._keeper.report(one for one in found if one and one.ticket and one.ticket.draw == event.draw)
            self._keeper.note(games_after=last)
        return self._keeper.event.games_after if event.matches else None

    def _report(self, reader: StoreReader, row: GameRow) -> TableGame | None:
        entries = reversed(reader.latest(row.id, REPORTED_KINDS, _ENTRIES))
        contents: list[tuple[int, Content]] = []
        for entry in entries:
            try:
                contents.append((entry.seq, unpack_entry(entry.kind, entry.content, where=f"{row.id}, {entry.seq}")))
            except FormatError as error:
                _log.warning("A game could not be read: %s", error)
                return None
        found = table_game(row, contents)
        if found is not None and found.ticket is not None and not self._is_assigned(found.ticket, row.owner):
            found = replace(found, ticket=None)
        return found


def table_game(row: GameRow, contents: Iterable[tuple[int, Content]]) -> TableGame | None:
    """Return what a game's numbered entries of `REPORTED_KINDS`, in order, come to; None where they say nothing."""
    seq, state, ticket, why = 0, "in_play", None, ""
    signatures: Signatures = {}
    closed: tuple[int, int] | None = None
    won: Side | None = None
    names: dict[Side, str] = {"home": row.home, "away": row.away}
    signed: tuple[int, int] | None = None
    coaches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    for number, content in contents:
        seq = number
        if isinstance(content, GameStarted):
            ticket = content.match or ticket
        elif isinstance(content, ScoreSigned):
            signatures[content.side] = content
        elif isinstance(content, GameReopened):
            closed, state, why = None, "reopened", f"{content.by}: {content.reason}"
        elif isinstance(content, GameEnded):
            closed, why = content.score, content.by if signed is not None else ""
            # Of an overtime which the score does not show: the game's last line names who won it.
            won = next((side for side, name in names.items() if f", {name} wins in overtime" in content.text), None)
        if closed is not None:
            state = "ended" if signed is None else "corrected"
            if are_complete(signatures, closed):
                home, away = signatures["home"], signatures["away"]
                state, signed, coaches, why = "signed", closed, (home.name, away.name), ""
                notes = tuple(f"{one.name}: {one.note}" for one in (home, away) if one.note)
    if not seq:
        return None
    known: GameState = state  # type: ignore[assignment]
    score = closed or (0, 0)
    return TableGame(row.id, seq, known, row.table, row.home, row.away, score, signed, coaches, notes, why, won, ticket)
