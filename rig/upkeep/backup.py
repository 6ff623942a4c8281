"""A backup: the games, keys, tables and settings of a rig in one file, and back again.

The store is copied as one moment of it, while games go on. A backup is checked as a whole before anything of it is
restored, and what was there before is moved aside, never deleted.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import IO, Final, Literal
from urllib.parse import quote

from pydantic import ValidationError
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.files.input_files import open_input
from downfield.core.files.private_files import OWNER_ONLY, make_private_folder
from downfield.core.records import adapter, record, to_json
from downfield.review.zip_container import ZIP_FAULTS
from downfield.rig.configuration.settings import RigSettings, data_folder, recordings_folder, store_file
from downfield.rig.games.kept_games import DATA_FOLDER_LOCK, leased_data_folder
from downfield.store.database.sqlite_file import CLOSED
from downfield.store.writing.lease import FileLease, LeasedThing

_VERSION: Final = 1
_MANIFEST: Final = "manifest.json"
_SETTINGS_FILE: Final = "configuration-of-backup.toml"
_CHUNK_BYTES: Final = 1 << 20
_LARGEST_MANIFEST_BYTES: Final = 64 << 20
_SQLITE_BESIDE: Final = ("", "-wal", "-shm", "-journal")

Progress = Callable[[str], None]  # Receives the name of each file as it is worked on


@record
class BackupManifest:
    """What a backup holds."""

    format: Literal["downfield-backup"]
    version: int  # of this format
    made_by: str  # version of Downfield
    files: dict[str, str]  # SHA-256 of each file, by its name in the backup
    store_left_out: bool  # whether games are in a database server and so not in the backup
    recordings: bool  # whether recordings are in it


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """What was restored."""

    folder: Path
    moved_aside: Path | None  # where what was there before is now; None if nothing was
    settings_file: Path | None  # the configuration file of the backup; None if it had none
    manifest: BackupManifest


def make_backup(
    settings: RigSettings, configuration: Path | None, output: Path, *, recordings: bool, progress: Progress
) -> BackupManifest:
    """Write a backup, for its owner only; a file of that name is replaced once the new one is whole.

    Raises:
        InputError: there is nothing to back up.
        OutputError: it can't be written.
    """
    folder = data_folder(settings)
    store = _sqlite_file(settings)
    beside = output.with_name(f".{output.name}.{secrets.token_hex(4)}")
    digests: dict[str, str] = {}
    try:
        with (
            tempfile.TemporaryDirectory(prefix="downfield-") as temporary,
            os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive,
        ):
            for name, path in _files(settings, configuration, store, output.resolve(), recordings=recordings):
                progress(name)
                if path == store or path.suffix == ".db":  # those of a desk as well
                    path = _store_copy(path, Path(temporary))
                digests[name] = _add(archive, name, path)
            if not digests:
                raise InputError(f"{folder}: nothing to back up there. Is `data` set to the rig's data folder?")
            manifest = BackupManifest(
                "downfield-backup", _VERSION, version("downfield"), digests, store is None, recordings
            )
            archive.writestr(zipfile.ZipInfo(_MANIFEST), to_json(BackupManifest, manifest))
        with beside.open("rb") as written:
            os.fsync(written.fileno())
        beside.replace(output)
    except OSError as error:
        raise OutputError(f"{output}: the backup can't be written ({error.strerror or error})") from None
    finally:
        beside.unlink(missing_ok=True)
    return manifest


def restore_backup(archive_file: Path, settings: RigSettings, *, replace: bool, progress: Progress) -> RestoredBackup:
    """Restore a backup into the data folder.

    Args:
        settings: of the rig; says where the data folder is.
        replace: whether a data folder that is in use already is moved aside.

    Raises:
        FormatError: it is no backup, a newer one, or damaged; nothing was changed.
        InputError: the data folder holds something and `replace` is false, or a rig or a desk runs with it.
        OutputError: it can't be written; what was there is as it was.
    """
    folder = data_folder(settings).absolute()
    in_use = folder.exists() and any(path.name != DATA_FOLDER_LOCK for path in folder.iterdir())
    if in_use and not replace:
        raise InputError(
            f"{folder}: this data folder is in use already. Restore into another one with --set data=FOLDER, or with"
            " --replace, which moves what is there aside. Stop the rig first."
        )
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        leased = leased_data_folder(settings) if in_use else nullcontext()
        with _opened(archive_file) as archive, leased, _leased_desk(folder):
            manifest = _manifest(archive, archive_file)
            _check_room(archive, archive_file, folder)
            make_private_folder(beside)
            for name, digest in manifest.files.items():
                progress(name)
                _extract(archive, archive_file, name, digest, beside)
            aside = _swap(beside, folder, settings, keep_recordings=not manifest.recordings) if in_use else None
        if not in_use:
            if folder.exists():
                (folder / DATA_FOLDER_LOCK).unlink(missing_ok=True)  # an earlier rig's; nothing else is there
                folder.rmdir()
            beside.replace(folder)
    except OSError as error:
        raise OutputError(f"{folder}: the backup can't be restored ({error.strerror or error})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    restored_settings = folder / _SETTINGS_FILE
    return RestoredBackup(folder, aside, restored_settings if restored_settings.exists() else None, manifest)


def _leased_desk(folder: Path) -> AbstractContextManager[object]:
    """Keep a desk from starting with what is being replaced: it would write what it has over what is restored."""
    place = folder / "desk"
    thing = LeasedThing(f"The desk's folder {place}", "stop `downfield desk` before you restore.")
    return closing(FileLease(place / ".desk.lock", thing)) if place.is_dir() else nullcontext()


def _sqlite_file(settings: RigSettings) -> Path | None:
    """Return the file of the store; None if the store is a server."""
    if not settings.store.url:
        return store_file(settings)
    try:
        url = make_url(settings.store.url)
    except ArgumentError:
        return store_file(settings)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _files(
    settings: RigSettings, configuration: Path | None, store: Path | None, output: Path, *, recordings: bool
) -> Iterator[tuple[str, Path]]:
    """Yield the name in the backup and the path of each file, but an earlier backup of the same name."""
    folder, recorded = data_folder(settings), recordings_folder(settings)
    own_store = store_file(settings)
    if store is not None and store.is_file():
        yield own_store.name, store
    if configuration is not None:
        yield _SETTINGS_FILE, configuration
    skipped = {folder / (own_store.name + ending) for ending in _SQLITE_BESIDE} | {folder / _SETTINGS_FILE}
    for path in _regular_files(folder):
        is_beside = any(path.name.endswith(f".db{ending}") for ending in _SQLITE_BESIDE if ending)
        if path in skipped or is_beside or path.resolve() == output:
            continue
        if not path.is_relative_to(recorded):
            yield path.relative_to(folder).as_posix(), path
    if recordings:
        for path in _regular_files(recorded):
            yield (PurePosixPath("recordings") / path.relative_to(recorded).as_posix()).as_posix(), path


def _regular_files(folder: Path) -> Iterator[Path]:
    """Yield the files under a folder, but links and files that are being written, which begin with a dot."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path


def _store_copy(store: Path, temporary: Path) -> Path:
    """Copy the store as it is at one moment, with what its write-ahead log holds."""
    copy = temporary / "store.db"
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(str(store))}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            target.execute(f"PRAGMA user_version={CLOSED}")  # it is whole without a write-ahead log
    except sqlite3.Error as error:
        raise InputError(
            f"{store}: the store can't be read ({error}). `downfield verify` says what is wrong."
        ) from None
    return copy


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    entry = zipfile.ZipInfo.from_file(path, name, strict_timestamps=False)
    entry.compress_type = zipfile.ZIP_STORED if path.suffix in {".mkv", ".mp4"} else zipfile.ZIP_DEFLATED
    with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as target:
        return _copied(source, target)


def _copied(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy bytes, and return their SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK_BYTES):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def _opened(path: Path) -> zipfile.ZipFile:
    open_input(path).close()
    try:
        return zipfile.ZipFile(path)
    except ZIP_FAULTS:
        raise FormatError(str(path), "not a backup, or its end is missing") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from None


def _manifest(archive: zipfile.ZipFile, path: Path) -> BackupManifest:
    try:
        if archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST_BYTES:
            raise FormatError(str(path), "its list of files is impossibly long")
        manifest: BackupManifest = adapter(BackupManifest).validate_json(archive.read(_MANIFEST))
    except (KeyError, ValidationError, *ZIP_FAULTS):
        raise FormatError(str(path), "not a backup of Downfield") from None
    if manifest.version > _VERSION:
        raise FormatError(str(path), f"Downfield {manifest.made_by} made this backup. Update Downfield to restore it")
    for name in manifest.files:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/") or "\\" in name or ":" in parts[0]:
            raise FormatError(str(path), f"holds a file of a forbidden name, '{name}'")
    return manifest


def _check_room(archive: zipfile.ZipFile, path: Path, folder: Path) -> None:
    parent = folder
    while not parent.exists():
        parent = parent.parent
    needed, free = sum(entry.file_size for entry in archive.infolist()), shutil.disk_usage(parent).free
    if needed > free:
        raise OutputError(f"{path}: needs {needed / 1e9:.1f} GB in {parent}, where {free / 1e9:.1f} GB are free.")


def _extract(archive: zipfile.ZipFile, path: Path, name: str, digest: str, folder: Path) -> None:
    target = folder / name
    make_private_folder(target.parent)
    try:
        with (
            archive.open(name) as source,
            os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as written,
        ):
            found = _copied(source, written)
    except KeyError:
        raise FormatError(str(path), f"'{name}' is missing in it") from None
    except ZIP_FAULTS:
        raise FormatError(str(path), f"'{name}' is damaged") from None
    if found != digest:
        raise FormatError(str(path), f"'{name}' is damaged: its content is not what was backed up")


def _swap(beside: Path, folder: Path, settings: RigSettings, *, keep_recordings: bool) -> Path:
    """Put the restored folder in place of the present one; return where that is now."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}.before-restore-{number}")).exists():
        number += 1
    folder.replace(aside)
    try:
        beside.replace(folder)
    except OSError:
        aside.replace(folder)
        raise
    recorded = recordings_folder(settings).absolute()
    if keep_recordings and recorded.is_relative_to(folder):
        kept = aside / recorded.relative_to(folder)
        if kept.is_dir() and not recorded.exists():
            kept.replace(recorded)
    return aside
