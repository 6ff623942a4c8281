"""Texts of and for people: counted nouns, text that is safe to show, distances in a picture as people write them.

Names of teams, leagues and tables, reasons for refusals and names of files come from people and files. A control
character among them could clear the screen, forge a line of the log or turn the reading direction around.
"""

from __future__ import annotations

import re
from typing import Final

from downfield.core.errors import InputError

_INTERPRETED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, of which a terminal makes commands
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of what follows (Unicode UAX #9)
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff]"  # half characters, such as of a file name that is not UTF-8; no encoding has them
)
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def plain_text(text: str) -> str:
    r"""Return a text as one line, control characters written out: ``\u001b`` for an escape, ``\n`` for a line break.

    What is written out is an escape sequence of JSON and TOML as well, so a document of either stays one.
    """
    return _INTERPRETED.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


_SINGULAR: Final = {"are": "is", "were": "was"}


def counted(number: int, noun: str, verb: str = "") -> str:
    """Return a number with its noun, in the plural unless it is 1, and what they do.

    Args:
        noun: one of them; its plural is formed by -s, or -ies after a consonant and y.
        verb: as of several, such as ``are`` or ``stand``; nothing if empty.
    """
    if number == 1:
        return f"1 {noun} {_SINGULAR.get(verb, f'{verb}s')}" if verb else f"1 {noun}"
    plural = f"{noun[:-1]}ie" if noun[-1] == "y" and noun[-2] not in "aeiou" else noun
    return f"{number} {plural}s {verb}".rstrip()


LARGEST_NUMBER: Final = 1e6  # more yards, pixels or millimeters than any table or picture has


def parse_number(text: str) -> float:
    """Return a number of yards, pixels or mm. Raises ValueError: no number, or larger than tables and pictures have."""
    value = float(text)
    if not abs(value) < LARGEST_NUMBER:
        raise ValueError(text)
    return value


def parse_span(text: str, name: str) -> tuple[tuple[float, float], tuple[float, float], float]:
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
