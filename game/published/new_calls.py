"""Tells calls made just now from those that a feed repeats."""

from __future__ import annotations

from downfield.game.published.game_topics import CallsUpdate, CallView
from downfield.game.published.hub import SNAPSHOT, FeedMessage


class NewCalls:
    """Follows the topic `calls` of a hub."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, message: FeedMessage) -> list[CallView]:
        """Return the calls of a message that were not there before; those of a snapshot are old."""
        snapshot = message.topic == SNAPSHOT
        update = message.data.get("calls") if snapshot else message.data
        if not isinstance(update, CallsUpdate):
            return []
        self._known.difference_update(update.withdrawn)  # a recording that is shown again makes the same calls
        new = [call for call in update.calls if call.id not in self._known]
        self._known.update(call.id for call in new)
        return [] if snapshot else new
