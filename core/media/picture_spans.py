"""Distances in a picture as people write them: both ends in pixels, and the millimeters between them."""

from __future__ import annotations

from typing import Final

from downfield.core.errors import InputError

LARGEST_NUMBER: Final = 1e6
"""More yards, pixels or millimeters than any table or picture has."""

Pixel = tuple[float, float]


def parse_number(text: str) -> float:
    """Return a number of yards, pixels or millimeters.

    Raises:
        ValueError: it is no number, or a larger one than tables and pictures have.
    """
    value = float(text)
    if not abs(value) < LARGEST_NUMBER:
        raise ValueError(text)
    return value


def parse_span(text: str, name: str) -> tuple[Pixel, Pixel, float]:
    """Return both ends, px, and the length, mm, of a distance written as ``px,py=px,py=mm``.

    Args:
        name: what it is, with its article, for the message.

    Raises:
        InputError: it is written in another form.
    """
    try:
        start, end, length = text.split("=")
        (ax, ay), (bx, by) = ((parse_number(part) for part in pair.split(",")) for pair in (start, end))
        return (ax, ay), (bx, by), parse_number(length)
    except ValueError:
        raise InputError(f"'{text}' is not {name}. Write PX,PY=PX,PY=MM, such as 412.5,600=900,604.2=300.") from None
