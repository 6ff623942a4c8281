"""Interfaces of detectors: from a raw picture to detections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from downfield.core.arrays import Image
from downfield.core.frame import Detection


class Detector(Protocol):
    """Detects figures, the ball and hands in pictures."""

    @property
    def name(self) -> str:
        """Weights and runtime, for logs and reports."""
        ...

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return everything detected in one picture, best first.

        Args:
            image: uint8 blue green red, shape (height, width, 3), neither warped nor undistorted.

        Returns:
            Detections in pixels of that picture, whatever size the network works at.

        """
        ...


@runtime_checkable
class TrackingDetector(Detector, Protocol):
    """A detector that is faster, and misses less, where it knows what was there a moment ago."""

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """Return the same as `detect`, but with every base as measured, not made consistent with the others."""
        ...

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """Return rough detections, for `track` in this picture or one soon after.

        Args:
            image: as of `detect`.
            ball: whether to search for the ball as well, which may take as long again.

        """
        ...

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """Refine candidates of an earlier picture; another thread may `track` in later ones meanwhile.

        Args:
            image: as of `detect`.
            found: what `find_candidates` found in it.
            seen: what `track` returned for it, or for a picture close to it.

        Returns:
            New figures, and better views of figures that `track` saw vaguely or wrongly.

        """
        ...

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """Return what was seen a moment ago as it is in the next picture, best first.

        Args:
            image: as of `detect`.
            seen: detections of the picture before.
            found: what `find_candidates` found, to add what is new; None to track only.

        Returns:
            Figures and balls where they are now, if they are still about there; hands as they were, or as found.

        """
        ...
