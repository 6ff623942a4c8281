"""What an archive holds: bundles of games and bare recordings, each described by one small record beside its files.

What is added is checked first, and listed only when all of its files are there.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from downfield.calibration.calibration import read_calibration
from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.files.facts import file_digest
from downfield.core.media.video_file import VideoReader
from downfield.core.records import check, from_json, record, to_json
from downfield.desk.archive.archive_files import ArchiveFiles, StorageError
from downfield.game.records.entries import END_KINDS, GameEnded, GameStarted, unpack_entry
from downfield.review.bundles.verification import is_bundle, journal_rows, open_bundle_file, verify_bundle

BUNDLE_NAME: Final = "game.downfield.zip"  # Of a bundle's file in the archive

SHORT: Final = 12  # Digits of an id that people see: no two among a million items are the same

_ITEMS: Final = "items"
_RECORD: Final = re.compile(r"([0-9a-f]{64})\.json")
_ID: Final = re.compile(r"[0-9a-f]{64}")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,120}")


@record
class ArchivedFile:
    """One file of an item."""

    name: str  # in the item's folder
    size: int  # bytes
    sha256: str  # of its content, hexadecimal

    def __post_init__(self) -> None:
        """Refuse names that lead elsewhere."""
        check(_FILE_NAME.fullmatch(self.name) is not None, InputError, f"{self.name!a} can't be the name of a file")


@record
class ArchivedItem:
    """One bundle or recording in an archive, ``items/ID.json``."""

    id: str  # SHA-256 that follows from the content of its files, hexadecimal
    kind: Literal["bundle", "recording"]  # a bundle of a game, or a recording with the files beside it
    game: str  # id of the game; the name of a recording
    began_ns: int  # when it began, wall clock, ns since 1970; 0 where that is not known
    # title, home, away, rulebook, table: as in the list of games; empty where not known
    title: str
    home: str
    away: str
    rulebook: str
    table: str
    event: str  # the event it belongs to, as given when it was added, else as the game was started for one
    entries: int  # how many entries the game's journal has; 0 for a recording
    public_key: str  # of the rig that signed it; empty for a recording
    video: bool  # whether it has pictures
    files: tuple[ArchivedFile, ...]  # its files, in order
    season: str = ""  # as given, else the year in which it began
    # home, away, as the game was closed last; None where it was not, and for a recording
    score: tuple[int, int] | None = None
    # digest of the first entry of its journal, the same wherever the game is exported; empty for a recording
    first: str = ""
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
    """Return the ids of all items of an archive, sorted. Raises StorageError: the archive can't be read."""
    return [found[1] for name in files.names_in(_ITEMS) if (found := _RECORD.fullmatch(name)) is not None]


def read_items(files: ArchiveFiles, ids: list[str]) -> list[ArchivedItem]:
    """Return items by their ids. Raises FormatError: a record is malformed; StorageError: the archive can't be read."""
    texts = files.read_all([_record_path(one) for one in ids])
    return [from_json(ArchivedItem, text, path=f"{files.shown}/{name}") for name, text in texts.items()]


def write_item(files: ArchiveFiles, item: ArchivedItem) -> None:
    """Write the record of an item whose files are all there: from then on the archive holds it."""
    files.write(_record_path(item.id), to_json(ArchivedItem, item).encode() + b"\n")


def _record_path(id_: str) -> str:
    return f"{_ITEMS}/{id_}.json"


VIDEO_SUFFIXES: Final = frozenset({".avi", ".h264", ".m4v", ".mjpeg", ".mjpg", ".mkv", ".mov", ".mp4", ".ts", ".webm"})

_BESIDE: Final = (".frames.jsonl", ".calibration.json", ".events.jsonl", ".tracks.jsonl", ".roster.json")
"""Endings of the files that belong to a recording of the same name."""

_UNNAMED: Final = re.compile(r"[^A-Za-z0-9._-]+")
_RECORDED_AT: Final = re.compile(r"(?:\d{6}-)?(\d{8}-\d{6})")


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """What people say of the items they add."""

    event: str = ""  # the event; empty for the one that a game was started for
    season: str = ""  # empty for the year in which the game began
    table: str = ""  # of recordings, which do not say it themselves
    rulebook: str = ""


@dataclass(frozen=True, slots=True)
class AddedFile:
    """What became of a file that was to be added."""

    path: Path
    state: Literal["added", "there", "refused"]  # whether it was added, was there already, or was refused
    text: str
    item: ArchivedItem | None = None  # in the archive; None where it was refused


def addable_files(path: Path) -> list[Path]:
    """Return the file a path names, or a folder's bundles and calibrated videos. Raises InputError: there are none."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder")
    found = [one for one in sorted(path.iterdir()) if one.is_file() and (_is_calibrated_video(one) or is_bundle(one))]
    if not found:
        raise InputError(f"{path}: has no bundle, and no video with a NAME.calibration.json beside it")
    return found


def add_files(files: ArchiveFiles, paths: list[Path], labels: ItemLabels, known: set[str]) -> Iterator[AddedFile]:
    """Add files to an archive, one after another, and yield what became of each. One that is refused stops no other.

    Args:
        paths: bundles, and videos with the files beside them.
        labels: what people say of the items, such as the event's name.
        known: ids of the items that the archive has.

    Raises:
        StorageError: the archive can't be written.
    """
    for path in paths:
        try:
            item, sources = _described(path, labels)
        except StorageError:
            raise
        except DownfieldError as error:
            yield AddedFile(path, "refused", str(error))
            continue
        except OSError as error:
            yield AddedFile(path, "refused", f"{path}: can't be read: {error.strerror}")
            continue
        if item.id in known:
            yield AddedFile(path, "there", f"is in the archive already, as {item.short}", item)
            continue
        for file, source in zip(item.files, sources, strict=True):
            files.upload(path_of(item, file.name), source)
        write_item(files, item)
        known.add(item.id)
        played = f", {item.away} at {item.home}" if item.kind == "bundle" else ""
        what = f"{'game' if item.kind == 'bundle' else item.kind} {item.game}{played}"
        yield AddedFile(path, "added", f"{item.short}  {what}", item)


def _described(path: Path, labels: ItemLabels) -> tuple[ArchivedItem, list[Path]]:
    """Return the item that a file makes, and where its files are."""
    if is_bundle(path):
        return _bundle(path, labels), [path]
    if path.suffix.lower() in VIDEO_SUFFIXES:
        return _recording(path, labels)
    raise InputError(f"{path}: is neither a bundle of a game nor a video")


def _bundle(path: Path, labels: ItemLabels) -> ArchivedItem:
    found = verify_bundle(path)
    manifest = found.manifest
    if not found.intact or manifest is None:
        problem = found.problems[0].text if found.problems else "its signature is wrong"
        raise InputError(f"{path}: was altered, so it is not added: {problem}")
    digest = file_digest(path)
    first, score, match = _played(path)
    event = manifest.title.removesuffix(f", {match}") if match else ""
    return ArchivedItem(
        id=digest,
        kind="bundle",
        game=manifest.game,
        began_ns=manifest.began_ns,
        title=manifest.title,
        home=manifest.home,
        away=manifest.away,
        rulebook=manifest.rulebook,
        table=manifest.table,
        event=labels.event or event,
        entries=manifest.entries,
        public_key=manifest.public_key,
        video=any(Path(part.name).suffix in VIDEO_SUFFIXES for part in manifest.parts),
        files=(ArchivedFile(BUNDLE_NAME, path.stat().st_size, digest),),
        season=labels.season or _year(manifest.began_ns),
        score=score,
        first=first,
    )


def _played(path: Path) -> tuple[str, tuple[int, int] | None, str]:
    """Return the digest of a journal's first entry, the score it was closed at last, and the match it was started for.

    The score is None, and the match empty, where the journal has none.
    """
    first, score, match = "", None, ""
    with open_bundle_file(path) as file, zipfile.ZipFile(file) as archive:
        for row in journal_rows(archive):
            first = first or row.digest
            if row.kind not in {"game_started", "game_reopened", *END_KINDS}:
                continue
            with suppress(FormatError):  # of a newer version: the archive keeps it all the same
                content = unpack_entry(row.kind, row.content, where=f"{path}, entry {row.seq}")
                if isinstance(content, GameStarted) and content.match is not None:
                    match = content.match.match
                score = content.score if isinstance(content, GameEnded) else None
    return first, score, match


def _year(began_ns: int) -> str:
    return str(datetime.fromtimestamp(began_ns // 1_000_000_000, UTC).year) if began_ns > 0 else ""


def _recording(path: Path, labels: ItemLabels) -> tuple[ArchivedItem, list[Path]]:
    calibration = path.with_name(path.stem + ".calibration.json")
    if not calibration.is_file():
        raise InputError(f"{path}: has no calibration. {calibration.name} must be beside it.")
    read_calibration(calibration)
    VideoReader(path).close()
    stem = _UNNAMED.sub("-", path.stem).strip("-._") or "video"
    beside = [path.with_name(path.stem + ending) for ending in _BESIDE]
    sources = [path, *(one for one in beside if one.is_file())]
    names = [f"{stem}{source.name[len(path.stem) :].lower()}" for source in sources]
    kept = tuple(
        ArchivedFile(name, source.stat().st_size, file_digest(source))
        for name, source in zip(names, sources, strict=True)
    )
    content = json.dumps([[file.name.removeprefix(stem), file.sha256] for file in kept])
    item = ArchivedItem(
        id=hashlib.sha256(content.encode()).hexdigest(),
        kind="recording",
        game=f"{path.parent.name}-{path.stem}" if _RECORDED_AT.fullmatch(path.parent.name) else path.stem,
        began_ns=_recorded_at_ns(path),
        title="",
        home="",
        away="",
        rulebook=labels.rulebook,
        table=labels.table,
        event=labels.event,
        entries=0,
        public_key="",
        video=True,
        files=kept,
        season=labels.season or _year(_recorded_at_ns(path)),
    )
    return item, sources


def _recorded_at_ns(path: Path) -> int:
    """Return when a rig's recording began by its folder's name, which is in local time; 0 for others."""
    found = _RECORDED_AT.fullmatch(path.parent.name)
    if found is None:
        return 0
    try:
        began = datetime.strptime(found[1], "%Y%m%d-%H%M%S")
    except ValueError:
        return 0
    return round(began.timestamp()) * 1_000_000_000


def _is_calibrated_video(path: Path) -> bool:
    return path.suffix.lower() in VIDEO_SUFFIXES and path.with_name(path.stem + ".calibration.json").is_file()
