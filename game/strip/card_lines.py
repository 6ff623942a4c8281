"""What a photo of play cards shows, as the lines in which the panel and the command line take windows."""

from __future__ import annotations

from typing import Final

from downfield.vision.card_photo import INK_COLORS, SURE, CardReading, CardText

UNREAD: Final = "?"  # in place of a result that is not read surely


def window_lines(reading: CardReading) -> tuple[str, ...]:
    """Return each window as ``"-2 black, 3 red, inc"``: its black, red and blue result, each with its dot's color."""
    return tuple(", ".join(_result(window[color]) for color in INK_COLORS) for window in reading.windows)


def unread_text(reading: CardReading) -> str:
    """Return how many results a person must fill in; empty when all are read."""
    count = reading.unsure
    if not count:
        return ""
    results = "result is" if count == 1 else "results are"
    return f"{count} {results} not read surely: put it in place of {UNREAD}, from the card"


def _result(text: CardText) -> str:
    if text.confidence < SURE:
        return UNREAD
    return text.shown if text.dot is None else f"{text.shown} {text.dot}"
