"""Errors of a calibration over the whole field, against the camera and the print that made the picture."""

from __future__ import annotations

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel


def position_errors(
    calibration: Calibration, camera: Camera, field: FieldModel, height_mm: float
) -> tuple[Array, Array]:
    """Return errors at 231 places of the field, yards, and in standard deviations, both (n, 2); modulo a half turn.

    Places are compared in the yards of either print: where the calibration measured the print's proportions in the
    picture, its millimeters are not the true print's.

    Args:
        calibration: what was found.
        camera: the one that took the picture.
        field: the print in it.
        height_mm: of the places over the board.
    """
    found = calibration.field
    x, y = np.meshgrid(np.linspace(0, field.length_mm, 21), np.linspace(0, field.width_mm, 11))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    px = camera.to_pixels(np.column_stack([points, np.full(len(points), height_mm)]))
    board, covariance = calibration.to_board_with_cov(px, height_mm)
    true_yd = points / field.mm_per_yd
    turned = np.array([field.length_yd, field.width_yd]) - true_yd
    yards = board / found.mm_per_yd
    off = min((yards - true_yd, yards - turned), key=lambda error: float(np.abs(error).mean()))
    return off, off * found.mm_per_yd / np.sqrt(np.einsum("nii->ni", covariance))
