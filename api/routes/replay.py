"""Instant replay: put one on the overlay, take it off, load its clip; the highlights of a game."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import AppContextDep, StoreDep, part_of_context
from downfield.api.http.requests import CallId, sends, sent_file
from downfield.api.routes.games import GameRowDep
from downfield.broadcast.integrations.documents import WALL_CLOCK_NS, web_vtt
from downfield.broadcast.replay.director import ReplayDirector
from downfield.broadcast.replay.highlights import highlight_film
from downfield.game.published.stream_topics import ReplayView
from downfield.game.records.models import RequestModel
from downfield.store.history import History

router = AuthorizedRouter(prefix="/api", tags=["replay"])


class ReplayRequest(RequestModel):
    """Which call to replay."""

    call: str | None = Field(
        default=None, max_length=200, description="Its id; null for the latest call that shows something on the board."
    )


class PaceRequest(RequestModel):
    """How the replay on the overlay is played."""

    speed: float = Field(default=1.0, ge=0.1, le=2.0, description="1 as it was made, which is slow motion by itself.")
    frozen: bool = Field(default=False, description="Whether its picture is held.")


DirectorDep = Annotated[ReplayDirector, part_of_context(lambda context: context.replays)]


@router.post("/replay", "producer", summary="Put the replay of a call on the overlay", status_code=202)
def show_replay(director: DirectorDep, request: ReplayRequest) -> ReplayView:
    """Returns at once; the topic `replay` says when it is ready. The game is not touched by it."""
    return director.show(request.call)


@router.patch("/replay", "producer", summary="Slow down or freeze the replay on the overlay")
def pace_replay(director: DirectorDep, pace: PaceRequest) -> ReplayView:
    """From now on, wherever it is shown; the next replay begins at its own speed."""
    return director.pace(pace.speed, frozen=pace.frozen)


@router.delete("/replay", "producer", summary="Take the replay off the overlay")
def hide_replay(director: DirectorDep) -> ReplayView:
    """A replay that is being made is not shown either."""
    return director.hide()


@router.get(
    "/games/{game}/highlights.mp4", "viewer", summary="The highlights of a game as one film", **sends("video/mp4")
)
def highlights(row: GameRowDep, context: AppContextDep) -> Response:
    """The greatest plays, each at real speed and then its replay; sent while it is made."""
    films, plays = context.films, History(context.rig.store, row).plays()
    parts = films.parts(highlight_film(row, plays, context.evidence, films.renderer))
    return sent_file(f"downfield_{row.id}_highlights.mp4", parts, "video/mp4")


@router.get(
    "/games/{game}/captions.vtt", "viewer", summary="The calls of a game as captions (WebVTT)", **sends("text/vtt")
)
def captions(
    row: GameRowDep,
    store: StoreDep,
    start_ms: Annotated[
        int | None, Query(ge=0, le=10**14, description="When the video began, ms since 1970; null: with the game.")
    ] = None,
    offset: Annotated[float, Query(ge=-86_400, le=86_400, description="Added to all times, seconds.")] = 0.0,
) -> Response:
    """Times are from the start of the video: of a recording that was refereed, or of a stream of a live game."""
    calls = History(store, row).calls()
    live = any(call.t_ns > WALL_CLOCK_NS for call in calls)
    from_ns = start_ms * 1_000_000 if start_ms is not None else row.began_ns if live else 0
    return Response(web_vtt(calls, from_ns, offset), media_type="text/vtt; charset=utf-8")


@router.get(
    "/games/{game}/calls/{call}/replay.mp4", "viewer", summary="The replay of a call as a clip", **sends("video/mp4")
)
def replay_clip(row: GameRowDep, director: DirectorDep, call: CallId) -> Response:
    """Seen from straight above, slower and closer up to the decisive frame, which stays with the verdict on it."""
    clip = director.clip(row, call)
    headers = {"Content-Disposition": f'inline; filename="{clip.name}"', "Cache-Control": "no-cache"}
    return StreamingResponse(clip.parts(), media_type="video/mp4", headers=headers)
