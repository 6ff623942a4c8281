"""A certificate is made from a picture of the calibrated camera and board, and from no other."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph

from downfield.calibration.calibration import Calibration
from downfield.calibration.picture_match import check_same_view, match_picture
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


@pytest.fixture(scope="module")
def calibration(scene: Scene) -> Calibration:
    return Calibration(TUDOR, scene.camera, "truth")


def moved(image: Image, x_px: float, y_px: float) -> Image:
    height, width = image.shape[:2]
    shift = np.array([[1.0, 0.0, x_px], [0.0, 1.0, y_px]])
    return np.asarray(cv2.warpAffine(image, shift, (width, height)), dtype=np.uint8)


def test_the_calibrated_picture_is_accepted(scene: Scene, calibration: Calibration) -> None:
    check_same_view(scene.image, calibration)
    assert match_picture(scene.image, calibration).is_same_view


def test_a_cropped_or_scaled_picture_is_refused(scene: Scene, calibration: Calibration) -> None:
    for image in (scene.image[:, :1280], cv2.resize(scene.image, (1280, 720))):
        with pytest.raises(CalibrationError, match=r"but the calibration is for 1920x1080"):
            check_same_view(np.asarray(image, dtype=np.uint8), calibration)


def test_a_moved_camera_and_another_table_are_refused(scene: Scene, calibration: Calibration) -> None:
    with pytest.raises(CalibrationError, match="the picture is not of the calibrated table"):
        check_same_view(moved(scene.image, 30, 17), calibration)
    with pytest.raises(CalibrationError, match="the picture is not of the calibrated table"):
        check_same_view(np.full_like(scene.image, 90), calibration)
    assert not match_picture(moved(scene.image, 4, 4), calibration).is_same_view
