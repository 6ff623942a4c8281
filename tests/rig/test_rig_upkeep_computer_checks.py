"""The doctor tries the store that games will be kept in, and leaves it as it was."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from downfield.rig.configuration.settings import RigSettings
from downfield.rig.upkeep.computer_checks import check_store
from downfield.store.writing.store import Store


def settings(**values: object) -> RigSettings:
    return RigSettings.model_validate(values)


def test_a_store_that_can_be_written_is_ok_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "downfield.db"
    Store.at(path).close()
    with sqlite3.connect(path) as before:
        tables = before.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
    before.close()
    for named in ({"data": str(tmp_path)}, {"store": {"url": f"sqlite:///{path}"}}):
        assert check_store(settings(**named)).state == "ok"
    with sqlite3.connect(path) as after:
        assert after.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall() == tables
    after.close()


def test_a_store_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    result = check_store(settings(data=str(tmp_path / "new")))
    assert (result.state, result.text) == ("ok", f"{tmp_path}/new/downfield.db is made with the first game")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["no database", "a folder", "under a file", "no server"])
def test_a_store_that_can_not_be_written_is_a_fault(tmp_path: Path, damage: str) -> None:
    url = f"sqlite:///{tmp_path}/downfield.db"
    if damage == "no database":
        (tmp_path / "downfield.db").write_bytes(b"no database" * 1000)
    elif damage == "a folder":
        (tmp_path / "downfield.db").mkdir()
    elif damage == "under a file":
        (tmp_path / "file").touch()
        url = f"sqlite:///{tmp_path}/file/downfield.db"
    else:
        url = "postgresql://coach:secret@127.0.0.1:9/games"
    result = check_store(settings(store={"url": url}))
    assert result.state == "fault"
    assert "secret" not in result.text
    assert result.remedy
