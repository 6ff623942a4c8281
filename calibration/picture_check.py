"""Pictures that can't be calibrated from, and what to do about them."""

from __future__ import annotations

import cv2
import numpy as np

from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError

_DARK = 28.0  # gray level that 90% of a picture without light stays below
_BRIGHT = 250.0  # and that 60% of a burned-out one is above
_SMALLEST_PX = 480
_EMPTY = 20.0  # range of grays of a picture with nothing in it
_SHARP = 0.055  # steepest slopes over the picture's range of grays: out of focus below


def check_picture(image: Image) -> None:
    """Refuse a picture that is too small, dark or burned out.

    Raises:
        CalibrationError: saying which, and what to change.

    """
    height, width = image.shape[:2]
    if width < _SMALLEST_PX:
        raise CalibrationError(f"the picture is only {width} x {height} px: set the camera to 1920 x 1080")
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image
    if float(np.percentile(gray, 90)) < _DARK:
        raise CalibrationError("the picture is too dark: add light over the table or lengthen the exposure")
    if float(np.percentile(gray, 40)) > _BRIGHT:
        raise CalibrationError("the picture is burned out: shorten the exposure")


def is_blurred(image: Image) -> bool:
    """Whether even the sharpest edges of a picture are soft."""
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image, dtype=np.float32)
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.0)
    slope = np.hypot(*(cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3) / 8 for order in ((1, 0), (0, 1))))
    span = float(np.percentile(smooth, 99.5) - np.percentile(smooth, 0.5))
    return span > _EMPTY and float(np.percentile(slope, 99.5)) < _SHARP * span
