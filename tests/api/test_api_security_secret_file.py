"""The admin key: a file for its owner, read again when it was replaced."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from downfield.api.security.secret_file import SecretFile
from downfield.core.errors import InputError


def test_a_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "data" / "admin.key"
    with ThreadPoolExecutor(8) as pool:
        made = {key.text for key in pool.map(lambda _: SecretFile(path), range(8))}
    assert len(made) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert SecretFile(path).matches(f" {made.pop()}\n")


def test_a_key_renewed_by_another_process_ends_what_the_old_one_opened(tmp_path: Path) -> None:
    running, command = SecretFile(tmp_path / "admin.key"), SecretFile(tmp_path / "admin.key")
    old, session = running.text, running.session()
    assert running.is_session(session)
    new = command.renew()
    assert running.matches(new)
    assert not running.matches(old)
    assert not running.is_session(session)


@pytest.mark.parametrize("wrong", ["", "x", "ключ", "\ud800", "a" * 10_000])
def test_anything_else_is_refused(tmp_path: Path, wrong: str) -> None:
    key = SecretFile(tmp_path / "admin.key")
    assert not key.matches(wrong)
    assert not key.is_session(wrong)


@pytest.mark.parametrize("damage", [b"", b"short", b"\xff\xfe" * 20])
def test_a_damaged_file_is_named_at_the_start(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "admin.key").write_bytes(damage)
    with pytest.raises(InputError, match=r"admin\.key can't be read or holds no key"):
        SecretFile(tmp_path / "admin.key")


def test_a_file_that_is_lost_or_damaged_meanwhile_leaves_the_key_as_it_is(tmp_path: Path) -> None:
    key = SecretFile(tmp_path / "admin.key")
    text = key.text
    (tmp_path / "admin.key").write_bytes(b"")
    assert key.text == text
    (tmp_path / "admin.key").unlink()
    assert key.matches(text)
