"""The two teams of the twin and their formations: dark has the ball, light defends.

The standard formation is legal under every installed rulebook that has rules for it, except for the distance of the
defensive line, on which rulebooks disagree: Lion's Den requires five yards, Gunderson's EFL two, head up.
Distances that rules state in bases (a base's length, a base's width) are kept in millimeters, so that the formation
stays legal on boards with smaller yards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.plays.script import Stance

C: Final = "dark-52"
LG: Final = "dark-64"
RG: Final = "dark-66"
LT: Final = "dark-72"
RT: Final = "dark-75"
TE: Final = "dark-88"
SE: Final = "dark-84"
FL: Final = "dark-80"
QB: Final = "dark-7"
RB: Final = "dark-28"
FB: Final = "dark-44"

NT: Final = "light-97"
LDT: Final = "light-93"
RDT: Final = "light-95"
LDE: Final = "light-90"
RDE: Final = "light-99"
LLB: Final = "light-51"
RLB: Final = "light-56"
LCB: Final = "light-21"
RCB: Final = "light-24"
SS: Final = "light-33"
FS: Final = "light-38"

OFFENSE_11: Final = (C, LG, RG, LT, RT, TE, SE, FL, QB, RB, FB)
DEFENSE_11: Final = (NT, LDT, RDT, LDE, RDE, LLB, RLB, LCB, RCB, SS, FS)
_LINE: Final = ("C", "G", "G", "T", "T", "TE")
_ROLES: Final = (*_LINE, "WR", "WR", "QB", "RB", "RB", "NT", *["DL"] * 4, "LB", "LB", *["DB"] * 4)  # in this order

BASE: Final = BaseSize()
HAND_MM: Final = (11.0, -4.0)
"""Place of the ball in the twin's runners' hands, ahead of the base's center and to its left."""

_APART_MM = 19.5  # between neighbors on the line: more than a base's width (EFL) and than a yard (TAP)
_CLEAR_LENGTHS = 1.02  # where a base length of separation is required
_STACKED_MM = 1.0  # between the center and a quarterback stacked behind him


def teams(base: BaseSize = BASE) -> tuple[Player, ...]:
    """Return the roster of 22, all on bases of one size."""
    return tuple(player(id_, role, base) for id_, role in zip((*OFFENSE_11, *DEFENSE_11), _ROLES, strict=True))


def player(id_: str, role: str, base: BaseSize = BASE) -> Player:
    """Return a player by roster id, ``jersey-number``."""
    jersey, _, number = id_.partition("-")
    side: Literal["dark", "light"] = "dark" if jersey == "dark" else "light"
    return Player(id_, side, number, role, base, HAND_MM)


def standard(field: FieldModel, *, apart_yd: float = 5.0, base: BaseSize = BASE) -> dict[str, Stance]:
    """Return both teams at the line, 11 a side: dark 7 on the line and 4 behind it, light 5 in front and 6 behind.

    Args:
        apart_yd: from the line of scrimmage to the defensive line; the offense stands on it.
    """
    step = (base.width_mm + _APART_MM) / field.mm_per_yd_y
    wide = min(field.width_yd / 2 - base.width_mm / field.mm_per_yd_y, 5.2 * step)
    deep = base.length_mm / field.mm_per_yd_x
    clear = _CLEAR_LENGTHS * deep
    quarterback = deep + clear
    runner = quarterback + deep + clear
    if runner > 18.0:  # on boards with small yards the quarterback is stacked, which only he may be
        quarterback = deep + _STACKED_MM / field.mm_per_yd_x
        runner = quarterback + deep + clear
    second, third = apart_yd + deep + clear, apart_yd + 2 * (deep + clear)
    offense = {
        C: (0.0, 0.0),
        LG: (0.0, step),
        RG: (0.0, -step),
        LT: (0.0, 2 * step),
        RT: (0.0, -2 * step),
        TE: (0.0, -3 * step),
        SE: (0.0, 3 * step),
        FL: (-6.0, -wide),
        QB: (-quarterback, 0.0),
        RB: (-runner, 0.0),
        FB: (-quarterback - 0.5 * deep, -1.6 * step),
    }
    defense = {
        NT: (apart_yd, 0.0),
        LDT: (apart_yd, -step),
        RDT: (apart_yd, step),
        LDE: (apart_yd, -2 * step),
        RDE: (apart_yd, 2 * step),
        LLB: (second, -1.5 * step),
        RLB: (second, 1.5 * step),
        LCB: (apart_yd + 1.0, -wide),
        RCB: (apart_yd + 1.0, 3.4 * step),
        SS: (third, -2.5 * step),
        FS: (third, 1.0 * step),
    }
    return {id_: Stance(id_, *place) for id_, place in (offense | defense).items()}


def head_up(field: FieldModel, base: BaseSize = BASE) -> dict[str, Stance]:
    """Return the standard formation under Gunderson's EFL: seven defenders head up with the seven, two yards apart."""
    out = standard(field, apart_yd=2.0, base=base)
    for defender, opposite in {LCB: TE, RCB: SE}.items():
        out[defender] = Stance(defender, 2.0, out[opposite].across_yd)
    return out


def placed(formation: Mapping[str, Stance], *changed: Stance, without: tuple[str, ...] = ()) -> tuple[Stance, ...]:
    """Return a formation for a script, with some figures moved and some left out."""
    out = dict(formation) | {stance.player: stance for stance in changed}
    return tuple(stance for id_, stance in out.items() if id_ not in without)
