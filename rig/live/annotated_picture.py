"""The annotated picture: drawn beside the loop, of the newest frame only, as often as is worth while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import cv2

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.rig.live.annotation import Annotator, Overlay
from downfield.rig.live.handoff import BoundedQueue
from downfield.rig.live.observer import LoopObserver
from downfield.vision.thread_priority import lower_priority

QUALITY: Final = 80
PER_S: Final = 20
"""Enough to follow, and half the work of every frame."""

BUSY_PER_S: Final = 4
"""While frames are lost or hardly looked at, because the computer has no more to give: calls come first."""

_BUSY_S: Final = 2.0
_UNWATCHED_PER_S: Final = 0.2
"""So that whoever comes to watch sees something at once, and soon what is there now."""


class AnnotatedPicture(LoopObserver):
    """Draws what was seen and puts it where the service takes it; an onlooker of the loop.

    Args:
        annotator: draws.
        hub: holds what the game says of lines and ball.
        picture: where it goes.
        busy: whether the computer is too slow for all that is asked of it.

    """

    def __init__(
        self,
        annotator: Annotator | None,
        hub: Hub,
        picture: LatestPicture,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._annotator, self._busy = annotator, busy
        self._hub = hub
        self._picture = picture
        self._newest: BoundedQueue[tuple[Frame, Scene]] = BoundedQueue(1)
        self._next_at = 0.0
        self._index: int | None = None
        self._busy_until = 0.0
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    def use(self, annotator: Annotator) -> None:
        """Draw with another calibration from now on."""
        self._annotator = annotator

    def scene(self, frame: Frame, scene: Scene) -> None:
        """Draw it, if it is time to."""
        now = time.monotonic()
        if (self._index is not None and frame.index > self._index + 1) or self._busy():
            self._busy_until = now + _BUSY_S
        self._index = frame.index
        if now >= self._next_at:
            watched = BUSY_PER_S if now < self._busy_until else PER_S
            rate = watched if self._picture.watched else _UNWATCHED_PER_S
            self._next_at = max(self._next_at + 1 / rate, now)
            self._newest.offer((frame, scene))

    def close(self) -> None:
        """Draw no more."""
        self._newest.close()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        for frame, scene in self._newest:
            image = frame.image
            if self._annotator is not None:
                image = self._annotator.draw(image, scene, self._drawn())
            written, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
            if written:
                self._picture.put(jpeg.tobytes())

    def _drawn(self) -> Overlay:
        game, ball = self._hub.value("game"), self._hub.value("ball")
        if game is None:
            return Overlay()
        to_gain = None if game.goal_to_go else game.to_gain_yd
        return Overlay(game.spot_yd, to_gain, ball.player if ball is not None else None)
