"""Pictures for viewers: the annotated camera picture as motion JPEG and by itself, and the program as it and as HLS."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request, Response, WebSocket

from downfield.api.context.access_control import AuthorizedRouter, open_stream
from downfield.api.context.context import AppContextDep, PictureDep, RigPartsDep
from downfield.api.feed.event_stream import EndlessResponse
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.api.routes.feed import open_socket, send_pictures
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.game.published.stream_topics import ProgramOptions

router = AuthorizedRouter(tags=["program"])


async def _feed(rig: RigPartsDep) -> ProgramDrawer:
    if rig.program is None:
        raise ProblemError(404, "There is no program here: no camera or video is connected.")
    return rig.program


ProgramDep = Annotated[ProgramDrawer, Depends(_feed)]
Number = Annotated[int, Path(ge=0, lt=1 << 53)]
_PLAYLIST_TYPE: Final = "application/vnd.apple.mpegurl"


@router.get("/program.mjpeg", "viewer", summary="The program as motion JPEG", **sends("multipart/x-mixed-replace"))
async def program_stream(request: Request, feed: ProgramDep) -> Response:
    """The picture with graphics painted on the board under the figures, 30 a second; drawn only while it is watched."""
    stream = open_stream(request, "picture")
    return EndlessResponse(jpeg_parts(feed.picture), stream, MJPEG_TYPE)


@router.get("/program.jpg", "viewer", summary="The program now", response_class=Response)
async def program_picture(feed: ProgramDep) -> Response:
    """The next picture of the program, or the latest if none comes soon."""
    jpeg = await feed.picture.next()
    if jpeg is None:
        raise ProblemError(404, "The camera has sent no picture yet. GET /readyz says what is missing.")
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


@router.get("/program.m3u8", "viewer", summary="The program as low-latency HLS", response_class=Response)
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


@router.get(
    "/program/take-{take}.mp4", "viewer", summary="What a player needs before segments", response_class=Response
)
async def program_header(feed: ProgramDep, take: Number) -> Response:
    """The header of the segments that name it."""
    return _piece(await feed.stream.header(take))


@router.get("/program/{number}.{part}.m4s", "viewer", summary="A part of a segment", response_class=Response)
async def program_part(feed: ProgramDep, number: Number, part: Number) -> Response:
    """A quarter of a second; the next one to come is sent once it is there."""
    return _piece(await feed.stream.part(number, part))


@router.get("/program/{number}.m4s", "viewer", summary="A segment of the program", response_class=Response)
async def program_segment(feed: ProgramDep, number: Number) -> Response:
    """About a second; it begins with a key frame."""
    return _piece(await feed.stream.segment(number))


_BOUNDARY: Final = "downfield-frame"
MJPEG_TYPE: Final = f"multipart/x-mixed-replace; boundary={_BOUNDARY}"

picture_router = AuthorizedRouter(tags=["camera"])


@picture_router.get(
    "/camera.mjpeg",
    "viewer",
    summary="The annotated camera picture as motion JPEG",
    **sends("multipart/x-mixed-replace"),
)
async def motion_jpeg(request: Request, picture: PictureDep) -> Response:
    """The camera picture with what Downfield sees drawn on it; it ends when the device is revoked."""
    stream = open_stream(request, "picture")
    return EndlessResponse(jpeg_parts(picture), stream, MJPEG_TYPE)


@picture_router.websocket("/camera.ws", "viewer")
async def picture_socket(socket: WebSocket, picture: PictureDep) -> None:
    """The same pictures, each as one binary frame, and the next one once any text has answered it."""
    stream = await open_socket(socket, "picture")
    if stream is not None:
        await send_pictures(socket, stream, picture)


@picture_router.get("/camera.jpg", "viewer", summary="The annotated camera picture now", **sends("image/jpeg"))
async def single_picture(picture: PictureDep) -> Response:
    """The next picture, or the latest if none comes soon."""
    jpeg = await picture.next()
    if jpeg is None:
        raise ProblemError(404, "The camera has sent no picture yet. GET /readyz says what is missing.")
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


async def jpeg_parts(picture: LatestPicture) -> AsyncGenerator[bytes]:
    """Yield every picture as a part of a motion JPEG."""
    async with aclosing(picture.watch()) as pictures:
        async for jpeg in pictures:
            head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            yield head.encode() + jpeg + b"\r\n"


def _piece(content: bytes | None) -> Response:
    if content is None:
        raise ProblemError(
            404, "This piece of the program is gone, or comes later. The playlist names those there are."
        )
    return Response(content, media_type="video/mp4", headers={"Cache-Control": "private, max-age=60"})


@router.get("/api/program", "viewer", summary="What the program shows", dependencies=[Depends(_feed)])
async def program_options(context: AppContextDep) -> ProgramOptions:
    """The view, the elements, the tags and the theme."""
    return context.on_air.now.program


@router.put("/api/program", "producer", summary="Change what the program shows", dependencies=[Depends(_feed)])
def use_program(context: AppContextDep, options: ProgramOptions) -> ProgramOptions:
    """From the next picture on, for everybody who watches it; kept over restarts."""
    return context.on_air.change(program=options).program
