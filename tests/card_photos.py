"""A play card with known windows, for the tests of its photos."""

from __future__ import annotations

from downfield.twin.strip.card_picture import PrintedResult

WINDOWS = tuple(
    tuple(PrintedResult(color, *result) for color, result in zip(("black", "red", "blue"), window, strict=True))
    for window in (
        (("-2", "black"), ("3", "red"), ("inc", None)),
        (("7", "blue"), ("13i", None), ("10F", "red")),
        (("24", "red"), ("-5", "black"), ("6", "blue")),
        (("inc", None), ("9", "black"), ("38", "red")),
        (("15", "blue"), ("20F", "red"), ("41", "black")),
    )
)
LINES = (
    "-2 black, 3 red, inc",
    "7 blue, 13i, 10F red",
    "24 red, -5 black, 6 blue",
    "inc, 9 black, 38 red",
    "15 blue, 20F red, 41 black",
)
