"""A service over a played game whose footage is made up: tests of evidence, cards, logos and limits share it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
from asgi_client import AsgiClient
from scripted_plays import FIELD, ScriptedFigure, film, opening, runs, stands
from served_games import FakeRig
from waiting import WAIT_S, wait_until

from downfield.api.app import create_app
from downfield.api.context.context import RigParts
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits
from downfield.broadcast.latest_picture import LatestPicture
from downfield.calibration.calibration import Calibration
from downfield.capture.footage import FootageCalibration, FootageFrame, ScaledPicture
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.game.published.game_topics import GameView
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.commands import NewGame
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.pictures.clips import scaled
from downfield.store.history import History
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

RUNNER, DEFENDER = "dark-22", "light-50"
PLAY = film(
    [ScriptedFigure(RUNNER, runs(41, stop_s=1.4), "RB"), ScriptedFigure(DEFENDER, stands(50), "LB")],
    3.0,
    on=((0.5, 1.65),),
)
MANY = RateLimit(1e6, 10**6)


class FakeFootage:
    """Has a picture of every scene of the play, whose brightness tells the frame."""

    def __init__(self) -> None:
        self.missing: set[int] = set()
        self.made: Calibration | None = None
        self.requested: list[tuple[int, int, int]] = []
        self.opened = threading.Event()
        self.opened.set()

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:
        self.requested.append((from_ns, to_ns, began_ns))
        stills = (FootageFrame(one.frame, one.t_ns, Path("play.mp4"), one.t_ns) for one in PLAY.scenes)
        found = tuple(one for one in stills if from_ns <= one.t_ns <= to_ns and one.frame not in self.missing)
        if not found:
            raise NotRecordedError("nothing was recorded then")
        return found

    def picture(self, still: FootageFrame) -> Image:
        assert self.opened.wait(WAIT_S)
        size = (90, 160) if self.made is None else (1080, 1920)
        return np.full((*size, 3), still.frame, np.uint8)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        return (self.picture(still) for still in stills)

    def scaled_pictures(self, stills: Iterable[FootageFrame], width_px: int) -> Iterator[ScaledPicture | None]:
        for image in self.pictures(stills):
            yield None if image is None else ScaledPicture(scaled(image, width_px), (image.shape[1], image.shape[0]))

    def calibration(self, _: FootageFrame) -> FootageCalibration:
        return FootageCalibration(self.made, "none" if self.made is None else "made")


class EvidenceService:
    """A service over a played game."""

    def __init__(self, path: Path, *, footage: bool = True, limits: RateLimits | None = None) -> None:
        self.store, self.hub, self.footage_store = Store.at(path), Hub(), FakeFootage()
        self.game_service = GameService(
            StoredJournals(self.store), self.hub, FakeRig(None), FIELD, load_rulebook("tap")
        )
        self.game = self.game_service.start_game(NewGame(), PLAY.players)
        parts = RigParts(
            self.game_service, self.hub, LatestPicture(), self.store, self.footage_store if footage else None
        )
        self.app = create_app(parts, AccessPolicy(limits=limits or RateLimits(MANY, MANY, MANY, MANY)))
        self.client = AsgiClient(self.app)

    def play(self) -> None:
        for _, declaration in opening(PLAY, RUNNER):
            self.game_service.declare(declaration, Submission())
        for scene in PLAY.scenes:
            self.game_service.take(scene)
        wait_until(lambda: len(self._kept().standing_calls) == len(self.game_service.calls()), "the calls are kept")

    def _kept(self) -> History:
        row = self.store.game(self.game_service.game_id)
        assert row is not None
        return History(self.store, row)

    def tackle(self, game: str = "current") -> str:
        call = next(one for one in self.game_service.calls() if one.kind == "tackle")
        return f"/api/games/{game}/calls/{quote(call.id, safe='')}/frames"

    def close(self) -> None:
        self.game_service.close()
        self.store.close()


def played_view(folder: Path) -> GameView:
    """Return the state of the played game."""
    service = EvidenceService(folder / "a.db")
    view: GameView = service.hub.value("game")
    service.close()
    return view
