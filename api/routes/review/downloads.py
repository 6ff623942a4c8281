"""The tracks of a game or a play as tables for spreadsheets and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from downfield.api.context.context import RigPartsDep, StoreDep
from downfield.api.http.problems import ProblemError
from downfield.api.routes.review.games import GameRowDep, HistoryDep
from downfield.api.security.roles import allow
from downfield.core.errors import MissingExtraError
from downfield.review.bundles.format import SUFFIX
from downfield.review.games.tracks import TrackTable, tracks_csv, tracks_parquet
from downfield.store.database.reader import StoreReader
from downfield.store.history import History

PARQUET: Final = "application/vnd.apache.parquet"
"""Registered with IANA."""

router = APIRouter(prefix="/api/games/{game}", tags=["games"])

Play = Annotated[int | None, Query(ge=1, le=100_000, description="Number of one play; the whole game without.")]


@router.get(
    "/tracks.csv",
    summary="The figures' tracks as CSV",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
@allow("viewer")
def tracks_as_csv(history: HistoryDep, store: StoreDep, play: Play = None) -> StreamingResponse:
    """One row for each figure in each frame; docs/formats.md describes the columns."""
    return _response(tracks_csv, store, history, play, "csv", "text/csv; charset=utf-8")


@router.get(
    "/tracks.parquet",
    summary="The figures' tracks as Parquet",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
@allow("viewer")
def tracks_as_parquet(history: HistoryDep, store: StoreDep, play: Play = None) -> StreamingResponse:
    """The same table in the form that analysis programs read; needs the rig's extra `analysis`."""
    return _response(tracks_parquet, store, history, play, "parquet", PARQUET)


def _response(
    write: Callable[[TrackTable], Iterator[bytes]],
    store: StoreReader,
    history: History,
    play: int | None,
    suffix: str,
    media_type: str,
) -> StreamingResponse:
    try:
        chunks = write(TrackTable(store, history, play))
    except MissingExtraError as error:
        raise ProblemError(404, f"{error.lacking}, which is not installed on the rig", "missing_extra") from None
    first = next(chunks)  # what can't be read is told before the response begins
    part = "" if play is None else f".play-{play}"
    headers = {"Content-Disposition": f'attachment; filename="{history.row.id}{part}.tracks.{suffix}"'}
    return StreamingResponse(chain([first], chunks), media_type=media_type, headers=headers)


@router.get(
    "/bundle.zip",
    summary="A game as a signed bundle",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
)
@allow("operator")
def bundle(
    row: GameRowDep,
    rig: RigPartsDep,
    video: Annotated[bool, Query(description="Whether to include the recording.")] = True,
) -> StreamingResponse:
    """For `downfield verify` and `downfield review` on any computer; made while it is sent."""
    if rig.bundles is None:
        raise ProblemError(404, "This service makes no bundles. The rig that played the game does.")
    chunks = rig.bundles.chunks(row, video=video)
    first = next(chunks)  # what can't be read is told before the response begins
    headers = {"Content-Disposition": f'attachment; filename="{row.id}{SUFFIX}"'}
    return StreamingResponse(chain([first], chunks), media_type="application/zip", headers=headers)
