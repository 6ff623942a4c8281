"""Name tags that float beside figures, where they cover no figure and no other tag; else there is none."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.broadcast.program.figure_volume import Box
from downfield.broadcast.program.lettering import Color, draw_text, is_drawable, text_width
from downfield.core.arrays import Array, Image

_SIZE_PX: Final = 22  # of the text in a picture 1080 pixels high
_PADDING_PX: Final = 7
_FAR_PX: Final = 16  # between a figure and its tag
_WITHOUT_GLYPHS: Final = frozenset(
    {"So", "Sk", "Cf", "Cc", "Co", "Cs", "Cn"}
)  # symbols, modifiers, joiners, no characters
_VARIANTS: Final = "\ufe0e\ufe0f\u20e3"  # that choose between the shapes of an emoji
_SIDES: Final = ((0, -1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (1, 1), (-1, 1))
"""Where a tag may be, the best first: above, then beside, then below."""


@dataclass(frozen=True, slots=True)
class NameTag:
    """A tag to place.

    Attributes:
        figure: roster id.
        text: on it.
        color, ink: of plate and text.
    """

    figure: str
    text: str
    color: Color
    ink: Color


class TagPlacer:
    """Places tags picture after picture; a tag stays on its side of the figure while there is room."""

    def __init__(self) -> None:
        self._sides: dict[str, int] = {}

    def draw(self, out: Image, tags: Sequence[NameTag], boxes: Mapping[str, Box]) -> None:
        """Draw tags on a picture, in place.

        Args:
            out: the picture, uint8 BGR.
            tags: those to show, the most important first.
            boxes: what every figure covers of it, by roster id.
        """
        taken = np.array(list(boxes.values()), dtype=np.float64).reshape(-1, 4)
        size = max(12, round(_SIZE_PX * out.shape[0] / 1080))
        for tag in tags:
            if tag.figure not in boxes:
                continue
            placed = self._place(tag, boxes[tag.figure], taken, size, (out.shape[1], out.shape[0]))
            if placed is None:
                self._sides.pop(tag.figure, None)
                continue
            side, box = placed
            self._sides[tag.figure] = side
            taken = np.concatenate([taken, [box]])
            _draw(out, tag, box, boxes[tag.figure], size)

    def _place(
        self, tag: NameTag, figure: Box, taken: Array, size: int, picture: tuple[int, int]
    ) -> tuple[int, Box] | None:
        wide = text_width(tag.text, size) + 2 * _PADDING_PX
        high = size + 2 * _PADDING_PX
        last = self._sides.get(tag.figure)
        order = range(len(_SIDES)) if last is None else (last, *(one for one in range(len(_SIDES)) if one != last))
        for side in order:
            box = _beside(figure, _SIDES[side], wide, high)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= picture[0] and box[3] <= picture[1]
            if inside and not _meets_any(box, taken):
                return side, box
        return None


def drawable(text: str) -> str:
    """Return a text without what no font of pictures has, such as emoji: they would be question marks."""
    kept = (char for char in text if unicodedata.category(char) not in _WITHOUT_GLYPHS and char not in _VARIANTS)
    return " ".join("".join(kept).split())


def tag_text(team: str, number: str, role: str) -> str:
    """Return the text of a tag; without the team's name where its script can't be drawn here."""
    full, bare = (
        " ".join(part for part in parts if part) for parts in ((drawable(team), number, role), (number, role))
    )
    return full if is_drawable(full) else bare


def _beside(figure: Box, side: tuple[int, int], wide: int, high: int) -> Box:
    """Return the box of a tag on a side of a figure."""
    left, top, right, bottom = figure
    across, down = side
    x = (left + right - wide) // 2 if across == 0 else right + _FAR_PX if across > 0 else left - _FAR_PX - wide
    y = (top + bottom - high) // 2 if down == 0 else bottom + _FAR_PX if down > 0 else top - _FAR_PX - high
    return x, y, x + wide, y + high


def _meets_any(box: Box, taken: Array) -> bool:
    apart = (taken[:, 2] <= box[0]) | (taken[:, 0] >= box[2]) | (taken[:, 3] <= box[1]) | (taken[:, 1] >= box[3])
    return bool((~apart).any())


def _draw(out: Image, tag: NameTag, box: Box, figure: Box, size: int) -> None:
    left, top, right, bottom = box
    center = ((figure[0] + figure[2]) // 2, (figure[1] + figure[3]) // 2)
    ends = (min(max(center[0], left), right), min(max(center[1], top), bottom))
    edge = (min(max(ends[0], figure[0]), figure[2]), min(max(ends[1], figure[1]), figure[3]))
    cv2.line(out, ends, edge, tag.color, 2, cv2.LINE_AA)
    cv2.rectangle(out, (left, top), (right - 1, bottom - 1), tag.color, -1)
    draw_text(out, tag.text, (left + _PADDING_PX, bottom - _PADDING_PX - size // 10), tag.ink, size)
