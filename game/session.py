"""One game at the table: the game being judged with what the journal says of it; begun, gone on with, resumed."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.metadata import version

from downfield.core.errors import RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Scene
from downfield.game.commands import NewGame
from downfield.game.entries import (
    Began,
    Content,
    Ended,
    Followed,
    Said,
    Seen,
    Snap,
    rulebook_data,
    rulebook_of,
    unpacked,
    unpacked_scenes,
)
from downfield.game.hash_chain import Entry
from downfield.game.journal import Journal, Kept
from downfield.game.published.game_topics import DeclarationView, RulingView
from downfield.game.published.wording import said_text
from downfield.game.store import GameRow, Store
from downfield.officiating.declarations import SetUp
from downfield.officiating.engine.judged_game import GameUpdate, JudgedGame
from downfield.officiating.engine.state import GameState, Team
from downfield.officiating.events import Event, Ruling, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook


@dataclass(frozen=True, slots=True)
class Spoken:
    """An event of the game, as it stands in the journal.

    Attributes:
        event: it.
        by: who said it.
        key: idempotency key.
        followed: what it changed.
        seq, digest: its place; 0 and empty for one of this run.

    """

    event: Event
    by: str
    key: str | None
    followed: Followed
    seq: int = 0
    digest: str = ""


class GameSession:
    """A game and what is known of it beside its state.

    Args:
        row: as the store lists it.
        began: what it began with.
        numbered: how many events the journal holds from before.

    """

    def __init__(self, row: GameRow, began: Began, numbered: int = 0) -> None:
        self.row = row
        self.began = began
        teams = (Team(began.home.name, began.home.short), Team(began.away.name, began.away.short))
        self.game = JudgedGame(rulebook_of(began.rulebook), began.field, teams, certified_yd=began.certified_yd)
        self.said: list[Spoken] = []
        self.frames: dict[str, int] = {}
        self.numbered = numbered
        self.last_event_ns = 0
        self._snap_ns: int | None = None
        self._snap: Snap | None = None

    def take(self, entry: Scene | Event) -> GameUpdate:
        """Take one entry.

        Raises:
            RefusedError: the state does not allow it; nothing has changed.

        """
        before = self.game.state
        taken = self.game.apply(entry)
        if isinstance(entry, Event):
            self.last_event_ns = entry.t_ns
        else:
            self.frames |= {call.id: entry.frame for call in taken.calls}
        self._note_snap(before)
        return taken

    def note(self, spoken: Spoken) -> None:
        """Note who said an event that was taken."""
        self.said.append(spoken)
        self.numbered += 1

    def followed(self, taken: GameUpdate) -> Followed:
        """What an entry changed, for the journal."""
        state, snap, self._snap = self.game.state, self._snap, None
        aside = tuple(aside.event for aside in self.game.refused)
        return Followed(taken.calls, taken.withdrawn, aside, state.score, state.text, snap, taken.moved)

    def ended(self) -> Ended:
        """The game as it ends."""
        return Ended(self.game.state.text, self.game.state.score)

    @property
    def rulings(self) -> dict[str, RulingView]:
        """What people decided, by call id; what was taken back is left out."""
        out: dict[str, RulingView] = {}
        undone = self.game.undone
        for spoken in self.said:
            body, event = spoken.event.body, spoken.event.id
            if isinstance(body, Ruling) and event not in undone:
                manual = body.decision == "manual" and body.replacement is not None
                call = body.replacement.id if manual and body.replacement is not None else body.call
                out[call] = RulingView(decision=body.decision, by=spoken.by, note=body.note, event=event)
        return out

    def declared(self) -> Sequence[DeclarationView]:
        """Every declaration and ruling, in order."""
        aside = {one.event: one.reason for one in self.game.refused}
        undone = self.game.undone
        return [
            DeclarationView(
                id=spoken.event.id,
                type=spoken.event.body.type,
                text=said_text(spoken.event.body),
                by=spoken.by,
                t_ns=spoken.event.t_ns,
                undone=spoken.event.id in undone,
                set_aside=aside.get(spoken.event.id, ""),
            )
            for spoken in self.said
            if not isinstance(spoken.event.body, Tick)
        ]

    def _note_snap(self, before: GameState) -> None:
        state = self.game.state
        snap_ns = state.play.snap_ns
        if snap_ns == self._snap_ns:
            return
        self._snap_ns = snap_ns
        if snap_ns is not None:
            self._snap = Snap(
                state.play.kind,
                snap_ns,
                before.offense,
                before.direction,
                before.down,
                round(before.distance_yd, 2),
                round(before.los_yd, 2),
                before.period,
                before.situation,
                before.play.carrier,
            )


def begin(
    store: Store, asked: NewGame, book: Rulebook, field: FieldModel, certified_yd: tuple[float, float] | None
) -> tuple[GameSession, Journal, Future[Kept]]:
    """Begin a game and its journal; the last is done when that is on disk."""
    now_ns = time.time_ns()
    name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now_ns / 1e9)) + f"-{secrets.token_hex(2)}"
    began = Began(rulebook_data(book), field, asked.home, asked.away, asked.title, version("downfield"), certified_yd)
    row = GameRow(name, now_ns, asked.title, asked.home.name, asked.away.name, book.name)
    journal = Journal(store, row)
    return GameSession(row, began), journal, journal.append(began)


def go_on(journal: Journal, sitting: GameSession, book: Rulebook) -> GameSession:
    """Go on with a game under another rulebook; its state is to be set up anew."""
    before = sitting.began
    began = replace(before, rulebook=rulebook_data(book))
    journal.append(began)
    return GameSession(sitting.row, began, sitting.numbered)


def resume(store: Store) -> tuple[GameSession, Journal] | None:
    """The latest game of a store with its journal, unless it was ended.

    Raises:
        FormatError: its journal can't be read.
        RulebookError: it is under a rulebook this program does not know.

    """
    latest = store.games(limit=1)
    if not latest:
        return None
    row, sitting, last = latest[0], None, None
    for entry in store.entries(row.id):
        content = unpacked(entry.kind, entry.content, where=f"game {row.id}, entry {entry.seq}")
        if isinstance(content, Ended):
            return None
        numbered = 0 if sitting is None else sitting.numbered
        sitting = GameSession(row, content, numbered) if isinstance(content, Began) else sitting
        if sitting is not None:
            _take_again(sitting, entry, content)
        last = Kept(entry.seq, entry.digest)
    return None if sitting is None else (sitting, Journal(store, row, last))


def _take_again(sitting: GameSession, entry: Entry, content: Content) -> None:
    if isinstance(content, Said):
        _again(sitting, content.event)
        spoken = Spoken(content.event, content.by, entry.key, content.followed, entry.seq, entry.digest)
        sitting.note(spoken)
    elif isinstance(content, Seen) and entry.attachment is not None:
        for scene in unpacked_scenes(entry.attachment, where=f"game {entry.game}, entry {entry.seq}"):
            _again(sitting, scene)


def _again(sitting: GameSession, entry: Scene | Event) -> None:
    try:
        sitting.take(entry)
    except RefusedError:  # judged by another version of a rule: the rest goes on without it
        return


def set_up_of(state: GameState) -> SetUp:
    """The declaration that sets a game up as it stands between plays."""
    distance_yd = 0.0 if state.goal_to_go else state.distance_yd
    return SetUp(
        state.offense,
        state.direction,
        state.los_yd,
        state.down,
        distance_yd,
        state.period,
        state.clock.left_at_s(state.now_ns),
        state.score,
        state.hash,
    )
