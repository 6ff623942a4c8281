"""Every check of `downfield doctor`, in one list: one that is added to `CHECKS` is run, and is in bug reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from downfield.core.arrays import Image
from downfield.rig.configuration.settings import RigSettings, recordings_folder
from downfield.rig.doctor.camera_checks import check_calibration, check_camera, check_focus, check_light
from downfield.rig.doctor.computer_checks import (
    CheckResult,
    check_disk,
    check_network,
    check_port,
    check_store,
    check_time,
)
from downfield.rig.tables.table import source_choice
from downfield.rig.tables.table_calibration import calibration_beside


@dataclass(frozen=True, slots=True)
class CheckedRig:
    """What the checks look at.

    Attributes:
        settings: the configuration in effect.
        images: pictures of its source, the newest last; empty where none arrived.
        calibration_file: the calibration beside a clip, which need not exist.
    """

    settings: RigSettings
    images: tuple[Image, ...]
    calibration_file: Path


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One check.

    Attributes:
        run: returns its results.
        needs_pictures: whether it is left out where the source sent no picture.
    """

    run: Callable[[CheckedRig], Iterable[CheckResult]]
    needs_pictures: bool = False


CHECKS: Final = (
    DoctorCheck(lambda rig: (check_light(rig.images[-1]),), needs_pictures=True),
    DoctorCheck(lambda rig: (check_focus(rig.images[-1]),), needs_pictures=True),
    DoctorCheck(
        lambda rig: check_calibration(rig.settings.calibration, rig.images, rig.calibration_file), needs_pictures=True
    ),
    DoctorCheck(lambda rig: (check_network(rig.settings.network, rig.images[-1]),), needs_pictures=True),
    DoctorCheck(lambda rig: (check_disk(recordings_folder(rig.settings), rig.settings.recording),)),
    DoctorCheck(lambda rig: (check_store(rig.settings),)),
    DoctorCheck(lambda rig: (check_port(rig.settings.service),)),
    DoctorCheck(lambda _: (check_time(),)),
)
"""In the order in which they are run and shown, after those of the camera, whose pictures they need."""


def run_checks(settings: RigSettings) -> Iterator[CheckResult]:
    """Run all checks, one after the other, and yield their results as they come."""
    choice = source_choice(settings, paced=False)
    camera = check_camera(choice)
    yield from camera.results
    rig = CheckedRig(settings, camera.images, calibration_beside(choice.text))
    for check in CHECKS:
        if rig.images or not check.needs_pictures:
            yield from check.run(rig)
