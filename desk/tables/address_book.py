"""The tables that a desk watches by HTTP, and what each is doing now, with how urgently it needs somebody."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.core.files.private_files import replace_private_file
from downfield.core.records import check, read_record, record, to_json

MAX_TABLES = 200
MAX_NAME = 40


@record
class TableEntry:
    """A table's rig."""

    id: str  # unique at this desk
    name: str  # the table's, such as ``"Table 3"``
    address: str  # of the rig's start page
    token: str = ""  # by which the rig lets the desk watch; empty where it asks for none
    # SHA-256 of the rig's own certificate, hex; empty without TLS or for one that others vouch for
    certificate: str = ""

    def __post_init__(self) -> None:
        check(0 < len(self.name.strip()) <= MAX_NAME, InputError, "a table has a name of 1 to 40 letters")


@record
class AddressBookFile:
    """The file of the tables."""

    tables: tuple[TableEntry, ...] = ()
    format: Literal["downfield-desk-tables"] = "downfield-desk-tables"
    version: Literal[1] = 1


class AddressBook:
    """The tables of a desk, in the order they were added. Callable from any thread.

    What changes it raises OutputError where that can't be kept, NotFoundError for a table that is not in it.

    Raises:
        InputError: the file can't be read.
        FormatError: it holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.tables = read_record(AddressBookFile, path).tables if path.exists() else ()

    def add(self, name: str, address: str, token: str, certificate: str) -> TableEntry:
        """Add a table, or give one another rig. Raises InputError: an impossible name, or too many tables."""
        with self._lock:
            known = next((table for table in self.tables if table.name.casefold() == name.strip().casefold()), None)
            if known is None and len(self.tables) >= MAX_TABLES:
                raise InputError(f"A desk watches at most {MAX_TABLES} tables.")
            identity = known.id if known is not None else secrets.token_hex(4)
            entry = TableEntry(identity, name.strip(), address, token, certificate)
            if known is None:
                self._keep((*self.tables, entry))
            else:
                self._keep(tuple(entry if table == known else table for table in self.tables))
            return entry

    def rename(self, identity: str, name: str) -> TableEntry:
        """Give a table another name. Raises InputError: the name is impossible or another table's."""
        with self._lock:
            known = self._find(identity)
            if any(table != known and table.name.casefold() == name.strip().casefold() for table in self.tables):
                raise InputError(f"Another table is called '{name.strip()}'.")
            renamed = replace(known, name=name.strip())
            self._keep(tuple(renamed if table == known else table for table in self.tables))
            return renamed

    def remove(self, identity: str) -> TableEntry:
        """Stop watching a table."""
        with self._lock:
            known = self._find(identity)
            self._keep(tuple(table for table in self.tables if table != known))
            return known

    def _find(self, identity: str) -> TableEntry:
        found = next((table for table in self.tables if table.id == identity), None)
        if found is None:
            raise NotFoundError("The desk watches no such table.")
        return found

    def _keep(self, tables: tuple[TableEntry, ...]) -> None:
        try:
            replace_private_file(self._path, to_json(AddressBookFile, AddressBookFile(tables)).encode())
        except OSError as error:
            raise OutputError(f"{self._path}: can't be written ({error.strerror}). Nothing was changed.") from None
        self.tables = tables


Need = Literal["refused", "lost", "alarm", "waiting", "warning", "playing", "idle"]  # From the most to the least urgent

_ORDER: Final[tuple[Need, ...]] = ("refused", "lost", "alarm", "waiting", "warning", "playing", "idle")

STALE_S: Final = 4.5
"""A rig reports every second; a table that was not heard of for this long is lost, which is seen within 5 s."""


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table as the desk shows it.

    Attributes:
        need: how urgently it needs somebody.
        text: why, one line; empty where everything is well.
        home, away: the teams' names; empty without a game.
        situation: such as ``"2nd & 7 at B 34"``.
        phase: what the game waits for, such as ``"lined up"``.
        clock: as the game shows it; empty without one.
        period: of the game; 0 without a game.
        questions: what waits for a person at the table.
        under_review: whether a call is under review.
        silent_s: how long nothing was heard; None if nothing was ever heard.
    """

    id: str
    name: str
    address: str
    need: Need
    text: str
    home: str
    away: str
    score: tuple[int, int]
    situation: str
    phase: str
    clock: str
    period: int
    rulebook: str
    questions: tuple[str, ...]
    under_review: bool
    silent_s: float | None

    @property
    def order(self) -> tuple[int, str]:
        """Sorts tables by who needs somebody first, then by name."""
        return _ORDER.index(self.need), self.name.casefold()


def status_of(
    entry: TableEntry, values: Mapping[str, Any], silent_s: float | None, problem: str, *, refused: bool
) -> TableStatus:
    """Return what a table is doing.

    Args:
        values: of the topics it publishes, as JSON; whatever is missing or malformed counts as unknown.
        silent_s: how long nothing was heard; None if nothing was ever heard.
        problem: why it can't be watched; empty where it can.
        refused: whether its rig does not let the desk watch.
    """
    game, health = _object(values.get("game")), _object(values.get("health"))
    questions = tuple(
        _text(_object(item).get("text")) for item in _list(_object(values.get("questions")).get("questions"))
    )
    lost = silent_s is None or silent_s > STALE_S
    need, text = _need(game, health, questions, problem, lost=lost, refused=refused)
    score = _list(game.get("score"))
    home, away = (points if isinstance(points, int) else 0 for points in (*score, 0, 0)[:2])
    return TableStatus(
        entry.id,
        entry.name,
        entry.address,
        need,
        text,
        _text(_object(game.get("home")).get("name")),
        _text(_object(game.get("away")).get("name")),
        (home, away),
        _text(game.get("situation")),
        _text(game.get("phase_text")),
        _text(_object(game.get("clock")).get("text")),
        period if isinstance(period := game.get("period"), int) else 0,
        _text(game.get("rulebook_title")),
        questions,
        game.get("under_review") is True,
        None if silent_s is None else round(silent_s, 1),
    )


def _need(
    game: Mapping[str, Any],
    health: Mapping[str, Any],
    questions: tuple[str, ...],
    problem: str,
    *,
    lost: bool,
    refused: bool,
) -> tuple[Need, str]:
    if refused:
        return "refused", problem
    if lost:
        return "lost", problem or "nothing is heard of its rig"
    reasons = [_text(_object(reason).get("text")) for reason in _list(health.get("reasons"))]
    reported = "; ".join(reasons) or _text(health.get("text"))
    if health.get("level") == "alarm":
        return "alarm", reported
    if questions:
        more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
        return "waiting", questions[0] + more
    if health.get("level") == "warning":
        return "warning", reported
    return ("idle", "") if not game or game.get("phase") == "over" else ("playing", "")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
