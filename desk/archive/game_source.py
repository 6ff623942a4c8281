"""What a game is tracked again from: its pictures, calibration, declarations and rulebook, out of an item's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.recording.recording_library import recording_order
from downfield.core.errors import InputError
from downfield.core.track_files import Roster, read_roster
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.judging import BundledJournal, fetch_file, verified_manifest
from downfield.game.records.entries import rulebook_of
from downfield.officiating.calls import Call, read_calls
from downfield.officiating.events import Event, read_events
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.officiating.state.game_state import HOME_AND_AWAY, Team
from downfield.review.bundles import format as names
from downfield.review.bundles.reading import extract_parts

_NO_VIDEO: Final = frozenset({".json", ".jsonl"})  # Endings of what lies beside a bundle's videos


@dataclass(frozen=True, slots=True)
class GameSource:
    """What a game is tracked again from."""

    videos: tuple[Path, ...]  # one after another
    calibration: Calibration
    roster: Roster | None  # the players, and where they stood in its first scene; None to number the figures found
    events: tuple[Event, ...]  # of the game, in order
    rulebook: Rulebook | None  # it was played under; None where that is not known
    teams: tuple[Team, Team] = HOME_AND_AWAY  # home, away
    certified_yd: tuple[float, float] | None = None  # error the table is certified to, along and across; None for none
    calls: Sequence[Call] | None = None  # as they were; None where that is not known
    score: tuple[int, int] | None = None  # home, away; None where it is not known


def open_source(files: ArchiveFiles, item: ArchivedItem, folder: Path) -> GameSource:
    """Return what an item is tracked again from.

    Args:
        folder: where copies of the item's files go.

    Raises:
        InputError: it was altered, or has no pictures or no calibration.
        FormatError, RulebookError: it can't be read by this version.
        StorageError: the archive can't be read.
    """
    if not item.video:
        raise InputError("the bundle has no video. 'downfield export' leaves it out only where asked to.")
    return _bundled(files, item, folder) if item.kind == "bundle" else _recorded(files, item, folder)


def _bundled(files: ArchiveFiles, item: ArchivedItem, folder: Path) -> GameSource:
    path = fetch_file(files, item, item.files[0], folder)
    manifest = verified_manifest(path, item)
    extract_parts(path, manifest, {part.name for part in manifest.parts} - {names.JOURNAL, names.REPORT}, folder)
    if not (folder / names.CALIBRATION).is_file():
        raise InputError("the bundle has no calibration")
    started, events = BundledJournal(path).start_and_events(item.game)
    if started is None:
        raise InputError("its journal does not start with the start of the game")
    header, calls = read_calls(folder / names.CALLS)
    roster = read_roster(folder / names.TRACKS)
    videos = [one for one in (folder / "recording").rglob("*") if one.is_file() and one.suffix not in _NO_VIDEO]
    return GameSource(
        tuple(sorted(videos, key=recording_order)),
        read_calibration(folder / names.CALIBRATION),
        roster if roster.players else None,
        events,
        rulebook_of(started.rulebook),
        (Team(started.home.name, started.home.short), Team(started.away.name, started.away.short)),
        started.certified_yd,
        calls,
        header.score,
    )


def _recorded(files: ArchiveFiles, item: ArchivedItem, folder: Path) -> GameSource:
    fetched = [fetch_file(files, item, file, folder) for file in item.files]
    video, beside = fetched[0], {path.name[len(fetched[0].stem) :]: path for path in fetched[1:]}
    roster = beside.get(".roster.json") or beside.get(".tracks.jsonl")
    return GameSource(
        (video,),
        read_calibration(beside[".calibration.json"]),
        None if roster is None else read_roster(roster),
        read_events(beside[".events.jsonl"])[1] if ".events.jsonl" in beside else (),
        load_rulebook(item.rulebook) if item.rulebook else None,
    )
