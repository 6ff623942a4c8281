"""Flicker, automatic exposure and a lowered rate are found in luminance and times; nothing else is taken for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.vision.board.lighting import (
    LIGHTING_LIMITS,
    PictureLook,
    cell_levels,
    find_flicker,
    has_moved_exposure,
    look_changes,
    look_of,
    lowered_rate,
)

CELLS = LIGHTING_LIMITS.rows * LIGHTING_LIMITS.columns
MAINS = st.sampled_from([50, 60])
RATES = st.sampled_from([15.0, 24.0, 25.0, 29.97, 30.0, 48.0, 50.0, 59.94, 60.0, 90.0])
SEEDS = st.integers(0, 10_000)
BRIGHTNESS = st.floats(30, 200)


def times(fps: float, seconds: float, rng: np.random.Generator, jitter_s: float = 3e-4) -> Array:
    """Capture times of a camera with an uneven clock."""
    count = round(fps * seconds)
    return np.arange(count) / fps + rng.uniform(-jitter_s, jitter_s, count)


def hidden(mains: float, fps: float) -> bool:
    """Whether a rate shows every frame the same phase of the lamps, nearly."""
    return abs(2 * mains - round(2 * mains / fps) * fps) < 2 * LIGHTING_LIMITS.min_alias_hz


@given(MAINS, RATES, BRIGHTNESS, st.floats(0.012, 0.3), st.floats(-0.2, 0.2), st.floats(0, 6.28), SEEDS)
@settings(max_examples=60)
def test_flicker_is_found_at_every_rate_that_shows_it(
    mains: int, fps: float, level: float, amplitude: float, off_hz: float, phase: float, seed: int
) -> None:
    """At every brightness, with mains that are off by 0.2 Hz and sensor noise."""
    assume(not hidden(mains, fps))
    assume(abs(((2 * mains / fps) % 1) - 0.5) > 0.03)  # at half the rate the phase decides how much is seen
    rng = np.random.default_rng(seed)
    t = times(fps, LIGHTING_LIMITS.flicker_window_s, rng)
    wave = np.sin(2 * np.pi * 2 * (mains + off_hz) * t + phase)
    found = find_flicker(t, level * (1 + amplitude * wave) + rng.normal(0, 0.05, len(t)))
    assert found is not None
    assert mains in found.mains_hz
    assert found.amplitude == pytest.approx(amplitude, rel=0.3)


@given(MAINS, st.floats(30, 200), SEEDS)
@settings(max_examples=20)
def test_flicker_is_found_while_a_lamp_fades_and_a_hand_passes(mains: int, level: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = times(29.0 if mains == 60 else 30.0, LIGHTING_LIMITS.flicker_window_s, rng)
    slow = 1 + 0.2 * t / t[-1] + 0.1 * np.exp(-(((t - 2) / 0.6) ** 2))
    found = find_flicker(t, level * slow * (1 + 0.05 * np.sin(2 * np.pi * 2 * mains * t)))
    assert found is not None
    assert mains in found.mains_hz


def nothing(t: Array, _: np.random.Generator) -> Array:
    return np.ones_like(t)


def lamp_switched(t: Array, rng: np.random.Generator) -> Array:
    return np.where(t > rng.uniform(0.2, t[-1]), rng.uniform(0.3, 3.0), 1.0)


def lamp_switched_on_and_off(t: Array, rng: np.random.Generator) -> Array:
    factor = np.ones_like(t)
    for at in rng.uniform(0, t[-1], rng.integers(2, 6)):
        factor = np.where(t > at, factor * rng.choice([0.6, 1.6]), factor)
    return factor


def hand_passes(t: Array, rng: np.random.Generator) -> Array:
    middle, width = rng.uniform(0, t[-1]), rng.uniform(0.1, 0.8)
    return np.asarray(1 - rng.uniform(0.05, 0.6) * np.exp(-(((t - middle) / width) ** 2)), dtype=np.float64)


def hand_waves(t: Array, rng: np.random.Generator) -> Array:
    return 1 + 0.2 * np.sin(2 * np.pi * rng.uniform(0.5, 3.0) * t + rng.uniform(0, 6))


def clouds(t: Array, rng: np.random.Generator) -> Array:
    return np.asarray(np.exp(np.cumsum(rng.normal(0, 0.01, len(t)))), dtype=np.float64)


def other_board(t: Array, rng: np.random.Generator) -> Array:
    return np.full_like(t, rng.uniform(0.2, 2.0))


INNOCENT = [nothing, lamp_switched, lamp_switched_on_and_off, hand_passes, hand_waves, clouds, other_board]


@pytest.mark.parametrize("change", INNOCENT)
@given(RATES, BRIGHTNESS, st.floats(0.02, 0.3), SEEDS)
def test_what_is_no_flicker_is_not_taken_for_it(change, fps: float, level: float, noise: float, seed: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    t = times(fps, LIGHTING_LIMITS.flicker_window_s, rng)
    assert find_flicker(t, level * change(t, rng) + rng.normal(0, noise, len(t))) is None


@pytest.mark.parametrize("levels", [np.zeros(200), np.full(200, np.nan), np.full(200, 255.0)])
def test_dark_broken_and_constant_series_have_no_flicker(levels: Array) -> None:
    assert find_flicker(np.arange(200) / 30, levels) is None
    assert find_flicker(np.zeros(200), levels) is None
    assert find_flicker(np.arange(5) / 30, levels[:5]) is None


def board(rng: np.random.Generator) -> Array:
    """Luminance of the cells of some board."""
    return rng.uniform(30, 180) * rng.uniform(0.5, 1.3, CELLS)


def over(t: Array, begins: float, takes: float) -> Array:
    """Rise from 0 to 1."""
    return np.clip((t - begins) / takes, 0, 1)


def hand(t: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Cells that a hand covers, and the factor on each at each time."""
    covered = np.zeros(CELLS, dtype=bool)
    covered[rng.choice(CELLS, rng.integers(2, 9), replace=False)] = True
    factor = np.where(covered, rng.choice([0.35, 0.5, 1.9]), 1.0)
    return covered, np.exp(np.log(factor) * over(t, 0.3, 0.3)[:, None])


@given(st.sampled_from([15.0, 30.0, 60.0]), st.floats(0.09, 0.35), st.floats(0.4, 1.5), SEEDS)
@settings(max_examples=60)
def test_exposure_that_answers_to_a_hand_is_found(fps: float, answer: float, takes_s: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = times(fps, LIGHTING_LIMITS.exposure_window_s, rng)
    covered, factor = hand(t, rng)
    way = 1.0 if factor[-1, covered].mean() < 1 else -1.0
    regulated = np.exp(way * answer * over(t, 0.4, takes_s))[:, None]
    assert has_moved_exposure(t, board(rng) * factor * regulated + rng.normal(0, 0.1, factor.shape))


def held(t: Array, rng: np.random.Generator) -> Array:
    return hand(t, rng)[1]


def lamp(t: Array, rng: np.random.Generator) -> Array:
    return np.broadcast_to(lamp_switched(t, rng)[:, None], (len(t), CELLS))


def dimmed(t: Array, rng: np.random.Generator) -> Array:
    return np.exp(rng.uniform(-0.6, 0.6) * over(t, 0.3, 1.0))[:, None] * np.ones(CELLS)


def shadow(t: Array, rng: np.random.Generator) -> Array:
    """A shadow that darkens some cells and, at its edge, others less."""
    depth = np.clip(rng.normal(0.1, 0.2, CELLS), 0, 0.6)
    return np.exp(-depth * over(t, 0.2, 0.8)[:, None])


def lamp_and_hand(t: Array, rng: np.random.Generator) -> Array:
    return hand(t, rng)[1] * lamp(t, rng)


def quiet(t: Array, _: np.random.Generator) -> Array:
    return np.ones((len(t), CELLS))


@pytest.mark.parametrize("change", [quiet, held, lamp, dimmed, shadow, lamp_and_hand])
@given(st.sampled_from([15.0, 30.0, 60.0]), SEEDS)
def test_what_is_no_automatic_exposure_is_not_taken_for_it(change, fps: float, seed: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    t = times(fps, LIGHTING_LIMITS.exposure_window_s, rng)
    factor = change(t, rng)
    assert not has_moved_exposure(t, board(rng) * factor + rng.normal(0, 0.1, factor.shape))


@given(st.floats(10, 120), st.sampled_from([2, 3, 4]), SEEDS)
def test_a_rate_that_is_a_half_or_less_is_found_with_its_value(fps: float, by: int, seed: int) -> None:
    t = times(fps / by, max(2.0, 8 * by / fps), np.random.default_rng(seed), jitter_s=0.05 / fps)
    found = lowered_rate(t, fps)
    assert found == pytest.approx(fps / by, rel=0.1)


@given(st.floats(10, 120), st.floats(0, 0.5), SEEDS)
def test_lost_frames_and_uneven_clocks_are_no_lowered_rate(fps: float, lost: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = times(fps, 2.0, rng, jitter_s=0.2 / fps)
    kept = rng.random(len(t)) >= lost * 0.5
    assert lowered_rate(t[kept], fps) is None
    assert lowered_rate(t, 0.0) is None
    assert lowered_rate(t[:3], fps) is None


def picture(rng: np.random.Generator, size: tuple[int, int] = (90, 160)) -> Array:
    return np.asarray(
        np.kron(rng.integers(40, 160, (size[0] // 10, size[1] // 10, 3)), np.ones((10, 10, 1))), dtype=np.float64
    )


@given(SEEDS, st.floats(0.85, 1.15))
def test_the_same_picture_looks_the_same_in_slightly_other_light(seed: int, light: float) -> None:
    rng = np.random.default_rng(seed)
    before = picture(rng)
    after = np.clip(before * light + rng.normal(0, 2, before.shape), 0, 255)
    assert look_changes(look_of(before.astype(np.uint8)), look_of(after.astype(np.uint8))) == ()


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (PictureLook(150.0, 0.9, 0.8, 0.5), ("50% brighter",)),
        (PictureLook(50.0, 0.9, 0.8, 0.5), ("50% darker",)),
        (PictureLook(100.0, 0.7, 0.95, 0.5), ("of other colors",)),
        (PictureLook(100.0, 0.9, 0.8, 0.2), ("less sharp",)),
        (PictureLook(100.0, 0.9, 0.8, 0.9), ()),
    ],
)
def test_other_exposure_colors_and_focus_are_named(after: PictureLook, says: tuple[str, ...]) -> None:
    assert look_changes(PictureLook(100.0, 0.9, 0.8, 0.5), after) == says


@given(st.integers(1, 70), st.integers(1, 90), st.booleans())
def test_pictures_of_every_size_are_measured(height: int, width: int, color: bool) -> None:
    image = np.full((height, width, 3) if color else (height, width), 77, dtype=np.uint8)
    assert np.allclose(cell_levels(image), 77)
