"""The seam between scenes and the game: whoever runs the game takes scenes and recorded declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from downfield.core.scene import Scene
from downfield.game.published.board_topics import HealthStatus
from downfield.officiating.calls import Call
from downfield.officiating.events import Event


class Referee(Protocol):
    """Runs the game and publishes it; `downfield.game.service.GameService` is one. Callable from any thread."""

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Take a scene, or an event that nobody at the service said, and publish what follows.

        Returns:
            The calls made or changed.

        Raises:
            RefusedError: the state does not allow it; nothing has changed.

        """
        ...

    def tick(self) -> None:
        """Let the game's time go on while no scenes come."""
        ...

    def publish_health(self, health: HealthStatus) -> None:
        """Publish the health of the rig."""
        ...


class EventPlayback:
    """Says recorded declarations when their time comes.

    Args:
        events: in any order.

    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._waiting = sorted(events, key=lambda event: event.t_ns, reverse=True)

    def due(self, t_ns: int | None = None) -> Iterable[Event]:
        """Those that hold at an instant or before it and were not said yet, in order; None for all that are left."""
        while self._waiting and (t_ns is None or self._waiting[-1].t_ns <= t_ns):
            yield self._waiting.pop()
