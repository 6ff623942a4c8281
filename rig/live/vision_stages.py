"""Two vision stages: the network, in another process where frames must not wait, and scenes that were recorded."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.errors import DownfieldError, InputError
from downfield.core.frame import Frame
from downfield.core.records import read_record, record, to_json, write_text
from downfield.core.scene import Player, Scene
from downfield.core.track_files import read_roster
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.models.worker_client import open_with_worker
from downfield.rig.configuration.settings import NetworkSettings, RigSettings, tables_folder
from downfield.rig.live.connections import DetectionResult, FigurelessVision
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision
from downfield.vision.tracking.teams import TeamColors

_log = logging.getLogger(__name__)
_DIGEST_DIGITS: Final = 12

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
        if roster is None:  # other teams may play on the table next time
            return Vision(calibration, worker_detector(network), rate=rate)
        kept = KeptColors.of(settings, roster)
        return Vision(
            calibration, worker_detector(network), known, rate=rate, colors=kept.read(), keep_colors=kept.write
        )
    rate = DetectionRate(_period_ns(network.detections_per_s / PLAYBACK_DIVISOR), _period_ns(network.refinements_per_s))
    return Vision(calibration, local_detector(network), known, rate=rate)


@record
class LearnedColors:
    """The colors of two teams, ``*.colors.json``, as learned at the last line-up in which it was known who is who."""

    palette: tuple[tuple[float, ...], ...]  # colors in Lab, L as weighted
    # how often each occurs on each part of the light and of the dark team
    counts: tuple[tuple[tuple[float, ...], ...], ...]
    format: Literal["downfield.colors"] = "downfield.colors"
    version: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class KeptColors:
    """The file of the colors of a roster's teams on one table; without it they are learned anew."""

    path: Path

    @classmethod
    def of(cls, settings: RigSettings, roster: Path) -> KeptColors:
        """Return the file for a source and a roster."""
        source = hashlib.sha256(settings.source.name.encode()).hexdigest()[:_DIGEST_DIGITS]
        return cls(tables_folder(settings) / f"{roster.stem}-{source}.colors.json")

    def read(self) -> TeamColors | None:
        """Return the colors; None if there are none yet."""
        if not self.path.is_file():
            return None
        try:
            kept = read_record(LearnedColors, self.path)
        except DownfieldError as error:
            _log.warning("the teams' colors are learned anew: %s", error)
            return None
        return TeamColors(np.array(kept.palette), np.array(kept.counts))

    def write(self, colors: TeamColors) -> None:
        """Keep the colors."""
        palette = tuple(tuple(color) for color in colors.palette.tolist())
        counts = tuple(tuple(tuple(part) for part in team) for team in colors.color_counts.tolist())
        learned = LearnedColors(palette, counts)
        try:
            write_text(self.path, (to_json(LearnedColors, learned),))
        except DownfieldError as error:
            _log.warning("the teams' colors are not kept: %s", error)


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
        """Return the scene of a frame. Raises InputError: the tracks have no scene for the frame."""
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
