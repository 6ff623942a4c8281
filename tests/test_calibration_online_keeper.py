"""Rendered sequences: shake, a bump, drift, a field out of sight."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, camera_over, photograph, worst_error_yd

from downfield.calibration.calibration import Calibration
from downfield.calibration.online.keeper import Keeper, Kept
from downfield.core.arrays import Image
from downfield.core.errors import InputError

FRAME_NS = 100_000_000
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
def keeper(before: Scene) -> Iterator[Keeper]:
    keeper = Keeper(Calibration(TUDOR, before.camera, "field", covariance=covariance()), in_background=False)
    yield keeper
    keeper.close()


def moved(image: Image, dx: float, dy: float) -> Image:
    move = np.array([[1.0, 0.0, dx], [0.0, 1.0, dy]])
    return np.asarray(
        cv2.warpAffine(image, move, SIZE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8
    )


def shown(keeper: Keeper, images: list[Image], start: int = 0) -> list[Kept]:
    return [keeper.see(image, (start + i) * FRAME_NS) for i, image in enumerate(images)]


def test_the_camera_goes_along_with_shake(keeper: Keeper, before: Scene) -> None:
    kept = shown(keeper, [before.image, moved(before.image, 1.2, -0.7)])
    assert kept[0].calibration.camera == before.camera
    assert all(one.trusted and one.state == "steady" for one in kept)
    goal = np.array([0.0, 0.0])
    shift = kept[1].calibration.camera.to_pixels(goal) - before.camera.to_pixels(goal)
    np.testing.assert_allclose(shift, (1.2, -0.7), atol=0.1)


def test_a_camera_that_stands_a_little_off_where_it_was_calibrated_is_solved_at_once(
    keeper: Keeper, before: Scene
) -> None:
    swayed = moved(before.image, 0.6, -0.4)
    kept = shown(keeper, [swayed] * 3)
    goal = np.array([[0.0, 0.0], [TUDOR.length_mm, TUDOR.width_mm]])
    shift = kept[-1].calibration.camera.to_pixels(goal) - before.camera.to_pixels(goal)
    np.testing.assert_allclose(shift, [(0.6, -0.4)] * 2, atol=0.2)
    assert all(one.trusted and one.solutions == 0 for one in kept)


def test_a_bump_suspends_until_it_is_solved_again(keeper: Keeper, before: Scene, after: Scene) -> None:
    kept = shown(keeper, [before.image] * 3 + [after.image] * 12)
    assert all(one.trusted for one in kept[:3])
    noticed = next(i for i, one in enumerate(kept) if one.state == "bumped") - 3
    assert noticed * FRAME_NS <= 500_000_000
    assert kept[3 + noticed].troubles == ("the camera was moved",)
    solved = next(i for i, one in enumerate(kept) if one.solutions) - 3
    assert solved * FRAME_NS <= 2_000_000_000
    assert kept[-1].trusted
    assert kept[-1].solutions == 1
    assert worst_error_yd(kept[-1].calibration.camera, after) < 0.08


def test_a_slow_drift_is_solved_again_without_a_stop(keeper: Keeper, before: Scene) -> None:
    steps = [moved(before.image, px, 0.0) for px in np.linspace(0, 1.4, 8)]
    frames = [step for step in steps for _ in range(4)]
    kept = [keeper.see(image, i * 1_000_000_000) for i, image in enumerate(frames)]
    assert all(one.trusted for one in kept)
    assert kept[-1].solutions >= 1


def test_a_field_out_of_sight_is_told_and_found_again(keeper: Keeper, before: Scene, after: Scene) -> None:
    dark = np.full_like(before.image, 40)
    kept = shown(keeper, [before.image] * 2 + [dark] * 8)
    assert kept[-1].state == "lost"
    assert "not in the picture" in kept[-1].troubles[0]
    back = shown(keeper, [after.image] * 14, start=len(kept))
    assert back[-1].trusted
    assert worst_error_yd(back[-1].calibration.camera, after) < 0.08


def test_what_can_not_be_solved_says_why_and_goes_on(keeper: Keeper, before: Scene) -> None:
    cut = moved(before.image, 60.0, 0.0)
    kept = shown(keeper, [before.image] * 2 + [moved(before.image, 20.0, 0.0)] * 3 + [cut] * 14)
    assert not kept[-1].trusted
    assert kept[-1].solutions == 0
    assert shown(keeper, [before.image] * 8, start=len(kept))[-1].trusted


def test_solving_goes_on_beside_the_frames(before: Scene, after: Scene) -> None:
    keeper = Keeper(Calibration(TUDOR, before.camera, "field", covariance=covariance()))
    try:
        kept = shown(keeper, [before.image] * 2 + [after.image] * 8)
        assert kept[-1].state == "resolving"
        assert "calibrated again" in kept[-1].troubles[0]
        deadline = time.monotonic() + 30.0
        t_ns = 11 * FRAME_NS
        while not (last := keeper.see(after.image, t_ns)).solutions and time.monotonic() < deadline:
            t_ns += FRAME_NS // 10
        assert last.trusted
    finally:
        keeper.close()


def test_a_print_that_can_not_be_followed_and_another_size_are_told(keeper: Keeper, before: Scene) -> None:
    blank = keeper.see(np.full_like(before.image, 90), 0)
    assert blank.state == "lost"
    assert blank.troubles == ("too little of the print is seen to follow it",)
    assert keeper.see(before.image, FRAME_NS).trusted
    with pytest.raises(InputError, match="320x180 px, but calibrated at 1280x720"):
        keeper.see(cv2.resize(before.image, (320, 180)), 2 * FRAME_NS)  # type: ignore[arg-type]
