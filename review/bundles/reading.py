"""Unpacks bundles: their games into a store, their video into a folder of recordings."""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.records import from_json
from downfield.game.records.keeping import EntryRow, GameRow
from downfield.review.bundles import format as names
from downfield.review.bundles.format import PART_NAME, BundleManifest
from downfield.review.bundles.verification import journal_rows, opened_bundle
from downfield.review.zip_container import CHUNK_BYTES
from downfield.store.writing.store import Store

_VIDEO: Final = "recording/"
_ENTRIES_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """A bundle that was unpacked."""

    manifest: BundleManifest  # the game's id, teams and parts with their digests, as the bundle states them
    folder: Path  # its files, but for the journal
    recordings: Path | None  # its recording, in a folder of recordings; None where it has none
    clip: Path | None  # the video it was played from in place of a camera; None where it was a camera
    calibration: Calibration | None  # of the camera; None where it has none


def read_manifest(path: Path) -> BundleManifest:
    """Return the manifest of a bundle, without checking anything else.

    Raises:
        InputError: the file can't be read, or is no bundle.
        FormatError: the manifest is malformed.
    """
    with opened_bundle(path, "the manifest can't be read") as archive, archive.open(names.MANIFEST) as part:
        content = part.read(names.MAX_MANIFEST_BYTES)
    return from_json(BundleManifest, content, path=f"{path}: {names.MANIFEST}")


def extract_parts(path: Path, manifest: BundleManifest, wanted: Collection[str], folder: Path) -> None:
    """Unpack some parts of a bundle that was checked, into a folder that is made; those that it has not are left out.

    Raises:
        FormatError: it is damaged.
        OutputError: the disk is full.
    """
    with opened_bundle(path, "a part can't be unpacked") as archive:
        for part in manifest.parts:
            if part.name in wanted and PART_NAME.fullmatch(part.name):
                _extract(archive, part.name, part.size, folder)


def unpack_bundle(path: Path, store: Store, folder: Path) -> UnpackedBundle:
    """Unpack a bundle that was checked: its game into a store, its other files into a folder, which is made.

    Raises:
        InputError: the file can't be read, or is no bundle.
        FormatError: it is damaged.
        OutputError: the disk is full, or the store already has the game.
    """
    manifest = read_manifest(path)
    if names.JOURNAL not in {part.name for part in manifest.parts}:
        raise InputError(f"{path}: holds one call and no game. Unpack it, and open call/ruling.html in a browser.")
    extract_parts(path, manifest, {part.name for part in manifest.parts} - {names.JOURNAL}, folder)
    with opened_bundle(path, "the journal can't be read") as archive:
        import_game(store, manifest.row, journal_rows(archive))
    if store.game(manifest.game) is None:
        raise FormatError(str(path), "its journal has no entry that can be read; see 'downfield verify'")
    recordings = folder / _VIDEO
    clips = [found for found in sorted(recordings.glob("clip.*")) if found.suffix != ".jsonl"]
    calibration_file = folder / names.CALIBRATION
    return UnpackedBundle(
        manifest,
        folder,
        recordings if recordings.is_dir() and not clips else None,
        clips[0] if clips else None,
        read_calibration(calibration_file) if calibration_file.is_file() else None,
    )


def import_game(store: Store, row: GameRow, entries: Iterable[EntryRow]) -> None:
    """Write a game with its journal, in order, into another store. Raises OutputError: it has it, or can't take it."""
    listed: GameRow | None = row
    remaining = iter(entries)
    while together := tuple(islice(remaining, _ENTRIES_AT_ONCE)):
        store.append(together, listed)
        listed = None


def _extract(archive: zipfile.ZipFile, name: str, size: int, folder: Path) -> None:
    target = folder / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as part, target.open("wb") as out:
            while size > 0 and (chunk := part.read(min(CHUNK_BYTES, size))):  # no more than the manifest says
                size -= out.write(chunk)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{target}: can't be written: {reason}. TMPDIR names a folder with more room.") from None
