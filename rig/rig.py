"""Assembles the whole rig: table, loop, game service, recorder, web service and health reports."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from downfield.api.context.context import RigParts
from downfield.broadcast.integrations.outlets import OutletRunner
from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.broadcast.program.program_painter import ProgramMoment
from downfield.broadcast.replay.replay_process import ReplayProcess
from downfield.calibration.calibration import Calibration
from downfield.capture.problems import ActiveProblems, camera_loss
from downfield.capture.recording.encoding_again import RecordingEncoder
from downfield.capture.recording.recorded_footage import ClipFootage, RecordedFootage
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_library import last_recorded_ns
from downfield.capture.source import CaptureClock, LoopObserver
from downfield.capture.sources.source_types import is_address, is_recording
from downfield.core.threads import delayed_thread
from downfield.game.policies import LeaguePolicies
from downfield.game.published.board_topics import HealthStatus, RecordingStatus, SourceStatus
from downfield.game.published.hub import Hub
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.pictures.projection import picture_view
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.settings import data_folder, recordings_folder
from downfield.rig.configuration.stream import outlets_of, replay_options, with_webhooks
from downfield.rig.controller import RigController
from downfield.rig.games.bundle_export import BundleExporter, PlayedClip
from downfield.rig.games.kept_games import doubts, open_checkpoints, open_judgings, open_rig_key, open_store
from downfield.rig.games.needed_recordings import NeededRecordings
from downfield.rig.games.table_seals import TableSeals
from downfield.rig.live.annotated_picture import AnnotatedPicture, Annotator, GameMarks, RecentPictures
from downfield.rig.live.camera_watch import CameraWatch
from downfield.rig.live.connections import LoopControls
from downfield.rig.live.loop import Loop, set_aside_loaded_objects
from downfield.rig.live.rig_health import FrameMeter, HealthReporter, Notices
from downfield.rig.live.strip_game import follow_strip
from downfield.rig.live.vision_stages import open_vision
from downfield.rig.service.web_service import Service, open_admin_key
from downfield.rig.tables.profile import NamedSource, camera_identity
from downfield.rig.tables.setup_session import SetupSession
from downfield.rig.tables.table import OpenVision, open_table, source_choice
from downfield.rig.tournament.link import open_tournament, with_tournament
from downfield.store.writing.journals import StoredJournals
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.pipeline import SLOW_COMPUTER

_LEAVE_AFTER_S: Final = 0.5
_KEPT_SHOWINGS: Final = 2  # Of a recording shown over and over: the latest whole one, and the one in play
_BETWEEN_RUNS_NS: Final = 60_000_000_000  # Pictures of a run come so much later than all before


class Rig:
    """A rig, ready to play.

    Args:
        temporary: a folder for files of this run only.
        paced: whether recordings play at their own pace; otherwise as fast as they are processed.
        open_vision: opens the vision stage for a calibration and, if there is one, a roster file.

    Attributes:
        service: serves the web pages; None if they are not served.
        settings: of this run.

    Raises:
        DownfieldError: a source, file or service named in the configuration does not exist or does not work.
    """

    def __init__(
        self,
        configuration: Configuration,
        temporary: Path,
        *,
        paced: bool = True,
        open_vision: OpenVision = open_vision,
    ) -> None:
        self._paced, self._open_vision = paced, open_vision
        self._closing = ExitStack()
        try:
            self._open(configuration, temporary)
        except BaseException:  # Ctrl-C as well, at any moment of the start
            self._closing.close()
            raise

    def _open(self, configuration: Configuration, temporary: Path) -> None:
        """Open everything, in the order of its use; what is open when this fails is closed."""
        settings = self.settings = configuration.settings
        self._next_table: NamedSource | None = None
        self.service: Service | None = None
        self._hub, self._picture = Hub(), LatestPicture()
        self._notices = Notices(self._hub)
        wake_health = threading.Event()
        self._problems = ActiveProblems(wake_health.set, self._notices.give)
        self._clock, self._meter, self._controls = CaptureClock(), FrameMeter(), LoopControls()
        if not is_recording(settings.source.name):
            self._clock.start_after(last_recorded_ns(recordings_folder(settings)) + _BETWEEN_RUNS_NS)
        self._table = open_table(settings, self._clock, self._problems, self._open_vision, paced=self._paced)
        self._closing.callback(lambda: self._table.source.close())
        self.live, self.source_text = self._table.source.facts.live, self._table.text
        self._key = open_rig_key(data_folder(settings), must_be_kept=self.live)
        self._store, owner = open_store(settings, temporary, self._key, live=self.live)
        self._closing.callback(self._store.close)
        for text in doubts(self._store, settings, self._clock) if self.live else ():
            self._problems.notify("warning", text)
        link = open_tournament(settings, self._store, owner, self._key, self._hub, lambda: self.service)
        self._grants = None if link is None else link.grants
        if link is not None:
            self._closing.callback(link.close)
        self._recorder = self._start_recorder() if self.live else None
        if self._recorder is not None:
            self._closing.callback(self._recorder.close)
        clip = Path(source_choice(settings, paced=self._paced).text)
        played = PlayedClip(clip, self._store.beginnings()) if clip.is_file() else None
        self._clip = (
            None if played is None else ClipFootage(clip, lambda: self._controller.calibration(), played.earlier)
        )
        self._recent_pictures = RecentPictures()
        self._controller = RigController(
            configuration,
            self._table,
            self._problems,
            self._controls,
            recent_images=self._recent_pictures.images,
            record=None if self._recorder is None else self._recorder.record,
            calibrated=self._use_calibration,
            strip=lambda: None if self._strip is None else self._strip.follower,
        )
        self._closing.callback(self._controller.close)
        self._bundles = BundleExporter(self._store, settings, self._key, self._controller.calibration, played)
        self.game_service = GameService(
            StoredJournals(self._store, open_checkpoints(settings, self._key) if self.live else None),
            self._hub,
            self._controller,
            self._table.field,
            load_rulebook(settings.game.rulebook),
            clock=self._clock.now_ns if self.live else None,
            owner=owner,
            shadow=settings.game.shadow,
            policies=LeaguePolicies(data_folder(settings) / "policies.jsonl"),
        )
        self._closing.callback(self.game_service.close)
        if link is not None:
            link.attach(self.game_service)
        network = None if self._table.make_vision is None else settings.network.name
        self._seals = TableSeals(self.game_service, self._controller.calibration, self._controller.settings(), network)
        self._closing.callback(self._seals.finish, self._recorder)
        self._strip = follow_strip(settings, self.game_service, self._hub, self._problems, lambda: self._table.readings)
        self._annotated_picture = AnnotatedPicture(
            self._picture, self._overlay, self._overloaded, self._report_undrawn, self._meter.is_late
        )
        self._closing.callback(self._annotated_picture.close)
        self.program = ProgramDrawer(
            lambda: ProgramMoment(
                self._hub.value("game"), self.game_service.carrier, self.game_service.line_up.players
            ),
            lambda: None if self._loop is None else self._loop.vision.camera,
            self._overloaded,
            self._report_undrawn,
            late=self._meter.is_late,
            own_process=True,
        )
        self._closing.callback(self.program.close)
        self._loop: Loop | None = None
        self._health = HealthReporter(
            lambda health: self._seals.publish_health(with_webhooks(with_tournament(health, link), self._outlets)),
            self._problems,
            self._meter,
            wake_health,
            facts=lambda: self._table.source.facts,
            dropped=lambda: self.dropped,
            calibration=self._controller.calibration,
            recording=RecordingStatus if self._recorder is None else self._recorder.status,
            picture_health=self._picture_health,
        )
        warn = partial(self._problems.notify, "warning")
        self._outlets = outlets_of(settings, warn)
        if self._outlets:
            self._closing.callback(OutletRunner(self._hub, self._outlets, warn).close)
        self._begin_game()
        self._showings = [self.game_service.game_id]
        self._setup = self._table_setup()
        self._closing.callback(self._setup.close)
        self.service = self._serve() if settings.service.on else None
        if self.service is not None:
            self._closing.callback(self.service.close)
        self._health.start()
        self._closing.callback(self._health.close)
        self._closing.callback(self._stop_loop)

    @property
    def address(self) -> str:
        """The address of the web pages; empty if they are not served."""
        return "" if self.service is None else self.service.admin_link

    def wait_for(self, table: NamedSource, problem: str) -> None:
        """Say why a table can't be opened now, and end this run once it can be."""
        self._problems.notify("warning", problem)
        self._setup.wait_for(table.source, problem, partial(self._leave_for, table))

    def next_table(self) -> NamedSource | None:
        """Return a table that was set up meanwhile, to be opened instead; None for none."""
        return self._next_table

    @property
    def dropped(self) -> int:
        """Number of frames that were captured and dropped."""
        return 0 if self._loop is None else self._loop.dropped

    def situation(self) -> str:
        """Return the state of the game on one line."""
        return self.game_service.text

    def health(self) -> HealthStatus:
        """Return the rig's health now."""
        return self._health.health()

    def topic(self, name: str) -> Any:
        """Return the present value of a topic of the service; None before it is first published."""
        return self._hub.value(name)

    def add_observer(self, observer: LoopObserver) -> None:
        """Notify an observer from the next `play` on, and of all notices, including those given at the start."""
        self._notices.add_observer(observer)

    def play(self) -> None:
        """Play until the source ends or `close` is called. Raises SourceError: a recording can't be read to its end."""
        always = (self._annotated_picture, self.program, self._recent_pictures, self._health)
        watch = CameraWatch(lambda: self._table.source.facts, self._problems) if self._table.has_camera else None
        optional = [observer for observer in (self._recorder, self._clip, self._strip, watch) if observer is not None]
        self._loop = Loop(
            self._table.source,
            self._table.vision,
            self.game_service,
            self._problems,
            meter=self._meter,
            events=self._table.events,
            observers=(*optional, *always, *self._notices.observers),
            controls=self._controls,
            ticks=self.live,
        )
        if self._table.calibration is not None:
            self._use_calibration(self._table.calibration)
        self._controller.calibrate_until_found()
        set_aside_loaded_objects()
        self._loop.run()

    def rewind(self) -> None:
        """Start a recording again from its beginning, as a new game; of those before only the latest is kept."""
        self._table = open_table(self.settings, self._clock, self._problems, self._open_vision, paced=self._paced)
        self._begin_game()
        self._showings.append(self.game_service.game_id)
        if len(self._showings) > _KEPT_SHOWINGS:
            self._store.drop_game(self._showings.pop(0))

    def close(self) -> None:
        """Close everything, in order: frames, scenes, the feeds, the journal, the recording."""
        self._closing.close()

    def _start_recorder(self) -> Recorder:
        recorder = Recorder(
            recordings_folder(self.settings),
            self.settings.recording,
            lambda: self._table.source.facts,
            self._problems,
            calibration=lambda: self._controller.calibration(),
            finished=lambda video: self._seals.seal(video),
            needed=NeededRecordings(self._store),
        )
        encoder = RecordingEncoder(recordings_folder(self.settings), self.settings.recording, self._key)
        self._closing.callback(encoder.close)
        if self.settings.recording.on and self._table.has_camera:
            recorder.record_when_possible()
        return recorder

    def _table_setup(self) -> SetupSession:
        source = self.settings.source.name
        running = (source if is_address(source) else camera_identity(source)) if self.live else ""
        choice = source_choice(self.settings, paced=False, is_set_up=True)
        return SetupSession(
            self.settings,
            running,
            self._recent_pictures.images,
            lambda text: replace(choice, text=text, microphone=""),
            self._leave_for,
            partial(camera_loss, self._problems),
        )

    def _leave_for(self, table: NamedSource) -> None:
        """End this run soon, so that the table that was set up is opened; the response to its setup is sent first."""
        self._next_table = table
        delayed_thread(_LEAVE_AFTER_S, self._stop_loop, "leaving for another table").start()

    def _stop_loop(self) -> None:
        if self._loop is not None:
            self._loop.stop()

    def _serve(self) -> Service:
        folder = data_folder(self.settings)
        context = RigParts(
            self.game_service,
            self._hub,
            self._picture,
            self._store,
            RecordedFootage(recordings_folder(self.settings)) if self.live else self._clip,
            self._setup,
            open_admin_key(folder, must_be_kept=self.live),
            self._key,
            self._bundles,
            program=self.program,
            style_folder=folder,
            replays=replay_options(self.settings),
            replay_renderer=ReplayProcess(),
            film_renderer=ReplayProcess(kept=False),  # one of its own: replays don't wait for minutes of highlights
            operators_review=self.settings.game.operators_review,
            judgings=open_judgings(self.settings, self._key) if self.live else None,
            grants=self._grants,
            outlets=self._outlets,
        )
        return Service(context, self.settings.service, folder, self._report_unserved)

    def _begin_game(self) -> None:
        facts = self._table.source.facts
        status = SourceStatus(kind=facts.kind, name=facts.name, text=self.source_text, live=facts.live)
        self.game_service.publish_source(status)
        if self.live:
            self._clock.start_after(self.game_service.last_kept_ns() + _BETWEEN_RUNS_NS)
        if resumed := self.live and self.game_service.resume() is not None:
            self._problems.notify("info", f"The game resumes where it stopped: {self.situation()}.")
        else:
            self.game_service.restart()
        self._controller.game_begins(resumed=resumed)
        for note in facts.notes:
            self._problems.notify("warning", f"{facts.name}: {note}.")

    def _use_calibration(self, calibration: Calibration) -> None:
        """Draw on the picture with a calibration and the present roster, and play on the calibration's field."""
        if self.game_service.use_field(calibration.field):
            self._problems.notify("info", f"A new game begins: the board is '{calibration.field.name}'.")
        players = self.game_service.line_up.players or self._table.vision.players
        self._annotated_picture.annotator = Annotator(calibration.camera, calibration.field, players)
        self.program.calibrate(calibration)
        self._hub.publish("picture", picture_view(calibration.camera, calibration.field))

    def _overlay(self) -> GameMarks:
        if (game := self._hub.value("game")) is None:
            return GameMarks()
        return GameMarks(game.spot_yd, None if game.goal_to_go else game.to_gain_yd, self.game_service.carrier)

    def _picture_health(self) -> PictureHealth | None:
        return None if self._loop is None else self._loop.vision.health

    def _report_unserved(self, cause: str) -> None:
        text = f"The pages stopped: {cause}. They are served again in a second. Calls continue."
        self._problems.notify("alarm", text)

    def _report_undrawn(self, cause: str) -> None:
        self._problems.notify("warning", f"A picture for the pages could not be drawn: {cause}. Calls continue.")

    def _overloaded(self) -> bool:
        health = self._picture_health()
        return health is not None and SLOW_COMPUTER in health.warnings
