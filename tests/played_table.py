"""A game service on which one play, a tackle, is declared and seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scripted_plays import FIELD, Film, ScriptedFigure, film, opening, runs, stands
from served_games import FakeRig

from downfield.game.published.game_topics import GameView
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.game.service import GameService
from downfield.officiating.declarations import Declaration
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

RUNNER, DEFENDER = "dark-22", "light-50"
RIVER = TeamSheet(name="River City", short="RIV", color="#0b3d91", ink="#ffffff")


def tackled() -> Film:
    """A runner meets a standing defender; the board goes off."""
    players = [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(DEFENDER, stands(50), "LB")]
    return film(players, 3.0, on=((0.5, 1.65),))


PLAY = tackled()


class Table:
    """A game service with its hub and store, and a clock that the test sets."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now_ns = 0
        self.store = Store.at(path)
        self.journals = StoredJournals(self.store)
        self.hub = Hub()
        book = load_rulebook("tap")
        self.game_service = GameService(self.journals, self.hub, FakeRig(None), FIELD, book, lambda: self.now_ns)

    def begin(self) -> str:
        return self.game_service.start_game(NewGame(title="final", home=RIVER), PLAY.players)

    def declare(self, declaration: Declaration, **submission: Any) -> Accepted:
        receipt = self.game_service.declare(declaration, Submission(**submission))
        assert isinstance(receipt, Accepted), receipt
        return receipt

    def play(self) -> None:
        """Declare the opening, then see the whole play."""
        waiting = list(opening(PLAY, RUNNER))
        for scene in PLAY.scenes:
            self.now_ns = scene.t_ns
            while waiting and waiting[0][0] * 1e9 <= scene.t_ns:
                self.declare(waiting.pop(0)[1])
            self.game_service.take(scene)

    def game(self) -> GameView:
        now = self.hub.value("game")
        assert isinstance(now, GameView)
        return now

    def call(self, kind: str) -> str:
        return next(call.id for call in self.game_service.calls() if call.kind == kind)

    def close(self) -> None:
        self.game_service.close()
        self.store.close()
