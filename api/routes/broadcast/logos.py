"""The teams' logos: uploaded once, then named by a team, and shown to everybody."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from downfield.api.context.access_control import RepeatableRoute
from downfield.api.context.context import AppContextDep
from downfield.api.http.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.broadcast.graphics.logos import LogoFolder
from downfield.core.errors import InputError, OutputError
from downfield.game.records.models import TopicModel

router = APIRouter(tags=["teams"], route_class=RepeatableRoute)


class LogoView(TopicModel):
    """A logo that is kept."""

    logo: str


async def _logos(context: AppContextDep) -> LogoFolder:
    return context.logos


LogosDep = Annotated[LogoFolder, Depends(_logos)]


@router.post(
    "/api/logos",
    summary="Upload a team's logo",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": {"type": "string", "format": "binary"}}
                for kind in ("image/png", "image/jpeg", "image/webp")
            },
        }
    },
)
@allow("operator")
async def upload(request: Request, logos: LogosDep) -> LogoView:
    """A PNG, JPEG or WebP file of at most 1 MiB as the body. Give the name in the answer as a team's `logo`."""
    data = await request.body()
    try:
        return LogoView(logo=await run_in_threadpool(logos.keep, data))
    except InputError as error:
        raise ProblemError(422, str(error)) from None
    except OutputError as error:
        raise ProblemError(503, str(error)) from None


@router.get("/logos/{logo}.png", summary="A team's logo", response_class=Response)
@allow("anyone")
def logo(logos: LogosDep, logo: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]) -> Response:
    """A PNG with its transparency, at most 256 pixels wide and high."""
    content = logos.read(logo)
    if content is None:
        raise ProblemError(404, "There is no such logo.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="image/png", headers=headers)
