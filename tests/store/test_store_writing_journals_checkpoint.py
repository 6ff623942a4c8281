"""A game resumed from a checkpoint is the one its journal leads to; a checkpoint that can't be trusted is not used."""

from __future__ import annotations

import io
import logging
import pickle
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from played_table import PLAY, RIVER, RUNNER
from scripted_plays import FIELD, opening
from served_games import FakeRig

from downfield.core.errors import FormatError, RefusedError
from downfield.game import session_start as resuming
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame, SetRulebook
from downfield.game.records.keeping import SessionMemento
from downfield.game.service import GameService
from downfield.game.session_start import KeptScenes
from downfield.officiating.declarations import Declaration, SetUp
from downfield.officiating.events import Ruling
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.signed_state import unpack_state
from downfield.store.sealing.signing import RigKey
from downfield.store.writing import journals
from downfield.store.writing.journals import CheckpointFile, StoredJournals
from downfield.store.writing.store import Store

KEY = RigKey.generate()


class Game:
    """A game whose checkpoints are taken whenever something is declared."""

    def __init__(self, folder: Path, *, checkpoints: bool = True, key: RigKey = KEY) -> None:
        self.now_ns, self.path = 0, folder / "games.db"
        self.store, self.hub = Store.at(self.path), Hub()
        ticks = iter(range(0, 10**9, 1000))
        self.file = folder / "game.checkpoint"
        kept = CheckpointFile(self.file, key, lambda: float(next(ticks))) if checkpoints else None
        rulebook = load_rulebook("tap")
        self.service = GameService(
            StoredJournals(self.store, kept), self.hub, FakeRig(None), FIELD, rulebook, lambda: self.now_ns
        )
        self.resumed = self.service.resume() is not None
        self.now_ns = self.service.now_ns + 5_000_000_000

    def begin(self) -> None:
        self.service.start_game(NewGame(home=RIVER), PLAY.players)

    def declare(self, declaration: Declaration, key: str | None = None) -> None:
        receipt = self.service.declare(declaration, Submission(key=key))
        assert isinstance(receipt, Accepted), receipt

    def play(self) -> None:
        """Declare the opening of the play, then see it."""
        start_ns = self.now_ns + 5_000_000_000
        waiting = list(opening(PLAY, RUNNER))
        for scene in PLAY.scenes:
            self.now_ns = start_ns + scene.t_ns
            while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
                self.declare(waiting.pop(0)[1], f"{self.now_ns} {len(waiting)}")
            contacts = tuple(
                replace(contact, since_ns=None if contact.since_ns is None else contact.since_ns + start_ns)
                for contact in scene.contacts
            )
            self.service.take(replace(scene, t_ns=self.now_ns, contacts=contacts))

    def strike(self) -> None:
        """Strike the last tackle, if rulings may still go back to it."""
        tackles = [call.id for call in self.service.calls() if call.kind == "tackle"]
        if tackles:
            self.service.rule(Ruling(tackles[-1], "strike"), Submission())

    def undo(self) -> None:
        """Undo the last event that can be undone."""
        for view in reversed(self.service.declarations()):
            if not view.undone and isinstance(self.service.undo(view.id, Submission()), Accepted):
                return

    def switch(self) -> None:
        """Go on under another rulebook, where that is possible now."""
        name = "efl" if self.hub.value("game").rulebook == "tap" else "tap"
        self.service.command(SetRulebook(rulebook=name), Submission())

    def close(self) -> None:
        self.service.close()
        self.store.close()

    def shown(self) -> dict[str, Any]:
        """Return all that people and programs see of the game."""
        game = self.hub.value("game").model_dump()
        del game["clock"]
        return {
            "game": game,
            "calls": [call.model_dump() for call in self.service.calls()],
            "declared": [view.model_dump() for view in self.service.declarations()],
            "line up": self.service.line_up,
            "legal": self.service.legal(),
            "receipts": {
                key: (kept.content, kept.receipt and (kept.receipt.event, kept.receipt.seq, kept.receipt.text))
                for key, kept in self.service._receipts._receipts.items()
            },
        }


STEPS: dict[str, Callable[[Game], None]] = {
    "play": Game.play,
    "strike": Game.strike,
    "undo": Game.undo,
    "switch": Game.switch,
    "set up": lambda game: game.declare(SetUp("home", 1, 30.0)),
}


def resumed_both_ways(folder: Path) -> tuple[Game, Game]:
    """Return the game of a folder, resumed from its checkpoint and from its whole journal."""
    copy = folder / "copy"
    copy.mkdir()
    shutil.copy(folder / "games.db", copy / "games.db")
    return Game(folder), Game(copy, checkpoints=False)


@settings(max_examples=10, phases=(Phase.reuse, Phase.generate))
@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
    st.lists(st.sampled_from(sorted(STEPS)), max_size=3),
)
def test_a_game_resumed_from_a_snapshot_is_the_one_its_journal_leads_to(before: list[str], after: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        game = Game(folder)
        game.begin()
        game.play()
        for step in before:
            STEPS[step](game)
        game.close()
        fast, full = resumed_both_ways(folder)
        assert fast.shown() == full.shown()
        for step in after:
            for one in (fast, full):
                STEPS[step](one)
            assert fast.shown() == full.shown()
        assert verify_journal(fast.service.game_id, fast.store.entries(fast.service.game_id)).problem == ""
        fast.close()
        full.close()


@pytest.fixture
def played(tmp_path: Path) -> Path:
    game = Game(tmp_path)
    game.begin()
    game.play()
    game.play()
    game.close()
    return tmp_path


def judged_entries(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> int:
    """Resume a game; return how many entries were judged for it."""
    counted: list[int] = []
    judge = resuming._judge_again

    def count(*args: Any) -> None:
        counted.append(1)
        judge(*args)

    with monkeypatch.context() as patch:
        patch.setattr(resuming, "_judge_again", count)
        game = Game(folder, **options)
    assert game.resumed
    assert len(game.service.calls()) > 0
    game.close()
    return len(counted)


def test_only_what_came_after_the_snapshot_is_judged(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged_entries(played, monkeypatch) < judged_entries(played, monkeypatch, checkpoints=False) / 1.5
    assert (played / "game.checkpoint").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("harm", ["content", "header", "cut", "empty", "another rig", "other code", "older store"])
def test_a_snapshot_that_cant_be_trusted_is_not_used_and_logged(
    harm: str, played: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = played / "game.checkpoint"
    content, key = bytearray(file.read_bytes()), KEY
    if harm == "content":
        content[-10] ^= 1
    elif harm == "header":
        content = bytearray(bytes(content).replace(b'"seq":', b'"seq":1', 1))
    elif harm == "cut":
        del content[len(content) // 2 :]
    elif harm == "empty":
        content.clear()
    elif harm == "another rig":
        key = RigKey.generate()
    elif harm == "other code":
        monkeypatch.setattr(journals, "code_digest", lambda: "0" * 64)
    else:  # the end of the journal was cut off: an older copy of the store was put back
        with sqlite3.connect(played / "games.db") as connection:
            connection.execute("DELETE FROM entries WHERE seq > 4")
        connection.close()
        full = Game(played, checkpoints=False)
        assert full.resumed
        full.close()
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        game = Game(played, key=key)
    assert game.resumed
    assert any("the whole journal is judged" in record.getMessage() for record in caplog.records)
    game.close()


class OlderPython(pickle.Pickler):
    """Packs members of enumerations as early versions of Python 3.11 do, such as that of Debian 12."""

    def reducer_override(self, packed: Any) -> Any:
        return (getattr, (type(packed), packed.name)) if isinstance(packed, Enum) else NotImplemented


def test_a_snapshot_of_the_python_of_debian_12_is_used(
    played: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def packed(state: object, protocol: int) -> bytes:
        file = io.BytesIO()
        OlderPython(file, protocol).dump(state)
        return file.getvalue()

    whole = judged_entries(played, monkeypatch, checkpoints=False)
    with monkeypatch.context() as patch:
        patch.setattr(journals, "pickle", SimpleNamespace(dumps=packed, PicklingError=pickle.PicklingError))
        game = Game(played)
        game.play()
        game.close()
    assert b"getattr" in (played / "game.checkpoint").read_bytes()
    with caplog.at_level(logging.WARNING):
        assert judged_entries(played, monkeypatch) < whole / 1.5
    assert "the whole journal is judged" not in caplog.text


def test_a_signed_pickle_makes_nothing_but_records() -> None:
    attribute = b"cbuiltins\ngetattr\n(cdownfield.game.records.keeping\nSessionMemento\nS'__init__'\ntR."
    member = b"cbuiltins\ngetattr\n(cbuiltins\ndict\nS'fromkeys'\ntR."
    for hostile in (
        b"cos\nsystem\n(S'true'\ntR.",
        pickle.dumps(print),
        pickle.dumps([1, 2]),
        b"",
        b"\x80\x05.",
        attribute,
        member,
    ):
        with pytest.raises(FormatError):
            unpack_state(hostile, SessionMemento)


def test_a_ruling_is_refused_while_the_scenes_it_needs_cant_be_read(played: Path) -> None:
    store = Store.at(played / "games.db")
    journals, game = StoredJournals(store), store.games()[0].id
    lengths = [(row.seq, 1) for row in store.entries(game)]
    kept = KeptScenes(journals, f"{game}-gone", lengths, 0, lengths[-1][0])
    assert kept.get() == {}
    with sqlite3.connect(played / "games.db") as connection:
        connection.execute("ALTER TABLE entries RENAME TO away")
        kept = KeptScenes(journals, game, lengths, 0, lengths[-1][0])
        with pytest.raises(RefusedError, match="can't be read from the store now"):
            kept.get()
        connection.execute("ALTER TABLE away RENAME TO entries")
    connection.close()
    assert kept.get()
    store.close()
