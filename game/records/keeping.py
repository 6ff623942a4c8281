"""How a game is kept: the words of a journal, and what a game needs of whoever keeps it.

A journal is all that happened in one game, entry after entry. `downfield.store` keeps journals on disk or on a server;
a game knows only the protocols below. It never waits to go on: an entry is judged and published first and written
afterwards, so that the feed may be ahead of the journal by what a crash then loses: up to `GameLimits.batch_scenes`
scenes, and the entries that a slow disk has not accepted. A receipt waits, and says whether its entry is saved.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import BeforeValidator, PlainSerializer

from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.game.records.entries import Content
from downfield.game.records.owner import GameOwner
from downfield.officiating.engine.engine_state import GameMemento
from downfield.officiating.events import Event


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game as it is listed."""

    id: str  # unique
    began_ns: int  # wall clock, ns since 1970
    title: str  # as given; may be empty
    home: str
    away: str
    rulebook: str  # name of the rulebook it was started under
    owner: str = ""  # id of the rig that plays it; empty for nobody's
    table: str = ""  # name of the table it is played at


def _from_base64(value: object) -> object:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not base64") from None


Base64 = Annotated[
    bytes, BeforeValidator(_from_base64), PlainSerializer(lambda data: base64.b64encode(data).decode(), return_type=str)
]
"""Bytes, base64 in JSON."""


@record
class EntryRow:
    """An entry of a game's journal, as the store has it and as a line of a file."""

    game: str  # the game's id
    seq: int  # number of the entry, from 1
    kind: str  # of entry
    at_ns: int  # when it was written, wall clock, ns since 1970
    content: str  # its JSON, as text, because its digest is over exactly these characters
    digest: str  # of the journal up to and including it
    key: str | None = None  # idempotency key of a submission
    attachment: Base64 | None = None  # bytes that belong to it, in base64; the scenes, compressed by zlib


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """Position of an entry in a journal."""

    seq: int  # its number; 0 before the first
    digest: str  # of the hash chain up to and including it


class PendingEntry(Protocol):
    """An entry that was judged and published, and is on its way to the disk."""

    @property
    def written(self) -> Future[JournalPosition]:
        """Its position, once it is on a disk."""

    def wait(self) -> JournalPosition | None:
        """Wait for the disk and return where the entry stands; None when the disk has not accepted it in time."""


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """Why entries are not in the store."""

    reason: str  # what the store or its server reported
    kept_in: str = ""  # the folder on the rig's disk that has all of them; empty where some are in memory only


@dataclass(frozen=True, slots=True)
class SessionMemento:
    """All that a game has become since it was started, or since its rulebook was changed."""

    game: GameMemento
    event_count: int
    events: tuple[tuple[Event, str], ...]  # since the start, each with the person or device it came from
    frames: Mapping[str, int]  # the frame a call was made at, by call id
    call_texts: Mapping[str, str]  # of every call that a declaration may name
    last_event_ns: int  # when the last event was


class Journal(Protocol):
    """The journal of one game, to be gone on with.

    It is behind what was published: `append` returns before anything is on a disk, and scenes in which no call is made
    are appended a batch at a time. Who must know that an entry is kept waits for it.
    """

    @property
    def game(self) -> GameRow:
        """The game."""

    def append(self, content: Content, *, scenes: Sequence[Scene] = (), key: str | None = None) -> PendingEntry:
        """Queue an entry to be written after all earlier ones; never waits for the disk.

        Args:
            scenes: those of a `ScenesRecorded`.
            key: idempotency key of an `EventRecorded`.
        """


class Journals(Protocol):
    """The journals of games, as a game service needs them. Callable from any thread."""

    @property
    def problem(self) -> StoreProblem | None:
        """Why entries are not kept yet; None while they are."""

    @property
    def notes(self) -> Sequence[str]:
        """What could not be kept and never will be, for people."""

    def begin(self, game: GameRow) -> Journal:
        """Return the journal of a new game, which is listed with its first entry."""

    def resume(self, game: GameRow) -> Journal | None:
        """Return a game's journal, to be gone on with after its last entry; None where it has none."""

    def latest_game(self, owner: GameOwner) -> GameRow | None:
        """Return the game that an owner started last; None when there is none, or none that can be read."""

    def latest(self, game: str, kinds: Collection[str]) -> Sequence[EntryRow]:
        """Return the latest entry of some kinds of a game's journal; none where there is none."""

    def entries(self, game: str, after: int = 0, *, attachments: bool = True) -> Iterator[EntryRow]:
        """Yield a game's journal in order, after an entry."""

    def offer_checkpoint(self, game: str, pending: PendingEntry, capture: Callable[[], SessionMemento | None]) -> None:
        """Keep what a game has become right after an entry, if it is time; it is kept once the entry is written.

        Args:
            capture: returns what the game has become; called at once, or not at all.
        """

    def checkpoint(self, game: str) -> tuple[JournalPosition, SessionMemento] | None:
        """Return the last memento of a game, with its entry; None where none is kept, or it can't be used."""

    def close(self) -> None:
        """Write what is unwritten, if the disk accepts it in time."""
