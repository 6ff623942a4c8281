"""What the endpoints of a table's service use: one typed object, and dependencies for its parts.

One of these are metrics for Prometheus, read from the hub, the game and the security middleware on each request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import Depends, FastAPI
from fastapi.requests import HTTPConnection
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from downfield.api.context.access_control import PrincipalDep
from downfield.api.feed.relay import RelayManager
from downfield.api.http.problems import ProblemError
from downfield.api.security.access import RANK, Principal
from downfield.api.security.grants import Grants
from downfield.api.security.secret_file import SecretFile
from downfield.api.table_setup import SetupControl, TableSetup
from downfield.broadcast.integrations.outlets import Outlet
from downfield.broadcast.integrations.webhook import STATUSES, WebhookOutlet
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.logos import LogoFolder
from downfield.broadcast.on_air import OnAir
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.replay.director import ReplayDirector, ReplayOptions
from downfield.broadcast.replay.highlights import FilmMaker
from downfield.broadcast.replay.replay_maker import ReplayRenderer
from downfield.capture.footage import Footage
from downfield.game.published.board_topics import HealthStatus
from downfield.game.published.game_topics import Questions
from downfield.game.published.hub import Hub
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.review.catalog import GameCatalog
from downfield.review.evidence.call_viewer import CallViewer
from downfield.review.evidence.evidence import SealedRecordings
from downfield.review.evidence.exports import ClipExporter
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.evidence.ready_pictures import Thumbnails
from downfield.review.rejudging.finished_games import FinishedGames
from downfield.review.rejudging.standings import KeptJudgings
from downfield.review.rejudging.worker import JudgingWorker
from downfield.review.reports.game_report import RecentReport
from downfield.store.history import RecentHistories
from downfield.store.sealing.signing import RigKey
from downfield.store.writing.store import Store


class Bundles(Protocol):
    """Makes bundles of games. Callable from any thread."""

    def chunks(self, row: GameRow, *, video: bool) -> Iterator[bytes]:
        """Yield the bytes of a game's bundle, with the recording or without.

        Raises:
            BusyError: another is being made.
            FormatError: the game's journal can't be read.
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


@dataclass(frozen=True, slots=True)
class AppContext:
    """Everything that the endpoints use; one for each application."""

    rig: RigParts
    metrics: PrometheusMetrics
    evidence: EvidenceFinder  # finds the pictures of calls and plays, and what was measured on them
    viewer: CallViewer
    exporter: ClipExporter
    sealed_recordings: SealedRecordings
    thumbnails: Thumbnails
    catalog: GameCatalog
    histories: RecentHistories  # keeps the games that were read last
    recent_report: RecentReport  # keeps the report that was made last
    replays: ReplayDirector
    films: FilmMaker
    logos: LogoFolder  # keeps the logos of teams and sponsors
    on_air: OnAir
    finished: FinishedGames  # reopens finished games, rules on them and closes them
    judging: JudgingWorker  # judges games again for those who wait for it
    background_judging: JudgingWorker  # does so for games that have just ended
    # takes over event streams when there are many; None to serve all of them in this process
    relay: RelayManager | None = None

    def close(self) -> None:
        """End the threads that make replays, films and pictures and judge games again."""
        self.replays.close()
        self.films.close()
        for worker in (self.judging, self.background_judging, self.viewer):
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


RigPartsDep = Annotated[RigParts, part_of_context(lambda context: context.rig)]
HubDep = Annotated[Hub, part_of_context(lambda context: context.rig.hub)]
GameServiceDep = Annotated[GameService, part_of_context(lambda context: context.rig.game_service)]
StoreDep = Annotated[Store, part_of_context(lambda context: context.rig.store)]
PictureDep = Annotated[LatestPicture, part_of_context(lambda context: context.rig.picture)]
EvidenceFinderDep = Annotated[EvidenceFinder, part_of_context(lambda context: context.evidence)]
CallViewerDep = Annotated[CallViewer, part_of_context(lambda context: context.viewer)]
FinishedGamesDep = Annotated[FinishedGames, part_of_context(lambda context: context.finished)]


def reviewer(rig: RigPartsDep, principal: PrincipalDep) -> Principal:
    """Return the sender of a request, who may rule on finished games.

    Raises:
        ProblemError: an operator, where the configuration does not let operators do so.
    """
    may_review = RANK["operator" if rig.operators_review else "referee"]
    if RANK[principal.role or "anyone"] >= may_review:
        return principal
    raise ProblemError(
        403,
        "Only the admin and referees can rule after a game and set policies, unless game.operators_review is set in the"
        " rig's configuration.",
    )


ReviewerDep = Annotated[Principal, Depends(reviewer)]


class PrometheusMetrics(Collector):
    """The service's metrics.

    Args:
        responses: counts responses by method and status.
    """

    def __init__(self, rig: RigParts, responses: Counter[tuple[str, int]]) -> None:
        self._game_service, self._hub, self._picture = rig.game_service, rig.hub, rig.picture
        self._responses, self._webhooks = responses, rig.webhooks
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._collect_health()
        calls = CounterMetricFamily("downfield_calls", "Calls that stand in this game.", labels=["kind", "verdict"])
        for (kind, verdict), count in Counter((call.kind, call.verdict) for call in self._game_service.calls()).items():
            calls.add_metric([kind, verdict], count)
        yield calls
        questions = self._hub.value("questions")
        open_questions = len(questions.questions) if isinstance(questions, Questions) else 0
        yield GaugeMetricFamily("downfield_questions", "Questions that wait for a person.", value=open_questions)
        yield GaugeMetricFamily("downfield_feed_subscribers", "Open feeds.", value=self._hub.subscribers)
        yield GaugeMetricFamily("downfield_camera_watchers", "Open camera pictures.", value=self._picture.watchers)
        yield CounterMetricFamily("downfield_feed_messages", "Messages published.", value=self._hub.seq)
        responses = CounterMetricFamily("downfield_http_responses", "HTTP responses.", labels=["method", "status"])
        for (method, status), count in sorted(self._responses.items()):
            responses.add_metric([method, str(status)], count)
        yield responses
        sent = CounterMetricFamily("downfield_webhook_deliveries", "Deliveries.", labels=["to", "status"])
        waiting = GaugeMetricFamily("downfield_webhook_waiting", "Deliveries that wait.", labels=["to"])
        for to in sorted({webhook.to for webhook in self._webhooks}):  # several addresses may be of one host
            there = [webhook for webhook in self._webhooks if webhook.to == to]
            for outcome in STATUSES:
                sent.add_metric([to, outcome], sum(webhook.counts[outcome] for webhook in there))
            waiting.add_metric([to], sum(len(webhook.deliveries()[0]) for webhook in there))
        yield from (sent, waiting)

    def _collect_health(self) -> Iterator[Metric]:
        health = self._hub.value("health")
        if not isinstance(health, HealthStatus):
            return
        level = {"ok": 0, "warning": 1, "alarm": 2}[health.level]
        yield GaugeMetricFamily("downfield_health_level", "0 ok, 1 warning, 2 alarm.", value=level)
        yield GaugeMetricFamily("downfield_calls_on", "1 while the camera makes calls.", value=health.calls == "on")
        yield CounterMetricFamily("downfield_frames", "Captured frames.", value=health.frames)
        yield CounterMetricFamily("downfield_frames_dropped", "Dropped frames.", value=health.dropped)
        yield CounterMetricFamily("downfield_frames_damaged", "Frames that can't be decoded.", value=health.damaged)
        yield GaugeMetricFamily("downfield_recording", "1 while recording.", value=health.recording.on)
        behind = health.store == "behind"
        yield GaugeMetricFamily("downfield_store_behind", "1 while declarations wait for the disk.", value=behind)
        measured = {
            "downfield_frames_per_second": ("Frames per second.", health.fps),
            "downfield_latency_p50_ms": ("Capture-to-publish latency, median, ms.", health.latency_ms),
            "downfield_latency_p99_ms": ("Capture-to-publish latency, 99th percentile, ms.", health.latency_p99_ms),
            "downfield_calibration_rms_px": ("Residual of the calibration, pixels.", health.calibration_rms_px),
            "downfield_disk_free_gb": ("Disk space left for recordings, GB.", health.recording.free_gb),
        }
        for name, (about, value) in measured.items():
            if value is not None:
                yield GaugeMetricFamily(name, about, value=value)
