"""The FastAPI application: routers behind the security middleware and role checks, errors as problem details."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI

from downfield.api import problems
from downfield.api.dependencies import AppContext, authorize
from downfield.api.feed.open_streams import OpenStreams
from downfield.api.feed.relay import RelayManager
from downfield.api.openapi import serve_schema
from downfield.api.prometheus import PrometheusMetrics
from downfield.api.repeated_requests import AnsweredRequests
from downfield.api.routes import (
    bundles,
    camera,
    card_photo,
    challenges,
    clips,
    evidence,
    feed,
    games,
    graphics,
    health,
    logos,
    pages,
    pairing,
    play,
    policies,
    program,
    replay,
    reports,
    review,
    review_rulings,
    setup,
    sponsors,
    table_setup,
    tracks,
    what_if,
)
from downfield.api.security.access import AccessPolicy
from downfield.api.security.known_clients import KnownClients
from downfield.api.security.middleware import SecurityMiddleware
from downfield.api.security.revocation import RevocableResponses
from downfield.api.security.roles import AT_A_TABLE, IN_REVIEW
from downfield.api.security.tokens import TokenStore
from downfield.broadcast.graphics.kept_sponsors import KeptSponsors
from downfield.broadcast.graphics.logos import LogoFolder
from downfield.broadcast.replay.director import ReplayDirector
from downfield.broadcast.replay.films import FilmMaker
from downfield.broadcast.replay.replay_maker import ReplayMaker
from downfield.review.evidence.call_viewer import CallViewer
from downfield.review.evidence.exports import ClipExporter
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.evidence.sealed_recordings import SealedRecordings
from downfield.review.games.catalog import GameCatalog
from downfield.review.pictures.thumbnails import Thumbnails
from downfield.review.rejudging.finished_games import FinishedGames
from downfield.review.rejudging.standings import GameStandings
from downfield.review.rejudging.worker import JudgingWorker
from downfield.review.reports.game_report import RecentReport
from downfield.store.recent_histories import RecentHistories

LOCAL: Final = AccessPolicy()

ROUTERS: Final = (
    play.router,
    games.router,
    review.router,
    bundles.router,
    tracks.router,
    reports.router,
    policies.router,
    review_rulings.router,
    challenges.router,
    what_if.router,
    evidence.router,
    clips.router,
    replay.router,
    graphics.router,
    logos.router,
    sponsors.router,
    card_photo.router,
    setup.router,
    table_setup.router,
    feed.router,
    camera.router,
    program.router,
    pairing.router,
    health.router,
    pages.router,
)


def create_app(
    context: AppContext,
    access: AccessPolicy = LOCAL,
    relay: RelayManager | None = None,
    known: KnownClients | None = None,
) -> FastAPI:
    """Return the application over the parts of a rig.

    Args:
        context: the game, the hub, the camera picture and the store.
        access: decides which clients may reach it; only this computer by default.
        relay: takes over event streams when there are many; None to serve all of them here.
        known: the addresses of known devices; None where nobody else needs them.

    """
    app = FastAPI(
        title="Downfield",
        version=version("downfield"),
        summary="The automatic referee for tabletop electric football.",
        dependencies=[Depends(authorize)],
        docs_url=None,  # both pages would load scripts from the internet
        redoc_url=None,
        openapi_url=None,
        strict_content_type=False,
    )
    responses: Counter[tuple[str, int]] = Counter()
    app.state.context = context
    app.state.admin_key = context.admin_key
    app.state.access = access
    app.state.required = IN_REVIEW if context.only_games else AT_A_TABLE
    app.state.relay = relay
    app.state.known = known or KnownClients(access.proxies)
    app.state.streams = OpenStreams()
    app.state.answered = AnsweredRequests()
    app.state.evidence = EvidenceFinder(context.store, context.game_service, context.footage)
    app.state.catalog = GameCatalog(context.store)
    app.state.recent_report = RecentReport()
    app.state.histories = RecentHistories(context.store)
    app.state.thumbnails = Thumbnails()
    app.state.sealed_recordings = SealedRecordings(context.store)
    app.state.viewer = CallViewer(app.state.evidence)
    app.state.exporter = ClipExporter(app.state.evidence)
    maker = ReplayMaker(app.state.evidence, context.replay_renderer)
    app.state.replays = ReplayDirector(context.hub, context.game_service, context.store.game, maker, context.replays)
    app.state.cards = graphics.CardCounter()
    app.state.logos = LogoFolder(context.style_folder and context.style_folder / "logos")
    app.state.sponsors = KeptSponsors(context.style_folder, app.state.logos, context.hub)
    app.state.films = FilmMaker(context.film_renderer)
    app.state.worker = JudgingWorker()
    app.state.judging_aside = JudgingWorker()
    standings = GameStandings(context.store, app.state.worker, context.judgings, app.state.judging_aside)
    context.game_service.ended_games.follow(standings.prepare)
    app.state.finished = FinishedGames(context.store, lambda: context.game_service.game_id, app.state.worker, standings)
    app.state.token_store = TokenStore(
        context.store, app.state.streams.end_all_of, on_changed=context.game_service.note
    )
    app.state.grants = context.grants
    if context.grants is not None:
        context.grants.follow(lambda grant: app.state.token_store.revoke(grant, "the desk"))
    app.state.metrics = PrometheusMetrics(context.game_service, context.hub, context.picture, responses)
    for router in ROUTERS:
        app.include_router(router)
    problems.install_handlers(app)
    serve_schema(app, ROUTERS)
    app.add_middleware(
        SecurityMiddleware,
        access=access,
        known=app.state.known,
        responses=responses,
        revocable=lambda inside: RevocableResponses(inside, app.state.streams, app.state.token_store),
    )
    return app
