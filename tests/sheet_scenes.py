"""Photographs of the printed sheet through a known lens."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.calibration.camera import Lens
from downfield.calibration.lens.lens_calibration import Sheet
from downfield.core.arrays import Image

LENS = Lens((1280, 720), (980.0, 980.0), (650.0, 352.0), (-0.12, 0.03, 0.0005, -0.0003, 0.0))
DOTS = 4  # per mm


def drawn(sheet: Sheet) -> Image:
    """The sheet as its own rectangles lay it out."""
    page = np.full((round(sheet.rows * sheet.square_mm * DOTS), round(sheet.columns * sheet.square_mm * DOTS)), 255)
    for x, y, w, h in sheet.rectangles_mm():
        page[round(y * DOTS) : round((y + h) * DOTS), round(x * DOTS) : round((x + w) * DOTS)] = 0
    return page.astype(np.uint8)


def filmed(page: Image, turn: tuple[float, float, float], shift: tuple[float, float, float]) -> Image:
    """A page (its own frame: y down, mm) through the lens."""
    rotation = np.asarray(cv2.Rodrigues(np.array(turn))[0], dtype=np.float64)
    x, y = np.meshgrid(np.arange(LENS.size_px[0]), np.arange(LENS.size_px[1]))
    rays = LENS.undistort(np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float64))
    plane = np.column_stack([rotation[:, 0], rotation[:, 1], shift])
    at = np.column_stack([rays, np.ones(len(rays))]) @ np.linalg.inv(plane).T
    places = (at[:, :2] / at[:, 2:] * DOTS - 0.5).reshape(*x.shape, 2).astype(np.float32)
    soft = cv2.GaussianBlur(page, (0, 0), 1.5)
    seen = cv2.remap(soft, places[..., 0], places[..., 1], cv2.INTER_LINEAR, borderValue=(200,))
    return np.asarray(seen, dtype=np.uint8)
