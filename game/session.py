"""One game at the table: judges events and scenes, and journals and publishes the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from downfield.core.errors import NotFoundError, RefusedError
from downfield.core.scene import Scene
from downfield.game.published.game_topics import CallView, DeclarationView
from downfield.game.published.publisher import LATEST, ChangedGame, LineUpStatus, StatePublisher
from downfield.game.receipts import WHOLE_PLAYS, Accepted, EventLog, Submission, describe
from downfield.game.records import entries
from downfield.game.records.challenges import ChallengeBook, ChallengeRules
from downfield.game.records.final_score import Signatures
from downfield.game.records.keeping import Journal, PendingEntry, SessionMemento
from downfield.officiating.calls import Call
from downfield.officiating.declarations import Declaration
from downfield.officiating.engine.judged_game import GameUpdate, JudgedGame
from downfield.officiating.engine.legal import LegalDeclarations
from downfield.officiating.events import Body, Event, Ruling, Tick, Undo
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import GameState, Team


@dataclass(frozen=True, slots=True)
class GameLimits:
    """Limits of a game in play."""

    batch_scenes: int = 60  # scenes written together while no call is made: about a second, which a crash may lose
    # a play that another device tells this soon after one did is the same play: nobody plays two in that time
    told_twice_ns: int = 5_000_000_000


GAME_LIMITS: Final = GameLimits()


class GameSession:
    """Judges one game, and journals and publishes what follows. The caller holds a lock around every method.

    Args:
        event_count: events the journal holds from before, under another rulebook.
    """

    def __init__(
        self, started: entries.GameStarted, journal: Journal, publisher: StatePublisher, event_count: int = 0
    ) -> None:
        self.started = started
        self.journal = journal
        self.event_count = event_count
        self.unwritten: list[Scene] = []
        self._publisher = publisher
        teams = (Team(started.home.name, started.home.short), Team(started.away.name, started.away.short))
        self._game = JudgedGame(
            entries.rulebook_of(started.rulebook),
            started.field,
            teams,
            certified_yd=started.certified_yd,
            lengths_known=started.lengths_known,
        )
        self._late_ns = self._game.rulebook.params.ns("calls.late_s")
        self._log = EventLog()
        self.challenges = ChallengeBook()
        self.challenge_rules = ChallengeRules.of(self._game.rulebook.params)
        self.signatures: Signatures = {}
        self.ended = False
        self.end_entry: PendingEntry | None = None
        self._frames: dict[str, int] = {}
        self._call_texts: dict[str, str] = {}  # of every call so far, as a ruling may name one that is gone
        self._last_event_ns = 0
        self._told_entry: PendingEntry | None = None  # of the last play that was told
        self._snap: entries.Snap | None = None
        self.state = self._game.state
        """After the last entry. It may be read without the lock, as each entry replaces it whole."""
        self.line_up = LineUpStatus()
        """The figures on the board; may be read without the lock, too."""

    @property
    def game_id(self) -> str:
        """The game's id."""
        return self.journal.game.id

    @property
    def rulebook(self) -> Rulebook:
        """The rulebook in force."""
        return self._game.rulebook

    def judge_scene(self, scene: Scene) -> tuple[Call, ...]:
        """Judge a scene, and publish what follows; never waits for the disk. Returns the calls made or changed."""
        update = self._judge(scene)
        if update.calls or len(self.unwritten) >= GAME_LIMITS.batch_scenes:
            self._write_scenes(update, scene.frame)
        self._publisher.publish_scene(scene)
        if update.calls:
            self.publish()
        else:
            self._publisher.publish_state(self.state)
        return update.calls

    def judge_event(self, event: Event) -> tuple[Call, ...]:
        """Judge an event from a recording, which has no submission, and publish what follows.

        Returns:
            The calls made or changed.

        Raises:
            RefusedError: the state does not allow it; nothing has changed.
        """
        update, _ = self._record(event, event.origin, None)
        self.publish()
        return update.calls

    def submit(self, body: Body, submission: Submission, now_ns: int) -> tuple[Accepted, PendingEntry]:
        """Judge a submission as an event at the time it was made: now, or a little earlier.

        Args:
            body: a declaration, a ruling, an undo or a tick.

        Returns:
            The receipt without its place in the journal, and the entry on its way to the disk.

        Raises:
            NotFoundError: it is about a call or event that the game does not have.
            RefusedError: the state does not allow it; nothing has changed.
        """
        self._check_known(body)
        event = self._event(body, submission.ago_ms, now_ns)
        told = self._log.told_by_another(event, submission.by, GAME_LIMITS.told_twice_ns, self._game.undone)
        if told is not None and self._told_entry is not None and self.state.play.snap_ns is None:
            first, by = told
            if first.body != body:
                ago_s = (event.t_ns - first.t_ns) / 1e9
                what = describe(first.body, {})
                raise RefusedError(f"{by} told this play {ago_s:.0f} s ago: {what}. To correct that, undo it first.")
            return Accepted(first.id, t_ns=first.t_ns, text=self.state.text, repeated=True), self._told_entry
        update, pending = self._record(event, submission.by, submission.key)
        views = {view.id: view for view in self.publish()}
        receipt = Accepted(
            event.id,
            t_ns=event.t_ns,
            calls=tuple(views[call.id] for call in update.calls),
            withdrawn=update.withdrawn,
            set_aside=tuple(item.event for item in self._game.refused),
            text=self.state.text,
        )
        return receipt, pending

    def capture(self) -> SessionMemento | None:
        """Return all that the game has become; None where some of it is not in the journal."""
        game = None if self.unwritten or self._snap is not None else self._game.capture()
        if game is None:
            return None
        return SessionMemento(
            game,
            self.event_count,
            tuple(self._log.events),
            dict(self._frames),
            dict(self._call_texts),
            self._last_event_ns,
        )

    def restore(self, memento: SessionMemento, scenes: Callable[[], Mapping[int, Scene]]) -> None:
        """Become what a game was, instead of judging its entries again.

        Args:
            memento: of a game that was started with the same.
            scenes: returns those that rulings can go back to, by their place in the game's log.
        """
        self._game.restore(memento.game, [event for event, _ in memento.events], scenes)
        self.event_count = memento.event_count
        for event, by in memento.events:
            self._log.add(event, by)
        self._frames, self._call_texts = dict(memento.frames), dict(memento.call_texts)
        self._last_event_ns = memento.last_event_ns
        self.state = self._game.state
        self._note_line_up()

    def rejudge(self, entry: Scene | Event, by: str = "") -> None:
        """Judge an entry of the journal. Raises RefusedError: the rules of this version do not allow it."""
        if isinstance(entry, Event):
            self.event_count += 1
            self._log.add(entry, by)
        try:
            self._judge(entry)
        finally:
            self.unwritten.clear()
            self._snap = None
            self._note_line_up()

    def publish(self) -> tuple[CallView, ...]:
        """Publish the game after its calls or declarations changed; return every call that stands."""
        return self._publisher.publish_changes(self._changed())

    def publish_challenges(self) -> None:
        """Publish the game's challenges."""
        self._publisher.publish_challenges(self.challenges.view(self.game_id, self.state.period, self.challenge_rules))

    def calls(self) -> tuple[CallView, ...]:
        """Return every call that stands, in the order they were made."""
        return self._publisher.call_views(self._changed())

    def declarations(self, latest: int | None = None) -> list[DeclarationView]:
        """Return the declarations and rulings in order: all, or only the latest."""
        reasons = {item.event: item.reason for item in self._game.refused}
        return self._log.declarations(self._game.undone, reasons, self._call_texts, latest)

    def legal(self) -> LegalDeclarations:
        """Return what may be declared now, by whom and with which limits."""
        return self._game.legal()

    def preview(self, bodies: Sequence[Declaration]) -> GameState:
        """Return the state after declarations made now; nothing changes. Raises RefusedError: one is refused."""
        return self._game.preview(bodies)

    def undo_preview(self, event: str, now_ns: int) -> Accepted:
        """Return the receipt an undo would get now; nothing changes. Raises as `submit` does."""
        self._check_known(Undo(event))
        undo = self._event(Undo(event), 0, now_ns)
        update, after = self._game.tried(undo)
        changed = replace(self._changed(), state=after.state, calls=after.calls)
        views = {view.id: view for view in self._publisher.call_views(changed)}
        return Accepted(
            t_ns=undo.t_ns,
            calls=tuple(views[call.id] for call in update.calls),
            withdrawn=update.withdrawn,
            set_aside=tuple(item.event for item in after.refused),
            text=after.state.text,
        )

    def write_scenes(self) -> None:
        """Journal the scenes that are not yet in the journal."""
        self._write_scenes(GameUpdate(), None)

    def end(self, by: str = "") -> PendingEntry:
        """Journal the end of the game, which somebody may have closed; return that entry on its way to the disk."""
        self.write_scenes()
        self.ended = True
        self.end_entry = self.journal.append(entries.GameEnded(self.state.text, self.state.score, by))
        return self.end_entry

    def _judge(self, entry: Scene | Event) -> GameUpdate:
        update = self._game.apply(entry)
        self.state = self._game.state
        self._call_texts |= {call.id: call.text for call in update.calls}
        if isinstance(entry, Event):
            self._last_event_ns = entry.t_ns
        else:
            self._frames |= {call.id: entry.frame for call in update.calls}
        self.unwritten += [scene for scene in update.logged if isinstance(scene, Scene)]
        self._snap = update.snap or self._snap
        return update

    def _record(self, event: Event, by: str, key: str | None) -> tuple[GameUpdate, PendingEntry]:
        """Judge an event, and journal it after the scenes before it."""
        update = self._judge(event)
        self._write_scenes(GameUpdate(), None)
        pending = self.journal.append(entries.EventRecorded(event, by, self._effects(update)), key=key)
        self.event_count += 1
        self._log.add(event, by)
        if isinstance(event.body, WHOLE_PLAYS):
            self._told_entry = pending
        self._note_line_up()
        return update, pending

    def _write_scenes(self, update: GameUpdate, frame: int | None) -> None:
        """Journal the scenes that are not yet in the journal, with the calls that the last of them made."""
        scenes, self.unwritten = self.unwritten, []
        if scenes:
            effects = self._effects(update)
            entry = entries.ScenesRecorded(
                len(scenes), scenes[0].t_ns, scenes[-1].t_ns, effects, frame if update.calls else None
            )
            self.journal.append(entry, scenes=scenes)

    def _effects(self, update: GameUpdate) -> entries.Effects:
        state, snap, self._snap = self.state, self._snap, None
        set_aside = tuple(item.event for item in self._game.refused)
        made = update.calls, update.withdrawn, set_aside
        return entries.Effects(*made, state.score, state.text, snap, update.moved, update.plays)

    def _event(self, body: Body, ago_ms: int, now_ns: int) -> Event:
        """Return an event dated when it was made, but no earlier than the last event or than the rulebook allows."""
        game_ns = self.state.now_ns
        t_ns = max(max(now_ns, game_ns) - min(ago_ms * 1_000_000, self._late_ns), self._last_event_ns)
        t_ns = max(t_ns, game_ns - self._late_ns)
        if isinstance(body, Ruling) and body.decision == "manual" and body.replacement is not None:
            body = replace(body, replacement=replace(body.replacement, t_ns=t_ns))
        return Event(f"op-{self.event_count + 1}", t_ns, "clock" if isinstance(body, Tick) else "operator", body)

    def _check_known(self, body: Body) -> None:
        if isinstance(body, Undo) and body.event not in self._log:
            raise NotFoundError(f"This game has no event {body.event!r}.")
        if isinstance(body, Ruling) and body.decision != "manual":
            stands = any(call.id == body.call for call in self._game.calls)
            if not stands and body.call not in self._log.rulings(self._game.undone):
                raise NotFoundError(f"This game has no call {body.call!r}.")

    def _note_line_up(self) -> None:
        fronts, identities = self._log.fronts, self._log.identities
        undone = self._game.undone if fronts or identities else ()
        fronts = {event: front for event, front in fronts.items() if event not in undone}
        identities = {event: said for event, said in identities.items() if event not in undone}
        state, revision = self.state, self._log.line_up_revision
        self.line_up = LineUpStatus(state.players, revision, fronts, identities, state.left_jersey)

    def _changed(self) -> ChangedGame:
        return ChangedGame(
            self.state,
            self._game.calls,
            self._log.rulings(self._game.undone),
            self._frames,
            self.declarations(LATEST),
            self.line_up,
        )
