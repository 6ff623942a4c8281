"""The sponsors' logos on the stream: which, how long each, and whether they are shown."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from downfield.api.context.access_control import RepeatableRoute
from downfield.api.context.context import AppContextDep
from downfield.api.http.problems import ProblemError
from downfield.api.security.roles import allow
from downfield.broadcast.graphics.logos import KeptSponsors, SponsorsRequest
from downfield.core.errors import InputError, OutputError
from downfield.game.published.stream_topics import SponsorsView

router = APIRouter(prefix="/api", tags=["graphics"], route_class=RepeatableRoute)


async def _sponsors(context: AppContextDep) -> KeptSponsors:
    return context.sponsors


SponsorsDep = Annotated[KeptSponsors, Depends(_sponsors)]


@router.get("/sponsors", summary="The sponsors on the stream")
@allow("viewer")
def get_sponsors(sponsors: SponsorsDep) -> SponsorsView:
    """Their logos in the order shown."""
    return sponsors.now


@router.put("/sponsors", summary="Choose the sponsors on the stream")
@allow("operator")
def use_sponsors(sponsors: SponsorsDep, wanted: SponsorsRequest) -> SponsorsView:
    """In place of those from before; kept over restarts."""
    try:
        return sponsors.use(wanted)
    except InputError as error:
        raise ProblemError(422, str(error)) from None
    except OutputError as error:
        raise ProblemError(503, str(error)) from None
