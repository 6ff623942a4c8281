"""Camera motion without a bump: the mount's slow sway, and the buzz while the board is on.

Both are smooth functions of time with seeded phases, so any instant can be evaluated: a row's, or one
within an exposure.
"""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
from numpy.typing import ArrayLike

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.twin.appearance import Sensor

_SWAY_HZ = np.array([0.23, 0.61, 1.3, 2.9])
_SWAY_SHARE = np.array([0.7, 0.5, 0.4, 0.3])  # the squares sum to about 1
_BUZZ_SHARE = np.array([1.0, 0.35])  # of the mains frequency and twice it: an electromagnet pulls twice a period
_PATH_POINTS = 9


class Sway:
    """The movement of one camera.

    Args:
        sensor: its shake, buzz and mains.
        seed: of the phases.

    """

    def __init__(self, sensor: Sensor, seed: int) -> None:
        rng = np.random.default_rng([seed, 0x5FA7])
        self._sensor = sensor
        self._sway_phase = rng.uniform(0, 2 * np.pi, (2, len(_SWAY_HZ)))
        self._buzz_phase = rng.uniform(0, 2 * np.pi, (2, len(_BUZZ_SHARE)))
        self._buzz_side = rng.uniform(0.4, 1.0, (2, 1))
        self._buzz_hz = sensor.mains_hz * np.array([1.0, 2.0])

    def offset_px(self, t_s: ArrayLike, *, power: bool) -> Array:
        """Return the picture's offset, px along image x and y: shape (...) to (..., 2)."""
        t = np.asarray(t_s, dtype=np.float64)[..., None, None]
        # Square root of 2: a sine's standard deviation to its amplitude.
        sway = np.sin(2 * np.pi * _SWAY_HZ * t + self._sway_phase) * (_SWAY_SHARE * np.sqrt(2) * self._sensor.shake_px)
        offset: Array = sway.sum(axis=-1)
        if power:
            buzz = np.sin(2 * np.pi * self._buzz_hz * t + self._buzz_phase) * self._buzz_side * _BUZZ_SHARE
            offset = offset + self._sensor.buzz_px * buzz.sum(axis=-1)
        return offset

    def path_px(self, t_s: float, *, power: bool) -> Array:
        """Return the offsets through one exposure around its middle, px, shape (n, 2)."""
        half = self._sensor.exposure_ms / 2000
        return self.offset_px(t_s + np.linspace(-half, half, _PATH_POINTS), power=power)

    def camera(self, nominal: Camera, t_s: float, *, power: bool) -> Camera:
        """Return the camera at an exposure's middle: the nominal camera turned by the mean of its path."""
        x, y = self.path_px(t_s, power=power).mean(axis=0)
        if x == 0 and y == 0:
            return nominal
        focal = nominal.lens.focal_px
        # Turning the camera about its own center moves the whole picture nearly uniformly.
        turn = cv2.Rodrigues(np.array([-y / focal[1], x / focal[0], 0.0]))[0] @ nominal.board_to_camera
        (a, b, c), at = np.asarray(cv2.Rodrigues(turn)[0]).ravel(), -turn @ nominal.position_mm
        return dataclasses.replace(
            nominal,
            rotation=(float(a), float(b), float(c)),
            translation_mm=(float(at[0]), float(at[1]), float(at[2])),
        )
