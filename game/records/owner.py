"""Whose a game is: a rig, told by the key in its data folder, at a table with a name for people."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

_ID_CHARACTERS: Final = 16
"""Of a rig's id: 80 bits, so that nobody can make a key whose rig has the id of another."""


@dataclass(frozen=True, slots=True)
class GameOwner:
    """The owner of games.

    Attributes:
        rig: the rig's id; empty for games that are nobody's, such as those of a recording shown again.
        table: name of the table, for people.
    """

    rig: str = ""
    table: str = ""


NOBODY: Final = GameOwner()
"""Owner of a game that is never resumed."""


def rig_id(public_text: str) -> str:
    """Return the id of the rig with a public key: 16 characters of its SHA-256 in base32."""
    digest = hashlib.sha256(public_text.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_ID_CHARACTERS]
