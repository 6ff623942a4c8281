"""Checks of what coaches change between "set" and the snap, and of Lion's Den's re-positioning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from downfield.officiating.checks.check import Measured, at_most, check, counts
from downfield.officiating.checks.movement import MOVED_MM, TURNED_DEG, Change
from downfield.officiating.checks.roles import ELIGIBLE, canonical_role
from downfield.officiating.engine.facts import EVEN_ODDS
from downfield.officiating.rulebooks.params import Param, Params

MOTIONS = Param("motion.moved", 1, "count", "TAP: one eligible player in motion", 0, 11)
PIVOTS = Param("motion.pivoted", 1, "count", "TAP: one eligible receiver pivoted", 0, 11)
REPOSITIONED = Param("motion.repositioned", 4, "count", "Lion's Den: four defenders, after the backfield is set", 0, 11)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What was changed before the snap.

    Attributes:
        changes: everybody, before and after.
        roles: roster id and role, inferred ones too; the coach's own word otherwise.

    """

    changes: tuple[Change, ...]
    roles: tuple[tuple[str, str], ...] = ()

    def role(self, change: Change) -> str:
        """A man's role."""
        return dict(self.roles).get(change.id) or canonical_role(change.player.role)

    def moved(self, params: Params, *, offense: bool) -> list[tuple[Change, float]]:
        """One team's men with the probability that each was moved."""
        return [(change, change.moved(params)) for change in self.changes if change.offense == offense]

    def pivoted(self, params: Params, *, offense: bool) -> list[tuple[Change, float]]:
        """One team's men with the probability that each was pivoted where he stood; a moved man is not."""
        return [
            (change, change.pivoted(params) * (1 - change.moved(params)))
            for change in self.changes
            if change.offense == offense
        ]


@check("TAP-079", "TAP-080", params=(MOTIONS, PIVOTS, MOVED_MM, TURNED_DEG))
def offense_motion(adjustment: Adjustment, params: Params) -> Iterator[Measured]:
    """The offense may move one eligible man elsewhere and pivot one eligible receiver.

    What comes of it is a formation again and is checked as one.
    """
    both = ((MOTIONS, adjustment.moved, "moved"), (PIVOTS, adjustment.pivoted, "pivoted"))
    for limit, done_by, what in both:
        men = done_by(params, offense=True)
        names = tuple(change.id for change, likely in men if likely > EVEN_ODDS)
        allowed = params.count(limit.name)
        text = f"the offense {what} {len(names)} before the snap; {allowed} allowed"
        yield at_most(allowed, (likely for _, likely in men), text, names)
        for change, likely in men:
            role = adjustment.role(change)
            if likely > EVEN_ODDS and role not in ELIGIBLE:
                text = f"{change.id} ({role or 'role not known'}) was {what} before the snap and is not eligible"
                yield Measured(text, (change.id,), -1 if role else None, unit="count")


@check("TAP-081", params=(MOVED_MM, TURNED_DEG))
def defense_motion(adjustment: Adjustment, params: Params) -> Iterator[Measured]:
    """The defense may match the offense's motions and pivots: as many of each, no more."""
    for done_by, what in ((adjustment.moved, "moved"), (adjustment.pivoted, "pivoted")):
        ours = done_by(params, offense=False)
        offense = counts(likely for _, likely in done_by(params, offense=True))
        defense = counts(likely for _, likely in ours)
        excess = sum(offense[n] * sum(defense[n + 1 :]) for n in range(len(offense)))
        theirs, own = offense.index(max(offense)), defense.index(max(defense))
        names = tuple(change.id for change, likely in ours if likely > EVEN_ODDS)
        text = f"the defense {what} {own} before the snap, the offense {theirs}"
        yield Measured(text, names, theirs - own, unit="count", broken=round(excess, 9))


@check("LD-038", params=(REPOSITIONED, MOVED_MM))
def repositioned(adjustment: Adjustment, params: Params) -> Iterator[Measured]:
    """Once the backfield is set the defense may re-position four men."""
    men, limit = adjustment.moved(params, offense=False), params.count(REPOSITIONED.name)
    names = tuple(change.id for change, likely in men if likely > EVEN_ODDS)
    text = f"the defense moved {len(names)} men after the backfield was set; {limit} allowed"
    yield at_most(limit, (likely for _, likely in men), text, names)
