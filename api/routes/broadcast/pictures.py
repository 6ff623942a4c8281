"""The annotated camera picture: as motion JPEG for OBS and the pages, and as single pictures."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi import APIRouter, Request, Response

from downfield.api.context.access_control import open_stream
from downfield.api.context.context import PictureDep
from downfield.api.feed.event_stream import EndlessResponse
from downfield.api.http.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.broadcast.latest_picture import LatestPicture

_BOUNDARY: Final = "downfield-frame"
MJPEG_TYPE: Final = f"multipart/x-mixed-replace; boundary={_BOUNDARY}"

router = APIRouter(tags=["camera"])


@router.get(
    "/camera.mjpeg",
    summary="The annotated camera picture as motion JPEG",
    response_class=Response,
    responses={200: {"content": {"multipart/x-mixed-replace": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
async def motion_jpeg(request: Request, picture: PictureDep) -> Response:
    """The camera picture with what Downfield sees drawn on it; it ends when the device is revoked."""
    stream = open_stream(request, "picture")
    return EndlessResponse(jpeg_parts(picture), stream, MJPEG_TYPE)


@router.get(
    "/camera.jpg",
    summary="The annotated camera picture now",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
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
