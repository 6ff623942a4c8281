"""Two vision stages: the network, in another process where frames must not wait, and scenes that were recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.errors import InputError
from downfield.core.frame import Frame
from downfield.core.scene import Player, Scene
from downfield.core.track_files import read_roster
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.models.worker_client import open_with_worker
from downfield.rig.configuration.settings import NetworkSettings, RigSettings
from downfield.rig.live.connections import DetectionResult, FigurelessVision
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

PLAYBACK_DIVISOR: Final = 3.0
"""Factor by which whole frames of a recording are detected more rarely: frames wait for the detector, and the recording
should still play at its own pace."""


def open_vision(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> Vision:
    """Open the vision stage of a camera. All stages share one detector, so only one of them may be in use.

    Args:
        roster: a file with the players on the board; None to number the figures found.
        live: whether frames are dropped when detection takes too long, so that it must adapt to the computer. Recorded
            frames wait, and the result does not depend on the computer.

    Raises:
        InputError: the network or the file does not exist.
        FormatError: the roster is malformed.
    """
    known = None if roster is None else read_roster(roster)
    network = settings.network
    if live:
        rate = detection_rate(network, time.perf_counter_ns)
        return Vision(calibration, worker_detector(network), known, rate=rate)
    rate = DetectionRate(_period_ns(network.detections_per_s / PLAYBACK_DIVISOR), _period_ns(network.refinements_per_s))
    return Vision(calibration, local_detector(network), known, rate=rate)


def detection_rate(network: NetworkSettings, clock: Callable[[], int]) -> DetectionRate:
    """Return the rates at which the network runs, adapted by a clock; see `DetectionRate`."""
    return DetectionRate(_period_ns(network.detections_per_s), _period_ns(network.refinements_per_s), clock)


@cache
def local_detector(network: NetworkSettings) -> Detector:
    """Return the detector of this process, opened once.

    Raises:
        InputError: the network does not exist, or can't be run here.
    """
    return open_detector(**_arguments(network))


@cache
def worker_detector(network: NetworkSettings) -> Detector:
    """Return the detector that sends whole frames to another process, if possible, so that tracking does not wait.

    Raises:
        InputError: the network does not exist, or can't be run here.
    """
    open_here = partial(open_detector, **_arguments(network))
    return open_with_worker(lambda whole_pictures: open_here(whole_pictures=whole_pictures), _arguments(network))


def _period_ns(times_per_s: float) -> int:
    return round(1e9 / times_per_s)


def _arguments(network: NetworkSettings) -> dict[str, Any]:
    return {
        "name_or_path": network.name or BUNDLED,
        "threads": network.threads,
        "refine_threads": network.refine_threads,
        "refine": network.refine,
    }


class RecordedVision(FigurelessVision):
    """Returns the scenes recorded beside a clip, frame by frame.

    Args:
        players: the roster to declare to the game; empty when recorded events declare it.
    """

    def __init__(self, tracks: Iterable[Scene], players: tuple[Player, ...] = ()) -> None:
        self.players = players
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None  # nothing follows it
        self._scenes = iter(tracks)
        self._next: Scene | None = next(self._scenes, None)

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return the scene of a frame.

        Raises:
            InputError: the tracks have no scene for the frame.
        """
        while self._next is not None and self._next.frame < frame.index:
            self._next = next(self._scenes, None)
        if self._next is None or self._next.frame != frame.index:
            raise InputError(f"frame {frame.index}: the clip's tracks hold no scene for it")
        return self._next


class UncalibratedVision(FigurelessVision):
    """Returns empty scenes that are unfit for calls, so that the camera can be aimed by its picture."""

    def __init__(self, reason: str) -> None:
        self.players: tuple[Player, ...] = ()
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None  # nothing follows it
        self._unfit = (reason,)

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return an empty scene, unfit for calls."""
        return Scene(frame.index, frame.t_ns, "unknown", (), unfit=self._unfit)
