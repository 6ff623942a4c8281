"""Whose a game is: a rig, told by the key in its data folder, at a table with a name for people."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

_ID_CHARACTERS: Final = 16  # of a rig's id: 80 bits, so that nobody can make a key whose rig has the id of another


@dataclass(frozen=True, slots=True)
class GameOwner:
    """The owner of games."""

    rig: str = ""  # the rig's id; empty for games that are nobody's, such as those of a recording shown again
    table: str = ""  # name of the table, for people


NOBODY: Final = GameOwner()  # owner of a game that is never resumed


def rig_id(public_text: str) -> str:
    """Return the id of the rig with a public key: 16 characters of its SHA-256 in base32."""
    digest = hashlib.sha256(public_text.encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_ID_CHARACTERS]
