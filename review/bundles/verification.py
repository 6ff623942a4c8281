"""Checks a bundle without the rig: which part was changed, is missing or was added, and whose signature it bears."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from downfield.core.errors import FormatError, InputError
from downfield.core.files.input_files import open_input
from downfield.core.records import from_json
from downfield.game.records.keeping import EntryRow
from downfield.review.bundles import format as names
from downfield.review.bundles.format import PART_NAME, BundleManifest, BundlePart, signed_bytes
from downfield.review.zip_container import CHUNK_BYTES, ZIP_FAULTS, container_is_as_written
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.signing import is_signed_text

Fault = Literal["cut_off", "changed", "missing", "added", "refused"]

ZIP_ERRORS: Final = (*ZIP_FAULTS, OSError)  # What reading a damaged bundle raises

MAX_RATIO: Final = 200
"""How much a part may grow when it is unpacked; text of games grows 5 to 20 times, a hostile file 1,000 times."""

_TELLING: Final = frozenset({names.MANIFEST, names.SIGNATURE, names.JOURNAL})

_RATIO_FROM_BYTES: Final = 1 << 20
_MAX_LINE_BYTES: Final = 96 << 20
_MAX_PARTS: Final = 200_000
_START: Final = b"PK\x03\x04"
_LOCAL_NAME_AT: Final = 30
_END_OF_LIST: Final = b"PK\x05\x06"
_END_SEARCHED_BYTES: Final = 22 + 65_535  # Where a zip file's last record may begin, APPNOTE.TXT of PKWARE, 4.3.16


@dataclass(frozen=True, slots=True)
class BundleProblem:
    """One thing that is wrong with a bundle."""

    fault: Fault
    part: str  # the name of the part; empty where it is the whole file
    text: str  # what is wrong, in words


@dataclass(frozen=True, slots=True)
class BundleVerification:
    """What a bundle's check found."""

    # the game's id, teams and parts with their digests, as the bundle states them; None if unreadable
    manifest: BundleManifest | None
    signed: bool  # whether the manifest is as the rig with its public key signed it
    problems: tuple[BundleProblem, ...]  # what is wrong, in the order of the file; empty when nothing is

    @property
    def intact(self) -> bool:
        """Whether every byte is as it was signed, by whomever."""
        return self.signed and not self.problems

    @property
    def refused(self) -> str:
        """Why nothing of it is ever unpacked, in words; empty for a bundle that was only altered."""
        return next((problem.text for problem in self.problems if problem.fault == "refused"), "")


def is_bundle(path: Path) -> bool:
    """Return whether a file is a bundle, whole or not: it begins as one, or lists parts that only bundles have."""
    try:
        if not path.is_file():  # opening a pipe would wait for its writer
            return False
        with path.open("rb") as file:
            start = file.read(_LOCAL_NAME_AT + len(names.ABOUT))
            if start.startswith(_START) and start[_LOCAL_NAME_AT:] == names.ABOUT.encode():
                return True
            return len(_TELLING & set(zipfile.ZipFile(file).namelist())) > 1
    except ZIP_ERRORS:
        return False


def other_zip_hint(path: Path) -> str:
    """Return what to do with a zip file that is no bundle, as a sentence; empty for any other file.

    A file that is only named like one is told so too: whoever gives it means a bundle.
    """
    if not path.is_file():
        return ""
    if zipfile.is_zipfile(path):
        return "It is a zip file of something else: if a bundle lies inside it, unpack it first."
    if path.suffix.lower() != ".zip":
        return ""
    return f"It is {'named like a zip file and is none' if path.stat().st_size else 'empty'}: ask for the file again."


def verify_bundle(path: Path) -> BundleVerification:
    """Check every byte of a bundle. Raises InputError: it can't be read, or is no bundle at all."""
    with open_bundle_file(path) as file:
        try:
            archive = zipfile.ZipFile(file)
            infos = archive.infolist()
        except ZIP_ERRORS:
            return BundleVerification(None, signed=False, problems=(_without_list(file),))
        refused = _refusal(infos, path.stat().st_size)
        if refused is not None:
            return BundleVerification(None, signed=False, problems=(refused,))
        return _verified(file, archive)


def open_bundle_file(path: Path) -> BinaryIO:
    """Open a file that begins as a bundle does. Raises InputError: it can't be read, or is no bundle."""
    file = open_input(path)
    if not is_bundle(path):
        file.close()
        raise InputError(f"{path}: is not a bundle of a game. 'downfield export' and a game's page make bundles.")
    return file


@contextmanager
def opened_bundle(path: Path, problem: str) -> Iterator[zipfile.ZipFile]:
    """Open the zip file of a bundle.

    Args:
        problem: what could not be done where it is damaged, for the error.

    Raises:
        InputError: the file can't be read, or is no bundle.
        FormatError: it is damaged.
    """
    try:
        with open_bundle_file(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except (KeyError, *ZIP_ERRORS) as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(str(path), f"{problem}; see 'downfield verify' ({error})") from None


def part_lines(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield the lines of a part. Raises FormatError: a line is longer than any that Downfield writes."""
    with archive.open(name) as part:
        while line := part.readline(_MAX_LINE_BYTES):
            if len(line) == _MAX_LINE_BYTES:
                raise FormatError(name, "a line is too long")
            yield line


def journal_rows(archive: zipfile.ZipFile) -> Iterator[EntryRow]:
    """Yield the journal's entries, whose digests are not checked. Raises FormatError: a line is malformed."""
    for number, line in enumerate(part_lines(archive, names.JOURNAL), start=1):
        yield from_json(EntryRow, line, path=names.JOURNAL, line=number)


def _verified(file: BinaryIO, archive: zipfile.ZipFile) -> BundleVerification:
    listed = {info.filename: info for info in archive.infolist()}
    absent = [name for name in (names.MANIFEST, names.SIGNATURE) if name not in listed]
    if absent:
        problems = tuple(BundleProblem("missing", name, f"{name} is missing") for name in absent)
        return BundleVerification(None, signed=False, problems=problems)
    manifest, signed, found = _manifest(archive)
    if manifest is None:
        return BundleVerification(None, signed=signed, problems=tuple(found))
    for part in manifest.parts:
        info = listed.pop(part.name, None)
        if info is None:
            found.append(BundleProblem("missing", part.name, f"{part.name} is missing"))
        else:
            found += _part_problems(archive, info, part)
    added = sorted(listed.keys() - {names.MANIFEST, names.SIGNATURE})
    found += [BundleProblem("added", name, f"{name} was added: the rig did not sign it") for name in added]
    if ("refused", names.JOURNAL) not in [(problem.fault, problem.part) for problem in found]:
        found += _journal_problems(archive, manifest)
    if not found and not _is_as_written(file, archive, manifest):
        text = "the zip file around the parts was changed, or written anew by another program; every part is as signed"
        found.append(BundleProblem("changed", "", text))
    return BundleVerification(manifest, signed, tuple(found))


def _manifest(archive: zipfile.ZipFile) -> tuple[BundleManifest | None, bool, list[BundleProblem]]:
    """Return the manifest, whether its own key has signed it, and what is wrong with it."""
    found: list[BundleProblem] = []
    read: list[bytes] = []
    for name in (names.MANIFEST, names.SIGNATURE):
        try:
            with archive.open(name) as part:
                read.append(part.read(names.MAX_MANIFEST_BYTES))
        except ZIP_ERRORS:
            found.append(BundleProblem("changed", name, f"{name} was changed"))
    if found:
        return None, False, found
    try:
        manifest = from_json(BundleManifest, read[0], path=names.MANIFEST)
    except FormatError as error:
        text = f"{names.MANIFEST} can't be read ({error.problem}): it was changed, or a newer Downfield wrote it"
        return None, False, [BundleProblem("changed", names.MANIFEST, text)]
    signed = is_signed_text(manifest.public_key, signed_bytes(read[0]), read[1].removesuffix(b"\n"))
    if not signed:
        text = f"{names.MANIFEST} or its signature was changed: the signature is not that of {manifest.public_key}"
        found.append(BundleProblem("changed", names.MANIFEST, text))
    return manifest, signed, found


def _part_problems(archive: zipfile.ZipFile, info: zipfile.ZipInfo, part: BundlePart) -> list[BundleProblem]:
    changed = BundleProblem("changed", part.name, f"{part.name} was changed")
    if info.file_size != part.size:
        return [changed]
    if part.size > _RATIO_FROM_BYTES and part.size > MAX_RATIO * info.compress_size:
        times = part.size // max(1, info.compress_size)
        text = f"{part.name} would unpack to {times} times its size; it was not read"
        return [BundleProblem("refused", part.name, text)]
    digest = hashlib.sha256()
    try:
        with archive.open(info) as opened:
            while chunk := opened.read(CHUNK_BYTES):
                digest.update(chunk)
    except ZIP_ERRORS:
        return [changed]
    return [] if digest.hexdigest() == part.sha256 else [changed]


def _journal_problems(archive: zipfile.ZipFile, manifest: BundleManifest) -> list[BundleProblem]:
    if names.JOURNAL not in archive.NameToInfo or names.JOURNAL not in {part.name for part in manifest.parts}:
        return []  # told as missing, if it was ever there, or as added
    try:
        checked = verify_journal(manifest.game, _rows_of(manifest.game, journal_rows(archive)))
    except (FormatError, *ZIP_ERRORS) as error:
        text = f"the journal can't be read to its end: {error}"
        return [BundleProblem("changed", names.JOURNAL, text)]
    if checked.problem:
        return [BundleProblem("changed", names.JOURNAL, f"the journal: {checked.problem}")]
    if checked.entries < manifest.entries:
        text = f"the journal was cut off: {checked.entries} of {manifest.entries} entries are left"
        return [BundleProblem("cut_off", names.JOURNAL, text)]
    if checked.head != manifest.head:
        return [BundleProblem("changed", names.JOURNAL, "the journal was rewritten: it ends with another digest")]
    return []


def _rows_of(game: str, rows: Iterable[EntryRow]) -> Iterator[EntryRow]:
    for row in rows:
        if row.game != game:
            raise FormatError(names.JOURNAL, f"entry {row.seq} is of another game, {row.game!a}")
        yield row


def _is_as_written(file: BinaryIO, archive: zipfile.ZipFile, manifest: BundleManifest) -> bool:
    order = [info.filename for info in archive.infolist()]
    if order != [*(part.name for part in manifest.parts), names.MANIFEST, names.SIGNATURE]:
        return False
    remaining = archive.getinfo(names.MANIFEST).header_offset
    digest = hashlib.sha256()
    file.seek(0)
    while remaining > 0 and (chunk := file.read(min(CHUNK_BYTES, remaining))):
        digest.update(chunk)
        remaining -= len(chunk)
    if digest.hexdigest() != manifest.before_sha256:
        return False
    return container_is_as_written(file, archive, (names.MANIFEST, names.SIGNATURE))


def _without_list(file: BinaryIO) -> BundleProblem:
    """Return what is wrong with a bundle whose list of parts can't be read."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - _END_SEARCHED_BYTES))
    if _END_OF_LIST in file.read():
        return BundleProblem("changed", "", "the list of parts at the end of the file was changed")
    text = f"the end of the file is cut off: {size:,} bytes are left, without the manifest"
    return BundleProblem("cut_off", "", text)


def _refusal(infos: list[zipfile.ZipInfo], size: int) -> BundleProblem | None:
    """Return why the parts of a zip file of so many bytes are not even looked at."""
    if len(infos) > _MAX_PARTS:
        return BundleProblem("refused", "", f"it lists {len(infos):,} parts, more than any bundle has")
    if sum(info.compress_size for info in infos) > size:
        return BundleProblem("refused", "", "its parts lie over one another: they are longer than the file")
    seen: set[str] = set()
    for info in infos:
        name = info.filename
        if name in seen:
            return BundleProblem("refused", name, f"it has two parts with the name {name}")
        seen.add(name)
        if name not in {names.MANIFEST, names.SIGNATURE} and not PART_NAME.fullmatch(name):
            return BundleProblem("refused", "", f"it has a part with the name {name!a}, which no bundle has")
    return None
