"""The sight through the network: detector, tracker and all that is measured from them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from downfield.calibration.calibration import Calibration
from downfield.core.roster import read_roster
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.opening import open_detector
from downfield.models.worker_client import open_with_worker
from downfield.rig.configuration.settings import NetworkSettings, RigSettings
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

WATCHED: Final = 3.0
"""Times as rarely as asked for, whole pictures are looked at in a recording that somebody watches meanwhile: its frames
wait for them, and it is to play at its rate."""


def open_vision(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> Vision:
    """A sight for a camera. All share one detector, so only one may be in use.

    Args:
        settings: the configuration.
        calibration: of the camera.
        roster: a file with who is on the board; None to take and number whoever is there.
        live: whether frames are lost when looking takes too long; it is done more rarely then. Else frames wait, and
            what is seen does not depend on the computer.

    Raises:
        InputError: there is no such network or file.
        FormatError: the roster breaks its format.

    """
    known = None if roster is None else read_roster(roster)
    network = settings.network
    watched = DetectionRate(_every_ns(network.looks_per_s / WATCHED), _every_ns(network.follows_per_s))
    rate = detection_rate(network, time.perf_counter_ns) if live else watched
    return Vision(calibration, elsewhere(network) if live else detector(network), known, rate=rate)


def detection_rate(table: NetworkSettings, clock: Callable[[], int]) -> DetectionRate:
    """How often the network is to look; see `DetectionRate`."""
    return DetectionRate(_every_ns(table.looks_per_s), _every_ns(table.follows_per_s), clock)


def _every_ns(times_per_s: float) -> int:
    return round(1e9 / times_per_s)


@cache
def detector(table: NetworkSettings) -> Detector:
    """The detector, opened once.

    Raises:
        InputError: there is no such network, or it can't be run here.

    """
    return open_detector(**_how(table))


@cache
def elsewhere(table: NetworkSettings) -> Detector:
    """The detector, with whole pictures looked at by another process if it can, so that no frame waits for that.

    Raises:
        InputError: there is no such network, or it can't be run here.

    """
    here = partial(detector, table)
    return open_with_worker(here, _how(table)) if os.name == "posix" else here()


def _how(table: NetworkSettings) -> dict[str, Any]:
    return {
        "name_or_path": table.name or BUNDLED,
        "threads": table.threads,
        "follow_threads": table.follow_threads,
        "refine": table.second_look,
    }
