"""The sight through the network: detector, tracker and all that is measured from them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from downfield.calibration.calibration import Calibration
from downfield.models.card import BUNDLED
from downfield.models.detector import Detector
from downfield.models.opening import open_detector
from downfield.rig.configuration.settings import NetworkTable, Settings
from downfield.vision.pipeline import Vision
from downfield.vision.roster import read_roster


def open_sight(settings: Settings, calibration: Calibration, roster: Path | None) -> Vision:
    """A sight for a camera. All share one detector, so only one may be in use.

    Args:
        settings: the configuration.
        calibration: of the camera.
        roster: a file with who is on the board; None to take and number whoever is there.

    Raises:
        InputError: there is no such network or file.
        FormatError: the roster breaks its format.

    """
    known, every_ns = None if roster is None else read_roster(roster), round(1e9 / settings.network.looks_per_s)
    return Vision(calibration, detector(settings.network), known, look_every_ns=every_ns)


@cache
def detector(table: NetworkTable) -> Detector:
    """The detector, opened once.

    Raises:
        InputError: there is no such network, or it can't be run here.

    """
    return open_detector(table.name or BUNDLED, threads=table.threads, second_look=table.second_look)
