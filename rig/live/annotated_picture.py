"""Pictures kept beside the loop: the annotated one that viewers watch, and recent ones to calibrate from."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import cv2

from downfield.broadcast.latest_picture import LatestPicture
from downfield.broadcast.picture_rate import PictureRate
from downfield.capture.observer import LoopObserver
from downfield.capture.sources.source import CapturedFrame
from downfield.core.arrays import Image
from downfield.core.bounded_queue import BoundedQueue
from downfield.core.errors import SourceError
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.core.supervision import supervised_thread
from downfield.rig.live.annotation import Annotator, Overlay
from downfield.vision.thread_priority import lower_priority


@dataclass(frozen=True, slots=True)
class AnnotatedPictureLimits:
    """Rates and quality of the pictures."""

    jpeg_quality: int = 80
    """JPEG quality of the annotated picture."""

    watched_fps: float = 20
    """Rate while there are viewers: enough to follow, at half the work of every frame."""

    overloaded_fps: float = 4
    """Rate while the computer drops frames or detects too rarely, since calls come first."""

    unwatched_fps: float = 0.2
    """Rate without viewers, so that a new viewer gets a picture at once."""

    calibration_pictures: int = 5
    """Number of pictures for a calibration: several average out noise, and show what a hand covers in one of them."""

    calibration_step: int = 6
    """Interval in frames between the pictures kept for a calibration: a tenth of a second."""


ANNOTATED_PICTURE_LIMITS: Final = AnnotatedPictureLimits()


class AnnotatedPicture(LoopObserver):
    """Draws the newest scene on its picture and passes it to the viewers; observes the loop.

    Args:
        picture: receives the annotated picture.
        overlay: returns the lines and the carrier to draw.
        overloaded: whether the computer is too slow for its work.
        failed: receives why a picture could not be drawn, as a phrase; the next one is drawn again.
        late: whether frames come late.

    """

    def __init__(
        self,
        picture: LatestPicture,
        overlay: Callable[[], Overlay] = Overlay,
        overloaded: Callable[[], bool] = lambda: False,
        failed: Callable[[str], None] = lambda _: None,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._picture, self._overlay = picture, overlay
        self._rate = PictureRate(
            ANNOTATED_PICTURE_LIMITS.watched_fps, ANNOTATED_PICTURE_LIMITS.overloaded_fps, late, overloaded
        )
        self._annotator: Annotator | None = None
        self._newest: BoundedQueue[tuple[Frame, Scene]] = BoundedQueue(1)
        self._next_at = 0.0
        self._thread = supervised_thread(
            self._run, "annotated picture", failed, restarts=True, closed=lambda: self._newest.finished
        )
        self._thread.start()

    def use(self, annotator: Annotator) -> None:
        """Draw with another annotator from now on; before the first call, pictures are shown plain."""
        self._annotator = annotator

    def scene_ready(self, frame: Frame, scene: Scene) -> None:
        """Draw a scene, if the next picture is due."""
        now = time.monotonic()
        watched_fps = self._rate.fps(frame.index, now)
        if now >= self._next_at:
            fps = watched_fps if self._picture.watched else ANNOTATED_PICTURE_LIMITS.unwatched_fps
            self._next_at = max(self._next_at + 1 / fps, now)
            self._newest.put_or_drop((frame, scene))

    def close(self) -> None:
        """Stop drawing."""
        self._newest.close()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        for frame, scene in self._newest:
            image = frame.image
            if self._annotator is not None:
                image = self._annotator.draw(image, scene, self._overlay())
            encoded, jpeg = cv2.imencode(
                ".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, ANNOTATED_PICTURE_LIMITS.jpeg_quality]
            )
            if encoded:
                self._picture.put(jpeg.tobytes())


class RecentPictures(LoopObserver):
    """Keeps a few recent pictures of the camera, to make a calibration from; observes the loop."""

    def __init__(self) -> None:
        self._captured: deque[CapturedFrame] = deque(maxlen=ANNOTATED_PICTURE_LIMITS.calibration_pictures)

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Keep every sixth frame as it was captured: where the picture's size changed, there are no scenes of it."""
        if frame.index % ANNOTATED_PICTURE_LIMITS.calibration_step == 0:
            self._captured.append(frame)

    def images(self) -> list[Image]:
        """Return the pictures, oldest first; empty until there are enough intact ones of one size to calibrate from."""
        images: list[Image] = []
        for captured in list(self._captured):
            with suppress(SourceError):
                images.append(captured.decode().image)
        of_one_size = [image for image in images if image.shape == images[-1].shape]
        return of_one_size if len(of_one_size) == ANNOTATED_PICTURE_LIMITS.calibration_pictures else []
