"""The whole rig over a camera of the benchmarks, and what observes how long its frames take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.capture.source import CapturedFrame, LoopObserver
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.frame import Detection, Frame
from downfield.core.platform.process_tuning import tune_process
from downfield.core.scene import Jersey, Player, Scene
from downfield.core.track_files import RosterSpot, read_roster
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.connections import DetectionResult, VisionStage
from downfield.rig.live.vision_stages import detection_rate, local_detector, open_vision
from downfield.rig.rig import Rig
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.pipeline import Vision

VISIONS = ("recorded", "network", "threaded")
"""The clip's recorded scenes; the network as a rig runs it; the network in a thread of the rig."""


class RecordedScenes:
    """A vision stage that repeats the clip's scenes, at the times of the frames."""

    def __init__(self) -> None:
        self._scenes = list(open_clip(bundled_demo()).tracks)
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None
        self.players: tuple[Player, ...] = open_clip(bundled_demo()).tracks.header.players

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        """Return nothing."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return the next scene."""
        shift_ns = frame.t_ns - self._scenes[frame.index % len(self._scenes)].t_ns
        scene = self._scenes[frame.index % len(self._scenes)]
        contacts = tuple(
            contact if contact.since_ns is None else replace(contact, since_ns=contact.since_ns + shift_ns)
            for contact in scene.contacts
        )
        return replace(scene, frame=frame.index, t_ns=frame.t_ns, contacts=contacts)

    def line_up(self, players: tuple[Player, ...], left: Jersey | None = None) -> None:
        """Do nothing."""

    def identify(self, left: Jersey | None, spots: Sequence[RosterSpot] = ()) -> None:
        """Do nothing: figures keep their recorded identities."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Do nothing: figures keep their recorded headings."""

    def find_figures(self) -> None:
        """Do nothing."""


class LatencyObserver(LoopObserver):
    """Measures the time from capture to publication of every frame, and from the instant of each call."""

    def __init__(self) -> None:
        self.captured_ns: dict[int, int] = {}
        self.latencies_ms: list[float] = []
        self.call_ms: list[tuple[str, float]] = []
        self._zero_ns = 0
        self.captured = 0
        self.calls = self.judged = 0
        self.last_ns = 0
        self.counting = False

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Note the capture time."""
        self.last_ns, self._zero_ns = frame.captured_ns, frame.captured_ns - frame.t_ns
        self.captured += self.counting
        self.captured_ns[frame.index] = frame.captured_ns
        self.captured_ns.pop(frame.index - 600, None)

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Note the latency."""
        called = [call for call in calls if call.verdict == "called"]
        self.calls += len(called)
        self.call_ms += [(call.kind, (time.monotonic_ns() - call.t_ns - self._zero_ns) / 1e6) for call in called]
        self.judged += isinstance(entry, Scene)
        if isinstance(entry, Scene) and self.counting and entry.frame in self.captured_ns:
            self.latencies_ms.append((time.monotonic_ns() - self.captured_ns[entry.frame]) / 1e6)


def open_rig(vision: str, port: int, folder: Path, changed: Mapping[str, object] | None = None) -> Rig:
    """Return the whole rig over the camera at a port, with one of `VISIONS`; settings may be others than these."""
    tune_process()
    calibration = bundled_demo().with_suffix(".calibration.json")
    given = {
        "source.name": f"http://127.0.0.1:{port}/video",
        "calibration.file": str(calibration),
        "game.roster": str(bundled_demo().with_suffix(".tracks.jsonl")),
        "data": str(folder),
        "service.port": 0,
        "recording.stop_below_gb": 0.5,
        **(changed or {}),
    }

    def recorded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        return RecordedScenes()

    def threaded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        known = None if roster is None else read_roster(roster)
        network = settings.network
        return Vision(calibration, local_detector(network), known, rate=detection_rate(network, time.perf_counter_ns))

    opener = {"network": open_vision, "threaded": threaded, "recorded": recorded}[vision]
    return Rig(load(environment={}, command_line=given), folder, open_vision=opener)
