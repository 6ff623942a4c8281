"""What an archive holds: bundles of games and bare recordings, each described by one small record beside its files."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, Literal

from downfield.core.errors import InputError
from downfield.core.records import check, from_json, record, to_json
from downfield.desk.archive.archive_files import ArchiveFiles

BUNDLE_NAME: Final = "game.downfield.zip"
"""Of a bundle's file in the archive."""

SHORT: Final = 12
"""Digits of an id that people see: no two among a million items are the same."""

_ITEMS: Final = "items"
_RECORD: Final = re.compile(r"([0-9a-f]{64})\.json")
_ID: Final = re.compile(r"[0-9a-f]{64}")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,120}")


@record
class ArchivedFile:
    """One file of an item.

    Attributes:
        name: in the item's folder.
        size: bytes.
        sha256: of its content, hexadecimal.
    """

    name: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        """Refuse names that lead elsewhere."""
        check(_FILE_NAME.fullmatch(self.name) is not None, InputError, f"{self.name!a} can't be the name of a file")


@record
class ArchivedItem:
    """One bundle or recording in an archive, ``items/ID.json``.

    Attributes:
        id: SHA-256 that follows from the content of its files, hexadecimal.
        kind: a bundle of a game, or a recording with the files beside it.
        game: id of the game; the name of a recording.
        began_ns: when it began, wall clock, ns since 1970; 0 where that is not known.
        title, home, away, rulebook, table: as in the list of games; empty where not known.
        event: the event or season it belongs to, as given when it was added.
        entries: how many entries the game's journal has; 0 for a recording.
        public_key: of the rig that signed it; empty for a recording.
        video: whether it has pictures.
        files: its files, in order.
    """

    id: str
    kind: Literal["bundle", "recording"]
    game: str
    began_ns: int
    title: str
    home: str
    away: str
    rulebook: str
    table: str
    event: str
    entries: int
    public_key: str
    video: bool
    files: tuple[ArchivedFile, ...]
    format: Literal["downfield.archived"] = "downfield.archived"
    version: Literal[1] = 1

    def __post_init__(self) -> None:
        """Refuse ids that are none."""
        check(_ID.fullmatch(self.id) is not None, InputError, f"{self.id!a} is no id of an archived item")

    @property
    def short(self) -> str:
        """The first digits of its id."""
        return self.id[:SHORT]

    @property
    def began_text(self) -> str:
        """When it began, UTC, such as ``2027-01-05 18:00``; empty where that is not known."""
        if self.began_ns <= 0:
            return ""
        return datetime.fromtimestamp(self.began_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M")

    @property
    def order(self) -> tuple[int, str, str]:
        """A key that sorts items by their beginning, and is different for each."""
        return self.began_ns, self.game, self.id


def path_of(item: ArchivedItem, name: str) -> str:
    """Return the path in the archive of a file of an item."""
    return f"files/{item.id}/{name}"


def item_ids(files: ArchiveFiles) -> list[str]:
    """Return the ids of all items of an archive, sorted.

    Raises:
        StorageError: the archive can't be read.
    """
    return [found[1] for name in files.names_in(_ITEMS) if (found := _RECORD.fullmatch(name)) is not None]


def read_items(files: ArchiveFiles, ids: list[str]) -> list[ArchivedItem]:
    """Return items by their ids.

    Raises:
        FormatError: a record is malformed.
        StorageError: the archive can't be read.
    """
    texts = files.read_all([_record_path(one) for one in ids])
    return [from_json(ArchivedItem, text, path=f"{files.shown}/{name}") for name, text in texts.items()]


def write_item(files: ArchiveFiles, item: ArchivedItem) -> None:
    """Write the record of an item whose files are all there: from then on the archive holds it.

    Raises:
        StorageError: it can't be written.
    """
    files.write(_record_path(item.id), to_json(ArchivedItem, item).encode() + b"\n")


def _record_path(id_: str) -> str:
    return f"{_ITEMS}/{id_}.json"
