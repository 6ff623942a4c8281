"""What games come to as they stand, for rulings that are tried or made on them: judged once, and kept on disk.

A game is judged when it ends, aside from all rulings, or else when it is reopened or first ruled on. Of a long game
that takes a minute; what is kept on disk is read in a second or two, whatever has been started anew meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress

from downfield.core.errors import BusyError, DownfieldError
from downfield.officiating.events import Event
from downfield.review.rejudging.kept_judgings import KeptJudgings
from downfield.review.rejudging.rejudging import JudgedAgain, Way, judge_again
from downfield.review.rejudging.worker import JudgingWorker, Pause
from downfield.store.history import History
from downfield.store.journal import JournalPosition
from downfield.store.reader import StoreReader


class GameStandings:
    """Judges games as they stand. Callable from any thread.

    Args:
        store: where the games are.
        worker: judges them while somebody waits.
        kept: keeps what they come to; None to keep nothing.
        aside: judges games that have ended while nobody waits; None not to.

    """

    def __init__(
        self,
        store: StoreReader,
        worker: JudgingWorker,
        kept: KeptJudgings | None = None,
        aside: JudgingWorker | None = None,
    ) -> None:
        self._store, self._worker, self._kept, self._aside = store, worker, kept, aside
        self._latest: tuple[str, tuple[str, ...], JudgedAgain] | None = None  # one game is in dispute at a time

    def prepare(self, game: str) -> None:
        """Begin to judge a game that has just ended, so that the first ruling on it need not wait."""
        kept, aside = self._kept, self._aside
        if kept is None or aside is None:
            return

        def judge_and_keep(pause: Pause) -> None:
            row = self._store.game(game)
            if row is not None:
                with suppress(DownfieldError):  # whoever rules on it is told
                    self._judge(History(self._store, row), pause)

        with suppress(BusyError):  # many games end at once in a demonstration; they are judged when somebody rules
            aside.begin(("prepare", game), judge_and_keep)

    def begin(self, history: History) -> None:
        """Begin to judge a game that somebody means to rule on.

        Raises:
            BusyError: too many games are being judged again.

        """
        if not self._is_prepared_now(history):
            self._worker.begin(*self._job(history))

    def of(self, history: History) -> JudgedAgain:
        """Return what a game comes to, with checkpoints; it is judged only where its events have changed since.

        Raises:
            BusyError: it takes long, or too many games are being judged again.

        """
        game, ids = history.row.id, event_ids(history)
        if self._latest is not None and self._latest[:2] == (game, ids):
            return self._latest[2]
        if self._aside is not None and self._is_prepared_now(history):
            self._aside.share(("prepare", game), lambda _pause: None)
        judged = self._worker.share(*self._job(history))
        self._latest = (game, ids, judged)
        return judged

    def set(self, history: History, event: Event, position: JournalPosition, judged: JudgedAgain) -> None:
        """Note what a game comes to with one more event, which stands in its journal now; it is kept meanwhile."""
        game, ids = history.row.id, (*event_ids(history), event.id)
        self._latest = (game, ids, judged)
        kept = self._kept
        if kept is not None:
            with suppress(BusyError):  # it is judged again then
                self._worker.begin(("keep", game, ids), lambda pause: kept.write(game, ids, position, judged, pause))

    def _is_prepared_now(self, history: History) -> bool:
        return self._aside is not None and self._aside.is_going_on(("prepare", history.row.id))

    def _job(self, history: History) -> tuple[Hashable, Callable[[Pause], JudgedAgain]]:
        return ("standing", history.row.id, event_ids(history)), lambda pause: self._judge(history, pause)

    def _judge(self, history: History, pause: Pause) -> JudgedAgain:
        game, kept = history.row.id, self._kept
        found = None if kept is None else kept.read(self._store, history, pause)
        if found is not None:
            return found
        (judged,) = judge_again(self._store, game, (Way.of(history.events),), pause, keep=True)
        if kept is not None:
            kept.write(game, event_ids(history), JournalPosition(history.entries, history.head), judged, pause)
        return judged


def event_ids(history: History) -> tuple[str, ...]:
    """Return what tells whether a game has to be judged again: nothing but events is added once it is over."""
    return tuple(event.id for event in history.events)
