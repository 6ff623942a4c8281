"""Keeps an event in its file: every change is on disk before it is answered, and whole or not at all."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

from downfield.core.errors import OutputError
from downfield.core.files.private_files import make_private_folder, replace_private_file
from downfield.core.records import read_record, to_json
from downfield.desk.event.operations import Operation
from downfield.desk.event.records import Change, TournamentEvent

_KEYS_KEPT = 1000
"""Idempotency keys remembered; a client repeats a request within seconds."""


class EventKeeper:
    """The event of a desk. Callable from any thread.

    Args:
        path: its file; an event without anybody is kept where there is none.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._event = read_record(TournamentEvent, path) if path.exists() else TournamentEvent("Our event")
        self._run = secrets.token_hex(4)
        self._changes = 0
        self._keys: deque[str] = deque(maxlen=_KEYS_KEPT)

    @property
    def event(self) -> TournamentEvent:
        """The event as it stands."""
        return self._event

    @property
    def revision(self) -> str:
        """Names the event as it stands: another one after each change and each start of the desk."""
        return f"{self._run}-{self._changes}"

    def change(self, by: str, text: str, operation: Operation, key: str = "") -> TournamentEvent:
        """Do something to the event and keep it.

        Args:
            text: what is done, for the audit trail.
            operation: returns the event afterwards; what it raises leaves the event as it is.
            key: idempotency key; what was done under a key is not done again. Empty for none.

        Raises:
            OutputError: it can't be kept, so it is not done.
        """
        with self._lock:
            if key and key in self._keys:
                return self._event
            at = datetime.now(UTC).astimezone().isoformat(timespec="seconds")
            changed = operation(self._event, Change(at, by, text))
            self._write(changed)
            self._event = changed
            self._changes += 1
            self._keys.append(key)
            return changed

    def begin(self, by: str, name: str, key: str = "") -> TournamentEvent:
        """Begin another event; the file of the present one is kept beside it under a number.

        Args:
            key: as of `change`.

        Raises:
            OutputError: it can't be kept, so nothing changes.
        """

        def replace(_: TournamentEvent, change: Change) -> TournamentEvent:
            self._set_aside()
            return TournamentEvent(name, changes=(change,))

        return self.change(by, f"began {name}", replace, key)

    def _set_aside(self) -> None:
        try:
            if self._path.exists():
                number = 1
                while (aside := self._path.with_suffix(f".{number}.json")).exists():
                    number += 1
                replace_private_file(aside, self._path.read_bytes())
        except OSError as error:
            raise OutputError(f"{self._path}: the present event can't be kept ({error.strerror})") from None

    def _write(self, event: TournamentEvent) -> None:
        try:
            make_private_folder(self._path.parent)
            replace_private_file(self._path, to_json(TournamentEvent, event).encode())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
