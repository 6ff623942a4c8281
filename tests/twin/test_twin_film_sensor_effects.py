from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_tables import camera_over

from downfield.core.arrays import Array, Image
from downfield.twin.film.sensor_effects import SensorEffects
from downfield.twin.render.renderer import BaseTop, RenderedFrame
from downfield.twin.table.appearance import Sensor

_SIZE = (320, 180)
_CAMERA = camera_over(_SIZE)
_PERFECT = Sensor(exposure_ms=0.0, noise=0.0, blur_px=0.0, jpeg=100)


def _flat(level: int) -> Image:
    return np.full((_SIZE[1], _SIZE[0], 3), level, dtype=np.uint8)


def _developed(sensor: Sensor, image: Image, *, seed: int = 1, t_ns: int = 0, power: bool = False) -> Image:
    effects = SensorEffects(sensor, _SIZE, seed)
    return effects.develop(RenderedFrame(t_ns, _CAMERA, image, ()), power=power).image


def _light(display: float) -> float:
    return float((display / 255) ** 2.2)


def test_a_perfect_sensor_changes_nothing() -> None:
    image = np.random.default_rng(1).integers(0, 256, (_SIZE[1], _SIZE[0], 3)).astype(np.uint8)
    assert (_developed(_PERFECT, image, power=True) == image).all()


def test_the_same_seed_and_time_give_the_same_picture_and_others_another() -> None:
    sensor = Sensor(noise=3.0, rolling_ms=10.0, buzz_px=0.5, shake_px=0.3, flicker=0.05, vignette=0.2)
    first = _developed(sensor, _flat(120), t_ns=10**9, power=True)
    assert (first == _developed(sensor, _flat(120), t_ns=10**9, power=True)).all()
    assert (first != _developed(sensor, _flat(120), t_ns=10**9, power=True, seed=2)).any()
    assert (first != _developed(sensor, _flat(120), t_ns=2 * 10**9, power=True)).any()


def test_noise_has_its_size_at_mid_gray_and_hides_in_black() -> None:
    sensor = dataclasses.replace(_PERFECT, noise=4.0)
    gray = _developed(sensor, _flat(128)).astype(float)
    assert gray.std() == pytest.approx(4.0, rel=0.1)
    assert gray.mean() == pytest.approx(128, abs=0.2)


def test_gain_and_white_balance_scale_light() -> None:
    sensor = dataclasses.replace(_PERFECT, gain=0.5, white_balance=(1.0, 1.2, 0.8))
    blue, green, red = (_light(level) / _light(150) for level in _developed(sensor, _flat(150))[90, 160])
    assert (red, green, blue) == pytest.approx((0.5, 0.6, 0.4), rel=0.02)


def test_the_vignette_darkens_corners_by_its_share() -> None:
    image = _developed(dataclasses.replace(_PERFECT, vignette=0.3), _flat(200))
    assert image[90, 160, 0] == 200
    assert _light(image[0, 0, 0]) / _light(200) == pytest.approx(0.7, abs=0.02)


def test_flicker_bands_the_rows_of_a_rolling_shutter() -> None:
    sensor = dataclasses.replace(_PERFECT, flicker=0.2, mains_hz=50.0, rolling_ms=20.0)
    rows = (_developed(sensor, _flat(150))[:, 160, 1] / 255.0) ** 2.2
    spectrum = np.abs(np.fft.rfft(rows / rows.mean() - 1))
    assert int(np.argmax(spectrum)) == 2  # 100 Hz over 20 ms
    assert np.ptp(rows) / rows.mean() == pytest.approx(0.4, abs=0.04)


def test_an_exposure_of_a_whole_flicker_period_shows_none() -> None:
    sensor = dataclasses.replace(_PERFECT, flicker=0.2, mains_hz=50.0, rolling_ms=20.0, exposure_ms=10.0)
    assert np.ptp(_developed(sensor, _flat(150))) <= 1


def test_the_picture_buzzes_only_while_the_board_is_on() -> None:
    effects = SensorEffects(dataclasses.replace(_PERFECT, buzz_px=0.8), _SIZE, 3)
    times = [int(t) for t in np.random.default_rng(1).integers(0, 10**9, 40)]
    assert all(effects.camera(_CAMERA, t, power=False) == _CAMERA for t in times)
    moved = _moves(effects, times, power=True)
    assert 0.4 < np.abs(moved).max() < 1.6


def test_sway_has_its_standard_deviation() -> None:
    effects = SensorEffects(dataclasses.replace(_PERFECT, shake_px=0.5), _SIZE, 3)
    moved = _moves(effects, [int(t * 1e9) for t in np.arange(0, 120, 0.37)], power=False)
    assert moved.std(axis=0) == pytest.approx([0.5, 0.5], rel=0.25)


def _moves(effects: SensorEffects, times: list[int], *, power: bool) -> Array:
    middle = np.array([480.0, 265.0, 0.0])
    still = _CAMERA.to_pixels(middle)
    return np.array([effects.camera(_CAMERA, t, power=power).to_pixels(middle) - still for t in times])


@settings(max_examples=15)
@given(
    row=st.floats(30, 150),
    column=st.floats(30, 290),
    t_ms=st.integers(0, 3000),
    rolling_ms=st.floats(0, 20),
    exposure_ms=st.floats(0.5, 8),
)
def test_truth_follows_rolling_shutter_and_buzz(
    row: float, column: float, t_ms: int, rolling_ms: float, exposure_ms: float
) -> None:
    sensor = dataclasses.replace(
        _PERFECT, buzz_px=1.0, shake_px=0.3, rolling_ms=rolling_ms, exposure_ms=exposure_ms, blur_px=0.5
    )
    y, x = np.mgrid[: _SIZE[1], : _SIZE[0]]
    spot = 250 * np.exp(-0.5 * ((x - column) ** 2 + (y - row) ** 2) / 3.0**2)
    image = np.repeat(spot[:, :, None], 3, axis=2).astype(np.uint8)
    corners = np.tile([column, row], (4, 1))
    frame = RenderedFrame(t_ms * 10**6, _CAMERA, image, (BaseTop("a", corners, (True,) * 4, 1.0),))
    moved = SensorEffects(sensor, _SIZE, 5).develop(frame, power=True)
    drawn = moved.image[..., 1].astype(float)
    before = image[..., 1].astype(float)
    shift = [(grid * drawn).sum() / drawn.sum() - (grid * before).sum() / before.sum() for grid in (x, y)]
    assert moved.base_tops[0].corners_px[0] - corners[0] == pytest.approx(shift, abs=0.12)
