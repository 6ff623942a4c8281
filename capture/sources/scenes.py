"""Scenes that another program has seen as a source: one `SentScene` a line, from standard input or an address.

A rig judges them as its own. Instead of a camera's picture there is a plain one, and a camera above the middle of it.
"""

from __future__ import annotations

import math
import queue
import sys
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from typing import Any, Final

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera, Lens
from downfield.capture.source import CaptureClock, CapturedFrame, PictureFaultError, SourceFacts
from downfield.capture.sources.reconnecting import ReconnectLimits
from downfield.capture.sources.source_types import SourceType
from downfield.core.addresses import without_password
from downfield.core.errors import FormatError, SourceError
from downfield.core.field.model import FieldModel
from downfield.core.records import from_json
from downfield.core.scene import SentScene
from downfield.core.threads import only_logged, supervised_thread

SCENES_LIMITS: Final = ReconnectLimits(stalled_s=3.0, first_frame_s=60.0, frozen_s=1e9)
"""A program may take its time to start; its picture is the same for ever."""

_ANSWER_S: Final = 5.0  # Longest time for an address to answer
_POLL_S: Final = 0.2  # Longest time in which it is noticed that the source was closed
_STDIN: Final = "scenes://-"
_REMEDY: Final = "Mend the program that sends the scenes; the page 'File formats' says what a line holds"

_SIZE_PX: Final = (1280, 720)
_FOCAL_PX: Final = 2000.0
_BOARD_SHARE: Final = 0.9  # Share of the picture that the board fills
_GREEN: Final = np.array([60, 90, 60], np.uint8)

_Lines = queue.SimpleQueue[bytes | SourceError]


class SentScenes:
    """Reads the scenes of one program. Raises SourceError: it can't be reached."""

    def __init__(self, text: str, clock: CaptureClock) -> None:
        self._clock, self._closed = clock, threading.Event()
        self._open = ExitStack()
        self._name = without_password(text)
        self._lines = _standard_input() if text == _STDIN else self._connect(text.removeprefix("scenes+"))
        self.facts = SourceFacts("stream", self._name, _SIZE_PX, None)
        self._image = np.full((_SIZE_PX[1], _SIZE_PX[0], 3), _GREEN)

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield a frame for each scene, at the program's own steps of time, and none later than it came.

        Raises:
            SourceError: the program has ended, or a line is wrong; says how.
        """
        offset_ns: int | None = None
        before_ns, last_ns, index = -1, 0, 0
        while not self._closed.is_set():
            try:
                line = self._lines.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            arrived_ns = time.monotonic_ns()
            if isinstance(line, SourceError):
                self._lines.put(line)  # standard input says so to every opening
                raise line
            if not line.strip():
                continue
            try:
                sent = from_json(SentScene, line, path=f"{self._name}, scene {index + 1}")
            except FormatError as error:
                raise PictureFaultError(str(error), _REMEDY) from None
            if sent.t_ns <= before_ns:
                text = f"{self._name}, scene {index + 1}: t_ns: time does not rise: {sent.t_ns} after {before_ns}"
                raise PictureFaultError(text, _REMEDY)
            before_ns = sent.t_ns
            now_ns = self._clock.from_monotonic(arrived_ns)
            offset_ns = now_ns - sent.t_ns if offset_ns is None else min(offset_ns, now_ns - sent.t_ns)
            last_ns = max(sent.t_ns + offset_ns, last_ns + 1)
            yield CapturedFrame(index, last_ns, arrived_ns, image=self._image, sent=sent)
            index += 1

    def close(self) -> None:
        """Stop."""
        self._closed.set()
        self._open.close()

    def _connect(self, address: str) -> _Lines:
        """Return the lines of an address, which a thread reads until it is closed."""
        try:
            connection: Any
            if address.startswith("ws"):
                connection = connect(address, open_timeout=_ANSWER_S)
            else:
                connection = urllib.request.urlopen(address, timeout=_ANSWER_S)  # noqa: S310 - http or https
            parts: Iterable[Any] = self._open.enter_context(connection)
        except (OSError, WebSocketException, ValueError) as error:
            raise SourceError(f"{self._name}: no scenes ({error})") from None
        return _read(parts, self._name)


def _read(parts: Iterable[str | bytes], name: str) -> _Lines:
    """Return lines that a thread reads, in parts of one or more, and at last that there are no more."""
    lines = _Lines()

    def run() -> None:
        try:
            with suppress(OSError, ValueError, WebSocketException):  # closed here, or there
                for part in parts:
                    for line in (part.encode() if isinstance(part, str) else part).splitlines():
                        lines.put(line)
        finally:
            lines.put(PictureFaultError(f"{name}: the program that sends the scenes has ended", "Start it again"))

    supervised_thread(run, "scenes", only_logged).start()
    return lines


@cache
def _standard_input() -> _Lines:
    """Return the lines of this process's standard input, which is read once however often the source is opened."""
    return _read(sys.stdin.buffer, _STDIN)


def above(field: FieldModel) -> Calibration:
    """Return the calibration of a camera that looks straight down on a field, whole in a source's picture."""
    wide_mm, high_mm = field.length_mm + 2 * field.end_zone_mm, field.width_mm
    height_mm = _FOCAL_PX * max(wide_mm / _SIZE_PX[0], high_mm / _SIZE_PX[1]) / _BOARD_SHARE
    center = ((_SIZE_PX[0] - 1) / 2, (_SIZE_PX[1] - 1) / 2)
    lens = Lens(_SIZE_PX, (_FOCAL_PX, _FOCAL_PX), center)
    return Calibration(
        field, Camera(lens, (math.pi, 0.0, 0.0), (-field.length_mm / 2, field.width_mm / 2, height_mm)), "truth"
    )


SCENES: Final = SourceType(
    lambda choice, clock: SentScenes(choice.text, clock), limits=SCENES_LIMITS, sends_scenes=True
)
