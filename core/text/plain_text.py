"""Texts that people wrote, made safe to show: one line that no terminal, log or table interprets.

Names of teams, leagues and tables, reasons for refusals and names of files come from people and files. A control
character among them could clear the screen, forge a line of the log or turn the reading direction around.
"""

from __future__ import annotations

import re
from typing import Final

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
