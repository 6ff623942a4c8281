"""The program of sixty lines that checks a bundle without Downfield finds what `downfield verify` finds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bundled_games import FOREIGN_KEY, KEY, bundle_of, played_game, written_anew
from waiting import WAIT_S

from downfield.review.bundles import format as names

PROGRAM = Path(__file__).parents[2] / "docs" / "verify_bundle.py"


def checked(path: Path, *key: str) -> tuple[int, str]:
    command = [sys.executable, "-I", str(PROGRAM), str(path), *key]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    return done.returncode, done.stdout + done.stderr


def test_it_needs_nothing_of_downfield_and_few_lines() -> None:
    program = PROGRAM.read_text()
    assert not re.search(r"^(from|import) downfield", program, re.MULTILINE)
    assert len(program.splitlines()) <= 65


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return bundle_of(played_game(tmp_path_factory.mktemp("game")))


def test_a_whole_bundle_passes_and_names_its_key(tmp_path: Path, bundle: bytes) -> None:
    path = tmp_path / "game.zip"
    path.write_bytes(bundle)
    status, said = checked(path, KEY.public_text)
    assert (status, KEY.public_text in said) == (0, True), said
    assert checked(path, FOREIGN_KEY.public_text)[0] == 1


@pytest.mark.parametrize("part", [names.JOURNAL, names.CALLS])
def test_a_changed_part_is_told(tmp_path: Path, bundle: bytes, part: str) -> None:
    path = tmp_path / "game.zip"
    path.write_bytes(written_anew(bundle, lambda parts: parts.update({part: parts[part].replace(b"a", b"b", 1)})))
    status, said = checked(path)
    assert status == 1
    assert f"{part}: was changed" in said or "journal.jsonl" in said or "is not as it was signed" in said


def test_a_changed_manifest_is_told(tmp_path: Path, bundle: bytes) -> None:
    path = tmp_path / "game.zip"
    path.write_bytes(bundle.replace(b'"entries":', b'"entries": ', 1))
    assert checked(path)[0] == 1
