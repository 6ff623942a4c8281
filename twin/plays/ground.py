"""Play frame to board frame: yards ahead of the line of scrimmage and across from the middle, to millimeters."""

from __future__ import annotations

from dataclasses import dataclass, replace

from downfield.core.angles import wrap_deg
from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint
from downfield.core.scene import Jersey, Player
from downfield.twin.plays.script import Point, Stance

OFFENSE: Jersey = "dark"
"""The offense wears dark on the twin's table."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Location and direction of a play on the field.

    Attributes:
        field: the printed field.
        line_yd: line of scrimmage, field yards along x of the board.
        direction: 1 when the offense goes toward larger x, -1 toward smaller x.
    """

    field: FieldModel
    line_yd: float
    direction: int

    def at_line(self, line_yd: float) -> Ground:
        """Return the same ground at another line of scrimmage."""
        return replace(self, line_yd=line_yd)

    def point_mm(self, point: Point) -> tuple[float, float]:
        """Convert a place in the play frame, yards, to the board frame, mm."""
        x_yd = self.line_yd + self.direction * point[0]
        y_yd = self.field.width_yd / 2 + self.direction * point[1]
        return x_yd * self.field.mm_per_yd_x, y_yd * self.field.mm_per_yd_y

    def heading_deg(self, heading_deg: float) -> float:
        """Convert a heading in the play frame to the board frame, or back: the conversion is its own inverse."""
        return wrap_deg(heading_deg + (0.0 if self.direction == 1 else 180.0))

    def foremost_yd(self, base: Footprint) -> float:
        """Return the distance of a base's most advanced part ahead of the line, yards."""
        return self._reach_yd(base, 1)

    def rearmost_yd(self, base: Footprint) -> float:
        """Return the distance of a base's rearmost part ahead of the line, yards."""
        return self._reach_yd(base, -1)

    def _reach_yd(self, base: Footprint, sign: int) -> float:
        toward = sign * self.direction
        reach_mm = toward * base.reach_mm(0.0 if toward == 1 else 180.0)
        return self.direction * (reach_mm / self.field.mm_per_yd_x - self.line_yd)

    def stand(self, player: Player, stance: Stance) -> Footprint:
        """Return the placement of a figure's base.

        Raises:
            ScriptError: it would not be on the board.
        """
        offense = player.jersey == OFFENSE
        facing = (0.0 if offense else 180.0) if stance.heading_deg is None else stance.heading_deg
        x_mm, y_mm = self.point_mm((stance.ahead_yd, stance.across_yd))
        base = Footprint(x_mm, y_mm, self.heading_deg(facing), player.base)
        if stance.at == "front":
            reach = self.foremost_yd(base) if offense else self.rearmost_yd(base)
            shift_mm = self.direction * (stance.ahead_yd - reach) * self.field.mm_per_yd_x
            base = replace(base, x_mm=x_mm + shift_mm)
        low_x, low_y, high_x, high_y = self.field.board_mm
        corners = base.corners_mm()
        if corners[:, 0].min() < low_x or corners[:, 0].max() > high_x:
            raise ScriptError(f"{player.id} stands off the board's end, {stance.ahead_yd:g} yd ahead of the line")
        if corners[:, 1].min() < low_y or corners[:, 1].max() > high_y:
            raise ScriptError(f"{player.id} stands off the board's side, {stance.across_yd:g} yd across")
        return base
