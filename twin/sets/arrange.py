"""Tables at one instant, arranged without physics: lines, engaged piles, fallen figures.

Plays of the physics show likely situations; these show rare ones often enough to train on: falls of every kind, bases
locked together, hands, sticks and the ball in every state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint, signed_gap, signed_gaps
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Player
from downfield.twin.table.appearance import Appearance, FigureAppearance, Solid
from downfield.twin.table.snapshot import (
    HAND_MM,
    MAGNETIC_BALL_MM,
    BallPose,
    FigurePose,
    HandPose,
    Quaternion,
    Snapshot,
    StickPose,
)
from downfield.twin.table.solids import cloud, quaternion_of

_NEAR_MM = 45.0  # centers farther apart than this are clear of each other
_TRIES = 60  # for a free place; the second half of them spreads figures more widely
_ROOM_MM = 26.0  # distance of other bases' centers from a lying figure's middle,
_TIGHT_MM = 14.0  # and where many lie: on others' bases and under their arms
_PILED_MM = (4.0, 18.0)  # and where they lie in piles
_FLUSH_CHANCE = (0.0, 0.0, 0.25, 0.6)  # of standing flush with a figure of the same team, by table
_UNDER_CHANCE, _UNDER_MM, _LINE_CHANCE, _LINES = 0.2, 9.0, 0.3, 20  # of a ball under a body, or on one of the lines
_GRIP_MM = 30.0  # height of the fingertips that hold a figure
_FLAT_MM = 0.3  # what rises less over the board is no obstacle


@dataclass(frozen=True, slots=True)
class Mix:
    """Chances and ranges of arranged tables."""

    fallen_chance: float = 0.55  # of a table with fallen figures
    most_fallen: int = 5  # largest number of them there
    # each figure's chance to lie; above 0 it replaces the two before, and others may stand nearer to fallen figures
    fallers: float = 0.0
    hand_chance: float = 0.3  # hand_chance, second_hand_chance: of a hand, and of a second one where there is one
    second_hand_chance: float = 0.2
    stick_chance: float = 0.12  # of a passing stick
    # carried_chance, magnetic_chance, loose_chance: of the ball in each state; the rest has no ball
    carried_chance: float = 0.45
    magnetic_chance: float = 0.2
    loose_chance: float = 0.3
    walking_chance: float = 0.7  # of a switched-on board, where no hand is over it
    piled: bool = False  # whether figures lie on bases, teams stand flush, and balls lie under bodies and on lines


class Arranger:
    """Arranges one appearance's roster.

    Args:
        appearance: of the table: its field and figures are arranged.
        mix: chances and ranges; None for the defaults.
        obstacles_mm: things on the board that bases stand clear of: x, y, reach, shape (n, 3); None for none.
    """

    def __init__(
        self,
        appearance: Appearance,
        players: Sequence[Player],
        rng: np.random.Generator,
        mix: Mix | None = None,
        obstacles_mm: Array | None = None,
    ) -> None:
        self._appearance, self._players, self._rng, self._mix = appearance, tuple(players), rng, mix or Mix()
        self._field = appearance.field
        self._room_mm = _ROOM_MM
        self._obstacles_mm = np.zeros((0, 3)) if obstacles_mm is None else obstacles_mm

    def arrange(self, t_ns: int, step_ns: int) -> tuple[Snapshot, Snapshot, Snapshot]:
        """Return one table at an instant, one step earlier and one step later.

        Args:
            step_ns: time between two frames: moving figures move by their speed times this.
        """
        rng, mix = self._rng, self._mix
        fallen = self._fallers()
        bases = self._bases(fallen)
        hands = self._hands(bases)
        held = {hand.holds for hand in hands}
        poses = [self._pose(i, base, lying=i in fallen, held=name in held) for i, (name, base) in enumerate(bases)]
        if mix.piled:
            poses = [self._raised(i, poses[i], bases, fallen) if i in fallen else poses[i] for i in range(len(poses))]
        ball = self._ball(poses, fallen)
        walking = not hands and rng.random() < mix.walking_chance
        sticks = self._sticks(bases) if rng.random() < mix.stick_chance else ()
        speeds = [rng.uniform(15, 130) if walking and i not in fallen else 0.0 for i in range(len(poses))]

        def at(lag_ns: int) -> Snapshot:
            moved = tuple(_ahead(pose, speed * lag_ns * 1e-9) for pose, speed in zip(poses, speeds, strict=True))
            carriers = (pose for pose in moved if ball is not None and pose.id == ball.carrier)
            carried = next((_in_hand(pose) for pose in carriers), ball)
            return Snapshot(t_ns + lag_ns, walking, moved, carried, hands, sticks)

        return at(-step_ns), at(0), at(step_ns)

    def _fallers(self) -> set[int]:
        """Return the fallen figures, and the least distance of others from them."""
        rng, mix = self._rng, self._mix
        if mix.fallers > 0:
            self._room_mm = rng.uniform(*(_PILED_MM if mix.piled else (_TIGHT_MM, _ROOM_MM)))
            return self._choose(int(rng.binomial(len(self._players), mix.fallers)))
        return self._choose(int(rng.integers(1, mix.most_fallen + 1))) if rng.random() < mix.fallen_chance else set()

    def _choose(self, count: int) -> set[int]:
        return {int(i) for i in self._rng.choice(len(self._players), min(count, len(self._players)), replace=False)}

    # Bases

    def _bases(self, fallen: set[int]) -> list[tuple[str, Footprint]]:
        """Return the places of all bases, clear of each other; fallen figures get room to lie in."""
        rng = self._rng
        engaging = rng.choice([0.1, 0.35, 0.7])
        line_mm = rng.uniform(0.2, 0.8) * self._field.length_mm
        middle_mm = rng.uniform(0.3, 0.7) * self._field.width_mm
        toward = rng.choice([-1, 1])
        flush = rng.choice(_FLUSH_CHANCE) if self._mix.piled else 0.0
        placed: list[Footprint] = []
        rooms: list[tuple[float, float]] = []
        out = []
        for i, player in enumerate(self._players):
            others = [k for k in range(i) if self._players[k].jersey != player.jersey and k not in fallen]
            own = [k for k in range(i) if self._players[k].jersey == player.jersey and k not in fallen] if flush else []
            for attempt in range(_TRIES):
                if own and i not in fallen and attempt < _TRIES / 2 and rng.random() < flush:
                    base = self._abutting(placed[own[int(rng.integers(len(own)))]], player, flush=True)
                elif others and i not in fallen and rng.random() < engaging and attempt < _TRIES / 2:
                    base = self._abutting(placed[others[int(rng.integers(len(others)))]], player)
                else:
                    wide = 1.0 if attempt < _TRIES / 2 else 3.0
                    base = self._in_line(player, line_mm, middle_mm, toward, wide)
                if self._is_free(base, placed, rooms, lying=i in fallen):
                    break
            if i in fallen:
                rooms.append((base.x_mm, base.y_mm))
            placed.append(base)
            out.append((player.id, base))
        return out

    def _in_line(self, player: Player, line_mm: float, middle_mm: float, toward: int, wide: float) -> Footprint:
        """Return a place on the figure's own side of the line of scrimmage, roughly facing it."""
        rng = self._rng
        side = -toward if player.jersey == "dark" else toward
        back_mm = 18 + abs(rng.normal(0, 70 * wide))
        x = line_mm + side * back_mm + rng.normal(0, 12 * wide)
        y = middle_mm + rng.normal(0, 0.24 * wide * self._field.width_mm)
        heading = math.degrees(rng.normal(0, 0.5 * wide)) + (0 if side < 0 else 180)
        return Footprint(float(x), float(y), float(wrap_deg(heading)), player.base)

    def _abutting(self, other: Footprint, player: Player, *, flush: bool = False) -> Footprint:
        """Return a place against another base, most often at its front; flush: side by side, facing the same way."""
        rng = self._rng
        if flush:
            bearing = math.radians(other.heading_deg + rng.choice([90, -90, 90, -90, 0, 180]) + rng.normal(0, 4))
            heading, gap_mm, off_mm = other.heading_deg + rng.normal(0, 5), rng.uniform(0.02, 0.5), rng.normal(0, 3)
        else:
            bearing = math.radians(other.heading_deg + rng.choice([0, 0, 0, 90, -90, 180]) + rng.normal(0, 25))
            heading = math.degrees(bearing) + 180 + rng.normal(0, 30)
            gap_mm, off_mm = max(0.02, rng.uniform(-0.5, 1.5)), rng.uniform(-9, 9)
        way = np.array([math.cos(bearing), math.sin(bearing)])
        aside = np.array([-way[1], way[0]]) * off_mm

        def at(away_mm: float) -> Footprint:
            x, y = np.array([other.x_mm, other.y_mm]) + way * away_mm + aside
            return Footprint(float(x), float(y), float(wrap_deg(heading)), player.base)

        away_mm = 45.0
        for _ in range(6):  # the gap shrinks at most as fast as the distance, so this approaches it from outside
            away_mm -= signed_gap(other, at(away_mm)).gap_mm - gap_mm
        return at(away_mm)

    def _is_free(
        self, base: Footprint, placed: list[Footprint], rooms: list[tuple[float, float]], *, lying: bool
    ) -> bool:
        x_low, y_low, x_high, y_high = self._field.board_mm
        corners, edge = base.corners_mm(), 12.0 if lying else 0.5
        if (corners < (x_low + edge, y_low + edge)).any() or (corners > (x_high - edge, y_high - edge)).any():
            return False
        if any(math.hypot(base.x_mm - x, base.y_mm - y) < self._room_mm for x, y in rooms):
            return False
        if _meets(base, self._obstacles_mm):
            return False
        reach = self._room_mm + 4 if lying else _NEAR_MM
        near = [o for o in placed if math.hypot(base.x_mm - o.x_mm, base.y_mm - o.y_mm) < reach]
        if lying or not near:
            return not near
        return min(gap.gap_mm for gap in signed_gaps([base] * len(near), near)) > 0.0

    # Figures

    def _pose(self, i: int, base: Footprint, *, lying: bool, held: bool) -> FigurePose:
        rng = self._rng
        if lying:
            rotation, place = lie(self._appearance.figures[i], base, float(rng.choice([0, 90, 90, -90, -90, 180])), rng)
            return FigurePose(self._players[i].id, place, rotation)
        lift = rng.uniform(0, 30) if held and rng.random() < 0.5 else 0.0
        turn = Rotation.from_euler("z", base.heading_deg, degrees=True)
        turn = turn * Rotation.from_rotvec(np.radians([*rng.normal(0, 6 if lift else 0.4, 2), 0.0]))
        lowest = float((turn.as_matrix() @ _underside(base).T)[2].min())
        return FigurePose(self._players[i].id, (base.x_mm, base.y_mm, float(lift) - lowest), quaternion_of(turn), held)

    def _raised(self, i: int, pose: FigurePose, bases: list[tuple[str, Footprint]], fallen: set[int]) -> FigurePose:
        """Return the pose of one who lies, on top of the bases under him."""
        turn = Rotation.from_quat(pose.rotation, scalar_first=True)
        points = turn.apply(cloud(self._appearance.figures[i].solids).reshape(-1, 3)) + pose.position_mm
        points[:, 2] = 0.0  # their reach
        under = [base for k, (_, base) in enumerate(bases) if k not in fallen and _meets(base, points)]
        (x, y, z), raised = pose.position_mm, max((base.size.height_mm for base in under), default=0.0)
        return replace(pose, position_mm=(x, y, z + raised))

    # Ball, hands, sticks

    def _ball(self, poses: list[FigurePose], fallen: set[int]) -> BallPose | None:
        rng, mix = self._rng, self._mix
        kind = rng.random()
        if kind < mix.carried_chance:
            return _in_hand(poses[int(rng.integers(len(poses)))])
        pose = poses[int(rng.integers(len(poses)))]
        spot = np.array(pose.position_mm[:2]) + rng.normal(0, 45, 2)
        if mix.piled and fallen and rng.random() < _UNDER_CHANCE:
            spot = np.array(poses[int(rng.choice(sorted(fallen)))].position_mm[:2]) + rng.normal(0, _UNDER_MM, 2)
        elif mix.piled and rng.random() < _LINE_CHANCE:
            spot[0] = rng.integers(_LINES + 1) * self._field.length_mm / _LINES + rng.normal(0, 2)
        x_low, y_low, x_high, y_high = self._field.board_mm
        x, y = np.clip(spot, (x_low + 8, y_low + 8), (x_high - 8, y_high - 8)).tolist()
        if kind < mix.carried_chance + mix.magnetic_chance:
            return BallPose("magnetic", (x, y, MAGNETIC_BALL_MM[1]))
        if kind < mix.carried_chance + mix.magnetic_chance + mix.loose_chance:
            return BallPose("foam", (x, y, 2.5), quaternion_of(Rotation.from_euler("z", rng.uniform(0, 6.28))))
        return None

    def _hands(self, bases: list[tuple[str, Footprint]]) -> tuple[HandPose, ...]:
        rng, mix = self._rng, self._mix
        count = 0 if rng.random() >= mix.hand_chance else 1 + int(rng.random() < mix.second_hand_chance)
        return tuple(self._hand(bases) for _ in range(count))

    def _hand(self, bases: list[tuple[str, Footprint]]) -> HandPose:
        rng = self._rng
        name, base = bases[int(rng.integers(len(bases)))]
        holds = name if rng.random() < 0.6 else None
        x, y = base.x_mm, base.y_mm
        if holds is None:
            x, y = x + rng.normal(0, 40), y + rng.normal(0, 40)
        below = rng.random() < 0.5
        elbow = (x + rng.normal(0, 120), -260.0 if below else self._field.width_mm + 260.0, rng.uniform(70, 180))
        tip_z = _GRIP_MM + rng.uniform(0, 12 if holds else 60)
        return HandPose((float(x), float(y), float(tip_z)), (float(elbow[0]), elbow[1], float(elbow[2])), holds)

    def _sticks(self, bases: list[tuple[str, Footprint]]) -> tuple[StickPose, ...]:
        rng = self._rng
        _, base = bases[int(rng.integers(len(bases)))]
        turn, length = rng.uniform(0, 2 * math.pi), rng.uniform(35, 150)
        z = rng.uniform(1.5, 40)
        end = (base.x_mm + length * math.cos(turn), base.y_mm + length * math.sin(turn), float(z))
        return (StickPose((base.x_mm, base.y_mm, float(z)), end, float(rng.uniform(6, 14))),)


def _meets(base: Footprint, obstacles_mm: Array) -> bool:
    """Return whether any of the round obstacles, x, y and reach in mm, shape (n, 3), reaches under a base."""
    off = obstacles_mm[:, :2] - (base.x_mm, base.y_mm)
    way = math.radians(base.heading_deg)
    ahead = np.abs(off @ (math.cos(way), math.sin(way))) - base.size.length_mm / 2
    aside = np.abs(off @ (-math.sin(way), math.cos(way))) - base.size.width_mm / 2
    return bool((np.hypot(np.maximum(ahead, 0), np.maximum(aside, 0)) <= obstacles_mm[:, 2]).any())


def lie(
    figure: FigureAppearance, base: Footprint, way_deg: float, rng: np.random.Generator
) -> tuple[Quaternion, tuple[float, float, float]]:
    """Return the pose of a fallen figure at rest: tipped over an edge of its base until the player touches the board.

    Args:
        base: its place before the fall; the fallen figure is centered about it.
        way_deg: direction of the fall from its heading: 0 ahead, 90 left, 180 back, -90 right.

    Returns:
        Its attitude and the place of its frame's origin, board frame.
    """
    upright = Rotation.from_euler("z", base.heading_deg + rng.normal(0, 4), degrees=True)
    way = math.radians(way_deg)
    axis = np.array([-math.sin(way), math.cos(way), 0.0])
    body = cloud([solid for solid in figure.solids if solid.part != "base"]).reshape(-1, 3)
    under = _underside(base)
    block = np.concatenate([under, under + np.array([0.0, 0.0, base.size.height_mm])])
    for tip_deg in np.arange(60.0, 125.0, 1.5):
        turn = upright * Rotation.from_rotvec(axis * math.radians(tip_deg))
        matrix = turn.as_matrix()
        base_low, body_low = (block @ matrix.T)[:, 2].min(), (body @ matrix.T)[:, 2].min()
        if body_low <= base_low:
            break
    points = np.concatenate([block, body]) @ matrix.T
    x, y = np.array([base.x_mm, base.y_mm]) - (points[:, :2].min(axis=0) + points[:, :2].max(axis=0)) / 2
    return quaternion_of(turn), (float(x), float(y), float(-points[:, 2].min()))


def _underside(base: Footprint) -> Array:
    half = (base.size.length_mm / 2, base.size.width_mm / 2)
    return np.array([(half[0] * a, half[1] * b, 0.0) for a in (-1, 1) for b in (-1, 1)])


def _ahead(pose: FigurePose, by_mm: float) -> FigurePose:
    """Return a figure moved a little along its heading."""
    if by_mm == 0:
        return pose
    front = Rotation.from_quat(pose.rotation, scalar_first=True).as_matrix()[:, 0] * by_mm
    x, y, z = pose.position_mm
    return FigurePose(pose.id, (x + float(front[0]), y + float(front[1]), z), pose.rotation, pose.in_hand)


def _in_hand(pose: FigurePose) -> BallPose:
    turn = Rotation.from_quat(pose.rotation, scalar_first=True).as_matrix()
    x, y, z = (np.array(pose.position_mm) + turn @ HAND_MM).tolist()
    return BallPose("foam", (x, y, z), pose.rotation, pose.id)


def obstacles_on(field: FieldModel, clutter: tuple[Solid, ...]) -> Array:
    """Return where things stand on the board: x, y and reach of each solid, mm, shape (n, 3)."""
    out, points = [], cloud(clutter)
    for own in points:
        if not _is_on_board(field, own) or own[:, 2].max() < _FLAT_MM:
            continue
        middle = (own[:, :2].min(axis=0) + own[:, :2].max(axis=0)) / 2
        out.append([*middle, np.linalg.norm(own[:, :2] - middle, axis=1).max()])
    return np.array(out).reshape(-1, 3)


def without_obstacles(appearance: Appearance) -> Appearance:
    """Return the appearance without what stands on the field of play, for figures that move by themselves."""
    points = cloud(appearance.clutter)
    kept = [
        solid for solid, own in zip(appearance.clutter, points, strict=True) if not _is_on_field(appearance.field, own)
    ]
    return replace(appearance, clutter=tuple(kept))


def _is_on_board(field: FieldModel, points_mm: Array) -> bool:
    left, low, right, high = field.board_mm
    x, y = points_mm[:, 0], points_mm[:, 1]
    return bool(x.max() > left and x.min() < right and y.max() > low and y.min() < high and points_mm[:, 2].max() > 0)


def _is_on_field(field: FieldModel, points_mm: Array) -> bool:
    """Return whether something is on the board, other than goal posts and what lies on its edge."""
    x, y = points_mm[:, :2].mean(axis=0)
    inside = -field.end_zone_mm < x < field.length_mm + field.end_zone_mm and 0 < y < field.width_mm
    return inside and _is_on_board(field, points_mm)
