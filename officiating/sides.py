"""The two sides of a game, and the hash marks."""

from __future__ import annotations

from typing import Literal

Side = Literal["home", "away"]
Hash = Literal["left", "center", "right"]
