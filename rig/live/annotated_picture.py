"""The camera's picture for the operator, with footprints, contacts and lines drawn on it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.broadcast.latest_picture import LatestPicture, PictureRate
from downfield.calibration.camera import Camera
from downfield.capture.source import CapturedFrame, LoopObserver
from downfield.core.arrays import Array, Image
from downfield.core.errors import SourceError
from downfield.core.field.model import FieldModel
from downfield.core.frame import Frame
from downfield.core.platform.processes import lower_priority
from downfield.core.scene import Figure, Player, Scene
from downfield.core.threads import BoundedQueue, supervised_thread

Color = tuple[int, int, int]  # Blue, green, red

_SHIFT: Final = 4  # Fractional bits of the coordinates that OpenCV draws at

_SCRIMMAGE: Final[Color] = (230, 120, 40)  # the colors of television broadcasts
_TO_GAIN: Final[Color] = (40, 215, 250)
_DARK: Final[Color] = (255, 150, 60)
_LIGHT: Final[Color] = (240, 240, 240)
_CARRIER: Final[Color] = (60, 220, 255)
_FALLEN: Final[Color] = (60, 60, 230)
_CONTACT: Final[Color] = (40, 40, 250)
_LINE_POINTS: Final = 24  # a lens bends straight lines


@dataclass(frozen=True, slots=True)
class GameMarks:
    """The parts of a picture that are drawn besides the figures."""

    # los_yd, to_gain_yd: x of the lines across the field; None for none
    los_yd: float | None = None
    to_gain_yd: float | None = None
    carrier: str | None = None  # roster id of the ball carrier; None for none


class Annotator:
    """Draws on pictures of one camera.

    Args:
        players: the roster, for base heights.
    """

    def __init__(self, camera: Camera, field: FieldModel, players: tuple[Player, ...]) -> None:
        self._camera, self._field = camera, field
        self._height_mm: Mapping[str, float] = {player.id: player.base.height_mm for player in players}

    def draw(self, image: Image, scene: Scene, overlay: GameMarks) -> Image:
        """Return a copy of the picture with a scene drawn on it."""
        out = image.copy()
        thickness = max(1, round(image.shape[0] / 540))
        for x_yd, color in ((overlay.los_yd, _SCRIMMAGE), (overlay.to_gain_yd, _TO_GAIN)):
            if x_yd is not None:
                x_mm = x_yd * self._field.mm_per_yd_x
                line_mm = np.linspace((x_mm, 0.0), (x_mm, self._field.width_mm), _LINE_POINTS)
                draw_path(out, self._points_px(line_mm, 0.0), color, 2 * thickness)
        # Of base tops: front-left, front-right, rear-right, rear-left
        corners_mm = np.array([figure.footprint.corners_mm() for figure in scene.figures]).reshape(-1, 4, 2)
        up_mm = [self._height_mm.get(each.id, 0.0) if each.posture == "upright" else 0.0 for each in scene.figures]
        centers = {}
        for figure, corners in zip(scene.figures, self._points_px(corners_mm, np.array(up_mm)[:, None]), strict=True):
            centers[figure.id] = corners.mean(axis=0)
            color = _color(figure, overlay.carrier)
            draw_path(out, np.concatenate([corners, corners[:1]]), color, thickness)
            middle_front = corners[:2].mean(axis=0)
            draw_path(out, np.array([centers[figure.id], middle_front]), color, thickness)
        for contact in scene.contacts:
            if contact.since_ns is not None and contact.a in centers and contact.b in centers:
                x, y = np.round((centers[contact.a] + centers[contact.b]) / 2 * (1 << _SHIFT)).astype(int).tolist()
                cv2.circle(out, (x, y), 5 * thickness << _SHIFT, _CONTACT, thickness, cv2.LINE_AA, _SHIFT)
        return out

    def _points_px(self, points_mm: Array, height_mm: Array | float) -> Array:
        """Project points at heights over the board to the picture, shape (..., 2) both; NaN where out of view."""
        heights_mm = np.broadcast_to(height_mm, points_mm.shape[:-1])
        return self._camera.to_pixels(np.concatenate([points_mm, heights_mm[..., None]], axis=-1))


def _color(figure: Figure, carrier: str | None) -> Color:
    if figure.posture == "fallen":
        return _FALLEN
    if figure.id == carrier:
        return _CARRIER
    return _DARK if figure.jersey == "dark" else _LIGHT


def draw_path(out: Image, points_px: Array, color: Color, thickness: int) -> None:
    """Draw a path on a picture; nothing if part of it is outside the camera's view."""
    if np.isfinite(points_px).all():
        points = np.round(points_px * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(out, [points.reshape(-1, 1, 2)], False, color, thickness, cv2.LINE_AA, _SHIFT)


_JPEG_QUALITY: Final = 80
WATCHED_FPS: Final = 20.0  # Rate while there are viewers: enough to follow, at half the work of every frame
OVERLOADED_FPS: Final = 4.0  # Rate while the computer drops frames or detects too rarely, since calls come first
_UNWATCHED_FPS: Final = 0.2  # Rate without viewers, so that a new viewer gets a picture at once

CALIBRATION_PICTURES: Final = 5
"""Pictures for a calibration: several average out noise, and show what a hand covers in one of them."""

CALIBRATION_STEP: Final = 6  # Interval in frames between the pictures kept for a calibration: a tenth of a second


class AnnotatedPicture(LoopObserver):
    """Draws the newest scene on its picture and passes it to the viewers; observes the loop.

    Args:
        overlay: returns the lines and the carrier to draw.
        overloaded: whether the computer is too slow for its work.
        failed: receives why a picture could not be drawn, as a phrase; the next one is drawn again.
    """

    def __init__(
        self,
        picture: LatestPicture,
        overlay: Callable[[], GameMarks] = GameMarks,
        overloaded: Callable[[], bool] = lambda: False,
        failed: Callable[[str], None] = lambda _: None,
        late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._picture, self._overlay = picture, overlay
        self._rate = PictureRate(WATCHED_FPS, OVERLOADED_FPS, late, overloaded)
        self.annotator: Annotator | None = None  # pictures are shown plain before there is one
        self._newest: BoundedQueue[tuple[Frame, Scene]] = BoundedQueue(1)
        self._next_at = 0.0
        self._thread = supervised_thread(
            self._run, "annotated picture", failed, restarts=True, closed=lambda: self._newest.finished
        )
        self._thread.start()

    def scene_ready(self, frame: Frame, scene: Scene) -> None:
        """Draw a scene, if the next picture is due."""
        now = time.monotonic()
        watched_fps = self._rate.fps(frame.index, now)
        if now >= self._next_at:
            fps = watched_fps if self._picture.watchers else _UNWATCHED_FPS
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
            if self.annotator is not None:
                image = self.annotator.draw(image, scene, self._overlay())
            encoded, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
            if encoded:
                self._picture.put(jpeg.tobytes())


class RecentPictures(LoopObserver):
    """Keeps a few recent pictures of the camera, to make a calibration from; observes the loop."""

    def __init__(self) -> None:
        self._captured: deque[CapturedFrame] = deque(maxlen=CALIBRATION_PICTURES)

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Keep every sixth frame as it was captured: where the picture's size changed, there are no scenes of it."""
        if frame.index % CALIBRATION_STEP == 0:
            self._captured.append(frame)

    def images(self) -> list[Image]:
        """Return the pictures, oldest first; empty until there are enough intact ones of one size to calibrate from."""
        images: list[Image] = []
        for captured in list(self._captured):
            with suppress(SourceError):
                images.append(captured.decode().image)
        of_one_size = [image for image in images if image.shape == images[-1].shape]
        return of_one_size if len(of_one_size) == CALIBRATION_PICTURES else []
