"""A formation: the men on the field in the play's own frame, with error.

The play's frame is u downfield from the line of scrimmage and v across from the offense's right-hand sideline, both in
board millimeters. A game turned half round gives the same frame, so no check has to know which way the play goes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from downfield.core.angles import wrap_deg
from downfield.core.errors import InputError
from downfield.core.field import FieldModel
from downfield.core.scene import Figure, Jersey, Player, Scene
from downfield.officiating.checks.roles import Spot, roles_of
from downfield.officiating.engine.facts import outermost_x, outermost_y


@dataclasses.dataclass(frozen=True, slots=True)
class Man:
    """One man.

    Attributes:
        player: his roster entry.
        figure: as seen.
        offense: whether he is of the team that snaps or kicks.
        u_mm, v_mm: center of his base.
        facing_deg: his heading in the play's frame, 0 downfield, counter-clockwise, -180..180.
        upfield_mm, downfield_mm: least and greatest u of his base's outline.
        low_mm, high_mm: least and greatest v of it.
        sigma_u_mm, sigma_v_mm: standard deviation of those extents, turning error included.
        inside_mm: how far his base reaches into the field of play (end zones included); negative when wholly outside.
        role: as named by the coach, else inferred; see `downfield.officiating.checks.roles`.
        inferred: whether it was inferred.

    """

    player: Player
    figure: Figure
    offense: bool
    u_mm: float
    v_mm: float
    facing_deg: float
    upfield_mm: float
    downfield_mm: float
    low_mm: float
    high_mm: float
    sigma_u_mm: float
    sigma_v_mm: float
    inside_mm: float
    role: str = ""
    inferred: bool = False

    @property
    def id(self) -> str:
        """Roster id."""
        return self.player.id

    @property
    def depth_mm(self) -> float:
        """From the line of scrimmage to the part of his base nearest to it on his side; negative beyond the line."""
        return -self.downfield_mm if self.offense else self.upfield_mm

    @property
    def length_mm(self) -> float:
        """Length of his base."""
        return self.figure.length_mm

    @property
    def width_mm(self) -> float:
        """Width of his base."""
        return self.figure.width_mm


@dataclasses.dataclass(frozen=True, slots=True)
class Formation:
    """Everybody on the field, at the line-up.

    Attributes:
        field: the printed field.
        direction: which way the offense goes along x of the board.
        line_yd: line of scrimmage, or the spot of a kick, in field yards along x of the board.
        men: those on the field, in roster order.
        beside: those just outside it, within a base length of its edge.
        jersey: of the team that snaps or kicks.
        carrier: roster id of the man announced to have the ball.
        gunners: roster ids declared on a punt.
        returner: roster id of the returner, where one is named.
        stationary: roster ids on stationary bases.
        unseen: roster ids of the men of the team that snaps or kicks who are not seen on the board.

    """

    field: FieldModel
    direction: Literal[-1, 1]
    line_yd: float
    men: tuple[Man, ...]
    beside: tuple[Man, ...] = ()
    jersey: Jersey = "dark"
    carrier: str | None = None
    gunners: tuple[str, ...] = ()
    returner: str | None = None
    stationary: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def offense(self) -> tuple[Man, ...]:
        """The men of the team that snaps or kicks."""
        return tuple(man for man in self.men if man.offense)

    @property
    def defense(self) -> tuple[Man, ...]:
        """The other team's."""
        return tuple(man for man in self.men if not man.offense)

    def in_role(self, *roles: str, offense: bool = True) -> tuple[Man, ...]:
        """The men of one team in any of these roles."""
        return tuple(man for man in self.men if man.offense == offense and man.role in roles)

    def man(self, player_id: str | None) -> Man | None:
        """The man with this roster id, if he is on the field."""
        return next((man for man in self.men if man.id == player_id), None)

    def across_yd(self, mm: float) -> float:
        """A distance across the field in its yards."""
        return mm / self.field.mm_per_yd_y

    def along_yd(self, mm: float) -> float:
        """A distance along the field in its yards."""
        return mm / self.field.mm_per_yd_x

    def own_yd(self, u_mm: float) -> float:
        """A place along the field in yards from the offense's own goal line."""
        from_goal = self.line_yd if self.direction == 1 else self.field.length_yd - self.line_yd
        return from_goal + u_mm / self.field.mm_per_yd_x


def formation(
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
    stationary: tuple[str, ...] = (),
) -> Formation:
    """The formation on a scene.

    Men held in a hand are left out, and so is whoever stands off the field.

    Args:
        scene: the board at the instant to judge.
        roster: everybody on the board.
        field: the printed field.
        offense: the jersey of the team that snaps or kicks.
        direction: which way that team goes along x of the board.
        line_yd: line of scrimmage, or the spot of a kick, in field yards along x of the board.
        carrier: roster id announced to have the ball.
        gunners: roster ids declared on a punt.
        returner: roster id of the returner, where one is named.
        stationary: roster ids on stationary bases.

    Raises:
        InputError: the scene has a figure the roster does not.

    """
    players = {player.id: player for player in roster}
    men = []
    for figure in scene.figures:
        if figure.id not in players:
            raise InputError(f"figure '{figure.id}' is not in the roster")
        if figure.posture != "lifted":
            men.append(_man(figure, players[figure.id], field, offense, direction, line_yd))
    on_field = [man for man in men if man.inside_mm > 0]
    beside = tuple(man for man in men if -man.length_mm < man.inside_mm <= 0)
    roles = roles_of([_spot(man) for man in on_field], field.mm_per_yd_x, field.mm_per_yd_y, field.width_mm / 2)
    named = tuple(
        dataclasses.replace(man, role=role, inferred=inferred)
        for man, (role, inferred) in zip(on_field, roles, strict=True)
    )
    seen = {figure.id for figure in scene.figures}
    unseen = tuple(player.id for player in roster if player.jersey == offense and player.id not in seen)
    return Formation(field, direction, line_yd, named, beside, offense, carrier, gunners, returner, stationary, unseen)


def _man(
    figure: Figure, player: Player, field: FieldModel, offense: Jersey, direction: Literal[-1, 1], line_yd: float
) -> Man:
    lineup_mm = line_yd * field.mm_per_yd_x
    down, up = outermost_x(figure, direction), outermost_x(figure, -direction)
    left, right = outermost_y(figure, direction), outermost_y(figure, -direction)
    facing = figure.heading_deg if direction == 1 else figure.heading_deg + 180
    return Man(
        player=player,
        figure=figure,
        offense=figure.jersey == offense,
        u_mm=direction * (figure.x_mm - lineup_mm),
        v_mm=_across(figure.y_mm, field, direction),
        facing_deg=wrap_deg(facing),
        upfield_mm=direction * (up.x_mm - lineup_mm),
        downfield_mm=direction * (down.x_mm - lineup_mm),
        low_mm=_across(right.y_mm, field, direction),
        high_mm=_across(left.y_mm, field, direction),
        sigma_u_mm=max(down.sigma_mm, up.sigma_mm),
        sigma_v_mm=max(left.sigma_mm, right.sigma_mm),
        inside_mm=_inside(max(down.x_mm, up.x_mm), min(down.x_mm, up.x_mm), left.y_mm, right.y_mm, field),
    )


def _across(y_mm: float, field: FieldModel, direction: int) -> float:
    return y_mm if direction == 1 else field.width_mm - y_mm


def _inside(high_x: float, low_x: float, left_y: float, right_y: float, field: FieldModel) -> float:
    """How far a base with these extents reaches into the field and its end zones."""
    zone = field.end_zone_mm
    ends = min(high_x + zone, field.length_mm + zone - low_x)
    return min(ends, max(left_y, right_y), field.width_mm - min(left_y, right_y))


def _spot(man: Man) -> Spot:
    return Spot(man.player.role, man.offense, man.depth_mm, man.v_mm, man.low_mm, man.high_mm)
