"""What of an archive is meant, and its records: read anew, or kept in a database from one time to the next.

The archive's own records are the truth. A database is brought up to date from them whenever it is opened, so it may be
lost, shared by many or made anew at any time. A selection is words: ids, ``all``, conditions such as ``team=River``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Column, MetaData, String, Table, Text, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from downfield.core.errors import InputError, OutputError
from downfield.core.records import from_json, to_json
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.items import ArchivedItem, item_ids, read_items
from downfield.store.database.engines import cause_of, create_writing_engine, parse_address, transaction

ALL: Final = "all"

TEXT_KEYS: Final = ("team", "title", "event", "season", "table", "rulebook", "kind", "game")
"""Conditions on a text; of those in `PARTIAL` a part is enough."""

PARTIAL: Final = frozenset({"team", "title", "event"})
DATE_KEYS: Final = ("date", "since", "until")

_KEYS: Final = (*TEXT_KEYS, *DATE_KEYS)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_ID_DIGITS: Final = 4  # Fewest digits that name an item


@dataclass(frozen=True, slots=True)
class Selection:
    """Which items are meant. Values of one key are alternatives; all keys must hold."""

    names: tuple[str, ...] = ()  # beginnings of ids of items, and ids of games; empty for no such condition
    texts: dict[str, list[str]] = field(default_factory=dict)  # by key, values in the form of `folded`
    # by key, times of beginning, from and before, wall clock ns
    spans_ns: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def find(self, items: Sequence[ArchivedItem]) -> list[ArchivedItem]:
        """Return those of an archive's items that are meant, by their beginning.

        Of several bundles of one game, wherever they were exported, only the longest is meant, which was made last,
        unless its id names another. One game is one journal: it begins with the same entry in each of them.

        Raises:
            InputError: a name is unknown, or means several items.
        """
        named = {_named(name, items) for name in self.names}
        found = [item for item in items if self._holds_of(item) and (not named or item.id in named)]
        longest = {
            (item.kind, item.game, item.first or item.public_key): item.id for item in sorted(found, key=_by_length)
        }
        kept = named.union(longest.values())
        return sorted((item for item in found if item.id in kept), key=lambda item: item.order)

    def _holds_of(self, item: ArchivedItem) -> bool:
        for key, values in self.texts.items():
            text = f"{folded(item.home)}\n{folded(item.away)}" if key == "team" else folded(getattr(item, key))
            if not any(value in text if key in PARTIAL else value == text for value in values):
                return False
        began_ns = item.began_ns
        return not self.spans_ns or (
            began_ns > 0
            and all(any(first <= began_ns < end for first, end in spans) for spans in self.spans_ns.values())
        )


def _by_length(item: ArchivedItem) -> tuple[int, str]:
    return item.entries, item.id


def _named(name: str, items: Sequence[ArchivedItem]) -> str:
    """Return the id of what a name means: a game's longest bundle, or the one item whose id begins so."""
    of_game = [item for item in items if folded(item.game) == name.lower()]
    if of_game:
        return max(of_game, key=_by_length).id
    found = [item.id for item in items if len(name) >= _ID_DIGITS and item.id.startswith(name.lower())]
    if len(found) > 1:
        raise InputError(f"'{name}' is the beginning of {len(found)} ids. Write more of its digits.")
    if not found:
        raise InputError(f"The archive has no item and no game '{name}'. 'downfield archive list' shows them all.")
    return found[0]


def folded(text: str) -> str:
    """Return a text as it is compared: without the difference of upper and lower case, single spaces."""
    return " ".join(text.casefold().split())


def parse_selection(words: Sequence[str]) -> Selection:
    """Return the selection of words such as ``["team=River", "all"]``. Raises InputError: one is unknown."""
    names: list[str] = []
    texts: dict[str, list[str]] = {}
    spans_ns: dict[str, list[tuple[float, float]]] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names += [] if word == ALL else [word]
        elif not value.strip():
            raise InputError(f"'{word}': says no value. Write {key}=VALUE.")
        elif key in TEXT_KEYS:
            texts.setdefault(key, []).append(folded(value))
        elif key == "date":
            spans_ns.setdefault(key, []).append(_span_ns(value))
        elif key == "since":
            spans_ns[key] = [(_span_ns(value)[0], math.inf)]
        elif key == "until":
            spans_ns[key] = [(-math.inf, _span_ns(value)[1])]
        else:
            raise InputError(f"'{word}': no condition is named {key!r}. Use {', '.join(_KEYS)}, an id, or all.")
    if "" in names:
        raise InputError("An empty word selects nothing. Write an id, KEY=VALUE, or all.")
    return Selection(tuple(names), texts, spans_ns)


def _span_ns(text: str) -> tuple[int, int]:
    """Return when a day, month or year begins and when the next does, UTC, ns since 1970."""
    found = _DATE.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError(text)  # noqa: TRY301 - one text for all that is no date
        year, month, day = (None if part is None else int(part) for part in found.groups())
        begins = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        if day is not None:
            ends = begins + timedelta(days=1)
        elif month is not None:
            ends = (begins + timedelta(days=31)).replace(day=1)
        else:
            ends = begins.replace(year=begins.year + 1)
        return _ns(begins), _ns(ends)
    except (ValueError, OverflowError):
        raise InputError(f"'{text}' is no date. Write 2027, 2027-01 or 2027-01-31.") from None


def _ns(moment: datetime) -> int:
    return round(moment.timestamp()) * 1_000_000_000


_RECORDS: Final = Table(
    "archive_records",
    MetaData(),
    Column("archive", String, primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("record", Text, nullable=False),
)
_INSERTS: Final[dict[str, Any]] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}
_AT_ONCE: Final = 500  # Items read and written together


def all_items(files: ArchiveFiles, address: str | None = None) -> list[ArchivedItem]:
    """Return what an archive holds, in no order.

    Args:
        address: of the database that keeps the records, ``postgresql://...`` or ``sqlite:///FILE``; None for none.

    Raises:
        InputError: no such kind of database.
        MissingExtraError: what reads it is not installed.
        StorageError: the archive can't be read.
        FormatError: a record in it is malformed.
        OutputError: the database can't be used.
    """
    there = item_ids(files)
    if address is None:
        return [item for ids in _groups(there) for item in read_items(files, ids)]
    url = parse_address(address)
    engine, where = create_writing_engine(url), url.render_as_string(hide_password=True)
    own = _RECORDS.c.archive == files.url
    try:
        _RECORDS.create(engine, checkfirst=True)
        with engine.connect() as connection:
            kept = {str(one): str(text) for one, text in connection.execute(select(*_RECORDS.c[1:]).where(own))}
        for ids in _groups(sorted(set(kept) - set(there))):
            with transaction(engine) as connection:
                connection.execute(delete(_RECORDS).where(own, _RECORDS.c.id.in_(ids)))
        for ids in _groups([one for one in there if one not in kept]):
            new = {item.id: to_json(ArchivedItem, item) for item in read_items(files, ids)}
            rows = [{"archive": files.url, "id": one, "record": text} for one, text in new.items()]
            with transaction(engine) as connection:
                connection.execute(_INSERTS[engine.dialect.name](_RECORDS).on_conflict_do_nothing(), rows)
            kept |= new
    except SQLAlchemyError as error:
        raise OutputError(f"{where}: the index can't be used: {cause_of(error)}") from None
    finally:
        engine.dispose()
    return [from_json(ArchivedItem, kept[one], path=where) for one in there]


def _groups(ids: Sequence[str]) -> Iterator[list[str]]:
    yield from (list(ids[first : first + _AT_ONCE]) for first in range(0, len(ids), _AT_ONCE))
