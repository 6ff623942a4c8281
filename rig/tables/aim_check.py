"""The picture of a camera that is being set up, and what has to be changed before the field is searched in it.

Light and focus are seen in the picture itself. Whether the field is cut, mirrored or seen obliquely is known only once
it is found, so it is searched for in the background whenever the picture has changed and come to rest.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import cv2
import numpy as np

from downfield.api.table_setup import SetupFinding
from downfield.calibration.camera import Camera
from downfield.calibration.field.solver import solve_field
from downfield.calibration.pictures import check_picture, is_blurred
from downfield.capture.problems import ActiveProblems, camera_loss
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Array, Image
from downfield.core.errors import AimError, CalibrationError, DownfieldError, InputError, SourceError
from downfield.core.field.model import preset, preset_names
from downfield.core.threads import only_logged, supervised_thread
from downfield.rig.live.annotated_picture import CALIBRATION_PICTURES, CALIBRATION_STEP

_OBLIQUE_DEG: Final = 25.0  # Tilt from which figures hide those behind them
_REOPENED_S: Final = 4.0  # Between two attempts to open a camera that did not answer
_PAUSE_S: Final = 1.0  # Between looks at the picture
_CHANGED_LEVELS: Final = 2.0
"""Mean difference of gray levels by which a picture differs from the one before: somebody moves something."""

_SMALL_PX: Final = (64, 36)  # Size at which pictures are compared


_REMEDIES: Final = (
    (r"refused", "Nothing answers there: start the camera's app or server, and check the number after the colon"),
    (r"timed out|unreachable|no route", "Is it switched on, and in the same network as this computer?"),
    (r"not known|getaddrinfo|resolve|no address", "Check the spelling, or use its number, such as 192.168.1.20"),
    (r"\b(401|403)\b|password|authoriz", "Check user and password: http://USER:PASSWORD@ADDRESS"),
    (r"\b404\b|not found", "Its app or manual says the path of the video, often /video or /stream"),
    (r"\b50\d\b|busy|in use", "It may show its video to one viewer only: close other viewers and try again"),
    (r"invalid data|no video|end of file", "There is no video at this address: its app or manual says the path"),
)
"""What helps, by what a camera's error says."""


def with_remedy(error: SourceError) -> SourceError:
    """Return why a camera can't be opened, with what to do about it."""
    text = str(error).rstrip(".")
    remedy = next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, text, re.IGNORECASE)), "")
    return (
        error if not remedy or remedy in text else SourceError(f"{text}. {remedy}{'' if remedy.endswith('?') else '.'}")
    )


class CameraPreview:
    """Keeps the latest pictures of a camera until it is closed.

    Raises:
        InputError: no camera has that name, or it is a recording.
        SourceError: it can't be opened.
    """

    def __init__(self, choice: SourceChoice) -> None:
        self._problems = ActiveProblems()
        try:
            self._source = open_source(choice, CaptureClock(), self._problems)
        except SourceError as error:
            raise with_remedy(error) from None
        if not self._source.facts.live:
            self._source.close()
            raise InputError(f"{choice.text}: is a recording. Choose a camera, or give a stream's address.")
        self._images: deque[Image] = deque(maxlen=CALIBRATION_PICTURES)
        self._failure = ""
        self._thread = supervised_thread(self._run, "camera preview", self._report_failure)
        self._thread.start()

    @property
    def name(self) -> str:
        """The camera's name."""
        return self._source.facts.name

    @property
    def failure(self) -> str:
        """Why no more pictures come; empty while they do."""
        return self._failure or camera_loss(self._problems)

    def images(self) -> list[Image]:
        """Return the latest pictures, oldest first."""
        return list(self._images)

    def close(self) -> None:
        """Release the camera."""
        self._source.close()
        self._thread.join(5)

    def _run(self) -> None:
        try:
            for frame in self._source.frames():
                if frame.index % CALIBRATION_STEP == 0:
                    self._images.append(frame.decode().image)
        except DownfieldError as error:
            self._failure = str(error)

    def _report_failure(self, cause: str) -> None:
        self._failure = cause


class AwaitedCamera:
    """Tries a camera that can't be opened again and again, until it can be or nobody waits for it any longer.

    `answers` is called once it can be opened; it is closed again by then.
    """

    def __init__(self, choice: SourceChoice, answers: Callable[[], None]) -> None:
        self._choice, self._answers = choice, answers
        self._closed = threading.Event()
        supervised_thread(self._run, "awaited camera", only_logged, restarts=True, closed=self._closed.is_set).start()

    def close(self) -> None:
        """Wait no longer."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(_REOPENED_S):
            with suppress(DownfieldError):
                CameraPreview(self._choice).close()
                if not self._closed.is_set():
                    self._closed.set()
                    self._answers()


def picture_findings(image: Image) -> Iterator[SetupFinding]:
    """Yield what is wrong with a picture: its size, its light, its focus."""
    try:
        check_picture(image)
    except CalibrationError as error:
        yield finding_of(error)
        return
    if is_blurred(image):
        yield SetupFinding(text="The picture is blurred.", remedy="Focus the camera on the board and keep it still.")


def camera_findings(camera: Camera) -> Iterator[SetupFinding]:
    """Yield what is wrong with the place of a solved camera."""
    if camera.tilt_deg > _OBLIQUE_DEG:
        yield SetupFinding(
            text=f"The camera looks at the board obliquely ({camera.tilt_deg:.0f} degrees from straight down).",
            remedy="Mount it over the middle of the board, tilted by 5 to 10 degrees.",
        )


def finding_of(error: CalibrationError) -> SetupFinding:
    """Return a refusal as a finding: what is wrong before the first period or colon, what to do after it."""
    text, *remedy = re.split(r"[.:] ", str(error), maxsplit=1)
    return SetupFinding(text=_sentence(text), remedy=_sentence("".join(remedy)))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


class AimCheck:
    """Searches the field in pictures of a camera until it is closed.

    Args:
        images: returns the latest pictures, oldest first; none while nothing is to be searched.
    """

    def __init__(self, images: Callable[[], list[Image]]) -> None:
        self._images = images
        # Of the last picture that was searched: what was wrong with the camera, and whether it shows the whole field
        self.findings: tuple[SetupFinding, ...] = ()
        self.sees_field = False
        self._closed = threading.Event()
        supervised_thread(self._run, "aim check", only_logged, restarts=True, closed=self._closed.is_set).start()

    def close(self) -> None:
        """End; a search that is under way is of no use anymore."""
        self._closed.set()

    def _run(self) -> None:
        before: Array | None = None
        searched: Array | None = None
        while not self._closed.wait(_PAUSE_S):
            images = self._images()
            if not images:
                continue
            small = np.asarray(cv2.resize(images[-1], _SMALL_PX, interpolation=cv2.INTER_AREA), np.float64)
            at_rest = before is not None and not _differ(small, before)
            before = small
            if at_rest and (searched is None or _differ(small, searched)):
                searched = small
                found = None if any(picture_findings(images[-1])) else search_findings(images[-1])
                self.sees_field, self.findings = found == [], tuple(found or ())


def _differ(one: Array, other: Array) -> bool:
    """Return whether two small pictures differ by more than noise."""
    return one.shape != other.shape or float(np.abs(one - other).mean()) > _CHANGED_LEVELS


def search_findings(image: Image) -> list[SetupFinding] | None:
    """Return what is wrong with the place or the settings of the camera; None where the field is not found."""
    try:
        solution = solve_field([image], [preset(name) for name in preset_names()])
    except AimError as error:
        return [finding_of(error)]
    except CalibrationError:  # a print that nobody described, hands, another kind of field: the search itself says that
        return None
    return list(camera_findings(solution.fit.camera))
