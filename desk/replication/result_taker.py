"""Takes the results of signed games over into the event, as soon as the tournament's store has them.

What was taken is kept in the event itself, so a desk that was down looks at every game once when it starts, and one
that was killed in between takes nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from downfield.core.errors import DownfieldError, FormatError, RefusedError
from downfield.desk.event.keeper import EventKeeper
from downfield.desk.event.records import Change, TournamentEvent
from downfield.desk.event.signed_games import SignedGame, take_signed
from downfield.desk.replication.tournament_store import TournamentStore
from downfield.game.records.entries import END_KINDS, unpack_entry
from downfield.game.records.final_score import ScoreSigned, are_complete
from downfield.game.records.keeping import GameRow
from downfield.officiating.declarations import Side
from downfield.rig.tournament.broker import BrokerConnection
from downfield.store.database.reader import StoreReader
from downfield.store.writing.replication import JournalBatch

_LOOK_S: Final = 0.5
_RETRY_S: Final = 5.0
_SIGNATURES: Final = 20
"""Signatures of one game that are read; coaches may sign again after a correction."""

_log = logging.getLogger(__name__)


class ResultTaker:
    """Takes results over into an event. Callable from any thread.

    Only games that came to the tournament after the draw count: those of an earlier event between the same two are no
    results of this one.

    Args:
        tournament: the store of all games.
        keeper: of the event.

    """

    def __init__(self, tournament: TournamentStore, keeper: EventKeeper) -> None:
        self._tournament, self._keeper = tournament, keeper
        self._lock = threading.Lock()
        self._ended: set[str] = set()
        self._open: dict[str, tuple[SignedGame, str]] = {}

    def open_games(self) -> list[tuple[SignedGame, str]]:
        """Return the signed games that are no result of the event yet, each with why."""
        with self._lock:
            return list(self._open.values())

    def note(self, batch: JournalBatch) -> None:
        """Note a batch that was stored; a game that it ends is looked at soon."""
        if any(entry.kind in END_KINDS for entry in batch.entries):
            with self._lock:
                self._ended.add(batch.game.id)

    async def run(self, _: BrokerConnection) -> None:
        """Take results over whenever a game ends or the event changes, for as long as a connection lasts."""
        seen = ""
        while True:
            revision = self._keeper.revision
            if self._ended or revision != seen:
                try:
                    await asyncio.to_thread(self.take)
                    seen = revision
                except DownfieldError as error:  # the database is away
                    _log.warning("Results could not be taken over: %s", error)
                    await asyncio.sleep(_RETRY_S)
            await asyncio.sleep(_LOOK_S)

    def take(self) -> None:
        """Take the results of all games that were signed since the draw.

        Raises:
            InputError: the store can't be used.
            OutputError: it can't be read, or the event can't be kept.

        """
        with self._lock:
            ended = set(self._ended)
            self._open.clear()
        after = self._after_the_draw()
        if after is None:
            return
        taken = {key.rpartition(":")[0] for key in self._keeper.event.taken}
        reader = self._tournament.reader()
        for game in self._tournament.games_after(after):
            if game.id not in taken or game.id in ended:
                self._take(reader, game)
        with self._lock:
            self._ended -= ended

    def _after_the_draw(self) -> int | None:
        """Return the number of the last game before the draw, noted once; None while nothing is drawn."""
        event = self._keeper.event
        if bool(event.matches) == (event.taken_after is not None):
            return event.taken_after
        after = self._tournament.last_number() if event.matches else None
        self._keeper.change("", "", lambda now, _: replace(now, taken_after=after))
        return after

    def _take(self, reader: StoreReader, game: GameRow) -> None:
        for signed in _signed(reader, game):
            if signed.key in self._keeper.event.taken:
                return
            try:
                self._keeper.change("sign-off", f"took over {signed.text}", partial(_take_signed, signed=signed))
            except RefusedError as error:
                with self._lock:
                    self._open[signed.key] = (signed, str(error))


def _take_signed(event: TournamentEvent, by: Change, *, signed: SignedGame) -> TournamentEvent:
    return take_signed(event, signed, by)


def _signed(reader: StoreReader, game: GameRow) -> Iterator[SignedGame]:
    """Yield a game as both coaches have signed it; nothing where they have not."""
    ends = reader.latest(game.id, END_KINDS)
    if not ends:
        return
    signatures: dict[Side, ScoreSigned] = {}
    try:
        for entry in reversed(reader.latest(game.id, ("score_signed",), _SIGNATURES)):
            content = unpack_entry(entry.kind, entry.content, where=f"{game.id}, entry {entry.seq}")
            if isinstance(content, ScoreSigned):
                signatures[content.side] = content
        end = unpack_entry(ends[0].kind, ends[0].content, where=f"{game.id}, entry {ends[0].seq}")
    except FormatError as error:
        _log.warning("A result could not be read: %s", error)
        return
    score = getattr(end, "score", None)
    if score is None or not are_complete(signatures, score):
        return
    home, away = signatures["home"], signatures["away"]
    notes = tuple(f"{signed.name}: {signed.note}" for signed in (home, away) if signed.note)
    key = f"{game.id}:{ends[0].seq}"
    yield SignedGame(key, game.table, game.home, game.away, score, (home.name, away.name), notes)
