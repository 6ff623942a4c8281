"""A store whose file is deleted or replaced under the program that plays into it: nothing is lost, or it is told."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from played_table import Table
from stored_entries import GAME, entries

from downfield.core.errors import InputError, OutputError
from downfield.game.records.owner import GameOwner
from downfield.officiating.declarations import SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.games.kept_games import RIG_KEY, open_rig_key, open_store
from downfield.store.database.reader import DeviceRow
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.writing.lease import FileLease, LeasedThing
from downfield.store.writing.store import Store

THING = LeasedThing("The folder", "use another.")


def delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def delete_file(path: Path) -> None:
    path.unlink()


def delete_files(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


@pytest.mark.parametrize("delete", [delete_folder, delete_file, delete_files])
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_deleted_store_is_written_again_whole(
    tmp_path: Path, delete: Callable[[Path], None], *, goes_on: bool
) -> None:
    path, made = tmp_path / "data" / "games.db", entries(450)
    store = Store.at(path)
    store.append(made[:300], GAME)
    store.keep_device(DeviceRow("d1", "Sam", "viewer", "a", 1, 2))
    delete(path)
    if goes_on:
        store.append(made[300:])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [device.name for device in store.devices()] == ["Sam"] or not goes_on
    store.close()
    with_it = Store.at(path)
    kept = list(with_it.entries(GAME.id))
    assert kept == (made if goes_on else made[:300])
    assert [device.name for device in with_it.devices()] == ["Sam"]
    with_it.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_another_file_in_its_place_is_told_and_nothing_goes_there(tmp_path: Path) -> None:
    path, aside = tmp_path / "games.db", tmp_path / "aside.db"
    other = Store.at(path)
    other.append(entries(2), GAME)
    other.close()
    path.rename(aside)
    store = Store.at(path)
    made = entries(5)
    store.append(made[:3], GAME)
    path.rename(tmp_path / "own.db")
    shutil.copy(aside, path)
    with pytest.raises(OutputError, match="another file was put in the place"):
        store.append(made[3:])
    assert path.read_bytes() == aside.read_bytes()
    (tmp_path / "own.db").replace(path)
    store.append(made[3:])
    assert list(store.entries(GAME.id)) == made
    store.close()


def test_where_it_can_not_be_written_again_entries_wait_until_it_can(tmp_path: Path) -> None:
    table = Table(tmp_path / "data" / "games.db")
    game = table.begin()
    table.declare(SetUp("home", 1, 34.0))
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "data").touch()  # a file where the folder was
    assert not table.declare(SetUp("home", 1, 35.0)).saved
    (tmp_path / "data").unlink()
    last = table.declare(SetUp("home", 1, 36.0))
    assert last.saved
    assert verify_journal(game, table.store.entries(game)).entries == last.seq
    table.close()


def test_a_rig_whose_data_folder_was_deleted_goes_on_with_its_games_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    settings = load(None, command_line={"data": str(folder)}).settings
    key = open_rig_key(folder, must_be_kept=True)
    store, owner = open_store(settings, tmp_path, key, live=True, table="attic")
    made = entries(4)
    store.append(made[:2], GAME)
    shutil.rmtree(folder)
    store.append(made[2:])
    with pytest.raises(InputError, match="in use by table 'attic'"):
        open_store(settings, tmp_path, key, live=True, table="attic")
    store.close()
    assert (folder / RIG_KEY).exists()
    again = open_rig_key(folder, must_be_kept=True)
    opened, same = open_store(settings, tmp_path, again, live=True, table="attic")
    assert same == owner == GameOwner(owner.rig, "attic")
    assert list(opened.entries(GAME.id)) == made
    opened.close()


def test_a_lease_whose_file_was_deleted_is_taken_again_unless_another_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "lock"
    first = FileLease(path, THING, "attic")
    first.renew()
    shutil.rmtree(path.parent)
    first.renew()
    with pytest.raises(InputError, match="The folder is in use by table 'attic'"):
        FileLease(path, THING, "hall")
    path.unlink()
    second = FileLease(path, THING, "hall")
    with pytest.raises(OutputError, match="The folder is in use by table 'hall'"):
        first.renew()
    second.close()
    first.renew()
    first.close()
