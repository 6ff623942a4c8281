"""Figures turned and moved by hand while the board is off, and the checks of motion between "set" and the snap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.mathematics import difference_deg
from downfield.core.scene import Jersey, Player, Scene
from downfield.core.texts import counted
from downfield.officiating.checks.check import Measurement, at_most, check, count_distribution
from downfield.officiating.params import Params
from downfield.officiating.sides import ELIGIBLE, canonical_role
from downfield.officiating.state.facts import EVEN_ODDS, exceedance_probability
from downfield.officiating.state.play_state import Pose, poses_of

_OTHER_END_DEG: Final = 90.0
"""A base that seems turned farther than this may have been turned less, and its front taken for its rear."""


@dataclass(frozen=True, slots=True)
class PoseChange:
    """One figure before and after it was handled."""

    player: Player
    offense: bool  # whether it is on the team that had the ball at the snap (or kicked)
    before: Pose
    after: Pose
    moved_mm: float  # distance the center of its base moved
    sigma_mm: float  # its standard deviation
    turned_deg: float  # angle the heading turned, 0..180
    sigma_deg: float  # its standard deviation
    # probability that both headings point to the same end of the base. A small turn is the same for both ends; only one
    # of about half a turn may be the tracker's and not the figure's.
    front: float = 1.0
    dead: bool = False  # whether it had fallen
    swapped: bool = False  # whether its base was swapped, which counts as a pivot

    @property
    def id(self) -> str:
        """Roster id."""
        return self.player.id

    @property
    def engaged_probability(self) -> float:
        """Probability that it touched an opposing base before."""
        return self.before.touching

    def pivoted_probability(self, params: Params) -> float:
        """Probability that it was pivoted."""
        if self.swapped:
            return 1.0
        limit_deg = params.real("stop.turned_deg")
        as_seen = exceedance_probability(self.turned_deg - limit_deg, self.sigma_deg)
        if self.front >= 1.0:
            return as_seen
        other_end = exceedance_probability(180.0 - self.turned_deg - limit_deg, self.sigma_deg)
        return self.front * as_seen + (1.0 - self.front) * other_end

    def moved_probability(self, params: Params) -> float:
        """Probability that it was moved to another place."""
        return exceedance_probability(self.moved_mm - params.real("stop.moved_mm"), self.sigma_mm)

    def is_handled(self, params: Params) -> bool:
        """Whether it was more likely than not pivoted or moved."""
        return max(self.pivoted_probability(params), self.moved_probability(params)) > EVEN_ODDS


def find_pose_changes(
    before: Sequence[Pose],
    after: Scene,
    roster: Sequence[Player],
    *,
    offense: Jersey,
    fallen: Sequence[str] = (),
    swapped: Sequence[str] = (),
) -> tuple[PoseChange, ...]:
    """Return the change of every figure that is on the board both before and after, in roster order.

    Args:
        before: poses as the board went off.
        after: the scene just before the board comes on again.
        offense: the jersey that had the ball at the snap, or kicked.
        fallen, swapped: roster ids of those that fell in this play, and of those whose base was swapped.
    """
    poses_before = {pose.player: pose for pose in before}
    poses_after = {pose.player: pose for pose in poses_of(after)}
    return tuple(
        _change(player, poses_before[player.id], poses_after[player.id], player.jersey == offense, fallen, swapped)
        for player in roster
        if player.id in poses_before and player.id in poses_after
    )


def _change(
    player: Player, a: Pose, b: Pose, offense: bool, fallen: Sequence[str], swapped: Sequence[str]
) -> PoseChange:
    turned_deg = difference_deg(b.heading_deg, a.heading_deg)
    return PoseChange(
        player=player,
        offense=offense,
        before=a,
        after=b,
        moved_mm=math.hypot(b.x_mm - a.x_mm, b.y_mm - a.y_mm),
        # Errors along and across, before and after; a distance has that of one axis, hence the mean of both.
        sigma_mm=math.hypot(*a.sigma_mm, *b.sigma_mm) / math.sqrt(2),
        turned_deg=turned_deg,
        sigma_deg=math.hypot(a.sigma_deg, b.sigma_deg),
        front=min(a.front, b.front) if turned_deg > _OTHER_END_DEG else 1.0,
        dead=player.id in fallen,
        swapped=player.id in swapped,
    )


@dataclass(frozen=True, slots=True)
class PreSnapChanges:
    """Motions and pivots before the snap."""

    changes: tuple[PoseChange, ...]  # every figure, before and after
    # roster id and role, inferred roles included; figures left out have the role the coach gave them
    roles: tuple[tuple[str, str], ...] = ()

    def role(self, change: PoseChange) -> str:
        """Role of a figure."""
        return dict(self.roles).get(change.id) or canonical_role(change.player.role)

    def moved(self, params: Params, *, offense: bool) -> list[tuple[PoseChange, float]]:
        """One team's changes, each with the probability that the figure was moved."""
        return [(change, change.moved_probability(params)) for change in self.changes if change.offense == offense]

    def pivoted(self, params: Params, *, offense: bool) -> list[tuple[PoseChange, float]]:
        """One team's changes, each with the probability that the figure was pivoted in place."""
        return [
            (change, change.pivoted_probability(params) * (1 - change.moved_probability(params)))
            for change in self.changes
            if change.offense == offense
        ]


@check("TAP-079", "TAP-080", params=("motion.moved", "motion.pivoted", "stop.moved_mm", "stop.turned_deg"))
def offense_motion(before_snap: PreSnapChanges, params: Params) -> Iterator[Measurement]:
    """The offense may move one eligible player and pivot one eligible receiver; the new formation is checked, too."""
    both = (("motion.moved", before_snap.moved, "moved"), ("motion.pivoted", before_snap.pivoted, "pivoted"))
    for limit, probabilities, verb in both:
        changes = probabilities(params, offense=True)
        names = tuple(change.id for change, likely in changes if likely > EVEN_ODDS)
        allowed = params.count(limit)
        text = f"the offense {verb} {counted(len(names), 'player')} before the snap; {allowed} allowed"
        yield at_most(allowed, (likely for _, likely in changes), text, names)
        for change, likely in changes:
            role = before_snap.role(change)
            if likely > EVEN_ODDS and role not in ELIGIBLE:
                text = f"{change.id} ({role or 'role unknown'}) was {verb} before the snap and is not eligible"
                yield Measurement(text, (change.id,), -1 if role else None, unit="count")


@check("TAP-081", params=("stop.moved_mm", "stop.turned_deg"))
def defense_motion(before_snap: PreSnapChanges, params: Params) -> Iterator[Measurement]:
    """The defense may match the offense's motions and pivots: as many of each, no more."""
    for probabilities, verb in ((before_snap.moved, "moved"), (before_snap.pivoted, "pivoted")):
        changes = probabilities(params, offense=False)
        offense = count_distribution(likely for _, likely in probabilities(params, offense=True))
        defense = count_distribution(likely for _, likely in changes)
        # Both counts are uncertain, so it is summed over every number that the offense may have moved.
        excess = sum(offense[n] * sum(defense[n + 1 :]) for n in range(len(offense)))
        by_offense, by_defense = offense.index(max(offense)), defense.index(max(defense))
        names = tuple(change.id for change, likely in changes if likely > EVEN_ODDS)
        text = f"the defense {verb} {counted(by_defense, 'player')} before the snap, the offense {by_offense}"
        yield Measurement(text, names, by_offense - by_defense, unit="count", broken=round(excess, 9))


@check("LD-038", params=("motion.repositioned", "stop.moved_mm"))
def repositioned(before_snap: PreSnapChanges, params: Params) -> Iterator[Measurement]:
    """Once the backfield is set, the defense may re-position four players."""
    changes, limit = before_snap.moved(params, offense=False), params.count("motion.repositioned")
    names = tuple(change.id for change, likely in changes if likely > EVEN_ODDS)
    text = f"the defense moved {counted(len(names), 'player')} after the backfield was set; {limit} allowed"
    yield at_most(limit, (likely for _, likely in changes), text, names)
