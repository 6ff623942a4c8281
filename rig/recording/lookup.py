"""Which of the recorded files hold an instant, and where in them its pictures are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from downfield.core.errors import InputError
from downfield.core.records import from_json
from downfield.game.footage import FootageFrame
from downfield.rig.recording.index import RecordedFrame, index_of, read_index
from downfield.rig.recording.retention import videos

_TICK_NS: Final = 1_000_000
"""What times in a Matroska file are rounded to; the exact ones are in the index."""


def recorded(folder: Path, from_ns: int, to_ns: int) -> tuple[FootageFrame, ...]:
    """Every picture recorded in a span of time, in order; of the latest run of the rig that recorded any.

    Args:
        folder: of all recordings.
        from_ns: the span's first instant, on the capture clock.
        to_ns: its last.

    """
    begun = ((_began_ns(video), video) for video in videos(folder))
    latest_first = sorted(((at_ns, video) for at_ns, video in begun if at_ns is not None), reverse=True)
    found: list[FootageFrame] = []
    for began_ns, video in latest_first:
        if began_ns <= to_ns:
            found[:0] = _within(video, from_ns, to_ns)
        if began_ns <= from_ns:
            break  # a file ends before the next begins
    return tuple(still for still in found if still.video.parent == found[-1].video.parent)


def lines_of(video: Path) -> Iterator[FootageFrame]:
    """Every picture of a recorded file, in order.

    Raises:
        InputError: its index can't be read.

    """
    lines = read_index(index_of(video)).frames
    same: Counter[int] = Counter()
    for line in lines:
        at_ns = _ticks(line.t_ns - lines[0].t_ns) * _TICK_NS
        yield FootageFrame(line.frame, line.t_ns, video, at_ns, same[at_ns])
        same[at_ns] += 1


def _within(video: Path, from_ns: int, to_ns: int) -> list[FootageFrame]:
    with suppress(InputError):  # deleted since it was listed
        return [still for still in lines_of(video) if from_ns <= still.t_ns <= to_ns]
    return []


def _began_ns(video: Path) -> int | None:
    """When a file's first picture was captured; None while it has none, or is being deleted."""
    path = index_of(video)
    try:
        with path.open(encoding="utf-8") as file:
            file.readline()
            return from_json(RecordedFrame, file.readline(), path=str(path), line=2).t_ns
    except (OSError, InputError):
        return None


def _ticks(since_ns: int) -> int:
    """Rounded as a muxer rounds: half a tick up."""
    return (2 * since_ns + _TICK_NS) // (2 * _TICK_NS)
