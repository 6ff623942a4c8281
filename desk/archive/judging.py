"""One item of an archive judged again, or checked: is every byte as it was added, and the bundle as its rig signed it.

Judging runs in a worker, knows nothing of the other items, and depends on the item alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from downfield.core.errors import DownfieldError, InputError
from downfield.core.files.facts import file_digest
from downfield.core.track_files import TrackFile
from downfield.desk.archive.archive_files import ArchiveFiles, StorageError
from downfield.desk.archive.items import ArchivedFile, ArchivedItem, path_of
from downfield.desk.archive.results import JudgedItem
from downfield.game.records.entries import EventRecorded, GameStarted, RulebookRecord, rulebook_of, unpack_entry
from downfield.game.records.keeping import EntryRow
from downfield.officiating.calls import read_calls
from downfield.officiating.engine.recording import compare_calls, judge_recording
from downfield.officiating.events import Event, read_events
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.review.bundles import format as names
from downfield.review.bundles.format import BundleManifest
from downfield.review.bundles.reading import extract_parts
from downfield.review.bundles.verification import journal_rows, opened_bundle, verify_bundle
from downfield.review.rejudging.rejudging import Way, judge_again
from downfield.rig.games.kept_games import TrustedKeys


@dataclass(frozen=True, slots=True)
class BundledJournal:
    """The journal of a bundle, read from its file each time."""

    path: Path

    def entries(self, game: str, *, after: int = 0) -> Iterator[EntryRow]:
        """Yield the entries of the game in order, after one of a number. Raises FormatError: they can't be read."""
        with opened_bundle(self.path, "the journal can't be read") as archive:
            yield from (row for row in journal_rows(archive) if row.game == game and row.seq > after)

    def start_and_events(self, game: str) -> tuple[GameStarted | None, tuple[Event, ...]]:
        """Return how the game was started, or went on under another rulebook last, and its events."""
        started, events = None, []
        for entry in self.entries(game):
            content = unpack_entry(entry.kind, entry.content, where=f"game {game}, entry {entry.seq}")
            if isinstance(content, GameStarted):
                started = content
            elif isinstance(content, EventRecorded):
                events.append(content.event)
        return started, tuple(events)


def judge_item(files: ArchiveFiles, item: ArchivedItem, rulebook: RulebookRecord | None, folder: Path) -> JudgedItem:
    """Judge an item of an archive again.

    Args:
        rulebook: to judge it under; None for its own.
        folder: where copies of the item's files go.

    Returns:
        What it comes to, against the calls that stand in it.

    Raises:
        InputError: it was altered, or does not have what judging needs.
        FormatError, RulebookError: it can't be read by this version.
        StorageError: the archive can't be read.
    """
    book = None if rulebook is None else rulebook_of(rulebook)
    if item.kind == "bundle":
        return _judge_bundle(item, fetch_file(files, item, item.files[0], folder), book, folder)
    return _judge_recording(files, item, book, folder)


def fetch_file(files: ArchiveFiles, item: ArchivedItem, file: ArchivedFile, folder: Path) -> Path:
    """Return the path on this computer of a file of an item, exactly as it was added.

    Raises:
        InputError: it is missing in the archive, or was changed there.
        StorageError: the archive can't be read.
    """
    path = files.fetch(path_of(item, file.name), folder)
    if path.stat().st_size != file.size or file_digest(path) != file.sha256:
        raise InputError(f"{file.name} was changed in the archive since it was added")
    return path


def verified_manifest(path: Path, item: ArchivedItem) -> BundleManifest:
    """Return an unaltered bundle's manifest. Raises InputError: it was altered, or is not the one that is listed."""
    found = verify_bundle(path)
    if not found.intact or found.manifest is None:
        problem = found.problems[0].text if found.problems else "its signature is wrong"
        raise InputError(f"the bundle was altered: {problem}")
    if (found.manifest.game, found.manifest.public_key) != (item.game, item.public_key):
        raise InputError("the bundle is of another game or another rig than the archive lists")
    return found.manifest


def _judge_bundle(item: ArchivedItem, path: Path, book: Rulebook | None, folder: Path) -> JudgedItem:
    """Judge a bundle by its journal; rulings in it count where the same call is made."""
    manifest, journal = verified_manifest(path, item), BundledJournal(path)
    started, events = journal.start_and_events(item.game)
    own = "" if started is None else started.rulebook.name
    (judged,) = judge_again(journal, item.game, (Way.of(events, book),), lambda: None)
    extract_parts(path, manifest, (names.CALLS,), folder)
    header, before = read_calls(folder / names.CALLS)
    return JudgedItem(
        item,
        own if book is None else book.name,
        own,
        header.score,
        judged.calls,
        compare_calls(before, judged.calls),
        len(judged.refused),
        judged.state.score,
        judged.state.text,
    )


def _judge_recording(files: ArchiveFiles, item: ArchivedItem, book: Rulebook | None, folder: Path) -> JudgedItem:
    """Judge a recording by its tracks; it has no calls of its own, so those under its rulebook are what was before."""
    found = {
        ending: file
        for file in item.files
        for ending in (".tracks.jsonl", ".events.jsonl")
        if file.name.endswith(ending)
    }
    if ".tracks.jsonl" not in found:
        raise InputError("the recording has no tracks. 'downfield archive track' makes them.")
    own = load_rulebook(item.rulebook) if item.rulebook else None
    if own is None and book is None:
        raise InputError("the recording names no rulebook. Add it with --rulebook, or judge it with --rulebook.")
    tracks = TrackFile(fetch_file(files, item, found[".tracks.jsonl"], folder))
    events: tuple[Event, ...] = ()
    if ".events.jsonl" in found:
        events = read_events(fetch_file(files, item, found[".events.jsonl"], folder))[1]
    header = tracks.header
    first, second = (
        judge_recording(tracks, events, one, header.field, players=header.players)
        for one in (own or book, book or own)
        if one is not None
    )
    return JudgedItem(
        item,
        second.rulebook,
        first.rulebook,
        first.state.score,
        second.calls,
        compare_calls(first.calls, second.calls),
        len(second.refused),
        second.state.score,
        second.state.text,
    )


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """What the check of an item found."""

    good: bool  # whether it is as it was added and, where it is signed, not by a foreign rig
    text: str


def check_item(files: ArchiveFiles, item: ArchivedItem, trusted: TrustedKeys) -> CheckedItem:
    """Check an item; where no rig's key is trusted, each passes. Raises StorageError: the archive can't be read."""
    with tempfile.TemporaryDirectory(prefix="downfield-archive-") as temporary:
        try:
            for file in item.files:
                path = fetch_file(files, item, file, Path(temporary))
                if item.kind == "bundle":
                    verified_manifest(path, item)
        except StorageError:
            raise
        except DownfieldError as error:
            return CheckedItem(good=False, text=f"NOT IN ORDER: {error}")
    if item.kind == "recording":
        return CheckedItem(good=True, text="as it was added; recordings are not signed")
    name = trusted.names.get(item.public_key)
    if name is not None:
        return CheckedItem(good=True, text=f"unaltered, signed by {name or 'a trusted rig'}")
    if trusted.names:
        return CheckedItem(good=False, text=f"FOREIGN KEY: signed with {item.public_key}")
    return CheckedItem(good=True, text=f"unaltered, signed with {item.public_key}, of a rig not known here")
