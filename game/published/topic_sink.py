"""The interface through which a game publishes its topics."""

from __future__ import annotations

from typing import Any, Protocol


class TopicSink(Protocol):
    """Takes the values of topics; the API's hub is one. Callable from any thread; it never blocks on a subscriber."""

    def publish(self, topic: str, data: Any, *, full: Any = None) -> None:
        """Set a topic's value.

        Args:
            topic: its name.
            data: its value, or what of it changed; must not be changed afterwards.
            full: its value for a snapshot, where `data` is only what changed.

        """
        ...
