"""The pictures a call was made from: listed, and each one as it was decoded."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Path, Query, Request, Response
from pydantic import BeforeValidator, Field, FiniteFloat

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import CallViewerDep, RigPartsDep, part_of_context
from downfield.api.http.network_addresses import qr_svg
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import CallId, sends, sent_file
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.api.routes.pairing import base_url
from downfield.capture.footage import CallMarks, FootageFrame
from downfield.core.errors import InputError
from downfield.game.published.game_topics import CallView
from downfield.game.records.models import TopicModel
from downfield.review.bundles.call_file import CallFile
from downfield.review.evidence.call_viewer import CallDrawings, Plane
from downfield.review.evidence.evidence import SealedRecordings, SealState, missing_text
from downfield.review.evidence.finder import EVIDENCE_LIMITS
from downfield.review.pictures.measuring import PointUnit, RulerReading
from downfield.review.pictures.projection import BoardRegion

DEFAULT_S: Final = 1.5  # Default span of the pictures before and after a call, listed or as a clip

MAX_ABOVE_PX: Final = 2400  # Largest edge of a picture from above

router = AuthorizedRouter(prefix="/api/games/{game}/calls/{call}", tags=["calls"])

Seconds = Annotated[
    float, Query(gt=0, le=EVIDENCE_LIMITS.either_side_s, description="How long before the call and after it.")
]
ShownPlane = Annotated[Plane, Query(description="The plane that is to scale: the tops of the bases, or the paint.")]
BoardMm = Annotated[FiniteFloat, Query(ge=-5000, le=5000, description="On the board.")]
Extent = Annotated[float, Query(ge=5, le=5000, description="Of the part that is shown.")]
FrameIndex = Annotated[int, Path(ge=0, le=2**53, description="Its index, as the list has it.")]
Plain = Annotated[
    bool,
    BeforeValidator(lambda given: given or given == ""),  # `?plain` alone
    Query(description="Whether nothing is drawn on it."),
]


class EvidenceFrame(TopicModel):
    """One picture."""

    frame: int = Field(description="Index in its source; a gap means dropped frames.")
    t_ns: int = Field(description="Capture time.")
    measured: bool = Field(description="Whether its scene is kept, so that measurements can be drawn.")
    text: str = Field(description="The gap of the figures concerned, in words; empty for a call about one figure.")


class EvidenceFrames(TopicModel):
    """The pictures around a call."""

    game: str = Field(description="The game's id, for the pictures' addresses even when another game has started.")
    call: CallView
    decisive: int = Field(description="The first frame captured at the instant the call is about or after it.")
    last_before: int | None = Field(description="The frame before it, which does not show it yet; null for none.")
    frames: tuple[EvidenceFrame, ...] = Field(description="In the order they were captured.")
    missing: str = Field(description="Which part of the recording is missing, in words; empty where none is.")


class RecordingSeal(TopicModel):
    """Whether a recording is the one that was sealed."""

    state: SealState = Field(
        description="sealed: as the rig sealed it; altered: not; unsealed: part of it has no seal; none: the game has "
        "no seals, such as one from a video."
    )
    text: str = Field(description="The same in a sentence; empty where there is nothing to tell.")


SealedRecordingsDep = Annotated[SealedRecordings, part_of_context(lambda context: context.sealed_recordings)]


@router.get("/frames", "viewer", summary="The pictures a call was made from")
def frames(row: GameRowDep, viewer: CallViewerDep, call: CallId, seconds: Seconds = DEFAULT_S) -> EvidenceFrames:
    """The pictures in the recording or in the video file being played; right after a call more may be added."""
    evidence = viewer.opened(row, call, seconds)
    stills = evidence.around(seconds)
    return EvidenceFrames(
        game=row.id,
        call=evidence.call,
        decisive=evidence.decisive.frame,
        last_before=None if (before := evidence.last_before) is None else before.frame,
        frames=tuple(_frame(still, evidence.marks(still)) for still in stills),
        missing=missing_text(evidence.call.t_ns, stills, evidence.scenes),
    )


@router.get("/frames/seal", "viewer", summary="Whether these pictures are of the recording that the rig sealed")
def seal(
    row: GameRowDep, viewer: CallViewerDep, sealed: SealedRecordingsDep, call: CallId, seconds: Seconds = DEFAULT_S
) -> RecordingSeal:
    """Every byte of their files is compared with its digest in the game's journal: a second for a minute of video."""
    found = sealed.check(row, viewer.videos(row, call, seconds))
    return RecordingSeal(state=found.state, text=found.text)


@router.get("/frames/{frame}.jpg", "viewer", summary="One of these pictures", **sends("image/jpeg"))
def picture(row: GameRowDep, viewer: CallViewerDep, call: CallId, frame: FrameIndex, plain: Plain = False) -> Response:
    """Exactly this frame, decoded by the server without a video player, with the call's measurement drawn on it."""
    return Response(viewer.jpeg(row, call, frame, plain=plain), media_type="image/jpeg")


@router.get(
    "/frames/{frame}/close-up.jpg",
    "viewer",
    summary="The part of one of these pictures that the call is about",
    **sends("image/jpeg"),
)
def close_up(row: GameRowDep, viewer: CallViewerDep, call: CallId, frame: FrameIndex) -> Response:
    """The figures concerned, or the spot, with the measurement drawn on them."""
    return Response(viewer.close_up_jpeg(row, call, frame), media_type="image/jpeg")


@router.get("/qr.svg", "viewer", summary="The way to a call's frames as a QR code", response_class=Response)
def address_picture(request: Request, row: GameRowDep, call: CallId) -> Response:
    """For paper: a phone's camera opens the frames while the rig that has them runs."""
    query = urlencode({"game": row.id, "call": call})
    return Response(qr_svg(f"{base_url(request)}/evidence?{query}"), media_type="image/svg+xml")


@router.get("/signed.zip", "operator", summary="A call as a signed file", **sends("application/zip", is_binary=True))
def signed_file(history: HistoryDep, rig: RigPartsDep, viewer: CallViewerDep, call: CallId) -> Response:
    """Ruling sheet, pictures and measurements; `downfield verify` tells whether anything of it was changed."""
    if rig.bundles is None:
        raise ProblemError(404, "This service signs nothing. The rig that played the game does.")
    found = next((view for view in (*history.calls(), *history.struck()) if view.id == call), None)
    if found is None:
        raise ProblemError(404, f"This game has no call {call!r}.")
    file = CallFile(history, found, viewer, rig.rig_key)
    return sent_file(file.name, file.chunks(), "application/zip")


@router.get("/frames/drawings", "viewer", summary="What is drawn on these pictures")
def drawings(
    row: GameRowDep, viewer: CallViewerDep, call: CallId, seconds: Seconds = DEFAULT_S, plane: ShownPlane | None = None
) -> CallDrawings:
    """Footprints, gap, faces, spot and lines, as places on the board (mm) and in the camera's picture (px)."""
    return viewer.drawings(row, call, seconds, plane)


@router.get(
    "/frames/{frame}/above.jpg", "viewer", summary="One of these pictures from straight above", **sends("image/jpeg")
)
def above(
    row: GameRowDep,
    viewer: CallViewerDep,
    call: CallId,
    frame: FrameIndex,
    x_mm: BoardMm,
    y_mm: BoardMm,
    width_mm: Extent,
    height_mm: Extent,
    px_per_mm: Annotated[float, Query(ge=0.2, le=12, description="Scale of the picture.")] = 4.0,
    plane: ShownPlane = "base",
) -> Response:
    """A part of the board, warped to scale; x to the right, y up, the given corner lower left."""
    if max(width_mm, height_mm) * px_per_mm > MAX_ABOVE_PX:
        raise ProblemError(
            422, f"The picture would be larger than {MAX_ABOVE_PX} pixels. Ask for a smaller part or scale."
        )
    region = BoardRegion(x_mm, y_mm, width_mm, height_mm, px_per_mm)
    return Response(viewer.above_jpeg(row, call, frame, region, plane), media_type="image/jpeg")


@router.get("/frames/{frame}/measurement", "viewer", summary="A length or an angle on one of these pictures")
def measurement(
    row: GameRowDep,
    viewer: CallViewerDep,
    call: CallId,
    frame: FrameIndex,
    x: Annotated[
        list[FiniteFloat], Query(min_length=2, max_length=3, description="Two points, or three for an angle.")
    ],
    y: Annotated[list[FiniteFloat], Query(min_length=2, max_length=3, description="As many.")],
    unit: Annotated[PointUnit, Query(description="px of the camera's picture, or mm on the board.")] = "px",
    plane: ShownPlane = "base",
) -> RulerReading:
    """In millimeters, field yards and degrees, with the error of the calibration."""
    if len(x) != len(y):
        raise ProblemError(422, "x and y must be equally many: one of each for every point.")
    try:
        return viewer.measure(row, call, frame, list(zip(x, y, strict=True)), unit, plane)
    except InputError as error:
        raise ProblemError(422, str(error)) from None


def _frame(still: FootageFrame, marks: CallMarks) -> EvidenceFrame:
    return EvidenceFrame(frame=still.frame, t_ns=still.t_ns, measured=marks.scene is not None, text=marks.gap_text)
