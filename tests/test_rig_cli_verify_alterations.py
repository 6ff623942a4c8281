"""`downfield verify` names every alteration of what a rig left behind: its store, its recordings and its heads."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from played_table import PLAY, RIVER, RUNNER
from scripted_plays import FIELD, opening
from served_games import FakeRig
from test_rig_recording_recorder import MJPEG, captured_frame
from typer.testing import CliRunner

from downfield.api.feed.hub import Hub
from downfield.api.security.tokens import TokenStore
from downfield.game.commands import NewGame, Settings
from downfield.game.hash_chain import GENESIS, digest_of
from downfield.game.heads import HeadsFile
from downfield.game.owner import GameOwner, rig_id
from downfield.game.receipts import Submission
from downfield.game.service import GameService
from downfield.game.signed_list import SignedList
from downfield.game.signing import RigKey
from downfield.game.store import Store
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.cli.main import app
from downfield.rig.configuration.settings import RecordingSettings
from downfield.rig.live.rig_health import ActiveProblems
from downfield.rig.recording.recorder import Recorder
from downfield.rig.table_seals import TableSeals

KEY = RigKey.generate()
OWNER = GameOwner(rig_id(KEY.public_text), "attic")


@dataclass(frozen=True)
class Copy:
    """A copy of all that a rig left behind, to be altered."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "games.db"

    @property
    def heads(self) -> Path:
        return self.folder / "heads.jsonl"

    @property
    def recordings(self) -> Path:
        return self.folder / "recordings"

    def execute(self, *statements: str) -> None:
        connection = sqlite3.connect(self.store)
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def games(self) -> list[str]:
        connection = sqlite3.connect(self.store)
        found = [row[0] for row in connection.execute("SELECT id FROM games ORDER BY number")]
        connection.close()
        return found

    def seal_again(self, game: str) -> None:
        """Make the hash chain of a game valid for what its entries are now."""
        connection = sqlite3.connect(self.store)
        previous = GENESIS
        with connection:
            rows = connection.execute("SELECT * FROM entries WHERE game = ? ORDER BY seq", (game,)).fetchall()
            for _, seq, kind, at_ns, key, content, attachment, _ in rows:
                previous = digest_of(previous, game, seq, kind, at_ns, key, content, attachment)
                connection.execute("UPDATE entries SET digest = ? WHERE game = ? AND seq = ?", (previous, game, seq))
        connection.close()

    def video(self, number: int, ending: str = ".mkv") -> Path:
        return next(self.recordings.rglob(f"{number:04d}{ending}"))

    def verify(self, *, heads: bool = True) -> tuple[int, str]:
        """Return the exit status and all that is said."""
        command = ["verify", str(self.store), "--recordings", str(self.recordings)]
        done = CliRunner().invoke(app, [*command, *(["--heads", str(self.heads)] if heads else [])])
        return done.exit_code, done.output


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Two games with a recording and two paired phones; an older copy of the store is kept beside."""
    made = Copy(tmp_path_factory.mktemp("rig"))
    store, now_ns = Store.at(made.store), [0]
    store.keep_list(SignedList(KEY))
    store.keep_heads(HeadsFile(made.heads, KEY))
    service = GameService(
        store, Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock=lambda: now_ns[0], owner=OWNER
    )
    service.start_game(NewGame(title="semi-final", home=RIVER), PLAY.players)
    seals = TableSeals()
    seals.begin(service, lambda: None, Settings(version="1", values={}, origins={}), None)
    tokens = TokenStore(store, on_changed=service.note)
    for name in ("Sam", "Ann"):
        tokens.redeem(tokens.make_code("viewer").code, name)
    recorder = Recorder(
        made.recordings, RecordingSettings(segment_s=1.0), lambda: MJPEG, ActiveProblems(), finished=seals.seal
    )
    recorder.record(True)
    for index in range(120):
        recorder.frame_captured(captured_frame(index))
    seals.finish(recorder)
    waiting = list(opening(PLAY, RUNNER))
    for scene in PLAY.scenes:
        now_ns[0] = scene.t_ns
        while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
            service.declare(waiting.pop(0)[1], Submission())
        service.take(scene)
    service.start_game(NewGame(title="final", home=RIVER))
    service.close()
    store.close()
    shutil.copy(made.store, made.folder / "older.db")
    store = Store.at(made.store)
    store.keep_list(SignedList(KEY))
    store.keep_heads(HeadsFile(made.heads, KEY))
    service = GameService(
        store, Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock=lambda: now_ns[0], owner=OWNER
    )
    service.resume()
    service.start_game(NewGame(title="third place", home=RIVER))
    service.close()
    store.close()
    assert made.verify()[0] == 0, made.verify()[1]
    return made


@pytest.fixture
def altered(original: Copy, tmp_path: Path) -> Copy:
    shutil.copytree(original.folder, tmp_path / "copy")
    return Copy(tmp_path / "copy")


def cut_the_end(copy: Copy) -> None:
    copy.execute(f"DELETE FROM entries WHERE game = '{copy.games()[0]}' AND seq > 5")


def delete_a_game(copy: Copy) -> None:
    game = copy.games()[1]
    copy.execute(f"DELETE FROM entries WHERE game = '{game}'", f"DELETE FROM games WHERE id = '{game}'")


def delete_a_row(copy: Copy) -> None:
    copy.execute(f"DELETE FROM games WHERE id = '{copy.games()[1]}'")


def delete_a_journal(copy: Copy) -> None:
    copy.execute(f"DELETE FROM entries WHERE game = '{copy.games()[1]}'")


def seal_all_again(copy: Copy) -> None:
    copy.execute("UPDATE entries SET content = replace(content, '\"home\"', '\"away\"') WHERE kind = 'event_recorded'")
    for game in copy.games():
        copy.seal_again(game)


def sign_with_another_key(copy: Copy) -> None:
    """Seal everything again, and sign other heads for it."""
    seal_all_again(copy)
    copy.heads.unlink()
    store = Store.at(copy.store)
    file = HeadsFile(copy.heads, RigKey.generate())
    for row in reversed(store.games()):
        last = store.last_entry(row.id)
        assert last is not None
        file.note_entry(row, last)
    file.close()
    store.close()


def put_an_older_copy_back(copy: Copy) -> None:
    shutil.copy(copy.folder / "older.db", copy.store)


def edit_an_entry(copy: Copy) -> None:
    copy.execute("UPDATE entries SET content = replace(content, ':', ': ') WHERE seq = 3")


def edit_scenes(copy: Copy) -> None:
    copy.execute("UPDATE entries SET attachment = x'00' WHERE attachment IS NOT NULL")


def edit_a_time(copy: Copy) -> None:
    copy.execute("UPDATE entries SET at_ns = at_ns + 1 WHERE seq = 2")


def rename_a_kind(copy: Copy) -> None:
    copy.execute("UPDATE entries SET kind = 'game_ended' WHERE seq = 2")


def reorder(copy: Copy) -> None:
    game = copy.games()[0]
    for now, then in ((3, 1003), (4, 3), (1003, 4)):
        copy.execute(f"UPDATE entries SET seq = {then} WHERE game = '{game}' AND seq = {now}")


def leave_a_gap(copy: Copy) -> None:
    copy.execute(f"DELETE FROM entries WHERE game = '{copy.games()[0]}' AND seq = 3")


def move_an_entry(copy: Copy) -> None:
    first, _, third = copy.games()
    copy.execute(f"UPDATE entries SET game = '{third}', seq = 99, key = NULL WHERE game = '{first}' AND seq = 3")


def swap_journals(copy: Copy) -> None:
    first, second, _ = copy.games()
    for now, then in ((first, "x"), (second, first), ("x", second)):
        copy.execute(f"UPDATE entries SET game = '{then}' WHERE game = '{now}'")


def rename_a_game(copy: Copy) -> None:
    copy.execute(f"UPDATE games SET id = '20200101-000000-00000000' WHERE id = '{copy.games()[1]}'")


def move_a_game_in_time(copy: Copy) -> None:
    copy.execute(f"UPDATE games SET began_ns = began_ns - 86400000000000 WHERE id = '{copy.games()[0]}'")


def move_a_game_to_another_table(copy: Copy) -> None:
    copy.execute(f"UPDATE games SET table_name = 'hall', owner = 'hhhhhhhhhhhhhhhh' WHERE id = '{copy.games()[0]}'")


def swap_videos(copy: Copy) -> None:
    first, second, other = copy.video(1), copy.video(2), copy.folder / "other"
    shutil.move(first, other)
    shutil.move(second, first)
    shutil.move(other, second)


def edit_heads(copy: Copy) -> None:
    copy.heads.write_text(copy.heads.read_text().replace('"closed":false', '"closed":true', 1))


def cut_heads(copy: Copy) -> None:
    """Take out a line from the middle."""
    lines = copy.heads.read_text().splitlines(keepends=True)
    copy.heads.write_text("".join(lines[:1] + lines[2:]))


def set_row(column: str, value: str) -> Callable[[Copy], None]:
    return lambda copy: copy.execute(f"UPDATE games SET {column} = '{value}' WHERE id = '{copy.games()[0]}'")


def on_devices(statement: str) -> Callable[[Copy], None]:
    return lambda copy: copy.execute(statement)


ADDED_DEVICE = "INSERT INTO devices VALUES ('d9', 'Eve', 'admin', 'b', 1, 9000000000000000000)"

ALTERATIONS: dict[str, tuple[Callable[[Copy], object], str, str]] = {
    # name: alteration, what is said with heads, what is said without; empty where only heads tell
    "the end cut off": (cut_the_end, "cut off", "cut off"),
    "a game deleted": (delete_a_game, "the game is missing", "the game is missing, which its rig has listed"),
    "a game deleted from the list": (delete_a_row, "not in the list of games", "not in the list of games"),
    "a journal deleted": (delete_a_journal, "has no journal", "has no journal"),
    "all sealed again": (seal_all_again, "sealed again", "sealed again"),
    "all sealed again and signed by another": (sign_with_another_key, "signed by another rig", "sealed again"),
    "an older copy put back": (put_an_older_copy_back, "missing", ""),
    "an entry edited": (edit_an_entry, "was altered", "was altered"),
    "scenes edited": (edit_scenes, "was altered", "was altered"),
    "a time edited": (edit_a_time, "was altered", "was altered"),
    "an entry's kind edited": (rename_a_kind, "was altered", "was altered"),
    "entries reordered": (reorder, "was altered", "was altered"),
    "an entry taken out": (leave_a_gap, "Entry 3 is missing", "Entry 3 is missing"),
    "an entry moved to another game": (move_an_entry, "is missing", "is missing"),
    "two journals swapped": (swap_journals, "was altered", "was altered"),
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
