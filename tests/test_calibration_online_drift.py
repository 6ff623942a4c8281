from __future__ import annotations

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph

from downfield.calibration.online.drift import DriftWatch
from downfield.calibration.online.shake import Shake, ShakeTracker, moved_camera
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
    np.testing.assert_allclose(shake.to_reference(truth), ends, atol=0.1)


def test_the_moved_camera_sees_the_field_where_it_is_now(scene: Scene) -> None:
    move = np.array([[1.0, -0.0005, 2.5], [0.0005, 1.0, -1.5]])
    camera = moved_camera(scene.camera, Shake(move, np.zeros(2), 1.0, 3.0), TUDOR)
    points = TUDOR.to_mm(np.array([(5.0, 5.0), (50.0, 26.0), (95.0, 50.0)]))
    expected = scene.camera.to_pixels(points) @ move[:, :2].T + move[:, 2]
    np.testing.assert_allclose(camera.to_pixels(points), expected, atol=0.25)


def test_a_picture_without_print_can_not_be_followed(scene: Scene) -> None:
    with pytest.raises(CalibrationError, match="too little of the print"):
        ShakeTracker(np.full_like(scene.image, 90), scene.camera, TUDOR)


def test_a_covered_field_is_seen_by_few_points(scene: Scene) -> None:
    tracker = ShakeTracker(scene.image, scene.camera, TUDOR)
    assert tracker.track(np.full_like(scene.image, 40)).share < 0.25


def test_a_yard_mark_that_looks_like_the_next_one_is_not_taken_for_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = ShakeTracker(scene.image, scene.camera, TUDOR)
    here, next_ = scene.camera.to_pixels(TUDOR.to_mm(np.array([(50.0, 26.0), (51.0, 26.0)])))
    from_afar = np.array([[1.0, 0.0, next_[0] - here[0]], [0.0, 1.0, next_[1] - here[1]]])
    monkeypatch.setattr(tracker, "_coarse", lambda _gray: from_afar)
    hidden = shifted(scene.image, 0.6, 0.3)
    hidden[:, :1060] = 90  # so much that what is left is not enough to be sure
    for _ in range(3):
        shake = tracker.track(hidden)
        np.testing.assert_allclose(shake.move[:, 2], (0.6, 0.3), atol=0.3)


def states(displaced_px: list[float], share: float = 1.0) -> list[str]:
    watch = DriftWatch()
    return [
        watch.update(Shake(np.eye(2, 3), np.array([px, 0.0]), share, abs(px)), i * FRAME_NS).state
        for i, px in enumerate(displaced_px)
    ]


def test_shake_is_no_bump() -> None:
    assert set(states([3.0 * (-1) ** i * (i % 3 == 0) for i in range(60)])) == {"steady"}


def test_a_bump_is_noticed_within_half_a_second_and_solved_again_once_still() -> None:
    seen = states([0.0] * 10 + [4.0 + i for i in range(20)] + [25.0] * 40)
    assert seen[:10] == ["steady"] * 10
    assert seen.index("bumped") - 10 <= 15
    assert seen[29] == "bumped"
    assert seen[-1] == "resolving"
    assert seen.index("resolving") - 30 <= 30


def test_leaning_on_the_table_and_letting_go_needs_no_new_solution() -> None:
    assert states([0.0] * 5 + [5.0] * 12 + [0.1] * 30)[-1] == "steady"


def test_a_field_out_of_sight_is_lost_and_comes_back() -> None:
    watch = DriftWatch()
    covered = Shake(np.eye(2, 3), np.zeros(2), 0.05, 0.0)
    clear = Shake(np.eye(2, 3), np.zeros(2), 1.0, 0.0)
    seen = [watch.update(covered, i * FRAME_NS) for i in range(20)]
    assert seen[0].trusted
    assert seen[-1].state == "lost"
    assert not seen[-1].trusted
    again = [watch.update(clear, (20 + i) * FRAME_NS).state for i in range(25)]
    assert again[-1] == "steady"


def test_creep_is_followed() -> None:
    watch = DriftWatch()
    drift = None
    for i in range(900):
        drift = watch.update(Shake(np.eye(2, 3), np.array([i / 900, 0.0]), 1.0, 1.0), i * FRAME_NS)
    assert drift is not None
    assert 0.7 < drift.creep_px < 1.0
    assert drift.state == "steady"
