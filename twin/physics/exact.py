"""A table whose figures walk on exact geometric paths: for plays with truth to hundredths of a millimeter.

It is a `World` without forces. While the board is on a figure walks straight, with its curl, toward a target or along
a polyline, and never wanders. Bases never overlap: two that meet stop at a gap of 0 (to `STOP_GAP_MM`) and move on only
where that does not close the gap. A toppled figure tips over its base's edge. Nothing depends on chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize, gaps_mm
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Player
from downfield.twin.physics.body import STEP_NS, Placement, Trait
from downfield.twin.physics.engine import Drive, PhysicsEngine
from downfield.twin.physics.outlines import cores_mm
from downfield.twin.physics.poses import level_rotation
from downfield.twin.physics.world import World

STOP_GAP_MM: Final = 1e-6  # the largest gap at which two bases that meet are stopped

_MARGIN_MM = 4.0  # pairs farther apart than this can't meet within a step
_HALVINGS = 60  # of a step's share, more than float64 resolves

Poses2D = Array  # centers and headings of bases: x mm, y mm, degrees; shape (n, 3)

STEPS_AT_ONCE: Final = 4  # physics steps that are taken as one: 8 ms, in which a figure at 150 mm/s walks 1.2 mm

FALL_S: Final = 0.12  # duration of a fall: three or four frames

LYING_DEG: Final = 82.0  # tilt of a fallen figure: its shoulder keeps it from lying flat

TURN_DEG_S: Final = 240.0  # turning rate of a figure that is steered or follows a bend

Pose2D = tuple[float, float, float]  # a base's center and heading: x mm, y mm, degrees


@dataclass(frozen=True, slots=True)
class Crowd:
    """The sizes of some bases."""

    half_mm: Array  # half lengths and widths of the core rectangles, shape (n, 2)
    corner_mm: Array  # radii of their corners, shape (n,)

    @classmethod
    def of(cls, sizes: list[BaseSize]) -> Crowd:
        """Return the crowd of bases of these sizes."""
        corner = np.array([size.corner_mm for size in sizes])
        sides = np.array([(size.length_mm, size.width_mm) for size in sizes]).reshape(-1, 2)
        return cls(sides / 2 - corner[:, None], corner)

    def shares(self, before: Poses2D, after: Poses2D) -> Array:
        """Return the share of its move from `before` to `after` that each base may make, 0..1, shape (n,).

        Two bases that would overlap both stop where they touch; bases that touch already and push on stay.
        """
        share = np.ones(len(before))
        pairs = self._near(before, after)
        if not len(pairs):
            return share
        gap_before = self._gaps(before, pairs)
        while True:
            now = before + share[:, None] * (after - before)
            clash = self._gaps(now, pairs) < np.minimum(0.0, gap_before - STOP_GAP_MM)
            clash &= (share[pairs] > 0).any(axis=1)
            if not clash.any():
                return share
            for pair, gap in zip(pairs[clash], gap_before[clash], strict=True):
                share[pair] *= self._touching_share(before[pair], now[pair], pair, gap)

    def _near(self, before: Poses2D, after: Poses2D) -> NDArray[np.intp]:
        """Return the pairs that might meet and of which at least one moves; shape (m, 2)."""
        reach = np.hypot(*self.half_mm.T) + self.corner_mm
        apart = np.linalg.norm(after[:, None, :2] - after[None, :, :2], axis=2) - reach[:, None] - reach
        moves = (before != after).any(axis=1)
        return np.argwhere(np.triu(apart < _MARGIN_MM, k=1) & (moves[:, None] | moves))

    def _gaps(self, poses: Poses2D, pairs: NDArray[np.intp]) -> Array:
        cores = cores_mm(poses[:, :2], poses[:, 2], self.half_mm)
        a, b = pairs.T
        return gaps_mm(cores[a], cores[b], (poses[a, 2], poses[b, 2]), self.corner_mm[a] + self.corner_mm[b])

    def _touching_share(self, before: Poses2D, after: Poses2D, pair: NDArray[np.intp], gap_before: float) -> float:
        if gap_before <= 2 * STOP_GAP_MM:
            return 0.0
        two, low, high = Crowd(self.half_mm[pair], self.corner_mm[pair]), 0.0, 1.0
        only = np.array([[0, 1]])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            gap = float(two._gaps(before + middle * (after - before), only)[0])
            if 0.0 <= gap <= STOP_GAP_MM:
                return middle
            low, high = (middle, high) if gap > 0 else (low, middle)
        return low


@dataclass(slots=True)
class _Route:
    """The rest of a polyline, and how it is walked."""

    points_mm: tuple[tuple[float, float], ...]
    heading_deg: float | None
    speed_mm_s: float


@dataclass(slots=True)
class _Fall:
    """A fall: from where, over which edge, since when."""

    start: Pose2D
    tip_deg: float
    since_steps: int


class ExactWorld(World):
    """A table of figures on exact paths, with the methods of the physics and `route`.

    Args:
        placements: by roster id, where figures stand at the start.
        traits: of the figures; only speed, curl and stationary bases are used.
    """

    def __init__(
        self,
        players: Sequence[Player],
        placements: Mapping[str, Placement],
        traits: Mapping[str, Trait],
        *,
        field: FieldModel,
    ) -> None:
        self._paths = _PathEngine(players, field)
        super().__init__(players, placements, traits, field=field, seed=0, engine=self._paths)

    def steer(self, id_: str, target: str | tuple[float, float] | None) -> None:
        """Steer a walking figure toward another, or toward a point, mm; None lets it curl freely again."""
        super().steer(id_, target)
        self._paths.routes.pop(self._row(id_), None)

    def route(
        self,
        id_: str,
        points_mm: Sequence[tuple[float, float]],
        *,
        heading_deg: float | None = None,
        speed_mm_s: float | None = None,
    ) -> None:
        """Send a figure along a polyline of base centers from where it stands; it stops at the end.

        Args:
            points_mm: the polyline, board frame.
            heading_deg: kept along the whole path; None turns the figure into each leg.
            speed_mm_s: None is its trait's.
        """
        speed = self.trait(id_).speed_mm_s if speed_mm_s is None else speed_mm_s
        self._paths.routes[self._row(id_)] = _Route(tuple(points_mm), heading_deg, speed)


class _PathEngine(PhysicsEngine):
    def __init__(self, players: Sequence[Player], field: FieldModel) -> None:
        self.routes: dict[int, _Route] = {}
        self._falls: dict[int, _Fall] = {}
        super().__init__(players, field)

    def put(self, row: int, position_mm: tuple[float, float, float], heading_deg: float, *, pinned: bool) -> None:
        """Place a body, upright and at rest."""
        self._falls.pop(row, None)
        super().put(row, position_mm, heading_deg, pinned=pinned)

    def knock(self, row: int, toward_deg: float, strength: float) -> None:
        """Tip a figure over the edge of its base that lies nearest a direction; the strength has no effect."""
        del strength
        self._falls.setdefault(row, _Fall(self._standing(row), 90.0 * round(toward_deg / 90.0), self.steps))

    def step(self, drive: Drive) -> None:
        """Advance by one long step."""
        self.steps += STEPS_AT_ONCE
        if self.power:
            self._walk(drive, STEPS_AT_ONCE * STEP_NS / 1e9)
        for row, fall in self._falls.items():
            self._tip(row, fall)

    def _walk(self, drive: Drive, seconds: float) -> None:
        """Move every figure by one step; figures that would overlap stop where they touch."""
        rows = [row for row in np.flatnonzero(self.on_board & ~self.held).tolist() if row not in self._falls]
        if not rows:
            return
        routes = dict(self.routes)
        before = np.array([self._standing(row) for row in rows])
        after = np.array([self._proposed(row, drive, seconds) for row in rows])
        share = Crowd.of([self._players[row].base for row in rows]).shares(before, after)
        moved = np.where(share[:, None] == 1.0, after, before + share[:, None] * (after - before))
        for row, (x, y, heading), part in zip(rows, moved.tolist(), share.tolist(), strict=True):
            self._q[row, :2] = x, y
            self._q[row, 3:] = level_rotation(heading)
            if part < 1 and row in routes:
                self.routes[row] = routes[row]

    def _standing(self, row: int) -> Pose2D:
        x, y, _, w, _, _, z = self._q[row].tolist()
        return x, y, math.degrees(2 * math.atan2(z, w))

    def _proposed(self, row: int, drive: Drive, seconds: float) -> Pose2D:
        x, y, heading = self._standing(row)
        if row in self.routes:
            return self._along_route(row, x, y, heading, seconds)
        way = float(drive.speed_mm_s[row]) * seconds
        if way == 0:
            return x, y, heading
        heading += math.degrees(drive.curl_rad_s[row]) * seconds
        goal_x, goal_y = drive.target_mm[row].tolist()
        if not math.isnan(goal_x):
            heading = _turned(heading, _bearing(x, y, goal_x, goal_y), TURN_DEG_S * seconds)
        turn = math.radians(heading)
        return x + way * math.cos(turn), y + way * math.sin(turn), heading

    def _along_route(self, row: int, x: float, y: float, heading: float, seconds: float) -> Pose2D:
        route = self.routes[row]
        if not route.points_mm:
            return x, y, heading
        way, points = route.speed_mm_s * seconds, list(route.points_mm)
        wanted = _bearing(x, y, *points[0]) if route.heading_deg is None else route.heading_deg
        heading = _turned(heading, wanted, TURN_DEG_S * seconds)
        while points and way > 0:
            leg = math.dist((x, y), points[0])
            if leg <= way:
                (x, y), way = points.pop(0), way - leg
            else:
                x, y, way = x + (points[0][0] - x) * way / leg, y + (points[0][1] - y) * way / leg, 0.0
        self.routes[row] = _Route(tuple(points), route.heading_deg, route.speed_mm_s)
        return x, y, heading

    def _tip(self, row: int, fall: _Fall) -> None:
        """Place a falling figure: its base swings back over the edge it tips about, and up."""
        share = min(1.0, (self.steps - fall.since_steps) * STEP_NS / 1e9 / FALL_S)
        angle, toward = math.radians(LYING_DEG * share**2), math.radians(fall.tip_deg)
        x, y, heading_deg = fall.start
        heading, size = math.radians(heading_deg), self._players[row].base
        reach = size.length_mm / 2 if abs(math.cos(toward)) > 0.5 else size.width_mm / 2
        level = reach * (1 - math.cos(angle))
        self._q[row, 0] = x + level * math.cos(heading + toward)
        self._q[row, 1] = y + level * math.sin(heading + toward)
        self._q[row, 2] = reach * math.sin(angle)
        # First the tip in the figure's own frame, about the edge to the left of the fall's direction; then the heading.
        half, turn = angle / 2, heading / 2
        axis_x, axis_y = -math.sin(toward) * math.sin(half), math.cos(toward) * math.sin(half)
        self._q[row, 3:] = (
            math.cos(turn) * math.cos(half),
            math.cos(turn) * axis_x - math.sin(turn) * axis_y,
            math.cos(turn) * axis_y + math.sin(turn) * axis_x,
            math.sin(turn) * math.cos(half),
        )


def _turned(heading_deg: float, wanted_deg: float, most_deg: float) -> float:
    off = wrap_deg(wanted_deg - heading_deg)
    return heading_deg + max(-most_deg, min(most_deg, off))


def _bearing(x0: float, y0: float, x1: float, y1: float) -> float:
    return math.degrees(math.atan2(y1 - y0, x1 - x0))
