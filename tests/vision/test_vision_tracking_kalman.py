"""The motion filter of a base whose front is hidden for a while."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.vision.tracking.kalman import HEADING, LENGTH, MotionFilter, MotionMode, X

FRAME_S = 1 / 30


def standing() -> MotionFilter:
    pose, cov = np.array([[100.0, 50.0, 0.0, 30.0, 18.0]]), np.diag([0.04, 0.04, 1e-4])[None]
    return MotionFilter.standing(pose, cov, np.full((1, 2), 0.3))


def edges(front_mm: float, rear_mm: float) -> np.ndarray:
    """Noise of a measurement whose front and rear edges have these errors; its center errs as its length does."""
    noise = np.diag([(front_mm**2 + rear_mm**2) / 4, 0.04, 1e-3, front_mm**2 + rear_mm**2, 0.04])
    noise[0, 3] = noise[3, 0] = (front_mm**2 - rear_mm**2) / 2
    return noise[None]


@pytest.mark.parametrize("short_mm", [2.0, 8.0, -5.0])
def test_a_front_edge_mistaken_for_seconds_changes_neither_size_nor_place(short_mm: float) -> None:
    motion = standing()
    measured = np.array([[100.0 - short_mm / 2, 50.0, 0.0, 30.0 - short_mm, 18.0]])
    for _ in range(90):
        motion.predict(FRAME_S, np.array([MotionMode.WALKING]))
        motion.correct(np.array([0]), measured, edges(2.0, 0.3), FRAME_S)
    assert abs(motion.mean[0, LENGTH] - 30.0) < 1.5
    assert abs(motion.mean[0, X] - 100.0) < 1.0
    assert abs(motion.mean[0, HEADING]) < 0.05


def test_a_wrong_initial_size_is_corrected() -> None:
    motion = standing()
    for _ in range(600):
        motion.predict(FRAME_S, np.array([MotionMode.STANDING]))
        motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 31.0, 18.0]]), edges(0.4, 0.4), FRAME_S)
    assert motion.mean[0, LENGTH] == pytest.approx(31.0, abs=0.3)


def test_a_size_is_corrected_equally_fast_at_any_frame_rate() -> None:
    corrected_mm = []
    for fps in (15, 30, 60):
        motion = standing()
        for _ in range(3 * fps):
            motion.predict(1 / fps, np.array([MotionMode.STANDING]))
            motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 31.0, 18.0]]), edges(0.4, 0.4), 1 / fps)
        corrected_mm.append(float(motion.mean[0, LENGTH]) - 30.0)
    assert corrected_mm == pytest.approx([corrected_mm[1]] * 3, rel=0.2)


def test_covariances_stay_positive_and_symmetric() -> None:
    motion = standing()
    for _ in range(200):
        motion.predict(FRAME_S, np.array([MotionMode.WALKING]))
        motion.correct(np.array([0]), np.array([[100.0, 50.0, 0.0, 30.0, 18.0]]), edges(1.0, 0.3), FRAME_S)
        assert np.linalg.eigvalsh(motion.cov[0]).min() > 0
        np.testing.assert_allclose(motion.cov[0], motion.cov[0].T)


@pytest.mark.parametrize(
    ("place_mm", "off_mm"), [((100.0, 50.0), 0.0), ((104.0, 50.0), 0.0), ((110.0, 50.0), 4.0), ((103.0, 57.0), 7.0)]
)
def test_a_base_that_stops_on_its_way_is_not_off_it(place_mm: tuple[float, float], off_mm: float) -> None:
    motion = standing()
    motion.measured[0, 2:4] = 90.0, 0.0
    assert motion.off_way_mm(np.array([place_mm]), np.array([round(1e9 / 15)])) == pytest.approx(np.array([[off_mm]]))


@pytest.mark.parametrize(("stated", "times"), [(1.0, 1.0), (2.0, 1.0), (0.5, 2.0), (0.1, 4.0)])
def test_errors_larger_than_stated_are_noticed(stated: float, times: float) -> None:
    rng, count = np.random.default_rng(3), 22
    pose = np.tile([0.0, 0.0, 0.0, 30.0, 18.0], (count, 1))
    true = np.array([0.5, 0.5, 0.03, 0.5, 0.5])
    noise = np.tile(np.diag((stated * true) ** 2), (count, 1, 1))
    motion = MotionFilter.standing(pose, noise[:, :3, :3], np.full((count, 2), 0.3))
    found = []
    for _ in range(60):
        motion.predict(FRAME_S, np.full(count, MotionMode.STANDING))
        measured = pose + rng.normal(0, true, pose.shape)
        motion.note_misfit(motion.correct(np.arange(count), measured, noise, FRAME_S), FRAME_S)
        found.append(motion.misfit)
    assert abs(found[-1] - times) < 0.3 * times


def test_a_base_measured_far_too_small_is_as_much_in_doubt_as_the_edges_are_off() -> None:
    """As where a body over a hidden base is taken for it; along the base, however it is turned."""
    motion, rows = standing(), np.array([0])
    noise = np.diag([0.04, 0.04, 1e-3, 0.09, 0.09])[None]
    for length, width, sigma_mm in ((30.0, 18.0, (0.2, 0.2)), (26.0, 18.0, (0.2, 0.2)), (20.0, 12.0, (5.0, 3.0))):
        for turn, order in ((0.0, (0, 1)), (np.pi / 2, (1, 0))):
            pose = np.array([[100.0, 50.0, turn, length, width]])
            raised = motion.with_misplaced_edges(rows, pose, noise)[0]
            assert np.sqrt(np.diag(raised)[list(order)]) == pytest.approx(sigma_mm, abs=0.05)
            assert raised[2:, 2:] == pytest.approx(noise[0, 2:, 2:])
    small = np.array([[109.0, 50.0, 0.0, 20.0, 12.0]])
    motion.predict(FRAME_S, np.array([MotionMode.WALKING]))
    motion.correct(rows, small, motion.with_misplaced_edges(rows, small, noise), FRAME_S)
    assert abs(motion.mean[0, X] - 100.0) < 2.0, "a body's place is not the base's"
