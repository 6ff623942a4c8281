"""The live feed as Server-Sent Events and over a WebSocket, resumed in the same way; pictures over a WebSocket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Final

from fastapi import Header, Path, Query, Request, Response, WebSocket, WebSocketDisconnect
from pydantic import Field
from starlette.types import Scope

from downfield.api.context.access_control import AuthorizedRouter, open_stream
from downfield.api.context.context import AppContextDep, HubDep, RigPartsDep
from downfield.api.feed.event_stream import EndlessResponse, OpenStream, SendTimeout, StreamKind, encode_events
from downfield.api.feed.relay import RelayManager
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.broadcast.integrations.webhook import WebhookDelivery
from downfield.broadcast.latest_picture import LatestPicture
from downfield.game.published.hub import PROTOCOL, TOPICS, FeedMessage, Hub
from downfield.game.records.models import TopicModel

_MESSAGE_ID: Final = re.compile(r"([0-9a-f]{1,32})-(\d{1,15})")
_HEARTBEAT: Final = f'{{"v":{PROTOCOL},"topic":"alive"}}'

Topics = Annotated[str | None, Query(max_length=400, description="Only these topics, separated by commas.")]
After = Annotated[
    str | None,
    Query(pattern=r"^[0-9a-f]{1,32}-\d{1,15}$", description="Id of the last message received, to resume after it."),
]

router = AuthorizedRouter(tags=["feed"])


class EventStream(EndlessResponse):
    """A hub's messages as Server-Sent Events.

    Args:
        topics: as of `Hub.subscribe`.
        after: as of `Hub.subscribe`.
        relay: takes over streams when there are many; None to serve all of them here.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        stream: OpenStream,
        topics: frozenset[str] | None,
        after: tuple[str, int] | None,
        relay: RelayManager | None = None,
    ) -> None:
        super().__init__(_events(hub.subscribe(topics, after)), stream)
        self._topics, self._after, self._relay = topics, after, relay

    async def hand_over(self, scope: Scope) -> bool:
        """Return whether the relay took the stream over; HTTP/1.0 has no chunks, so such a client is served here."""
        if self._relay is None or scope["http_version"] == "1.0" or not scope["state"].get("peer"):
            return False
        return await self._relay.hand_over(scope["state"]["peer"], self.stream, self._topics, self._after)


@router.get("/api/feed", "viewer", summary="Follow the game as Server-Sent Events", **sends("text/event-stream"))
async def feed(
    request: Request,
    context: AppContextDep,
    topics: Topics = None,
    after: After = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """A snapshot, then numbered changes. `Last-Event-ID` or `after` resumes while the buffer holds what was missed."""
    named = _parse_topics(topics)
    stream = open_stream(request, "feed")
    resumed = _parse_id(last_event_id or after)
    return EventStream(context.rig.hub, stream, named, resumed, context.relay)


class WebhookView(TopicModel):
    """One webhook, with its deliveries."""

    to: str = Field(description="The address without what may be secret in it.")
    waiting: tuple[WebhookDelivery, ...] = Field(description="Those that are not delivered yet, in order.")
    log: tuple[WebhookDelivery, ...] = Field(description="What became of the latest, the last one first.")


@router.get("/api/webhooks", "producer", summary="What the webhooks were sent")
def webhooks(rig: RigPartsDep) -> list[WebhookView]:
    """The deliveries to each address: what, when, with which answer, after how many attempts."""
    found = [(webhook.to, *webhook.deliveries()) for webhook in rig.webhooks]
    return [WebhookView(to=to, waiting=tuple(waiting), log=tuple(log)) for to, waiting, log in found]


@router.post(
    "/api/webhooks/{delivery}/again", "producer", summary="Send a delivery to a webhook again", status_code=204
)
def send_again(rig: RigPartsDep, delivery: Annotated[str, Path(pattern="^[0-9a-f]{16}$")]) -> None:
    """At once, also where it waits for the next attempt. The receiver gets the same `X-Downfield-Delivery`."""
    if not any(webhook.send_again(delivery) for webhook in rig.webhooks):
        raise ProblemError(404, "No such delivery is in the log; it has the latest of each webhook.")


@router.websocket("/api/feed/ws", "viewer")
async def feed_socket(socket: WebSocket, hub: HubDep, topics: Topics = None, after: After = None) -> None:
    """The same messages, each as one text frame."""
    try:
        named = _parse_topics(topics)
    except ProblemError as problem:
        await socket.close(1008, problem.detail[:100])
        return
    stream = await open_socket(socket, "feed")
    if stream is None:
        return
    with stream:
        await socket.accept()
        timeout = SendTimeout()
        messages = hub.subscribe(named, _parse_id(after))
        leaving = _wait_for_disconnect(socket), stream.wait_until_ended()
        await timeout.send(_send_all(socket, messages, timeout), *leaving)
        if stream.ended:
            await socket.close(1008, "This device was revoked.")


async def open_socket(socket: WebSocket, kind: StreamKind) -> OpenStream | None:
    """Return the stream that a WebSocket may open; None if it was closed instead, which says why."""
    try:
        return open_stream(socket, kind)
    except ProblemError as problem:
        await socket.close(1013, problem.detail[:100])
        return None


async def _send_all(socket: WebSocket, batches: AsyncGenerator[list[FeedMessage]], timeout: SendTimeout) -> None:
    with suppress(WebSocketDisconnect):
        async with aclosing(batches):
            async for messages in batches:
                with timeout:
                    for text in [message.text.decode() for message in messages] or [_HEARTBEAT]:
                        await socket.send_text(text)
        await socket.close(1001)


async def _wait_for_disconnect(socket: WebSocket, answered: asyncio.Event | None = None) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        if answered is not None:
            answered.set()


async def send_pictures(socket: WebSocket, stream: OpenStream, picture: LatestPicture) -> None:
    """Send the newest picture over a WebSocket, each once the one before it was answered, until the viewer leaves.

    Pictures over HTTP hold one of the few connections that a browser opens to a host, and six of them all: no tap of
    any page would get through. WebSockets are not counted among these.
    """
    with stream:
        await socket.accept()
        timeout, shown = SendTimeout(), asyncio.Event()
        leaving = _wait_for_disconnect(socket, shown), stream.wait_until_ended()
        await timeout.send(_send_newest(socket, picture, shown, timeout), *leaving)
        if stream.ended:
            await socket.close(1008, "This device was revoked.")


async def _send_newest(socket: WebSocket, picture: LatestPicture, shown: asyncio.Event, timeout: SendTimeout) -> None:
    with suppress(WebSocketDisconnect):
        async with aclosing(picture.watch()) as pictures:
            async for jpeg in pictures:
                shown.clear()
                with timeout:
                    await socket.send_bytes(jpeg)
                    await shown.wait()
        await socket.close(1001)


async def _events(batches: AsyncGenerator[list[FeedMessage]]) -> AsyncGenerator[bytes]:
    async with aclosing(batches):
        async for messages in batches:
            yield encode_events(messages)


def _parse_topics(topics: str | None) -> frozenset[str] | None:
    if topics is None:
        return None
    named = frozenset(topics.split(","))
    if unknown := sorted(named - TOPICS.keys()):
        raise ProblemError(422, f"There is no topic {unknown[0][:40]!r}. There are {', '.join(sorted(TOPICS))}.")
    return named


def _parse_id(message_id: str | None) -> tuple[str, int] | None:
    """Return epoch and number of a message's id; None if it is no such id."""
    found = _MESSAGE_ID.fullmatch(message_id or "")
    return None if found is None else (found[1], int(found[2]))
