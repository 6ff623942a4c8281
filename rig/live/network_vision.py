"""The vision stage with the neural network, which runs in another process when frames must not wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from downfield.calibration.calibration import Calibration
from downfield.core.roster import read_roster
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.models.worker_client import open_with_worker
from downfield.rig.configuration.settings import NetworkSettings, RigSettings
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

PLAYBACK_DIVISOR: Final = 3.0
"""Factor by which whole frames of a recording are detected more rarely: frames wait for the detector, and the recording
should still play at its own pace."""


def open_vision(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> Vision:
    """Open the vision stage of a camera. All stages share one detector, so only one of them may be in use.

    Args:
        settings: the configuration.
        calibration: of the camera.
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
