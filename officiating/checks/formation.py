"""Formations: the players on the field in the play's own frame, with their errors.

The play's frame is u downfield from the line of scrimmage and v across from the offense's right-hand sideline, both in
board millimeters. A play rotated by 180 degrees gives the same frame: checks do not depend on the direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.scene import Figure, Jersey, Player, Scene
from downfield.officiating.sides import LINEMEN, canonical_role
from downfield.officiating.state.facts import outermost_x, outermost_y


@dataclass(frozen=True, slots=True)
class RoleLimits:
    """Thresholds of role inference."""

    line_yd: float = 1.0  # players this near to the line of scrimmage are on it: twice what a check allows
    tight_end_yd: float = 3.0  # farthest a tight end stands from the tackle: about where the next lineman would
    defensive_line_yd: float = 4.0  # deepest defensive lineman: twice the two yards one rulebook sets the lines apart
    linebacker_yd: float = 10.0  # deepest linebacker, the distance to gain: deeper players are there for the pass


_LIMITS: Final = RoleLimits()


def infer_roles(
    players: Sequence[FormationPlayer], mm_per_yd_x: float, mm_per_yd_y: float, middle_mm: float
) -> list[tuple[str, bool]]:
    """Return every player's role and whether it was inferred, in the order given."""
    roles = [canonical_role(player.entry.role) for player in players]
    named = [bool(role) for role in roles]
    _infer_offense(players, roles, _LIMITS.line_yd * mm_per_yd_x, _LIMITS.tight_end_yd * mm_per_yd_y, middle_mm)
    _infer_defense(players, roles, mm_per_yd_x)
    return [(role, not was_named) for role, was_named in zip(roles, named, strict=True)]


def _infer_offense(
    players: Sequence[FormationPlayer], roles: list[str], line_mm: float, tight_mm: float, middle_mm: float
) -> None:
    offense = [i for i, player in enumerate(players) if player.offense]
    on_line = sorted((i for i in offense if abs(players[i].depth_mm) <= line_mm), key=lambda i: players[i].v_mm)
    interior = _interior_line(players, roles, on_line, middle_mm)
    for place, i in enumerate(interior):
        from_middle = abs(place - (len(interior) - 1) // 2)
        roles[i] = roles[i] or ("C", "G", "T")[min(from_middle, 2)]
    center = next((i for i in offense if roles[i] == "C"), None)
    line = [i for i in offense if roles[i] in LINEMEN]
    low = min((players[i].low_mm for i in line), default=middle_mm)
    high = max((players[i].high_mm for i in line), default=middle_mm)
    for i in on_line:
        apart = max(players[i].low_mm - high, low - players[i].high_mm)
        roles[i] = roles[i] or ("TE" if apart <= tight_mm else "WR")
    for i in offense:
        if not roles[i] and (players[i].low_mm > high or players[i].high_mm < low):
            roles[i] = "WR"
    backs = sorted((i for i in offense if not roles[i]), key=lambda i: players[i].depth_mm)
    if center is not None and not any(roles[i] == "QB" for i in offense):
        behind = [i for i in backs if _overlap(players[i], players[center])]
        for i in behind[:1]:
            roles[i] = "QB"
    for i in backs:
        roles[i] = roles[i] or "RB"


def _interior_line(
    players: Sequence[FormationPlayer], roles: list[str], on_line: list[int], middle_mm: float
) -> list[int]:
    """Return the five interior linemen, low to high; fewer when fewer are eligible."""
    eligible = [i for i in on_line if roles[i] in {"", "OL", *LINEMEN}]
    for i in eligible:
        roles[i] = "" if roles[i] == "OL" else roles[i]
    center = next((place for place, i in enumerate(eligible) if roles[i] == "C"), None)
    if center is not None:
        reach = min(2, center, len(eligible) - 1 - center)
        return eligible[center - reach : center + reach + 1]
    if len(eligible) < 5:
        return eligible
    # Seven on the line may be two ends beside five, or an unbalanced line: the closest five are the interior.
    fives = [eligible[start : start + 5] for start in range(len(eligible) - 4)]
    backs = [player for i, player in enumerate(players) if player.offense and i not in on_line]

    def spacing(five: list[int]) -> tuple[float, tuple[float, float], float]:
        middle = players[five[2]].v_mm
        behind = min(((round(abs(back.v_mm - middle)), back.depth_mm) for back in backs), default=(0.0, 0.0))
        width = round(players[five[-1]].v_mm - players[five[0]].v_mm, 3)
        return width, behind, abs(middle - middle_mm)

    return min(fives, key=spacing)


def _infer_defense(players: Sequence[FormationPlayer], roles: list[str], mm_per_yd: float) -> None:
    unnamed = [i for i, player in enumerate(players) if not player.offense and not roles[i]]
    line = [i for i, player in enumerate(players) if player.offense and roles[i] in LINEMEN]
    center = next((players[i] for i in line if roles[i] == "C"), None)
    low = min((players[i].low_mm for i in line), default=0.0)
    high = max((players[i].high_mm for i in line), default=0.0)
    front = [i for i in unnamed if players[i].depth_mm <= _LIMITS.defensive_line_yd * mm_per_yd]
    if center is not None and not any(role == "NT" for role in roles):
        over = [i for i in front if _overlap(players[i], center)]
        nearest = sorted(over, key=lambda i: (players[i].depth_mm, abs(players[i].v_mm - center.v_mm)))
        for i in nearest[:1]:
            roles[i] = "NT"
    for i in unnamed:
        inside = players[i].low_mm < high and players[i].high_mm > low
        deep = players[i].depth_mm > _LIMITS.linebacker_yd * mm_per_yd
        roles[i] = roles[i] or ("DL" if i in front else "LB" if inside and not deep else "DB")


def _overlap(a: FormationPlayer, b: FormationPlayer) -> bool:
    return a.low_mm < b.high_mm and a.high_mm > b.low_mm


@dataclass(frozen=True, slots=True)
class FormationPlayer:
    """One player lined up."""

    entry: Player
    figure: Figure
    offense: bool  # whether he is on the team that snaps or kicks
    v_mm: float  # center of his base across the field
    upfield_mm: float  # upfield_mm, downfield_mm: least and greatest u of his base's outline
    downfield_mm: float
    low_mm: float  # low_mm, high_mm: least and greatest v of his base's outline
    high_mm: float
    sigma_u_mm: float  # sigma_u_mm, sigma_v_mm: standard deviation of those extents, heading error included
    sigma_v_mm: float
    inside_mm: float  # how far his base reaches into the field (end zones included); negative when wholly outside
    role: str = ""  # as named by the coach, else inferred; see `downfield.officiating.checks.formation`
    inferred: bool = False  # whether it was inferred

    @property
    def id(self) -> str:
        """Roster id."""
        return self.entry.id

    @property
    def depth_mm(self) -> float:
        """Distance from the line of scrimmage to the nearest part of his base on his side; negative beyond the line."""
        return -self.downfield_mm if self.offense else self.upfield_mm

    @property
    def length_mm(self) -> float:
        """Length of his base."""
        return self.figure.length_mm

    @property
    def width_mm(self) -> float:
        """Width of his base."""
        return self.figure.width_mm


@dataclass(frozen=True, slots=True)
class Formation:
    """Both teams lined up."""

    field: FieldModel
    direction: Literal[-1, 1]  # 1 when the offense goes toward larger x of the board, -1 toward smaller x
    line_yd: float  # line of scrimmage, or the spot of a kick, in field yards along x of the board
    players: tuple[FormationPlayer, ...]  # the players on the field, in roster order
    beside: tuple[FormationPlayer, ...] = ()  # the players just outside it, within a base length of its edge
    jersey: Jersey = "dark"  # of the team that snaps or kicks
    carrier: str | None = None  # roster id of the announced ball carrier
    gunners: tuple[str, ...] = ()  # roster ids declared on a punt
    returner: str | None = None  # roster id of the returner, where one is named
    unseen: tuple[str, ...] = ()  # roster ids on the team that snaps or kicks which are not seen on the board

    @property
    def offense(self) -> tuple[FormationPlayer, ...]:
        """The players of the team that snaps or kicks."""
        return tuple(player for player in self.players if player.offense)

    @property
    def defense(self) -> tuple[FormationPlayer, ...]:
        """The players of the other team."""
        return tuple(player for player in self.players if not player.offense)

    def in_role(self, *roles: str, offense: bool = True) -> tuple[FormationPlayer, ...]:
        """Return the players of one team in any of these roles."""
        return tuple(player for player in self.players if player.offense == offense and player.role in roles)

    def player(self, player_id: str | None) -> FormationPlayer | None:
        """Return the player with this roster id, None when he is not on the field."""
        return next((player for player in self.players if player.id == player_id), None)

    def across_yd(self, mm: float) -> float:
        """Convert a distance across the field to its yards."""
        return mm / self.field.mm_per_yd_y

    def along_yd(self, mm: float) -> float:
        """Convert a distance along the field to its yards."""
        return mm / self.field.mm_per_yd_x

    def own_yd(self, u_mm: float) -> float:
        """Convert a place along the field to yards from the offense's own goal line."""
        from_goal = self.line_yd if self.direction == 1 else self.field.length_yd - self.line_yd
        return from_goal + u_mm / self.field.mm_per_yd_x


def build_formation(
    scene: Scene,
    roster: Sequence[Player],
    field: FieldModel,
    *,
    offense: Jersey,
    direction: Literal[-1, 1],
    line_yd: float,
    carrier: str | None = None,
    gunners: tuple[str, ...] = (),
    returner: str | None = None,
) -> Formation:
    """Build the formation seen in a scene; figures held in a hand or off the field are left out.

    `offense` is the jersey of the team that snaps or kicks; all else is as in `Formation`. Raises InputError: the scene
    has a figure that the roster lacks.
    """
    entries = {entry.id: entry for entry in roster}
    players = []
    for figure in scene.figures:
        if figure.id not in entries:
            raise InputError(f"Figure '{figure.id}' is in the scene but not in the roster. Add it to the line-up.")
        if figure.posture != "lifted":
            players.append(_place(figure, entries[figure.id], field, offense, direction, line_yd))
    on_field = [player for player in players if player.inside_mm > 0]
    beside = tuple(player for player in players if -player.length_mm < player.inside_mm <= 0)
    roles = infer_roles(on_field, field.mm_per_yd_x, field.mm_per_yd_y, field.width_mm / 2)
    with_roles = tuple(
        replace(player, role=role, inferred=inferred) for player, (role, inferred) in zip(on_field, roles, strict=True)
    )
    seen = {figure.id for figure in scene.figures}
    unseen = tuple(entry.id for entry in roster if entry.jersey == offense and entry.id not in seen)
    return Formation(field, direction, line_yd, with_roles, beside, offense, carrier, gunners, returner, unseen)


def _place(
    figure: Figure, entry: Player, field: FieldModel, offense: Jersey, direction: Literal[-1, 1], line_yd: float
) -> FormationPlayer:
    line_mm = line_yd * field.mm_per_yd_x
    down, up = outermost_x(figure, direction), outermost_x(figure, -direction)
    left, right = outermost_y(figure, direction), outermost_y(figure, -direction)
    return FormationPlayer(
        entry=entry,
        figure=figure,
        offense=figure.jersey == offense,
        v_mm=_across(figure.y_mm, field, direction),
        upfield_mm=direction * (up.x_mm - line_mm),
        downfield_mm=direction * (down.x_mm - line_mm),
        low_mm=_across(right.y_mm, field, direction),
        high_mm=_across(left.y_mm, field, direction),
        sigma_u_mm=max(down.sigma_mm, up.sigma_mm),
        sigma_v_mm=max(left.sigma_mm, right.sigma_mm),
        inside_mm=_inside(max(down.x_mm, up.x_mm), min(down.x_mm, up.x_mm), left.y_mm, right.y_mm, field),
    )


def _across(y_mm: float, field: FieldModel, direction: int) -> float:
    return y_mm if direction == 1 else field.width_mm - y_mm


def _inside(high_x: float, low_x: float, left_y: float, right_y: float, field: FieldModel) -> float:
    """Return how far a base with these extents reaches into the field and its end zones, mm."""
    zone = field.end_zone_mm
    ends = min(high_x + zone, field.length_mm + zone - low_x)
    return min(ends, max(left_y, right_y), field.width_mm - min(left_y, right_y))
