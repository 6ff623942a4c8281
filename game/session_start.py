"""Ways a session begins: a new game, the same game under another rulebook, an owner's latest game in a store.

A game is resumed by judging its journal once more, from a memento on where there is one of this journal.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import takewhile

from downfield.calibration.calibration import Calibration
from downfield.core.errors import DownfieldError, FormatError, RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Jersey, Scene
from downfield.core.threads import only_logged, supervised_thread
from downfield.game.published.publisher import StatePublisher
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.challenges import ChallengeEntry
from downfield.game.records.commands import NewGame
from downfield.game.records.entries import (
    END_KINDS,
    KINDS,
    Content,
    EventRecorded,
    GameStarted,
    ScenesRecorded,
    record_of,
    unpack_entry,
    unpack_scenes,
)
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import (
    EntryRow,
    GameRow,
    Journal,
    JournalPosition,
    Journals,
    PendingEntry,
    SessionMemento,
)
from downfield.game.records.owner import NOBODY, GameOwner
from downfield.game.session import GameSession
from downfield.officiating.consequences.declaration_handlers import AT_REST
from downfield.officiating.consequences.set_ups import as_it_stands
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.officiating.engine.judged_game import JudgedGame
from downfield.officiating.events import Body, Event
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import GameState

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """The latest game of an owner, resumed."""

    session: GameSession
    receipts: tuple[tuple[str, Body, Accepted], ...]  # idempotency keys, what was submitted under each, and receipts


@dataclass(slots=True)
class _Replayed:
    session: GameSession | None = None
    receipts: list[tuple[str, Body, Accepted]] = field(default_factory=list)


def resume_session(journals: Journals, publisher: StatePublisher, owner: GameOwner = NOBODY) -> ResumedSession | None:
    """Return the game that an owner started last, by judging its journal once more.

    A memento that does not belong to the journal is not used, which is logged.

    Returns:
        The game; None when it was ended, or there is none.

    Raises:
        FormatError: its journal can't be read.
        RulebookError: it is under a rulebook this program does not know.
    """
    game = journals.latest_game(owner)
    journal = None if game is None else journals.resume(game)
    if game is None or journal is None or journals.latest(game.id, END_KINDS):
        return None
    found, after = _Replayed(), 0
    kept = journals.checkpoint(game.id)
    if kept is not None:
        try:
            found = _from_checkpoint(journals, journal, publisher, *kept)
            after = kept[0].seq
        except FormatError as error:
            _log.warning("The memento of game %s is not used, the whole journal is judged: %s", game.id, error)
    for row in journals.entries(game.id, after):
        _judge(found, row, journal, publisher)
    if found.session is None:
        raise FormatError(f"game {game.id}", "its journal is empty")
    return ResumedSession(found.session, tuple(found.receipts))


def _continued(session: GameSession, before: GameSession | None) -> GameSession:
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
        found.session = _continued(GameSession(content, journal, publisher, events), found.session)
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
    elif isinstance(content, ScoreSigned):
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
    journals: Journals, journal: Journal, publisher: StatePublisher, position: JournalPosition, memento: SessionMemento
) -> _Replayed:
    """Return a game as it stood at a memento. Raises FormatError: the memento does not belong to the journal."""
    found, digest = _Replayed(), ""
    entries: list[tuple[int, int]] = []  # numbers of those that were judged since the last start, and their lengths
    for row in _until(journals.entries(journal.game.id, attachments=False), position.seq):
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
    if digest != position.digest or found.session is None:
        raise FormatError("memento", "it is of another journal")
    if sum(length for _, length in entries) != len(memento.game.places):
        raise FormatError("memento", "its log has another length than the journal")
    scenes = KeptScenes(journals, journal.game.id, entries, memento.game.kept_from, position.seq)
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


def new_game_id(began_ns: int) -> str:
    """Return an id for a game: when it began, UTC, and eight hexadecimal digits."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(began_ns / 1e9)) + f"-{secrets.token_hex(4)}"


def start_session(
    journals: Journals,
    publisher: StatePublisher,
    game: NewGame,
    rulebook: Rulebook,
    field: FieldModel,
    calibration: Calibration | None,
    owner: GameOwner = NOBODY,
) -> tuple[GameSession, PendingEntry]:
    """Start a game and its journal.

    Args:
        calibration: in use; calls finer than the error it is certified to are too close.

    Returns:
        The game, and the first entry of its journal on its way to the disk.
    """
    now_ns = time.time_ns()
    game_id = new_game_id(now_ns)
    certificate = None if calibration is None else calibration.certificate
    certified_yd = None if certificate is None else certificate.p95_yd
    started = GameStarted(
        record_of(rulebook),
        field,
        game.home,
        game.away,
        game.title,
        version("downfield"),
        certified_yd,
        game.match,
        lengths_known=calibration is None or calibration.lengths_known,
    )
    row = GameRow(game_id, now_ns, game.title, game.home.name, game.away.name, rulebook.name, owner.rig, owner.table)
    journal = journals.begin(row)
    return GameSession(started, journal, publisher), journal.append(started)


def switch_rulebook(
    session: GameSession, publisher: StatePublisher, rulebook: Rulebook, by: Submission, now_ns: int
) -> GameSession:
    """Continue a game as it stands under another rulebook. Raises RefusedError: mid-play, or none can stand so."""
    state = session.state
    if state.phase not in AT_REST:
        now = state.phase.value.replace("_", " ")
        raise RefusedError(f"The rulebook can be changed between plays only. The game is now in: {now}.")
    trial = JudgedGame(rulebook, session.started.field)
    trial.apply(Event("trial", 0, "operator", set_up_of(state, rulebook)))
    session.write_scenes()
    started = replace(session.started, rulebook=record_of(rulebook))
    session.journal.append(started)
    following = _continued(GameSession(started, session.journal, publisher, session.event_count), session)
    publisher.start_game(following.game_id, started)
    following.submit(set_up_of(state, rulebook), by, now_ns)
    if state.players:
        offense: Jersey = "dark" if state.dark == state.offense else "light"
        following.submit(LineUpDeclared(state.players, offense), by, now_ns)
    return following


def latest_instant_ns(journals: Journals, owner: GameOwner) -> int:
    """Return the latest capture time that the journal of an owner's last game holds, ns; 0 where there is none."""
    row, latest_ns = journals.latest_game(owner), 0
    for kind in ("scenes_recorded", "event_recorded"):
        for entry in [] if row is None else journals.latest(row.id, (kind,)):
            with suppress(FormatError):
                content = unpack(entry)
                if isinstance(content, ScenesRecorded):
                    latest_ns = max(latest_ns, content.last_ns)
                elif isinstance(content, EventRecorded):
                    latest_ns = max(latest_ns, content.event.t_ns)
    return latest_ns


def set_up_of(state: GameState, rulebook: Rulebook) -> SetUp:
    """Return the declaration that sets a game up as it stands between plays, under a rulebook it goes on with."""
    has_time_outs = "time_out.per_half" in rulebook.params.definitions
    most = rulebook.params.count("time_out.per_half") if has_time_outs else 0
    fits = state.time_outs is not None and max(state.time_outs) <= most
    return replace(as_it_stands(state), time_outs=state.time_outs if fits else None)
