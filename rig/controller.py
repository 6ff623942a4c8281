"""Carries out the commands of operators: calibrate, record, suspend calls, find the figures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.capture.problems import CALLS_SUSPENDED, ActiveProblems
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError, RefusedError
from downfield.core.threads import supervised_thread
from downfield.game.published.board_topics import HealthReason
from downfield.game.records.commands import (
    FindFigures,
    KeepGame,
    Recalibrate,
    Record,
    RigCommand,
    Settings,
    Suspend,
    UseCalibration,
)
from downfield.game.strip.strip_follower import StripFollower
from downfield.rig.configuration.display import shown_values
from downfield.rig.configuration.loading import Configuration
from downfield.rig.live.connections import LoopControls, VisionStage
from downfield.rig.tables.table import NO_CALIBRATION, OpenedTable, no_calibration
from downfield.rig.tables.table_calibration import calibrate, calibrate_again

_RECORDED_SCENES: Final = "The scenes of this recording are shown as they were recorded; nothing is tracked."


_RETRY_S: Final = 6.0  # Between two attempts to calibrate a camera without a calibration; one takes a second or two
_REMIND_S: Final = 30.0
"""Time between two notices that the field is still searched for, for whoever watches the terminal's lines only."""


class RigController:
    """Carries out the rig's commands. Callable from any thread.

    Args:
        table: the source and its camera.
        recent_images: returns recent pictures to calibrate from; empty while there are too few.
        record: starts or stops the recording; None where nothing is recorded.
        calibrated: called with each new calibration once it is in use.
        strip: returns what follows a card game's strip; None over a table.
    """

    def __init__(
        self,
        configuration: Configuration,
        table: OpenedTable,
        problems: ActiveProblems,
        controls: LoopControls,
        *,
        recent_images: Callable[[], list[Image]] = list,
        record: Callable[[bool], str] | None = None,
        calibrated: Callable[[Calibration], None] = lambda _: None,
        strip: Callable[[], StripFollower | None] = lambda: None,
    ) -> None:
        self._configuration, self._calibration = configuration, table.calibration
        self._source, self._make_vision = table.source, table.make_vision
        self._problems, self._controls = problems, controls
        self._recent_images, self._record, self._calibrated = recent_images, record, calibrated
        self._strip = strip
        self._calibrating = threading.Lock()
        self._tried = ""
        self._closed = threading.Event()

    def do(self, command: RigCommand) -> str:
        """Carry out a command, or start a long one in the background; return what was done, as a sentence.

        Raises:
            RefusedError: the command can't be carried out now.
            DownfieldError: the command failed.
        """
        if isinstance(command, Recalibrate):
            return self._recalibrate()
        if isinstance(command, UseCalibration):
            self._use(command.calibration)
            return "The calibration is in use."
        if isinstance(command, Record):
            if self._record is None:
                raise RefusedError("The source is a recording itself; nothing is recorded.")
            return self._record(command.on)
        if isinstance(command, Suspend):
            return self._suspend(command.on)
        if isinstance(command, FindFigures):
            self._vision_opener()
            self._controls.change_vision(_find_figures)
            return "Searching for all figures again."
        if isinstance(command, KeepGame):
            if (strip := self._strip()) is None:
                raise RefusedError("The camera looks at a table: there is no strip to keep the game against.")
            return strip.keep_game(command.question)
        raise RefusedError(f"This rig has no command '{command.command}'.")

    def game_begins(self, *, resumed: bool) -> None:
        """Have no call made in a game that goes on, while it is not known whether the picture is of its table."""
        if not resumed:
            self._problems.resolve(CALLS_SUSPENDED)
        elif any(problem.code == CALLS_SUSPENDED for problem in self._problems.active()):
            self._controls.suspension = "the picture may be of another table: look at it, then use the camera again"

    def calibration(self) -> Calibration | None:
        """Return the calibration in use."""
        return self._calibration

    def settings(self) -> Settings:
        """Return the configuration in effect, without passwords and keys."""
        values = shown_values(self._configuration.settings)
        return Settings(version=version("downfield"), values=values, origins=dict(self._configuration.origins))

    def calibrate_until_found(self) -> None:
        """Without a calibration, try to calibrate every few seconds until one is in use; returns at once."""
        if self._calibration is None and self._make_vision is not None:
            supervised_thread(
                self._keep_trying, "calibration attempts", self._report_fault, restarts=True, closed=self._closed.is_set
            ).start()

    def close(self) -> None:
        """Stop trying to calibrate."""
        self._closed.set()

    def _keep_trying(self) -> None:
        began_s = reminded_s = time.monotonic()
        attempts = 0
        while not self._closed.wait(_RETRY_S) and self._calibration is None:
            images = self._recent_images()
            if images and self._calibrating.acquire(blocking=False):
                attempts += 1
                self._tried = f"attempt {attempts}, {time.monotonic() - began_s:.0f} s so far"
                self._start_calibrating(images).join()
            if self._calibration is None and time.monotonic() - reminded_s > _REMIND_S:
                reminded_s = time.monotonic()
                without = "no picture has arrived yet" if not attempts else self._tried
                self._problems.notify("warning", f"Still looking for the printed field: {without}.")

    def _suspend(self, on: bool) -> str:
        self._controls.suspension = "calls are suspended by the operator" if on else ""
        if not on:
            self._problems.resolve(CALLS_SUSPENDED)
            return "Calls from the camera are resumed."
        text, remedy = "Calls from the camera are suspended", "Resume them on the panel"
        self._problems.report(HealthReason(code=CALLS_SUSPENDED, level="warning", text=text, remedy=remedy))
        return "Calls from the camera are suspended."

    def _recalibrate(self) -> str:
        self._vision_opener()
        images = self._recent_images()
        if not images:
            raise RefusedError("There are too few pictures yet. Try again in a second.")
        if not self._calibrating.acquire(blocking=False):
            raise RefusedError("A calibration is already running. Wait a few seconds.")
        self._start_calibrating(images)
        return "Calibrating; this takes a few seconds."

    def _start_calibrating(self, images: list[Image]) -> threading.Thread:
        """Calibrate in a thread of its own, so that an error ends only this attempt."""
        thread = supervised_thread(lambda: self._calibrate(images), "calibration", self._report_fault)
        try:
            thread.start()
        except RuntimeError:  # no more threads can be had; the next attempt may get one
            self._calibrating.release()
            raise RefusedError("This computer is too busy to calibrate now. Try again in a few seconds.") from None
        return thread

    def _calibrate(self, images: list[Image]) -> None:
        """Calibrate from pictures and use the result; `_calibrating` is held, and released at the end."""
        try:
            settings, before = self._configuration.settings.calibration, self._calibration
            again = partial(calibrate_again, before=before) if before is not None else calibrate
            self._use(again(settings, images, name="camera"))
            self._problems.resolve(NO_CALIBRATION)
            self._problems.notify("info", "The camera was calibrated.")
        except DownfieldError as error:
            self._report(error)
        finally:
            self._calibrating.release()

    def _report_fault(self, cause: str) -> None:
        """Report an error in Downfield; it ends one attempt."""
        self._report(CalibrationError(f"Downfield made an error ({cause})"))

    def _report(self, error: DownfieldError) -> None:
        if self._calibration is None:
            self._problems.report(no_calibration(error, self._tried))
            return
        remedy = "Clear the board, light it evenly and try again. The previous calibration is still in use"
        self._problems.report(HealthReason(code=NO_CALIBRATION, level="warning", text=str(error), remedy=remedy))

    def _use(self, calibration: Calibration) -> None:
        make_vision = self._vision_opener()
        before = self._calibration
        size_px = calibration.camera.lens.size_px
        sent_px = self._source.facts.size_px  # which changes when a camera comes back with another size
        if size_px != sent_px:
            raise CalibrationError(
                f"The calibration is for pictures of {size_px[0]}x{size_px[1]}, but the camera sends"
                f" {sent_px[0]}x{sent_px[1]}. Use a calibration of that size."
            )
        if before is not None and calibration.field != before.field:
            raise CalibrationError(
                f"The calibration is for the field '{calibration.field.name}', but the game is played on"
                f" '{before.field.name}'. Restart Downfield with the new calibration."
            )
        vision = make_vision(calibration)
        self._controls.change_vision(lambda _: vision)
        self._calibration = calibration
        self._calibrated(calibration)

    def _vision_opener(self) -> Callable[[Calibration], VisionStage]:
        """Return the function that opens a vision stage; refuse the command if recorded scenes are shown."""
        if self._make_vision is None:
            raise RefusedError(_RECORDED_SCENES)
        return self._make_vision


def _find_figures(vision: VisionStage) -> VisionStage:
    vision.find_figures()
    return vision
