"""The bodies of a table, as a MuJoCo model: board, rail, figures and ball, in millimeters, grams and seconds.

A figure is one free body whose frame is the figure's own frame: origin at the center of the base's underside, x ahead,
y to its left, z up. Its base is in the model twice, since no single shape serves both purposes:

- among bases (and against rails and the magnetic ball) a convex prism whose plan outline is the rounded rectangle of
  `BaseSize` to 0.01 mm: contacts happen where the truth's footprints touch;
- against the board a sharp box of the same size, whose four corners stand steadily, as a prism's contacts do not.

The player on the base is a capsule within the base's outline, so upright figures meet base to base.
Where a script places figures (`Placement`), and how each of them walks (`Trait`), is data for the model, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import InputError
from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.records import check, record
from downfield.core.scene import Player
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM

STEP_NS = 2_000_000  # one step of the physics

FIGURE_TOP_MM = 36.0  # height of a figure's crown over the board

SHOULDER_MM = 7.5
"""Largest radius of the capsule that stands for the player; bases narrower than twice this get a slimmer one."""

PARKED_MM = 2000.0  # height above the board at which figures out of play are parked

# Collision pairs: a geom's type against the other's affinity.
_GROUND, _OUTLINE = 1, 2

_BASE_FRICTION = 0.08  # between bases: smooth plastic, shaken
_BODY_FRICTION = 0.3  # of the player's body, on which a fallen figure lies
_FOAM_G = 0.15  # mass of the foam ball
_CORNER_FACETS = 6  # of each rounded corner: `outline_mm` says how exact that is
_RAIL_MM = (20.0, 12.0)  # thickness and height of the rail around the board
_GRAVITY = 9810.0  # mm/s^2


@record
class Placement:
    """Position and heading of a figure on the board."""

    x_mm: float  # x_mm, y_mm: center of its base, board frame
    y_mm: float
    heading_deg: float = 0.0  # direction of its front, counter-clockwise from +x


@record
class Trait:
    """Walking and stability of one figure. Coaches tune all of it: dials, prongs and weights."""

    speed_mm_s: float = 70.0  # walking speed along its heading; negative walks backward
    curl_deg_s: float = 0.0  # turning rate without steering, counter-clockwise
    drive: float = 0.35  # largest push of its prongs, as a share of its weight; the stronger one wins a pushing match
    mass_g: float = 4.0  # its mass
    # height of its center of mass over the board: the higher, the sooner it falls. Of 22 figures in a play of 6 s, none
    # fall at 11 mm, 0.2 at 13 mm, 1 at 15 mm, 4 at 17 mm and 15 at 20 mm (mean of 5 plays,
    # `benchmarks/twin_physics.py`).
    com_mm: float = 11.0
    # unsteadiness of its walk: the standard deviation of its speed as a share of that speed, and of its turning as a
    # share of 60 deg/s
    wander: float = 0.08
    stationary: bool = False  # whether it stands still, on a base without prongs

    def __post_init__(self) -> None:
        for name in ("mass_g", "com_mm"):
            check(getattr(self, name) > 0, InputError, f"{name} must be above 0, not {getattr(self, name):g}")
        for name in ("drive", "wander"):
            check(getattr(self, name) >= 0, InputError, f"{name} can't be negative ({getattr(self, name):g})")


def build_model(players: Sequence[Player], field: FieldModel) -> mujoco.MjModel:
    """Return the model of the table with all its figures at the origin: place them before stepping.

    Bodies are ordered world, players as given, ``foam``, ``magnetic``; so player ``i`` owns ``qpos[7 * i:7 * i + 7]``.

    Args:
        players: every figure that will stand on the board at any time.
    """
    spec = mujoco.MjSpec()
    spec.compiler.autolimits = False
    _set_options(spec)
    _add_board(spec, field)
    for row, player in enumerate(players):
        _add_figure(spec, row, player.base)
    _add_balls(spec)
    return spec.compile()


def inertia(mass_g: float, base: BaseSize) -> Array:
    """Return the principal moments of a figure about its center of mass, g mm^2, shape (3,).

    They are those of an upright block, as wide and long as two thirds of the base and two thirds of the figure high.
    """
    x, y, z = (2 / 3 * side for side in (base.length_mm, base.width_mm, FIGURE_TOP_MM))
    return mass_g / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])


def outline_mm(base: BaseSize) -> Array:
    """Return the plan outline of a base in the physics, mm about its center, counter-clockwise, shape (n, 2).

    Its arcs are inscribed polygons: they err inward by 0.9 % of the radius at most, 0.009 mm for a corner of 1 mm.
    """
    half_length, half_width, radius = base.length_mm / 2, base.width_mm / 2, base.corner_mm
    if radius == 0:
        return np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) * (half_length, half_width)
    turns = np.linspace(0, math.pi / 2, _CORNER_FACETS + 1)
    arc = radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    center = np.array([half_length - radius, half_width - radius])
    out = []
    for quarter, (sign_x, sign_y) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        turn = quarter * math.pi / 2
        spin = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        out.append(center * (sign_x, sign_y) + arc @ spin.T)
    return np.concatenate(out)


def _set_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = STEP_NS / 1e9
    option.gravity = [0.0, 0.0, -_GRAVITY]
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # With almost no friction under the bases the pyramidal cone chatters; the elliptic one is steadier and faster.
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.disableflags = mujoco.mjtDisableBit.mjDSBL_AUTORESET  # never reset silently
    option.iterations = 30
    option.tolerance = 1e-7


def _add_board(spec: mujoco.MjSpec, field: FieldModel) -> None:
    _add_geom(spec.worldbody, "PLANE", [0, 0, 1], (_GROUND, 0), 0, name="board")
    x_low, y_low, x_high, y_high = field.board_mm
    thick, high = _RAIL_MM[0] / 2, _RAIL_MM[1] / 2
    middle_x, middle_y = (x_low + x_high) / 2, (y_low + y_high) / 2
    half_x, half_y = (x_high - x_low) / 2 + 2 * thick, (y_high - y_low) / 2 + 2 * thick
    sides = [
        (x_low - thick, middle_y, thick, half_y),
        (x_high + thick, middle_y, thick, half_y),
        (middle_x, y_low - thick, half_x, thick),
        (middle_x, y_high + thick, half_x, thick),
    ]
    for x, y, size_x, size_y in sides:
        _add_geom(spec.worldbody, "BOX", [size_x, size_y, high], (0, _OUTLINE), _BASE_FRICTION, pos=[x, y, high])


def _add_figure(spec: mujoco.MjSpec, row: int, base: BaseSize) -> None:
    body = spec.worldbody.add_body()
    body.add_freejoint()
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia = 4.0, [0, 0, 11.0], inertia(4.0, base)
    half = [base.length_mm / 2, base.width_mm / 2, base.height_mm / 2]
    _add_geom(body, "BOX", half, (0, _GROUND), 0, pos=[0, 0, half[2]])
    outline = outline_mm(base)
    rings = [np.column_stack([outline, np.full(len(outline), z)]) for z in (0.0, base.height_mm)]
    spec.add_mesh(name=f"outline {row}", uservert=np.concatenate(rings).ravel())
    _add_geom(body, "MESH", [0, 0, 0], (_OUTLINE, _OUTLINE), _BASE_FRICTION, meshname=f"outline {row}")
    radius = min(SHOULDER_MM, 0.45 * base.width_mm)
    ends = [0, 0, base.height_mm + radius, 0, 0, FIGURE_TOP_MM - radius]
    _add_geom(body, "CAPSULE", [radius, 0, 0], (_OUTLINE, _OUTLINE | _GROUND), _BODY_FRICTION, fromto=ends)


def _add_balls(spec: mujoco.MjSpec) -> None:
    foam = spec.worldbody.add_body(name="foam", pos=[0, 0, PARKED_MM])
    foam.add_freejoint()
    foam.explicitinertial = True
    foam.mass, foam.ipos, foam.inertia = _FOAM_G, [0, 0, 0], [_FOAM_G * 2.5, _FOAM_G * 4.5, _FOAM_G * 4.5]
    half_length, radius = FOAM_BALL_MM
    ends = [radius - half_length, 0, 0, half_length - radius, 0, 0]
    _add_geom(foam, "CAPSULE", [radius, 0, 0], (_OUTLINE, _OUTLINE | _GROUND), _BODY_FRICTION, fromto=ends)
    magnetic = spec.worldbody.add_body(name="magnetic", mocap=True, pos=[0, 0, PARKED_MM])
    _add_geom(magnetic, "CYLINDER", [*MAGNETIC_BALL_MM, 0], (0, _OUTLINE), _BASE_FRICTION)


def _add_geom(body: Any, kind: str, size: list[float], meets: tuple[int, int], friction: float, **rest: Any) -> None:
    """Add a geom; `meets`: its collision type and affinity."""
    type_ = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    contype, conaffinity = meets
    body.add_geom(
        type=type_, size=size, contype=contype, conaffinity=conaffinity, friction=[friction, 0, 0], **_SOLID, **rest
    )


# As stiff as this step allows: two bases that meet at 120 mm/s overlap by 0.2 mm for one step, at rest by 0.005 mm.
_SOLID = {"solref": [2 * STEP_NS / 1e9, 1.0], "solimp": [0.95, 0.99, 0.05, 0.5, 2.0], "condim": 3}
