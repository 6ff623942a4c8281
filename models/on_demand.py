"""Networks that are opened at their first run: a process that seldom needs them does without their memory until then.

A live rig runs the detector in two processes, of which one sees whole pictures and the other tracks. Each needs the
other's networks only when that one is late or gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from downfield.core.arrays import Image
from downfield.core.platform.system import return_free_memory
from downfield.models.runtime import Network, Outputs


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
