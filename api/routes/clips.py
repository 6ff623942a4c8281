"""Clips of a call to send to others."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.requests import HTTPConnection

from downfield.api.requests import CallId
from downfield.api.routes.games import GameRowDep
from downfield.api.security.roles import allow
from downfield.game.evidence import LIMITS
from downfield.review.clips import MEDIA_TYPES, ClipFormat
from downfield.review.exports import ClipExporter, ClipOptions
from downfield.review.painting import DRAWING_KINDS, DrawingKind

DEFAULT_S: Final = 1.5
"""Default span of a clip before and after the call."""

router = APIRouter(prefix="/api/games/{game}/calls/{call}", tags=["calls"])


async def _exporter(connection: HTTPConnection) -> ClipExporter:
    exporter: ClipExporter = connection.app.state.exporter
    return exporter


@router.get(
    "/clip.{form}",
    summary="A clip of a call as a file",
    response_class=Response,
    responses={200: {"content": {kind: {"schema": {"type": "string"}} for kind in MEDIA_TYPES.values()}}},
)
@allow("viewer")
def clip(
    row: GameRowDep,
    exporter: Annotated[ClipExporter, Depends(_exporter)],
    call: CallId,
    form: Annotated[ClipFormat, Path(description="mp4 (H.264) or gif.")],
    seconds: Annotated[
        float, Query(gt=0, le=LIMITS.either_side_s, description="How long before the call and after it.")
    ] = DEFAULT_S,
    speed: Annotated[float, Query(ge=0.05, le=1, description="1 for real time, 0.5 for half speed.")] = 1.0,
    plain: Annotated[bool, Query(description="Without drawings and words.")] = False,
    draw: Annotated[
        list[DrawingKind] | None, Query(description="Kinds of drawings; all of them where none is named.")
    ] = None,
    width: Annotated[int, Query(ge=160, le=3840, description="Of the picture at most, pixels.")] = 1280,
) -> Response:
    """Every frame at its time, with the call's words below. Made aside from the game, which goes on undisturbed."""
    kinds = () if plain else tuple(draw or DRAWING_KINDS)
    name, content = exporter.call(row, call, form, ClipOptions(seconds, speed, kinds, width))
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=MEDIA_TYPES[form], headers=headers)
