"""Camera shake, tracked on the print."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph

from downfield.calibration.online.shake import MovingCamera, Shake, ShakeTracker
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError

FRAME_NS = 33_333_333


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


def moved_by(dx: float, dy: float, turn_deg: float) -> Array:
    turn: Array = np.asarray(cv2.getRotationMatrix2D((960, 540), turn_deg, 1.0), dtype=np.float64)
    moved: Array = turn + np.array([[0.0, 0.0, dx], [0.0, 0.0, dy]])
    return moved


def shifted(image: Image, dx: float, dy: float, turn_deg: float = 0.0) -> Image:
    move = moved_by(dx, dy, turn_deg)
    return np.asarray(cv2.warpAffine(image, move, (1920, 1080), flags=cv2.INTER_CUBIC), dtype=np.uint8)


@pytest.mark.parametrize(("dx", "dy", "turn"), [(0.0, 0.0, 0.0), (2.6, -1.3, 0.0), (-1.0, 0.5, 0.06), (14.0, 9.0, 0.3)])
def test_shake_is_tracked_to_a_tenth_of_a_pixel_over_the_field(scene: Scene, dx: float, dy: float, turn: float) -> None:
    tracker = ShakeTracker(scene.image, scene.camera, TUDOR)
    rng = np.random.default_rng(3)
    noisy = shifted(scene.image, dx, dy, turn) + rng.normal(0, 2, scene.image.shape)
    shake = tracker.track(np.clip(noisy, 0, 255).astype(np.uint8))
    move = moved_by(dx, dy, turn)
    ends = scene.camera.to_pixels(TUDOR.to_mm(np.array([(0.0, 0.0), (100.0, 0.0), (0.0, 53.3), (100.0, 53.3)])))
    truth = ends @ move[:, :2].T + move[:, 2]
    np.testing.assert_allclose(ends @ shake.move[:, :2].T + shake.move[:, 2], truth, atol=0.1)


def test_the_moved_camera_sees_the_field_where_it_is_now(scene: Scene) -> None:
    move = np.array([[1.0, -0.0005, 2.5], [0.0005, 1.0, -1.5]])
    camera = MovingCamera(scene.camera, TUDOR).at(Shake(move, np.zeros(2), 1.0, 3.0))
    points = TUDOR.to_mm(np.array([(5.0, 5.0), (50.0, 26.0), (95.0, 50.0)]))
    expected = scene.camera.to_pixels(points) @ move[:, :2].T + move[:, 2]
    np.testing.assert_allclose(camera.to_pixels(points), expected, atol=0.25)


def test_a_picture_without_print_cannot_be_followed(scene: Scene) -> None:
    with pytest.raises(CalibrationError, match="too little of the print"):
        ShakeTracker(np.full_like(scene.image, 90), scene.camera, TUDOR)


def test_few_points_follow_when_the_field_is_covered(scene: Scene) -> None:
    tracker = ShakeTracker(scene.image, scene.camera, TUDOR)
    assert tracker.track(np.full_like(scene.image, 40)).share < 0.25


def test_a_hash_mark_is_not_mistaken_for_the_next_one(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = ShakeTracker(scene.image, scene.camera, TUDOR)
    here, next_ = scene.camera.to_pixels(TUDOR.to_mm(np.array([(50.0, 26.0), (51.0, 26.0)])))
    from_afar = np.array([[1.0, 0.0, next_[0] - here[0]], [0.0, 1.0, next_[1] - here[1]]])
    monkeypatch.setattr(tracker, "_coarse", lambda _gray: from_afar)
    hidden = shifted(scene.image, 0.6, 0.3)
    hidden[:, :1060] = 90  # so much that what is left is not enough to be sure
    for _ in range(3):
        shake = tracker.track(hidden)
        np.testing.assert_allclose(shake.move[:, 2], (0.6, 0.3), atol=0.3)
