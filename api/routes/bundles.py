"""A game with all its evidence as one signed file."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from downfield.api.dependencies import AppContextDep
from downfield.api.problems import ProblemError
from downfield.api.routes.games import GameRowDep
from downfield.api.security.roles import allow
from downfield.review.bundles.format import SUFFIX

router = APIRouter(prefix="/api/games/{game}", tags=["games"])


@router.get(
    "/bundle.zip",
    summary="A game as a signed bundle",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
)
@allow("operator")
def bundle(
    row: GameRowDep,
    context: AppContextDep,
    video: Annotated[bool, Query(description="Whether to include the recording.")] = True,
) -> StreamingResponse:
    """For `downfield verify` and `downfield review` on any computer; made while it is sent."""
    if context.bundles is None:
        raise ProblemError(404, "This service makes no bundles. The rig that played the game does.")
    chunks = context.bundles.chunks(row, video=video)
    first = next(chunks)  # what can't be read is told before the response begins
    headers = {"Content-Disposition": f'attachment; filename="{row.id}{SUFFIX}"'}
    return StreamingResponse(chain([first], chunks), media_type="application/zip", headers=headers)
