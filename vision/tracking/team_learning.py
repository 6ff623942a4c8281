"""What teams look like is learned on from figures that are followed: a line-up shows each in one pose and one light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from downfield.vision.tracking.estimate import Estimate
from downfield.vision.tracking.measurement import Measurements
from downfield.vision.tracking.teams import SURE_ODDS, TeamColors

EVERY_NS: Final = 250_000_000
"""Between lessons: a moment later everybody looks the same."""

_OWN_MM: Final = 3.0  # a sighting so near to where a figure is believed to be is his
_WELL_SEEN: Final = 0.5  # share of the base's top
_DOUBTED: Final = SURE_ODDS / 2  # log-odds: of who looks so much like the other team it is doubted who he is


class TeamLearner:
    """Knows the teams' colors, and learns on.

    Args:
        colors: as told at the line-up; None where they could not be.

    Attributes:
        colors: as known now.

    """

    def __init__(self, colors: TeamColors | None = None) -> None:
        self.colors = colors
        self._next_ns = 0

    def tell(self, sightings: Measurements) -> Measurements:
        """Measurements with what their colors say of their teams."""
        if self.colors is None:
            return sightings
        return replace(sightings, light=sightings.light + self.colors.light_odds(sightings.colors))

    def learn(self, sightings: Measurements, estimates: Sequence[Estimate], t_ns: int) -> None:
        """Learn from a frame, if it is time to.

        Args:
            sightings: of it, as told.
            estimates: of who is where in it.
            t_ns: its time.

        """
        if self.colors is None or t_ns < self._next_ns or not len(sightings):
            return
        rows, light = [], []
        for one in estimates:
            if not (one.fresh and one.seen and one.sure) or one.posture != "upright":
                continue
            apart = np.hypot(*(sightings.pose[:, :2] - (one.footprint.x_mm, one.footprint.y_mm)).T)
            row = int(apart.argmin())
            looks_like = float(sightings.light[row]) * (1 if one.jersey == "light" else -1)
            if apart[row] < _OWN_MM and sightings.visible[row] > _WELL_SEEN and looks_like > -_DOUBTED:
                rows.append(row)
                light.append(one.jersey == "light")
        if rows:
            self._next_ns = t_ns + EVERY_NS
            self.colors = self.colors.learned(sightings.colors[rows], np.array(light))
