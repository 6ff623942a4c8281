"""The whole rig, put together: table, loop, game_service, recorder, service and what watches over them."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, Final

from downfield.api.dependencies import AppContext
from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.calibration.calibration import Calibration
from downfield.core.errors import RefusedError
from downfield.game.published.board_topics import HealthReason, HealthStatus, RecordingStatus, SourceStatus
from downfield.game.published.game_topics import Notice
from downfield.game.service import GameService
from downfield.game.store import Store
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.cli.terminal_lines import TerminalLog
from downfield.rig.cli.terminal_view import TerminalView
from downfield.rig.configuration.loading import Configuration
from downfield.rig.configuration.paths import recordings_folder, store_file
from downfield.rig.live.annotated_picture import AnnotatedPicture
from downfield.rig.live.annotation import Annotator
from downfield.rig.live.health import HealthWatch
from downfield.rig.live.loop import LinedUp, Loop
from downfield.rig.live.metrics import FrameMeter
from downfield.rig.live.network_vision import open_vision
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.referee import EventPlayback
from downfield.rig.live.troubles import ActiveProblems, NoticeLevel
from downfield.rig.machine import RigMachine
from downfield.rig.recording.footage import ClipFootage, RecordedFootage
from downfield.rig.recording.recorder import DISK_FULL, Recorder
from downfield.rig.service import Service
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.table import OpenVision, open_table, source_choice
from downfield.vision.pipeline import SLOW_COMPUTER

_NOWHERE: Final = "passing.db"


class Rig:
    """A rig, ready to play.

    Args:
        configuration: in force.
        passing: a folder for what need not outlast this run.
        paced: recordings at their own pace; else as fast as they go.
        open_vision: makes a sight for a calibration and, where there is one, a file with the roster.

    Raises:
        DownfieldError: something the configuration names does not exist or does not work.

    """

    def __init__(
        self,
        configuration: Configuration,
        passing: Path,
        *,
        paced: bool = True,
        open_vision: OpenVision = open_vision,
    ) -> None:
        settings = configuration.settings
        self._configuration, self._paced, self._open_sight = configuration, paced, open_vision
        self.rulebook = load_rulebook(settings.game.rulebook)
        self._hub, self._picture = Hub(), LatestPicture()
        self._terminal: TerminalLog | TerminalView | None = None
        self._onlookers: list[LoopObserver] = []
        self._early: list[tuple[NoticeLevel, str]] = []
        self._troubles = ActiveProblems(self._changed, self._noticed)
        self._clock = CaptureClock()
        self._table = open_table(settings, self._clock, self._troubles, open_vision, paced=paced)
        self.live = self._table.source.facts.live
        self.text = self._table.text
        self._machine = RigMachine(configuration, self._table, self._troubles)
        self._machine.calibrated = self._calibrated
        url = settings.store.url
        self._store = Store(url) if url else Store.at(store_file(settings) if self.live else passing / _NOWHERE)
        self.game_service = GameService(
            self._store,
            self._hub,
            self._machine,
            self._table.field,
            self.rulebook,
            clock=self._clock.now_ns if self.live else None,
        )
        self._pictures = AnnotatedPicture(None, self._hub, self._picture, self._slow)
        self._loop: Loop | None = None
        self._pulse = FrameMeter()
        self._recorder = self._record() if self.live else None
        clip = Path(source_choice(settings, paced=paced).text)
        self._clip = ClipFootage(clip, self._machine.calibration) if clip.is_file() else None
        self._health = self._watch()
        self._begin_game()
        footage = RecordedFootage(recordings_folder(settings)) if self.live else self._clip
        parts = AppContext(self.game_service, self._hub, self._picture, self._store, footage)
        self._service = Service(parts, settings.service) if settings.service.on else None
        self._health.begin()

    @property
    def address(self) -> str:
        """Where the service is; empty when it is off."""
        return "" if self._service is None else self._service.address

    @property
    def calls(self) -> int:
        """How many calls stand."""
        return len(self.game_service.calls())

    def situation(self) -> str:
        """The game now, on one line."""
        return self.game_service.text

    def health(self) -> HealthStatus:
        """How the rig is now."""
        return self._health.health()

    def topic(self, name: str) -> Any:
        """The value of a topic of the service now; None before it was first published."""
        return self._hub.value(name)

    def listen(self, terminal: TerminalLog | TerminalView) -> None:
        """Have the terminal told."""
        self._terminal = terminal
        for level, text in self._early:
            terminal.noticed(level, text)
        self._early.clear()

    def onlook(self, onlooker: LoopObserver) -> None:
        """Have somebody else told of what happens in the loop."""
        self._onlookers.append(onlooker)

    @property
    def dropped(self) -> int:
        """Frames that were captured and not seen."""
        return 0 if self._loop is None else self._loop.dropped

    def play(self) -> None:
        """Play until the source is over or somebody interrupts.

        Raises:
            SourceError: a recording broke off.

        """
        onlookers = [self._pictures, self._machine, self._health, *self._onlookers]
        if self._recorder is not None:
            onlookers.insert(0, self._recorder)
        if self._clip is not None:
            onlookers.append(self._clip)
        if self._terminal is not None:
            onlookers.append(self._terminal)
        self._loop = Loop(
            self._table.source,
            self._table.sight,
            self.game_service,
            self._troubles,
            pulse=self._pulse,
            prompter=EventPlayback(self._table.events),
            onlookers=onlookers,
            suspended=self._machine.suspended,
            lined_up=self._lined_up,
            carrier=lambda: self.game_service.carrier,
            ticks=self.live,
        )
        self._machine.between_frames = self._loop.between_frames
        if self._table.calibration is not None:
            self._calibrated(self._table.calibration)
        # What was loaded stays: walking through it between two frames takes the collector a tenth of a second.
        gc.collect()
        gc.freeze()
        self._loop.run()

    def rewind(self) -> None:
        """A recording from its beginning, as another game."""
        self._table = open_table(
            self._configuration.settings, self._clock, self._troubles, self._open_sight, paced=self._paced
        )
        self._begin_game()

    def end(self) -> None:
        """End everything, in order: frames, scenes, the journal, the feeds."""
        if self._loop is not None:
            self._loop.stop()
        if self._recorder is not None:
            self._recorder.close()
        self._health.end()
        self._pictures.close()
        if self._service is not None:
            self._service.end()
        self.game_service.close()
        self._store.close()

    def _begin_game(self) -> None:
        facts = self._table.source.facts
        self.game_service.publish_source(
            SourceStatus(kind=facts.kind, name=facts.name, text=self.text, live=facts.live)
        )
        if self.live and self.game_service.resume() is not None:
            self._clock.not_before(self.game_service.now_ns)
            self._troubles.note("info", f"Going on with the game as it stood: {self.situation()}.")
        else:
            self.game_service.restart()
        for note in facts.notes:
            self._troubles.note("warning", f"{facts.name}: {note}.")

    def _watch(self) -> HealthWatch:
        return HealthWatch(
            self.game_service.publish_health,
            self._troubles,
            self._pulse,
            facts=lambda: self._table.source.facts,
            dropped=lambda: self.dropped,
            sight=lambda: None if self._loop is None else self._loop.sight,
            calibration=self._machine.calibration,
            recording=RecordingStatus if self._recorder is None else self._recorder.now,
        )

    def _record(self) -> Recorder:
        settings = self._configuration.settings
        recorder = Recorder(
            recordings_folder(settings),
            settings.recording,
            lambda: self._table.source.facts,
            self._troubles,
            calibration=self._machine.calibration,
        )
        self._machine.record = recorder.record
        if settings.recording.on:
            try:
                recorder.record(True)
            except RefusedError as error:
                remedy = "Calls are made all the same. Make room, then start the recording"
                self._troubles.add(
                    HealthReason(code=DISK_FULL, level="alarm", text=f"Not recording: {error}", remedy=remedy)
                )
        return recorder

    def _lined_up(self) -> LinedUp:
        line_up = self.game_service.line_up
        return LinedUp(line_up.players, line_up.revision)

    def _slow(self) -> bool:
        health = None if self._loop is None else self._loop.sight.health
        return health is not None and SLOW_COMPUTER in health.warnings

    def _calibrated(self, calibration: Calibration) -> None:
        """The picture is drawn on with the calibration and the roster of now, the game played on its field."""
        if self.game_service.use_field(calibration.field):
            self._troubles.note("info", f"A new game begins: the board is '{calibration.field.name}'.")
        players = self._lined_up().players or self._table.sight.players
        self._pictures.use(Annotator(calibration.camera, calibration.field, players))

    def _changed(self) -> None:
        """ActiveProblems come up while the rig is being put together, too."""
        if "_health" in self.__dict__:
            self._health.look()

    def _noticed(self, level: NoticeLevel, text: str) -> None:
        self._hub.publish("notice", Notice(level=level, text=text))
        if self._terminal is None:
            self._early.append((level, text))
        else:
            self._terminal.noticed(level, text)
