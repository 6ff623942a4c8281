"""Which pictures the network is shown, and what of: whole ones, or the figures that were there a moment ago."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from downfield.models.detection import Detection
from downfield.models.detector import Detector, Follower
from downfield.models.second_look import news
from downfield.vision.frame import Frame
from downfield.vision.giving_way import give_way
from downfield.vision.pace import BALL_EVERY_NS, Look, Pace

BESIDE: Final = ThreadPoolExecutor(1, thread_name_prefix="find", initializer=give_way)
"""Looks at whole pictures, one at a time, while frames may go on."""


class Looking:
    """Shows a detector frames at a pace; from one thread.

    Args:
        detector: what looks.
        pace: how often.
        memory: whether frames follow each other in time; else everything in each of them is looked at.

    """

    def __init__(self, detector: Detector, pace: Pace, *, memory: bool) -> None:
        self._detector, self._pace, self._memory = detector, pace, memory
        self._seen: tuple[Detection, ...] = ()
        self._finding: Future[tuple[Detection, ...]] | None = None
        self._then: tuple[Detection, ...] | None = None  # what was seen when the picture came that is being looked at
        self._ball_ns = 0  # when the ball is looked for next

    def look(self, frame: Frame, waiting: int) -> tuple[Detection, ...] | None:
        """What is seen in the next frame; None where it isn't looked at.

        Args:
            frame: the frame.
            waiting: how many wait behind it.

        """
        looks: tuple[Look, ...] = self._pace.due(frame.t_ns, waiting) if self._memory else ("find", "follow")
        if isinstance(self._detector, Follower) and looks == ("find",) and self._finding is None:
            self._finding, self._then = self._find(self._detector, frame, beside=True), None
        if "follow" not in looks:
            return None
        if not isinstance(self._detector, Follower):
            with self._pace.looking("follow"):
                return self._detector.detect(frame.image)
        known = self._seen if self._memory else ()
        found = self._found_beside()
        if "find" in looks or not known:
            found = self._find(self._detector, frame, beside=False).result()
        with self._pace.looking("follow"):
            self._seen = self._detector.look_again(frame.image, known, found)
        if self._finding is not None and self._then is None:
            self._then = self._seen
        return self._seen

    def _find(self, detector: Follower, frame: Frame, *, beside: bool) -> Future[tuple[Detection, ...]]:
        """Look at a whole picture; a detector takes one at a time, whoever asks."""
        # Stills come in no order of time, and everything in each of them is looked for.
        image, ball = frame.image, not self._memory or frame.t_ns >= self._ball_ns
        if ball:
            self._ball_ns = frame.t_ns + BALL_EVERY_NS

        def find() -> tuple[Detection, ...]:
            with self._pace.looking("find", beside=beside):
                return detector.find(image, ball=ball)

        return BESIDE.submit(find)

    def _found_beside(self) -> Sequence[Detection] | None:
        """What was found since it was asked last; None where nobody looked.

        Meanwhile figures have moved on: whoever was followed then was where he was found, and is no news now.
        """
        if self._finding is None or not self._finding.done():
            return None
        finding, self._finding = self._finding, None
        return finding.result() if self._then is None else news(finding.result(), self._then)
