"""The two sides of a game, and the hash marks."""

from __future__ import annotations

from typing import Final, Literal

Side = Literal["home", "away"]
Hash = Literal["left", "center", "right"]

SIDES: Final[tuple[Side, Side]] = ("home", "away")
"""Both, in the order in which scores name them."""
