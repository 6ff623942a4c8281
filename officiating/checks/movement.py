"""What hands changed between two instants with the board off: who was turned, how far, and who was moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from downfield.core.angles import difference_deg
from downfield.core.scene import Jersey, Player, Scene
from downfield.officiating.engine.facts import EVEN_ODDS, exceedance_probability
from downfield.officiating.engine.play_state import Pose, poses_of
from downfield.officiating.rulebooks.params import Param, Params

TURNED_DEG = Param(
    "stop.turned_deg",
    3.0,
    "deg",
    "no book says how little is a pivot; more than a heading wanders at rest",
    0,
    45,
)
MOVED_MM = Param(
    "stop.moved_mm", 5.0, "mm", "a hand that only turns a base leaves it within a few millimeters", 0.5, 50
)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure, before and after.

    Attributes:
        player: its roster entry.
        offense: whether it is of the team that had the ball at the snap (or kicked).
        before, after: where it stood.
        moved_mm: how far the base's center went.
        sigma_mm: its standard deviation.
        turned_deg: how far the heading turned, 0..180.
        sigma_deg: its standard deviation.
        dead: whether it had fallen.
        swapped: whether its base was swapped, which counts as a pivot.

    """

    player: Player
    offense: bool
    before: Pose
    after: Pose
    moved_mm: float
    sigma_mm: float
    turned_deg: float
    sigma_deg: float
    dead: bool = False
    swapped: bool = False

    @property
    def id(self) -> str:
        """Roster id."""
        return self.player.id

    @property
    def engaged(self) -> float:
        """Probability that it touched an opposing base before."""
        return self.before.touching

    def pivoted(self, params: Params) -> float:
        """Probability that it counts as pivoted."""
        return (
            1.0
            if self.swapped
            else exceedance_probability(self.turned_deg - params.real(TURNED_DEG.name), self.sigma_deg)
        )

    def moved(self, params: Params) -> float:
        """Probability that it was moved elsewhere."""
        return exceedance_probability(self.moved_mm - params.real(MOVED_MM.name), self.sigma_mm)

    def handled(self, params: Params) -> bool:
        """Whether a hand was at it, as far as can be told."""
        return max(self.pivoted(params), self.moved(params)) > EVEN_ODDS


def changes(
    before: Sequence[Pose],
    after: Scene,
    roster: Sequence[Player],
    *,
    offense: Jersey,
    fallen: Sequence[str] = (),
    swapped: Sequence[str] = (),
) -> tuple[Change, ...]:
    """Every figure that stood on the board before and stands there after, in roster order.

    Args:
        before: as the board went off.
        after: just before it goes on again.
        roster: everybody on the board.
        offense: the jersey that had the ball at the snap, or kicked.
        fallen: roster ids of those that fell in this play.
        swapped: roster ids of those whose base was swapped.

    """
    then = {pose.player: pose for pose in before}
    now = {pose.player: pose for pose in poses_of(after)}
    return tuple(
        _change(player, then[player.id], now[player.id], player.jersey == offense, fallen, swapped)
        for player in roster
        if player.id in then and player.id in now
    )


def _change(player: Player, a: Pose, b: Pose, offense: bool, fallen: Sequence[str], swapped: Sequence[str]) -> Change:
    return Change(
        player=player,
        offense=offense,
        before=a,
        after=b,
        moved_mm=math.hypot(b.x_mm - a.x_mm, b.y_mm - a.y_mm),
        sigma_mm=math.hypot(*a.sigma_mm, *b.sigma_mm) / math.sqrt(2),
        turned_deg=difference_deg(b.heading_deg, a.heading_deg),
        sigma_deg=math.hypot(a.sigma_deg, b.sigma_deg),
        dead=player.id in fallen,
        swapped=player.id in swapped,
    )
