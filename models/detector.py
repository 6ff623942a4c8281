"""The seam of the detectors: a raw picture goes in, what the network sees in it comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from downfield.core.arrays import Image
from downfield.core.frame import Detection


class Detector(Protocol):
    """Sees figures, the ball and hands in pictures."""

    @property
    def name(self) -> str:
        """What it is, for logs and reports: weights and runtime."""
        ...

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Everything seen in one picture, best first.

        Args:
            image: uint8 blue green red, shape (height, width, 3), neither warped nor undistorted.

        Returns:
            Detections in pixels of that picture, whatever size the network works at.

        """
        ...


@runtime_checkable
class TrackingDetector(Detector, Protocol):
    """A detector that is faster, and misses less, where it knows what to look at."""

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """Everything in a picture by itself, as `detect`, but every base as it looks, whatever the others are like."""
        ...

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """What is in a picture, roughly: for `track` at this one, or one soon after.

        Args:
            image: as of `detect`.
            ball: whether to look for the ball as well, which may take as long again.

        """
        ...

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """A closer look at figures of an earlier picture; another thread may `track` at later ones meanwhile.

        Args:
            image: as of `detect`.
            found: what `find_candidates` finds in it.
            seen: what `track` saw in it or nearly then.

        Returns:
            Who is new, and better views of who is seen vaguely or wrongly.

        """
        ...

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """What was seen a moment ago, as it is in the next picture, best first.

        Args:
            image: as of `detect`.
            seen: detections of the picture before.
            found: what `find_candidates` finds, to see what is new; None to look at nothing else.

        Returns:
            Figures and balls where they are now, if they are still about there; hands as they were, or as they were
            found.

        """
        ...
