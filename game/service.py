"""The game service: scenes from the rig and declarations from the API go in; calls, receipts and topics come out.

One lock guards the game. It is held while an entry is judged, never while the disk is waited for. The rig's judging
thread submits every scene; the API's threads call the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.errors import NotFoundError, RefusedError
from downfield.core.field.model import FieldModel
from downfield.core.platform.clock import monotonic_ns
from downfield.core.scene import Player, Scene
from downfield.game.current_game import NO_GAME, CurrentGame
from downfield.game.policies import LeaguePolicies
from downfield.game.published.board_topics import HealthStatus, SourceStatus
from downfield.game.published.game_topics import CallsUpdate, CallView, GameView, Notice
from downfield.game.published.hub import Hub
from downfield.game.published.publisher import StatePublisher
from downfield.game.receipts import (
    Accepted,
    IdempotencyCache,
    Receipt,
    Refused,
    Submission,
    as_submitted,
    content_fault,
    refusal_of,
)
from downfield.game.records.commands import Command, NewGame, RigControl, SetRulebook, Settings
from downfield.game.records.entries import CommandCarriedOut, TableRecord
from downfield.game.records.keeping import Journals
from downfield.game.records.owner import NOBODY, GameOwner
from downfield.game.session import GameSession
from downfield.game.session_start import latest_instant_ns, resume_session, start_session, switch_rulebook
from downfield.game.shadow import Shadow
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration, LineUpDeclared
from downfield.officiating.events import Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.state.game_state import Phase

_DOWNFIELD: Final = Submission(by="downfield")
_CLOCK: Final = Submission(by="clock")


class GameService(CurrentGame):
    """Runs one game at a time. Callable from any thread; a call may take as long as a disk needs.

    Args:
        rulebook: for games that name none. Kept as an attribute, as are the policies.
        clock: the capture clock now, ns; by default the last scene's time and what has passed since it.
        owner: whose games these are; only they are resumed.
        shadow: whether people referee by declarations alone, and calls are made in the shadow of their game.
        policies: of the league, over those of a game's rulebook; None for none.
    """

    def __init__(
        self,
        journals: Journals,
        hub: Hub,
        rig: RigControl,
        field: FieldModel,
        rulebook: Rulebook,
        clock: Callable[[], int] | None = None,
        owner: GameOwner = NOBODY,
        *,
        shadow: bool = False,
        policies: LeaguePolicies | None = None,
    ) -> None:
        super().__init__()
        self.policies = policies or LeaguePolicies()
        self.require_startable: Callable[[], None] = lambda: None  # refuses to start games; those in play go on
        self._journals = journals
        self._rig, self._field, self.rulebook, self._owner = rig, field, rulebook, owner
        self._clock = clock or self._since_last_scene
        self._commanding = threading.Lock()
        self._players: tuple[Player, ...] = ()
        self._receipts = IdempotencyCache()
        self._scene_ns = 0
        self._scene_at_ns: int | None = None
        self._publisher = StatePublisher(hub, field, shadow=shadow)
        self._shadow = Shadow(journals) if shadow else None

    def last_kept_ns(self) -> int:
        """Return the latest capture time in the owner's last game; a new run's clock begins later."""
        return latest_instant_ns(self._journals, self._owner)

    def start_game(self, game: NewGame, players: tuple[Player, ...] | None = None) -> str:
        """End the game in play and start another; it is on disk afterwards, unless the disk is behind.

        Args:
            players: on the board; None for those of the game before.

        Returns:
            The game's id.

        Raises:
            InputError: its rulebook does not exist, or the league's policies can't be read.
        """
        rulebook = self.policies.applied_to(self.rulebook if game.rulebook is None else load_rulebook(game.rulebook))
        with self._lock:
            if players is None:
                players = self._players if self._session is None else self._session.state.players
            if self._session is not None:
                self._session.end()
                self._leave(self._session)
            session, pending = start_session(
                self._journals, self._publisher, game, rulebook, self._field, self._rig.calibration(), self._owner
            )
            self._put_in_play(session)
            if players:
                _, pending = session.submit(LineUpDeclared(players), _DOWNFIELD, self._clock())
        pending.wait()
        return session.game_id

    def restart(self) -> str:
        """Start another game with an empty board and clock, for a recording shown again; return its id."""
        with self._lock:
            self._scene_ns, self._scene_at_ns = 0, None
            return self.start_game(NewGame(), players=())

    def use_field(self, field: FieldModel) -> bool:
        """Set the printed field once it is known; return whether that started a new game, as of another field."""
        with self._lock:
            if field != self._field:
                self._field = field
                self._publisher.use_field(field)
            before = None if self._session is None else self._session.started
            if before is None or before.field == field:
                return False
            self.start_game(NewGame(home=before.home, away=before.away))  # who plays has not changed with the board
            return True

    def resume(self) -> str | None:
        """Resume the owner's latest game in the store, if it was not ended.

        Returns:
            Its id; None when there is none to resume.

        Raises:
            FormatError: its journal can't be read.
            RulebookError: it is under a rulebook this program does not know.
        """
        with self._lock:
            resumed = resume_session(self._journals, self._publisher, self._owner)
            for note in dict.fromkeys(self._journals.notes):
                self._publisher.publish_notice(Notice(level="warning", text=note))
            if resumed is None:
                return None
            self._put_in_play(resumed.session)
            for key, body, receipt in resumed.receipts:
                self._receipts.open(key, as_submitted(body)).receipt = receipt
            self._scene_ns = resumed.session.state.now_ns
            return resumed.session.game_id

    def close(self) -> None:
        """Write what is unwritten; the game may be resumed later."""
        with self._lock:
            if self._session is not None:
                self._session.write_scenes()
            if self._shadow is not None:
                self._shadow.end()
            self._session = None
        self._journals.close()

    @contextmanager
    def in_play(self) -> Iterator[GameSession]:
        """Hold the game in play while nothing else happens to it. Raises RefusedError: there is none."""
        with self._lock:
            if self._session is None:
                raise RefusedError(NO_GAME)
            session = self._session
            yield session
            if session.ended:
                self._leave(session)
            session.publish_challenges()

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Judge a scene or a recorded event, and publish what follows; never waits for the disk.

        Returns:
            The calls made or changed.

        Raises:
            RefusedError: the state does not allow it; nothing has changed.
        """
        with self._lock:
            if self._session is None:
                if isinstance(entry, Event):
                    raise RefusedError(NO_GAME)
                self._publisher.publish_scene(entry)
                return ()
            if isinstance(entry, Event):
                calls = self._session.judge_event(entry)
                if self._shadow is not None:
                    self._shadow.hear(entry.body, self._session, entry.t_ns)
                return calls
            self._scene_ns, self._scene_at_ns = entry.t_ns, monotonic_ns()
            if self._shadow is None:
                return self._session.judge_scene(entry)
            self._shadow.see(entry)
            self._publisher.publish_scene(entry)
            return ()

    def tick(self) -> None:
        """Advance the game's time while no scenes arrive."""
        with self._lock, suppress(RefusedError):
            if self._session is not None and self._session.state.play.pending:
                self._session.submit(Tick(), _CLOCK, self._clock())

    def publish_health(self, health: HealthStatus) -> None:
        """Publish the health of the rig, with the store's own problem added."""
        self._publisher.publish_health(health, self._journals.problem)

    def publish_reviewed(self, game: GameView, calls: Sequence[CallView], changed: CallsUpdate) -> None:
        """Publish what a ruling changed in a finished game, whose calls are now these."""
        with self._lock:
            self._publisher.publish_reviewed(game, calls, changed)

    def publish_source(self, source: SourceStatus) -> None:
        """Publish where the pictures come from."""
        self._publisher.publish_source(source)

    def declare(self, declaration: Declaration, submission: Submission) -> Receipt:
        """Submit a declaration."""
        return self._submit(declaration, submission)

    def rule(self, ruling: Ruling, submission: Submission) -> Receipt:
        """Submit a ruling: confirm, overturn or strike one call, or make one by hand."""
        return self._submit(ruling, submission)

    def undo(self, event: str, submission: Submission, note: str = "") -> Receipt:
        """Take back one declaration or ruling, whatever came after it; everything since is judged again."""
        return self._submit(Undo(event, note), submission)

    def place(self, named: str) -> tuple[float, float]:
        """Return where a named spot (`place_yd`) is, x and across. Raises RefusedError: no game, or no such place."""
        with self.in_play() as session:
            return session.state.place(named)

    def undo_preview(self, event: str) -> Accepted:
        """Return the receipt an undo would get; nothing changes. Raises RefusedError, NotFoundError: as an undo."""
        with self.in_play() as session:
            return session.undo_preview(event, self._clock())

    def command(self, command: Command, submission: Submission) -> Receipt:
        """Carry out a command, which is not an event of the game: start a game, calibrate, record."""
        # One at a time, so that a key sent again while its command is carried out waits for the receipt.
        with self._commanding:
            with self._lock:
                record = self._receipts.open(submission.key, command)
            return record.once(command, lambda: self._carry_out(command, submission))

    def note(self, happened: TableRecord) -> None:
        """Put what happened at the table in the journal of the game in play, if there is one."""
        with self._lock:
            if self._session is not None:
                self._session.journal.append(happened)

    def _carry_out(self, command: Command, submission: Submission) -> str:
        if isinstance(command, NewGame):
            self.require_startable()
            ticket = command.match
            if ticket is not None and ticket.rig != self._owner.rig:
                raise RefusedError(
                    f"{ticket.match} is assigned to another table. Ask the director to send it to this one."
                )
            with self._lock:
                in_play = None if self._session is None else self._session.started.match
            if ticket is not None and in_play == ticket:
                raise RefusedError(f"{ticket.match} is in play at this table already. It goes on.")
            text = f"Game {self.start_game(command)} has started."
        elif isinstance(command, SetRulebook):
            text = self._set_rulebook(command, submission)
        else:
            text = self._rig.do(command)
        self.note(CommandCarriedOut(command.command, text, submission.by, submission.role))
        return text

    def calibration(self) -> Calibration | None:
        """Return the calibration in use."""
        return self._rig.calibration()

    def settings(self) -> Settings:
        """Return the configuration in force, without secrets."""
        return self._rig.settings()

    def _submit(self, body: Declaration | Ruling | Undo, submission: Submission) -> Receipt:
        with self._lock:
            now_ns = self._clock()
            content = as_submitted(body)
            record = self._receipts.open(submission.key, content)
            if record.receipt is not None:
                return record.repeat(content)
            fault = content_fault(body)
            if fault:
                return Refused(fault, "invalid")
            if self._session is None:
                return Refused(NO_GAME, "no_game")
            try:
                receipt, pending = self._session.submit(body, submission, now_ns)
            except (NotFoundError, RefusedError) as error:
                return refusal_of(error)
            record.receipt = receipt
            self._journals.offer_checkpoint(self._session.game_id, pending, self._session.capture)
            if self._shadow is not None:
                self._shadow.hear(body, self._session, now_ns)
        place = pending.wait()
        seq, digest = (receipt.seq, receipt.digest) if place is None else (place.seq, place.digest)
        record.receipt = replace(receipt, seq=seq, digest=digest, saved=place is not None)
        return record.receipt

    @property
    def rig(self) -> str:
        """Id of the rig whose games these are; empty for nobody's."""
        return self._owner.rig

    def _since_last_scene(self) -> int:
        if self._scene_at_ns is None:
            return self._scene_ns
        return self._scene_ns + monotonic_ns() - self._scene_at_ns

    def _set_rulebook(self, command: SetRulebook, submission: Submission) -> str:
        rulebook = load_rulebook(command.rulebook)
        with self._lock:
            if self._session is None:
                raise RefusedError(NO_GAME)
            by, now_ns = Submission(submission.by), self._clock()
            in_force = self.policies.applied_to(rulebook)
            self._session = switch_rulebook(self._session, self._publisher, in_force, by, now_ns)
            if self._shadow is not None:
                self._shadow.follow(self._session)
            self.rulebook = rulebook
        return f"The game continues under {rulebook.title}."

    def _leave(self, session: GameSession) -> None:
        """Note that a game has ended, and publish it as over where anything was entered."""

        def pass_on(_: object) -> None:
            for ended in self.end_followers:
                ended(session.game_id)

        if session.end_entry is not None:
            session.end_entry.written.add_done_callback(pass_on)
        self._session, self._players = None, session.state.players
        if self._shadow is not None:
            self._shadow.end()
        if session.event_count:
            self._publisher.publish_state(replace(session.state, phase=Phase.OVER))

    def _put_in_play(self, session: GameSession) -> None:
        self._session = session
        self._publisher.start_game(session.game_id, session.started)
        session.publish()
        session.publish_challenges()
        if self._shadow is not None:
            self._shadow.follow(session)
        self._publisher.publish_notice(Notice(text=f"Game {session.game_id} under {session.started.rulebook.title}."))
