"""A store is read without a change to a byte of it or its folder, and a copy that lacks its newest entries says so."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from stored_entries import write_game
from typer.testing import CliRunner
from waiting import WAIT_S

from downfield.cli.main import app
from downfield.core.errors import DownfieldError, InputError
from downfield.rig.configuration.loading import load
from downfield.rig.upkeep.backup import make_backup
from downfield.store.database.opening import open_for_reading
from downfield.store.database.sqlite_file import WAL_ENTRIES
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.store import Store

GAME = "20260101-120000-abcd"

_KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from stored_entries import write_game
write_game(Path({path!r}), {count})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a game of five entries, whose program was killed before it closed the store."""
    folder = tmp_path_factory.mktemp("killed")
    program = _KILLED.format(tests=str(Path(__file__).parents[1]), path=str(folder / "a.db"), count=5)
    done = subprocess.run([sys.executable, "-c", program], timeout=WAIT_S, check=False)
    assert done.returncode == -signal.SIGKILL
    return folder


@contextmanager
def other_user() -> Iterator[None]:
    """Act as a user who owns nothing."""
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def intact_entries(named: str) -> tuple[int, str]:
    """Return how many entries of the game are intact, and the note."""
    with open_for_reading(named) as opened:
        found = verify_journal(GAME, opened.store.entries(GAME))
        assert found.problem == ""
        return found.entries, opened.note


def state_of(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return content, time and mode of all files of a folder, and its own time."""
    files = {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in folder.iterdir()}
    return files | {".": (b"", folder.stat().st_mtime_ns, folder.stat().st_mode)}


def closed(folder: Path, _: Path) -> None:
    write_game(folder / "a.db", 5).close()


def killed(folder: Path, left_behind: Path) -> None:
    shutil.copytree(left_behind, folder, dirs_exist_ok=True)


def killed_and_copied_without_shm(folder: Path, left_behind: Path) -> None:
    killed(folder, left_behind)
    (folder / "a.db-shm").unlink()


@pytest.mark.parametrize("made", [closed, killed, killed_and_copied_without_shm])
def test_reading_changes_no_byte_and_no_time(made: object, left_behind: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd name %41?#é"
    folder.mkdir()
    assert callable(made)
    made(folder, left_behind)
    before = state_of(folder)
    assert intact_entries(str(folder / "a.db")) == (5, "")
    assert state_of(folder) == before


def test_a_store_in_use_is_read_to_its_newest_entry(tmp_path: Path) -> None:
    reader = [sys.executable, "-m", "downfield", "verify", str(tmp_path / "a.db")]
    store = write_game(tmp_path / "a.db", 5)
    done = subprocess.run(reader, capture_output=True, text=True, timeout=WAIT_S, check=False)
    store.close()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{GAME}: 5 entries, unaltered")


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is made by root")
@pytest.mark.parametrize("made", [closed, killed])
def test_a_folder_that_may_not_be_written_is_read(made: object, left_behind: Path, tmp_path: Path) -> None:
    assert callable(made)
    made(tmp_path, left_behind)
    with open_for_reading(str(tmp_path / "a.db")):
        pass  # what is imported late is imported as root
    with tempfile.TemporaryDirectory() as folder:
        for path in tmp_path.iterdir():
            shutil.copy(path, folder)
            (Path(folder) / path.name).chmod(0o444)
        Path(folder).chmod(0o555)
        with other_user():
            assert intact_entries(str(Path(folder) / "a.db")) == (5, "")


@pytest.mark.parametrize("count", [1, WAL_ENTRIES - 1, WAL_ENTRIES, 2 * WAL_ENTRIES + 7])
def test_a_copy_without_its_wal_says_how_much_may_be_missing(count: int, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    store = write_game(tmp_path / "a.db", count)
    shutil.copy(tmp_path / "a.db", tmp_path / "copy")
    store.close()
    kept, note = intact_entries(str(tmp_path / "copy" / "a.db"))
    assert f"a copy without its WAL, the file a.db-wal: up to {WAL_ENTRIES} entries may be missing" in note
    assert count - kept <= WAL_ENTRIES
    assert intact_entries(str(tmp_path / "a.db")) == (count, "")


def test_a_store_that_another_program_closed_first_is_still_marked(tmp_path: Path) -> None:
    first = write_game(tmp_path / "a.db", 2)
    second = Store.at(tmp_path / "a.db")
    second.keep_team("t", "{}", 0)
    second.close()
    first.keep_team("u", "{}", 0)
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "a.db", tmp_path / "copy")
    first.close()
    assert "a copy without its WAL" in intact_entries(str(tmp_path / "copy" / "a.db"))[1]


@pytest.mark.parametrize("wal", [b"not a WAL at all, but long enough to hold a header of one", b"\x37"])
def test_a_file_that_is_no_wal_is_told_and_left_out(wal: bytes, tmp_path: Path) -> None:
    write_game(tmp_path / "a.db", 5).close()
    (tmp_path / "a.db-wal").write_bytes(wal)
    assert intact_entries(str(tmp_path / "a.db"))[0] == 5
    assert "a.db-wal beside it is not its WAL" in intact_entries(str(tmp_path / "a.db"))[1]


def test_the_wal_of_another_store_is_told_and_left_out(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    write_game(tmp_path / "a" / "a.db", 150).close()
    other = write_game(tmp_path / "b" / "b.db", 120, word="other")
    shutil.copy(tmp_path / "b" / "b.db-wal", tmp_path / "a" / "a.db-wal")
    other.close()
    entries, note = intact_entries(str(tmp_path / "a" / "a.db"))
    assert entries == 150
    assert "that of another database" in note


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"this is a sentence, not a database" * 10, "is not a database"),
        (b"SQLite format 3\0", "is cut off: 16 bytes"),
    ],
)
def test_a_file_that_is_no_store_is_one_line(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(InputError, match=says) as error, open_for_reading(str(tmp_path / "a.db")):
        pass
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "a.db"))


def test_a_database_of_something_else_is_one_line(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE recipes (id TEXT)")
    connection.close()
    with pytest.raises(InputError, match="no store of Downfield's"), open_for_reading(str(tmp_path / "a.db")):
        pass


def test_folders_pipes_and_devices_are_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for named, says in ((tmp_path, "is a folder"), (tmp_path / "pipe", "no regular file"), ("/dev/zero", "no regular")):
        with pytest.raises(InputError, match=says), open_for_reading(str(named)):
            pass


@pytest.mark.parametrize("part", range(1, 12))
def test_a_store_cut_anywhere_is_one_line(part: int, tmp_path: Path) -> None:
    write_game(tmp_path / "a.db", 60).close()
    whole = (tmp_path / "a.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) * part // 12])
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "cut.db")])
    assert isinstance(done.exception, DownfieldError), done.output
    assert "\n" not in str(done.exception)


def test_a_store_of_a_newer_version_is_not_read(tmp_path: Path) -> None:
    write_game(tmp_path / "a.db", 1).close()
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("INSERT INTO schema_versions VALUES (99, 0)")
    connection.close()
    with pytest.raises(InputError, match="a newer Downfield"), open_for_reading(str(tmp_path / "a.db")):
        pass


def test_a_backup_of_a_store_in_use_is_whole_without_a_wal(tmp_path: Path) -> None:
    store = write_game(tmp_path / "data" / "downfield.db", 5)
    settings = load(environment={}, command_line={"data": str(tmp_path / "data")}).settings
    make_backup(settings, None, tmp_path / "backup.zip", recordings=False, progress=lambda _: None)
    store.close()
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        archive.extract("downfield.db", tmp_path)
    assert intact_entries(str(tmp_path / "downfield.db")) == (5, "")
