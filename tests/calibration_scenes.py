"""Photographs of tables, with exact truth, for the tests of the calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel, preset
from downfield.twin.table.appearance import BoardAppearance
from downfield.twin.table.board_print import paint

TUDOR = preset("tudor-620")
GREEN, WHITE, RED, BLUE = (0.13, 0.42, 0.17), (0.93, 0.93, 0.9), (0.6, 0.12, 0.15), (0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Scene:
    """A photograph and the camera that took it."""

    image: Image
    camera: Camera
    field: FieldModel


def camera_over(
    field: FieldModel,
    size_px: tuple[int, int] = (1920, 1080),
    *,
    tilt_deg: float = 8.0,
    toward_deg: float = 50.0,
    roll_deg: float = 2.0,
    barrel: float = 0.1,
    focal: float = 0.8,
    fill: float = 0.93,
) -> Camera:
    """A camera that sees the whole board; `barrel` is the shift inward at the corners, as a share of the radius."""
    focal_px = focal * size_px[0]
    corner = math.hypot(*size_px) / 2 / focal_px / (1 - barrel)
    center = ((size_px[0] - 1) / 2 + 6.0, (size_px[1] - 1) / 2 - 4.0)
    lens = Lens(size_px, (focal_px, focal_px), center, (-barrel / corner**2, 0.0, 0.0, 0.0, 0.0))
    toward = math.radians(toward_deg)
    lean = cv2.Rodrigues(np.array([math.cos(toward), math.sin(toward), 0.0]) * math.radians(tilt_deg))[0]
    roll = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(roll_deg)]))[0]
    turn = np.asarray(roll @ lean @ np.diag([1.0, -1.0, -1.0]), dtype=np.float64)
    middle = np.array([field.length_mm / 2, field.width_mm / 2, 0.0])
    left, low, right, high = field.board_mm
    span = max((right - left) / size_px[0], (high - low) / size_px[1])
    shift = np.array([0.0, 0.0, focal_px * span / fill * (1 - 0.6 * barrel)]) - turn @ middle
    rx, ry, rz = np.asarray(cv2.Rodrigues(turn)[0], dtype=np.float64).ravel().tolist()
    tx, ty, tz = shift.tolist()
    return Camera(lens, (rx, ry, rz), (tx, ty, tz))


def board_look(line: tuple[float, float, float] = WHITE, *, wear: float = 0.1) -> BoardAppearance:
    """A green print with red and blue end zones."""
    dark = (GREEN[0] * 0.85, GREEN[1] * 0.85, GREEN[2] * 0.85)
    return BoardAppearance(
        (GREEN, dark),
        5.0,
        line,
        (RED, BLUE),
        ("HOME", "AWAY"),
        5.0,
        0.3,
        wear,
        0.0,
        GREEN,
        (0.0, 0.0),
        0.0,
        3,
        GREEN,
        BLUE,
    )


def photograph(
    field: FieldModel = TUDOR,
    camera: Camera | None = None,
    *,
    look: BoardAppearance | None = None,
    figures: int = 22,
    seed: int = 1,
) -> Scene:
    """A board on a gray table, with blobs for figures, an arm, a hot spot, blur and noise."""
    scene = _photograph(field, camera or camera_over(field), look, figures, seed)
    return replace(scene, image=scene.image.copy())


@lru_cache(maxsize=4)
def _photograph(field: FieldModel, camera: Camera, look: BoardAppearance | None, figures: int, seed: int) -> Scene:
    print_ = paint(field, look or board_look(), 2.6)
    width, height = camera.lens.size_px
    coarse = 8
    x, y = np.meshgrid(np.arange(0, width + coarse, coarse), np.arange(0, height + coarse, coarse))
    at = print_.to_print_px(camera.to_board(np.stack([x, y], axis=-1).astype(np.float64)))
    fine_x, fine_y = np.meshgrid(
        np.arange(width, dtype=np.float32) / coarse, np.arange(height, dtype=np.float32) / coarse
    )
    maps = [
        cv2.remap(np.nan_to_num(at[..., axis], nan=-1e4).astype(np.float32), fine_x, fine_y, cv2.INTER_LINEAR)
        for axis in (0, 1)
    ]
    soft = cv2.GaussianBlur(print_.image, (0, 0), 1.1)
    image = cv2.remap(
        soft, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(95, 90, 85)
    )
    rng = np.random.default_rng(seed)
    for _ in range(figures):
        place = np.array([rng.uniform(0, field.length_mm), rng.uniform(0, field.width_mm), 0.0])
        foot, head = (camera.to_pixels(place + np.array([0.0, 0.0, z])) for z in (0.0, 35.0))
        color = tuple(rng.uniform(0, 255, 3).tolist())
        cv2.ellipse(image, _point(foot), (20, 12), float(rng.uniform(0, 180)), 0, 360, color, -1, cv2.LINE_AA)
        cv2.line(image, _point(foot), _point(head), color, 12, cv2.LINE_AA)
    if figures:
        cv2.line(image, (width // 3, height), (width // 2, height * 3 // 4), (120, 150, 200), 80, cv2.LINE_AA)
    spot = np.exp(-(((fine_x * coarse - 0.7 * width) / 130) ** 2 + ((fine_y * coarse - 0.4 * height) / 90) ** 2))
    noisy = cv2.GaussianBlur(image, (0, 0), 0.6) + 120 * spot[..., None] + rng.normal(0, 2, image.shape)
    return Scene(np.clip(noisy, 0, 255).astype(np.uint8), camera, field)


def _point(px: Array) -> tuple[int, int]:
    return (round(float(px[0])), round(float(px[1])))


def worst_error_yd(found: Camera, scene: Scene, height_mm: float = 0.0) -> float:
    """Largest error over the field of positions at a height, yards, with true pixels in."""
    field = scene.field
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 15), np.linspace(0, field.width_mm, 9))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    px = scene.camera.to_pixels(np.column_stack([points, np.full(len(points), height_mm)]))
    return float(np.abs((found.to_board(px, height_mm) - points) / field.mm_per_yd).max())
