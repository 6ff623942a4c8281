"""The rulebook of a game that names none; a module of its own, since every command reads settings and few judge."""

from __future__ import annotations

from typing import Final

DEFAULT_RULEBOOK: Final = "tap"
"""The rulebook of a game for which none is chosen: the one played at the largest conventions."""
