"""What the stream shows: cards, elements, sponsors, logos, overlays, instant replays, highlights, captions."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import AppContext, AppContextDep, StoreDep, part_of_context
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import PICTURE_BODY, CallId, sends, sent_file
from downfield.api.routes.games import GameRowDep
from downfield.broadcast import cards
from downfield.broadcast.cards import FinalScore, standings_card
from downfield.broadcast.integrations.documents import WALL_CLOCK_NS, web_vtt
from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.on_air import OnAir
from downfield.broadcast.overlays.installed import Overlay, installed_overlays
from downfield.broadcast.replay.director import ReplayDirector
from downfield.broadcast.replay.highlights import highlight_film
from downfield.core.errors import NotFoundError
from downfield.core.platform.clock import RUN_CLOCK
from downfield.game.published.stream_topics import (
    CardKind,
    GraphicRequest,
    GraphicView,
    OnAirElement,
    OnAirView,
    ReplayView,
    SponsorsView,
)
from downfield.game.records.models import RequestModel, TopicModel
from downfield.review.catalog import GameSearch
from downfield.store.history import History

router = AuthorizedRouter(prefix="/api", tags=["graphics"])

_COUNTED_GAMES: Final = 500  # the latest: a season or two


@router.get("/overlays", "anyone", summary="The overlays that are installed")
def overlays() -> list[Overlay]:
    """With what each shows, the size of its browser source in OBS, and the options of its address."""
    return list(installed_overlays().overlays.values())


@router.post("/graphic", "producer", summary="Show a card on the stream")
def show_graphic(
    context: AppContextDep,
    wanted: GraphicRequest,
    preview: Annotated[bool, Query(description="Only return it: nothing is shown.")] = False,
) -> GraphicView:
    """Made from what the game knows now; it takes the place of the card before."""
    card = _card(context, wanted).model_copy(update={"seconds": wanted.seconds})
    return card if preview else context.on_air.show(card)


@router.get("/graphic/{kind}", "viewer", summary="A card as it would be made now")
def made_graphic(context: AppContextDep, kind: CardKind) -> GraphicView:
    """For overlays that always show a card of one kind; what is on air stays."""
    return _card(context, GraphicRequest(kind=kind))


@router.delete("/graphic", "producer", summary="Take the card off the stream")
def hide_graphic(context: AppContextDep) -> GraphicView:
    """The overlay is empty afterwards."""
    return context.on_air.show(GraphicView())


def _card(context: AppContextDep, wanted: GraphicRequest) -> GraphicView:
    if wanted.kind == "message":
        if not wanted.title:
            raise ProblemError(422, "A message needs a title.")
        return GraphicView(kind="message", title=wanted.title, subtitle=wanted.subtitle, logo=wanted.logo)
    if wanted.kind == "standings":
        return standings_card(_final_scores(context))
    rig, service = context.rig, context.rig.game_service
    game, row = rig.hub.value("game"), rig.store.game(service.game_id)
    if wanted.kind == "lower_third":
        return cards.lower_third(game, service.line_up.players, context.on_air.now.people, wanted)
    if game is None or row is None:
        raise NotFoundError("No game is in play.")
    if wanted.kind == "review":
        return cards.review_card(game, service.calls())
    players = service.line_up.players
    if wanted.kind == "line_up":
        return cards.line_up_card(game, players, wanted.side)
    history = History(rig.store, row)
    if wanted.kind in {"starting_soon", "halftime", "final"}:
        return cards.full_card(game, history, wanted, RUN_CLOCK.now_ms())
    if wanted.kind == "drive":
        return cards.drive_card(game, history)
    if wanted.kind == "teams":
        return cards.teams_card(game, history)
    return cards.player_card(game, history, players, wanted.player)


def _final_scores(context: AppContext) -> list[FinalScore]:
    """Return the finished games of the store, the latest first; one that ended before its first play was no game."""
    lines = context.catalog.find(GameSearch(standing="ended"), limit=_COUNTED_GAMES)
    played = (line for line in lines if any(line.score) or History(context.rig.store, line.row).plays())
    return [FinalScore(line.row.home, line.row.away, line.score) for line in played]


OnAirDep = Annotated[OnAir, part_of_context(lambda context: context.on_air)]


class SwitchRequest(RequestModel):
    """Whether an element is on air."""

    on: bool | None = Field(default=None, description="null for the other of both.")


@router.get("/on-air", "viewer", summary="What the producer puts on air")
def get_on_air(on_air: OnAirDep) -> OnAirView:
    """The elements that are on, their look, the people, presets and prepared cards."""
    return on_air.now


@router.post("/on-air", "producer", summary="Change what is on air")
def change_on_air(on_air: OnAirDep, wanted: OnAirView) -> OnAirView:
    """At once, on every overlay and in the program; what is left out stays. Kept over restarts."""
    return on_air.change(**{name: getattr(wanted, name) for name in wanted.model_fields_set})


@router.post("/on-air/elements/{element}", "producer", summary="Put an element on air or take it off")
def switch_element(on_air: OnAirDep, element: OnAirElement, wanted: SwitchRequest) -> OnAirView:
    """One button for each: without `on` it is the other of both afterwards."""
    return on_air.switch(element, wanted.on)


@router.post("/on-air/presets/{name}", "producer", summary="Put a preset on air")
def use_preset(on_air: OnAirDep, name: Annotated[str, Path(max_length=40)]) -> OnAirView:
    """Its elements, style and program in place of those now."""
    return on_air.use_preset(name)


@router.get("/sponsors", "viewer", summary="The sponsors on the stream")
def get_sponsors(on_air: OnAirDep) -> SponsorsView:
    """Their logos in the order shown."""
    return on_air.sponsors


@router.put("/sponsors", "producer", summary="Choose the sponsors on the stream")
def use_sponsors(on_air: OnAirDep, wanted: SponsorsView) -> SponsorsView:
    """In place of those from before; kept over restarts."""
    return on_air.use_sponsors(wanted)


logo_router = AuthorizedRouter(tags=["teams"])


class LogoView(TopicModel):
    """A logo that is kept."""

    logo: str


LogosDep = Annotated[LogoFolder, part_of_context(lambda context: context.logos)]


@logo_router.post("/api/logos", "producer", summary="Upload a team's logo", openapi_extra=PICTURE_BODY)
async def upload(request: Request, logos: LogosDep) -> LogoView:
    """A PNG, JPEG or WebP file of at most 1 MiB as the body. Give the name in the answer as a team's `logo`."""
    data = await request.body()
    return LogoView(logo=await run_in_threadpool(logos.keep, data))


@logo_router.get("/logos/{logo}.png", "anyone", summary="A team's logo", response_class=Response)
def logo(logos: LogosDep, logo: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]) -> Response:
    """A PNG with its transparency, at most 256 pixels wide and high."""
    content = logos.read(logo)
    if content is None:
        raise ProblemError(404, "There is no such logo.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="image/png", headers=headers)


replay_router = AuthorizedRouter(prefix="/api", tags=["replay"])


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


@replay_router.post("/replay", "producer", summary="Put the replay of a call on the overlay", status_code=202)
def show_replay(director: DirectorDep, request: ReplayRequest) -> ReplayView:
    """Returns at once; the topic `replay` says when it is ready. The game is not touched by it."""
    return director.show(request.call)


@replay_router.patch("/replay", "producer", summary="Slow down or freeze the replay on the overlay")
def pace_replay(director: DirectorDep, pace: PaceRequest) -> ReplayView:
    """From now on, wherever it is shown; the next replay begins at its own speed."""
    return director.pace(pace.speed, frozen=pace.frozen)


@replay_router.delete("/replay", "producer", summary="Take the replay off the overlay")
def hide_replay(director: DirectorDep) -> ReplayView:
    """A replay that is being made is not shown either."""
    return director.hide()


@replay_router.get(
    "/games/{game}/highlights.mp4", "viewer", summary="The highlights of a game as one film", **sends("video/mp4")
)
def highlights(row: GameRowDep, context: AppContextDep) -> Response:
    """The greatest plays, each at real speed and then its replay; sent while it is made."""
    films, plays = context.films, History(context.rig.store, row).plays()
    parts = films.parts(highlight_film(row, plays, context.evidence, films.renderer))
    return sent_file(f"downfield_{row.id}_highlights.mp4", parts, "video/mp4")


@replay_router.get(
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


@replay_router.get(
    "/games/{game}/calls/{call}/replay.mp4", "viewer", summary="The replay of a call as a clip", **sends("video/mp4")
)
def replay_clip(row: GameRowDep, director: DirectorDep, call: CallId) -> Response:
    """Seen from straight above, slower and closer up to the decisive frame, which stays with the verdict on it."""
    clip = director.clip(row, call)
    headers = {"Content-Disposition": f'inline; filename="{clip.name}"', "Cache-Control": "no-cache"}
    return StreamingResponse(clip.parts(), media_type="video/mp4", headers=headers)
