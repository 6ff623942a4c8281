"""The live feed over Server-Sent Events and over a WebSocket: the same messages, the same resumption."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Final

from fastapi import APIRouter, Header, Query, Request, Response, WebSocket, WebSocketDisconnect
from starlette.types import Scope

from downfield.api.feed.hub import PROTOCOL, FeedMessage, Hub
from downfield.api.feed.relay import Relaying
from downfield.api.feed.responses import Stream
from downfield.api.feed.send_timeout import SendTimeout
from downfield.api.feed.server_sent_events import events
from downfield.api.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.api.services import HubDep

MAX_SUBSCRIBERS: Final = 512
"""Feeds open at once; a tournament hall has a few dozen, and each costs a connection."""

_PLACE: Final = re.compile(r"([0-9a-f]{1,32})-(\d{1,15})")
_ALIVE: Final = f'{{"v":{PROTOCOL},"topic":"alive"}}'

Topics = Annotated[
    str | None,
    Query(pattern=r"^[a-z_]{1,20}(,[a-z_]{1,20}){0,15}$", description="Only these topics, comma-separated."),
]
After = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f]{1,32}-\d{1,15}$", description="Id of the last message received, to go on from there."),
]

router = APIRouter(tags=["feed"])


class EventStream(Stream):
    """A hub's messages as Server-Sent Events.

    Args:
        hub: the hub.
        topics: as of `Hub.subscribe`.
        after: as of `Hub.subscribe`.
        relaying: tells those who are too many to be told here; None where there is no such.

    """

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        topics: frozenset[str] | None,
        after: tuple[str, int] | None,
        relaying: Relaying | None = None,
    ) -> None:
        super().__init__(_events(hub.subscribe(topics, after)))
        self._topics, self._after, self._relaying = topics, after, relaying

    async def hand_over(self, scope: Scope) -> bool:
        """Whether another process goes on."""
        if self._relaying is None or scope["http_version"] == "1.0" or not scope.get("client"):  # which knows no chunks
            return False
        return await self._relaying.take(tuple(scope["client"]), self._topics, self._after)


@router.get(
    "/api/feed",
    response_class=Response,
    summary="Follow the game as Server-Sent Events",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
async def feed(
    request: Request,
    hub: HubDep,
    topics: Topics = None,
    after: After = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """A snapshot, then numbered changes; `Last-Event-ID` or `after` goes on from there while the buffer holds it."""
    if hub.subscribers >= MAX_SUBSCRIBERS:
        raise ProblemError(503, f"{MAX_SUBSCRIBERS} feeds are open already", headers={"Retry-After": "10"})
    return EventStream(hub, _chosen(topics), _place(last_event_id or after), request.app.state.relaying)


@router.websocket("/api/feed/ws")
@allow("viewer")
async def feed_socket(socket: WebSocket, hub: HubDep, topics: Topics = None, after: After = None) -> None:
    """The same messages, one a text frame."""
    if hub.subscribers >= MAX_SUBSCRIBERS:
        await socket.close(1013)
        return
    await socket.accept()
    patience = SendTimeout()
    await patience.send(_send_all(socket, hub.subscribe(_chosen(topics), _place(after)), patience), _left(socket))


async def _send_all(socket: WebSocket, batches: AsyncGenerator[list[FeedMessage]], patience: SendTimeout) -> None:
    with suppress(WebSocketDisconnect):
        async with aclosing(batches):
            async for changes in batches:
                with patience:
                    for text in [change.text.decode() for change in changes] or [_ALIVE]:
                        await socket.send_text(text)
        await socket.close(1001)


async def _left(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _events(batches: AsyncGenerator[list[FeedMessage]]) -> AsyncGenerator[bytes]:
    async with aclosing(batches):
        async for changes in batches:
            yield events(changes)


def _chosen(topics: str | None) -> frozenset[str] | None:
    return None if topics is None else frozenset(topics.split(","))


def _place(last: str | None) -> tuple[str, int] | None:
    """Epoch and number of a message's id; None for what is no such id."""
    found = _PLACE.fullmatch(last or "")
    return None if found is None else (found[1], int(found[2]))
