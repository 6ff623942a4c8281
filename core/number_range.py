"""The range of numbers in files: beyond it, arithmetic overflows far away from the file that is to blame."""

from __future__ import annotations

import re
from typing import Final

LARGEST: Final = 2**63 - 1
"""Largest magnitude of a number: nanoseconds of 292 years; no length, probability or count is larger."""

_LONG: Final = re.compile(r"[0-9]{19}|[0-9][eE]\+?[0-9]{2}")
_LONG_BYTES: Final = re.compile(_LONG.pattern.encode())


def has_long_number(text: str | bytes) -> bool:
    """Return whether JSON text may hold a number out of range; cheap, and never wrong when it says no."""
    return (_LONG.search(text) if isinstance(text, str) else _LONG_BYTES.search(text)) is not None


def out_of_range(data: object) -> str | None:
    """Return what is wrong with the first number out of range in parsed JSON or TOML; None if all are in range."""
    waiting: list[tuple[str, object]] = [("", data)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{place}.{key}" if place else str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(f"{place}.{index}" if place else str(index), inner) for index, inner in enumerate(value)]
        elif isinstance(value, int | float) and abs(value) > LARGEST and value == value:
            return f"the number of '{place}' is out of range" if place else "the number is out of range"
    return None
