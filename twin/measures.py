"""Measures that physics, arrangements and pictures of the table share."""

from __future__ import annotations

from typing import Final

MAGNETIC_BALL_MM: Final = (4.5, 3.0)
"""Radius and half height of the magnetic ball."""

FOAM_BALL_MM: Final = (4.0, 2.5)
"""Half length and radius of the foam ball, whose long axis is x."""

HAND_MM: Final = (3.0, 7.5, 16.0)
"""Place of a carried ball in the carrier's frame: ahead, to its left, over the board."""
