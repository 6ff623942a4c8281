"""The footage: what the service asks of whoever keeps the pictures that calls were made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from downfield.api.topics import CallNow
from downfield.vision.scene import Player, Scene


@dataclass(frozen=True, slots=True)
class Still:
    """One picture that is kept, and where.

    Attributes:
        frame: its index in the source.
        t_ns: capture time.
        video: the file it is in.
        at_ns: its time in that file.
        rank: how many pictures before it in the file have the same time there.

    """

    frame: int
    t_ns: int
    video: Path
    at_ns: int
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn on a picture.

    Attributes:
        call: the call it is about.
        scene: what was seen on the picture; None when that is not kept.
        players: the roster, for base heights.
        los_yd: the line of scrimmage of the play; None when it is not known.

    """

    call: CallNow
    scene: Scene | None
    players: tuple[Player, ...] = ()
    los_yd: float | None = None


class Footage(Protocol):
    """Keeps pictures. Callable from any thread; each call may take as long as a disk and a decoder need."""

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[Still, ...]:
        """Every picture kept of a span of time, in order, each frame index once.

        Args:
            from_ns, to_ns: the span on the capture clock, both ends with it.
            began_ns: when the game that is asked about began, wall clock.

        Raises:
            NotRecordedError: there is none.

        """
        ...

    def jpeg(self, still: Still, marks: Marks | None) -> bytes:
        """One picture, exactly that one, as JPEG.

        Args:
            still: which.
            marks: what to draw on it; None for nothing.

        Raises:
            NotRecordedError: it is gone, broken, or not on the disk yet.

        """
        ...
