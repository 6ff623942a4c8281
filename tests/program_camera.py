"""A camera for tests of the program feed: numbered pictures, none of which is like another."""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from downfield.broadcast.program.program_feed import ProgramDrawer
from downfield.core.frame import Frame
from downfield.core.scene import Scene

SIZE: Final = (160, 90)
STEP_NS: Final = 1_000_000_000 // 30


class NumberedCamera:
    """Sends a drawer a picture every 30th of a second, from a thread, until it is closed."""

    def __init__(self, drawer: ProgramDrawer) -> None:
        self.drawer = drawer
        self.size = SIZE
        self.sent = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(1 / 30):
            image = np.full((self.size[1], self.size[0], 3), 40 + self.sent % 180, np.uint8)
            frame = Frame(self.sent, self.sent * STEP_NS, image)
            self.drawer.scene_ready(frame, Scene(self.sent, frame.t_ns, "off", ()))
            self.sent += 1

    def close(self) -> None:
        """Send no more."""
        self._ended.set()
        self._thread.join()
