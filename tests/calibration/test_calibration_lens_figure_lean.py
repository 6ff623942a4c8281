"""How far figures lean outward tells how far away the camera is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.calibration.camera import Camera, Lens
from downfield.calibration.camera_fit import with_scaled_focal
from downfield.calibration.lens.figure_lean import (
    LEAN_LIMITS,
    StandingFigures,
    estimate_distance_from_lean,
    estimate_lens_from_lean,
)
from downfield.calibration.lens.prior import LENS_PRIOR_LIMITS, TypicalLens

_SIZE = (1920, 1080)
_FOCAL_PX = 1500.0


def _overhead(height_mm: float = 900.0) -> Camera:
    lens = Lens(_SIZE, (_FOCAL_PX, _FOCAL_PX), (959.5, 539.5), (0.0, 0.0, 0.0, 0.0, 0.0))
    return Camera(lens, (math.pi, 0.0, 0.0), (-500.0, 270.0, height_mm))


def _figures(camera: Camera, *, bent: float, tall: float = 1.0, count: int = 22, seed: int = 1) -> StandingFigures:
    """Figures about the board, every other facing the other way, so many of them bent far ahead."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform((80, 60), (920, 480), (count, 2))
    headings = rng.normal(0, 0.5, count) + np.arange(count) % 2 * math.pi
    facing = np.stack([np.cos(headings), np.sin(headings)], axis=1)
    left = np.stack([-facing[:, 1], facing[:, 0]], axis=1)
    half = np.array([(13, 8), (13, -8), (-13, -8), (-13, 8)])
    corners = middles[:, None] + half[:, :1] * facing[:, None] + half[:, 1:] * left[:, None]
    ahead = np.where(rng.random(count) < bent, 10.0, 2.0)
    heights = tall * (LEAN_LIMITS.helmet_mm - 0.1 * ahead**2)
    helmets = np.column_stack([middles + ahead[:, None] * facing, heights])
    tops = np.concatenate([corners, np.full((count, 4, 1), 5.5)], axis=2)
    return StandingFigures(camera.to_pixels(tops), camera.to_pixels(helmets))


@given(ratio=st.floats(0.65, 1.6), bent=st.sampled_from((0.0, 0.3, 0.8)), seed=st.integers(0, 50))
def test_a_wrong_distance_is_measured(ratio: float, bent: float, seed: int) -> None:
    camera = _overhead()
    distance = estimate_distance_from_lean(with_scaled_focal(camera, ratio), _figures(camera, bent=bent, seed=seed))
    assert distance is not None
    assert distance.log_ratio == pytest.approx(math.log(ratio), abs=2 * distance.spread)
    assert 0.2 < distance.spread < 0.35


def test_small_figures_change_the_distance_only_within_the_spread_of_figures() -> None:
    camera = _overhead()
    distance = estimate_distance_from_lean(camera, _figures(camera, bent=0.0, tall=0.85))
    assert distance is not None
    assert -0.2 < distance.log_ratio < -0.05


def test_a_few_wrong_detections_change_little() -> None:
    camera = _overhead()
    standing = _figures(camera, bent=0.2)
    spoilt = standing.helmets_px.copy()
    spoilt[:3] += 90.0
    right, wrong = (
        estimate_distance_from_lean(camera, each) for each in (standing, StandingFigures(standing.corners_px, spoilt))
    )
    assert right is not None
    assert wrong is not None
    assert wrong.log_ratio == pytest.approx(right.log_ratio, abs=0.05)


def test_too_few_figures_give_no_distance() -> None:
    camera = _overhead()
    assert estimate_distance_from_lean(camera, _figures(camera, bent=0.0, count=5)) is None
    assert estimate_lens_from_lean(camera, StandingFigures(np.zeros((0, 4, 2)), np.zeros((0, 2)))) is None


def test_the_lens_is_known_better_and_shorter_when_the_camera_is_nearer() -> None:
    camera = _overhead()
    lens = estimate_lens_from_lean(with_scaled_focal(camera, 1.3), _figures(camera, bent=0.3))
    assert lens is not None
    assert lens.focal_spread < 0.8 * LENS_PRIOR_LIMITS.focal_spread
    assert lens.focal * _SIZE[0] == pytest.approx(_FOCAL_PX, rel=0.12)


def test_two_sources_of_a_focal_length_are_averaged() -> None:
    both = TypicalLens(_SIZE, focal=0.8, focal_spread=0.2).combined_with(0.5, 0.2)
    assert both.focal == pytest.approx(math.sqrt(0.8 * 0.5))
    assert both.focal_spread == pytest.approx(0.2 / math.sqrt(2))
