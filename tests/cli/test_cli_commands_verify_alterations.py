"""`downfield verify` names every alteration of what a rig left behind: its store, its recordings and its heads."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from altered_store import (
    KEY,
    OWNER,
    Copy,
    add_a_game,
    add_an_entry_before_the_first,
    cut_heads,
    cut_the_end,
    delete_a_game,
    delete_a_journal,
    delete_a_row,
    edit_a_time,
    edit_an_entry,
    edit_heads,
    edit_scenes,
    exchange_places,
    leave_a_gap,
    make_original,
    move_a_game_in_time,
    move_a_game_to_another_table,
    move_an_entry,
    on_devices,
    put_a_pipe_in_its_place,
    put_an_older_copy_back,
    rename_a_game,
    rename_a_kind,
    reorder,
    seal_all_again,
    seal_an_altered_video_by_another_rig,
    set_row,
    sign_nothing_with_another_key,
    sign_with_another_key,
    swap_journals,
    swap_rows,
    swap_videos,
)
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.errors import InputError
from downfield.game.records.owner import rig_id
from downfield.store import signed_lists
from downfield.store.database.reader import DeviceRow
from downfield.store.sealing.signed_list import SignedList
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return make_original(tmp_path_factory.mktemp("rig"))


@pytest.fixture
def altered(original: Copy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """A copy that no rig writes: what differs needs no second look later."""
    monkeypatch.setattr(signed_lists, "_BETWEEN_S", 0.0)
    shutil.copytree(original.folder, tmp_path / "copy")
    return Copy(tmp_path / "copy")


ADDED_DEVICE = "INSERT INTO devices VALUES ('d9', 'Eve', 'admin', 'b', 1, 9000000000000000000)"

ALTERATIONS: dict[str, tuple[Callable[[Copy], object], str, str]] = {
    # name: alteration, what is said with heads, what is said without; empty where only heads tell
    "the end cut off": (cut_the_end, "cut off", "cut off"),
    "a game deleted": (delete_a_game, "the game is missing", "the game is missing, which its rig has listed"),
    "a game deleted from the list": (delete_a_row, "not in the list of games", "not in the list of games"),
    "a journal deleted": (delete_a_journal, "has no journal", "has no journal"),
    "all sealed again": (seal_all_again, "sealed again", "sealed again"),
    "all sealed again and signed by another": (sign_with_another_key, "signed by another rig", "sealed again"),
    "all sealed again, heads of another put in place": (sign_nothing_with_another_key, "the store has no game", ""),
    "an older copy put back": (put_an_older_copy_back, "missing", ""),
    "an entry edited": (edit_an_entry, "was altered", "was altered"),
    "scenes edited": (edit_scenes, "was altered", "was altered"),
    "a time edited": (edit_a_time, "was altered", "was altered"),
    "an entry's kind edited": (rename_a_kind, "was altered", "was altered"),
    "entries reordered": (reorder, "was altered", "was altered"),
    "an entry added before the first": (add_an_entry_before_the_first, "Entry -3 was added", "Entry -3 was added"),
    "an entry taken out": (leave_a_gap, "Entry 3 is missing", "Entry 3 is missing"),
    "an entry moved to another game": (move_an_entry, "is missing", "is missing"),
    "two journals swapped": (swap_journals, "was altered", "was altered"),
    "a game of its rig added": (add_a_game(OWNER.rig), "never listed this game", "never listed this game"),
    "a game of nobody added": (add_a_game(""), "none has listed it", "none has listed it"),
    "the rows of two games swapped": (swap_rows, "owner was altered", "owner was altered"),
    "the order of games edited": (exchange_places, "place in the order of games", "place in the order of games"),
    "a trigger added": (
        on_devices("CREATE TRIGGER later AFTER INSERT ON entries BEGIN DELETE FROM devices; END"),
        "a trigger, 'later'",
        "a trigger, 'later'",
    ),
    "the signed list deleted": (on_devices("DELETE FROM signed_list"), "signs in the store is missing", ""),
    "a game renamed": (rename_a_game, "not in the list of games", "not in the list of games"),
    "a game's date edited": (move_a_game_in_time, "its date is listed as", "its date is listed as"),
    "a game moved to another table": (move_a_game_to_another_table, "owner was altered", "owner was altered"),
    "a title edited": (set_row("title", "friendly"), "its title is listed as 'friendly'", "its title is listed"),
    "a team edited": (set_row("away", "Lake"), "its away team is listed as 'Lake'", "its away team is listed"),
    "a rulebook edited": (set_row("rulebook", "efl"), "its rulebook is listed as 'efl'", "its rulebook is listed"),
    "a device added": (on_devices(ADDED_DEVICE), "paired devices was altered", "'Eve' was added by somebody else"),
    "a device removed": (
        on_devices("DELETE FROM devices WHERE name = 'Ann'"),
        "paired devices was altered",
        "'Ann' is missing, though no rig revoked it",
    ),
    "a device promoted": (
        on_devices("UPDATE devices SET role = 'admin' WHERE name = 'Sam'"),
        "it was paired as 'Sam', viewer",
        "it was paired as 'Sam', viewer",
    ),
    "a device renamed": (on_devices("UPDATE devices SET name = 'Eve' WHERE name = 'Sam'"), "'Eve'", "paired as 'Sam'"),
    "a video edited": (
        lambda copy: copy.video(1).write_bytes(copy.video(1).read_bytes()[:-1]),
        "0001.mkv: the file was altered",
        "0001.mkv: the file was altered",
    ),
    "two videos swapped": (swap_videos, "0002.mkv is in its place", "0001.mkv is in its place"),
    "a video deleted": (lambda copy: copy.video(3).unlink(), "0003.mkv: the file is missing", "the file is missing"),
    "a video's index edited": (
        lambda copy: copy.video(2, ".frames.jsonl").write_text("{}"),
        "0002.frames.jsonl: the file was altered",
        "0002.frames.jsonl: the file was altered",
    ),
    "an altered video sealed by another rig": (
        seal_an_altered_video_by_another_rig,
        "0001.mkv: the file was altered",
        "0001.mkv: the file was altered",
    ),
    "a calibration put beside a video": (
        lambda copy: copy.video(1, ".calibration.json").write_text("{}"),
        "was added after the recording was sealed",
        "was added after the recording was sealed",
    ),
    "a pipe in the place of a video": (put_a_pipe_in_its_place, "no regular file", "no regular file"),
    "a head edited": (edit_heads, "its signature is not that of its rig", ""),
    "a head taken out": (cut_heads, "a line before it is missing", ""),
}
NAMED = [pytest.param(*row, id=name) for name, row in ALTERATIONS.items()]


@pytest.mark.parametrize(("alter", "with_heads", "without"), NAMED)
def test_an_alteration_is_named(altered: Copy, alter: Callable[[Copy], object], with_heads: str, without: str) -> None:
    alter(altered)
    status, said = altered.verify()
    assert (status, with_heads in said) == (1, True), said
    status, said = altered.verify(heads=False)
    if without:
        assert (status, without in said) == (1, True), said
    else:
        assert status == 0, f"docs/rig.md says that only heads tell this: {said}"


def test_a_key_that_is_known_tells_heads_of_another(altered: Copy) -> None:
    sign_with_another_key(altered)
    arguments = ["verify", str(altered.store), "--heads", str(altered.heads), "--key", KEY.public_text]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert "signed with another key" in done.output


def test_one_game_is_compared_alone(altered: Copy) -> None:
    set_row("title", "friendly")(altered)
    first, second, _ = altered.games()
    for game, status in ((first, 1), (second, 0)):
        assert CliRunner().invoke(app, ["verify", str(altered.store), "--game", game]).exit_code == status


GAME_TABLES = (("entries", "game"), ("games", "id"))


@pytest.mark.parametrize("added", ["a game", "a device"])
def test_whoever_adds_by_a_rig_of_his_own_is_named_and_told_by_the_key_that_is_known(altered: Copy, added: str) -> None:
    key = RigKey.generate()
    stranger = rig_id(key.public_text)
    store = Store.at(altered.store)
    store.signed_list = SignedList(key)
    if added == "a game":
        add_a_game(stranger)(altered)
        row = store.games(limit=1)[0]
        entries = list(store.entries(row.id))
        altered.execute(*(f"DELETE FROM {table} WHERE '{row.id}' IN ({name})" for table, name in GAME_TABLES))
        store.append(entries, row)  # as a rig writes, so that it is in the stranger's own list
    store.keep_device(DeviceRow("d9", "Eve", "admin", "b", 1, 9 * 10**18))
    store.close()
    status, said = altered.verify(heads=False)
    signed = [line for line in said.splitlines() if line.startswith("rig ")]
    assert (status, len(signed)) == (0, 2), said
    assert f"rig {OWNER.rig} at attic: 3 games and 2 devices, signed with {KEY.public_text}" in signed
    command = ["verify", str(altered.store), "--key", KEY.public_text]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert f"are of rig {stranger}, whose key is none of those you named" in done.output
    assert CliRunner().invoke(app, [*command, "--key", key.public_text]).exit_code == 0


def test_a_malformed_entry_does_not_hide_what_else_was_altered(altered: Copy) -> None:
    altered.execute("UPDATE entries SET content = '{' WHERE seq = 2")
    altered.video(1).unlink()
    status, said = altered.verify(heads=False)
    assert (status, "Entry 2" in said) == (1, True), said


def test_heads_that_were_cut_off_are_shown_by_what_they_say_nothing_of(altered: Copy) -> None:
    lines = altered.heads.read_text().splitlines(keepends=True)
    first = altered.games()[0]
    kept = [number for number, line in enumerate(lines) if first in line]
    altered.heads.write_text("".join(lines[: kept[0] + 1]))
    status, said = altered.verify()
    assert (status, f"{first}: of its last" in said) == (1, True), said


@pytest.mark.parametrize("version", ["'abc'", "x'00'"])
def test_a_version_that_is_no_number_is_one_line(altered: Copy, version: str) -> None:
    altered.execute(
        "DROP TABLE schema_versions",
        "CREATE TABLE schema_versions (version, at_ns)",
        f"INSERT INTO schema_versions VALUES ({version}, 1)",
    )
    with pytest.raises(InputError, match="its version is no number"):
        CliRunner().invoke(app, ["verify", str(altered.store)], catch_exceptions=False)


def test_an_older_version_written_into_a_store_is_one_line_that_names_it(altered: Copy) -> None:
    altered.execute("UPDATE schema_versions SET version = 3")
    with pytest.raises(InputError, match=f"^{altered.store}: an older Downfield made this store"):
        CliRunner().invoke(app, ["verify", str(altered.store)], catch_exceptions=False)


def test_a_damaged_name_in_the_schema_is_one_line(altered: Copy) -> None:
    content = altered.store.read_bytes()
    at = content.index(b"sqlite_autoindex_devices_2")
    altered.store.write_bytes(content[: at + 1] + b"\xec" + content[at + 2 :])
    with pytest.raises(InputError, match="the names in its schema are damaged"):
        CliRunner().invoke(app, ["verify", str(altered.store)], catch_exceptions=False)
