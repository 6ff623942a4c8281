"""The strip reader on pictures of the twin: slide, ball and dials; hands, half-set dials and other pictures."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError
from downfield.core.strip import load_strip
from downfield.twin.strip.clip import StripFilm, StripMoment
from downfield.twin.strip.look import StripLook, StripState, draw_look, set_to, turned
from downfield.twin.table.snapshot import HandPose
from downfield.vision.strip.dial_reader import DialReader, number_of
from downfield.vision.strip.slide_reader import SlideReader
from downfield.vision.strip.strip_calibration import calibrate_strip, turned_round
from downfield.vision.strip.strip_reader import StripReader

STRIP = load_strip()
NUMBERS = {"home": 14, "away": 7, "down": 3, "quarter": 2, "minutes": 11, "seconds": 40}
HAND = HandPose((95.0, 40.0, 4.0), (130.0, -330.0, 90.0))
STEP_NS = 200_000_000


@cache
def look() -> StripLook:
    return draw_look(STRIP, 2, split="test", size=(1280, 720))


def state(slide_yd: float = 34.1, third: str = "left") -> StripState:
    return set_to(STRIP, slide_yd, third, NUMBERS)  # type: ignore[arg-type]


def pictures(*moments: tuple[StripState, bool]) -> list[Image]:
    film = StripFilm(look())
    return [
        frame.image
        for number, (shown, hand) in enumerate(moments)
        for frame in film.film([StripMoment((number * STEP_NS,), shown, ((HAND,),) if hand else ())])
    ]


@cache
def picture() -> Image:
    return pictures((state(), False))[0]


def faces(image: Image, camera: Camera) -> list[str | None]:
    return [reading.face for reading in DialReader(look().strip, camera).read(image)]


def test_slide_ball_and_dials_are_read_after_calibrating_from_the_print() -> None:
    large = draw_look(STRIP, 2, split="test")
    image = next(StripFilm(large).film([StripMoment((0,), state())])).image
    camera = calibrate_strip([image], STRIP).camera
    slide = SlideReader(STRIP, camera).read(image)
    assert (slide.yard, slide.third) == (34, "left")
    assert min(slide.yard_confidence, slide.third_confidence) > 0.9
    readings = DialReader(STRIP, camera).read(image)
    assert {counts: number_of(STRIP, readings, counts)[0] for counts in STRIP.counts} == NUMBERS


def test_a_picture_of_something_else_is_not_calibrated() -> None:
    other = np.random.default_rng(3).integers(0, 255, (720, 1280, 3)).astype(np.uint8)
    with pytest.raises(CalibrationError):
        calibrate_strip([other], STRIP)


def test_dials_upside_down_are_not_taken_for_numbers_as_surely() -> None:
    right_way = look().camera
    sure = sum(reading.confidence for reading in DialReader(look().strip, right_way).read(picture()))
    other = turned_round(right_way, look().strip.field)
    assert sum(reading.confidence for reading in DialReader(look().strip, other).read(picture())) < sure / 1.5


@pytest.mark.parametrize("turn", [0.4, 0.5, 0.6])
def test_a_dial_between_two_numbers_is_unsure(turn: float) -> None:
    shown = turned(state(), 2, 1.0 + turn)
    image = pictures((shown, False))[0]
    reading = DialReader(look().strip, look().camera).read(image)[2]
    assert reading.face is None or reading.confidence < 0.9


def test_a_slide_half_way_between_two_yards_is_unsure() -> None:
    image = pictures((state(40.45, "center"), False))[0]
    slide = SlideReader(look().strip, look().camera).read(image)
    assert slide.third == "center"
    assert slide.yard_confidence < 0.9


def test_a_ball_between_two_thirds_is_unsure() -> None:
    shown = StripState(50.0, 0.5, state().dials)
    slide = SlideReader(look().strip, look().camera).read(pictures((shown, False))[0])
    assert slide.yard == 50
    assert slide.third is None


def test_nothing_is_reported_while_a_hand_is_over_the_strip_or_before_it_is_still() -> None:
    moved = state(61.0, "right")
    frames = pictures((moved, True), (moved, False), (moved, False), (moved, False), (moved, False))
    reader = StripReader(look().strip, look().camera, picture())
    readings = [reader.read(image, number * STEP_NS) for number, image in enumerate(frames)]
    assert readings[0].covered
    assert [reading.settled for reading in readings[:3]] == [False, False, False]
    assert readings[0].yard() is None
    last = readings[-1]
    assert (last.yard(), last.third(), last.number("home"), last.number("down")) == (61, "right", 14, 3)


def test_white_glare_over_a_window_is_not_a_number() -> None:
    image = picture().copy()
    dial = look().strip.dials[2]
    corners = look().camera.to_pixels(np.array([(x, y, 0.0) for x in dial.x_mm for y in dial.y_mm]))
    (left, top), (right, bottom) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
    image[top : bottom + 1, left : right + 1] = 255
    assert faces(image, look().camera)[2] is None
