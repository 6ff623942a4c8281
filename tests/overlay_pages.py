"""What tests of the overlays share: a service whose game begins anew for each test, and a call to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browsers import PageServer
from playwright.sync_api import Page, expect

from downfield.game.published.board_topics import FigureView, HealthStatus, PictureView, SceneView
from downfield.game.published.game_topics import CallsUpdate, CallView, ClauseView
from downfield.game.published.stream_topics import GraphicView
from downfield.game.records.challenges import ChallengesView


@contextmanager
def overlay_service(folder: Path) -> Iterator[Callable[[], PageServer]]:
    """Start a service; what is returned gives it with a game as it begins, again and again."""
    running = PageServer(folder)
    running.start()
    game = running.hub.value("game")

    def begin() -> PageServer:
        running.publish("game", game)
        running.publish("calls", CallsUpdate(calls=()))
        running.publish("challenges", ChallengesView())
        running.publish("health", HealthStatus())
        running.publish("graphic", GraphicView())
        return running

    yield begin
    running.stop()


def link(page: Page, state: str) -> None:
    """Wait until a page's connection is in a state."""
    expect(page.locator("html")).to_have_attribute("data-link", state)


def a_call(**changes: Any) -> CallView:
    values: dict[str, Any] = {
        "id": "tackle:1",
        "kind": "tackle",
        "verdict": "called",
        "standing": "stands",
        "text": "dark-28 tackled by light-24",
        "t_ns": 1_000_000_000,
        "clauses": (ClauseView(id="TAP-022", text="Any contact tackles."),),
        "side": "away",
        "margin": 0.42,
        "sigma": 0.13,
        "unit": "mm",
        "measured": "+0.42 ± 0.13 mm",
        "probability": 0.9994,
    }
    return CallView(**values | changes)


def figure(name: str, x_mm: float, y_mm: float) -> FigureView:
    return FigureView(
        id=name,
        jersey="dark",
        x_yd=0,
        y_yd=0,
        x_mm=x_mm,
        y_mm=y_mm,
        heading=0,
        posture="upright",
        sigma_mm=0.1,
        sure=True,
    )


def show_action(service: PageServer, *figures: FigureView, touching: tuple[tuple[str, str], ...] = ()) -> None:
    """Publish figures on a board of 1920 x 1080 mm that fills the picture; the first has the ball."""
    service.publish("picture", PictureView(to_picture=(1 / 1920, 0, 0, 0, -1 / 1080, 1, 0, 0, 1), size=(1920, 1080)))
    service.publish("ball", player=figures[0].id)
    service.publish("scene", SceneView(frame=1, t_ns=1, board="on", figures=figures, touching=touching))
