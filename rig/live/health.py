"""The rig's health, told once a second, and at once when something goes wrong or is well again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.frame import Frame
from downfield.core.scene import Power, Scene
from downfield.game.published.board_topics import HealthReason, HealthStatus, Level, RecordingStatus
from downfield.rig.live.metrics import FrameMeter
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import VisionStage
from downfield.rig.sources.reconnecting import LOST
from downfield.rig.sources.source import SourceFacts

PICTURE: Final = "picture"

_EVERY_S: Final = 1.0


class HealthWatch(LoopObserver):
    """Puts together how the rig is; an onlooker of the loop, for what scenes say of it.

    Args:
        tell: told every time.
        troubles: what is wrong.
        pulse: counts frames.
        facts: of the source, as it is now.
        dropped: frames lost so far.
        calibration: in use.
        recording: how the recording is.
        sight: what sees now, and may have something to say about the pictures.

    """

    def __init__(
        self,
        tell: Callable[[HealthStatus], None],
        troubles: ActiveProblems,
        pulse: FrameMeter,
        *,
        facts: Callable[[], SourceFacts],
        dropped: Callable[[], int],
        calibration: Callable[[], Calibration | None],
        recording: Callable[[], RecordingStatus] = RecordingStatus,
        sight: Callable[[], VisionStage | None] = lambda: None,
    ) -> None:
        self._tell = tell
        self._troubles = troubles
        self._pulse = pulse
        self._facts, self._dropped = facts, dropped
        self._calibration, self._recording, self._sight = calibration, recording, sight
        self._board: Power = "unknown"
        self._unfit: tuple[str, ...] = ()
        self._now = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="health", daemon=True)

    def begin(self) -> None:
        """Begin to tell."""
        self._thread.start()

    def end(self) -> None:
        """Tell no more."""
        self._ended = True
        self._now.set()
        self._thread.join()

    def look(self) -> None:
        """Tell at once."""
        self._now.set()

    def scene(self, _: Frame, scene: Scene) -> None:
        """Whether the board is on, and whether calls can be made."""
        if scene.unfit != self._unfit:
            self._now.set()
        self._board, self._unfit = scene.board, scene.unfit

    def health(self) -> HealthStatus:
        """How the rig is now."""
        beat, facts = self._pulse.beat(), self._facts()
        reasons = (*self._troubles.now(), *self._of_pictures())
        calibration = self._calibration()
        quality = calibration.quality if calibration is not None else None
        lost = any(reason.code == LOST for reason in reasons)
        level: Level = self._troubles.level()
        if level == "ok" and (reasons or self._unfit):
            level = "warning"
        told = [*(reason.text for reason in reasons), *self._unfit]
        return HealthStatus(
            level=level,
            text="; ".join(told) or f"board {self._board}",
            reasons=reasons,
            calls="suspended" if lost or self._unfit else "on",
            fps=None if beat.fps is None else round(beat.fps, 1),
            latency_ms=None if beat.latency_ms is None else round(beat.latency_ms, 1),
            latency_p99_ms=None if beat.latency_p99_ms is None else round(beat.latency_p99_ms, 1),
            frames=beat.frames,
            dropped=self._dropped(),
            board=self._board,
            camera=facts.name,
            size=facts.size_px,
            calibration_rms_px=None if quality is None else quality.rms_px,
            calibration_rms_yd=None if quality is None else quality.rms_yd,
            recording=self._recording(),
        )

    def _of_pictures(self) -> tuple[HealthReason, ...]:
        sight = self._sight()
        health = None if sight is None else sight.health
        warnings = () if health is None else health.warnings
        return tuple(HealthReason(code=PICTURE, level="warning", text=warning) for warning in warnings)

    def _run(self) -> None:
        while not self._ended:
            self._now.clear()
            self._tell(self.health())
            self._now.wait(_EVERY_S)
