"""Finished games reopened, ruled and closed again, each with its line in the journal; a game in play is not touched."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Final

from pydantic import Field

from downfield.core.errors import BusyError, NotFoundError, OutputError, RefusedError
from downfield.core.records import to_json
from downfield.core.texts import counted
from downfield.game.disputes import Decision, ruling_of
from downfield.game.published.game_topics import CallsUpdate, CallView, GameView
from downfield.game.published.views import changed_calls, game_view
from downfield.game.receipts import describe
from downfield.game.records.challenges import (
    DECISION_WORDS,
    ChallengeAppealed,
    ChallengeEntry,
    ChallengeOpinion,
    ChallengeRaised,
    ChallengeRuled,
    ChallengeRules,
    ChallengesView,
)
from downfield.game.records.entries import Content, EventRecorded, GameEnded, GameReopened
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow, JournalPosition
from downfield.game.records.models import TopicModel
from downfield.officiating.declarations import Side
from downfield.officiating.events import Event, Ruling, Tick, Undo, undone_events
from downfield.officiating.state.game_state import GameState, Phase
from downfield.review.pictures.painting import spoken_name
from downfield.review.rejudging.changes import GameChanges, changes_between, effects_of
from downfield.review.rejudging.rejudging import JudgedAgain, Way, judge_on
from downfield.review.rejudging.standings import GameStandings, event_ids, first_difference
from downfield.review.rejudging.worker import JudgingWorker
from downfield.store.history import History
from downfield.store.writing.journal import JournalWriter, SealedJournal
from downfield.store.writing.store import Store

REMEMBERED: Final = 500  # Rulings whose idempotency keys are remembered

_UNFINISHED: Final = (
    "This game has not ended; it may be in play at another table. Close it first: the rig that plays it can do that,"
    " and any other once nothing has been entered for an hour."
)
_QUIET_NS: Final = 3600 * 1_000_000_000
"""A game in play has an entry about every second, and a half-time break is shorter."""


Publish = Callable[[GameView, Sequence[CallView], CallsUpdate], None]
"""Takes a game as it now stands, all its calls, and what has changed of them."""


@dataclass(frozen=True, slots=True)
class LateRuling:
    """A decision about a finished game."""

    body: Ruling | Undo  # the ruling, or the undo of an event
    by: str  # the person or device
    key: str | None = None  # idempotency key; None for none


class FinishedGames:
    """Reopens, rules and closes games that are not in play. Callable from any thread; one at a time.

    Its methods raise NotFoundError for what the game does not have; RefusedError where it is in play, here or at
    another table, or does not stand so that this can be done; BusyError where too many games are being judged again.
    What changes a game raises OutputError where the store can't be written.

    Args:
        in_play: returns the id of the game in play; empty for none.
        standings: what they come to as they stand; by default nothing of it is kept on disk.
        rig: id of this rig: a game of its own that is not in play was left.
        now_ns: wall clock, ns since 1970.
        publish: is given each game that a ruling has changed; None to tell nobody.
    """

    def __init__(
        self,
        store: Store,
        in_play: Callable[[], str],
        worker: JudgingWorker,
        standings: GameStandings | None = None,
        rig: str = "",
        now_ns: Callable[[], int] = time.time_ns,
        publish: Publish | None = None,
    ) -> None:
        self._rig, self._now_ns, self._publish = rig, now_ns, publish
        self._store, self._in_play, self._worker = store, in_play, worker
        self._standings = standings or GameStandings(store, worker)
        self._lock = threading.RLock()
        self._ruled: OrderedDict[tuple[str, str], tuple[LateRuling, GameChanges]] = OrderedDict()

    def reopen(self, row: GameRow, by: str, reason: str) -> None:
        """Reopen a finished game for rulings."""
        with self._lock:
            history = self._history(row)
            if not history.ended:
                raise RefusedError(_UNFINISHED)
            if history.reopened:
                raise RefusedError("This game has been reopened already. Rule on its calls, then close it.")
            self._append(history, GameReopened(by, reason))
            with suppress(BusyError):  # whoever reopens a game means to rule: it is judged while he finds the call
                self._standings.begin(history)

    def close(self, row: GameRow, by: str) -> None:
        """Close a reopened game, or one that was left unfinished."""
        with self._lock:
            history = self._history(row)
            if history.ended or not self._is_left(history):
                history = self._opened(row)
            if history.challenges.open:
                raise RefusedError("A challenge is under review. Decide it before the game is closed.")
            self._append(history, GameEnded(history.text, history.score, by))

    def _is_left(self, history: History) -> bool:
        """Return whether nobody plays an unfinished game: it is this rig's own, or long without an entry."""
        quiet_ns = self._now_ns() - history.last_at_ns
        return quiet_ns > _QUIET_NS or (bool(history.row.owner) and history.row.owner == self._rig)

    def rule(self, row: GameRow, ruling: LateRuling) -> GameChanges:
        """Rule on a call of a reopened game, or undo an event; return what changes, as all after it is judged again."""
        if (done := self._done(row, ruling)) is not None:
            return done
        history = self._opened(row)
        self._judge(history, _event(history, ruling))  # may take long: nobody else waits meanwhile, and it is kept
        with self._lock:
            if (done := self._done(row, ruling)) is not None:
                return done
            history = self._opened(row)
            event = _event(history, ruling)
            before, after = self._judge(history, event)
            changes = self._changes(history, before, after).model_copy(update={"event": event.id})
            position = self._append(history, EventRecorded(event, ruling.by, effects_of(before, after)), ruling.key)
            self._standings.set(history, event, position, after)
            self._tell(history, after.state)
            if ruling.key is not None:
                self._ruled[row.id, ruling.key] = (ruling, changes)
                while len(self._ruled) > REMEMBERED:
                    self._ruled.popitem(last=False)
            return changes

    def _tell(self, before: History, state: GameState) -> None:
        now = History(self._store, before.row)
        if self._publish is not None and now.started is not None:
            calls, over = now.calls(), replace(state, phase=Phase.OVER)
            game = game_view(before.row.id, over, now.started, self._now_ns() // 1_000_000)
            cause = now.declarations()[-1]
            self._publish(game, calls, changed_calls(before.row.id, calls, before.calls(), now.rulings, cause))

    def _done(self, row: GameRow, ruling: LateRuling) -> GameChanges | None:
        """Return what a ruling changed that was sent before; None for a new one."""
        known = None if ruling.key is None else self._ruled.get((row.id, ruling.key))
        if known is None:
            return None
        if known[0].body != ruling.body:
            raise RefusedError("This idempotency key was used for another ruling.")
        return known[1]

    def raise_challenge(self, row: GameRow, side: Side, call: str, reason: str, by: str) -> ChallengesView:
        """Challenge a call of a reopened game, as its rulebook allows."""
        with self._lock:
            history = self._opened(row)
            view = next((view for view in history.calls() if view.id == call), None)
            if view is None:
                raise NotFoundError(f"This game has no call {call!r}.")
            rules, book = ChallengeRules.of(history.rulebook.params), history.challenges
            period = next((snap.period for snap in reversed(history.snaps()) if snap.t_ns <= view.t_ns), 1)
            half = rules.half(period)
            raised = ChallengeRaised(f"challenge-{len(book.raised) + 1}", side, call, view.text, reason, by, half)
            refusal = book.refusal(side, call, half, rules)
            if refusal:
                raise RefusedError(refusal)
            self._append(history, raised)
            book.add(raised)
            return challenges_of(history)

    def note_challenge(self, row: GameRow, entry: ChallengeOpinion | ChallengeAppealed) -> ChallengesView:
        """Take an opinion of a challenge of a reopened game, or an appeal; see `ChallengeBook.note`."""
        with self._lock:
            history = self._opened(row)
            if history.challenges.note(entry):
                self._append(history, entry)
            return challenges_of(history)

    def rule_challenge(self, row: GameRow, challenge: str, decision: Decision) -> GameChanges | None:
        """Decide a challenge of a reopened game; return what changes, if anything. A lost one costs nothing more."""
        history = self._opened(row)
        ruling = ruling_of(history.challenges.undecided(challenge).call, decision)
        history.challenges.check_decider(challenge, decision.by)
        _, appealed = history.challenges.appeals.get(challenge, (None, None))
        if appealed is not None and appealed.event and appealed.event not in undone_events(history.events):
            self.rule(row, LateRuling(Undo(appealed.event, "appealed"), decision.by))  # as the call was made at first
            history = self._opened(row)
        if ruling is not None:
            self._judge(history, _event(history, LateRuling(ruling, decision.by)))  # as in rule: it is kept
        with self._lock:  # of two decisions at once the second must not rule on the call either
            self._opened(row).challenges.undecided(challenge)
            changes = None if ruling is None else self.rule(row, LateRuling(ruling, decision.by))
            event = "" if changes is None else changes.event
            ruled = ChallengeRuled(challenge, decision.decision, decision.reason, decision.by, event)
            self._append(self._opened(row), ruled)
        return changes

    def preview(self, row: GameRow, ruling: LateRuling) -> GameChanges:
        """Return what a ruling would change; the game need not be open, and nothing is written."""
        history = self._history(row)
        return self._changes(history, *self._judge(history, _event(history, ruling)))

    def _judge(self, history: History, event: Event) -> tuple[JudgedAgain, JudgedAgain]:
        """Judge a game as it stands, once until it changes, and with one more event, from where that tells."""
        game, ids = history.row.id, event_ids(history)
        before, body = self._standings.of(history), event.body
        difference = first_difference(history, event, before)
        way = Way.of(history.events, more=(event,))
        name = ("after", game, ids, to_json(type(body), body))
        after = self._worker.share(name, lambda pause: judge_on(self._store, game, way, pause, before, difference))
        is_made = isinstance(body, Undo) or any(call.id == body.call for call in before.calls)  # type: ignore[union-attr]
        if not is_made and body.call not in Way.of(history.events).rulings:  # type: ignore[union-attr]
            raise RefusedError(
                "This version of Downfield does not make that call from the record, so it can't tell what a ruling "
                "changes. Rule with the version that judged the game."
            )
        return before, after

    def _changes(self, history: History, before: JudgedAgain, after: JudgedAgain) -> GameChanges:
        recorded = {call.id: (call.verdict, call.text) for call in history.calls()}
        now = {call.id: (call.verdict, call.text) for call in before.calls}
        differing = sum(recorded.get(name) != now.get(name) for name in {*recorded, *now})
        note = ""
        if differing:
            calls = counted(differing, "call")
            note = f"This version of Downfield judges {calls} of this game otherwise; they were left as they are."
        return changes_between(before, after, history.declarations(), note)

    def _history(self, row: GameRow) -> History:
        if row.id == self._in_play():
            raise RefusedError("This game is in play. Rule on its calls on the panel.")
        return History(self._store, row)

    def _opened(self, row: GameRow) -> History:
        history = self._history(row)
        if not history.ended:
            raise RefusedError(_UNFINISHED)
        if not history.reopened:
            raise RefusedError("This game is closed. Reopen it first, with a reason.")
        return history

    def _append(self, history: History, content: Content, key: str | None = None) -> JournalPosition:
        with closing(JournalWriter(self._store)) as writer:
            journal = SealedJournal(writer, history.row, JournalPosition(history.entries, history.head))
            written = journal.append(content, key=key).wait()
            problem = writer.problem
        if written is None:
            late = f"{self._store.where}: the entry could not be written in time"
            raise OutputError(late if problem is None else problem.reason)
        return written


def challenges_of(history: History) -> ChallengesView:
    """Return the challenges of a game as its journal has them."""
    rules = ChallengeRules.of(history.rulebook.params)
    snaps = history.snaps()
    return history.challenges.view(history.row.id, snaps[-1].period if snaps else 1, rules)


def _event(history: History, ruling: LateRuling) -> Event:
    """Return a decision as an event after all others."""
    body = ruling.body
    events = {event.id: event for event in history.events}
    if isinstance(body, Undo):
        undone = events.get(body.event)
        if undone is None or isinstance(undone.body, Tick):
            raise NotFoundError(f"This game has no event {body.event!r}.")
        if body.event in undone_events(history.events):
            raise RefusedError(f"{body.event} has been undone already.")
    elif not any(call.id == body.call for call in (*history.calls(), *history.struck())):
        raise NotFoundError(f"This game has no call {body.call!r}.")
    elif body.replacement is not None and not body.replacement.text:
        raise RefusedError("The replacement call has no text; say what is called instead.")
    times = [event.t_ns for event in history.events] + [batch.last_ns for batch in history.batches]
    number = len(events) + 1
    while f"op-{number}" in events:
        number += 1
    return Event(f"op-{number}", max(times, default=0), "referee", body)


class AuditLine(TopicModel):
    """One line of what happened to a game once it was over."""

    seq: int = Field(description="Number of its entry in the journal.")
    at_ms: int = Field(description="Wall clock, ms since 1970.")
    by: str = Field(description="The person or device; empty where nobody did it.")
    text: str


def audit_trail(history: History) -> list[AuditLine]:
    """Return the lines of a game, in order."""
    texts = {view.id: spoken_name(view.text) for view in (*history.struck(), *history.calls())}
    texts |= {view.id: spoken_name(view.text) for view in history.declarations()}
    return [
        AuditLine(
            seq=late.seq,
            at_ms=late.at_ns // 1_000_000,
            by=_by(late.content),
            text=_text(late.content, texts, history.row),
        )
        for late in history.late
    ]


def _by(content: Content) -> str:
    known = EventRecorded | GameEnded | GameReopened | ChallengeEntry | ScoreSigned
    return content.by if isinstance(content, known) else ""


def _text(content: Content, texts: Mapping[str, str], row: GameRow) -> str:
    if isinstance(content, GameReopened):
        return f"Reopened: {content.reason}"
    if isinstance(content, ScoreSigned):
        note = f", but disagrees: {content.note}" if content.note else ""
        team = row.home if content.side == "home" else row.away
        return f"{content.name} signed for {team}: {_score(row, content)}{note}"
    if isinstance(content, GameEnded):
        return f"{'Closed' if content.by else 'Ended'}: {_score(row, content)}"
    if isinstance(content, EventRecorded):
        body = content.event.body
        note = f" ({body.note})" if isinstance(body, Ruling) and body.note else ""
        return f"Ruling: {describe(body, texts)}{note}"
    if isinstance(content, ChallengeRaised):
        return f"Challenge by the {content.side} coach of {spoken_name(content.text)}: {content.reason}"
    if isinstance(content, ChallengeRuled):
        return f"Challenge decided, {DECISION_WORDS[content.decision]}: {content.reason}"
    if isinstance(content, ChallengeOpinion):
        return f"Opinion on it, {DECISION_WORDS[content.decision]}: {content.reason}"
    if isinstance(content, ChallengeAppealed):
        return f"Appeal against the decision of a challenge: {content.reason}"
    return "Continued"


def _score(row: GameRow, content: ScoreSigned | GameEnded) -> str:
    home, away = content.score
    return f"{row.away} {away}, {row.home} {home}"
