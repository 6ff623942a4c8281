"""Conditions that a script waits for, evaluated on the current table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.core.scene import Player
from downfield.twin.measures import MAGNETIC_BALL_MM
from downfield.twin.physics.poses import FALLEN_DEG
from downfield.twin.physics.world import World
from downfield.twin.plays import script as do
from downfield.twin.plays.ground import Ground

_BALL = BaseSize(2 * MAGNETIC_BALL_MM[0], 2 * MAGNETIC_BALL_MM[0], 0.0, MAGNETIC_BALL_MM[0])
_NEAR_MM = 60.0


@dataclass(frozen=True, slots=True)
class ConditionChecker:
    """Evaluates a script's conditions on a table.

    Attributes:
        world: the table.
        ground: where the play is.
        players: the roster by id.
        touching_mm: bases this near touch, as the truth has it.

    """

    world: World
    ground: Ground
    players: Mapping[str, Player]
    touching_mm: float

    def holds(self, condition: do.Condition) -> bool:
        """Return whether a condition holds now."""
        match condition:
            case do.BasesTouch(a, b):
                return self._touch(self.world.footprint(a), self.world.footprint(b))
            case do.Engaged(player):
                return self._engaged(player)
            case do.BallTouched():
                return self._ball_touched()
            case do.Reaches(player, ahead_yd):
                return self.ground.foremost_yd(self.world.footprint(player)) >= ahead_yd
            case do.Passes(player, ahead_yd):
                return self.ground.rearmost_yd(self.world.footprint(player)) > ahead_yd
            case do.TouchesSideline(player):
                return self._on_sideline(player)
            case do.RunnerTurnsBack(player):
                heading = self.ground.heading_deg(self.world.footprint(player).heading_deg)
                return abs(heading) > 90.0
            case do.Fallen(player):
                return self.world.tilt_deg(player) > FALLEN_DEG

    def _touch(self, a: Footprint, b: Footprint) -> bool:
        near = math.dist((a.x_mm, a.y_mm), (b.x_mm, b.y_mm)) <= _NEAR_MM
        return near and signed_gap(a, b).gap_mm <= self.touching_mm

    def _engaged(self, player: str) -> bool:
        here, jersey = self.world.footprint(player), self.players[player].jersey
        return any(
            self._touch(here, self.world.footprint(other)) and self.world.tilt_deg(other) <= FALLEN_DEG
            for other in self._near((here.x_mm, here.y_mm))
            if self.players[other].jersey != jersey
        )

    def _ball_touched(self) -> bool:
        ball = self.world.snapshot().ball
        if ball is None or ball.kind != "magnetic":
            return False
        x, y, _ = ball.position_mm
        disc = Footprint(x, y, 0.0, _BALL)
        return any(self._touch(self.world.footprint(id_), disc) for id_ in self._near((x, y)))

    def _near(self, place_mm: tuple[float, float]) -> tuple[str, ...]:
        """Return the figures on the board that are near enough to touch something at a place."""
        return tuple(
            figure.id
            for figure in self.world.snapshot().figures
            if not figure.in_hand and math.dist(figure.position_mm[:2], place_mm) <= _NEAR_MM
        )

    def _on_sideline(self, player: str) -> bool:
        base = self.world.footprint(player)
        low, high = -base.reach_mm(-90.0), base.reach_mm(90.0)
        return low <= 0.0 or high >= self.ground.field.width_mm
