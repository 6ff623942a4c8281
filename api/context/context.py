"""What the endpoints of a table's service use: one typed object, and dependencies for its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import Depends, FastAPI
from fastapi.requests import HTTPConnection

from downfield.api.context.access_control import PrincipalDep
from downfield.api.feed.relay import RelayManager
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import IdempotencyKey
from downfield.api.security.access import RANK, Principal
from downfield.api.security.grants import Grants
from downfield.api.security.secret_file import SecretFile
from downfield.api.table_setup import SetupControl, TableSetup
from downfield.broadcast.integrations.outlets import Outlet
from downfield.broadcast.integrations.webhook import WebhookOutlet
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.on_air import OnAir
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.replay.director import ReplayDirector, ReplayOptions
from downfield.broadcast.replay.highlights import FilmMaker
from downfield.broadcast.replay.replay_maker import ReplayMaker, ReplayRenderer
from downfield.capture.footage import Footage
from downfield.game.published.hub import Hub
from downfield.game.receipts import Submission
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.review.catalog import GameCatalog
from downfield.review.evidence.call_viewer import CallViewer
from downfield.review.evidence.evidence import SealedRecordings
from downfield.review.evidence.exports import ClipExporter
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.evidence.ready_pictures import Thumbnails
from downfield.review.rejudging.finished_games import FinishedGames
from downfield.review.rejudging.standings import GameStandings, KeptJudgings
from downfield.review.rejudging.worker import JudgingWorker
from downfield.review.reports.game_report import RecentReport
from downfield.store.history import RecentHistories
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store


class Bundles(Protocol):
    """Makes bundles of games. Callable from any thread."""

    def chunks(self, row: GameRow, *, video: bool) -> Iterator[bytes]:
        """Yield the bytes of a game's bundle, with the recording or without.

        Raises BusyError: another is being made; FormatError: the game's journal can't be read.
        """


@dataclass(frozen=True, slots=True)
class RigParts:
    """The parts of the service that a rig, a scorekeeper or a reviewer of games provides."""

    game_service: GameService
    hub: Hub  # the current value of every topic, and the feed of their changes
    picture: LatestPicture
    store: Store
    footage: Footage | None = None  # the pictures calls were made from; None where none are kept
    table_setup: TableSetup | None = None  # sets up a table; None where there is no camera
    # makes a browser the admin's; one of this run only where none is given
    admin_key: SecretFile = field(default_factory=SecretFile)
    # signs what leaves the rig; one of this run only where none is given
    rig_key: RigKey = field(default_factory=RigKey.generate)
    bundles: Bundles | None = None  # makes games into files; None where that can't be done
    program: ProgramDrawer | None = None  # draws the program feed; None where there are no pictures
    # with `overlay.css`, a style sheet of one's own, and `logos`; None for none. Neither need exist.
    style_folder: Path | None = None
    replays: ReplayOptions = field(default_factory=ReplayOptions)
    replay_renderer: ReplayRenderer | None = None  # draws and encodes them; None for the thread that directs them
    film_renderer: ReplayRenderer | None = None  # draws and encodes highlights; None for a thread of this process
    # whether operators may reopen finished games, rule on them and close them, as referees may
    operators_review: bool = False
    judgings: KeptJudgings | None = None  # keeps on disk what finished games come to; None to keep nothing
    grants: Grants | None = None  # decides about the grants of a tournament's desk; None outside of one
    outlets: Sequence[Outlet] = ()  # the other programs that are notified of the game
    setup_control: SetupControl = field(default_factory=SetupControl)  # which device sets up the table
    # whether there is no table here, only games to look at: pages about a table lead to the games
    only_games: bool = False

    @property
    def webhooks(self) -> list[WebhookOutlet]:
        """The webhooks among the programs that are notified of the game."""
        return [outlet for outlet in self.outlets if isinstance(outlet, WebhookOutlet)]


class AppContext:
    """Everything that the endpoints use; one for each application.

    Args:
        responses: counted by method and status.
        relay: takes over event streams when there are many; None to serve all of them in this process.
    """

    def __init__(self, rig: RigParts, responses: Counter[tuple[str, int]], relay: RelayManager | None) -> None:
        self.rig, self.responses, self.relay = rig, responses, relay
        store, service = rig.store, rig.game_service
        self.evidence = EvidenceFinder(store, service, rig.footage)
        self.viewer, self.exporter = CallViewer(self.evidence), ClipExporter(self.evidence)
        self.sealed_recordings, self.thumbnails = SealedRecordings(store), Thumbnails()
        self.catalog, self.histories, self.recent_report = GameCatalog(store), RecentHistories(store), RecentReport()
        maker = ReplayMaker(self.evidence, rig.replay_renderer)
        self.replays = ReplayDirector(rig.hub, service, store.game, maker, rig.replays)
        self.films = FilmMaker(rig.film_renderer)
        self.logos = LogoFolder(rig.style_folder and rig.style_folder / "logos")
        self.on_air = OnAir(rig.style_folder, self.logos, rig.hub, rig.program)
        self.judging = JudgingWorker()  # for those who wait for it
        self._background_judging = JudgingWorker()  # for games that have just ended
        standings = GameStandings(store, self.judging, rig.judgings, self._background_judging)
        service.end_followers.append(standings.prepare)
        self.finished = FinishedGames(
            store, lambda: service.game_id, self.judging, standings, service.rig, publish=service.publish_reviewed
        )

    def close(self) -> None:
        """End the threads that make replays, films and pictures and judge games again."""
        self.replays.close()
        self.films.close()
        for worker in (self.judging, self._background_judging, self.viewer):
            worker.close()


def context_of(app: FastAPI) -> AppContext:
    """Return the context of an application."""
    context: AppContext = app.state.context
    return context


async def _context(connection: HTTPConnection) -> AppContext:
    return context_of(connection.app)


AppContextDep = Annotated[AppContext, Depends(_context)]


def part_of_context(part: Callable[[AppContext], object]) -> Any:
    """Return the dependency of an endpoint on a part of the context."""

    async def found(context: AppContextDep) -> object:
        return part(context)

    return Depends(found)


async def _submission(principal: PrincipalDep, key: IdempotencyKey = None) -> Submission:
    return Submission(principal.name, key, role=principal.role or "")


SubmissionDep = Annotated[Submission, Depends(_submission)]
"""Who sends a declaration, ruling or command, with the key that all its attempts have."""

RigPartsDep = Annotated[RigParts, part_of_context(lambda context: context.rig)]
HubDep = Annotated[Hub, part_of_context(lambda context: context.rig.hub)]
GameServiceDep = Annotated[GameService, part_of_context(lambda context: context.rig.game_service)]
StoreDep = Annotated[Store, part_of_context(lambda context: context.rig.store)]
PictureDep = Annotated[LatestPicture, part_of_context(lambda context: context.rig.picture)]
CallViewerDep = Annotated[CallViewer, part_of_context(lambda context: context.viewer)]
FinishedGamesDep = Annotated[FinishedGames, part_of_context(lambda context: context.finished)]


def reviewer(rig: RigPartsDep, principal: PrincipalDep) -> Principal:
    """Return the sender of a request, who may rule on finished games. Raises ProblemError: it may not."""
    may_review = RANK["operator" if rig.operators_review else "referee"]
    if RANK[principal.role or "anyone"] >= may_review:
        return principal
    raise ProblemError(
        403,
        "Only the admin and referees can rule after a game and set policies, unless game.operators_review is set in the"
        " rig's configuration.",
    )


ReviewerDep = Annotated[Principal, Depends(reviewer)]
