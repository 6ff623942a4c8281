"""A whole rig on small pictures, with a fake vision stage that can be held up."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from rig_fakes import FakeVision
from waiting import WAIT_S, wait_until

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.frame import Frame
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.connections import VisionStage
from downfield.rig.rig import Rig

TRACKING = threading.Event()
TRACKING.set()


def wait_for_tracking(_: Frame) -> None:
    """Hold a frame up until `TRACKING` is set."""
    TRACKING.wait(WAIT_S)


def open_fake_vision(
    settings: RigSettings,  # noqa: ARG001
    calibration: Calibration,  # noqa: ARG001
    roster: Path | None,  # noqa: ARG001
    *,
    live: bool,  # noqa: ARG001
) -> VisionStage:
    """Open a vision stage that tracks nothing while `TRACKING` is not set."""
    return FakeVision(wait_for_tracking)


def small_calibration(folder: Path) -> Path:
    """Write a calibration for small pictures into a folder; return its file."""
    made = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    lens = replace(made.camera.lens, size_px=(160, 90))
    path = folder / "small.calibration.json"
    write_calibration(path, replace(made, camera=replace(made.camera, lens=lens)))
    return path


def play(rig: Rig) -> threading.Thread:
    """Play a rig in a thread; return it once a scene was published."""
    thread = threading.Thread(target=rig.play, daemon=True)
    thread.start()
    wait_until(lambda: rig.topic("scene"), "no scene was published")
    return thread
