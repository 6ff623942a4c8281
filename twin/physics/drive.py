"""The forces that move figures: prongs that walk along the heading, a coach's dial that turns, the board's shaking.

The prongs are a *viscous* drive at board level: they pull the base toward its walking velocity with a force in
proportion to what is missing, up to a share of its weight. So a free figure walks at its own speed and does not drift
sideways; a blocked one pushes with a bounded force, and the stronger of two wins. A rocking couple that holds its
direction for some 30 ms is what tips figures over (white noise does not): the higher the center of mass, the sooner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from downfield.core.arrays import Array
from downfield.core.records import record
from downfield.twin.physics.body import STEP_NS
from downfield.twin.physics.traits import Trait

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
_STEER_PER_S = 4.0  # commanded turning rate per radian off the target


@record
class Vibration:
    """Strength of the shaking of the switched-on board.

    Attributes:
        rock: standard deviation of the rocking couple, as a share of weight times height of the center of mass.
        jitter_mm_s2: standard deviation of the horizontal shaking's acceleration, white.
        steer_deg_s: the fastest turn of a base that is steered toward a target.
    """

    rock: float = 0.26
    jitter_mm_s2: float = 400.0
    steer_deg_s: float = 120.0


@dataclass(frozen=True, slots=True)
class FigureMotion:
    """State of the figures at one step.

    Attributes:
        position_mm: origins of the figures' frames, shape (n, 3).
        rotation: attitudes, (w, x, y, z), shape (n, 4).
        velocity_mm_s: of the origins, shape (n, 3).
        spin: angular velocities about the figures' z, rad/s, shape (n,).
        mass_g: shape (n,).
        com_mm: heights of the centers of mass over the bases' undersides, shape (n,).
        moment: of inertia about the figures' z, g mm^2, shape (n,).
        loose: whether a knock has taken the figure's prongs off the board, out of reach of drive and shaking, shape
            (n,).
    """

    position_mm: Array
    rotation: Array
    velocity_mm_s: Array
    spin: Array
    mass_g: Array
    com_mm: Array
    moment: Array
    loose: NDArray[np.bool_]


class Drive:
    """The forces on the figures, step by step; every random number comes from one seed.

    Args:
        count: number of figures.
        seed: of wandering and shaking.
        vibration: strength of the board's shaking.
    """

    def __init__(self, count: int, seed: int, vibration: Vibration) -> None:
        self._random = np.random.default_rng(seed)
        self._vibration = vibration
        self._wander = np.zeros((count, 2))  # of speed and of turning; unit variance
        self._rock = np.zeros((count, 2))
        self._speed_mm_s, self._curl_rad_s, self._push, self._unsteady = (np.zeros(count) for _ in range(4))
        self._target_mm = np.full((count, 2), np.nan)

    def set_trait(self, row: int, trait: Trait) -> None:
        """Change how a figure walks."""
        walks = not trait.stationary
        self._speed_mm_s[row] = walks * trait.speed_mm_s
        self._curl_rad_s[row] = walks * math.radians(trait.curl_deg_s)
        self._unsteady[row] = walks * trait.wander
        self._push[row] = trait.drive

    def set_target(self, row: int, target_mm: tuple[float, float] | None) -> None:
        """Steer a figure toward a point, or let it walk freely."""
        self._target_mm[row] = (math.nan, math.nan) if target_mm is None else target_mm

    @property
    def speed_mm_s(self) -> Array:
        """Walking speeds, mm/s, 0 on stationary bases; shape (n,)."""
        return self._speed_mm_s

    @property
    def curl_rad_s(self) -> Array:
        """Turning rates of the figures' own curl, rad/s, shape (n,)."""
        return self._curl_rad_s

    @property
    def target_mm(self) -> Array:
        """Targets that figures are steered to, mm, NaN without one; shape (n, 2)."""
        return self._target_mm

    def forces(self, motion: FigureMotion, *, power: bool) -> Array:
        """Return forces and torques at the centers of mass, board frame, shape (n, 6), g mm/s^2 and g mm^2/s^2."""
        self._advance()
        mass_g, com_mm = motion.mass_g, motion.com_mm
        w, x, y, z = motion.rotation.T
        ahead = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)], axis=1)
        up = 1 - 2 * (x * x + y * y)
        ahead /= np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-9)[:, None]
        grip = mass_g * _GRAVITY * self._push * ((up > _DRIVEN_UP) & ~motion.loose)

        missing = -motion.velocity_mm_s[:, :2]
        rate = np.zeros(len(up))
        if power:
            speed = self._speed_mm_s * (1 + self._unsteady * self._wander[:, 0])
            missing += speed[:, None] * ahead
            rate = self._turning(motion.position_mm, ahead)
        pull = mass_g[:, None] * _DRIVE_PER_S * missing
        pull *= np.minimum(1.0, grip / np.maximum(np.hypot(pull[:, 0], pull[:, 1]), 1e-9))[:, None]
        turn = np.clip(motion.moment * _YAW_PER_S * (rate - motion.spin), -grip * _GRIP_MM, grip * _GRIP_MM)

        out = np.zeros((len(up), 6))
        out[:, :2] = pull
        out[:, 3] = com_mm * pull[:, 1]  # the prongs pull at board level: r x F with r = (0, 0, -com)
        out[:, 4] = -com_mm * pull[:, 0]
        out[:, 5] = turn
        if power:
            out[:, :2] += self._vibration.jitter_mm_s2 * mass_g[:, None] * self._white
            out[:, 3:5] += (self._vibration.rock * _GRAVITY * mass_g * com_mm * ~motion.loose)[:, None] * self._rock
        return out

    def _advance(self) -> None:
        fresh = self._random.standard_normal((len(self._wander), 6))
        for state, noise, time_s in ((self._wander, fresh[:, :2], _WANDER_S), (self._rock, fresh[:, 2:4], _ROCK_S)):
            keep = math.exp(-_STEP_S / time_s)
            state *= keep
            state += math.sqrt(1 - keep * keep) * noise
        self._white = fresh[:, 4:]

    def _turning(self, position_mm: Array, ahead: Array) -> Array:
        rate: Array = self._curl_rad_s + self._unsteady * math.radians(_WANDER_DEG_S) * self._wander[:, 1]
        steered = ~np.isnan(self._target_mm[:, 0])
        if steered.any():
            to_target = self._target_mm - position_mm[:, :2]
            across = ahead[:, 0] * to_target[:, 1] - ahead[:, 1] * to_target[:, 0]
            along = (ahead * to_target).sum(axis=1)
            limit = math.radians(self._vibration.steer_deg_s)
            rate = np.where(steered, np.clip(_STEER_PER_S * np.arctan2(across, along), -limit, limit), rate)
        return rate
