"""Dials under a lamp's reflection: what shows through is read, what does not is said, and nothing is surely wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from downfield.core.arrays import Array, Image
from downfield.core.strip import load_strip
from downfield.twin.strip.clip import StripFilm, StripMoment
from downfield.twin.strip.look import StripLook, StripState, draw_look, set_to
from downfield.vision.strip.dial_reader import UNDER_REFLECTION, DialReader, DialReading

STRIP = load_strip()
MINUTES = next(index for index, dial in enumerate(STRIP.dials) if dial.counts == "minutes")
DOWN = next(index for index, dial in enumerate(STRIP.dials) if dial.counts == "down")


@cache
def look() -> StripLook:
    return draw_look(STRIP, 2, split="test", size=(1280, 720))


@cache
def reader() -> DialReader:
    return DialReader(look().strip, look().camera)


@cache
def picture(minutes: int, down: int) -> Image:
    numbers = {"home": 83, "away": 96, "down": down, "quarter": 2, "minutes": minutes, "seconds": 50}
    state: StripState = set_to(STRIP, 34.0, "left", numbers)  # type: ignore[arg-type]
    return next(StripFilm(look()).film([StripMoment((0,), state)])).image


def lit(image: Image, dial: int, levels: float, *, beside: tuple[float, float] = (0, 0), mm: float = 25.0) -> Image:
    """Return a picture with a lamp's image added: so many gray levels, beside a dial's middle, falling off over mm."""
    x, y = (
        sum(span) / 2 + off for span, off in zip((STRIP.dials[dial].x_mm, STRIP.dials[dial].y_mm), beside, strict=True)
    )
    places = look().camera.to_pixels(np.array([(x, y, 0.0), (x + 10, y, 0.0)]))
    px_per_mm = float(np.linalg.norm(places[1] - places[0])) / 10
    reach = int(2 * mm * px_per_mm)
    left, top = (max(int(at) - reach, 0) for at in places[0])
    part = np.s_[top : int(places[0, 1]) + reach, left : int(places[0, 0]) + reach]
    rows, columns = np.mgrid[0 : image.shape[0], 0 : image.shape[1]][:, part[0], part[1]]
    far: Array = np.hypot(columns - places[0, 0], rows - places[0, 1]) / (mm * px_per_mm)
    out = image.copy()
    out[part] = np.clip(image[part] + levels * np.exp(-0.5 * far**4)[:, :, None], 0, 255).astype(np.uint8)
    return out


def read(image: Image, dial: int) -> DialReading:
    return reader().read(image)[dial]


def test_a_number_that_shows_through_a_reflection_is_read() -> None:
    for beside in ((-14.0, -8.0), (16.0, 6.0), (0.0, -16.0)):
        image = lit(picture(11, 3), MINUTES, 150, beside=beside)
        for dial, face in ((MINUTES, "11"), (DOWN, "3")):
            reading = read(lit(image, DOWN, 150, beside=beside), dial)
            assert reading.face == face
            assert reading.confidence >= 0.9


def test_a_number_that_a_reflection_fills_with_white_is_said_to_be_hidden() -> None:
    reading = read(lit(picture(11, 3), MINUTES, 600), MINUTES)
    assert (reading.face, reading.reason) == (None, UNDER_REFLECTION)
    assert read(lit(picture(11, 3), MINUTES, 600), DOWN).face == "3"


@pytest.mark.parametrize(("minutes", "down"), [(8, 4), (15, 2), (9, 3), (10, 1)])
def test_no_number_is_surely_wrong_wherever_a_reflection_ends(minutes: int, down: int) -> None:
    rng = np.random.default_rng(minutes)
    image = picture(minutes, down)
    for _ in range(30):
        dial, face = (MINUTES, str(minutes)) if rng.random() < 0.5 else (DOWN, str(down))
        beside = (float(rng.uniform(-12, 12)), float(rng.uniform(-12, 12)))
        light = lit(image, dial, float(rng.uniform(60, 500)), beside=beside, mm=float(rng.uniform(4, 20)))
        reading = read(light, dial)
        assert reading.confidence < 0.9 or reading.face == face, (beside, reading)


def test_white_dials_that_are_full_everywhere_are_read_also_where_their_windows_are_described_a_little_off() -> None:
    white = np.clip(1.8 * picture(11, 3), 0, 255).astype(np.uint8)  # an exposure that is too long
    strip = look().strip
    moved = tuple(replace(dial, x_mm=(dial.x_mm[0] + 1.2, dial.x_mm[1] + 1.2)) for dial in strip.dials)
    for described in (strip, replace(strip, dials=moved)):
        readings = DialReader(described, look().camera).read(white)
        assert [reading.face for reading in readings] == ["8", "3", "2", "11", "50", "3", "9", "6"]
        assert min(reading.confidence for reading in readings) >= 0.9
