"""Cards, sponsors, logos and overlays on the stream: what is shown, what there is, and changing it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from downfield.api.context.access_control import RepeatableRoute
from downfield.api.context.context import AppContext, AppContextDep, part_of_context
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import PICTURE_BODY
from downfield.api.security.access import allow
from downfield.broadcast import cards
from downfield.broadcast.cards import FinalScore, standings_card
from downfield.broadcast.logos import KeptSponsors, LogoFolder, SponsorsRequest
from downfield.broadcast.overlays.installed import Overlay, installed_overlays
from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.game.published.stream_topics import GraphicView, SponsorsView
from downfield.game.records.commands import Logo
from downfield.game.records.models import RequestModel, TopicModel
from downfield.officiating.declarations import Side
from downfield.review.catalog import GameSearch
from downfield.store.history import History

router = APIRouter(prefix="/api", tags=["graphics"], route_class=RepeatableRoute)

_LINE: Final = r"^[^\x00-\x1f\x7f]*$"
_COUNTED_GAMES: Final = 500  # the latest: a season or two


class GraphicRequest(RequestModel):
    """Which card to show."""

    kind: cards.CardKind
    player: str = Field(default="", max_length=60, description="Roster id, for a player's card.")
    side: Side = Field(default="home", description="Whose line-up.")
    title: Annotated[
        str, Field(max_length=80, pattern=_LINE, description="Of a message, such as a sponsor's name.")
    ] = ""
    subtitle: Annotated[str, Field(max_length=160, pattern=_LINE)] = ""
    logo: Logo | None = Field(
        default=None, description="Of a message, such as a sponsor's, as `POST /api/logos` named it."
    )
    seconds: float = Field(default=8.0, ge=0, le=600, description="How long it stays; 0 until it is taken off.")


@router.get("/overlays", summary="The overlays that are installed")
@allow("anyone")
def overlays() -> list[Overlay]:
    """With what each shows, the size of its browser source in OBS, and the options of its address."""
    return list(installed_overlays().overlays.values())


@router.post("/graphic", summary="Show a card on the stream")
@allow("producer")
def show_graphic(context: AppContextDep, wanted: GraphicRequest) -> GraphicView:
    """Made from what the game knows now; it takes the place of the card before."""
    return _publish(context, _card(context, wanted).model_copy(update={"seconds": wanted.seconds}))


@router.delete("/graphic", summary="Take the card off the stream")
@allow("producer")
def hide_graphic(context: AppContextDep) -> GraphicView:
    """The overlay is empty afterwards."""
    return _publish(context, GraphicView())


def _publish(context: AppContextDep, card: GraphicView) -> GraphicView:
    numbered = card.model_copy(update={"take": context.cards.next()})
    context.rig.hub.publish("graphic", numbered)
    return numbered


def _card(context: AppContextDep, wanted: GraphicRequest) -> GraphicView:
    if wanted.kind == "message":
        if not wanted.title:
            raise ProblemError(422, "A message needs a title.")
        return GraphicView(kind="message", title=wanted.title, subtitle=wanted.subtitle, logo=wanted.logo)
    if wanted.kind == "standings":
        return standings_card(_final_scores(context))
    rig, service = context.rig, context.rig.game_service
    game, row = rig.hub.value("game"), rig.store.game(service.game_id)
    if game is None or row is None:
        raise NotFoundError("No game is in play.")
    if wanted.kind == "review":
        return cards.review_card(game, service.calls())
    players = service.line_up.players
    if wanted.kind == "line_up":
        return cards.line_up_card(game, players, wanted.side)
    history = History(rig.store, row)
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


SponsorsDep = Annotated[KeptSponsors, part_of_context(lambda context: context.sponsors)]


@router.get("/sponsors", summary="The sponsors on the stream")
@allow("viewer")
def get_sponsors(sponsors: SponsorsDep) -> SponsorsView:
    """Their logos in the order shown."""
    return sponsors.now


@router.put("/sponsors", summary="Choose the sponsors on the stream")
@allow("producer")
def use_sponsors(sponsors: SponsorsDep, wanted: SponsorsRequest) -> SponsorsView:
    """In place of those from before; kept over restarts."""
    try:
        return sponsors.use(wanted)
    except InputError as error:
        raise ProblemError(422, str(error)) from None
    except OutputError as error:
        raise ProblemError(503, str(error)) from None


logo_router = APIRouter(tags=["teams"], route_class=RepeatableRoute)


class LogoView(TopicModel):
    """A logo that is kept."""

    logo: str


LogosDep = Annotated[LogoFolder, part_of_context(lambda context: context.logos)]


@logo_router.post("/api/logos", summary="Upload a team's logo", openapi_extra=PICTURE_BODY)
@allow("producer")
async def upload(request: Request, logos: LogosDep) -> LogoView:
    """A PNG, JPEG or WebP file of at most 1 MiB as the body. Give the name in the answer as a team's `logo`."""
    data = await request.body()
    try:
        return LogoView(logo=await run_in_threadpool(logos.keep, data))
    except InputError as error:
        raise ProblemError(422, str(error)) from None
    except OutputError as error:
        raise ProblemError(503, str(error)) from None


@logo_router.get("/logos/{logo}.png", summary="A team's logo", response_class=Response)
@allow("anyone")
def logo(logos: LogosDep, logo: Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]) -> Response:
    """A PNG with its transparency, at most 256 pixels wide and high."""
    content = logos.read(logo)
    if content is None:
        raise ProblemError(404, "There is no such logo.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="image/png", headers=headers)
