"""The online calibrator: shake, a bump, drift, a field out of sight."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, camera_over, photograph, worst_error_yd

from downfield.calibration.calibration import Calibration
from downfield.calibration.online.calibrator import CalibrationStatus, DriftDetector, OnlineCalibrator
from downfield.calibration.online.shake import Shake
from downfield.core.arrays import Image
from downfield.core.errors import InputError

FRAME_NS = 100_000_000
VIDEO_FRAME_NS = 33_333_333
SIZE = (1280, 720)


def covariance() -> tuple[tuple[float, ...], ...]:
    sigma = [1.0, 1.0, 1.0, 1.0, 2e-3, 2e-3, 1e-4, 1e-4, 2e-3, *([0.1] * 10)]
    return tuple(map(tuple, np.diag(np.square(sigma)).tolist()))


@pytest.fixture(scope="module")
def before() -> Scene:
    return photograph(camera=camera_over(TUDOR, SIZE), figures=8)


@pytest.fixture(scope="module")
def after(before: Scene) -> Scene:
    """The same table after a bump of some ten pixels."""
    rx, ry, rz = before.camera.rotation
    tx, ty, tz = before.camera.translation_mm
    bumped = dataclasses.replace(
        before.camera, rotation=(rx + 0.004, ry - 0.003, rz + 0.002), translation_mm=(tx + 5.0, ty - 4.0, tz + 2.0)
    )
    return photograph(camera=bumped, figures=8)


@pytest.fixture
def calibrator(before: Scene) -> Iterator[OnlineCalibrator]:
    calibrator = OnlineCalibrator(
        Calibration(TUDOR, before.camera, "field", covariance=covariance()), in_background=False
    )
    yield calibrator
    calibrator.close()


def moved(image: Image, dx: float, dy: float) -> Image:
    move = np.array([[1.0, 0.0, dx], [0.0, 1.0, dy]])
    return np.asarray(
        cv2.warpAffine(image, move, SIZE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8
    )


def shown(calibrator: OnlineCalibrator, images: list[Image], start: int = 0) -> list[CalibrationStatus]:
    return [calibrator.update(image, (start + i) * FRAME_NS) for i, image in enumerate(images)]


def test_the_camera_follows_shake(calibrator: OnlineCalibrator, before: Scene) -> None:
    status = shown(calibrator, [before.image, moved(before.image, 1.2, -0.7)])
    assert status[0].calibration.camera == before.camera
    assert all(frame.trusted and frame.state == "steady" for frame in status)
    goal = np.array([0.0, 0.0])
    shift = status[1].calibration.camera.to_pixels(goal) - before.camera.to_pixels(goal)
    np.testing.assert_allclose(shift, (1.2, -0.7), atol=0.1)


def test_a_camera_slightly_off_its_calibration_is_solved_at_once(calibrator: OnlineCalibrator, before: Scene) -> None:
    swayed = moved(before.image, 0.6, -0.4)
    status = shown(calibrator, [swayed] * 3)
    goal = np.array([[0.0, 0.0], [TUDOR.length_mm, TUDOR.width_mm]])
    shift = status[-1].calibration.camera.to_pixels(goal) - before.camera.to_pixels(goal)
    np.testing.assert_allclose(shift, [(0.6, -0.4)] * 2, atol=0.2)
    assert all(frame.trusted and frame.solutions == 0 for frame in status)


def test_a_bump_suspends_until_it_is_solved_again(calibrator: OnlineCalibrator, before: Scene, after: Scene) -> None:
    status = shown(calibrator, [before.image] * 3 + [after.image] * 12)
    assert all(frame.trusted for frame in status[:3])
    noticed = next(i for i, frame in enumerate(status) if frame.state == "bumped") - 3
    assert noticed * FRAME_NS <= 500_000_000
    assert "the camera was moved" in status[3 + noticed].problems[0]
    solved = next(i for i, frame in enumerate(status) if frame.solutions) - 3
    assert solved * FRAME_NS <= 2_000_000_000
    assert status[-1].trusted
    assert status[-1].solutions == 1
    assert worst_error_yd(status[-1].calibration.camera, after) < 0.08


def test_a_slow_drift_is_solved_again_without_suspending_calls(calibrator: OnlineCalibrator, before: Scene) -> None:
    steps = [moved(before.image, px, 0.0) for px in np.linspace(0, 1.4, 8)]
    frames = [step for step in steps for _ in range(4)]
    status = [calibrator.update(image, i * 1_000_000_000) for i, image in enumerate(frames)]
    assert all(frame.trusted for frame in status)
    assert status[-1].solutions >= 1


@pytest.mark.parametrize("shift_px", [3.0, 25.0, -14.0])
def test_a_picture_that_was_shifted_is_solved_again_by_itself(
    calibrator: OnlineCalibrator, before: Scene, shift_px: float
) -> None:
    shifted = moved(before.image, 0.8 * shift_px, -0.6 * shift_px)
    status = shown(calibrator, [before.image] * 3 + [shifted] * 10)
    assert [frame.trusted for frame in status[:3]] == [True] * 3
    assert not status[4].trusted
    assert status[-1].trusted
    assert status[-1].solutions == 1
    ends = np.array([[0.0, 0.0], [TUDOR.length_mm, TUDOR.width_mm]])
    shift = status[-1].calibration.camera.to_pixels(ends) - before.camera.to_pixels(ends)
    np.testing.assert_allclose(shift, [(0.8 * shift_px, -0.6 * shift_px)] * 2, atol=0.3)


@pytest.mark.parametrize("px_per_s", [2.0, 6.0])
def test_a_picture_that_slips_is_followed_and_solved_again_and_again(
    calibrator: OnlineCalibrator, before: Scene, px_per_s: float
) -> None:
    times_ns = [i * VIDEO_FRAME_NS for i in range(75)]
    gray = np.asarray(cv2.cvtColor(before.image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)  # as some cameras send
    status = [calibrator.update(moved(gray, px_per_s * t_ns / 1e9, 0.0), t_ns) for t_ns in times_ns]
    assert sum(frame.trusted for frame in status) > 35
    assert status[-1].solutions >= 2
    rested = moved(gray, px_per_s * times_ns[-1] / 1e9, 0.0)
    still = [calibrator.update(rested, times_ns[-1] + i * FRAME_NS) for i in range(1, 15)]
    assert still[-1].trusted


def test_a_place_is_less_sure_the_farther_the_camera_was_followed(calibrator: OnlineCalibrator, before: Scene) -> None:
    status = shown(calibrator, [before.image, before.image, moved(before.image, 1.8, 0.0)])[1:]
    middle = [frame.calibration.camera.to_pixels(np.array([[600.0, 300.0]])) for frame in status]
    sigmas = [
        float(np.sqrt(np.trace(frame.calibration.to_board_with_cov(px)[1][0])))
        for frame, px in zip(status, middle, strict=True)
    ]
    assert sigmas[1] > sigmas[0]


def test_a_field_out_of_sight_is_reported_and_found_again(
    calibrator: OnlineCalibrator, before: Scene, after: Scene
) -> None:
    dark = np.full_like(before.image, 40)
    status = shown(calibrator, [before.image] * 2 + [dark] * 8)
    assert status[-1].state == "lost"
    assert "not in the picture" in status[-1].problems[0]
    back = shown(calibrator, [after.image] * 14, start=len(status))
    assert back[-1].trusted
    assert worst_error_yd(back[-1].calibration.camera, after) < 0.08


def test_an_unsolvable_picture_reports_why_and_recovers(calibrator: OnlineCalibrator, before: Scene) -> None:
    cut = moved(before.image, 200.0, 0.0)
    status = shown(calibrator, [before.image] * 2 + [moved(before.image, 20.0, 0.0)] * 3 + [cut] * 14)
    assert not status[-1].trusted
    assert status[-1].solutions == 0
    assert shown(calibrator, [before.image] * 8, start=len(status))[-1].trusted


def test_solving_runs_in_the_background(before: Scene, after: Scene) -> None:
    calibrator = OnlineCalibrator(Calibration(TUDOR, before.camera, "field", covariance=covariance()))
    try:
        status = shown(calibrator, [before.image] * 2 + [after.image] * 8)
        assert status[-1].state == "resolving"
        assert "calibrated again" in status[-1].problems[0]
        deadline = time.monotonic() + 30.0
        t_ns = 11 * FRAME_NS
        while not (last := calibrator.update(after.image, t_ns)).solutions and time.monotonic() < deadline:
            t_ns += FRAME_NS // 10
        assert last.trusted
    finally:
        calibrator.close()


def test_a_blank_print_is_reported_and_another_size_is_refused(calibrator: OnlineCalibrator, before: Scene) -> None:
    blank = calibrator.update(np.full_like(before.image, 90), 0)
    assert blank.state == "lost"
    assert blank.problems == (
        "too little of the print is in view to follow the camera: clear the field and light it evenly",
    )
    assert calibrator.update(before.image, FRAME_NS).trusted
    with pytest.raises(InputError, match="320x180 px, but the table was calibrated at 1280x720"):
        calibrator.update(cv2.resize(before.image, (320, 180)), 2 * FRAME_NS)  # type: ignore[arg-type]


def drift_states(displaced_px: list[float], share: float = 1.0) -> list[str]:
    detector = DriftDetector()
    return [
        detector.update(Shake(np.eye(2, 3), np.array([px, 0.0]), share, abs(px)), i * VIDEO_FRAME_NS).state
        for i, px in enumerate(displaced_px)
    ]


def test_shake_is_not_a_bump() -> None:
    assert set(drift_states([3.0 * (-1) ** i * (i % 3 == 0) for i in range(60)])) == {"steady"}


def test_a_bump_is_noticed_within_two_frames_and_solved_again_once_still() -> None:
    seen = drift_states([0.0] * 10 + [4.0 + i for i in range(20)] + [25.0] * 40)
    assert seen[:10] == ["steady"] * 10
    assert seen.index("bumped") - 10 <= 2
    assert seen[29] == "bumped"
    assert seen[-1] == "resolving"
    assert seen.index("resolving") - 30 <= 30


def test_leaning_on_the_table_and_letting_go_needs_no_new_solution() -> None:
    assert drift_states([0.0] * 5 + [5.0] * 12 + [0.1] * 30)[-1] == "steady"


def test_a_field_out_of_sight_is_lost_and_comes_back() -> None:
    detector = DriftDetector()
    covered = Shake(np.eye(2, 3), np.zeros(2), 0.05, 0.0)
    clear = Shake(np.eye(2, 3), np.zeros(2), 1.0, 0.0)
    seen = [detector.update(covered, i * VIDEO_FRAME_NS) for i in range(20)]
    assert seen[0].trusted
    assert seen[-1].state == "lost"
    assert not seen[-1].trusted
    again = [detector.update(clear, (20 + i) * VIDEO_FRAME_NS).state for i in range(25)]
    assert again[-1] == "steady"


def test_drift_is_what_stays_and_sway_is_none() -> None:
    drift = [i / 100 for i in range(120)]
    sway = [1.8 * abs(math.sin(i * 0.45)) for i in range(120)]
    for drifts, displaced in ((True, drift), (False, sway)):
        detector = DriftDetector()
        status = [
            detector.update(Shake(np.eye(2, 3), np.array([px, 0.0]), 1.0, px), i * VIDEO_FRAME_NS)
            for i, px in enumerate(displaced)
        ]
        assert (max(one.drift_px for one in status) > 0.9) == drifts
        assert {one.state for one in status} == {"steady"}
