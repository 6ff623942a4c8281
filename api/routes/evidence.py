"""The pictures a call was made from, to be stepped through one by one: listed, and each as it was decoded."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.requests import HTTPConnection
from pydantic import BeforeValidator, Field

from downfield.api.requests import CallId, GameId
from downfield.api.routes.games import row_of
from downfield.api.security.roles import allow
from downfield.api.services import AppContextDep
from downfield.game.evidence import LIMITS, EvidenceFinder
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.published.game_topics import CallView, TopicModel

_USUAL_S: Final = 1.5

router = APIRouter(prefix="/api/games/{game}/calls/{call}", tags=["calls"])


def _finder(connection: HTTPConnection) -> EvidenceFinder:
    finder: EvidenceFinder = connection.app.state.evidence
    return finder


EvidenceFinderDep = Annotated[EvidenceFinder, Depends(_finder)]

Frame = Annotated[int, Path(ge=0, le=2**53, description="Its index, as the list has it.")]
Plain = Annotated[
    bool,
    BeforeValidator(lambda given: given or given == ""),  # `?plain` alone
    Query(description="Whether nothing is drawn on it."),
]


class EvidenceFrame(TopicModel):
    """One picture."""

    frame: int = Field(description="Index in its source; a gap is pictures that were lost.")
    t_ns: int = Field(description="Capture time.")
    measured: bool = Field(description="Whether what was seen on it is kept, and can be drawn.")
    text: str = Field(description="How far those concerned are apart on it, in words; empty for a call about one.")


class EvidenceFrames(TopicModel):
    """The pictures around a call."""

    game: str = Field(description="The game's id, for the pictures' addresses even when another game has begun.")
    call: CallView
    decisive: int = Field(description="The frame captured nearest to the instant the call is about.")
    frames: tuple[EvidenceFrame, ...] = Field(description="In the order they were captured.")


@router.get("/frames", summary="The pictures a call was made from")
@allow("viewer")
def frames(
    parts: AppContextDep,
    finder: EvidenceFinderDep,
    game: GameId,
    call: CallId,
    seconds: Annotated[
        float, Query(gt=0, le=LIMITS.either_side_s, description="So long before the call and after it.")
    ] = _USUAL_S,
) -> EvidenceFrames:
    """What the recording, or the video file being played, holds of them; more may come while a call is fresh."""
    row = row_of(parts.store, parts.hub, game)
    evidence = finder.find(row, call)
    decisive = evidence.decisive
    around = [
        still for still in evidence.stills if abs(still.t_ns - evidence.call.t_ns) <= seconds * 1e9 or still is decisive
    ]
    return EvidenceFrames(
        game=row.id,
        call=evidence.call,
        decisive=decisive.frame,
        frames=tuple(_read(still, evidence.marks(still)) for still in around),
    )


@router.get(
    "/frames/{frame}.jpg",
    summary="One of these pictures",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def picture(
    parts: AppContextDep, finder: EvidenceFinderDep, game: GameId, call: CallId, frame: Frame, plain: Plain = False
) -> Response:
    """Exactly that one, decoded here: no player is involved. The call's measurement is drawn on it."""
    jpeg = finder.jpeg(row_of(parts.store, parts.hub, game), call, frame, plain=plain)
    return Response(jpeg, media_type="image/jpeg")


def _read(still: FootageFrame, marks: CallMarks) -> EvidenceFrame:
    return EvidenceFrame(frame=still.frame, t_ns=still.t_ns, measured=marks.scene is not None, text=marks.gap_text)
