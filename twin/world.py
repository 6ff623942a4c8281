"""A table that lives: figures walk, meet, push and fall on a board that is switched on and off.

    world = World(players, placements, traits, field=preset("tudor-620"), seed=7)
    world.power(True)
    world.step_to(1_500_000_000)
    snapshot = world.snapshot()

Time is integer nanoseconds from 0 and only goes forward; the physics runs in steps of `STEP_NS` and poses between two
steps are interpolated, so any frame rate gets exact poses. What a script does (switch, place, hold, topple) takes
effect at the time the world stands at. The same arguments and the same calls give bit-identical snapshots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.errors import ScriptError
from downfield.calibration.field import Array, FieldModel
from downfield.twin.body import FOAM_BALL_MM, MAGNETIC_BALL_MM, PARKED_MM, STEP_NS, build_model, inertia
from downfield.twin.drive import Drive, Motion, Vibration
from downfield.twin.poses import Poses, between, footprint, level_rotation
from downfield.twin.snapshot import BallPose, FigurePose, Snapshot
from downfield.twin.traits import Placement, Trait
from downfield.vision.footprint import Footprint
from downfield.vision.gap import signed_gap
from downfield.vision.scene import Player

_FLOOR_FRICTION = {True: 0.01, False: 0.25}  # while the board is on, the drive is the friction
_HAND_AHEAD_MM, _HAND_UP_MM = 3.0, 16.0  # where a figure carries the ball when its hand was not measured


class Observer(Protocol):
    """Something that watches every step of the physics."""

    def __call__(self, poses: Poses) -> None:
        """Called after each step with where everything then stands, and once when it starts to watch."""


class World:
    """The physics of one table.

    Args:
        players: every figure that takes part at any time, in roster order; at most 22 of them on the board is usual.
        placements: by roster id, the figures that stand on the board at the start; the others wait beside it.
        traits: by roster id; a figure that is not in it has the defaults of `Trait`.
        field: the printed field, which gives the board its extent.
        seed: of all randomness.
        vibration: how the board shakes.

    Raises:
        ScriptError: an id that is not on the roster, or bases placed into each other or off the board.

    """

    def __init__(
        self,
        players: Sequence[Player],
        placements: Mapping[str, Placement],
        traits: Mapping[str, Trait],
        *,
        field: FieldModel,
        seed: int,
        vibration: Vibration | None = None,
    ) -> None:
        self.players = tuple(players)
        self.field = field
        self._index = {player.id: i for i, player in enumerate(self.players)}
        count = len(self.players)
        self._model = build_model(self.players, field)
        self._data = mujoco.MjData(self._model)
        self._collides = self._model.geom_contype.copy(), self._model.geom_conaffinity.copy()
        self._qpos = self._data.qpos.reshape(-1, 7)  # a view: players in order, then the foam ball
        self._qvel = self._data.qvel.reshape(-1, 6)
        self._drive = Drive(count, seed, vibration or Vibration())
        self._power = False
        self._steps = 0
        self._t_ns = 0
        self._on_board = np.zeros(count, dtype=bool)
        self._held = np.zeros(count, dtype=bool)
        self._stationary = np.zeros(count, dtype=bool)
        self._pinned = np.zeros((count + 1, 7))
        self._pinned[:, 2], self._pinned[:, 3] = PARKED_MM, 1.0
        self._pinned[:, 0] = 100.0 * np.arange(count + 1)
        self._qpos[:] = self._pinned
        self._ball: Literal["carried", "magnetic", "loose"] | None = None
        self._carrier: str | None = None
        self._observers: list[Observer] = []
        self._traits: dict[str, Trait] = {}
        for player in self.players:
            self.set_trait(player.id, traits.get(player.id, Trait()))
        for unknown in traits.keys() - self._index.keys():
            self._row(unknown)
        self._set_floor()
        self._before = self._poses()
        self._after = self._before
        for id_, at in placements.items():
            self.place(id_, at.x_mm, at.y_mm, at.heading_deg)

    @property
    def t_ns(self) -> int:
        """The time the world stands at."""
        return self._t_ns

    @property
    def is_on(self) -> bool:
        """Whether the board is switched on."""
        return self._power

    # Time

    def power(self, on: bool) -> None:
        """Switch the board on or off."""
        self._power = on
        self._set_floor()

    def step_to(self, t_ns: int) -> None:
        """Let time pass up to an instant.

        Raises:
            ScriptError: the instant has passed.

        """
        if t_ns < self._t_ns:
            raise ScriptError(f"the world stands at {self._t_ns} ns and can't go back to {t_ns} ns")
        while self._steps * STEP_NS < t_ns:
            self._step()
        self._t_ns = t_ns

    def snapshot(self) -> Snapshot:
        """Where everything stands now; figures that are not on the board are left out."""
        poses = self.poses()
        figures = tuple(
            FigurePose(player.id, _vector(poses.position_mm[i]), _quaternion(poses.rotation[i]), bool(poses.held[i]))
            for i, player in enumerate(self.players)
            if poses.on_board[i]
        )
        return Snapshot(self._t_ns, self._power, figures, self._ball_pose(poses))

    def poses(self) -> Poses:
        """Where everything stands now, as arrays over the whole roster."""
        return between(self._before, self._after, self._t_ns)

    def footprint(self, id_: str) -> Footprint:
        """Where a figure's base stands now, as `truth` has it.

        Raises:
            ScriptError: it is not on the board.

        """
        row = self._standing(id_)
        return footprint(self.poses(), row, self.players[row].base)

    def tilt_deg(self, id_: str) -> float:
        """How far a figure is tilted now: 0 upright, 90 lying."""
        return float(self.poses().tilt_deg[self._standing(id_)])

    def watch(self, observer: Observer) -> None:
        """Have something called at every step of the physics, and at once with the latest step."""
        self._observers.append(observer)
        observer(self._after)

    # Figures

    def place(self, id_: str, x_mm: float, y_mm: float, heading_deg: float) -> None:
        """Stand a figure upright on the board, at once: also one that fell, is held or waits beside the board.

        Raises:
            ScriptError: it would stand in another base or off the board.

        """
        row = self._row(id_)
        where = Footprint(x_mm, y_mm, heading_deg, self.players[row].base)
        self._check_free(row, where)
        self._held[row], self._on_board[row] = False, True
        self._set_pose(row, (x_mm, y_mm, 0.0), heading_deg)
        self._set_collisions(row)
        self._moved()

    def hold(self, id_: str, x_mm: float, y_mm: float, heading_deg: float, lift_mm: float = 0.0) -> None:
        """Take a figure in hand, upright, or move the hand that has it. It stays so, touching nothing, until released.

        Args:
            id_: roster id; also of a figure that fell or waits beside the board.
            x_mm: centre of its base along the board.
            y_mm: and across.
            heading_deg: where its front points.
            lift_mm: height of its base's underside over the board.

        """
        row = self._row(id_)
        self._held[row], self._on_board[row] = True, True
        self._set_pose(row, (x_mm, y_mm, lift_mm), heading_deg)
        self._set_collisions(row)
        self._moved()

    def release(self, id_: str) -> None:
        """Set a held figure down on the board below where it is held.

        Raises:
            ScriptError: it is not held, or would stand in another base or off the board.

        """
        row = self._standing(id_)
        if not self._held[row]:
            raise ScriptError(f"{id_} can't be released: it is not in a hand")
        at = self.footprint(id_)
        self.place(id_, at.x_mm, at.y_mm, at.heading_deg)

    def remove(self, id_: str) -> None:
        """Take a figure off the board; `place` and `hold` bring it back."""
        row = self._standing(id_)
        self._held[row], self._on_board[row] = False, False
        self._pinned[row, :3] = (100.0 * row, 0.0, PARKED_MM)
        self._moved()

    def topple(self, id_: str, direction_deg: float, strength: float = 1.3) -> None:
        """Tip a figure over by a knock: it starts to turn about its base's edge and falls the way it was knocked.

        Args:
            id_: roster id.
            direction_deg: where it falls to, board frame.
            strength: the knock's energy, as a multiple of what lifts the centre of mass over the edge.

        """
        row = self._standing(id_)
        at, trait, size = self.footprint(id_), self._traits[id_], self.players[row].base
        turn = math.radians(direction_deg - at.heading_deg)
        sides = [
            half / max(abs(part), 1e-9)
            for half, part in ((size.length_mm / 2, math.cos(turn)), (size.width_mm / 2, math.sin(turn)))
        ]
        lever, height = min(sides), trait.com_mm
        moments = inertia(trait.mass_g, size)
        about = moments[1] * math.cos(turn) ** 2 + moments[0] * math.sin(turn) ** 2
        about += trait.mass_g * (lever**2 + height**2)
        energy = strength * trait.mass_g * 9810.0 * (math.hypot(lever, height) - height)
        rate = math.sqrt(2 * energy / about)
        # qvel: the frame origin's velocity in the board frame, then the angular velocity in the figure's frame.
        self._qvel[row, 2] += rate * lever
        self._qvel[row, 3] -= rate * math.sin(turn)
        self._qvel[row, 4] += rate * math.cos(turn)

    def set_trait(self, id_: str, trait: Trait) -> None:
        """Change how a figure walks and stands."""
        row = self._row(id_)
        self._traits[id_] = trait
        drive = self._drive
        drive.speed_mm_s[row] = 0.0 if trait.stationary else trait.speed_mm_s
        drive.curl_rad_s[row] = 0.0 if trait.stationary else math.radians(trait.curl_deg_s)
        drive.wander[row] = 0.0 if trait.stationary else trait.wander
        drive.push[row] = trait.drive
        self._model.body_mass[row + 1] = trait.mass_g
        self._model.body_ipos[row + 1, 2] = trait.com_mm
        self._model.body_inertia[row + 1] = inertia(trait.mass_g, self.players[row].base)
        state = self._qpos.copy(), self._qvel.copy()
        mujoco.mj_setConst(self._model, self._data)
        self._qpos[:], self._qvel[:] = state

    def trait(self, id_: str) -> Trait:
        """How a figure walks and stands."""
        self._row(id_)
        return self._traits[id_]

    def steer(self, id_: str, target_mm: tuple[float, float] | None) -> None:
        """Guide a figure's heading toward a point by a bounded yaw moment; None lets it curl by itself again."""
        self._drive.target_mm[self._row(id_)] = (math.nan, math.nan) if target_mm is None else target_mm

    # The ball

    def carry_ball(self, id_: str) -> None:
        """Put the ball into a figure's hand, where it stays until another of these is called."""
        self._standing(id_)
        self._park_ball()
        self._ball, self._carrier = "carried", id_

    def put_magnetic_ball(self, x_mm: float, y_mm: float) -> None:
        """Stand the magnetic ball on the board; it does not move and bases stop at it."""
        self._park_ball()
        self._ball = "magnetic"
        self._data.mocap_pos[0] = (x_mm, y_mm, MAGNETIC_BALL_MM[1])
        self._moved()

    def drop_ball(self, x_mm: float, y_mm: float, velocity_mm_s: tuple[float, float] = (0.0, 0.0)) -> None:
        """Let the foam ball loose on the board: a light free body that bases push about."""
        self._park_ball()
        self._ball = "loose"
        self._qpos[-1] = (x_mm, y_mm, FOAM_BALL_MM[2] + 0.5, 1.0, 0.0, 0.0, 0.0)
        self._qvel[-1] = (*velocity_mm_s, 0.0, 0.0, 0.0, 0.0)
        self._moved()

    def remove_ball(self) -> None:
        """Take the ball off the board."""
        self._park_ball()

    # Inside

    def _step(self) -> None:
        fixed = self._fixed()
        count = len(self.players)
        q, v = self._qpos[:count], self._qvel[:count]
        rotation = q[:, 3:]
        motion = Motion(q[:, :3], rotation, v[:, :3], v[:, 5])
        mass, com = self._model.body_mass[1 : count + 1], self._model.body_ipos[1 : count + 1, 2]
        forces = self._drive.forces(motion, mass, com, self._model.body_inertia[1 : count + 1, 2], power=self._power)
        self._data.xfrc_applied[1 : count + 1] = forces
        mujoco.mj_step(self._model, self._data)
        self._qpos[fixed] = self._pinned[fixed]
        self._qvel[fixed] = 0.0
        self._steps += 1
        self._before, self._after = self._after, self._poses()
        for observer in self._observers:
            observer(self._after)

    def _fixed(self) -> NDArray[np.bool_]:
        return np.append(self._held | ~self._on_board, self._ball != "loose")

    def _poses(self) -> Poses:
        count = len(self.players)
        return Poses(
            t_ns=self._steps * STEP_NS,
            power=self._power,
            position_mm=self._qpos[:count, :3].copy(),
            rotation=self._qpos[:count, 3:].copy(),
            on_board=self._on_board.copy(),
            held=self._held.copy(),
            ball=self._qpos[-1].copy(),
        )

    def _moved(self) -> None:
        """After a hand's doing: what was moved stands there now, both at the last step and at the one before."""
        fixed = self._fixed()
        self._qpos[fixed] = self._pinned[fixed]
        self._qvel[fixed] = 0.0
        now = self._poses()
        self._before = self._before.moved_to(now)
        self._after = now

    def _set_pose(self, row: int, position_mm: tuple[float, float, float], heading_deg: float) -> None:
        self._pinned[row, :3] = position_mm
        self._pinned[row, 3:] = level_rotation(heading_deg)
        self._qpos[row] = self._pinned[row]
        self._qvel[row] = 0.0

    def _set_collisions(self, row: int) -> None:
        """A held figure touches nothing."""
        model = self._model
        first, many = model.body_geomadr[row + 1], model.body_geomnum[row + 1]
        own = slice(first, first + many)
        for now, usual in zip((model.geom_contype, model.geom_conaffinity), self._collides, strict=True):
            now[own] = 0 if self._held[row] else usual[own]

    def _set_floor(self) -> None:
        self._model.geom("board").friction[0] = _FLOOR_FRICTION[self._power]

    def _park_ball(self) -> None:
        self._ball, self._carrier = None, None
        self._data.mocap_pos[0] = (0.0, 0.0, PARKED_MM)
        self._moved()

    def _ball_pose(self, poses: Poses) -> BallPose | None:
        if self._ball == "magnetic":
            return BallPose("magnetic", _vector(self._data.mocap_pos[0]))
        if self._ball == "loose":
            return BallPose("foam", _vector(poses.ball[:3]), _quaternion(poses.ball[3:]))
        if self._carrier is None:
            return None
        row = self._index[self._carrier]
        player = self.players[row]
        ahead, left = player.hand_mm or (_HAND_AHEAD_MM, 0.42 * player.base.width_mm)
        spot = poses.position_mm[row] + poses.axes[row] @ (ahead, left, _HAND_UP_MM)
        return BallPose("foam", _vector(spot), _quaternion(poses.rotation[row]), self._carrier)

    def _row(self, id_: str) -> int:
        try:
            return self._index[id_]
        except KeyError:
            raise ScriptError(f"no figure is named '{id_}'") from None

    def _standing(self, id_: str) -> int:
        row = self._row(id_)
        if not self._on_board[row]:
            raise ScriptError(f"{id_} is not on the board")
        return row

    def _check_free(self, row: int, where: Footprint) -> None:
        id_ = self.players[row].id
        x_low, y_low, x_high, y_high = self.field.board_mm
        corners = where.corners_mm()
        if (corners < (x_low, y_low)).any() or (corners > (x_high, y_high)).any():
            raise ScriptError(f"{id_} at {where.x_mm:.1f}, {where.y_mm:.1f} mm would not stand on the board")
        poses = self.poses()
        for other, player in enumerate(self.players):
            if other == row or not poses.on_board[other] or poses.held[other]:
                continue
            gap_mm = signed_gap(where, footprint(poses, other, player.base)).gap_mm
            if gap_mm < -0.02:
                raise ScriptError(
                    f"{id_} at {where.x_mm:.1f}, {where.y_mm:.1f} mm would stand {-gap_mm:.2f} mm inside {player.id}"
                )


def _vector(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _quaternion(values: Array) -> tuple[float, float, float, float]:
    w, x, y, z = (float(value) for value in values)
    return w, x, y, z
