"""Numbers before what they count, for people: ``1 player``, ``2 players stand``, ``0 entries``."""

from __future__ import annotations

from typing import Final

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
