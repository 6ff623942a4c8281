"""Which of two groups of figures is which team, by everything that is known of the teams before a line-up.

The colors learned in earlier plays, the side on which each team stood, what the rules say of sides since, the tracks of
figures that stayed, and a person's word are evidence for one of the two readings, in log-odds that add up. A reading in
which a team has changed sides, or a jersey its color, is never made without a person, however likely it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools
from downfield.core.scene import Jersey
from downfield.vision.tracking.teams import TeamColors, cluster_teams, mean_difference


@dataclass(frozen=True, slots=True)
class TeamEvidenceLimits:
    """Weights, in log-odds, and thresholds of the evidence about teams."""

    # Weight of remembered colors by how differently they take the two groups. Learned in one of 15 kinds of light,
    # noise, blur and color cast and applied in another, they took 197 of 225 line-ups the right way and 11 the wrong
    # way, by 3.6 at most; of those that differed by 2 to 4, 93 % were right, by 4 to 6 and above, all.
    per_color_difference: float = 0.5
    max_color: float = 6.0  # Limit of what remembered colors are worth
    # Weight of a team's standing on the side where it stood before: one line-up in twenty follows a change of ends
    side: float = 3.0
    # Weight of a team's standing where the declared direction of the game has it, if it never lined up before
    rules: float = 2.0
    # Weight of the lighter jersey's being that of the light team, if its colors are not known: trim and lamps may make
    # the other one lighter
    lighter: float = 0.8
    per_tracked: float = 1.0  # Weight of each figure that was tracked to where it stands
    max_tracked: float = 5.0  # Limit of what tracked figures are worth together
    tracked_mm: float = 12.0  # A figure stands where it was tracked to within this
    # Share by which pairs of opponents must stand in order along the field for teams to have sides
    clear_sides: float = 0.6
    # Colors that speak this much against a reading make it one in which jerseys have changed their colors
    contradiction: float = 1.0
    least_probability: float = 0.95  # A less probable reading is asked about
    told: float = 9.0  # Weight of a person's word


TEAM_EVIDENCE_LIMITS: Final = TeamEvidenceLimits()


@dataclass(frozen=True, slots=True)
class KnownTeams:
    """What is known of the teams before a line-up."""

    colors: TeamColors | None = None  # learned in earlier plays; None if they never were
    # the team that stood on the left, toward smaller x, at the last line-up; None if neither did
    left: Jersey | None = None
    rules_left: Jersey | None = None  # the one that the game's direction had on the left then; None if not known
    rules_left_now: Jersey | None = None  # the one that it has there now
    told_left: Jersey | None = None  # the one that a person says is on the left now; None if nobody does

    @property
    def expected_left(self) -> Jersey | None:
        """The team that should be on the left now: the one that was, unless the rules had them change ends since."""
        if self.left is None:
            return self.rules_left_now
        changed = None not in (self.rules_left, self.rules_left_now) and self.rules_left != self.rules_left_now
        return self.left if not changed else "dark" if self.left == "light" else "light"


@dataclass(frozen=True, slots=True)
class TeamReading:
    """The teams of m figures."""

    light: Array  # log-odds that each is of the light team, given the reading, shape (m,)
    by_color: bool  # whether these come from colors; if not, from where the figures face
    probability: float  # that the teams are not exchanged
    asks: bool  # whether a person is to be asked


def read_teams(colors: Array, x_mm: Array, leftward: Array, known: KnownTeams, tracked: Array) -> TeamReading:
    """Return the teams of the figures of a line-up, and how probable it is that they are not exchanged.

    Args:
        colors: colors of each, from `sample_colors`, shape (m, points, 3).
        x_mm: places along the field, shape (m,).
        leftward: positive for figures that face left, shape (m,).
        known: what is known of the teams.
        tracked: 1 for a figure that was tracked as one of the light team, -1 for the dark one, else 0, shape (m,).
    """
    limits = TEAM_EVIDENCE_LIMITS
    teams = cluster_teams(colors, leftward > 0, known.colors)
    light = leftward if teams is None else teams.light_odds(colors)
    group = light > 0
    side = side_of(x_mm, group)
    remembered = 0.0
    if teams is not None and known.colors is not None:
        difference = mean_difference(known.colors.light_odds(colors), group)
        remembered = float(np.clip(limits.per_color_difference * difference, -limits.max_color, limits.max_color))
    total = remembered if known.colors is not None or teams is None else limits.lighter
    votes = limits.per_tracked * float(tracked @ np.where(group, 1.0, -1.0))
    total += float(np.clip(votes, -limits.max_tracked, limits.max_tracked))
    is_clear = abs(side) >= limits.clear_sides
    expected = known.expected_left
    if expected is not None and is_clear:
        total += (limits.rules if known.left is None else limits.side) * (side if expected == "light" else -side)
    if known.told_left is not None:
        total = limits.told * (1.0 if (side > 0) == (known.told_left == "light") else -1.0)
    turned = -1.0 if total < 0 else 1.0
    probability = float(1.0 / (1.0 + np.exp(-abs(total))))
    left_now: Jersey = "light" if side * turned > 0 else "dark"
    changed = known.left is not None and is_clear and left_now != known.left
    doubtful = probability < limits.least_probability or remembered * turned < -limits.contradiction
    return TeamReading(
        turned * light, teams is not None, probability, known.told_left is None and (changed or doubtful)
    )


def side_of(x_mm: Array, group: Bools) -> float:
    """Return how clearly a group of figures stands on the left of the others, 1, or on their right, -1."""
    own, others = x_mm[group], x_mm[~group]
    if not len(own) or not len(others):
        return 0.0
    apart = others[None] - own[:, None]
    return float(np.sign(apart).mean())


def left_team(x_mm: Array, light: Bools) -> Jersey | None:
    """Return the team that stands on the left; None where the teams stand mixed."""
    side = side_of(x_mm, light)
    if abs(side) < TEAM_EVIDENCE_LIMITS.clear_sides:
        return None
    return "light" if side > 0 else "dark"
