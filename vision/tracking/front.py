"""Which end of each base is the front: what the network says, how the teams line up, and where a base walks.

The network's errors belong to a figure's body and not to a frame: a front that it takes wrong once, it takes wrong in
every frame. So all detections of one figure together are worth no more than a bound, which is what the network has
earned on this table: it is right about a figure as often as it agreed with figures that walked, since bases walk ahead.
About a figure that has walked it is known to be right or wrong, and counts for more or for nothing. The sources add up:

- the network, up to that bound;
- the line-up: before a play the teams stand on two sides and face each other;
- walking: every millimeter walked ahead, or backward, while nothing touches the base that could push it;
- a person, who is believed until the figure has walked far the other way.

A base that is measured across for a moment, and along again, faces as before: bases do not turn around so soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array, Bools, Indices
from downfield.core.mathematics import wrap_half_turn_rad


@dataclass(frozen=True, slots=True)
class FrontLimits:
    """Thresholds and weights of the front filter; weights are log-odds."""

    # Weight of the network's front score; its errors last, so it counts by time and not by frame
    network_per_s: float = 6.0
    # Figures about whose front the network counts as right before any of this table walked: nine in ten
    prior_right: float = 18.0
    # Figures about whose front it counts as wrong: on bodies it was never taught it is in one of eight
    prior_wrong: float = 2.0
    confirmed: float = 4.0  # Bound of what the network may be worth about a figure that walked as it says
    proven: float = 4.0  # Log-odds by walking from which a figure's front is known well enough to judge the network by
    # Weight of each millimeter walked: 20 mm outweigh the network, and a base at rest wanders by less than 3 mm
    walking_per_mm: float = 0.12
    max_walked: float = 12.0  # Limit of walking's log-odds, so that a few seconds can reverse them
    # Weight of a person's word: one in 400 taps the wrong figure; 50 mm walked the other way outweigh it, or 34 mm if
    # the network says the same
    person: float = 6.0
    max_hidden: float = 1.5  # Limit of the log-odds behind a hand, which may turn a figure around
    # Share of a base that must be visible beside a hand for the network's front score to count
    min_visible_beside_hand: float = 0.9
    jump_rad: float = 0.7  # A figure that turns this far between two detections is measured wrongly now, or was before
    # A base measured along its old heading again within this time faces as before; it can't have turned around
    across_ns: int = 1_000_000_000
    along_rad: float = 0.5  # A base within this angle of its old heading, or its opposite, is measured along it
    # Weight of facing the rival team at a line-up: one figure in twenty is set up facing away from it
    facing_rival: float = 3.0
    facing_team: float = 4.0  # Weight of facing as the rest of the team does, where the teams stand mixed
    min_team: int = 3  # Fewer figures of a team do not show where it stands


FRONT_LIMITS: Final = FrontLimits()


class FrontFilter:
    """The log-odds that the headings of n figures point to their fronts.

    Args:
        network: initial log-odds by the network, shape (n,).
        facing: initial log-odds by the line-up, see `facing_odds`, shape (n,).
    """

    def __init__(self, network: Array, facing: Array) -> None:
        self._right, self._wrong = FRONT_LIMITS.prior_right, FRONT_LIMITS.prior_wrong
        self._network, self._facing = network.copy(), facing.copy()
        self._walked = np.zeros(len(network))
        self._person = np.zeros(len(network))
        # Whether the network proved right (1) or wrong (-1) about each figure; 0 before it walked.
        self._record: NDArray[np.int64] = np.zeros(len(network), dtype=np.int64)
        # The heading of a base before it was measured across, when that was, and the evidence of its front until then.
        self._along_rad = np.full(len(network), np.nan)
        self._across_ns: NDArray[np.int64] = np.zeros(len(network), dtype=np.int64)
        self._before_across = np.zeros((4, len(network)))

    @property
    def log_odds(self) -> Array:
        """All evidence together, shape (n,)."""
        return np.clip(self._network, -self._bounds, self._bounds) + self._facing + self._walked + self._person

    @property
    def probability(self) -> Array:
        """Probability that each heading points to the front, shape (n,)."""
        return 1 / (1 + np.exp(-self.log_odds))

    @property
    def _bounds(self) -> Array:
        """What all detections of each figure may be worth, shape (n,)."""
        usual = max(math.log(self._right / self._wrong), 0.0)
        return np.array([usual, max(usual, FRONT_LIMITS.confirmed), 0.0])[self._record]

    def limit_hidden(self, rows: Bools) -> None:
        """Limit the log-odds of figures behind a hand."""
        total = self.log_odds
        self._along_rad[rows] = np.nan
        sure = np.flatnonzero(rows & (total > FRONT_LIMITS.max_hidden))
        self._network[sure] = np.clip(self._network[sure], -self._bounds[sure], self._bounds[sure])
        self._scale(sure, FRONT_LIMITS.max_hidden / total[sure])

    def limit_handled(self, rows: Indices) -> None:
        """Limit the evidence of all but the network about figures beside a hand, which may turn them."""
        self._along_rad[rows] = np.nan
        other = self._facing[rows] + self._walked[rows] + self._person[rows]
        share = np.where(
            other > FRONT_LIMITS.max_hidden, FRONT_LIMITS.max_hidden / np.maximum(other, FRONT_LIMITS.max_hidden), 1.0
        )
        self._facing[rows] *= share
        self._walked[rows] *= share
        self._person[rows] *= share

    def reset_jumped(self, rows: Indices, heading_rad: Array, turned_rad: Array, t_ns: int) -> Indices:
        """Reset the log-odds of figures that turned too far, and return their rows.

        A base wrongly detected across its length seems to turn to the nearer side, and once it is detected correctly
        again, to the nearer side again. Together that may be half a turn, so earlier evidence is void, until the base
        is soon detected along its old heading again: which end was the front then is the front now.

        Args:
            rows: rows of measured figures, shape (k,).
            heading_rad: their headings, shape (k,).
            turned_rad: the angles by which they turned, shape (k,).
        """
        self._along_rad[t_ns - self._across_ns > FRONT_LIMITS.across_ns] = np.nan
        jumps = np.abs(turned_rad) > FRONT_LIMITS.jump_rad
        first = jumps & np.isnan(self._along_rad[rows])
        along = rows[first]
        self._along_rad[along] = heading_rad[first] - turned_rad[first]
        self._across_ns[along] = t_ns
        self._before_across[:, along] = np.array([evidence[along] for evidence in self._evidence])
        jumped = rows[jumps]
        self._scale(jumped, np.zeros(len(jumped)))
        self._resume(rows[~first], heading_rad[~first])
        return jumped

    def _resume(self, rows: Indices, heading_rad: Array) -> None:
        """Take up the evidence of figures, (k,), with headings, (k,), along those before they were measured across."""
        off = heading_rad - self._along_rad[rows]
        back = np.abs(wrap_half_turn_rad(off)) < FRONT_LIMITS.along_rad  # never where there is no heading of before
        same_way = np.where(np.cos(off[back]) >= 0, 1.0, -1.0)
        for evidence, before in zip(self._evidence, self._before_across, strict=True):
            evidence[rows[back]] = before[rows[back]] * same_way
        self._along_rad[rows[back]] = np.nan

    def update_from_network(
        self, rows: Indices, front_score: Array, visible: Array, beside_hand: Bools, step_s: float
    ) -> None:
        """Add the network's evidence.

        Args:
            rows: rows of the figures, each at most once, shape (k,).
            front_score: -1..1, against the heading or for it, shape (k,).
            visible: share of each base that is visible, shape (k,).
            beside_hand: which are beside a hand; a partly hidden one's front score counts for nothing, shape (k,).
            step_s: time since the previous detection.
        """
        reliable = ~beside_hand | (visible >= FRONT_LIMITS.min_visible_beside_hand)
        added = np.where(reliable, front_score, 0.0) * FRONT_LIMITS.network_per_s * step_s
        self._network[rows] = np.clip(self._network[rows] + added, -FRONT_LIMITS.confirmed, FRONT_LIMITS.confirmed)

    def update_from_walking(self, rows: Indices, ahead_mm: Array) -> None:
        """Add the evidence of distances walked ahead, or backward, by figures that nothing pushes, shape (k,)."""
        walked = self._walked[rows] + FRONT_LIMITS.walking_per_mm * ahead_mm
        self._walked[rows] = np.clip(walked, -FRONT_LIMITS.max_walked, FRONT_LIMITS.max_walked)
        proven = (np.abs(self._walked) >= FRONT_LIMITS.proven) & (np.abs(self._network) >= FRONT_LIMITS.confirmed / 2)
        agrees = self._walked * self._network > 0
        first = proven & (self._record == 0)  # every body counts once
        self._right += int((first & agrees).sum())
        self._wrong += int((first & ~agrees).sum())
        self._record[proven] = np.where(agrees[proven], 1, -1)

    def line_up(self, facing: Array) -> None:
        """Set the evidence of a new line-up, as `facing_odds` gives it, for figures whose walk says nothing yet."""
        self._along_rad[:] = np.nan
        new = np.abs(self._walked) < FRONT_LIMITS.proven
        self._facing[new] = facing[new]

    def settle(self, row: int, *, ahead: bool) -> None:
        """Take a person's word that a figure's heading points to its front, or to its rear.

        Evidence against it is void, and so is from now on what the network reports of a body that it takes wrong.
        """
        self._along_rad[row] = np.nan
        self._person[row] = FRONT_LIMITS.person if ahead else -FRONT_LIMITS.person
        for evidence in (self._facing, self._walked):
            if evidence[row] * self._person[row] < 0:
                evidence[row] = 0.0
        if abs(self._network[row]) >= FRONT_LIMITS.confirmed / 2:
            self._record[row] = 1 if self._network[row] * self._person[row] > 0 else -1

    def withdraw(self, row: int) -> None:
        """Forget what a person reported of a figure's front, and what followed from it about the network."""
        self._along_rad[row] = np.nan
        self._person[row] = 0.0
        self._record[row] = 0

    def resolve_flips(self) -> Bools:
        """Return which figures face against their heading, shape (n,), and take the other direction as heading."""
        flipped = self.log_odds < 0
        self._scale(np.flatnonzero(flipped), np.full(int(flipped.sum()), -1.0))
        return flipped

    @property
    def _evidence(self) -> tuple[Array, Array, Array, Array]:
        return self._network, self._facing, self._walked, self._person

    def _scale(self, rows: Indices, factors: Array) -> None:
        for evidence in self._evidence:
            evidence[rows] *= factors


def facing_odds(pose: Array, network: Array, light: Bools, found: Bools) -> Array:
    """Return the log-odds by the line-up that headings point to the fronts, shape (n,).

    Teams that stand on two sides face each other. The more they stand mixed, the more counts instead how the network
    sees the rest of a figure's team.

    Args:
        pose: x mm, y mm, heading rad, ..., shape (n, 3 or more).
        network: log-odds by the network that the headings point ahead, shape (n,).
        light: which figures are of the light team, shape (n,).
        found: which figures are on the board, shape (n,).
    """
    ahead = np.stack([np.cos(pose[:, 2]), np.sin(pose[:, 2])], axis=1)
    odds = np.zeros(len(pose))
    apart, toward_light = _separation(pose[:, :2], light, found)
    for team, sign in ((light, -1.0), (~light, 1.0)):
        own = team & found
        rival = FRONT_LIMITS.facing_rival * apart * (ahead[own] @ (sign * toward_light))
        mates = _mean_direction_of_mates(ahead[own], network[own])
        odds[own] = rival + FRONT_LIMITS.facing_team * (1 - apart) * (ahead[own] * mates).sum(axis=1)
    return odds


def _mean_direction_of_mates(ahead: Array, network: Array) -> Array:
    """Return which way the rest of a team faces, for each figure, shape (k, 2): shorter the less the others agree."""
    fronts = ahead * np.sign(network)[:, None]
    others = max(len(ahead) - 1, FRONT_LIMITS.min_team)
    mean: Array = (fronts.sum(axis=0) - fronts) / others
    return mean


def _separation(place: Array, light: Bools, found: Bools) -> tuple[float, Array]:
    """Return how clearly two teams stand apart, 0..1, and the unit vector from the dark to the light team."""
    own, rival = place[found & ~light], place[found & light]
    if min(len(own), len(rival)) < FRONT_LIMITS.min_team:
        return 0.0, np.zeros(2)
    toward = np.median(rival, axis=0) - np.median(own, axis=0)
    toward /= max(float(np.linalg.norm(toward)), 1e-9)
    before, behind = own @ toward, rival @ toward
    right = float((before[:, None] < behind[None]).mean())  # share of pairs in order: 0.5 where teams are mixed
    return max(2 * right - 1, 0.0) ** 2, toward
