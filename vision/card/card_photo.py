"""Reads a photo of two play cards over one another: the three results in each of its five windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Image
from downfield.vision.card.find_windows import WINDOWS, find_windows
from downfield.vision.card.read_window import CardText, InkColor, read_window

SURE: Final = 0.9
"""Least confidence of a result that is reported."""


@dataclass(frozen=True, slots=True)
class CardReading:
    """What a photo shows.

    Attributes:
        windows: the results by their ink, from the window for the lowest rolls on; empty when no windows were found.
        problem: why nothing is read, for people; empty otherwise.

    """

    windows: tuple[dict[InkColor, CardText], ...] = ()
    problem: str = ""

    @property
    def unsure(self) -> int:
        """Number of results that are not read surely."""
        return sum(text.confidence < SURE for window in self.windows for text in window.values())


def read_card(photo: Image) -> CardReading:
    """Return the results in a photo, uint8 blue green red, taken either way up."""
    pictures = find_windows(photo)
    if not pictures:
        problem = (
            f"no {WINDOWS} result windows of one size are seen in a row: fill the photo with the cards, from above"
        )
        return CardReading(problem=problem)
    upright = tuple(read_window(picture) for picture in pictures)
    over = tuple(read_window(np.ascontiguousarray(picture[::-1, ::-1])) for picture in reversed(pictures))
    best = max((upright, over), key=lambda way: sum(text.confidence for window in way for text in window.values()))
    return CardReading(best)
