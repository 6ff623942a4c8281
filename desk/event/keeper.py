"""Keeps an event in its file: every change is on disk before it is answered, and whole or not at all."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from downfield.core.errors import FormatError, InputError, NotFoundError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import read_record, to_json
from downfield.desk.event.changes import QuestionError, check_seen, completed, differences, question, undone
from downfield.desk.event.operations import Operation
from downfield.desk.event.outcomes import in_play, outcomes
from downfield.desk.event.state import Change, TableGame, TournamentEvent

_REQUESTS_KEPT: Final = 500
"""Changes among which a request that comes again is found; a client repeats one within seconds."""

_STATES: Final = {
    "in_play": "is in play",
    "ended": "ended without both signatures",
    "signed": "was signed",
    "reopened": "was reopened",
    "corrected": "was closed again at another score",
}


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks for a change, and how."""

    by: str  # the person or device
    why: str = ""
    key: str = ""  # idempotency key; what was done under a key is not done again. Empty for none.
    content: str = ""  # digest of what was asked for; a key with something else is refused
    seen: int | None = None  # revision of the event that was shown to them; None where that is not known
    confirmed: bool = False  # whether they know what else the change does


class EventKeeper:
    """The event of a desk. Callable from any thread.

    What can't be kept raises OutputError, and is not done.

    Args:
        path: its file; an event without anybody is kept where there is none.

    Attributes:
        outcomes: the event with what waits for the director.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._run = secrets.token_hex(4)
        self.outcomes = outcomes(read_record(TournamentEvent, path) if path.exists() else TournamentEvent("Our event"))

    @property
    def event(self) -> TournamentEvent:
        """The event as it stands."""
        return self.outcomes.event

    @property
    def revision(self) -> str:
        """Names the event as it stands: another one after each change and each start of the desk."""
        return f"{self.event.revision}-{self._run}"

    def change(
        self, request: Request, text: str, operation: Operation, *, about: str = "", undoes: bool = False
    ) -> TournamentEvent:
        """Do something to the event and keep it.

        Args:
            text: what is done, for the audit trail.
            operation: returns the event afterwards; what it raises leaves the event as it is.
            about: id of the match it is about.
            undoes: whether it undoes a change, and can't be undone itself.

        Raises:
            InputError: the key was used for something else.
            ChangedMeanwhileError: somebody else has changed the same since `Request.seen`.
            QuestionError: it does more than it seems to, and is not confirmed.
        """
        with self._lock:
            before = self.event
            if self._is_done(request):
                return before
            change = self._line(request.by, text, request)
            after = operation(before, change)
            if request.seen is not None and not undoes:
                check_seen(before, request.seen, differences(before, after))
            asked = "" if request.confirmed else question(before, after, about)
            if asked:
                raise QuestionError(f"{asked} {'Undo' if undoes else 'Do'} it all the same?")
            return self._keep(completed(before, after, change, undoable=not undoes))

    def undo(self, request: Request) -> TournamentEvent:
        """Undo a person's last change; what tables said stays. Raises as `change`; RefusedError: there is none."""
        return self.change(request, "undid the last change", undone, undoes=True)

    def report(self, games: Iterable[TableGame]) -> None:
        """Note what tables say of their games; what is older changes nothing. Raises OutputError: report it again."""
        with self._lock:
            for game in games:
                before, known = self.event, self.event.games.get(game.game)
                if known is not None and known.seq >= game.seq:
                    continue
                change = self._line(game.table or "a table", _report_text(game))
                why = "; ".join(filter(None, (game.why, *game.notes)))
                said = replace(
                    before, games={**before.games, game.game: game}, changes=(*before.changes, replace(change, why=why))
                )
                self._keep(completed(before, outcomes(said).event, change, undoable=False))

    def note(self, **values: Any) -> None:
        """Keep what is no change, such as where its games begin in the store. Raises OutputError: it can't be kept."""
        with self._lock:
            self._keep(replace(self.event, **values))

    def begin(self, request: Request, name: str) -> TournamentEvent:
        """Begin another event; the present one's file is kept beside it. Raises QuestionError: games are in play."""
        return self._instead(request, lambda: TournamentEvent(name), f"began {name}")

    def reopen(self, request: Request, number: int) -> TournamentEvent:
        """Go on with an earlier event; the file of the present one is kept beside it under a number.

        Raises:
            NotFoundError: there is no such event.
            QuestionError: games are in play, and that is not confirmed.
        """
        path = self._aside(number)
        if not path.exists() and not self._is_done(request):
            raise NotFoundError(f"There is no earlier event {number}.")

        def opened() -> TournamentEvent:
            return replace(read_record(TournamentEvent, path), games_after=None, undo=())

        event = self._instead(request, opened, "opened this event again")
        path.unlink(missing_ok=True)
        return event

    def earlier(self) -> dict[int, TournamentEvent]:
        """Return the events that were kept beside the present one, by their numbers, the latest first.

        One that can't be read is left out.
        """
        found = {}
        for number in sorted(self._numbers_aside(), reverse=True):
            with suppress(InputError, FormatError):
                found[number] = read_record(TournamentEvent, self._aside(number))
        return found

    def _instead(self, request: Request, other: Callable[[], TournamentEvent], text: str) -> TournamentEvent:
        with self._lock:
            before = self.event
            if self._is_done(request):
                return before
            after = other()
            playing = ", ".join(sorted(in_play(before)))
            if playing and not request.confirmed:
                raise QuestionError(f"In play: {playing}. What they end with waits. Go on with another event?")
            change = self._line(request.by, text, request)
            self._set_aside()
            revision = max(before.revision, after.revision) + 1  # pages take a smaller one for what they know
            return self._keep(replace(after, changes=(*after.changes, change), revision=revision))

    def _line(self, by: str, text: str, request: Request | None = None) -> Change:
        at = datetime.now(UTC).astimezone().isoformat(timespec="seconds")
        why, digest = ("", "") if request is None else (request.why, _digest(request))
        return Change(at, by, text, secrets.token_hex(6), why, request=digest)

    def _is_done(self, request: Request) -> bool:
        """Return whether a request was carried out before. Raises InputError: its key was used for something else."""
        if not request.key:
            return False
        wanted, key = _digest(request), _digest(replace(request, content=""))[:16]
        done = next((one for one in reversed(self.event.changes[-_REQUESTS_KEPT:]) if one.request[:16] == key), None)
        if done is not None and done.request != wanted:
            raise InputError("This Idempotency-Key was used for another change. Use a key of its own for each change.")
        return done is not None

    def _keep(self, event: TournamentEvent) -> TournamentEvent:
        found = outcomes(event)
        try:
            replace_private_file(self._path, to_json(TournamentEvent, found.event).encode())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
        self.outcomes = found
        return found.event

    def _aside(self, number: int) -> Path:
        return self._path.with_suffix(f".{number}.json")

    def _numbers_aside(self) -> list[int]:
        names = (path.suffixes[0][1:] for path in self._path.parent.glob(f"{self._path.stem}.*.json"))
        return [int(name) for name in names if name.isdecimal()]

    def _set_aside(self) -> None:
        try:
            if self._path.exists():
                number = max(self._numbers_aside(), default=0) + 1
                replace_private_file(self._aside(number), self._path.read_bytes())
        except OSError as error:
            raise OutputError(f"{self._path}: the present event can't be kept ({error.strerror})") from None


def _digest(request: Request) -> str:
    """Return digests of a request's key, and of its content; empty without a key."""
    parts = (request.key, request.content) if request.key else ()
    return "".join(hashlib.sha256(part.encode()).hexdigest()[:16] for part in parts)


def _report_text(game: TableGame) -> str:
    match = "" if game.ticket is None else f"{game.ticket.match}: "
    score = "" if game.state == "in_play" else f" {game.score[0]} to {game.score[1]}"
    signed = f" by {' and '.join(game.signed_by)}" if game.state == "signed" else ""
    return f"{match}{game.home} against {game.away} {_STATES[game.state]}{score}{signed}"
