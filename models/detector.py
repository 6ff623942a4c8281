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
            Detections in pixels of that picture, whatever the network's input size.
        """
        ...


@runtime_checkable
class TrackingDetector(Detector, Protocol):
    """A detector that is faster, and misses less, when it is given the detections of the previous picture."""

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """Return the same as `detect`, but with every base as measured, before sizes are made consistent."""
        ...

    def find_candidates(self, image: Image, *, ball: bool = True, hands: bool = True) -> tuple[Detection, ...]:
        """Return rough detections, for `track` in this picture or one soon after.

        Args:
            ball: whether to search for the ball as well, which may double the time.
            hands: whether to search for hands as thoroughly as possible, which may as well.
        """
        ...

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """Refine candidates of an earlier picture; another thread may `track` in later ones meanwhile.

        Args:
            found: the result of `find_candidates` for it.
            seen: the result of `track` for it, or for a picture close to it.

        Returns:
            New figures, and better views of figures that `track` measured vaguely or wrongly.
        """
        ...

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """Return the known figures and balls at their places in the next picture, best first.

        Args:
            seen: detections of the previous picture.
            found: the result of `find_candidates`, from which new figures are added; None to track only.

        Returns:
            Figures and balls at their present places, unless they are gone; hands as before, or as found.
        """
        ...
