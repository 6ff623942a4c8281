"""What tests of the overlays share: a service whose game begins anew for each test, and a call to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browsers import PageServer
from playwright.sync_api import Page, expect

from downfield.game.published.board_topics import HealthStatus
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
