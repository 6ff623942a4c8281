"""Which of several devices that have the set-up page open is in control; the others watch what it does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Literal

from downfield.core.errors import RefusedError

Control = Literal["free", "yours", "other"]

SILENT_S: Final = 15.0
"""A device that was not heard of for so long has left the page: its pages ask for the state every second."""


class SetupControl:
    """Gives control to the first device that does something, until it leaves or another takes over.

    For any thread.

    Args:
        clock_s: returns seconds that never go back.
        silent_s: how long a device keeps control without being heard of.

    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic, silent_s: float = SILENT_S) -> None:
        self._clock_s, self._silent_s = clock_s, silent_s
        self._lock = threading.Lock()
        self._holder: str | None = None
        self._heard_s = 0.0

    def look(self, device: str | None) -> Control:
        """Return who is in control, as a device sees it; None is a program, which never takes control.

        One that is in control keeps it by this.
        """
        with self._lock:
            holder = self._present_holder()
            if holder is None:
                return "free"
            if holder != device:
                return "other"
            self._heard_s = self._clock_s()
            return "yours"

    def act(self, device: str | None) -> None:
        """Take control if nobody has it.

        Raises:
            RefusedError: another device has it.

        """
        if device is None:
            return
        with self._lock:
            if self._present_holder() not in {None, device}:
                raise RefusedError(
                    "Another phone or computer is setting up this table. Watch it here, or press Continue here."
                )
            self._take(device)

    def take_over(self, device: str) -> None:
        """Take control, whoever has it."""
        with self._lock:
            self._take(device)

    def _take(self, device: str) -> None:
        self._holder, self._heard_s = device, self._clock_s()

    def _present_holder(self) -> str | None:
        return self._holder if self._clock_s() - self._heard_s < self._silent_s else None
