"""Files of a game to take along: clips and pictures of a call or a play, and tracks as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Final

from fastapi import Depends, Path, Query, Response

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import RigPartsDep, StoreDep, part_of_context
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import CallId, sends, sent_file
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.core.errors import MissingExtraError
from downfield.review.bundles.format import SUFFIX
from downfield.review.evidence.exports import ClipExporter, ClipOptions
from downfield.review.evidence.finder import EVIDENCE_LIMITS
from downfield.review.pictures.clips import MEDIA_TYPES, ClipFormat
from downfield.review.pictures.painting import DRAWING_KINDS, DrawingKind
from downfield.review.tracks import TrackTable, tracks_csv, tracks_parquet
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

DEFAULT_S: Final = 1.5  # Default span of a clip before and after the call

router = AuthorizedRouter(prefix="/api/games/{game}", tags=["calls"])


def _file_of(media_types: Iterable[str]) -> dict[str, Any]:
    content = {kind: {"schema": {"type": "string"}} for kind in media_types}
    return {"response_class": Response, "responses": {200: {"content": content}}}


_CLIP: Final = _file_of(MEDIA_TYPES.values())
_PICTURE: Final = _file_of(["image/png"])


def _options(
    speed: Annotated[float, Query(ge=0.05, le=1, description="1 for real time, 0.5 for half speed.")] = 1.0,
    plain: Annotated[bool, Query(description="Without drawings and words.")] = False,
    draw: Annotated[
        list[DrawingKind] | None, Query(description="Kinds of drawings; all of them where none is named.")
    ] = None,
    width: Annotated[int, Query(ge=160, le=3840, description="Of the picture at most, pixels.")] = 1280,
) -> ClipOptions:
    return ClipOptions(speed, () if plain else tuple(draw or DRAWING_KINDS), width)


ExporterDep = Annotated[ClipExporter, part_of_context(lambda context: context.exporter)]
OptionsDep = Annotated[ClipOptions, Depends(_options)]
PlayNumber = Annotated[int, Path(ge=1, le=100_000, description="Its number in the game.")]
Form = Annotated[ClipFormat, Path(description="mp4 (H.264) or gif.")]


@router.get("/calls/{call}/clip.{form}", "viewer", summary="A clip of a call as a file", **_CLIP)
def call_clip(
    row: GameRowDep,
    exporter: ExporterDep,
    options: OptionsDep,
    call: CallId,
    form: Form,
    seconds: Annotated[
        float, Query(gt=0, le=EVIDENCE_LIMITS.either_side_s, description="How long before the call and after it.")
    ] = DEFAULT_S,
) -> Response:
    """Every frame at its time, with the call's words below. Made aside from the game, which goes on undisturbed."""
    return sent_file(*exporter.call(row, call, form, seconds, options), MEDIA_TYPES[form])


@router.get("/plays/{play}/clip.{form}", "viewer", summary="A clip of a play as a file", **_CLIP)
def play_clip(row: GameRowDep, exporter: ExporterDep, options: OptionsDep, play: PlayNumber, form: Form) -> Response:
    """From a second before the snap until the play is over; near a call with its words and measurement."""
    return sent_file(*exporter.play(row, play, form, options), MEDIA_TYPES[form])


@router.get("/calls/{call}/picture.png", "viewer", summary="A call's decisive picture as a file", **_PICTURE)
def call_picture(row: GameRowDep, exporter: ExporterDep, options: OptionsDep, call: CallId) -> Response:
    """With the ways of the figures concerned up to it, and the call's words below."""
    return sent_file(*exporter.call_picture(row, call, options), "image/png")


@router.get("/plays/{play}/picture.png", "viewer", summary="A picture of the end of a play as a file", **_PICTURE)
def play_picture(row: GameRowDep, exporter: ExporterDep, options: OptionsDep, play: PlayNumber) -> Response:
    """With the way of the carrier from before the snap on."""
    return sent_file(*exporter.play_picture(row, play, options), "image/png")


PARQUET: Final = "application/vnd.apache.parquet"  # Registered with IANA

track_router = AuthorizedRouter(prefix="/api/games/{game}", tags=["games"])

Play = Annotated[int | None, Query(ge=1, le=100_000, description="Number of one play; the whole game without.")]


@track_router.get("/tracks.csv", "viewer", summary="The figures' tracks as CSV", **sends("text/csv"))
def tracks_as_csv(history: HistoryDep, store: StoreDep, play: Play = None) -> Response:
    """One row for each figure in each frame; docs/formats.md describes the columns."""
    return _response(tracks_csv, store, history, play, "csv", "text/csv; charset=utf-8")


@track_router.get("/tracks.parquet", "viewer", summary="The figures' tracks as Parquet", **sends(PARQUET, "binary"))
def tracks_as_parquet(history: HistoryDep, store: StoreDep, play: Play = None) -> Response:
    """The same table in the form that analysis programs read; needs the rig's extra `analysis`."""
    return _response(tracks_parquet, store, history, play, "parquet", PARQUET)


def _response(
    write: Callable[[TrackTable], Iterator[bytes]],
    store: StoreReader,
    history: History,
    play: int | None,
    suffix: str,
    media_type: str,
) -> Response:
    try:
        chunks = write(TrackTable(store, history, play))
    except MissingExtraError as error:
        raise ProblemError(404, f"{error.lacking}, which is not installed on the rig", "missing_extra") from None
    part = "" if play is None else f".play-{play}"
    return sent_file(f"{history.row.id}{part}.tracks.{suffix}", chunks, media_type)


@track_router.get("/bundle.zip", "operator", summary="A game as a signed bundle", **sends("application/zip", "binary"))
def bundle(
    row: GameRowDep,
    rig: RigPartsDep,
    video: Annotated[bool, Query(description="Whether to include the recording.")] = True,
) -> Response:
    """For `downfield verify` and `downfield review` on any computer; made while it is sent."""
    if rig.bundles is None:
        raise ProblemError(404, "This service makes no bundles. The rig that played the game does.")
    return sent_file(f"{row.id}{SUFFIX}", rig.bundles.chunks(row, video=video), "application/zip")
