"""The feed's messages as Server-Sent Events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from downfield.api.feed.hub import FeedMessage

ALIVE: Final = b": alive\n\n"


def events(changes: Iterable[FeedMessage]) -> bytes:
    """Changes as events; a comment, so that the connection is seen to live, where there are none."""
    return b"".join(map(_event, changes)) or ALIVE


def _event(change: FeedMessage) -> bytes:
    head = f"event: {change.topic}\nid: {change.epoch}-{change.seq}\ndata: "
    return head.encode() + change.text + b"\n\n"
