"""Refined outlines: right to fractions of a pixel with honest errors, and None where there is nothing to measure."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Image
from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.refinement import RefinedOutline, refine_outlines

PICTURE = (260, 200)
CAMERA = Camera(
    Lens(PICTURE, (1500.0, 1500.0), (PICTURE[0] / 2, PICTURE[1] / 2 - 15)),
    (math.pi - 0.25, 0.05, 0.1),
    (-150.0, 110.0, 1000.0),
)
SIZE = BaseSize(30.0, 18.0, 5.5, 1.0)
MIDDLE = (150.0, 100.0)
FIELD, BASE = (60, 130, 50), (40, 40, 45)
_FINE = 6  # pictures are drawn so many times larger and reduced


def rounded(at: Footprint, height_mm: float) -> Array:
    """A base's outline at a height in the image, shape (n, 2)."""
    around = np.linspace(0, math.pi / 2, 5)
    points = []
    for corner, core in enumerate(at.core_mm()):
        turn = math.radians(at.heading_deg) - math.pi / 2 * corner
        angles = turn + around[::-1]
        points.append(core + at.size.corner_mm * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    outline = np.concatenate(points)
    return CAMERA.to_pixels(np.column_stack([outline, np.full(len(outline), height_mm)]))


def picture(
    bases: list[Footprint], *, base: tuple[int, int, int] = BASE, arm: bool = False, noise: float = 2.0, seed: int = 0
) -> Image:
    """Bases on a field with a yard line, blurred and noisy like a camera's."""
    image = np.full((PICTURE[1] * _FINE, PICTURE[0] * _FINE, 3), FIELD, dtype=np.uint8)
    line = CAMERA.to_pixels(np.array([(176.0, 0.0), (178.5, 0.0), (178.5, 200.0), (176.0, 200.0)]))
    fill(image, line, (230, 230, 230))
    for at in bases:
        low, high = rounded(at, 0.0), rounded(at, at.size.height_mm)
        side = np.asarray(cv2.convexHull(np.concatenate([low, high]).astype(np.float32)), dtype=np.float64).reshape(
            -1, 2
        )
        fill(image, side, (base[0] // 2, base[1] // 2, base[2] // 2))
        fill(image, high, base)
    if arm:
        fill(
            image,
            CAMERA.to_pixels(np.array([(140.0, 80.0), (152.0, 84.0), (160.0, 120.0), (146.0, 118.0)])),
            (90, 110, 200),
        )
    small = cv2.resize(image, PICTURE, interpolation=cv2.INTER_AREA)
    blurred = np.asarray(cv2.GaussianBlur(small, (0, 0), 0.8), dtype=np.float64)
    shaken = blurred + np.random.default_rng(seed).normal(0, noise, blurred.shape)
    return np.clip(np.rint(shaken), 0, 255).astype(np.uint8)


def fill(image: Image, px: Array, color: tuple[int, int, int]) -> None:
    """A filled polygon of the small picture in the large one."""
    fine = np.rint(((px + 0.5) * _FINE - 0.5) * 16).astype(np.int32)
    cv2.fillPoly(image, [fine.reshape(-1, 1, 2)], color, shift=4)


def guess(at: Footprint, off: tuple[float, float, float] = (0.0, 0.0, 0.0), sigma_mm: float = 0.5) -> Estimate:
    """A tracker's estimate of a base, off by an offset."""
    there = Footprint(at.x_mm + off[0], at.y_mm + off[1], at.heading_deg + off[2], at.size)
    covariance = np.diag([sigma_mm**2, sigma_mm**2, math.radians(1.0) ** 2])
    return Estimate("dark-1", "dark", there, covariance, np.zeros(3))


def refined(image: Image, estimate: Estimate) -> RefinedOutline:
    """The outline of one figure that must be found."""
    (found,) = refine_outlines(image, CAMERA, [estimate])
    assert found is not None
    return found


def miss(found: RefinedOutline, at: Footprint) -> Array:
    """How far off it is: x mm, y mm, rad."""
    turn = math.remainder(found.footprint.heading_deg - at.heading_deg, 360.0)
    return np.array([found.footprint.x_mm - at.x_mm, found.footprint.y_mm - at.y_mm, math.radians(turn)])


@settings(max_examples=5)
@given(heading=st.floats(-180, 180), x=st.floats(-0.6, 0.6), y=st.floats(-0.6, 0.6), turn=st.floats(-1.2, 1.2))
def test_a_base_in_the_open_is_found_to_a_few_tenths_of_a_millimeter(
    heading: float, x: float, y: float, turn: float
) -> None:
    at = Footprint(*MIDDLE, heading, SIZE)
    off = miss(refined(picture([at]), guess(at, (x, y, turn))), at)
    assert np.abs(off[:2]).max() < 0.45  # of 150 drawn at random the worst is 0.40
    assert abs(off[2]) < math.radians(1.2)


@pytest.mark.parametrize("base", [(200, 200, 205), (70, 160, 70)])
def test_light_bases_and_green_ones_on_green_are_found(base: tuple[int, int, int]) -> None:
    at = Footprint(*MIDDLE, 30.0, SIZE)
    off = miss(refined(picture([at], base=base), guess(at, (0.5, -0.4, 1.0))), at)
    assert np.abs(off[:2]).max() < 0.25


def test_errors_agree_with_their_covariances() -> None:
    rng, squares = np.random.default_rng(3), []
    for seed in range(10):
        at = Footprint(*MIDDLE, float(rng.uniform(-180, 180)), SIZE)
        start = (float(rng.normal(0, 0.4)), float(rng.normal(0, 0.4)), float(rng.normal(0, 0.8)))
        found = refined(picture([at], noise=4.0, seed=seed), guess(at, start))
        off = miss(found, at)
        squares.append(float(off @ np.linalg.solve(found.covariance, off)))
    assert 0.1 < np.mean(squares) / 3 < 2.0


def test_an_arm_over_the_base_does_not_move_it() -> None:
    at = Footprint(*MIDDLE, 10.0, SIZE)
    image = picture([at], arm=True)
    off = miss(refined(image, guess(at, (0.4, 0.4, 0.5))), at)
    assert np.abs(off[:2]).max() < 0.35
    assert refined(image, guess(at)).support < refined(picture([at]), guess(at)).support


def test_a_touching_neighbor_does_not_move_it() -> None:
    at = Footprint(*MIDDLE, 0.0, SIZE)
    beside = Footprint(MIDDLE[0] + 30.0, MIDDLE[1] + 3.0, 0.0, SIZE)
    off = miss(refined(picture([at, beside]), guess(at, (0.5, -0.3, 0.0))), at)
    assert np.abs(off[:2]).max() < 0.35


def test_without_a_base_there_is_no_outline() -> None:
    assert refine_outlines(picture([]), CAMERA, [guess(Footprint(*MIDDLE, 0.0, SIZE))]) == [None]


def test_outside_the_image_there_is_no_outline() -> None:
    assert refine_outlines(picture([]), CAMERA, [guess(Footprint(4000.0, 100.0, 0.0, SIZE))]) == [None]


def test_no_estimates_give_no_outlines() -> None:
    assert refine_outlines(picture([]), CAMERA, []) == []


def test_an_outline_does_not_depend_on_the_other_estimates() -> None:
    at, other = Footprint(*MIDDLE, 20.0, SIZE), Footprint(100.0, 60.0, -40.0, replace(SIZE, length_mm=27.0))
    image = picture([at, other])
    alone = refined(image, guess(at, (0.3, 0.1, 0.0)))
    together = refine_outlines(image, CAMERA, [guess(other), guess(at, (0.3, 0.1, 0.0))])[1]
    assert together is not None
    assert together.footprint.x_mm == pytest.approx(alone.footprint.x_mm, abs=1e-6)
    np.testing.assert_allclose(together.covariance, alone.covariance, rtol=1e-6)
