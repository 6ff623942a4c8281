"""What can be done to all that a rig left behind, its store, recordings and heads: copies that are altered."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from played_table import PLAY, RIVER, RUNNER
from recorded_frames import MJPEG, captured_frame
from scripted_plays import FIELD, opening
from served_games import FakeRig
from typer.testing import CliRunner

from downfield.api.security.tokens import TokenStore
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.recording.segment import seal_of
from downfield.cli.main import app
from downfield.core.records import to_json
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame, Settings
from downfield.game.records.entries import SegmentSealed
from downfield.game.records.keeping import EntryRow
from downfield.game.records.owner import GameOwner, rig_id
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.games.table_seals import TableSeals
from downfield.store.sealing.hash_chain import GENESIS, digest_of
from downfield.store.sealing.heads import HeadsFile
from downfield.store.sealing.signed_list import SignedList
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

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
            columns = "seq, kind, at_ns, key, content, attachment"
            rows = connection.execute(f"SELECT {columns} FROM entries WHERE game = ? ORDER BY seq", (game,)).fetchall()
            for seq, kind, at_ns, key, content, attachment in rows:
                previous = digest_of(previous, game, seq, kind, at_ns, key, content, attachment)
                connection.execute("UPDATE entries SET digest = ? WHERE game = ? AND seq = ?", (previous, game, seq))
        connection.close()

    def video(self, number: int, ending: str = ".mkv") -> Path:
        return next(self.recordings.rglob(f"{number:04d}.mkv")).with_suffix(ending)

    def verify(self, *, heads: bool = True) -> tuple[int, str]:
        """Return the exit status and all that is said."""
        command = ["verify", str(self.store), "--recordings", str(self.recordings)]
        done = CliRunner().invoke(app, [*command, *(["--heads", str(self.heads)] if heads else [])])
        return done.exit_code, done.output


def make_original(folder: Path) -> Copy:
    """Return what a rig left: three games, a recording and two phones; an older copy of the store is kept beside."""
    made = Copy(folder)
    store, now_ns = Store.at(made.store), [0]
    store.signed_list = SignedList(KEY)
    store.keep_heads(HeadsFile(made.heads, KEY))
    service = GameService(
        StoredJournals(store), Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock=lambda: now_ns[0], owner=OWNER
    )
    service.start_game(NewGame(title="semi-final", home=RIVER), PLAY.players)
    seals = TableSeals(service, lambda: None, Settings(version="1", values={}, origins={}), None)
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
    store.signed_list = SignedList(KEY)
    store.keep_heads(HeadsFile(made.heads, KEY))
    service = GameService(
        StoredJournals(store), Hub(), FakeRig(None), FIELD, load_rulebook("tap"), clock=lambda: now_ns[0], owner=OWNER
    )
    service.resume()
    service.start_game(NewGame(title="third place", home=RIVER))
    service.close()
    store.close()
    assert made.verify()[0] == 0, made.verify()[1]
    return made


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


def sign_nothing_with_another_key(copy: Copy) -> None:
    """Seal everything again, delete what was signed, and put heads of another rig in place, which name no game."""
    seal_all_again(copy)
    copy.execute("DELETE FROM signed_list")
    copy.heads.unlink()
    store, file = Store.at(copy.store), HeadsFile(copy.heads, RigKey.generate())
    file.note_devices(store.devices())
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


def add_a_game(owner: str) -> Callable[[Copy], None]:
    """Add a game with a hash chain of its own: the first entry of another one, sealed for it."""

    def add(copy: Copy) -> None:
        game, first = "20250101-000000-aaaaaaaa", copy.games()[0]
        copy.execute(
            "INSERT INTO games SELECT '20250101-000000-aaaaaaaa', 1735689600000000000, title, home, away, rulebook,"
            f" {owner!r}, 'attic', 99 FROM games WHERE id = '{first}'",
            f"INSERT INTO entries SELECT '{game}', seq, kind, at_ns, content, '', key, attachment FROM entries"
            f" WHERE game = '{first}' AND seq = 1",
        )
        copy.seal_again(game)

    return add


def add_an_entry_before_the_first(copy: Copy) -> None:
    copy.execute(
        "INSERT INTO entries SELECT game, -3, kind, at_ns, content, digest, NULL, attachment FROM entries WHERE seq = 2"
    )


def exchange_places(copy: Copy) -> None:
    first, _, third = copy.games()
    copy.execute(
        f"UPDATE games SET number = 9 WHERE id = '{first}'", f"UPDATE games SET number = 1 WHERE id = '{third}'"
    )


def swap_rows(copy: Copy) -> None:
    """Exchange all that the list of games says of two games."""
    first, second, _ = copy.games()
    names = "began_ns, title, home, away, rulebook, owner, table_name, number"
    copy.execute(
        f"CREATE TEMP TABLE was AS SELECT * FROM games WHERE id IN ('{first}', '{second}')",
        *(
            f"UPDATE games SET ({names}) = (SELECT {names} FROM was WHERE id = '{other}') WHERE id = '{one}'"
            for one, other in ((first, second), (second, first))
        ),
    )


def seal_an_altered_video_by_another_rig(copy: Copy) -> None:
    """Alter a video, and seal it as it is now in the journal of another rig, which signs a list of its own."""
    copy.video(1).write_bytes(copy.video(1).read_bytes()[:-1])
    first, key = copy.games()[0], RigKey.generate()
    owner, files = rig_id(key.public_text), seal_of(copy.video(1))
    add_a_game(owner)(copy)
    store = Store.at(copy.store)
    store.signed_list = SignedList(key)
    started = store.last_entry("20250101-000000-aaaaaaaa")
    assert started is not None, first
    content, kind = to_json(SegmentSealed, files), "segment_sealed"
    digest = digest_of(started.digest, started.game, 2, kind, 1, None, content, None)
    store.append([EntryRow(started.game, 2, kind, 1, content, digest)])
    store.close()


def put_a_pipe_in_its_place(copy: Copy) -> None:
    path = copy.video(1)
    path.unlink()
    os.mkfifo(path)


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
