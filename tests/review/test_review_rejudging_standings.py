"""What a finished game comes to is kept on disk, and used only for the journal, the code and the rig it was made by."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from played_table import Table
from waiting import WAIT_S

from downfield.core.errors import BusyError
from downfield.game.disputes import Disputes
from downfield.game.records.commands import NewGame
from downfield.game.records.final_score import ScoreSigned
from downfield.game.records.keeping import GameRow, JournalPosition
from downfield.officiating.events import Ruling, Undo
from downfield.review.rejudging import standings, worker
from downfield.review.rejudging.finished_games import FinishedGames, LateRuling
from downfield.review.rejudging.rejudging import Way, judge_again
from downfield.review.rejudging.standings import GameStandings, KeptJudgings
from downfield.review.rejudging.worker import JudgingWorker, Pause
from downfield.store.history import History
from downfield.store.sealing.signing import RigKey

KEY = RigKey.generate()


class Rig:
    """A table whose games are judged when they end, and what is needed to rule on them."""

    def __init__(self, folder: Path, key: RigKey = KEY) -> None:
        self.table = Table(folder / "games.db")
        self.kept = KeptJudgings(folder / "judged", key)
        self.workers = [JudgingWorker(), JudgingWorker()]
        self.standings = GameStandings(self.table.store, self.workers[0], self.kept, self.workers[1])
        self.table.game_service.end_followers.append(self.standings.prepare)
        self.finished = FinishedGames(
            self.table.store, lambda: self.table.game_service.game_id, self.workers[0], self.standings
        )

    def play(self) -> str:
        """Play a game and begin the next one; return its id once it is judged."""
        game = self.table.begin()
        self.table.play()
        self.table.game_service.start_game(NewGame())
        self.judged(game)
        return game

    def judged(self, game: str) -> None:
        """Wait until an ended game is judged and kept."""
        self.workers[1].begin(("prepare", game), lambda _pause: None).result(WAIT_S)
        self.workers[0].begin("idle", lambda _pause: None).result(WAIT_S)

    def row(self, game: str) -> GameRow:
        row = self.table.store.game(game)
        assert row is not None
        return row

    def tackle(self, game: str) -> LateRuling:
        calls = [call.id for call in History(self.table.store, self.row(game)).calls() if call.kind == "tackle"]
        return LateRuling(Ruling(calls[0], "strike", note="lifted off"), "Ann")

    def close(self) -> None:
        for one in self.workers:
            one.close()
        self.table.close()


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The ids of games that were judged from their journals."""
    found: list[str] = []

    def counted(*args: object, **options: object) -> object:
        found.append(str(args[1]))
        return judge_again(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(standings, "judge_again", counted)
    return found  # type: ignore[return-value]


def test_a_game_is_judged_when_it_ends_and_never_again_for_rulings_after_a_restart(
    tmp_path: Path, judged: list[str]
) -> None:
    rig = Rig(tmp_path)
    game = rig.play()
    assert judged == [game]
    shown = rig.finished.preview(rig.row(game), rig.tackle(game))
    rig.close()
    again = Rig(tmp_path)
    again.finished.reopen(again.row(game), "Ann", "film")
    ruling = again.tackle(game)
    made = again.finished.rule(again.row(game), ruling)
    assert made.model_copy(update={"event": ""}) == shown
    again.workers[0].begin("idle", lambda _pause: None).result(WAIT_S)
    again.close()
    third = Rig(tmp_path)
    undone = third.finished.rule(third.row(game), LateRuling(Undo(made.event), "Bob"))
    assert undone.lines[0].startswith("Now called")
    assert judged == [game], "what a ruling led to was kept as well"
    third.close()


def test_a_game_that_both_coaches_signed_is_judged_then(tmp_path: Path, judged: list[str]) -> None:
    rig = Rig(tmp_path)
    game = rig.table.begin()
    rig.table.play()
    for side in ("home", "away"):
        Disputes(rig.table.game_service).sign(ScoreSigned(side, "Coach", (0, 0), "", "phone"))
    rig.judged(game)
    assert judged == [game]
    rig.close()


def test_what_is_kept_is_what_judging_comes_to(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    game = rig.play()
    history = History(rig.table.store, rig.row(game))
    kept = rig.kept.read(rig.table.store, history, lambda: None)
    way = Way.of(history.events)
    assert (kept,) == judge_again(rig.table.store, game, (way,), lambda: None, keep=True)
    assert kept is not None
    assert kept.checkpoints
    (file,) = (tmp_path / "judged").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    rig.close()


@pytest.mark.parametrize("harm", ["content", "cut", "empty", "another rig", "other code", "another journal"])
def test_what_cant_be_trusted_is_not_used_and_logged(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, judged: list[str]
) -> None:
    rig = Rig(tmp_path)
    game = rig.play()
    ruling = rig.tackle(game)
    expected = rig.finished.preview(rig.row(game), ruling)
    rig.close()
    (file,) = (tmp_path / "judged").iterdir()
    content, key = bytearray(file.read_bytes()), KEY
    if harm == "content":
        content[-10] ^= 1
    elif harm == "cut":
        del content[len(content) // 2 :]
    elif harm == "empty":
        content.clear()
    elif harm == "another rig":
        key = RigKey.generate()
    elif harm == "other code":
        monkeypatch.setattr(standings, "code_digest", lambda _packages: "0" * 64)
    else:
        position = JournalPosition(3, "f" * 64)
        seal = rig.kept._seal()
        seal.write(file, game, position, seal.read(file).content)
        content = bytearray(file.read_bytes())
    file.write_bytes(content)
    again = Rig(tmp_path, key)
    with caplog.at_level(logging.WARNING):
        assert again.finished.preview(again.row(game), ruling) == expected
    assert judged == [game, game]
    assert any("the game is judged again" in record.getMessage() for record in caplog.records)
    again.close()


def test_a_ruling_that_another_program_made_is_not_overlooked(tmp_path: Path, judged: list[str]) -> None:
    rig = Rig(tmp_path)
    game = rig.play()
    rig.close()
    elsewhere = Table(tmp_path / "games.db")
    one = JudgingWorker()
    finished = FinishedGames(elsewhere.store, lambda: "", one)
    row = elsewhere.store.game(game)
    assert row is not None
    ruling = LateRuling(
        Ruling(next(c.id for c in History(elsewhere.store, row).calls() if c.kind == "tackle"), "strike"), ""
    )
    finished.reopen(row, "Bob", "film")
    finished.rule(row, ruling)
    one.close()
    elsewhere.close()
    judged.clear()
    again = Rig(tmp_path)
    again.finished.preview(again.row(game), ruling)
    assert judged == [game]
    again.close()


def test_only_the_games_judged_latest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "KEPT_LIMITS", standings.KeptLimits(games=2))
    rig = Rig(tmp_path)
    folder = tmp_path / "judged"
    for _ in range(2):
        rig.play()
    ahead = set(folder.iterdir())
    for path in ahead:
        os.utime(path, ns=(2**62, 2**62))  # the computer's clock was ahead then
    for _ in range(2):
        rig.play()
    assert len(list(folder.iterdir())) == 2
    assert not ahead.intersection(folder.iterdir()), "those judged last were deleted"
    rig.close()


def test_a_folder_that_cant_be_written_costs_nothing_but_time(
    tmp_path: Path, judged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "judged").write_text("in the way")
    rig = Rig(tmp_path)
    game = rig.play()
    assert rig.finished.preview(rig.row(game), rig.tackle(game)).lines
    assert judged == [game, game]
    assert any("can't be kept" in record.getMessage() for record in caplog.records)
    rig.close()


def test_a_program_that_ends_does_not_wait_for_a_game_to_be_judged() -> None:
    begun, go = threading.Event(), threading.Event()

    def endless(pause: Pause) -> None:
        while True:
            begun.set()
            go.wait(0.001)
            pause()

    one = JudgingWorker()
    future = one.begin("long", endless)
    assert begun.wait(WAIT_S)
    one.close()
    with pytest.raises(BusyError, match=worker._ENDING):
        future.result(WAIT_S)
