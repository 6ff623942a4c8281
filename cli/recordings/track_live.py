"""Live sources for ``downfield track``: cameras and streams.

Live frames arrive whether they are processed or not, and can't be read again. So when they arrive faster than they are
processed, the oldest are dropped, as in a game; and an interrupt closes the source, but its frames are still processed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from downfield.capture.problems import ActiveProblems
from downfield.capture.sources.source import CaptureClock, CapturedFrame, FrameSource
from downfield.capture.sources.source_opening import SourceChoice, open_source
from downfield.cli.console.process_end import END_SIGNALS
from downfield.core.bounded_queue import BoundedQueue
from downfield.core.errors import InputError, OutputError, SourceError
from downfield.core.scene import Scene
from downfield.core.supervision import supervised_thread
from downfield.vision.pipeline import Vision

Report = Callable[[str], None]
"""Receives a line for the user."""

_WAITING_FRAMES: Final = 4
_BURST_FRAMES: Final = 26  # extra capacity while no frame was dropped lately: half a second at 60 frames/s


def open_live(source: str, out: Path, report: Report) -> FrameSource:
    """Open a camera or a stream.

    Args:
        source: as for `SourceChoice`.
        out: the track file.
        report: receives a line when the picture is lost and when it is back.

    Raises:
        InputError: no source has that name.
        SourceError: it can't be opened.
        OutputError: the track file exists already, and its game can't be tracked again.

    """
    part = out.with_name(out.name + ".part")
    for path in (out, part):
        if path.exists():
            raise OutputError(f"{path}: exists, and a live source can't be tracked again. Remove it or name another.")
    problems = ActiveProblems(notify=lambda _, text: report(text))
    frames = open_source(SourceChoice(source, paced=False), CaptureClock(), problems)
    for note in frames.facts.notes:
        report(note)
    return frames


def live_scenes(vision: Vision, source: FrameSource, report: Report) -> Iterator[Scene]:
    """Yield the scenes of arriving frames until the source is closed.

    Args:
        vision: turns frames into scenes.
        source: delivers the frames.
        report: receives a line for each damaged frame, and at the end the number of dropped frames.

    """
    waiting = BoundedQueue[CapturedFrame](_WAITING_FRAMES, _BURST_FRAMES)
    latest_index = 0

    def capture() -> None:
        nonlocal latest_index
        put = waiting.put_or_drop if source.facts.live else waiting.put
        try:
            for captured in source.frames():
                latest_index = captured.index
                put(captured)
        except SourceError as error:
            report(str(error))
        finally:
            waiting.close()

    supervised_thread(capture, "capture", lambda cause: report(f"Downfield made an error: {cause}")).start()
    for captured in waiting:
        try:
            frame = captured.decode()
        except SourceError as error:
            report(str(error))
            continue
        yield vision.update(frame, partial(vision.detect, frame, latest_index - captured.index))
    if waiting.dropped:
        report(f"{waiting.dropped} frames were dropped: they arrived faster than this computer could process them.")


@contextmanager
def close_on_interrupt(source: FrameSource) -> Iterator[None]:
    """Have Ctrl-C, SIGTERM or SIGHUP close the source; a second one ends the process as usual."""
    numbers = [number for number in END_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = [signal.getsignal(number) for number in numbers]

    def close(*_: object) -> None:
        restore()
        source.close()

    def restore() -> None:
        for number, handler in zip(numbers, previous, strict=True):
            signal.signal(number, handler)

    for number in numbers:
        signal.signal(number, close)
    try:
        yield
    finally:
        restore()


def refuse_slow_options(*, independent: bool, thorough: bool) -> None:
    """Refuse options that are too slow for a live source.

    Raises:
        InputError: such an option was given.

    """
    if independent or thorough:
        name = "--independent" if independent else "--thorough"
        raise InputError(f"{name} takes longer than live frames allow. Record the game, and track the recording.")
