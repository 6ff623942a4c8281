"""How large a base is believed to be, by what is seen of it and by what the roster says."""

from __future__ import annotations

import math
from typing import Final

from downfield.core.footprint import BaseSize

_SEEN_MM: Final = 0.5  # what a network has wrong about a base's side for as long as the light stays as it is
_TOLD_MM: Final = 0.3  # and what a roster has, unless
_MISTOLD: Final = 0.1  # it is of another base altogether, whose side may be anything within
_ANY_MM: Final = 10.0
_APART_MM: Final = math.hypot(_SEEN_MM, _TOLD_MM)  # deviation of one from the other
_AT_BEST: Final = _APART_MM * math.sqrt(2 * math.pi)


def believed_size(length_mm: float, width_mm: float, told: BaseSize) -> BaseSize:
    """A base's size: the roster's, as far as what is seen doesn't contradict it.

    Args:
        length_mm: as seen over many frames.
        width_mm: likewise.
        told: the roster's; its height and its corners are taken as they are.

    """
    length_mm, width_mm = _side_mm(length_mm, told.length_mm), _side_mm(width_mm, told.width_mm)
    return BaseSize(length_mm, width_mm, told.height_mm, min(told.corner_mm, length_mm / 2, width_mm / 2))


def _side_mm(seen_mm: float, told_mm: float) -> float:
    off = told_mm - seen_mm
    honest = (1 - _MISTOLD) * math.exp(-0.5 * (off / _APART_MM) ** 2) / _AT_BEST
    return seen_mm + honest / (honest + _MISTOLD / _ANY_MM) * off * _SEEN_MM**2 / _APART_MM**2
