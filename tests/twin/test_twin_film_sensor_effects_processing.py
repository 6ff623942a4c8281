"""A webcam's own processing of its picture."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Image
from downfield.twin.film.sensor_effects import color_matrix, process
from downfield.twin.table.appearance import Processing

PLAIN = Processing()


def edge() -> Image:
    """A gray picture with a brighter right half."""
    image = np.full((40, 60, 3), 100, dtype=np.uint8)
    image[:, 30:] = 160
    return image


def noisy(seed: int = 0) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def test_a_camera_that_does_nothing_changes_nothing() -> None:
    assert np.abs(process(noisy(), PLAIN).astype(int) - noisy()).max() <= 1


def test_sharpening_overshoots_at_an_edge_and_nowhere_else() -> None:
    out = process(edge(), dataclasses.replace(PLAIN, sharpen=1.0))
    assert out.max() > 165
    assert out.min() < 95
    assert (out[:, :20] == 100).all()
    assert (out[:, -20:] == 160).all()


def test_without_saturation_all_is_gray() -> None:
    out = process(noisy(), dataclasses.replace(PLAIN, saturation=0.0)).astype(int)
    assert np.ptp(out, axis=2).max() <= 1


@given(st.floats(0, 2), st.floats(-30, 30), st.integers(0, 255))
def test_grays_keep_their_level_whatever_is_done_to_colors(saturation: float, hue_deg: float, level: int) -> None:
    gray = np.full(3, float(level))
    np.testing.assert_allclose(color_matrix(saturation, hue_deg) @ gray, gray, atol=1e-3 * max(level, 1))


def test_colors_fringe_outward_from_the_middle() -> None:
    image = np.full((81, 121, 3), 20, dtype=np.uint8)
    image[38:43, 108:111] = 250
    out = process(image, dataclasses.replace(PLAIN, aberration_px=3.0)).astype(float) - 20
    blue, green, red = (
        float((np.arange(121) * out[..., channel].sum(axis=0)).sum() / out[..., channel].sum()) for channel in range(3)
    )
    assert blue < green - 1 < red - 2


def test_smoothing_takes_noise_and_leaves_edges() -> None:
    image = np.clip(edge() + np.random.default_rng(1).normal(0, 6, (40, 60, 3)), 0, 255).astype(np.uint8)
    out = process(image, dataclasses.replace(PLAIN, denoise=1.0)).astype(float)
    assert out[:, :25].std() < 0.7 * image[:, :25].std()
    assert out[:, 31].mean() - out[:, 28].mean() > 45


@pytest.mark.parametrize(
    ("change", "brighter"), [({"gamma": 0.8}, True), ({"black": 0.05}, True), ({"gamma": 1.3}, False)]
)
def test_levels_follow_gamma_and_black(change: dict[str, float], *, brighter: bool) -> None:
    out = process(edge(), dataclasses.replace(PLAIN, **change))
    assert bool(out.mean() > edge().mean()) is brighter
