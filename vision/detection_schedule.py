"""Which pictures the network is shown, and what of: whole ones, or the figures that were there a moment ago."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from downfield.core.frame import Detection, Frame
from downfield.models.detector import Detector, TrackingDetector
from downfield.models.views import merge_refined
from downfield.vision.frame_rate import BALL_EVERY_NS, DetectionRate
from downfield.vision.thread_priority import lower_priority

BACKGROUND: Final = ThreadPoolExecutor(1, thread_name_prefix="find", initializer=lower_priority)
"""Looks at whole pictures, one at a time, while frames may go on."""


@dataclass(frozen=True, slots=True)
class _Beside:
    """What was made of a whole picture while frames went on.

    Attributes:
        then: what was seen in it, or a frame before.
        found: hands, and the ball if it was looked for.
        views: as of `TrackingDetector.refine_candidates`.

    """

    then: tuple[Detection, ...]
    found: tuple[Detection, ...]
    views: tuple[Detection, ...]


class DetectionSchedule:
    """Shows a detector frames at a rate; from one thread.

    Args:
        detector: what looks.
        rate: how often.
        continuous: whether frames follow each other in time; else everything in each of them is looked at.

    """

    def __init__(self, detector: Detector, rate: DetectionRate, *, continuous: bool) -> None:
        self._detector, self._rate, self._continuous = detector, rate, continuous
        self._seen: tuple[Detection, ...] = ()
        self._beside: Future[_Beside] | None = None
        self._ball_ns = 0  # when the ball is looked for next
        self._for_ball = False  # whether it was in the latest whole picture

    def detect(self, frame: Frame, waiting: int) -> tuple[Detection, ...] | None:
        """What is seen in the next frame; None where it isn't looked at.

        Args:
            frame: the frame.
            waiting: how many have come since.

        """
        if not self._continuous:
            return self._study(frame)
        looks = self._rate.due(frame.t_ns, waiting)
        if isinstance(self._detector, TrackingDetector) and looks == ("find",) and self._beside is None:
            self._beside = BACKGROUND.submit(self._look_beside, self._detector, frame, self._seen)
        if "follow" not in looks:
            return None
        if not isinstance(self._detector, TrackingDetector):
            with self._rate.looking("follow"):
                return self._detector.detect(frame.image)
        known = self._up_to_date()
        found = None
        if "find" in looks or not known:
            found = BACKGROUND.submit(self._find, self._detector, frame).result()
        with self._rate.looking("follow"):
            self._seen = self._detector.track(frame.image, known, found)
        return self._seen

    def _study(self, frame: Frame) -> tuple[Detection, ...]:
        """What is in a still: it comes in no order of time, and everything in it is looked for."""
        with self._rate.looking("follow"):
            if isinstance(self._detector, TrackingDetector):
                return self._detector.detect_raw(frame.image)
            return self._detector.detect(frame.image)

    def _find(self, detector: TrackingDetector, frame: Frame) -> tuple[Detection, ...]:
        with self._rate.looking("find"):
            return self._found(detector, frame)

    def _found(self, detector: TrackingDetector, frame: Frame) -> tuple[Detection, ...]:
        """What is in a whole picture; a detector takes one at a time, whoever asks."""
        # Never twice running: on a slow computer few whole pictures are looked at, and all would take as long as that.
        ball = frame.t_ns >= self._ball_ns and not self._for_ball
        self._for_ball = ball
        if ball:
            self._ball_ns = frame.t_ns + BALL_EVERY_NS
        return detector.find_candidates(frame.image, ball=ball)

    def _look_beside(self, detector: TrackingDetector, frame: Frame, then: tuple[Detection, ...]) -> _Beside:
        with self._rate.looking("find", beside=True):
            found = self._found(detector, frame)
            views = detector.refine_candidates(frame.image, found, then)
        return _Beside(then, tuple(one for one in found if not one.corners_px), views)

    def _up_to_date(self) -> tuple[Detection, ...]:
        """What was seen last, with what has been found since."""
        if self._beside is None or not self._beside.done():
            return self._seen
        looked, self._beside = self._beside, None
        beside = looked.result()
        # The ball is not looked for every time.
        new_ball = any(one.kind == "ball" for one in beside.found)
        seen = [one for one in self._seen if one.corners_px or (one.kind == "ball" and not new_ball)]
        return merge_refined([*seen, *beside.found], beside.then, beside.views)
