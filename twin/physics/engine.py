"""The MuJoCo engine of a table: the state of all bodies as arrays over the roster, stepped in fixed steps.

Bodies are free, or *pinned*: kept in place and without contacts, as a figure in a hand or beside the board.
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
from downfield.core.scene import Player
from downfield.twin.physics.body import PARKED_MM, STEP_NS, build_model, inertia
from downfield.twin.physics.drive import FLOOR_FRICTION, Drive, FigureMotion
from downfield.twin.physics.poses import LoneBall, Poses, level_rotation
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM

_LOOSE_STEPS = 300_000_000 // STEP_NS  # time for which a knocked figure's prongs are off the board
_BESIDE_MM = 100.0  # between bodies that wait beside the board


class PhysicsEngine:
    """The bodies of one table.

    Args:
        players: the roster, whose order is that of all rows; one more row is the foam ball's.
        field: gives the board's extent.
    """

    def __init__(self, players: Sequence[Player], field: FieldModel) -> None:
        self._players = players
        self._count = len(players)
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

    @property
    def foam_row(self) -> int:
        """The foam ball's row."""
        return self._count

    def switch(self, *, on: bool) -> None:
        """Switch the board."""
        self.power = on
        self._model.geom("board").friction[0] = FLOOR_FRICTION[on]

    def step(self, drive: Drive) -> None:
        """Advance by one step.

        Raises:
            ScriptError: the simulation became unstable.
        """
        q, v, model = self._q[self._figures], self._v[self._figures], self._model
        motion = FigureMotion(
            position_mm=q[:, :3],
            rotation=q[:, 3:],
            velocity_mm_s=v[:, :3],
            spin=v[:, 5],
            mass_g=model.body_mass[self._bodies],
            com_mm=model.body_ipos[self._bodies, 2],
            moment=model.body_inertia[self._bodies, 2],
            loose=self.steps - self._knocked < _LOOSE_STEPS,
        )
        self._data.xfrc_applied[self._bodies] = drive.forces(motion, power=self.power)
        mujoco.mj_step(model, self._data)
        if not np.isfinite(self._q).all():
            raise ScriptError(
                f"the simulation became unstable at {self.steps * STEP_NS} ns: check masses and placements"
            )
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
            ball=self._magnetic_ball() if self._ball_kind == "magnetic" else self._q[-1].copy(),
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
            row: the figure's row.
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

    def _magnetic_ball(self) -> Array:
        return np.concatenate([self._data.mocap_pos[0], self._data.mocap_quat[0]])

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
