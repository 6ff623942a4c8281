"""A bundle's check: intact as written, and every alteration is told apart and named."""

from __future__ import annotations

import copy
import io
import json
import os
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bundled_games import FOREIGN_KEY, KEY, PlayedGame, bundle_of, played_game, written_anew

from downfield.core.errors import InputError
from downfield.review.bundles import format as names
from downfield.review.bundles.verification import BundleVerification, is_bundle, other_zip_hint, verify_bundle

Parts = dict[str, bytes]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> PlayedGame:
    return played_game(tmp_path_factory.mktemp("game"))


@pytest.fixture(scope="module")
def bundle(game: PlayedGame) -> bytes:
    return bundle_of(game)


def verified(tmp_path: Path, content: bytes) -> BundleVerification:
    path = tmp_path / "game.zip"
    path.write_bytes(content)
    return verify_bundle(path)


def faults(found: BundleVerification) -> set[tuple[str, str]]:
    return {(problem.fault, problem.part) for problem in found.problems}


def test_a_bundle_is_intact_and_holds_everything(tmp_path: Path, game: PlayedGame, bundle: bytes) -> None:
    found = verified(tmp_path, bundle)
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.row == game.row
    assert found.manifest.public_key == KEY.public_text
    assert [part.name for part in found.manifest.parts] == [
        names.ABOUT,
        names.REPORT,
        names.JOURNAL,
        names.TRACKS,
        names.EVENTS,
        names.CALLS,
        names.RULEBOOK,
        names.CALIBRATION,
        names.CERTIFICATE,
        names.CONFIGURATION,
        "recording/000001-20270105-180000/0001.mkv",
        "recording/000001-20270105-180000/0001.frames.jsonl",
    ]
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        assert archive.testzip() is None
        assert "tackled by light 50" in archive.read(names.REPORT).decode()
        assert not any(name.startswith("/") or ".." in name for name in archive.namelist())


PARTS = [
    names.ABOUT,
    names.REPORT,
    names.JOURNAL,
    names.TRACKS,
    names.EVENTS,
    names.CALLS,
    names.RULEBOOK,
    names.CALIBRATION,
    names.CERTIFICATE,
    names.CONFIGURATION,
    "recording/000001-20270105-180000/0001.mkv",
    "recording/000001-20270105-180000/0001.frames.jsonl",
    names.MANIFEST,
    names.SIGNATURE,
]


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("place", [0.0, 0.5, 0.9])
def test_a_flipped_byte_in_a_part_names_the_part(tmp_path: Path, bundle: bytes, name: str, place: float) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        info = archive.getinfo(name)
    start = info.header_offset + len(info.FileHeader(zip64=True))
    altered = bytearray(bundle)
    altered[start + int(place * (info.compress_size - 1))] ^= 0x10
    found = verified(tmp_path, bytes(altered))
    assert not found.intact
    assert name in {problem.part for problem in found.problems}


def test_any_flipped_bit_anywhere_is_told(tmp_path: Path, bundle: bytes) -> None:
    chance = random.Random(1)
    around = [place for place in range(len(bundle)) if place > len(bundle) - 1500 or place < 60]
    for place in chance.sample(around, 200) + chance.sample(range(len(bundle)), 40):
        altered = bytearray(bundle)
        altered[place] ^= 1 << chance.randrange(8)
        assert not verified(tmp_path, bytes(altered)).intact, place


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_bundle_packed_anew_in_another_way_and_damaged_is_told_without_a_crash(
    tmp_path: Path, bundle: bytes, method: int
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive, zipfile.ZipFile(out, "w", method) as packed:
        for name in archive.namelist():
            packed.writestr(name, archive.read(name))
    chance = random.Random(2)
    for place in chance.sample(range(len(out.getvalue())), 30):
        altered = bytearray(out.getvalue())
        altered[place] ^= 1 << chance.randrange(8)
        assert not verified(tmp_path, bytes(altered)).intact, place


@pytest.mark.parametrize("name", PARTS)
def test_a_removed_part_is_told_as_missing(tmp_path: Path, bundle: bytes, name: str) -> None:
    found = verified(tmp_path, written_anew(bundle, lambda parts: parts.pop(name)))
    assert ("missing", name) in faults(found)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9, 0.999])
def test_a_cut_end_is_told_as_cut_off(tmp_path: Path, bundle: bytes, share: float) -> None:
    found = verified(tmp_path, bundle[: int(share * len(bundle))])
    assert faults(found) == {("cut_off", "")}


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Parts], object]:
    def apply(parts: Parts) -> None:
        parts[names.JOURNAL] = b"".join(change(parts[names.JOURNAL].splitlines(keepends=True)))

    return apply


def _reordered(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def _other_content(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b"operator", b"somebody"), *lines[2:]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_lines(lambda lines: lines[:-2]), "the journal was cut off"),
        (_lines(_reordered), "Entry 2 is missing; entry 3 follows"),
        (_lines(_other_content), "Entry 2 .* was altered"),
        (_lines(lambda lines: [*lines[:-1], lines[-1][:40]]), "can't be read to its end"),
        (_lines(lambda lines: [*lines, lines[-1]]), "Entry .* is missing"),
        (_lines(lambda lines: [line.replace(b'"game":"', b'"game":"x') for line in lines]), "is of another game, 'x"),
    ],
)
def test_a_journal_that_was_cut_reordered_or_edited_is_told(
    tmp_path: Path, bundle: bytes, change: Callable[[Parts], object], told: str
) -> None:
    found = verified(tmp_path, written_anew(bundle, change))
    assert ("changed", names.JOURNAL) in faults(found)
    assert any(re.search(told, problem.text) for problem in found.problems)


def test_a_bundle_signed_anew_with_another_key_bears_that_key(tmp_path: Path, game: PlayedGame) -> None:
    found = verified(tmp_path, bundle_of(game, FOREIGN_KEY))
    assert found.intact
    assert found.manifest is not None
    assert found.manifest.public_key == FOREIGN_KEY.public_text != KEY.public_text


def test_another_key_written_into_the_manifest_does_not_pass(tmp_path: Path, bundle: bytes) -> None:
    def change(parts: Parts) -> None:
        manifest = parts[names.MANIFEST].replace(KEY.public_text.encode(), FOREIGN_KEY.public_text.encode())
        parts[names.MANIFEST] = manifest

    found = verified(tmp_path, written_anew(bundle, change))
    assert not found.signed
    assert ("changed", names.MANIFEST) in faults(found)


def test_an_added_part_and_a_zip_written_anew_are_told(tmp_path: Path, bundle: bytes) -> None:
    added = "recording/000001-20270105-180000/0002.mkv"
    found = verified(tmp_path, written_anew(bundle, lambda parts: parts.update({added: b"x"})))
    assert ("added", added) in faults(found)
    anew = verified(tmp_path, written_anew(bundle, dict))
    assert [problem.text for problem in anew.problems] == [
        "the zip file around the parts was changed, or written anew by another program; every part is as signed"
    ]


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "C:\\evil", "recording/../../evil", "a\nb", "ABOUT.txt/", "r\u00e9port.html", "x" * 300],
)
def test_odd_names_are_refused(tmp_path: Path, bundle: bytes, name: str) -> None:
    found = verified(tmp_path, written_anew(bundle, lambda parts: parts.update({name: b"x"})))
    assert [problem.fault for problem in found.problems] == ["refused"]
    assert "\n" not in found.problems[0].text


def test_two_parts_of_one_name_are_refused(tmp_path: Path, bundle: bytes) -> None:
    out = io.BytesIO(bundle)
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(names.REPORT, b"another")
    assert [problem.fault for problem in verified(tmp_path, out.getvalue()).problems] == ["refused"]


def test_a_zip_bomb_is_refused_unread(tmp_path: Path, bundle: bytes) -> None:
    bomb = bytes(8 << 20)

    def change(parts: Parts) -> None:
        manifest = json.loads(parts[names.MANIFEST])
        for part in manifest["parts"]:
            if part["name"] == names.TRACKS:
                part["size"] = len(bomb)
        parts[names.MANIFEST] = json.dumps(manifest).encode()
        parts[names.TRACKS] = bomb

    assert ("refused", names.TRACKS) in faults(verified(tmp_path, written_anew(bundle, change)))


def test_a_journal_that_is_a_zip_bomb_is_refused_unread(tmp_path: Path, bundle: bytes) -> None:
    bomb = bytes(8 << 20)

    def grow(parts: Parts) -> None:
        manifest = json.loads(parts[names.MANIFEST])
        next(part for part in manifest["parts"] if part["name"] == names.JOURNAL)["size"] = len(bomb)
        parts |= {names.MANIFEST: json.dumps(manifest).encode(), names.JOURNAL: bomb}

    def add(parts: Parts) -> None:
        manifest = json.loads(parts[names.MANIFEST])
        manifest["parts"] = [part for part in manifest["parts"] if part["name"] != names.JOURNAL]
        parts |= {names.MANIFEST: json.dumps(manifest).encode(), names.JOURNAL: bomb}

    for change, fault in ((grow, "refused"), (add, "added")):
        found = verified(tmp_path, written_anew(bundle, change))
        assert [one for one, part in faults(found) if part == names.JOURNAL] == [fault]
        assert bool(found.refused) == (fault == "refused")


def test_parts_that_lie_over_one_another_are_refused_unread(tmp_path: Path, bundle: bytes) -> None:
    out = io.BytesIO(bundle)
    with zipfile.ZipFile(out, "a") as archive:
        (first,) = [info for info in archive.infolist() if info.filename == names.TRACKS]
        for number in range(1, 60):
            twin = copy.copy(first)
            twin.filename = twin.orig_filename = f"recording/000001-20270105-180000/{number:04d}.mkv"
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
        archive.comment = b""  # writes the list anew
    found = verified(tmp_path, out.getvalue())
    assert found.refused == "its parts lie over one another: they are longer than the file"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello", b"SQLite format 3\0" + bytes(100)])
def test_what_is_no_bundle_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    assert not is_bundle(path)
    with pytest.raises(InputError, match="is not a bundle of a game"):
        verify_bundle(path)


def test_another_zip_a_folder_and_a_pipe_are_no_bundles(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert not is_bundle(tmp_path / "other.zip")
    assert other_zip_hint(tmp_path / "other.zip").endswith("unpack it first.")  # a bundle may lie inside
    for content, said in ((b"", "It is empty"), (b"hello", "It is named like a zip file and is none")):
        (tmp_path / "named.ZIP").write_bytes(content)
        assert other_zip_hint(tmp_path / "named.ZIP") == f"{said}: ask for the file again."
    assert other_zip_hint(tmp_path) == other_zip_hint(tmp_path / "none.zip") == ""
    assert not is_bundle(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert not is_bundle(tmp_path / "pipe")  # and does not wait for a writer
