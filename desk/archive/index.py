"""The index of an archive: what it holds as a table, in PostgreSQL, in a file or in memory, by the same SQL.

The archive's own records are the truth. An index is brought up to date from them whenever it is opened, so it may be
lost, shared by many or made anew at any time. A selection is words: ids, ``all``, conditions such as ``team=River``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    and_,
    create_engine,
    delete,
    func,
    or_,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

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


@dataclass(frozen=True, slots=True)
class Selection:
    """Which items are meant. Values of one key are alternatives; all keys must hold."""

    names: tuple[str, ...] = ()  # beginnings of ids of items, and ids of games; empty for no such condition
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()  # by key, values in the folded form of `folded`
    # times of beginning, from and before, wall clock ns; one of them for each value of ``date``
    spans_ns: tuple[tuple[int, int], ...] = ()
    # since_ns, before_ns: the same of ``since`` and ``until``; None for no bound
    since_ns: int | None = None
    before_ns: int | None = None


def folded(text: str) -> str:
    """Return a text as it is compared: without the difference of upper and lower case, single spaces."""
    return " ".join(text.casefold().split())


def parse_selection(words: Sequence[str]) -> Selection:
    """Return the selection that words describe.

    Args:
        words: such as ``["team=River", "since=2027-01-01"]``.

    Raises:
        InputError: a word is unknown, with what is known.
    """
    names: list[str] = []
    texts: dict[str, list[str]] = {}
    spans_ns: list[tuple[int, int]] = []
    since_ns = before_ns = None
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            names += [] if word == ALL else [word]
        elif not value.strip():
            raise InputError(f"'{word}': says no value. Write {key}=VALUE.")
        elif key in TEXT_KEYS:
            texts.setdefault(key, []).append(folded(value))
        elif key == "date":
            spans_ns.append(_span_ns(value))
        elif key == "since":
            since_ns = _span_ns(value)[0]
        elif key == "until":
            before_ns = _span_ns(value)[1]
        else:
            raise InputError(f"'{word}': no condition is named {key!r}. Use {', '.join(_KEYS)}, an id, or all.")
    if "" in names:
        raise InputError("An empty word selects nothing. Write an id, KEY=VALUE, or all.")
    return Selection(
        tuple(names),
        tuple((key, tuple(values)) for key, values in sorted(texts.items())),
        tuple(spans_ns),
        since_ns,
        before_ns,
    )


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


_SCHEMA: Final = MetaData()
_ITEMS: Final = Table(
    "archived_items",
    _SCHEMA,
    Column("archive", String, primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("kind", String, nullable=False),
    Column("game", String, nullable=False),
    Column("began_ns", BigInteger, nullable=False, index=True),
    Column("team", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("season", Text, nullable=False),
    Column("table", Text, nullable=False),
    Column("rulebook", Text, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("record", Text, nullable=False),
)
_INSERTS: Final[dict[str, Any]] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}

_AT_ONCE: Final = 500  # Items read and written together

_LIKE_SPECIAL: Final = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})
_ID_DIGITS: Final = 4  # Fewest digits that name an item


class ArchiveIndex:
    """What an archive holds, as a table.

    Its methods raise OutputError where the database can't be used.

    Args:
        archive: the archive's address, under which the table lists its items.
        where: the database, for errors.
    """

    def __init__(self, engine: Engine, archive: str, where: str) -> None:
        self._engine, self._archive, self._where = engine, archive, where

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()

    def synchronize(self, files: ArchiveFiles) -> None:
        """Bring the table up to date with the records of the archive.

        Raises:
            StorageError: the archive can't be read.
            FormatError: a record in it is malformed.
        """
        with self._errors():
            _SCHEMA.create_all(self._engine)
            with self._engine.connect() as connection:
                query = select(_ITEMS.c.id).where(_ITEMS.c.archive == self._archive)
                known = set(connection.execute(query).scalars())
        there = item_ids(files)
        gone = iter(sorted(known - set(there)))
        while together := list(islice(gone, _AT_ONCE)):
            self._remove(together)
        new = iter([one for one in there if one not in known])
        while together := list(islice(new, _AT_ONCE)):
            self.add(read_items(files, together))

    def add(self, items: Sequence[ArchivedItem]) -> None:
        """Add items; those that it has are left as they are."""
        rows = [_row(self._archive, item) for item in items]
        if not rows:
            return
        insert = _INSERTS[self._engine.dialect.name]
        with self._errors(), transaction(self._engine) as connection:
            connection.execute(insert(_ITEMS).on_conflict_do_nothing(), rows)

    def find(self, selection: Selection) -> list[ArchivedItem]:
        """Return the items of a selection, by their beginning.

        Of several bundles of one game, wherever they were exported, only the longest is meant, which was made last,
        unless its id names another. One game is one journal: it begins with the same entry in each of them.

        Raises:
            InputError: a name is unknown, or means several items.
        """
        query = select(_ITEMS.c.record).where(_ITEMS.c.archive == self._archive, *_conditions(selection))
        named: set[str] = set()
        if selection.names:
            for name in selection.names:
                named |= self._named(name)
            query = query.where(_ITEMS.c.id.in_(sorted(named)))
        found = self._read(query)
        longest: dict[tuple[str, str, str], ArchivedItem] = {}
        for item in found:
            key = (item.kind, item.game, item.first or item.public_key)
            before = longest.get(key)
            if before is None or (item.entries, item.id) > (before.entries, before.id):
                longest[key] = item
        kept = {item.id for item in longest.values()} | named if selection.names else {i.id for i in longest.values()}
        return sorted((item for item in found if item.id in kept), key=lambda item: item.order)

    def _named(self, name: str) -> set[str]:
        """Return the ids of what a name means: a game, or the one item whose id begins so."""
        of_game = self._read(
            select(_ITEMS.c.record).where(_ITEMS.c.archive == self._archive, func.lower(_ITEMS.c.game) == name.lower())
        )
        if of_game:
            longest = max(of_game, key=lambda item: (item.entries, item.id))
            return {longest.id}
        prefix = name.lower()
        found: list[ArchivedItem] = []
        if len(prefix) >= _ID_DIGITS:
            query = select(_ITEMS.c.record).where(_ITEMS.c.archive == self._archive)
            found = self._read(query.where(_ITEMS.c.id.startswith(prefix, autoescape=True)))
        if len(found) > 1:
            raise InputError(f"'{name}' is the beginning of {len(found)} ids. Write more of its digits.")
        if not found:
            raise InputError(f"The archive has no item and no game '{name}'. 'downfield archive list' shows them all.")
        return {found[0].id}

    def _read(self, query: Select[Any]) -> list[ArchivedItem]:
        with self._errors(), self._engine.connect() as connection:
            texts = list(connection.execute(query).scalars())
        return [from_json(ArchivedItem, text, path=self._where) for text in texts]

    def _remove(self, ids: Sequence[str]) -> None:
        with self._errors(), transaction(self._engine) as connection:
            connection.execute(delete(_ITEMS).where(_ITEMS.c.archive == self._archive, _ITEMS.c.id.in_(ids)))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise OutputError(f"{self._where}: the index can't be used: {cause_of(error)}") from None


@contextmanager
def open_index(files: ArchiveFiles, address: str | None) -> Iterator[ArchiveIndex]:
    """Open the index of an archive, up to date.

    Args:
        address: ``postgresql://...`` or ``sqlite:///FILE``, kept from one command to the next; None for one in memory.

    Raises:
        InputError: no such kind of database.
        MissingExtraError: what reads it is not installed.
        StorageError, FormatError, OutputError: as of `ArchiveIndex.synchronize`.
    """
    if address is None:
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        where = "index in memory"
    else:
        url = parse_address(address)
        engine, where = create_writing_engine(url), url.render_as_string(hide_password=True)
    index = ArchiveIndex(engine, files.url, where)
    try:
        index.synchronize(files)
        yield index
    finally:
        index.close()


def _row(archive: str, item: ArchivedItem) -> dict[str, object]:
    return {
        "archive": archive,
        "id": item.id,
        "kind": item.kind,
        "game": folded(item.game),
        "began_ns": item.began_ns,
        "team": f"{folded(item.home)}\n{folded(item.away)}",
        "title": folded(item.title),
        "event": folded(item.event),
        "season": folded(item.season),
        "table": folded(item.table),
        "rulebook": folded(item.rulebook),
        "entries": item.entries,
        "record": to_json(ArchivedItem, item),
    }


def _conditions(selection: Selection) -> Iterator[Any]:
    for key, values in selection.texts:
        column = _ITEMS.c[key]
        if key in PARTIAL:
            patterns = (f"%{value.translate(_LIKE_SPECIAL)}%" for value in values)
            yield or_(*(column.like(pattern, escape="\\") for pattern in patterns))
        else:
            yield column.in_(values)
    if selection.spans_ns:
        began = _ITEMS.c.began_ns
        yield or_(*(and_(began >= start, began < end, began > 0) for start, end in selection.spans_ns))
    if selection.since_ns is not None:
        yield _ITEMS.c.began_ns >= selection.since_ns
    if selection.before_ns is not None:
        yield and_(_ITEMS.c.began_ns < selection.before_ns, _ITEMS.c.began_ns > 0)
