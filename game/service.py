"""The game service: scenes from the rig, declarations from the API, and what follows from them to the topics.

One lock guards the game; it is held while an entry is judged, never while the disk is waited for. The rig's judging
thread calls `take` for every scene, the service's threads call the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.errors import DownfieldError, InputError, RefusedError
from downfield.core.field import FieldModel
from downfield.core.scene import Player, Scene
from downfield.game.commands import Command, NewGame, SetRulebook, Settings
from downfield.game.entries import Said as SaidEntry
from downfield.game.entries import Seen
from downfield.game.idempotency import Answers
from downfield.game.journal import Journal, Kept
from downfield.game.published.board_topics import HealthReason, HealthStatus, SourceStatus
from downfield.game.published.game_topics import CallView, DeclarationView, Notice
from downfield.game.published.publisher import StatePublisher
from downfield.game.published.topic_sink import TopicSink
from downfield.game.receipts import Accepted, Receipt, Refused, RigControl, Said
from downfield.game.session import GameSession, Spoken, begin, go_on, resume, set_up_of
from downfield.game.store import Store
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration, LineUpDeclared
from downfield.officiating.engine.judged_game import GameUpdate
from downfield.officiating.engine.state import Phase
from downfield.officiating.events import Body, Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

BATCH: Final = 60
"""Scenes written together while no call is made: a second's worth, which a crash may cost."""

_BETWEEN: Final = frozenset({Phase.BETWEEN_PLAYS, Phase.LINE_UP, Phase.SET})


class GameService:
    """A `Desk` over one game at a time.

    Args:
        store: where journals go.
        hub: where it publishes.
        machine: does what only the rig can do.
        field: the printed field.
        rulebook: for games that name none.
        clock: the capture clock now, ns; by default the last scene's time and what has passed since it.

    """

    def __init__(
        self,
        store: Store,
        hub: TopicSink,
        machine: RigControl,
        field: FieldModel,
        rulebook: Rulebook,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._store, self._hub = store, hub
        self._machine = machine
        self._field = field
        self._rulebook = rulebook
        self._clock = clock or self._since_last_scene
        self._lock = threading.RLock()
        self._sitting: GameSession | None = None
        self._journal: Journal | None = None
        self._unwritten: list[Scene] = []
        self._answers = Answers()
        self._scene_ns = 0
        self._scene_at_ns: int | None = None
        self._teller = StatePublisher(hub, field)

    @property
    def now_ns(self) -> int:
        """The latest instant the game has seen; a clock for it must go on from here."""
        with self._lock:
            return 0 if self._sitting is None else self._sitting.game.state.now_ns

    @property
    def game_id(self) -> str:
        """The game's id; empty without one."""
        with self._lock:
            return "" if self._sitting is None else self._sitting.row.id

    @property
    def text(self) -> str:
        """The game on one line; empty without one."""
        with self._lock:
            return "" if self._sitting is None else self._sitting.game.state.text

    def begin(self, asked: NewGame, players: tuple[Player, ...] | None = None) -> str:
        """End the game in play and begin another; it is on disk afterwards, unless the disk is behind.

        Args:
            asked: what is wanted.
            players: on the board; None for those of the game before.

        Returns:
            The game's id.

        Raises:
            RulebookError: the rulebook asked for does not exist.

        """
        book = self._rulebook if asked.rulebook is None else load_rulebook(asked.rulebook)
        with self._lock:
            if players is None:
                players = self._sitting.game.state.players if self._sitting is not None else ()
            self._end()
            calibration = self._machine.calibration()
            certificate = None if calibration is None else calibration.certificate
            certified_yd = None if certificate is None else certificate.p95_yd
            sitting, journal, waiting = begin(self._store, asked, book, self._field, certified_yd)
            self._seat(sitting, journal)
            if players:
                _, waiting = self._say(LineUpDeclared(players), "downfield", None)
        Journal.wait(waiting)
        return sitting.row.id

    def begin_anew(self) -> str:
        """Begin another game on a clock that begins anew, too, as where a recording does: nobody is on the board yet.

        Returns:
            The game's id.

        """
        with self._lock:
            self._scene_ns, self._scene_at_ns = 0, None
            return self.begin(NewGame(), players=())

    def play_on(self, field: FieldModel) -> bool:
        """Play on a field that is known only now.

        Returns:
            Whether the game in play was begun on another, and so a new one was begun.

        """
        with self._lock:
            if field != self._field:
                self._field, self._teller = field, StatePublisher(self._hub, field)
            other = self._sitting is not None and self._sitting.began.field != field
            if other:
                self.begin(NewGame())
            return other

    def resume(self) -> str | None:
        """Go on with the latest game in the store, if it was not ended.

        Returns:
            Its id; None when there is none to go on with.

        Raises:
            FormatError: its journal can't be read.
            RulebookError: it is under a rulebook this program does not know.

        """
        with self._lock:
            resumed = resume(self._store)
            if resumed is None:
                return None
            sitting, journal = resumed
            self._seat(sitting, journal)
            for said in sitting.said:
                if said.key is not None:
                    receipt = Accepted(said.event.id, said.seq, said.digest, said.event.t_ns, text=said.followed.text)
                    self._answers.remember(said.key, said.event.body, receipt)
            self._scene_ns = sitting.game.state.now_ns
            return sitting.row.id

    def close(self) -> None:
        """Write what is unwritten; the game may be resumed later."""
        with self._lock:
            self._flush(GameUpdate(), None)
            if self._journal is not None:
                self._journal.close()
            self._sitting, self._journal = None, None

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Take a scene, or an event that nobody at the service said, and tell what follows; never waits for the disk.

        Returns:
            The calls made or changed.

        Raises:
            RefusedError: the state does not allow it; nothing has changed.

        """
        with self._lock:
            sitting = self._sitting
            if sitting is None:
                raise RefusedError("no game is being played: begin one")
            if isinstance(entry, Event):
                return self._take_event(sitting, entry, entry.origin, None)[0].calls
            self._scene_ns, self._scene_at_ns = entry.t_ns, time.monotonic_ns()
            taken = sitting.take(entry)
            self._unwritten += (one for one in taken.logged if isinstance(one, Scene))
            if taken.calls or len(self._unwritten) >= BATCH:
                self._flush(taken, entry.frame)
            self._teller.scene(entry)
            self._teller.game(sitting, changed=bool(taken.calls))
            return taken.calls

    def tick(self) -> None:
        """Let the game's time go on while no scenes come."""
        with self._lock, suppress(RefusedError):
            if self._sitting is not None and self._sitting.game.state.play.pending:
                self._take_event(self._sitting, self._event(self._sitting, Tick(), 0), "clock", None)

    def health(self, health: HealthStatus) -> None:
        """Tell how the rig is; the store's own trouble is added."""
        failure = self._journal.failure if self._journal is not None else ""
        if failure:
            reason = HealthReason(
                code="store_behind",
                level="alarm",
                text=f"what is declared is not on disk: {failure}",
                remedy="make room on the disk; what waits is written as soon as it can be",
            )
            health = health.model_copy(
                update={"level": "alarm", "store": "behind", "reasons": (*health.reasons, reason)}
            )
        self._teller.health(health)

    def source(self, source: SourceStatus) -> None:
        """Tell where the pictures come from."""
        self._teller.source(source)

    def declare(self, declaration: Declaration, said: Said) -> Receipt:
        """Take a declaration."""
        return self._spoken(declaration, said)

    def rule(self, ruling: Ruling, said: Said) -> Receipt:
        """Take a ruling: confirm, overturn or strike one call, or make one by hand."""
        if ruling.decision != "manual" and all(call.id != ruling.call for call in self.calls()):
            known = self._sitting is not None and ruling.call in self._sitting.rulings
            if not known:
                return Refused(f"no call of this game is called {ruling.call!r}", "unknown")
        return self._spoken(ruling, said)

    def undo(self, event: str, said: Said) -> Receipt:
        """Take back one declaration or ruling, whatever came after it."""
        if all(one.id != event for one in self.declared()):
            return Refused(f"no event of this game is called {event!r}", "unknown")
        return self._spoken(Undo(event), said)

    def command(self, command: Command, said: Said) -> Receipt:
        """Do something that is no event of the game."""
        with self._lock:
            again = self._answers.again(said.key, command)
        if again is not None:
            return again
        try:
            if isinstance(command, NewGame):
                text = f"game {self.begin(command)} has begun"
            elif isinstance(command, SetRulebook):
                text = self._change_rulebook(command, said)
            else:
                text = self._machine.do(command)
        except RefusedError as error:
            return Refused(str(error))
        except InputError as error:
            return Refused(str(error), "invalid")
        except DownfieldError as error:
            return Refused(str(error), "failed")
        receipt = Accepted(text=text)
        with self._lock:
            self._answers.remember(said.key, command, receipt)
        return receipt

    def calls(self) -> Sequence[CallView]:
        """Every call of the game in play."""
        with self._lock:
            return () if self._sitting is None else self._teller.calls(self._sitting)

    def declared(self) -> Sequence[DeclarationView]:
        """Every declaration and ruling of the game in play."""
        with self._lock:
            return () if self._sitting is None else self._sitting.declared()

    def unwritten(self) -> Sequence[Scene]:
        """Scenes that the journal does not hold yet."""
        with self._lock:
            return tuple(self._unwritten)

    def calibration(self) -> Calibration | None:
        """The calibration in use."""
        return self._machine.calibration()

    def settings(self) -> Settings:
        """The configuration in force."""
        return self._machine.settings()

    def _spoken(self, body: Declaration | Ruling | Undo, said: Said) -> Receipt:
        with self._lock:
            again = self._answers.again(said.key, body)
            if again is not None:
                return again
            if self._sitting is None:
                return Refused("no game is being played: begin one", "no_game")
            try:
                receipt, waiting = self._say(body, said.by, said.key, said.ago_ms)
            except RefusedError as error:
                return Refused(str(error))
        kept = Journal.wait(waiting)
        receipt = replace(receipt, kept=False) if kept is None else replace(receipt, seq=kept.seq, digest=kept.digest)
        with self._lock:
            self._answers.remember(said.key, body, receipt)
        return receipt

    def _say(self, body: Body, by: str, key: str | None, ago_ms: int = 0) -> tuple[Accepted, Future[Kept]]:
        sitting = self._sitting
        if sitting is None:
            raise RefusedError("no game is being played: begin one")
        event = self._event(sitting, body, ago_ms)
        taken, waiting = self._take_event(sitting, event, by, key)
        receipt = Accepted(
            event.id,
            t_ns=event.t_ns,
            calls=tuple(self._teller.call(sitting, call) for call in taken.calls),
            withdrawn=taken.withdrawn,
            set_aside=tuple(aside.event for aside in sitting.game.refused),
            text=sitting.game.state.text,
        )
        self._answers.remember(key, body, receipt)
        return receipt, waiting

    def _take_event(
        self, sitting: GameSession, event: Event, by: str, key: str | None
    ) -> tuple[GameUpdate, Future[Kept]]:
        journal = self._journal
        if journal is None:
            raise RefusedError("no game is being played: begin one")
        taken = sitting.take(event)
        self._unwritten += (one for one in taken.logged if isinstance(one, Scene))
        self._flush(GameUpdate(), None)
        entry = SaidEntry(event, by, sitting.followed(taken))
        waiting = journal.append(entry, key=key)
        sitting.note(Spoken(event, by, key, entry.followed))
        self._teller.game(sitting, changed=True)
        return taken, waiting

    def _flush(self, taken: GameUpdate, frame: int | None) -> None:
        """Have the scenes written that are not yet, with the calls the last of them made."""
        scenes, self._unwritten = self._unwritten, []
        if scenes and self._journal is not None and self._sitting is not None:
            followed = self._sitting.followed(taken)
            entry = Seen(len(scenes), scenes[0].t_ns, scenes[-1].t_ns, followed, frame if taken.calls else None)
            self._journal.append(entry, scenes=scenes)

    def _event(self, sitting: GameSession, body: Body, ago_ms: int) -> Event:
        """An event that holds a little before now, never before the last one or too late for the rulebook."""
        now_ns = max(self._clock(), sitting.game.state.now_ns)
        late_ns = sitting.game.rulebook.params.ns("calls.late_s")
        t_ns = max(now_ns - min(ago_ms * 1_000_000, late_ns), sitting.last_event_ns)
        t_ns = max(t_ns, sitting.game.state.now_ns - late_ns)
        if isinstance(body, Ruling) and body.decision == "manual" and body.replacement is not None:
            body = replace(body, replacement=replace(body.replacement, t_ns=t_ns))
        return Event(f"op-{sitting.numbered + 1}", t_ns, "clock" if isinstance(body, Tick) else "operator", body)

    def _since_last_scene(self) -> int:
        if self._scene_at_ns is None:
            return self._scene_ns
        return self._scene_ns + time.monotonic_ns() - self._scene_at_ns

    def _change_rulebook(self, asked: SetRulebook, said: Said) -> str:
        book = load_rulebook(asked.rulebook)
        with self._lock:
            if self._sitting is None or self._journal is None:
                raise RefusedError("no game is being played: begin one")
            state = self._sitting.game.state
            if state.phase not in _BETWEEN:
                raise RefusedError(f"the rulebook can be changed between plays only, not while {state.phase.value}")
            self._flush(GameUpdate(), None)
            self._sitting = go_on(self._journal, self._sitting, book)
            self._teller.forget()
            self._say(set_up_of(state), said.by, None)
            if state.players:
                self._say(
                    LineUpDeclared(state.players, "dark" if state.dark == state.offense else "light"), said.by, None
                )
            self._rulebook = book
        return f"the game goes on under {book.title}"

    def _seat(self, sitting: GameSession, journal: Journal) -> None:
        self._sitting, self._journal, self._unwritten = sitting, journal, []
        self._teller.forget()
        self._teller.game(sitting, changed=True)
        self._teller.notice(Notice(text=f"game {sitting.row.id} under {sitting.began.rulebook.title}"))

    def _end(self) -> None:
        if self._sitting is not None and self._journal is not None:
            self._flush(GameUpdate(), None)
            self._journal.append(self._sitting.ended())
            self._journal.close()
            self._sitting, self._journal = None, None
