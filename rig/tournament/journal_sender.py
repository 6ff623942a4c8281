"""Sends the journals of a rig's games to the tournament's store, in order and each entry once.

Nothing is kept about what was sent: the journal itself is the outbox, and the tournament's last entry of a game is the
position. So a cut at any moment, on either side, costs at most a batch that is sent again, which the other side tells
by its numbers and digests. The game in play goes first; after each of its batches comes one of an older game's backlog.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.records import from_json, to_json
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.rig.tournament.broker import BrokerError
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.replication import (
    MAX_GAMES,
    BatchReply,
    JournalBatch,
    PositionsQuestion,
    PositionsReply,
    StoredPosition,
    make_batch,
)
from downfield.store.writing.store import Store

APPEND_SUBJECT: Final = "downfield.journal.append"
POSITIONS_SUBJECT: Final = "downfield.journal.positions"

Request = Callable[[str, bytes], Awaitable[bytes]]
"""Sends a request to a subject and returns the answer; raises `BrokerError`."""


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """How journals are sent."""

    # Content and attachments of a batch; with base64 it stays under the megabyte that any broker carries
    batch_bytes: int = 192 * 1024
    batch_entries: int = 200  # Entries of a batch
    page_entries: int = 8  # Entries read from the store at once: each may hold a second of scenes, some 50 kB
    compare_s: float = 30.0  # Time between two comparisons of all games: a database put back from a copy is noticed
    pause_s: float = 1.0  # Pause before a store that does not answer is tried again


SENDER_LIMITS: Final = SenderLimits()


@dataclass(frozen=True, slots=True)
class SenderState:
    """How far the tournament's store is behind."""

    behind: int = 0  # entries that are not there yet
    stalled_s: float = 0.0  # how long nothing was stored while some waited
    problem: str = ""  # why the last batch was not stored; empty where it was
    refused: tuple[tuple[str, str], ...] = ()  # why games are never stored, by game
    is_compared: bool = False  # whether the tournament has reported the end of every game since it was last reached

    @property
    def is_complete(self) -> bool:
        """Whether the tournament is known to have everything."""
        return self.is_compared and not self.behind and not self.refused


class JournalSender:
    """Sends what the tournament's store does not have. `state` and `note` may be called from any thread.

    What asks the tournament raises BrokerError where nobody answers, OutputError where the rig's store can't be read.

    Args:
        rig: the rig's id; other rigs' games in the store are theirs to send.
    """

    def __init__(self, store: Store, rig: str, key: RigKey) -> None:
        self._store, self._rig, self._key = store, rig, key
        self._lock = threading.Lock()
        self._last: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._games: list[GameRow] = []
        self._problem = ""
        self._is_compared = False
        self._progress_s = time.monotonic()
        self._latest_turn = True

    def note(self, entry: EntryRow) -> None:
        """Note that a journal has grown; never waits for anything but another note."""
        with self._lock:
            if not self._behind():
                self._progress_s = time.monotonic()
            self._last[entry.game] = entry.seq

    def state(self) -> SenderState:
        """Return how far the tournament's store is behind."""
        with self._lock:
            behind = self._behind()
            stalled_s = time.monotonic() - self._progress_s if behind else 0.0
            return SenderState(
                sum(self._last[game] - self._stored.get(game, 0) for game in behind),
                stalled_s,
                self._problem,
                tuple(self._refused.items()),
                self._is_compared,
            )

    def begin(self) -> None:
        """Know nothing of the tournament until it is compared: a new connection, which may lead to another store."""
        self._is_compared = False

    async def compare(self, request: Request) -> None:
        """Ask where every game of this rig stands."""
        games = await asyncio.to_thread(self._own_games)
        for start in range(0, len(games), MAX_GAMES):
            page = games[start : start + MAX_GAMES]
            ends = await asyncio.to_thread(self._ends, page)  # before asking: nothing may be there that is not here
            question = PositionsQuestion(tuple(game.id for game in page))
            answer = await request(POSITIONS_SUBJECT, to_json(PositionsQuestion, question).encode())
            reply = from_json(PositionsReply, answer, path=POSITIONS_SUBJECT)
            if reply.text:
                raise BrokerError(reply.text)
            for game in page:
                self._note_position(game.id, ends.get(game.id), reply.positions.get(game.id))
        self._games, self._is_compared = games, True

    async def send_next(self, request: Request, max_bytes: int) -> bool:
        """Send the next batch, no larger than is carried; return whether there was one and more may follow at once."""
        game = await asyncio.to_thread(self._next_game)
        if game is None:
            return False
        rows = await asyncio.to_thread(self._read, game.id)
        if not rows:  # the store was put back to an older state under the running program
            with self._lock:
                self._last[game.id] = self._stored.get(game.id, 0)
            return True
        content = to_json(JournalBatch, make_batch(self._key, game, rows)).encode()
        if len(content) > max_bytes:
            size = f"{len(content) / 1e6:.1f} MB"
            self._refuse(game.id, f"entry {rows[0].seq} takes {size}; the broker carries {max_bytes / 1e6:.1f} MB")
            return True
        reply = from_json(BatchReply, await request(APPEND_SUBJECT, content), path=APPEND_SUBJECT)
        if reply.status == "refused":
            self._refuse(game.id, reply.text)
            return True
        with self._lock:
            if reply.status == "unavailable":
                self._problem = reply.text
                return False
            self._problem = ""
            self._stored[game.id] = reply.seq
            if reply.status == "stored":
                self._refused.pop(game.id, None)
                self._progress_s = time.monotonic()
        return True

    def _behind(self) -> list[str]:
        return [
            game for game, last in self._last.items() if last > self._stored.get(game, 0) and game not in self._refused
        ]

    def _note_position(self, game: str, here: StoredPosition | None, there: StoredPosition | None) -> None:
        with self._lock:
            if here is None:
                return
            self._refused.pop(game, None)
            self._last[game] = max(self._last.get(game, 0), here.seq)
            self._stored[game] = 0 if there is None else there.seq
            if there is None or there.seq < here.seq or there == here:
                return
            more = f"{there.seq} entries, this computer {here.seq}"
            if there.seq == here.seq:
                more = f"another entry {there.seq} than this computer"
            self._refused[game] = (
                f"the tournament has {more}: an older copy of this computer's games was put back, or they were altered"
            )

    def _refuse(self, game: str, text: str) -> None:
        with self._lock:
            self._refused[game] = text

    def _own_games(self) -> list[GameRow]:
        """Return the games of this rig, the latest first."""
        found: list[GameRow] = []
        before: str | None = None
        while page := self._store.games(before=before):
            found += [game for game in page if game.owner == self._rig]
            before = page[-1].id
        return found

    def _ends(self, games: Sequence[GameRow]) -> dict[str, StoredPosition]:
        found = {game.id: self._store.latest(game.id) for game in games}
        return {game: StoredPosition(rows[0].seq, rows[0].digest) for game, rows in found.items() if rows}

    def _next_game(self) -> GameRow | None:
        """Return the game whose entries are sent next: the latest, and in between the oldest that is behind."""
        with self._lock:
            behind = set(self._behind())
        if not behind:
            return None
        if not behind <= {game.id for game in self._games}:
            self._games = self._own_games()
        waiting = [game for game in self._games if game.id in behind]
        if not waiting:
            with self._lock:  # games that are another's, or that the store does not list
                for game in behind:
                    self._last.pop(game)
            return None
        self._latest_turn = not self._latest_turn
        return waiting[0] if self._latest_turn or len(waiting) == 1 else waiting[-1]

    def _read(self, game: str) -> list[EntryRow]:
        rows: list[EntryRow] = []
        size = 0
        after = self._stored.get(game, 0)
        for row in self._store.entries(game, after=after, page_entries=SENDER_LIMITS.page_entries):
            size += len(row.content) + len(row.attachment or b"")
            if rows and (size > SENDER_LIMITS.batch_bytes or len(rows) >= SENDER_LIMITS.batch_entries):
                break
            rows.append(row)
        return rows
