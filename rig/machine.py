"""What the rig does when somebody asks: calibrate, record, suspend calls, find the figures."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from importlib.metadata import version
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError, RefusedError
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.game.commands import (
    FindFigures,
    Recalibrate,
    Record,
    RigCommand,
    Settings,
    Suspend,
    UseCalibration,
)
from downfield.game.published.board_topics import HealthReason
from downfield.rig.configuration.loading import Configuration
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import VisionStage
from downfield.rig.table import LOOKED_AT, NO_CALIBRATION, OpenedTable, calibrate, uncalibrated

SUSPENDED: Final = "calls_suspended"

_EVERY: Final = 6  # of the frames seen, those kept for a calibration
_TRY_EVERY_S: Final = 6.0  # a try takes a second or two


class RigMachine(LoopObserver):
    """Carries out commands; an onlooker of the loop, which gives it pictures to calibrate from.

    Args:
        configuration: in force.
        table: what is watched; while it has no calibration, one is tried for every few seconds.
        troubles: told what goes on.

    """

    def __init__(self, configuration: Configuration, table: OpenedTable, troubles: ActiveProblems) -> None:
        self._configuration = configuration
        self._calibration = table.calibration
        self._size_px = table.source.facts.size_px
        self._make_sight = table.make_sight
        self._troubles = troubles
        self._try_at = time.monotonic() + _TRY_EVERY_S
        self._pictures: deque[Image] = deque(maxlen=LOOKED_AT)
        self._calibrating = threading.Lock()
        self._suspended = False
        self.between_frames: Callable[[Callable[[VisionStage], VisionStage]], None] | None = None
        self.record: Callable[[bool], str] | None = None
        self.calibrated: Callable[[Calibration], None] = lambda _: None

    def do(self, command: RigCommand) -> str:
        """Do it, or begin to.

        Returns:
            What was done, in words.

        Raises:
            RefusedError: it can't be done now.
            DownfieldError: it failed.

        """
        if isinstance(command, Recalibrate):
            return self._recalibrate()
        if isinstance(command, UseCalibration):
            self._use(command.calibration)
            return "another calibration is in use"
        if isinstance(command, Record):
            if self.record is None:
                raise RefusedError("nothing is recorded here: the source is a recording itself")
            return self.record(command.on)
        if isinstance(command, Suspend):
            return self._suspend(command.on)
        if isinstance(command, FindFigures):
            self._between(_found_anew)
            return "the figures are looked for anew"
        raise RefusedError(f"this rig can't do '{command.command}'")

    def calibration(self) -> Calibration | None:
        """The calibration in use."""
        return self._calibration

    def settings(self) -> Settings:
        """The configuration in force. A password in a database's or camera's address is left out."""
        values = self._configuration.settings.model_dump(mode="json")
        for table, key in (("store", "url"), ("source", "name")):
            values[table][key] = _without_password(values[table][key])
        return Settings(version=version("downfield"), values=values, origins=dict(self._configuration.origins))

    def suspended(self) -> tuple[str, ...]:
        """Why no calls are to be made from the camera."""
        return ("calls are suspended by the operator",) if self._suspended else ()

    def scene(self, frame: Frame, _: Scene) -> None:
        """Keep a picture now and then; without a calibration, try for one as often as is bearable."""
        if frame.index % _EVERY == 0:
            self._pictures.append(frame.image)
        ready = self._make_sight is not None and len(self._pictures) == LOOKED_AT
        if self._calibration is None and ready and time.monotonic() >= self._try_at:
            with contextlib.suppress(RefusedError):  # somebody asked for it just now
                self._recalibrate()

    def _suspend(self, on: bool) -> str:
        self._suspended = on
        if not on:
            self._troubles.clear(SUSPENDED)
            return "calls are made again"
        text = "Calls from the camera are suspended"
        self._troubles.add(HealthReason(code=SUSPENDED, level="warning", text=text, remedy="Resume them on the panel"))
        return "calls are suspended"

    def _recalibrate(self) -> str:
        if self._make_sight is None:
            raise RefusedError("scenes are shown as they were recorded: there is nothing to calibrate")
        if len(self._pictures) < LOOKED_AT:
            raise RefusedError("too few pictures yet: try again in a second")
        if not self._calibrating.acquire(blocking=False):
            raise RefusedError("a calibration is being made already")
        images = list(self._pictures)
        threading.Thread(target=self._calibrate, args=(images,), name="calibrating", daemon=True).start()
        return "calibrating: a few seconds"

    def _calibrate(self, images: list[Image]) -> None:
        try:
            self._use(calibrate(self._configuration.settings.calibration, images, "camera"))
            self._troubles.clear(NO_CALIBRATION)
            self._troubles.note("info", "The camera is calibrated anew.")
        except DownfieldError as error:
            self._troubles.add(uncalibrated(error) if self._calibration is None else _not_calibrated_anew(error))
        finally:
            self._try_at = time.monotonic() + _TRY_EVERY_S
            self._calibrating.release()

    def _use(self, calibration: Calibration) -> None:
        make_sight = self._make_sight
        if make_sight is None:
            raise RefusedError("scenes are shown as they were recorded: there is nothing to calibrate")
        before = self._calibration
        if calibration.camera.lens.size_px != self._size_px:
            raise CalibrationError("the calibration is of pictures of another size than the camera sends")
        if before is not None and calibration.field != before.field:
            raise CalibrationError(
                f"the calibration is of the field '{calibration.field.name}', but the game is played on "
                f"'{before.field.name}': start the rig anew with it"
            )
        sight = make_sight(calibration)
        self._between(lambda _: sight)
        self._calibration = calibration
        self.calibrated(calibration)

    def _between(self, change: Callable[[VisionStage], VisionStage]) -> None:
        if self.between_frames is None:
            raise RefusedError("the rig is starting: try again in a second")
        self.between_frames(change)


def _not_calibrated_anew(error: DownfieldError) -> HealthReason:
    remedy = "Clear the board, light it evenly, and try again; the calibration from before is still in use"
    return HealthReason(code=NO_CALIBRATION, level="warning", text=str(error), remedy=remedy)


def _found_anew(sight: VisionStage) -> VisionStage:
    sight.find_figures()
    return sight


def _without_password(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    name, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{name.partition(':')[0]}{at}{host}" if separator else address
