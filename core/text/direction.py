"""Names that are written from right to left within a sentence that is not.

Beside such a name a number belongs to it by the Unicode Bidirectional Algorithm (UAX 9) and moves to its other side, so
that a score reads as the other team's. Isolates (FSI and PDI) keep the name to itself.
"""

from __future__ import annotations

import re
from typing import Final

_LETTERS: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_NAME: Final = re.compile(rf"[{_LETTERS}]+(?:[\s'’\"״׳.-]+[{_LETTERS}]+)*")


def isolate_names(text: str) -> str:
    """Return a text in which every name written from right to left is isolated; as it is where it is nothing else."""
    return _NAME.sub(lambda found: found[0] if found[0] == text else f"\u2068{found[0]}\u2069", text)
