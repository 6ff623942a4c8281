"""The picture of a camera that is not in play, for setting it up."""

from __future__ import annotations

from collections import deque

from downfield.capture.problems import ActiveProblems, camera_loss
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError
from downfield.core.supervision import supervised_thread
from downfield.rig.live.annotated_picture import ANNOTATED_PICTURE_LIMITS


class CameraPreview:
    """Keeps the latest pictures of a camera until it is closed.

    Raises:
        InputError: no camera has that name, or it is a recording.
        SourceError: it can't be opened.
    """

    def __init__(self, choice: SourceChoice) -> None:
        self._problems = ActiveProblems()
        self._source = open_source(choice, CaptureClock(), self._problems)
        if not self._source.facts.live:
            self._source.close()
            raise InputError(f"{choice.text}: is a recording. Choose a camera, or give a stream's address.")
        self._images: deque[Image] = deque(maxlen=ANNOTATED_PICTURE_LIMITS.calibration_pictures)
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
                if frame.index % ANNOTATED_PICTURE_LIMITS.calibration_step == 0:
                    self._images.append(frame.decode().image)
        except DownfieldError as error:
            self._failure = str(error)

    def _report_failure(self, cause: str) -> None:
        self._failure = cause
