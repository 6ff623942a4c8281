"""Files of a game to take along: clips, pictures, tracks, bundles and reports; how the calls of all games fared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final, Literal

from fastapi import Depends, Path, Query, Response
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import RigPartsDep, StoreDep, part_of_context
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import CallId, sends, sent_file
from downfield.api.routes.evidence import DEFAULT_S, Seconds
from downfield.api.routes.games import GameRowDep, HistoryDep
from downfield.core.errors import BusyError, MissingExtraError, NotFoundError
from downfield.core.files.csv_text import csv_text
from downfield.core.records import made_of
from downfield.game.records.models import TopicModel
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Policy
from downfield.review.bundles.format import SUFFIX
from downfield.review.evidence.exports import ClipExporter, ClipOptions
from downfield.review.pictures.clips import MEDIA_TYPES, ClipFormat
from downfield.review.pictures.painting import DRAWING_KINDS, DrawingKind
from downfield.review.reports.game_report import RecentReport
from downfield.review.reports.shadow import ShadowReport, call_outcomes
from downfield.review.tracks import TrackTable, tracks_csv, tracks_parquet
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

router = AuthorizedRouter(prefix="/api/games/{game}", tags=["calls"])


_CLIP: Final = sends(*MEDIA_TYPES.values())
_PICTURE: Final = sends("image/png")


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
    row: GameRowDep, exporter: ExporterDep, options: OptionsDep, call: CallId, form: Form, seconds: Seconds = DEFAULT_S
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

game_router = AuthorizedRouter(prefix="/api", tags=["games"])

Play = Annotated[int | None, Query(ge=1, le=100_000, description="Number of one play; the whole game without.")]


@game_router.get("/games/{game}/tracks.csv", "viewer", summary="The figures' tracks as CSV", **sends("text/csv"))
def tracks_as_csv(history: HistoryDep, store: StoreDep, play: Play = None) -> Response:
    """One row for each figure in each frame; docs/formats.md describes the columns."""
    return _response(tracks_csv, store, history, play, "csv", "text/csv; charset=utf-8")


@game_router.get(
    "/games/{game}/tracks.parquet", "viewer", summary="The figures' tracks as Parquet", **sends(PARQUET, is_binary=True)
)
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


@game_router.get(
    "/games/{game}/bundle.zip",
    "operator",
    summary="A game as a signed bundle",
    **sends("application/zip", is_binary=True),
)
def bundle(
    row: GameRowDep,
    rig: RigPartsDep,
    video: Annotated[bool, Query(description="Whether to include the recording.")] = True,
) -> Response:
    """For `downfield verify` and `downfield review` on any computer; made while it is sent."""
    if rig.bundles is None:
        raise ProblemError(404, "This service makes no bundles. The rig that played the game does.")
    return sent_file(f"{row.id}{SUFFIX}", rig.bundles.chunks(row, video=video), "application/zip")


REPORT_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""A report has its style in it, and loads nothing."""

_working = threading.BoundedSemaphore(1)


RecentReportDep = Annotated[RecentReport, part_of_context(lambda context: context.recent_report)]


class CallOutcomesView(TopicModel):
    """How the calls of one kind fared with people."""

    kind: CallKind
    called: int = Field(description="Made by the rulebook alone, and never disputed.")
    confirmed: int
    overturned: int = Field(description="Overturned or struck.")
    too_close: int = Field(description="Too close to call, whoever decided them later.")
    open: int = Field(description="Decided by nobody yet.")
    by_hand: int = Field(description="Made by a person, because the rulebook had not.")
    overturned_share: float | None = Field(description="Of people's decisions; null where there were none.")
    suggestion: Policy | None = Field(description="The policy that this suggests; null for none.")
    why: str = Field(description="Why, in words.")


@game_router.get("/games/{game}/report.html", "viewer", summary="A game's report for print", **sends("text/html"))
def report(history: HistoryDep, rig: RigPartsDep, recent: RecentReportDep) -> Response:
    """Box score, drives, play by play, figures, heat maps and play diagrams in one file that loads nothing."""
    public_key = "" if rig.bundles is None else rig.rig_key.public_text  # a review signs nothing
    with _alone():
        page = recent.of(rig.store, history).html(public_key)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


@game_router.get(
    "/games/{game}/shadow.html",
    "operator",
    summary="The machine's calls in the shadow of a game, compared with what people declared",
    **sends("text/html"),
)
def shadow_report(history: HistoryDep, store: StoreDep) -> Response:
    """By kind and play by play, for print; 404 for a game that was not played in shadow mode."""
    with _alone():
        found = ShadowReport(store, history.row)
        if not found.starts:
            raise NotFoundError(f"Game {history.row.id} was not played in shadow mode.")
        page = found.html()
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": REPORT_POLICY})


@game_router.get(
    "/games/{game}/report/{table}.csv", "viewer", summary="One table of a game's report", **sends("text/csv")
)
def report_table(
    history: HistoryDep,
    store: StoreDep,
    recent: RecentReportDep,
    table: Literal["plays", "drives", "box", "figures", "calls"],
) -> Response:
    """For spreadsheets: play by play, drive chart, box score, statistics by figure, or how the calls fared."""
    with _alone():
        found = recent.of(store, history).csv(table)
    return sent_file(f"{history.row.id}.{table}.csv", csv_text(found.head, found.rows), "text/csv; charset=utf-8")


@game_router.get("/call-outcomes", "viewer", summary="How the calls of the latest games fared, by kind")
def outcomes(
    store: StoreDep, games: Annotated[int, Query(ge=1, le=200, description="How many games, the latest.")] = 50
) -> list[CallOutcomesView]:
    """From it a league sets which kinds of calls need no person (policy `auto`), and which do (`propose`).

    `PUT /api/policies/{kind}` sets it.
    """
    with _alone():
        found = call_outcomes(History(store, row) for row in store.games(games))
        return [
            made_of(CallOutcomesView, one, suggestion=one.suggestion.policy, why=one.suggestion.why) for one in found
        ]


@contextmanager
def _alone() -> Iterator[None]:
    """Make one report at a time, so that the referee keeps a core."""
    if not _working.acquire(blocking=False):
        raise BusyError("Another report is being made. Try again in a few seconds.")
    try:
        yield
    finally:
        _working.release()
