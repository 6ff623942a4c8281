"""Backup and restore: the game goes on from a backup; a damaged backup changes nothing; nothing is ever deleted."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served_games import FakeRig
from typer.testing import CliRunner, Result

from downfield.cli.main import app
from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.field.model import preset
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.settings import RigSettings, StoreSettings
from downfield.rig.games.kept_games import leased_data_folder
from downfield.rig.upkeep.backup import make_backup, restore_backup
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.lease import FileLease, LeasedThing
from downfield.store.writing.store import Store

TEAMS = NewGame(home=TeamSheet(name="Ростов", short="РОС"), away=TeamSheet(name="Oakdale", short="OAK"))


def service(store: Store) -> GameService:
    return GameService(StoredJournals(store), Hub(), FakeRig(None), preset("ultimate"), load_rulebook("tap"))


def fill(folder: Path) -> str:
    """A data folder with a game, a key and a table; returns the game's id. The store is left open, as a rig has it."""
    store = Store.at(folder / "downfield.db")
    playing = service(store)
    playing.start_game(TEAMS)
    playing.declare(SetUp("home", 1, 41.0), Submission())
    game = playing.game_id
    playing.close()
    (folder / "admin.key").write_text("secret\n")
    (folder / "tables" / "attic").mkdir(parents=True)
    (folder / "tables" / "attic" / "table.json").write_text("{}")
    (folder / "recordings").mkdir()
    (folder / "recordings" / "one.mkv").write_bytes(b"frames" * 1000)
    return game


@pytest.mark.parametrize("now_s", [0.0, 3.0, 1e9, 2_000_000_000.0, 5_000_000_000.0])
def test_a_backup_is_made_under_any_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now_s: float) -> None:
    fill(tmp_path / "rig")
    os.utime(tmp_path / "rig" / "admin.key", (now_s, now_s))
    monkeypatch.setattr(time, "time", lambda: now_s)
    make_backup(at(tmp_path / "rig"), None, tmp_path / "backup.zip", recordings=True, progress=quiet)
    restored = restore_backup(tmp_path / "backup.zip", at(tmp_path / "new"), replace=False, progress=quiet)
    assert (restored.folder / "admin.key").read_text() == "secret\n"


def quiet(_: str) -> None:
    """Show nothing."""


def at(folder: Path) -> RigSettings:
    return RigSettings(data=str(folder))


def backed_up(folder: Path, output: Path, *, recordings: bool = False) -> Path:
    make_backup(at(folder), None, output, recordings=recordings, progress=quiet)
    return output


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_game_goes_on_from_a_backup_in_another_data_folder(tmp_path: Path) -> None:
    game = fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    restored = restore_backup(archive, at(tmp_path / "other"), replace=False, progress=quiet)
    assert restored.moved_aside is None
    resumed = service(Store.at(tmp_path / "other" / "downfield.db"))
    assert resumed.resume() == game
    assert "41" in resumed.text
    assert (tmp_path / "other" / "admin.key").read_text() == "secret\n"
    assert (tmp_path / "other" / "tables" / "attic" / "table.json").read_text() == "{}"
    assert not (tmp_path / "other" / "recordings").exists()
    assert (tmp_path / "other" / "admin.key").stat().st_mode & 0o077 == 0
    assert archive.stat().st_mode & 0o077 == 0


def test_recordings_come_along_when_asked(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip", recordings=True)
    restore_backup(archive, at(tmp_path / "other"), replace=False, progress=quiet)
    assert (tmp_path / "other" / "recordings" / "one.mkv").read_bytes() == b"frames" * 1000


def test_a_data_folder_in_use_is_kept_unless_replaced_and_then_moved_aside(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    (tmp_path / "rig" / "later").write_text("written after the backup")
    before = contents(tmp_path / "rig")
    with pytest.raises(InputError, match="in use already"):
        restore_backup(archive, at(tmp_path / "rig"), replace=False, progress=quiet)
    assert contents(tmp_path / "rig") == before
    restored = restore_backup(archive, at(tmp_path / "rig"), replace=True, progress=quiet)
    assert restored.moved_aside == tmp_path / "rig.before-restore-1"
    assert (restored.moved_aside / "later").exists()
    assert not (tmp_path / "rig" / "later").exists()
    assert (tmp_path / "rig" / "recordings" / "one.mkv").exists(), "recordings stay where the rig looks for them"
    again = restore_backup(archive, at(tmp_path / "rig"), replace=True, progress=quiet)
    assert again.moved_aside == tmp_path / "rig.before-restore-2"


def test_a_rig_that_runs_is_not_restored_under_its_feet(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    with leased_data_folder(at(tmp_path / "rig"), "Table 3"):
        before = contents(tmp_path / "rig")
        with pytest.raises(InputError, match="in use by table 'Table 3'"):
            restore_backup(archive, at(tmp_path / "rig"), replace=True, progress=quiet)
        assert contents(tmp_path / "rig") == before
    restore_backup(archive, at(tmp_path / "rig"), replace=True, progress=quiet)


def test_a_desk_that_runs_is_not_restored_under_its_feet_and_its_games_are_backed_up_whole(tmp_path: Path) -> None:
    folder = tmp_path / "rig"
    fill(folder)
    desk = folder / "desk"
    thing = LeasedThing("the desk", "stop it.")
    running = FileLease(desk / ".desk.lock", thing)
    with closing(sqlite3.connect(desk / "games.db")) as games:
        games.execute("PRAGMA journal_mode=WAL")
        games.execute("CREATE TABLE games (id TEXT)")
        games.execute("INSERT INTO games VALUES ('a game')")
        games.commit()
        archive = backed_up(folder, tmp_path / "a.zip")
    with pytest.raises(InputError, match="stop `downfield desk` before you restore"):
        restore_backup(archive, at(folder), replace=True, progress=quiet)
    running.close()
    restore_backup(archive, at(folder), replace=True, progress=quiet)
    with closing(sqlite3.connect(desk / "games.db")) as games:
        assert games.execute("SELECT id FROM games").fetchall() == [("a game",)]


def test_a_folder_that_holds_only_hidden_files_is_in_use_as_well(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    (tmp_path / "mine" / ".git").mkdir(parents=True)
    (tmp_path / "mine" / ".git" / "config").write_text("years of work")
    with pytest.raises(InputError, match="in use already"):
        restore_backup(archive, at(tmp_path / "mine"), replace=False, progress=quiet)
    assert (tmp_path / "mine" / ".git" / "config").read_text() == "years of work"


def test_a_folder_in_which_a_rig_has_only_left_its_lock_is_free(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    archive = backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    with leased_data_folder(at(tmp_path / "other"), "Table 3"):
        pass
    assert restore_backup(archive, at(tmp_path / "other"), replace=False, progress=quiet).moved_aside is None
    assert (tmp_path / "other" / "admin.key").exists()


def test_a_backup_kept_in_the_data_folder_does_not_hold_the_one_before(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    for _ in range(2):
        manifest = make_backup(at(tmp_path / "rig"), None, tmp_path / "rig" / "b.zip", recordings=False, progress=quiet)
    assert "b.zip" not in manifest.files


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "rig").mkdir()
    (folder / "rig" / "admin.key").write_text("secret\n")
    (folder / "rig" / "teams.json").write_text("{}" * 50)
    return backed_up(folder / "rig", folder / "rig.zip")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_backup_is_refused_whole_or_gives_what_was_backed_up(
    small: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    whole = small.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        damaged = whole[:place]
    else:
        damaged = whole[:place] + bytes([whole[place] ^ data.draw(st.integers(1, 255))]) + whole[place + 1 :]
    (folder / "damaged.zip").write_bytes(damaged)
    try:
        restore_backup(folder / "damaged.zip", at(folder / "data"), replace=False, progress=quiet)
    except DownfieldError:
        assert [path.name for path in folder.iterdir()] == ["damaged.zip"], "something was left behind"
    else:
        assert contents(folder / "data") == contents(small.parent / "rig")


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside", "C:\\outside", "c:outside"])
def test_a_file_outside_the_data_folder_is_refused(tmp_path: Path, name: str) -> None:
    manifest = {"format": "downfield-backup", "version": 1, "made_by": "0.2.0", "files": {name: "0" * 64}}
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr(name, "x")
        archive.writestr("manifest.json", json.dumps(manifest | {"store_left_out": False, "recordings": False}))
    with pytest.raises(FormatError, match="forbidden name"):
        restore_backup(tmp_path / "evil.zip", at(tmp_path / "data"), replace=False, progress=quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["evil.zip"]


def test_a_newer_backup_and_other_files_are_told_apart(tmp_path: Path) -> None:
    newer = {"format": "downfield-backup", "version": 2, "made_by": "9.0", "files": {}}
    with zipfile.ZipFile(tmp_path / "newer.zip", "w") as archive:
        archive.writestr("manifest.json", json.dumps(newer | {"store_left_out": False, "recordings": False}))
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("holiday.jpg", "x")
    (tmp_path / "text.zip").write_text("hello")
    for name, told in (
        ("newer.zip", "Downfield 9.0 made this backup"),
        ("photos.zip", "not a backup of Downfield"),
        ("text.zip", "not a backup"),
        ("gone.zip", "no such file"),
    ):
        with pytest.raises(InputError, match=told):
            restore_backup(tmp_path / name, at(tmp_path / "data"), replace=False, progress=quiet)


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_the_commands_say_what_is_in_it_and_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "rig")
    (tmp_path / "downfield.toml").write_text(f'data = "{tmp_path / "rig"}"\n')
    done = command("backup", "rig.zip")
    assert done.exit_code == 0, done.output
    assert "Recordings are not in it" in done.output
    done = command("restore", "rig.zip", "--set", f"data={tmp_path / 'other'}")
    assert done.exit_code == 0, done.output
    assert "configuration-of-backup.toml" in done.output
    assert (tmp_path / "other" / "configuration-of-backup.toml").read_text().startswith("data = ")


def test_a_store_on_a_server_is_said_to_be_left_out(tmp_path: Path) -> None:
    fill(tmp_path / "rig")
    elsewhere = RigSettings(data=str(tmp_path / "rig"), store=StoreSettings(url="postgresql://me@host/downfield"))
    manifest = make_backup(elsewhere, None, tmp_path / "rig.zip", recordings=False, progress=quiet)
    assert manifest.store_left_out
    assert "downfield.db" not in manifest.files


def test_an_empty_data_folder_is_nothing_to_back_up(tmp_path: Path) -> None:
    (tmp_path / "rig").mkdir()
    with pytest.raises(InputError, match="nothing to back up"):
        backed_up(tmp_path / "rig", tmp_path / "rig.zip")
    assert not (tmp_path / "rig.zip").exists()
