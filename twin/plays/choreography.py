"""Movement of hands over the table: in from their coach's side, around a figure, and out again.

The methods are generators that yield the visible hand and stick tick by tick, and move the figure in the world along
with them. The home coach sits at the lower side of the board, the away coach at the upper one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint
from downfield.core.mathematics import wrap_deg
from downfield.officiating.declarations import Side
from downfield.twin.physics.world import World
from downfield.twin.table.snapshot import HandPose, StickPose, Vector

GRIP_MM: Final = 34.0  # height at which fingers hold a figure: by its helmet and shoulders

LIFT_MM: Final = 35.0  # height to which a figure is lifted when it is carried to another place

_HOVER_MM = 90.0  # height of a hand outside the board
_OUT_MM = 140.0  # distance outside the board's edge from which a hand comes
_ELBOW_MM = (260.0, 150.0)  # farther out than the edge, and up
_REACH = 0.45  # shares of a move's time: reaching, then handling
_STICK_UP_MM = 45.0  # height from which a stick is laid down


@dataclass(frozen=True, slots=True)
class HandView:
    """The visible hand and stick over the board at one tick."""

    hand: HandPose
    stick: StickPose | None = None


@dataclass(frozen=True, slots=True)
class Coach:
    """One coach's hands at a table."""

    world: World
    field: FieldModel
    by: Side  # the coach's side
    tick_s: float  # time from one yield to the next

    def handle(self, id_: str, goal: Footprint | None, tip: Vector | None, seconds: float) -> Iterator[HandView]:
        """Reach for a figure, move it and let go of it.

        Args:
            id_: roster id; one that is not on the board is brought from outside.
            goal: pose at which it is set down; None takes it away.
            tip: start of the fingertips; None for outside the board.

        Raises:
            ScriptError: there is no room for it.
        """
        on_board = any(figure.id == id_ for figure in self.world.snapshot().figures)
        if not on_board and goal is None:
            raise ScriptError(f"{id_} can't be taken away: it is not on the board")
        start = self.world.footprint(id_) if on_board else self._outside(goal)
        end = self._outside(start) if goal is None else goal
        grip = (start.x_mm, start.y_mm, GRIP_MM if on_board else _HOVER_MM)
        if on_board:
            yield from self._glide(self.outside(start.x_mm) if tip is None else tip, grip, _REACH * seconds)
        carried = math.dist((start.x_mm, start.y_mm), (end.x_mm, end.y_mm)) > start.size.width_mm
        turn = wrap_deg(end.heading_deg - start.heading_deg)
        for share in self._ramp((1 - _REACH) * seconds):
            x = start.x_mm + (end.x_mm - start.x_mm) * share
            y = start.y_mm + (end.y_mm - start.y_mm) * share
            lift = LIFT_MM * math.sin(math.pi * share) if carried else 0.0
            self.world.hold(id_, x, y, start.heading_deg + turn * share, lift)
            yield HandView(self._hand((x, y, GRIP_MM + lift), id_))
        if goal is None:
            self.world.remove(id_)
        else:
            self.world.place(id_, goal.x_mm, goal.y_mm, goal.heading_deg)

    def withdraw(self, tip: Vector, seconds: float) -> Iterator[HandView]:
        """Take the hand away from over the board."""
        yield from self._glide(tip, self.outside(tip[0]), seconds)

    def lay_stick(self, start: tuple[float, float], end: tuple[float, float], seconds: float) -> Iterator[HandView]:
        """Lay a stick, set the magnetic ball at its end, take the stick away."""
        for share in self._ramp(0.3 * seconds):
            yield self._with_stick(start, end, _STICK_UP_MM * (1 - share), 1 - share)
        self.world.put_ball("magnetic", *end)
        for _ in self._ramp(0.4 * seconds):
            yield self._with_stick(start, end, 0.0, 0.0)
        for share in self._ramp(0.3 * seconds):
            yield self._with_stick(start, end, _STICK_UP_MM * share, share)

    def outside(self, x_mm: float) -> Vector:
        """Return the place beside the board where a hand comes from and goes to."""
        _, low, _, high = self.field.board_mm
        return (x_mm, low - _OUT_MM if self.by == "home" else high + _OUT_MM, _HOVER_MM)

    def _outside(self, base: Footprint | None) -> Footprint:
        assert base is not None
        x, y, _ = self.outside(base.x_mm)
        return Footprint(x, y, base.heading_deg, base.size)

    def _with_stick(self, start: tuple[float, float], end: tuple[float, float], up_mm: float, away: float) -> HandView:
        """Return the stick with the hand at its end; at `away` 1 both are half a reach toward the coach."""
        x_out, y_out, _ = self.outside(end[0])
        dx, dy = 0.3 * away * (x_out - end[0]), 0.3 * away * (y_out - end[1])
        stick = StickPose((start[0] + dx, start[1] + dy, 2.0 + up_mm), (end[0] + dx, end[1] + dy, 2.0 + up_mm))
        return HandView(self._hand((end[0] + dx, end[1] + dy, 8.0 + up_mm), None), stick)

    def _glide(self, start: Vector, end: Vector, seconds: float) -> Iterator[HandView]:
        for share in self._ramp(seconds):
            # Highest in the middle, over the heads of the figures on the way.
            up = 30.0 * math.sin(math.pi * share)
            x, y, z = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            yield HandView(self._hand((x, y, z + up), None))

    def _hand(self, tip: Vector, holds: str | None) -> HandPose:
        _, low, _, high = self.field.board_mm
        middle = self.field.length_mm / 2
        y = low - _ELBOW_MM[0] if self.by == "home" else high + _ELBOW_MM[0]
        return HandPose(tip, (tip[0] + 0.2 * (middle - tip[0]), y, _ELBOW_MM[1]), holds)

    def _ramp(self, seconds: float) -> Iterator[float]:
        """Yield shares of a smooth motion from above 0 to 1: slow, fast, slow."""
        ticks = max(1, round(seconds / self.tick_s))
        for tick in range(1, ticks + 1):
            share = tick / ticks
            yield share * share * (3 - 2 * share)
