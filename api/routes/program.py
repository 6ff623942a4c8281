"""The program feed: motion JPEG for OBS, and what it shows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from downfield.api.dependencies import AppContextDep, open_stream
from downfield.api.feed.event_stream import EndlessResponse
from downfield.api.problems import ProblemError
from downfield.api.program.program_options import ProgramFeed, ProgramOptions
from downfield.api.routes.camera import MJPEG_TYPE, jpeg_parts
from downfield.api.security.roles import allow

router = APIRouter(tags=["program"])


async def _feed(context: AppContextDep) -> ProgramFeed:
    if context.program is None:
        raise ProblemError(404, "There is no program here: no camera or video is connected.")
    return context.program


ProgramDep = Annotated[ProgramFeed, Depends(_feed)]


@router.get(
    "/program.mjpeg",
    summary="The program as motion JPEG",
    response_class=Response,
    responses={200: {"content": {"multipart/x-mixed-replace": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
async def program_stream(request: Request, feed: ProgramDep) -> Response:
    """The picture with graphics painted on the board under the figures, 30 a second; drawn only while it is watched."""
    stream = open_stream(request, "picture")
    return EndlessResponse(jpeg_parts(feed.picture), stream, MJPEG_TYPE)


@router.get("/program.jpg", summary="The program now", response_class=Response)
@allow("viewer")
async def program_picture(feed: ProgramDep) -> Response:
    """The next picture of the program, or the latest if none comes soon."""
    jpeg = await feed.picture.next()
    if jpeg is None:
        raise ProblemError(404, "The camera has sent no picture yet. GET /readyz says what is missing.")
    return Response(jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})


@router.get("/api/program", summary="What the program shows")
@allow("viewer")
async def program_options(feed: ProgramDep) -> ProgramOptions:
    """The view, the elements, the tags and the theme."""
    return feed.options


@router.put("/api/program", summary="Change what the program shows")
@allow("operator")
async def use_program(feed: ProgramDep, options: ProgramOptions) -> ProgramOptions:
    """From the next picture on, for everybody who watches it."""
    feed.use(options)
    return feed.options
