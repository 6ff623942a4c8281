"""The true history of a play: positions and events by instant, such as a base's position when it was touched."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace

from downfield.core.errors import ScriptError
from downfield.core.footprint import Footprint
from downfield.twin.physics.outlines import Bases
from downfield.twin.physics.poses import Poses, between
from downfield.twin.physics.truth import Truth
from downfield.twin.physics.truth_file import Condition, TruthEvent
from downfield.twin.physics.world import World
from downfield.twin.plays.ground import Ground


class PlayHistory:
    """Records where everything is at every step of a world, from now on.

    Attributes:
        ground: where the play is; the last one after cuts.
        marks: instants that the script recorded, ns.
    """

    def __init__(self, world: World, truth: Truth, ground: Ground, marks: Mapping[str, int]) -> None:
        self.ground = ground
        self.marks = marks
        self._truth = truth
        self._bases = Bases(world.players)
        self._hand_mm = {player.id: player.hand_mm or (0.0, 0.0) for player in world.players}
        self._rows = {player.id: row for row, player in enumerate(world.players)}
        self._poses: list[Poses] = []
        world.watch(self._keep)

    @property
    def end_ns(self) -> int:
        """The latest step's time."""
        return self._poses[-1].t_ns

    def footprint(self, player: str, t_ns: int) -> Footprint:
        """Return the footprint of a figure's base at an instant."""
        after = min(bisect_left(self._poses, t_ns, key=lambda poses: poses.t_ns), len(self._poses) - 1)
        poses = between(self._poses[max(after - 1, 0)], self._poses[after], t_ns)
        return self._bases.outlines(poses).footprint(self._rows[player])

    def when(self, condition: Condition, player: str, other: str | None = None, *, after_ns: int = 0) -> int:
        """Return the instant at which an event first happened.

        Raises:
            ScriptError: it did not happen.
        """
        event = next((event for event in self._events(condition, player, other) if event.t_ns >= after_ns), None)
        if event is None:
            raise ScriptError(f"{player} never {condition}" + (f" {other}" if other else ""))
        return event.t_ns

    def foremost_yd(self, player: str, t_ns: int) -> tuple[float, float]:
        """Return the most downfield part of a base, field yards, with its center's place across."""
        base = self.footprint(player, t_ns)
        field, toward = self.ground.field, self.ground.direction
        x_mm = toward * base.reach_mm(0.0 if toward == 1 else 180.0)
        return x_mm / field.mm_per_yd_x, base.y_mm / field.mm_per_yd_y

    def hand_yd(self, player: str, t_ns: int) -> tuple[float, float]:
        """Return the place of a figure's carrying hand, field yards."""
        base, (ahead, left) = self.footprint(player, t_ns), self._hand_mm[player]
        turn = math.radians(base.heading_deg)
        x_mm = base.x_mm + ahead * math.cos(turn) - left * math.sin(turn)
        y_mm = base.y_mm + ahead * math.sin(turn) + left * math.cos(turn)
        return x_mm / self.ground.field.mm_per_yd_x, y_mm / self.ground.field.mm_per_yd_y

    def _events(self, condition: Condition, player: str, other: str | None) -> list[TruthEvent]:
        pair = tuple(sorted((player, other))) if other and condition != "touched_ball" else (player, other)
        return [
            event for event in self._truth.events if event.type == condition and (event.player, event.other) == pair
        ]

    def _keep(self, poses: Poses) -> None:
        """Append a step; a change by a hand, not later than the latest step, replaces it."""
        latest = self._poses[-1].t_ns if self._poses else -1
        if poses.t_ns <= latest:
            self._poses[-1] = replace(poses, t_ns=latest)
        else:
            self._poses.append(poses)
