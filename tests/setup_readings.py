"""A set-up session over a drawn board whose search gives the readings that a test wants, without a search."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from calibration_scenes import TUDOR, camera_over
from waiting import wait_until

from downfield.api.table_setup import SetupView, SolveRequest
from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.camera_fit import Observations, fit_camera
from downfield.calibration.drawing import draw_field
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.calibration.field.verification import FieldEvidence
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tables.setup_session import SetupSession

RUNNING: Final = "http://127.0.0.1:9/video"
CAMERA: Final = camera_over(TUDOR, (1280, 720))


@cache
def solution(camera: Camera = CAMERA) -> FieldSolution:
    """A solution by exact places of the whole field."""
    x, y = np.meshgrid(np.linspace(0, TUDOR.length_mm, 9), np.linspace(0, TUDOR.width_mm, 6))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    start = dataclasses.replace(camera, bow=flat_bow(TUDOR))
    seen = Observations.of_points(points, camera.to_pixels(points), 0.1)
    evidence = FieldEvidence((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), 1.0, 1.0, 0.0, 0.0, 0.0, None)
    return FieldSolution(TUDOR, fit_camera(start, seen), seen, evidence)


def one_step_aside() -> Camera:
    """The camera as it would be if each goal line were the next yard line."""
    x, y, z = CAMERA.translation_mm
    step = CAMERA.board_to_camera @ np.array([5 * TUDOR.mm_per_yd_x, 0.0, 0.0])
    return dataclasses.replace(CAMERA, translation_mm=(x + float(step[0]), y + float(step[1]), z + float(step[2])))


def goal_line_readings() -> AmbiguousField:
    """Two readings that differ by the goal line."""
    return AmbiguousField([FieldReading("left end", solution()), FieldReading("right end", solution(one_step_aside()))])


def mirrored_or_not() -> AmbiguousField:
    """Two readings of which the picture is mirrored in one."""
    found = solution()
    return AmbiguousField(
        [FieldReading("as it is", found), FieldReading("in a mirror", found, mirrored=True)], "numbers can't be read"
    )


@cache
def picture() -> Image:
    """The board as the camera sees it, in outlines; nobody draws on it."""
    ground = np.full((720, 1280, 3), 60, dtype=np.uint8)
    drawn = draw_field(ground, solution().calibration(), 2)
    drawn.setflags(write=False)
    return drawn


def session_with(folder: Path, saved: list[TableProfile]) -> SetupSession:
    """A session whose camera in play looks at the board."""
    images = [picture()]
    return SetupSession(RigSettings(data=str(folder)), RUNNING, lambda: images, SourceChoice, saved.append)


def searched(session: SetupSession, request: SolveRequest | None = None) -> SetupView:
    """Return the session's state after a search."""
    session.solve(request or SolveRequest())
    return settled(session)


def settled(session: SetupSession) -> SetupView:
    """Return the session's state when nothing is being solved anymore."""
    wait_until(lambda: session.view().step != "solving", "the search ends")
    return session.view()
