"""What the filter believes of a base whose front is hidden for a while."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.vision.tracking.kalman import HEADING, LENGTH, Motion, X

FRAME_S = 1 / 30


def standing() -> Motion:
    pose, cov = np.array([[100.0, 50.0, 0.0, 30.0, 18.0]]), np.diag([0.04, 0.04, 1e-4])[None]
    return Motion.standing(pose, cov, np.full((1, 2), 0.3))


def edges(front_mm: float, rear_mm: float) -> np.ndarray:
    """Noise of a measurement whose front and rear edges have these errors; its middle errs as its length does."""
    noise = np.diag([(front_mm**2 + rear_mm**2) / 4, 0.04, 1e-3, front_mm**2 + rear_mm**2, 0.04])
    noise[0, 3] = noise[3, 0] = (front_mm**2 - rear_mm**2) / 2
    return noise[None]


@pytest.mark.parametrize("short_mm", [2.0, 8.0, -5.0])
def test_a_front_mistaken_for_seconds_changes_neither_the_size_nor_the_place(short_mm: float) -> None:
    motion = standing()
    seen = np.array([[100.0 - short_mm / 2, 50.0, 0.0, 30.0 - short_mm, 18.0]])
    for _ in range(90):
        motion.predict(FRAME_S, np.array(["walking"]))
        motion.correct(np.array([0]), seen, edges(2.0, 0.3), FRAME_S)
    assert abs(motion.mean[0, LENGTH] - 30.0) < 1.5
    assert abs(motion.mean[0, X] - 100.0) < 1.0
    assert abs(motion.mean[0, HEADING]) < 0.05


def test_a_size_that_was_mistaken_at_first_is_learned() -> None:
    motion = standing()
    for _ in range(600):
        motion.predict(FRAME_S, np.array(["standing"]))
        motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 31.0, 18.0]]), edges(0.4, 0.4), FRAME_S)
    assert motion.mean[0, LENGTH] == pytest.approx(31.0, abs=0.3)


def test_a_size_is_learned_as_fast_at_any_frame_rate() -> None:
    learned = []
    for fps in (15, 30, 60):
        motion = standing()
        for _ in range(3 * fps):
            motion.predict(1 / fps, np.array(["standing"]))
            motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 31.0, 18.0]]), edges(0.4, 0.4), 1 / fps)
        learned.append(float(motion.mean[0, LENGTH]) - 30.0)
    assert learned == pytest.approx([learned[1]] * 3, rel=0.2)


def test_its_errors_stay_errors() -> None:
    motion = standing()
    for _ in range(200):
        motion.predict(FRAME_S, np.array(["walking"]))
        motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 30.0, 18.0]]), edges(1.0, 0.3), FRAME_S)
        assert np.linalg.eigvalsh(motion.cov[0]).min() > 0
        np.testing.assert_allclose(motion.cov[0], motion.cov[0].T)
