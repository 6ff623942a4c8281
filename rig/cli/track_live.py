"""What ``downfield track`` needs of a source that shows what happens now: a camera, or a stream.

Its frames come whether they are taken or not, and can't be had a second time. So of frames that come faster than they
are seen the oldest are lost, as they are in a game, and an interrupt ends the source, not the work on what it sent.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError, OutputError, SourceError
from downfield.core.scene import Scene
from downfield.rig.live.handoff import BoundedQueue
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.opening import SourceChoice, open_source
from downfield.rig.sources.source import CapturedFrame, FrameSource
from downfield.vision.pipeline import Vision

Say = Callable[[str], None]

_ROOM: Final = 4  # frames that wait,
_SPARE: Final = 26  # and more of them after a while without a loss: half a second at 60 frames/s


def open_live(source: str, out: Path, say: Say) -> FrameSource:
    """Open a source that is no file.

    Args:
        source: as `SourceChoice` takes it.
        out: where its tracks are to go.
        say: told when its picture goes and comes back.

    Raises:
        InputError: there is nothing of that name.
        SourceError: it can't be opened.
        OutputError: there is a track file already, whose game can't be had again.

    """
    part = out.with_name(out.name + ".part")
    for there in (out, part):
        if there.exists():
            raise OutputError(f"{there}: exists, and a live source can't be seen again; remove it or name another")
    frames = open_source(
        SourceChoice(source, paced=False), CaptureClock(), ActiveProblems(noticed=lambda _, text: say(text))
    )
    for note in frames.facts.notes:
        say(note)
    return frames


def live_scenes(vision: Vision, frames: FrameSource, say: Say) -> Iterator[Scene]:
    """The scenes of frames as they come, until the source is closed.

    Args:
        vision: sees them.
        frames: the source.
        say: told of frames that are broken, and in the end how many were lost.

    """
    waiting = BoundedQueue[CapturedFrame](_ROOM, _SPARE)
    newest = 0

    def capture() -> None:
        nonlocal newest
        hand_over = waiting.offer if frames.facts.live else waiting.put
        try:
            for shot in frames.frames():
                newest = shot.index
                hand_over(shot)
        except SourceError as error:
            say(str(error))
        finally:
            waiting.close()

    thread = threading.Thread(target=capture, name="capture", daemon=True)
    thread.start()
    for shot in waiting:
        try:
            frame = shot.frame()
        except SourceError as error:
            say(str(error))
            continue
        yield vision.update(frame, partial(vision.detect, frame, newest - shot.index))
    if waiting.dropped:
        say(f"{waiting.dropped} frames were lost: they came faster than they could be seen")


@contextmanager
def interrupt_ends(frames: FrameSource) -> Iterator[None]:
    """Have Ctrl-C, or whoever stops the process, end the source; a second one is as usual."""
    asked = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(each) for each in asked]

    def end(*_: object) -> None:
        again()
        frames.close()

    def again() -> None:
        for each, usual in zip(asked, before, strict=True):
            signal.signal(each, usual)

    for each in asked:
        signal.signal(each, end)
    try:
        yield
    finally:
        again()


def refuse(*, independent: bool, thorough: bool) -> None:
    """Say what can't be had of a live source.

    Raises:
        InputError: that is asked for.

    """
    if independent or thorough:
        name = "--independent" if independent else "--thorough"
        raise InputError(f"{name} takes longer than frames take to come: record the game, and track the recording")
