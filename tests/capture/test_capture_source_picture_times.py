"""The times of pictures: evened where they only tell of a delivery, left alone where a camera's rate is what it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from downfield.capture.source import PictureTimes
from downfield.core.frame import TIME_UNKNOWN_NS

PERIOD_NS = 33_333_333
TAKEN = np.arange(200) * PERIOD_NS
SETTLED = 25  # pictures until a source is known


def timed(stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and errors of pictures."""
    times = PictureTimes()
    found = np.array([times(int(stamp)) for stamp in stamps])
    return found[:, 0], found[:, 1]


def bursts(length: int, apart_ns: int) -> np.ndarray:
    """Stamps of pictures that come together as the last of them is taken."""
    place = np.arange(len(TAKEN))
    return ((place // length + 1) * length - 1) * PERIOD_NS + place % length * apart_ns


def _slowing() -> np.ndarray:
    return np.cumsum(np.repeat([PERIOD_NS, 2 * PERIOD_NS, PERIOD_NS], 60))


@pytest.mark.parametrize(
    "stamps",
    [
        lambda: TAKEN,
        lambda: np.round(TAKEN / 1e6).astype(np.int64) * 1_000_000,
        lambda: TAKEN[np.random.default_rng(0).random(len(TAKEN)) > 0.35],
        lambda: TAKEN[np.random.default_rng(0).random(len(TAKEN)) > 0.6],
        _slowing,
        lambda: np.cumsum(np.linspace(PERIOD_NS, 2 * PERIOD_NS, 200)).astype(np.int64),
    ],
    ids=["even", "rounded", "some dropped", "most dropped", "slower in the dark", "rate that glides"],
)
def test_the_stamps_of_a_camera_are_left_alone(stamps: Callable[[], np.ndarray]) -> None:
    given = stamps()
    found, errors = timed(given)
    assert (found == given).all()
    assert (errors < 20_000_000).all()


@pytest.mark.parametrize("length", [2, 3, 6, 10])
@pytest.mark.parametrize("apart_ns", [0, 1_000_000, 7_000_000])
def test_pictures_that_come_in_bursts_are_timed_as_they_were_taken(length: int, apart_ns: int) -> None:
    given = bursts(length, apart_ns)
    found, errors = timed(given)
    steps = np.diff(found)
    assert (steps > 0).all()
    settled = slice(60, None)
    off = (found - TAKEN)[settled]
    assert np.ptp(off) < 4_000_000, "all are late by the same, which alters no spot"
    assert np.abs(off).max() < 2_000_000 + (length - 1) * apart_ns + 1_000_000 * length
    assert (errors[settled] >= (length - 1) * (PERIOD_NS - apart_ns) / 4.5).all(), "what is assumed is no certainty"


def test_the_first_bursts_of_a_source_have_no_time_of_their_own() -> None:
    _, errors = timed(np.concatenate([TAKEN[:60], TAKEN[60] + 8 * PERIOD_NS + np.arange(8) * 1_000_000]))
    assert (errors[:60] == 0).all()
    assert (errors[60:] == TIME_UNKNOWN_NS).all(), "the first of them was held up for longest"


@pytest.mark.parametrize("missing", [4, 8, 20])
def test_only_the_first_picture_after_a_long_time_without_may_be_late(missing: int) -> None:
    """What a stall held up comes at once: until the next picture tells, it may be of any time in between."""
    found, errors = timed(np.delete(TAKEN, slice(60, 60 + missing)))
    assert np.flatnonzero(errors).tolist() == [60]
    assert (found == np.delete(TAKEN, slice(60, 60 + missing))).all()


@pytest.mark.parametrize("apart", [2, 3, 15])
def test_a_second_stall_soon_after_is_told_like_the_first(apart: int) -> None:
    stamps = TAKEN + 10**9 * (np.arange(200) >= 100) + 10**9 * (np.arange(200) >= 100 + apart)
    assert np.flatnonzero(timed(stamps)[1]).tolist() == [100, 100 + apart]


def test_pictures_that_become_few_for_long_have_times_again() -> None:
    stamps = np.cumsum(np.where(np.arange(200) < 100, PERIOD_NS, 15 * PERIOD_NS))
    _, errors = timed(stamps)
    assert 100 <= np.flatnonzero(errors).max() < 105
    assert (errors[105:] == 0).all()


@pytest.mark.parametrize("jitter_ms", [10, 25])
def test_late_deliveries_are_evened_and_told_as_an_error(jitter_ms: int) -> None:
    late = np.abs(np.random.default_rng(1).normal(0, jitter_ms, len(TAKEN))) * 1e6
    found, errors = timed(np.maximum.accumulate(TAKEN + late.astype(np.int64)))
    off = found[SETTLED:] - TAKEN[SETTLED:]
    assert np.std(off) < 0.9 * np.std(late)
    assert np.median(errors[SETTLED:]) > 0.3 * np.std(off)


def test_times_rise_whatever_a_source_writes() -> None:
    for stamps in ((5, 5, 4, 9), (0,) * 40, (10**12, 0, 5, 10**12)):
        found, _ = timed(np.array(stamps))
        assert (np.diff(found) > 0).all(), stamps
