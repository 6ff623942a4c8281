"""One picture of a camera or a recording, with its place in time."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.core.arrays import Image


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture.

    Attributes:
        index: in its source, from 0; a gap in the indices is frames that were lost.
        t_ns: capture time.
        image: uint8 blue green red, shape (height, width, 3), raw.
        hum: decades by which a microphone makes it likelier that the board is on than off, as of `power_hum.Hum`; 0
            where there is none.

    """

    index: int
    t_ns: int
    image: Image
    hum: float = 0.0
