"""Resuming a game: its journal is judged once more, from a memento on where there is one of this journal."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile

from downfield.core.errors import DownfieldError, FormatError, RefusedError
from downfield.core.scene import Scene
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.publisher import StatePublisher
from downfield.game.receipts import Accepted
from downfield.game.records.challenges import ChallengeEntry
from downfield.game.records.entries import (
    KINDS,
    Content,
    EventRecorded,
    GameStarted,
    ScenesRecorded,
    unpack_entry,
    unpack_scenes,
)
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import EntryRow, Journal, Journals, KeptCheckpoint
from downfield.game.session import GameSession
from downfield.officiating.events import Body, Event

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """The latest game of an owner, resumed."""

    session: GameSession
    receipts: tuple[tuple[str, Body, Accepted], ...]  # idempotency keys, what was submitted under each, and receipts
    judged: int  # number of entries that were judged; fewer than the journal has where there was a memento


@dataclass(slots=True)
class _Replayed:
    """A game on its way to be resumed."""

    session: GameSession | None = None
    receipts: list[tuple[str, Body, Accepted]] = field(default_factory=list)
    judged: int = 0


def rebuild_session(
    journals: Journals, journal: Journal, publisher: StatePublisher, memento: KeptCheckpoint | None = None
) -> ResumedSession:
    """Return a game as its journal leads to it.

    Args:
        memento: of the game; one that does not belong to this journal is not used, which is logged.

    Raises:
        FormatError: the journal can't be read.
        RulebookError: it is under a rulebook this program does not know.
    """
    found, after = _Replayed(), 0
    if memento is not None:
        try:
            found = _from_checkpoint(journals, journal, publisher, memento)
            after = memento.position.seq
        except FormatError as error:
            _log.warning("The memento of game %s is not used, the whole journal is judged: %s", journal.game.id, error)
            found = _Replayed()
    for row in journals.entries(journal.game.id, after):
        found.judged += 1
        _judge(found, row, journal, publisher)
    if found.session is None:
        raise FormatError(f"game {journal.game.id}", "its journal is empty")
    return ResumedSession(found.session, tuple(found.receipts), found.judged)


def continued(session: GameSession, before: GameSession | None) -> GameSession:
    """Return a game's session with what it keeps from before, under another rulebook."""
    if before is not None:
        session.challenges, session.signatures = before.challenges, before.signatures
    return session


def unpack(row: EntryRow) -> Content:
    """Return the content of an entry. Raises FormatError: it can't be read."""
    return unpack_entry(row.kind, row.content, where=place_of(row))


def place_of(row: EntryRow) -> str:
    """Return which entry it is, for an error."""
    return f"game {row.game}, entry {row.seq}"


def _judge(found: _Replayed, row: EntryRow, journal: Journal, publisher: StatePublisher) -> None:
    content = unpack(row)
    if isinstance(content, GameStarted):
        events = 0 if found.session is None else found.session.event_count
        found.session = continued(GameSession(content, journal, publisher, events), found.session)
        return
    session = found.session
    if session is None:
        raise FormatError(place_of(row), "a journal starts with the start of its game")
    if isinstance(content, EventRecorded):
        _judge_again(session, content.event, content.by)
        _keep_receipt(found, row, content)
    elif row.attachment is not None:
        for scene in unpack_scenes(row.attachment, where=place_of(row)):
            _judge_again(session, scene)
    else:
        _note(session, content)


def _note(session: GameSession, content: Content) -> None:
    """Take note of an entry that is not judged."""
    if isinstance(content, ScoreSigned):
        session.signatures[content.side] = content
    elif isinstance(content, ChallengeEntry):
        session.challenges.add(content)


def _keep_receipt(found: _Replayed, row: EntryRow, content: EventRecorded) -> None:
    if row.key is not None:
        event = content.event
        receipt = Accepted(event.id, row.seq, row.digest, event.t_ns, text=content.effects.text)
        found.receipts.append((row.key, event.body, receipt))


def _judge_again(session: GameSession, entry: Scene | Event, by: str = "") -> None:
    with suppress(RefusedError):  # another version of a rule allowed it; continue without it
        session.rejudge(entry, by)


def _from_checkpoint(
    journals: Journals, journal: Journal, publisher: StatePublisher, kept: KeptCheckpoint
) -> _Replayed:
    """Return a game as it stood at a memento. Raises FormatError: the memento does not belong to the journal."""
    found, digest = _Replayed(), ""
    entries: list[tuple[int, int]] = []  # numbers of those that were judged since the last start, and their lengths
    for row in _until(journals.entries(journal.game.id, attachments=False), kept.position.seq):
        digest = row.digest
        kind = KINDS.get(row.kind)
        if kind is ScenesRecorded:
            entries.append((row.seq, _count(row)))
        elif kind is EventRecorded:
            entries.append((row.seq, 1))
            content = unpack(row) if row.key is not None else None
            if isinstance(content, EventRecorded):
                _keep_receipt(found, row, content)
        elif kind is not None:
            entries = [] if kind is GameStarted else entries
            _judge(found, row, journal, publisher)
    if digest != kept.position.digest or found.session is None:
        raise FormatError("memento", "it is of another journal")
    memento = kept.unpack()
    if sum(length for _, length in entries) != len(memento.game.places):
        raise FormatError("memento", "its log has another length than the journal")
    scenes = KeptScenes(journals, journal.game.id, entries, memento.game.kept_from, kept.position.seq)
    found.session.restore(memento, scenes.get)
    return found


class KeptScenes:
    """The scenes that rulings can go back to, read from the journal while the game goes on already.

    Args:
        entries: numbers of the entries that were judged, and how many scenes and events each has.
        kept_from: place in the game's log of the first scene.
    """

    def __init__(
        self, journals: Journals, game: str, entries: Sequence[tuple[int, int]], kept_from: int, last: int
    ) -> None:
        self._journals, self._game, self._last = journals, game, last
        self._begins, place = dict[int, int](), 0
        for seq, length in entries:
            if place + length > kept_from:
                self._begins[seq] = place
            place += length
        self._scenes: dict[int, Scene] | None = None
        self._thread = supervised_thread(self._read, "kept scenes", only_logged)
        self._thread.start()

    def get(self) -> Mapping[int, Scene]:
        """Return the scenes by their place in the game's log. Raises RefusedError: the store can't be read."""
        self._thread.join()
        if self._scenes is None:
            self._read()
        if self._scenes is None:
            raise RefusedError("The scenes from before the restart can't be read from the store now. Try again.")
        return self._scenes

    def _read(self) -> None:
        found: dict[int, Scene] = {}
        try:
            for row in _until(
                self._journals.entries(self._game, min(self._begins, default=self._last + 1) - 1), self._last
            ):
                if row.attachment is not None and row.seq in self._begins:
                    scenes = unpack_scenes(row.attachment, where=place_of(row))
                    found |= dict(enumerate(scenes, self._begins[row.seq]))
        except DownfieldError as error:
            _log.warning("Scenes for rulings can't be read: %s", error)
            return
        self._scenes = found


def _until(rows: Iterable[EntryRow], seq: int) -> Iterator[EntryRow]:
    return takewhile(lambda row: row.seq <= seq, rows)


def _count(row: EntryRow) -> int:
    """Return how many scenes an entry has, without the calls they made."""
    try:
        return int(json.loads(row.content)["count"])
    except (ValueError, KeyError, TypeError):
        raise FormatError(place_of(row), "it does not say how many scenes it has") from None
