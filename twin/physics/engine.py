"""The MuJoCo engine of a table: the state of all bodies as arrays, stepped in fixed steps, and the forces on them.

Bodies are free, or *pinned*: kept in place and without contacts, as a figure in a hand or beside the board.

Forces are prongs that walk along the heading, a coach's dial that turns, and the board's shaking. The prongs are a
*viscous* drive at board level: they pull the base toward its walking velocity with a force in proportion to what is
missing, up to a share of its weight. So a free figure walks at its own speed and does not drift sideways; a blocked one
pushes with a bounded force, and the stronger of two wins. A rocking couple that holds its direction for some 30 ms is
what tips figures over (white noise does not): the higher the center of mass, the sooner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.errors import ScriptError
from downfield.core.field.model import FieldModel
from downfield.core.records import record
from downfield.core.scene import Player
from downfield.twin.physics.body import PARKED_MM, STEP_NS, Trait, build_model, inertia
from downfield.twin.physics.poses import LoneBall, Poses, level_rotation
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM

_LOOSE_STEPS = 300_000_000 // STEP_NS  # time for which a knocked figure's prongs are off the board
_BESIDE_MM = 100.0  # between bodies that wait beside the board


FLOOR_FRICTION = {True: 0.001, False: 0.25}
"""Friction of bases on the board, by whether it is on: on the shaking board they almost float, held by the drive."""

_STEP_S = STEP_NS / 1e9
_GRAVITY = 9810.0  # mm/s^2
_DRIVE_PER_S = 60.0  # rate at which the prongs bring a base to its velocity
_YAW_PER_S = 150.0  # rate at which they bring it to its turning rate
_GRIP_MM = 6.0  # lever arm of the prongs: the largest yaw moment is their push times this
_WANDER_S = 0.4  # time over which a wandering speed or turn persists
_WANDER_DEG_S = 60.0  # turning rate of a wander of 1
_ROCK_S = 0.03  # time over which the rocking couple holds its direction
_DRIVEN_UP = math.cos(math.radians(20))  # a base tilted further than this has its prongs off the board
_STEER_DEG_S = 120.0  # the fastest turn of a base that is steered toward a target
_STEER_PER_S = 4.0  # commanded turning rate per radian off the target


@record
class Vibration:
    """Strength of the shaking of the switched-on board."""

    rock: float = 0.26  # standard deviation of the rocking couple, as a share of weight times height of its center
    jitter_mm_s2: float = 400.0  # standard deviation of the horizontal shaking's acceleration, white


class Drive:
    """The forces on the figures, step by step; every random number comes from one seed.

    Attributes:
        speed_mm_s: walking speeds, mm/s, 0 on stationary bases; shape (n,).
        curl_rad_s: turning rates of the figures' own curl, rad/s, shape (n,).
        target_mm: targets that figures are steered to, mm, NaN without one; shape (n, 2).
    """

    def __init__(self, count: int, seed: int, vibration: Vibration) -> None:
        self._random = np.random.default_rng(seed)
        self._vibration = vibration
        self._wander = np.zeros((count, 2))  # of speed and of turning; unit variance
        self._rock = np.zeros((count, 2))
        self.speed_mm_s, self.curl_rad_s, self._push, self._unsteady = (np.zeros(count) for _ in range(4))
        self.target_mm = np.full((count, 2), np.nan)

    def set_trait(self, row: int, trait: Trait) -> None:
        """Change how a figure walks."""
        walks = not trait.stationary
        self.speed_mm_s[row] = walks * trait.speed_mm_s
        self.curl_rad_s[row] = walks * math.radians(trait.curl_deg_s)
        self._unsteady[row] = walks * trait.wander
        self._push[row] = trait.drive

    def set_target(self, row: int, target_mm: tuple[float, float] | None) -> None:
        """Steer a figure toward a point, or let it walk freely."""
        self.target_mm[row] = (math.nan, math.nan) if target_mm is None else target_mm

    def forces(
        self, q: Array, v: Array, weight: tuple[Array, Array, Array], loose: NDArray[np.bool_], *, power: bool
    ) -> Array:
        """Return forces and torques at the centers of mass, board frame, shape (n, 6), g mm/s^2 and g mm^2/s^2.

        Args:
            q: origins of the figures' frames, mm, and attitudes, (w, x, y, z), shape (n, 7).
            v: velocities of the origins, mm/s, and angular ones in the figures' frames, rad/s, shape (n, 6).
            weight: masses, g; heights of the centers of mass over the bases' undersides, mm; and moments of inertia
                about the figures' z, g mm^2; shape (n,) each.
            loose: whether a knock has taken the prongs off the board, out of reach of drive and shaking, shape (n,).
        """
        self._advance()
        mass_g, com_mm, moment = weight
        w, x, y, z = q[:, 3:].T
        ahead = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)], axis=1)
        up = 1 - 2 * (x * x + y * y)
        ahead /= np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-9)[:, None]
        grip = mass_g * _GRAVITY * self._push * ((up > _DRIVEN_UP) & ~loose)

        missing = -v[:, :2]
        rate = np.zeros(len(up))
        if power:
            speed = self.speed_mm_s * (1 + self._unsteady * self._wander[:, 0])
            missing += speed[:, None] * ahead
            rate = self._turning(q[:, :2], ahead)
        pull = mass_g[:, None] * _DRIVE_PER_S * missing
        pull *= np.minimum(1.0, grip / np.maximum(np.hypot(pull[:, 0], pull[:, 1]), 1e-9))[:, None]
        turn = np.clip(moment * _YAW_PER_S * (rate - v[:, 5]), -grip * _GRIP_MM, grip * _GRIP_MM)

        out = np.zeros((len(up), 6))
        out[:, :2] = pull
        out[:, 3] = com_mm * pull[:, 1]  # the prongs pull at board level: r x F with r = (0, 0, -com)
        out[:, 4] = -com_mm * pull[:, 0]
        out[:, 5] = turn
        if power:
            out[:, :2] += self._vibration.jitter_mm_s2 * mass_g[:, None] * self._white
            out[:, 3:5] += (self._vibration.rock * _GRAVITY * mass_g * com_mm * ~loose)[:, None] * self._rock
        return out

    def _advance(self) -> None:
        fresh = self._random.standard_normal((len(self._wander), 6))
        for state, noise, time_s in ((self._wander, fresh[:, :2], _WANDER_S), (self._rock, fresh[:, 2:4], _ROCK_S)):
            keep = math.exp(-_STEP_S / time_s)
            state *= keep
            state += math.sqrt(1 - keep * keep) * noise
        self._white = fresh[:, 4:]

    def _turning(self, place_mm: Array, ahead: Array) -> Array:
        rate: Array = self.curl_rad_s + self._unsteady * math.radians(_WANDER_DEG_S) * self._wander[:, 1]
        steered = ~np.isnan(self.target_mm[:, 0])
        if steered.any():
            to_target = self.target_mm - place_mm
            across = ahead[:, 0] * to_target[:, 1] - ahead[:, 1] * to_target[:, 0]
            along = (ahead * to_target).sum(axis=1)
            limit = math.radians(_STEER_DEG_S)
            rate = np.where(steered, np.clip(_STEER_PER_S * np.arctan2(across, along), -limit, limit), rate)
        return rate


class PhysicsEngine:
    """The bodies of one table.

    Args:
        players: the roster, whose order is that of all rows; one more row is the foam ball's.
    """

    def __init__(self, players: Sequence[Player], field: FieldModel) -> None:
        self._players = players
        self._count = self.foam_row = len(players)
        self._figures = slice(0, self._count)
        self._bodies = slice(1, self._count + 1)  # body 0 is the world
        self._model = build_model(players, field)
        self._data = mujoco.MjData(self._model)
        # Views of the state: players in order, then the foam ball.
        # Positions: origin in the board frame, quaternion. Velocities: of the origin in the board frame, then the
        # angular velocity in the body's own frame.
        self._q = self._data.qpos.reshape(-1, 7)
        self._v = self._data.qvel.reshape(-1, 6)
        self._collides = [kinds.copy() for kinds in self._geom_collisions]
        self.steps = 0
        self.power = False
        self.on_board = np.zeros(self._count, dtype=bool)
        self.held = np.zeros(self._count, dtype=bool)
        self._knocked = np.full(self._count, -_LOOSE_STEPS)  # the step of the latest knock
        self._pinned = np.ones(self._count + 1, dtype=bool)
        self._at = np.zeros_like(self._q)
        for row in range(self._count + 1):
            self.park(row)
        self.set_ball("none")
        self.switch(on=False)

    def switch(self, *, on: bool) -> None:
        """Switch the board."""
        self.power = on
        self._model.geom("board").friction[0] = FLOOR_FRICTION[on]

    def step(self, drive: Drive) -> None:
        """Advance by one step. Raises ScriptError: the simulation became unstable."""
        q, v, model = self._q[self._figures], self._v[self._figures], self._model
        of_bodies = (model.body_mass, model.body_ipos[:, 2], model.body_inertia[:, 2])
        mass_g, com_mm, moment = (values[self._bodies] for values in of_bodies)
        loose = self.steps - self._knocked < _LOOSE_STEPS
        forces = drive.forces(q, v, (mass_g, com_mm, moment), loose, power=self.power)
        self._data.xfrc_applied[self._bodies] = forces
        mujoco.mj_step(model, self._data)
        if not np.isfinite(self._q).all():
            raise ScriptError(f"the simulation became unstable at {self.steps * STEP_NS} ns: check masses and places")
        self._q[self._pinned] = self._at[self._pinned]
        self._v[self._pinned] = 0.0
        self.steps += 1

    def poses(self) -> Poses:
        """Return the poses after the latest step."""
        return Poses(
            t_ns=self.steps * STEP_NS,
            position_mm=self._q[self._figures, :3].copy(),
            rotation=self._q[self._figures, 3:].copy(),
            on_board=self.on_board.copy(),
            held=self.held.copy(),
            ball_kind=self._ball_kind,
            ball=np.concatenate([self._data.mocap_pos[0], self._data.mocap_quat[0]])
            if self._ball_kind == "magnetic"
            else self._q[-1].copy(),
        )

    def put(self, row: int, position_mm: tuple[float, float, float], heading_deg: float, *, pinned: bool) -> None:
        """Place a body, upright and at rest."""
        self._at[row, :3] = position_mm
        self._at[row, 3:] = level_rotation(heading_deg)
        self._q[row], self._v[row] = self._at[row], 0.0
        self._pinned[row] = pinned
        if row < self._count:
            self._knocked[row] = -_LOOSE_STEPS
        self._set_collisions(row)

    def park(self, row: int) -> None:
        """Move a body off the table, to its parking place."""
        self.put(row, (_BESIDE_MM * row, 0.0, PARKED_MM), 0.0, pinned=True)

    def set_ball(self, kind: LoneBall, at_mm: tuple[float, float] = (0.0, 0.0)) -> None:
        """Put the foam or the magnetic ball on the board, and take the other ball away."""
        self._ball_kind = kind
        self._data.mocap_pos[0] = (*at_mm, MAGNETIC_BALL_MM[1]) if kind == "magnetic" else (0.0, 0.0, PARKED_MM)
        if kind == "foam":
            self.put(self.foam_row, (*at_mm, FOAM_BALL_MM[1]), 0.0, pinned=False)
        else:
            self.park(self.foam_row)

    def set_weight(self, row: int, mass_g: float, com_mm: float) -> None:
        """Set a figure's mass and the height of its center of mass; its moments follow from them."""
        model, body = self._model, row + 1
        if (model.body_mass[body], model.body_ipos[body, 2]) == (mass_g, com_mm):
            return
        model.body_mass[body], model.body_ipos[body, 2] = mass_g, com_mm
        model.body_inertia[body] = inertia(mass_g, self._players[row].base)
        state = self._q.copy(), self._v.copy()
        mujoco.mj_setConst(model, self._data)  # which leaves the state at its reference
        self._q[:], self._v[:] = state

    def knock(self, row: int, toward_deg: float, strength: float) -> None:
        """Set a figure turning over the edge of its base that lies in a direction, given from its heading.

        Args:
            toward_deg: 0 ahead, 90 to its left.
            strength: energy of its turning and rising, as a multiple of what lifts its center of mass over that edge;
                on the shaking board the base slides, and the energy of sliding does not lift the figure.
        """
        base, toward = self._players[row].base, math.radians(toward_deg)
        ahead, aside = math.cos(toward), math.sin(toward)
        lengthwise = abs(ahead) * base.width_mm > abs(aside) * base.length_mm
        ahead, aside = (math.copysign(1.0, ahead), 0.0) if lengthwise else (0.0, math.copysign(1.0, aside))
        lever = (base.length_mm if lengthwise else base.width_mm) / 2
        mass, height = float(self._model.body_mass[row + 1]), float(self._model.body_ipos[row + 1, 2])
        moment = float(self._model.body_inertia[row + 1, 1 if lengthwise else 0]) + mass * lever**2
        energy = strength * mass * -float(self._model.opt.gravity[2]) * (math.hypot(lever, height) - height)
        rate = math.sqrt(2 * energy / moment)
        self._v[row, 2] += rate * lever
        self._v[row, 3] -= rate * aside
        self._v[row, 4] += rate * ahead
        self._knocked[row] = self.steps

    @property
    def _geom_collisions(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._model.geom_contype, self._model.geom_conaffinity

    def _set_collisions(self, row: int) -> None:
        """Disable a pinned body's contacts, or enable them again: by geom, and by body for the broad phase."""
        model, body = self._model, row + 1
        geoms = slice(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
        of_bodies = model.body_contype, model.body_conaffinity
        for of_geom, of_body, usual in zip(self._geom_collisions, of_bodies, self._collides, strict=True):
            of_geom[geoms] = 0 if self._pinned[row] else usual[geoms]
            of_body[body] = np.bitwise_or.reduce(of_geom[geoms])
