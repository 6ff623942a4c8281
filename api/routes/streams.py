"""What is sent without an end: the feed as Server-Sent Events and over a WebSocket, pictures, the program as HLS."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Header, Path, Query, Request, Response, WebSocket, WebSocketDisconnect
from pydantic import Field
from starlette.types import Scope

from downfield.api.context.access_control import AuthorizedRouter, open_stream
from downfield.api.context.context import AppContextDep, HubDep, PictureDep, RigPartsDep
from downfield.api.feed.event_stream import EndlessResponse, OpenStream, SendTimeout, StreamKind, encode_events
from downfield.api.feed.relay import RelayManager
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.broadcast.integrations.webhook import WebhookDelivery
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.game.published.hub import PROTOCOL, TOPICS, FeedMessage, Hub
from downfield.game.published.stream_topics import ProgramOptions
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
        topics, after: as of `Hub.subscribe`.
        relay: takes over streams when there are many; None to serve all of them here.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        hub: Hub,
        stream: OpenStream,
        topics: frozenset[str] | None,
        after: tuple[str, int] | None,
        relay: RelayManager | None,
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

    async def send(timeout: SendTimeout, _answered: asyncio.Event) -> None:
        async with aclosing(hub.subscribe(named, _parse_id(after))) as batches:
            async for messages in batches:
                with timeout:
                    for text in [message.text.decode() for message in messages] or [_HEARTBEAT]:
                        await socket.send_text(text)

    await _serve(socket, "feed", send)


async def _serve(
    socket: WebSocket, kind: StreamKind, send: Callable[[SendTimeout, asyncio.Event], Awaitable[None]]
) -> None:
    """Send over a WebSocket until there is no more, or the viewer has left, stalled or been revoked.

    Args:
        send: sends all there is; the event is set by whatever the viewer sends.
    """
    try:
        stream = open_stream(socket, kind)
    except ProblemError as problem:
        await socket.close(1013, problem.detail[:100])
        return
    timeout, answered = SendTimeout(), asyncio.Event()

    async def send_all() -> None:
        with suppress(WebSocketDisconnect):
            await send(timeout, answered)
            await socket.close(1001)

    async def wait_for_disconnect() -> None:
        while (await socket.receive())["type"] != "websocket.disconnect":
            answered.set()

    with stream:
        await socket.accept()
        await timeout.send(send_all(), wait_for_disconnect(), stream.wait_until_ended())
        if stream.ended:
            await socket.close(1008, "This device was revoked.")


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
    found = _MESSAGE_ID.fullmatch(message_id or "")
    return None if found is None else (found[1], int(found[2]))


program_router = AuthorizedRouter(tags=["program"])


async def _feed(rig: RigPartsDep) -> ProgramDrawer:
    if rig.program is None:
        raise ProblemError(404, "There is no program here: no camera or video is connected.")
    return rig.program


ProgramDep = Annotated[ProgramDrawer, Depends(_feed)]
Number = Annotated[int, Path(ge=0, lt=1 << 53)]
_PLAYLIST_TYPE: Final = "application/vnd.apple.mpegurl"


@program_router.get(
    "/program.mjpeg", "viewer", summary="The program as motion JPEG", **sends("multipart/x-mixed-replace")
)
async def program_stream(request: Request, feed: ProgramDep) -> Response:
    """The picture with graphics painted on the board under the figures, 30 a second; drawn only while it is watched."""
    return _motion_jpeg(request, feed.picture)


@program_router.get("/program.jpg", "viewer", summary="The program now", response_class=Response)
async def program_picture(feed: ProgramDep) -> Response:
    """The next picture of the program, or the latest if none comes soon."""
    return await _next_picture(feed.picture)


@program_router.get("/program.m3u8", "viewer", summary="The program as low-latency HLS", response_class=Response)
async def program_playlist(
    request: Request,
    feed: ProgramDep,
    number: Annotated[int | None, Query(alias="_HLS_msn", ge=0, description="Wait for this segment.")] = None,
    part: Annotated[int | None, Query(alias="_HLS_part", ge=0, description="Wait for this part of it.")] = None,
) -> Response:
    """H.264 in the last seconds' segments and parts; encoded only while somebody asks for it."""
    if number is None and part is not None:
        raise ProblemError(400, "_HLS_part needs _HLS_msn, the segment it is a part of.")
    key = request.query_params.get("key")
    playlist = await feed.stream.playlist(number, part, f"?{urlencode({'key': key})}" if key else "")
    if playlist is None:
        raise ProblemError(503, "No picture comes now. GET /readyz says what is missing.", headers={"Retry-After": "1"})
    return Response(playlist, media_type=_PLAYLIST_TYPE, headers={"Cache-Control": "no-store"})


@program_router.get(
    "/program/take-{take}.mp4", "viewer", summary="What a player needs before segments", response_class=Response
)
async def program_header(feed: ProgramDep, take: Number) -> Response:
    """The header of the segments that name it."""
    return _piece(await feed.stream.header(take))


@program_router.get("/program/{number}.{part}.m4s", "viewer", summary="A part of a segment", response_class=Response)
async def program_part(feed: ProgramDep, number: Number, part: Number) -> Response:
    """A quarter of a second; the next one to come is sent once it is there."""
    return _piece(await feed.stream.part(number, part))


@program_router.get("/program/{number}.m4s", "viewer", summary="A segment of the program", response_class=Response)
async def program_segment(feed: ProgramDep, number: Number) -> Response:
    """About a second; it begins with a key frame."""
    return _piece(await feed.stream.segment(number))


_BOUNDARY: Final = "downfield-frame"

picture_router = AuthorizedRouter(tags=["camera"])


@picture_router.get(
    "/camera.mjpeg",
    "viewer",
    summary="The annotated camera picture as motion JPEG",
    **sends("multipart/x-mixed-replace"),
)
async def motion_jpeg(request: Request, picture: PictureDep) -> Response:
    """The camera picture with what Downfield sees drawn on it; it ends when the device is revoked."""
    return _motion_jpeg(request, picture)


@picture_router.websocket("/camera.ws", "viewer")
async def picture_socket(socket: WebSocket, picture: PictureDep) -> None:
    """The same pictures, each as one binary frame, and the next one once any text has answered it."""

    # Pictures over HTTP hold one of the few connections that a browser opens to a host, and six of them all: no tap of
    # any page would get through. WebSockets are not counted among these.
    async def send(timeout: SendTimeout, shown: asyncio.Event) -> None:
        async with aclosing(picture.watch()) as pictures:
            async for jpeg in pictures:
                shown.clear()
                with timeout:
                    await socket.send_bytes(jpeg)
                    await shown.wait()

    await _serve(socket, "picture", send)


@picture_router.get("/camera.jpg", "viewer", summary="The annotated camera picture now", **sends("image/jpeg"))
async def single_picture(picture: PictureDep) -> Response:
    """The next picture, or the latest if none comes soon."""
    return await _next_picture(picture)


def _motion_jpeg(request: Request, picture: LatestPicture) -> Response:
    async def parts() -> AsyncGenerator[bytes]:
        async with aclosing(picture.watch()) as pictures:
            async for jpeg in pictures:
                head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
                yield head.encode() + jpeg + b"\r\n"

    stream = open_stream(request, "picture")
    return EndlessResponse(parts(), stream, f"multipart/x-mixed-replace; boundary={_BOUNDARY}")


async def _next_picture(picture: LatestPicture) -> Response:
    jpeg = await picture.next()
    if jpeg is None:
        raise ProblemError(404, "The camera has sent no picture yet. GET /readyz says what is missing.")
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


def _piece(content: bytes | None) -> Response:
    if content is None:
        raise ProblemError(
            404, "This piece of the program is gone, or comes later. The playlist names those there are."
        )
    return Response(content, media_type="video/mp4", headers={"Cache-Control": "private, max-age=60"})


@program_router.get("/api/program", "viewer", summary="What the program shows", dependencies=[Depends(_feed)])
async def program_options(context: AppContextDep) -> ProgramOptions:
    """The view, the elements, the tags and the theme."""
    return context.on_air.now.program


@program_router.put("/api/program", "producer", summary="Change what the program shows", dependencies=[Depends(_feed)])
def use_program(context: AppContextDep, options: ProgramOptions) -> ProgramOptions:
    """From the next picture on, for everybody who watches it; kept over restarts."""
    return context.on_air.change(program=options).program
