"""Interfaces of detectors, from a raw picture to detections, and networks that are opened at their first run.

A process that seldom needs them does without their memory until then. A live rig runs the detector in two processes, of
which one sees whole pictures and the other tracks. Each needs the other's networks only when that one is late or gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.core.platform.system import return_free_memory
from downfield.models.runtime import Network, Outputs


class Detector(Protocol):
    """Detects figures, the ball and hands in pictures."""

    @property
    def name(self) -> str:
        """Weights and runtime, for logs and reports."""

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return everything detected in one picture, best first.

        Args:
            image: uint8 blue green red, shape (height, width, 3), neither warped nor undistorted.

        Returns:
            Detections in pixels of that picture, whatever the network's input size.
        """


@runtime_checkable
class TrackingDetector(Detector, Protocol):
    """A detector that is faster, and misses less, when it is given the detections of the previous picture."""

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """Return the same as `detect`, but with every figure as measured by itself."""

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """Return rough detections, for `track` in this picture or one soon after.

        Args:
            ball: whether to search for the ball as well, which may double the time.
        """

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


class OnDemandNetworks:
    """Some of a detector's networks, opened when they first run, and closed together."""

    def __init__(self) -> None:
        self._networks: list[_OnDemandNetwork] = []

    @property
    def opened(self) -> int:
        """How many are open now."""
        return sum(network.is_open for network in self._networks)

    def add(self, name: str, size_px: tuple[int, int], opener: Callable[[], Network]) -> Network:
        """Return a network that `opener` opens at its first run.

        Args:
            name: names it in messages.
            size_px: width and height of the pictures that it takes.
            opener: opens it; errors it raises are raised by that run.
        """
        network = _OnDemandNetwork(name, size_px, opener)
        self._networks.append(network)
        return network

    def close(self) -> None:
        """Close those that are open, and return their memory to the system; the next run opens each again."""
        closed = [network.close() for network in self._networks if network.is_open]
        if any(closed):
            return_free_memory()


class _OnDemandNetwork:
    """One of them: a `Network`."""

    def __init__(self, name: str, size_px: tuple[int, int], opener: Callable[[], Network]) -> None:
        self.name, self.size_px = name, size_px
        self._opener = opener
        self._network: Network | None = None
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        return self._network is not None

    def run(self, pictures: Image) -> Outputs:
        with self._lock:
            if self._network is None:
                self._network = self._opener()
            return self._network.run(pictures)

    def close(self) -> bool:
        """Close it once it does not run; return whether it was open."""
        with self._lock:
            was_open, self._network = self.is_open, None
        return was_open
