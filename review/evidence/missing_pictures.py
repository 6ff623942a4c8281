"""Which pictures of a call or a play are gone: of frames that were measured, but of which no picture is kept."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from downfield.capture.footage import FootageFrame, when_text

_SHORTEST_NS: Final = 250_000_000
"""A shorter pause between two pictures is a few dropped frames, as their numbers show."""


@dataclass(frozen=True, slots=True)
class MissingPictures:
    """Frames one after another that were measured, and of which no picture is kept.

    Attributes:
        after_ns: capture time of the last picture before them.
        from_ns, to_ns: of the first and the last of them.
        until_ns: of the first picture after them.
        count: how many they are.

    """

    after_ns: int
    from_ns: int
    to_ns: int
    until_ns: int
    count: int

    @property
    def text(self) -> str:
        """What is to be read in place of the pictures."""
        frames = "this frame" if self.count == 1 else f"these {self.count} frames"
        return f"No picture of {frames} is kept: this part of the recording is missing."


def missing_pictures(stills: Sequence[FootageFrame], measured_ns: Iterable[int]) -> Iterator[MissingPictures]:
    """Yield what is missing between pictures.

    Args:
        stills: the pictures that are kept, in order.
        measured_ns: capture times of the frames that were measured.

    """
    times_ns = sorted(measured_ns)
    for before, after in pairwise(stills):
        first, end = bisect_right(times_ns, before.t_ns), bisect_left(times_ns, after.t_ns)
        if end > first and after.t_ns - before.t_ns >= _SHORTEST_NS:
            yield MissingPictures(before.t_ns, times_ns[first], times_ns[end - 1], after.t_ns, end - first)


def missing_text(call_ns: int, stills: Sequence[FootageFrame], measured_ns: Iterable[int]) -> str:
    """Return which pictures around a call are missing, in sentences; empty where none is."""
    sentences = []
    for gone in missing_pictures(stills, measured_ns):
        begin, end = when_text(gone.from_ns - call_ns), when_text(gone.to_ns - call_ns)
        sentences.append(
            f"Part of the recording is missing: no picture is kept of {gone.count}"
            f" frame{'' if gone.count == 1 else 's'}, from {begin} the call to {end} it."
        )
        if gone.after_ns < call_ns < gone.until_ns:
            sentences.append("The moment of the call is in this part; the decisive frame is the nearest one kept.")
    return " ".join(sentences)
