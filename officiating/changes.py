"""What hands changed between two instants with the board off: who was turned, how far, and who was moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from downfield.officiating.facts import UNDOUBTED
from downfield.officiating.geometry import chance, turned_deg
from downfield.officiating.params import Param, Params
from downfield.vision.scene import Figure, Jersey, Player, Scene

TURNED_DEG = Param(
    "stop.turned_deg",
    3.0,
    "deg",
    "no book says how little is a pivot; more than a heading wanders at rest",
    0,
    45,
)
MOVED_MM = Param(
    "stop.moved_mm", 5.0, "mm", "a hand that only turns a base leaves it within a few millimetres", 0.5, 50
)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure, before and after.

    Attributes:
        player: its roster entry.
        offence: whether it is of the team that had the ball at the snap (or kicked).
        before, after: as seen.
        moved_mm: how far the base's centre went.
        sigma_mm: its standard deviation.
        turned_deg: how far the heading turned, 0..180.
        sigma_deg: its standard deviation.
        engaged: probability that it touched an opposing base before.
        dead: whether it had fallen.
        swapped: whether its base was swapped, which counts as a pivot.

    """

    player: Player
    offence: bool
    before: Figure
    after: Figure
    moved_mm: float
    sigma_mm: float
    turned_deg: float
    sigma_deg: float
    engaged: float = 0.0
    dead: bool = False
    swapped: bool = False

    @property
    def id(self) -> str:
        """Roster id."""
        return self.player.id

    def pivoted(self, params: Params) -> float:
        """Probability that it counts as pivoted."""
        return 1.0 if self.swapped else chance(self.turned_deg - params.real(TURNED_DEG.name), self.sigma_deg)

    def moved(self, params: Params) -> float:
        """Probability that it was moved elsewhere."""
        return chance(self.moved_mm - params.real(MOVED_MM.name), self.sigma_mm)

    def handled(self, params: Params) -> bool:
        """Whether a hand was at it, as far as can be told."""
        return max(self.pivoted(params), self.moved(params)) > UNDOUBTED


def changes(
    before: Scene,
    after: Scene,
    roster: Sequence[Player],
    *,
    offence: Jersey,
    fallen: Sequence[str] = (),
    swapped: Sequence[str] = (),
) -> tuple[Change, ...]:
    """Every figure seen in both scenes and not in a hand in either, in roster order.

    Args:
        before: as the board went off.
        after: just before it goes on again.
        roster: everybody on the board.
        offence: the jersey that had the ball at the snap, or kicked.
        fallen: roster ids of those that fell in this play.
        swapped: roster ids of those whose base was swapped.

    """
    then = {figure.id: figure for figure in before.figures if figure.posture != "lifted"}
    now = {figure.id: figure for figure in after.figures if figure.posture != "lifted"}
    engaged = _engaged(before)
    out = []
    for player in roster:
        if player.id in then and player.id in now:
            a, b = then[player.id], now[player.id]
            out.append(
                Change(
                    player=player,
                    offence=player.jersey == offence,
                    before=a,
                    after=b,
                    moved_mm=math.hypot(b.x_mm - a.x_mm, b.y_mm - a.y_mm),
                    sigma_mm=math.hypot(*a.sigma_mm, *b.sigma_mm) / math.sqrt(2),
                    turned_deg=turned_deg(a.heading_deg, b.heading_deg),
                    sigma_deg=math.hypot(a.sigma_deg, b.sigma_deg),
                    engaged=engaged.get(player.id, 0.0),
                    dead=player.id in fallen or a.posture == "fallen",
                    swapped=player.id in swapped,
                )
            )
    return tuple(out)


def _engaged(scene: Scene) -> dict[str, float]:
    jersey = {figure.id: figure.jersey for figure in scene.figures}
    free: dict[str, float] = {}
    for contact in scene.contacts:
        if jersey[contact.a] != jersey[contact.b]:
            for name in (contact.a, contact.b):
                free[name] = free.get(name, 1.0) * (1 - contact.probability)
    return {name: 1 - likely for name, likely in free.items()}
