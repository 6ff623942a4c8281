"""The slide's height, learned from where it was set: yards are right whatever height was described."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.calibration.camera import Camera, Lens
from downfield.core.strip import StripSet, load_strip
from downfield.vision.strip.slide_reader import SlideHeight

STRIP = load_strip()
CAMERA_MM = (60.0, 30.0, 240.0)
SIGMA_YD = 0.11


def camera() -> Camera:
    """A camera that looks straight down, away from the strip's middle."""
    x, y, z = CAMERA_MM
    lens = Lens((1920, 1080), (1600.0, 1600.0), (959.5, 539.5))
    return Camera(lens, rotation=(np.pi, 0.0, 0.0), translation_mm=(-x, y, z))


def described(height_mm: float) -> StripSet:
    return replace(STRIP, slide=replace(STRIP.slide, height_mm=height_mm))


def measured(yard: float, true_mm: float, described_mm: float) -> float:
    """Return where a line over a yard is measured, in yards: its ray crosses the described height elsewhere."""
    x, z = CAMERA_MM[0], CAMERA_MM[2]
    at_mm = yard * STRIP.field.mm_per_yd_x
    return (x + (at_mm - x) * (z - described_mm) / (z - true_mm)) / STRIP.field.mm_per_yd_x


def test_a_described_height_that_is_right_keeps_the_measured_yard() -> None:
    height = SlideHeight(described(2.5), camera())
    assert height.line_yd(measured(30.0, 2.5, 2.5)) == pytest.approx(30.0, abs=0.05)
    assert height.yard_confidence(measured(30.0, 2.5, 2.5), 30, SIGMA_YD) > 0.95


def test_a_wrong_height_is_learned_from_whole_yards() -> None:
    height = SlideHeight(described(2.5), camera())
    far = measured(95.0, 0.3, 2.5)
    assert height.yard_confidence(far, round(height.line_yd(far)), SIGMA_YD) < 0.95
    for yard in (35, 48, 61, 20, 74, 82):
        height.learn(measured(yard, 0.3, 2.5))
    assert height.mean_mm == pytest.approx(0.3, abs=0.8)
    assert round(height.line_yd(far)) == 95
    assert height.yard_confidence(far, 95, SIGMA_YD) > 0.9


def test_pictures_of_one_placement_count_once() -> None:
    once, often = SlideHeight(described(2.5), camera()), SlideHeight(described(2.5), camera())
    for height, pictures in ((once, 1), (often, 50)):
        for yard in (90.0, 35.0):
            for number in range(pictures):
                height.learn(measured(yard, 1.0, 2.5) + 0.001 * number)
    assert often.mean_mm == pytest.approx(once.mean_mm, abs=0.05)


def test_a_slide_half_way_between_two_yards_does_not_explain_itself_by_another_height() -> None:
    height = SlideHeight(described(2.5), camera())
    for yard in (35, 90, 12):
        height.learn(measured(yard, 2.5, 2.5))
    half = measured(95.5, 2.5, 2.5)
    for _ in range(20):
        height.learn(half)
    assert max(height.yard_confidence(half, yard, SIGMA_YD) for yard in (95, 96)) < 0.9


@settings(max_examples=60)
@given(true_mm=st.floats(0.0, 5.0), described_mm=st.floats(0.0, 4.0), seed=st.integers(0, 2**32 - 1))
def test_whatever_was_described_a_confident_yard_is_right(true_mm: float, described_mm: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    height = SlideHeight(described(described_mm), camera())
    for turn in range(14):
        yard = int(rng.integers(2, 99))
        at_yd = measured(yard + float(rng.uniform(-0.15, 0.15)), true_mm, described_mm)
        read = round(height.line_yd(at_yd))
        sure = height.yard_confidence(at_yd, read, SIGMA_YD)
        assert read == yard or sure <= 0.95, f"placement {turn}: {yard} was read as {read} with {sure:.3f}"
        height.learn(at_yd)
