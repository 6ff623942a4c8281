"""Small tables for the tests of the twin's pictures."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array
from downfield.core.field.model import preset
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player
from downfield.twin.table.appearance import Appearance, BoardAppearance, FigureAppearance, Lamp, Sensor, Solid
from downfield.twin.table.snapshot import FigurePose, Snapshot

FIELD = preset("tudor-620")
SQUARE = BaseSize(30.0, 18.0, 5.5, 0.0)


def camera_over(size_px: tuple[int, int], tilt_deg: float = 0.0, barrel: float = 0.0, turn_deg: float = 30.0) -> Camera:
    """A camera that sees the whole board; `barrel` is the shift toward the middle at the corners, as a share."""
    focal = 0.95 * size_px[0]
    corner = np.hypot(*size_px) / 2 / focal / (1 - barrel)
    center = ((size_px[0] - 1) / 2 + 3.0, (size_px[1] - 1) / 2 - 2.0)
    lens = Lens(size_px, (focal, focal * 1.001), center, (-barrel / corner**2, 0.0, 0.0, 0.0, 0.0))
    axis = np.radians(turn_deg)
    tilt = cv2.Rodrigues(np.radians(tilt_deg) * np.array([np.cos(axis), np.sin(axis), 0.0]))[0]
    turn = np.asarray(tilt, dtype=np.float64) @ np.diag([1.0, -1.0, -1.0])
    middle = np.array([FIELD.length_mm / 2, FIELD.width_mm / 2, 0.0])
    shift = np.array([0.0, 0.0, 1150.0]) - turn @ middle
    rotation = np.asarray(cv2.Rodrigues(turn)[0], dtype=np.float64).ravel()
    (a, b, c), (x, y, z) = rotation.tolist(), shift.tolist()
    return Camera(lens, (a, b, c), (x, y, z))


def players(count: int, base: BaseSize = SQUARE) -> tuple[Player, ...]:
    """A roster of dark figures."""
    return tuple(Player(f"dark-{i}", "dark", base=base) for i in range(count))


def base_solid(base: BaseSize = SQUARE, opacity: float = 1.0) -> Solid:
    """A white base."""
    half = (base.length_mm / 2, base.width_mm / 2, base.height_mm / 2)
    return Solid("box", half, (0.0, 0.0, half[2]), color=(1.0, 1.0, 1.0), opacity=opacity, part="base")


def appearance_of(figures: tuple[FigureAppearance, ...], camera: Camera, sensor: Sensor | None = None) -> Appearance:
    """White solids on a black board under one lamp high above, so that only what faces up is bright."""
    black = (0.0, 0.0, 0.0)
    board = BoardAppearance(
        (black,), 5.0, black, (black, black), ("", ""), 0.0, 0.0, 0.0, 0.0, black, (0.0, 0.0), 0.0, 1, black, black
    )
    lamp = Lamp((FIELD.length_mm / 2, FIELD.width_mm / 2, 1e6), 0.8, (1.0, 1.0, 1.0), 0.0)
    nothing = FigureAppearance(())
    skin = (0.8, 0.6, 0.5)
    return Appearance(
        1, FIELD, board, figures, nothing, (lamp,), 0.0, black, (), skin, black, camera, sensor or Sensor(noise=0.0)
    )


def with_board(appearance: Appearance, **changes: object) -> Appearance:
    """The appearance with some of its board changed."""
    return dataclasses.replace(appearance, board=dataclasses.replace(appearance.board, **changes))  # type: ignore[arg-type]


def standing(places: Array, t_ns: int = 0, *, power: bool = False) -> Snapshot:
    """Figures at rows of x mm, y mm, heading deg."""
    half = np.radians(places[:, 2]) / 2
    return Snapshot(
        t_ns,
        power,
        tuple(
            FigurePose(f"dark-{i}", (float(x), float(y), 0.0), (float(np.cos(h)), 0.0, 0.0, float(np.sin(h))))
            for i, ((x, y, _), h) in enumerate(zip(places, half, strict=True))
        ),
    )
