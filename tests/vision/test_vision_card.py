"""Photos of play cards: their windows are found and read whichever way the photo is turned; other pictures are not."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
import pytest
from card_photos import WINDOWS, CardLook, PrintedResult, photograph

from downfield.core.arrays import Image
from downfield.vision.card_photo import SURE, CardReading, read_card


@cache
def photo(seed: int, turn_deg: float = 0.0) -> Image:
    return photograph(WINDOWS, CardLook(seed, turn_deg, size_px=(900, 1200), blur_px=0.8))


def results(reading: CardReading) -> list[list[PrintedResult]]:
    return [
        [PrintedResult(color, text.shown, text.dot) for color, text in window.items() if text.confidence >= SURE]
        for window in reading.windows
    ]


@pytest.mark.parametrize(("seed", "turn_deg"), [(0, 0), (1, 90), (2, 180), (3, 270)])
def test_every_result_and_dot_is_read_whichever_way_the_photo_is_turned(seed: int, turn_deg: float) -> None:
    reading = read_card(photo(seed, turn_deg))
    assert results(reading) == [list(window) for window in WINDOWS]
    assert reading.unsure == 0


def test_what_is_no_result_is_unsure_and_the_others_are_read() -> None:
    smudged = (PrintedResult("black", "W", "black"), *WINDOWS[0][1:])
    reading = read_card(photograph((smudged, *WINDOWS[1:]), CardLook(0, size_px=(900, 1200), blur_px=0.8)))
    assert reading.windows[0]["black"].confidence < SURE
    assert reading.unsure == 1


@pytest.mark.parametrize("kind", ["noise", "plain", "lines"])
def test_a_picture_without_five_windows_says_what_is_missing(kind: str) -> None:
    image = np.full((600, 450, 3), 120, np.uint8)
    if kind == "noise":
        image = np.random.default_rng(0).integers(0, 255, image.shape).astype(np.uint8)
    if kind == "lines":
        for row in range(60, 260, 60):  # four are too few
            cv2.rectangle(image, (80, row), (380, row + 40), (240, 240, 240), -1)
    reading = read_card(image)
    assert not reading.windows
    assert "fill the photo with the cards" in reading.problem


def test_blank_windows_are_found_and_nothing_is_read_in_them() -> None:
    image = np.full((600, 450, 3), 60, np.uint8)
    for row in range(60, 560, 100):
        cv2.rectangle(image, (80, row), (380, row + 50), (235, 240, 240), -1)
    reading = read_card(image)
    assert len(reading.windows) == 5
    assert reading.unsure == 15
