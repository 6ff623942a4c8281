"""A game read back from its journal: its calls, plays and declarations; nothing is judged again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from pydantic import Field

from downfield.core.errors import FormatError
from downfield.core.records import made_of
from downfield.core.scene import Player
from downfield.game.published.game_topics import CallView, DeclarationView, RulingView
from downfield.game.published.plays import Play, PlayedGame, plays_of
from downfield.game.published.views import CallContext, call_view
from downfield.game.receipts import EventLog
from downfield.game.records.challenges import ChallengeBook, ChallengeEntry
from downfield.game.records.entries import (
    Content,
    Effects,
    EventRecorded,
    GameEnded,
    GameReopened,
    GameStarted,
    ScenesRecorded,
    Snap,
    rulebook_of,
    unpack_entry,
)
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Side
from downfield.officiating.events import Event, Ruling
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.sides import place_yd
from downfield.officiating.state.game_state import place_text
from downfield.store.database.reader import StoreReader

REMEMBERED: Final = 3  # Games that stay read, some 10 MB each for one of an hour

_SET_ASIDE: Final = "It no longer applies after a ruling."


class GameSummary(TopicModel):
    """A game in the store."""

    id: str
    began_ms: int = Field(description="Wall clock, ms since 1970.")
    title: str
    home: str
    away: str
    rulebook: str = Field(description="Name of the rulebook.")
    rulebook_title: str = Field(description="The same for people.")
    table: str = Field("", description="Name of the table it was played at; empty for a recording shown again.")


class GameDetails(GameSummary):
    """A game with its result and the head of its journal."""

    ended: bool
    score: tuple[int, int]
    text: str = Field(description="The game at the end, on one line.")
    entries: int = Field(description="Entries of its journal.")
    head: str = Field(description="Digest of the last entry. Keep it to prove later that nothing was altered.")


@dataclass(frozen=True, slots=True)
class LateEntry:
    """An entry that ended a game, led to its end, or came after that."""

    seq: int
    at_ns: int  # wall clock when it was written, ns since 1970
    content: Content


@dataclass(frozen=True, slots=True)
class SceneBatch:
    """Scenes that were written together."""

    seq: int  # number of the entry they are attached to
    # first_ns, last_ns: times of the first and the last
    first_ns: int
    last_ns: int


class History:
    """A game read from its journal.

    Of a game in play the journal is behind the feed: by up to a second of scenes in which no call was made
    (`GameLimits.batch_scenes`), and by all that waits for a disk or server. `GameService.calls` is not behind.

    Attributes:
        started: how the game was started, or last went on under another rulebook; None where its journal is empty.

    Raises:
        FormatError: its journal can't be read.
    """

    def __init__(self, store: StoreReader, row: GameRow) -> None:
        self.row = row
        self.ended = False
        self.reopened = False
        self.score = (0, 0)
        self.text = ""
        self.entries = 0
        self.last_at_ns = row.began_ns
        self.head = ""
        self.batches: list[SceneBatch] = []
        self.late: list[LateEntry] = []
        self.challenges = ChallengeBook()
        self.signatures: dict[Side, ScoreSigned] = {}
        self._worded: tuple[int, list[CallView]] = (0, [])  # of so many entries
        self._log = EventLog()
        self._calls: dict[str, Call] = {}
        self._withdrawn: dict[str, Call] = {}
        self._replaced: dict[str, Call] = {}
        self._frames: dict[str, int] = {}
        self._snaps: list[Snap] = []
        self._set_aside: tuple[str, ...] = ()
        self.started: GameStarted | None = None
        self.read_on(store)

    def read_on(self, store: StoreReader) -> None:
        """Read what has been appended since. Raises FormatError: it can't be read; what was read before it stays."""
        for entry in store.entries(self.row.id, after=self.entries, attachments=False):
            content = unpack_entry(entry.kind, entry.content, where=f"game {self.row.id}, entry {entry.seq}")
            self.entries, self.head, self.last_at_ns = entry.seq, entry.digest, entry.at_ns
            self._add(content)
            if self.ended or isinstance(content, GameReopened | ScoreSigned):
                self.late.append(LateEntry(entry.seq, entry.at_ns, content))
            if isinstance(content, ScenesRecorded):
                self.batches.append(SceneBatch(entry.seq, content.first_ns, content.last_ns))

    @property
    def events(self) -> list[Event]:
        """Every event, in order."""
        return [event for event, _ in self._log.events]

    @property
    def standing_calls(self) -> tuple[Call, ...]:
        """The calls that stand, in the order they were made."""
        return tuple(self._calls.values())

    @property
    def rulebook(self) -> Rulebook:
        """The rulebook in force at the end. Raises FormatError: no start is kept; RulebookError: it is unknown."""
        if self.started is None:
            raise FormatError(f"game {self.row.id}", "its journal has no start")
        return rulebook_of(self.started.rulebook)

    def details(self) -> GameDetails:
        """Return a summary of the game with its result."""
        listed = summary(self.row, "" if self.started is None else self.started.rulebook.title)
        return made_of(GameDetails, self, **listed.model_dump())

    def calls(self) -> list[CallView]:
        """Return every call that stands, in the order they were made; put into words once until something is read."""
        read, views = self._worded
        if read != self.entries:
            views = self._views(self._calls)
            self._worded = (self.entries, views)
        return list(views)

    def struck(self) -> list[CallView]:
        """Return every call that a ruling took away, as it was before, with that ruling."""
        rulings = self.rulings
        return self._views({name: call for name, call in self._withdrawn.items() if name in rulings})

    @property
    def rulings(self) -> dict[str, RulingView]:
        """What people decided, by call id, without what was undone."""
        return self._log.rulings(self._log.undone)

    def snaps(self) -> tuple[Snap, ...]:
        """Return how every play began, in order."""
        return tuple(self._snaps)

    def _views(self, calls: Mapping[str, Call]) -> list[CallView]:
        if self.started is None:
            return []
        waiting = frozenset(call.id for call in self._calls.values() if call.verdict in {"too_close", "proposed"})
        context = CallContext(self.started, lambda _: "", waiting, self.rulings, self._frames, self.row.id)
        return [call_view(call, replace(context, spot=partial(self._place_text, call.t_ns))) for call in calls.values()]

    def replaced(self) -> list[CallView]:
        """Return every call that a ruling put another in the place of, as it was before."""
        rulings = self.rulings
        gone = {name: call for name, call in self._replaced.items() if name in rulings and rulings[name].replaced}
        return self._views(gone)

    def plays(self) -> list[Play]:
        """Return every play, in order, with the calls from its snap to the next."""
        length_yd = 100.0 if self.started is None else self.started.field.length_yd
        return plays_of(PlayedGame(self._snaps, self.calls(), self.struck(), length_yd, self.ended))

    def declarations(self) -> list[DeclarationView]:
        """Return every declaration and ruling, in order."""
        calls = {view.id: view.text for view in (*self.struck(), *self.calls())}
        return self._log.declarations(self._log.undone, dict.fromkeys(self._set_aside, _SET_ASIDE), calls)

    def players(self, t_ns: int) -> tuple[Player, ...]:
        """Return the figures that were on the board at an instant."""
        return self._log.players(t_ns)

    def place(self, named: str, t_ns: int) -> tuple[float, float]:
        """Return where a named spot of the play at an instant is, x and across. Raises RefusedError: no such place."""
        assert self.started is not None
        return place_yd(named, *self._sides(t_ns)), self.started.field.width_yd / 2

    def _place_text(self, t_ns: int, x_yd: float) -> str:
        return place_text(x_yd, *self._sides(t_ns))

    def _sides(self, t_ns: int) -> tuple[tuple[str, str], int, float]:
        """Return the short names of home and away, home's way in the play at an instant, and the field's length."""
        snap, game = self.snap(t_ns), self.started
        assert game is not None
        direction = 1 if snap is None else snap.direction if snap.offense == "home" else -snap.direction
        return (game.home.short, game.away.short), direction, game.field.length_yd

    def snap(self, t_ns: int) -> Snap | None:
        """Return the play that an instant is in; None before the first snap."""
        return next((snap for snap in reversed(self._snaps) if snap.t_ns <= t_ns), None)

    def _add(self, content: Content) -> None:
        if isinstance(content, GameStarted):
            self.started = content
        elif isinstance(content, GameEnded):
            self.ended, self.score, self.text = True, content.score, content.text
            self.reopened = False
        elif isinstance(content, GameReopened):
            self.reopened = True
        elif isinstance(content, ScoreSigned):
            self.signatures[content.side] = content
        elif isinstance(content, ChallengeEntry):
            self.challenges.add(content)
        elif isinstance(content, EventRecorded | ScenesRecorded):
            if isinstance(content, EventRecorded):
                self._note_replaced(content.event)
            self._apply(content.effects)
            if isinstance(content, EventRecorded):
                self._log.add(content.event, content.by)
            elif content.frame is not None:
                self._frames |= {call.id: content.frame for call in content.effects.calls}

    def _note_replaced(self, event: Event) -> None:
        """Keep a call that a ruling puts another in the place of, which has its id from then on."""
        body = event.body
        if isinstance(body, Ruling) and body.decision == "overturn" and body.replacement is not None:
            before = self._calls.get(body.call) or self._withdrawn.get(body.call)
            if before is not None:
                self._replaced[body.call] = before

    def _apply(self, effects: Effects) -> None:
        for call_id in effects.withdrawn:
            if (call := self._calls.pop(call_id, None)) is not None:
                self._withdrawn[call_id] = call
        self._calls |= {call.id: call for call in effects.calls}
        for call in effects.calls:
            self._withdrawn.pop(call.id, None)
        self._calls |= {call_id: self._calls.pop(call_id) for call_id in effects.moved}
        self._set_aside = effects.set_aside
        self.score, self.text = effects.score, effects.text
        snap = effects.snap
        if snap is not None:
            later = next((place for place, known in enumerate(self._snaps) if known.t_ns >= snap.t_ns), None)
            self._snaps = [*self._snaps[:later], snap]
        if effects.plays is not None:
            self._snaps = list(effects.plays)


class RecentHistories:
    """The games that were read last, kept until their journals grow: one page makes many requests for its game.

    Callable from any thread; what it returns is shared and only to be read.

    Args:
        store: where the games are.
    """

    def __init__(self, store: StoreReader) -> None:
        self._store = store
        self._known: OrderedDict[str, History] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, row: GameRow) -> History:
        """Return a game as its journal has it now, read where that has changed. Raises FormatError: it can't be."""
        last = next(iter(self._store.latest(row.id)), None)
        head = "" if last is None else last.digest
        with self._lock:
            known = self._known.get(row.id)
            if known is not None and (known.head, known.row) == (head, row):
                self._known.move_to_end(row.id)
                return known
        history = History(self._store, row)
        with self._lock:
            self._known[row.id] = history
            self._known.move_to_end(row.id)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return history


def summary(row: GameRow, rulebook_title: str) -> GameSummary:
    """Return a game's entry in the list of games; a rulebook without a title is called by its name."""
    return made_of(GameSummary, row, began_ms=row.began_ns // 1_000_000, rulebook_title=rulebook_title or row.rulebook)
