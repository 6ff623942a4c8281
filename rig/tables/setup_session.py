"""The set-up of a table, step by step: camera, aim, solve, confirm, save."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Final

import cv2

from downfield.api.table_setup import (
    MeasurementRequest,
    SetupFinding,
    SetupStep,
    SetupView,
    SolveRequest,
    SolvingProgress,
    draw_field_lines,
)
from downfield.calibration.advice import ADVICE_LIMITS, Advice, best_measurement, describe_certainty
from downfield.calibration.field.progress import SolveProgress
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.capture.sources.source_types import SourceChoice, type_of, unknown_scheme
from downfield.core.addresses import without_password
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, DownfieldError, InputError, RefusedError, Remedy
from downfield.core.field.model import preset, preset_names
from downfield.core.threads import supervised_thread
from downfield.rig.configuration.settings import RigSettings, tables_folder
from downfield.rig.tables.aim_check import AimCheck, AwaitedCamera, CameraPreview, camera_findings, picture_findings
from downfield.rig.tables.profile import TableFolder, TableProfile, camera_options, field_options, new_profile
from downfield.rig.tables.setup_solving import (
    JPEG_QUALITY,
    NOTHING_FOUND,
    FoundReadings,
    kinds_by_name,
    landmarks_of,
    solve_as_requested,
    solve_with_measurement,
)

_SOLVING: Final = "The printed field is being looked for. Wait until that is done."
_OPENING: Final = "A camera is being opened. Wait until its picture is shown."
_SAVED: Final = "The table is saved. Wait until its camera is open."


class SetupSession:
    """Sets up a table; implements `TableSetup`.

    Args:
        running: the camera in play, as for ``--source``; empty if a recording is played.
        running_images: returns recent pictures of the camera in play.
        saved: called with each table that was saved.
        running_failure: returns why the camera in play sends no pictures; empty while it does.
    """

    def __init__(
        self,
        settings: RigSettings,
        running: str,
        running_images: Callable[[], list[Image]],
        choice: Callable[[str], SourceChoice],
        saved: Callable[[TableProfile], None],
        running_failure: Callable[[], str] = str,
    ) -> None:
        self._folder = TableFolder(tables_folder(settings))
        self._running, self._running_images, self._choice, self._saved = running, running_images, choice, saved
        self._running_failure = running_failure
        self._lock = threading.RLock()
        self._step: SetupStep = "camera"
        self._source, self._name = "", ""
        self._preview: CameraPreview | None = None
        self._aim: AimCheck | None = None
        self._frozen: list[Image] = []
        self._found = NOTHING_FOUND
        self._advice: Advice | None = None
        self._revision = 0
        self._opening = False
        self._problem = ""
        self._remedy: Remedy | None = None
        self._progress: SolvingProgress | None = None
        self._awaited: AwaitedCamera | None = None

    def view(self) -> SetupView:
        """Return the present state."""
        with self._lock:
            images = self._images()
            found, calibration = self._found, self._found.calibration
            findings: list[SetupFinding] = list(picture_findings(images[-1])) if images else []
            if calibration is not None:
                findings += () if found.undecided else camera_findings(calibration.camera)
            elif self._aim is not None and self._step == "aim" and not findings:
                findings += self._aim.findings
            return SetupView(
                step=self._step,
                cameras=camera_options(self._running),
                camera=self._name,
                size_px=(images[-1].shape[1], images[-1].shape[0]) if images else None,
                findings=tuple(findings),
                sees_field=self._aim is not None and self._aim.sees_field and not findings,
                progress=self._progress,
                problem=self._problem or self._failure(),
                remedy=self._remedy if self._problem else None,
                readings=found.views(),
                reading=found.index,
                undecided=found.undecided,
                lengths_known=calibration is None or calibration.lengths_known,
                field="" if calibration is None else calibration.field.name,
                summary=found.summary,
                certainty=describe_certainty(calibration) if calibration is not None and not found.undecided else "",
                advice=self._advice.text if self._advice else "",
                measure=self._advice.measure if self._advice else None,
                landmarks=() if calibration is None else landmarks_of(calibration),
                revision=self._revision,
                fields=field_options(preset(name) for name in preset_names()),
                kinds=field_options(kinds_by_name().values()),
                tables=self._folder.listed(),
            )

    def open_camera(self, source: str) -> SetupView:
        """Open a camera and show its picture; an earlier one is closed."""
        named, offered = type_of(source), {option.source for option in camera_options(self._running)}
        if source not in offered and (named is None or not named.live):
            raise unknown_scheme(source) or InputError(
                f"'{source[:80]}' is no camera of this computer. Choose one, or give a stream's address."
            )
        with self._lock:
            self._refuse_while_busy()
            self.close()
            self._source, self._name, self._step, self._problem = "", "", "camera", ""
            self._show(NOTHING_FOUND)
            self._opening = True
        preview, opened = None, False
        try:
            # Not under the lock: an address that does not answer takes long, and others watch meanwhile.
            preview = None if source == self._running else CameraPreview(self._choice(source))
            opened = True
        finally:
            with self._lock:
                self._opening = False
                if opened:
                    self._preview, self._source, self._step = preview, source, "aim"
                    self._name = without_password(source) if preview is None else preview.name
                    self._aim = AimCheck(self._aimed_images)
        return self.view()

    def picture(self) -> bytes:
        """Return the picture as a JPEG."""
        with self._lock:
            images = self._images()
        if not images:
            raise RefusedError("The camera has sent no picture yet. Wait a moment.")
        _, jpeg = cv2.imencode(".jpg", images[-1], [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        return jpeg.tobytes()

    def lines(self) -> str:
        """Return the field's lines over the picture, as an SVG."""
        with self._lock:
            calibration = self._found.calibration
        if calibration is None:
            raise RefusedError("The printed field is not found yet.")
        return draw_field_lines(calibration)

    def solve(self, request: SolveRequest) -> SetupView:
        """Begin to look for the printed field in the present picture.

        What is shown stays if landmarks or a length that correct it don't suit the picture.
        """
        with self._lock:
            self._refuse_while_busy()
            shown = self._found if self._step == "confirm" else NOTHING_FOUND
            failure = "" if shown.readings else self._failure()
            images = [] if failure else self._images()
            if not images:
                raise RefusedError(failure or "The camera has sent no picture yet. Wait a moment.")
            corrects = bool(request.landmarks) or request.length is not None
            before = shown if corrects else NOTHING_FOUND
            again: Remedy = "place_corners" if request.landmarks else "measure"
            solve = partial(solve_as_requested, images, request, shown.calibration, self._report)
            self._begin(images, solve, before, again)
        return self.view()

    def measure(self, request: MeasurementRequest) -> SetupView:
        """Begin to solve again what is shown, with something that was measured; it stays if that does not suit."""
        with self._lock:
            self._refuse_while_busy()
            solution = self._decided().solution
            images = self._frozen
            self._begin(images, lambda: solve_with_measurement(images, solution, request), self._found)
        return self.view()

    def aim_again(self) -> SetupView:
        """Drop the solution and show the camera's picture again."""
        with self._lock:
            self._refuse_while_busy()
            self._show(NOTHING_FOUND)
            self._problem = ""
            self._step = "aim" if self._source else "camera"
        return self.view()

    def reading_picture(self, reading: int) -> bytes:
        """Return a small picture of one of several readings as a JPEG, the field drawn on it."""
        with self._lock:
            found, image = self._found, self._frozen[-1] if self._frozen else None
        if image is None:
            raise InputError("There is nothing to be read yet. Find the printed field first.")
        return found.picture(reading, image)

    def choose(self, reading: int) -> SetupView:
        """Show one of several readings; one in which the picture is mirrored leads back to aiming the camera."""
        with self._lock:
            self._refuse_while_busy()
            try:
                self._show(self._found.choose(reading))
                self._problem = ""
            except CalibrationError as error:
                self._show(NOTHING_FOUND)
                self._step, self._problem, self._remedy = "aim", str(error), error.remedy
        return self.view()

    def save(self, name: str) -> SetupView:
        """Save the table and play on it."""
        with self._lock:
            self._refuse_while_busy()
            calibration = self._decided().solution.calibration("field", [self._name])
            profile = new_profile(name, self._source, calibration)
            self._folder.save(profile)
            self._step = "saved"
            self.close()
        self._saved(profile)
        return self.view()

    def use_table(self, name: str) -> SetupView:
        """Play on a saved table."""
        with self._lock:
            self._refuse_while_busy()
            table = self._folder.get(name)
            self._folder.use(table.name)
            self._step = "saved"
            self.close()
        self._saved(table)
        return self.view()

    def rename_table(self, name: str, new: str) -> SetupView:
        """Give a saved table another name; raises as of `TableFolder.rename`."""
        self._folder.rename(name, new)
        return self.view()

    def remove_table(self, name: str) -> SetupView:
        """Delete a saved table that is not in use; games that were played on it stay."""
        if any(table.in_use and table.name == name for table in self._folder.listed()):
            raise RefusedError(f"'{name}' is in use. Play on another table first, then remove this one.")
        self._folder.remove(name)
        return self.view()

    def wait_for(self, source: str, problem: str, opened: Callable[[], None]) -> None:
        """Say why a camera can't be opened, and call something once it can be; choosing a camera ends that."""
        with self._lock:
            self._problem, self._remedy = problem, None
            self._awaited = AwaitedCamera(self._choice(source), opened)

    def close(self) -> None:
        """Close the camera, and stop looking at its picture."""
        for opened in (self._aim, self._preview, self._awaited):
            if opened is not None:
                opened.close()
        self._aim = self._preview = self._awaited = None

    def _decided(self) -> FieldReading:
        """Return the reading that is shown; refuse if there is none, or one of several has to be chosen."""
        if self._step != "confirm" or not self._found.readings:
            raise RefusedError("The printed field is not found yet. Find it first.")
        if self._found.undecided:
            raise RefusedError("The picture can be read in several ways. Choose one of them first.")
        return self._found.at(self._found.index)

    def _begin(
        self, images: list[Image], solve: Callable[[], FieldSolution], before: FoundReadings, again: Remedy = "measure"
    ) -> None:
        """Begin to solve in a thread; what was found `before` stays if that fails, and `again` is what to do then."""
        if before is NOTHING_FOUND:
            self._show(NOTHING_FOUND)
        self._frozen, self._step, self._problem = images, "solving", ""
        self._progress = SolvingProgress(stage="beginning", fraction=0.0, remaining_s=None)
        supervised_thread(partial(self._solve, solve, again), "set-up", self._report_failure).start()

    def _solve(self, solve: Callable[[], FieldSolution], again: Remedy) -> None:
        found, problem = NOTHING_FOUND, ""
        remedy: Remedy | None = None
        try:
            solution = solve()
            found = FoundReadings.of((FieldReading(solution.field.title, solution),), self._name)
        except AmbiguousField as ways:
            found = FoundReadings.of(ways.readings, self._name)
        except DownfieldError as error:
            problem, remedy = str(error), error.remedy if isinstance(error, CalibrationError) else again
        self._end_solving(found, problem, remedy)

    def _report_failure(self, cause: str) -> None:
        """Show an error in Downfield; it ends this attempt, not the set-up."""
        problem = f"Downfield made an error ({cause}). Try again with another picture."
        self._end_solving(NOTHING_FOUND, problem, "another_picture")

    def _end_solving(self, found: FoundReadings, problem: str, remedy: Remedy | None) -> None:
        """Show what was found; where that is nothing, what was shown before, if there was anything."""
        with self._lock:
            self._problem, self._remedy, self._progress = problem, remedy, None
            if found.readings:
                self._show(found, self._frozen)
            if self._found.readings:
                self._step = "confirm"
            else:
                self._step, self._frozen = "aim", []

    def _report(self, report: SolveProgress) -> None:
        progress = SolvingProgress(stage=report.stage, fraction=report.fraction, remaining_s=report.remaining_s)
        with self._lock:
            self._progress = progress

    def _refuse_while_busy(self) -> None:
        if self._opening:
            raise RefusedError(_OPENING)
        if self._step == "solving":
            raise RefusedError(_SOLVING)
        if self._step == "saved":
            raise RefusedError(_SAVED)

    def _show(self, found: FoundReadings, images: list[Image] | None = None) -> None:
        """Show what was found in pictures; in those of what was shown before where none are given."""
        if images is not None or not found.readings:
            self._frozen = images or []
        self._found = found
        decided = None if found.undecided else found.calibration
        self._advice = None if decided is None else best_measurement(decided, self._certified_yd())
        self._revision += 1

    def _certified_yd(self) -> float:
        """Return the certified error of the table that this camera looks at; a usual one if it has none."""
        certificates = [
            profile.calibration.certificate for profile in self._folder.profiles() if profile.camera == self._source
        ]
        return min((max(one.p95_yd) for one in certificates if one is not None), default=ADVICE_LIMITS.wanted_yd)

    def _images(self) -> list[Image]:
        if self._frozen:
            return self._frozen
        if self._preview is not None:
            return self._preview.images()
        return self._running_images() if self._source and self._source == self._running else []

    def _aimed_images(self) -> list[Image]:
        with self._lock:
            return self._images() if self._step == "aim" and not self._failure() else []

    def _failure(self) -> str:
        """Return why the camera that is set up sends no pictures; empty while it does, and where none is chosen."""
        if self._preview is not None:
            return self._preview.failure
        return self._running_failure() if self._source and self._source == self._running else ""
