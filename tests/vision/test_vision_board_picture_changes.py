"""Pictures that show nothing new are told from new ones, and new ones from still ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.vision.board.picture_changes import PictureChanges

_RNG = np.random.default_rng(3)
_PRINT = cv2.resize(_RNG.integers(60, 190, (54, 96, 3), dtype=np.uint8), (960, 540), interpolation=cv2.INTER_LINEAR)
_GRAIN = _RNG.standard_normal((540 + 64, 960 + 64, 3), np.float32)  # each picture has the noise of another place in it


def picture(walked_px: float, light: float = 1.0, noise: float = 2.0, seed: int = 0) -> Image:
    """Figures that have walked so far over a print."""
    image = _PRINT.copy()
    for row in range(4):
        for column in range(5):
            x, y = 60 + 180 * column + walked_px * (-1) ** row, 60 + 130 * row + walked_px / 2
            cv2.rectangle(
                image, (round(x), round(y)), (round(x) + 26, round(y) + 16), (20, 20, 30 + 200 * (row % 2)), -1
            )
    x, y = np.random.default_rng([seed, round(100 * walked_px)]).integers(0, 64, 2)
    grain = np.float32(noise) * _GRAIN[y : y + 540, x : x + 960]
    return np.asarray(np.clip(image * np.float32(light) + grain, 0, 255), np.uint8)


def again(image: Image, quality: int) -> Image:
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def found(images: list[Image]) -> list[bool]:
    changes = PictureChanges()
    return [changes.of(Frame(index, index, image)).repeated for index, image in enumerate(images)]


def test_an_identical_picture_is_a_repeat_at_once() -> None:
    one, other = picture(0.0), picture(1.0)
    assert found([one, one, other, other, one]) == [False, True, False, True, False]


@pytest.mark.parametrize("times", [2, 3, 4])
@pytest.mark.parametrize("quality", [92, 70])
def test_pictures_that_were_compressed_again_are_known_by_their_rhythm(times: int, quality: int) -> None:
    shown = [again(picture(2.0 * (k // times)), quality - 5 * (k % times)) for k in range(14 * times)]
    repeats = found(shown)
    settled = range(5 * times, len(shown))
    assert [repeats[k] for k in settled] == [k % times > 0 for k in settled]


@pytest.mark.parametrize(
    "light",
    [lambda _: 1.0, lambda k: 0.66 + 0.34 * np.cos(2 * np.pi * 100 * k / 30), lambda k: 0.5 if k % 2 else 1.0],
    ids=["steady", "lamps of 50 Hz", "every other picture dark"],
)
def test_new_pictures_are_no_repeats_whatever_the_light_does(light: object) -> None:
    assert callable(light)
    assert not any(found([picture(2.0 * k, float(light(k)), seed=k) for k in range(40)]))


def test_new_pictures_of_little_contrast_are_no_repeats() -> None:
    faint = [128 + 0.3 * (picture(2.0 * k, seed=k).astype(np.float32) - 128) for k in range(60)]
    assert not any(found([np.asarray(cv2.GaussianBlur(image, (0, 0), 1.0), np.uint8) for image in faint]))


def test_figures_that_come_to_rest_or_begin_are_not_repeated() -> None:
    walked = [2.0 * min(k, 15) for k in range(30)] + [30.0 + 2.0 * k for k in range(1, 12)]
    assert not any(found([again(picture(px, seed=k), 90) for k, px in enumerate(walked)]))


def test_a_rhythm_is_known_again_after_all_stood_still() -> None:
    walked = [2.0 * (k // 2) for k in range(24)] + [24.0] * 30 + [24.0 + 2.0 * (k // 2) for k in range(2, 16)]
    shown = [again(picture(px), 92 - 5 * (k % 2)) for k, px in enumerate(walked)]
    repeats = found(shown)
    assert repeats[-8:] == [False, True] * 4
    assert not any(repeats[30:54]), "who stands still is seen standing still"


def went_back(images: list[Image]) -> list[int]:
    changes = PictureChanges()
    return [index for index, image in enumerate(images) if changes.of(Frame(index, index, image)).back]


@pytest.mark.parametrize("light", [1.0, 0.3], ids=["bright", "dark"])
def test_two_pictures_in_the_wrong_order_are_known_when_the_next_one_comes(light: float) -> None:
    order = list(range(40))
    for first in (10, 23):
        order[first], order[first + 1] = order[first + 1], order[first]
    known = set(went_back([picture(2.0 * k, light, 2.0 * light, seed=k) for k in order]))
    assert {12, 25} <= known <= {11, 12, 24, 25}


def test_figures_that_walk_stop_turn_back_or_come_twice_are_in_order() -> None:
    walked = [2.0 * min(k, 15) for k in range(20)] + [30.0 - 2.0 * k for k in range(10)]
    shown = [picture(px, seed=k) for k, px in enumerate(walked)]
    assert went_back([image for image in shown for _ in range(2)]) == []
    assert went_back(shown) == []


def test_figures_that_go_there_and_back_are_in_order() -> None:
    rocked = [3.0 * abs(k % 6 - 3) for k in range(30)] + [
        20 + 6.0 * np.sin(2 * np.pi * 5.3 * k / 30) for k in range(30)
    ]
    assert went_back([picture(px, seed=k) for k, px in enumerate(rocked)]) == []


def test_a_camera_that_sways_is_not_a_stream_in_the_wrong_order() -> None:
    still = picture(0.0)
    swayed = [np.roll(still, round(4 * np.sin(2 * np.pi * 7 * k / 30)), axis=1) for k in range(60)]
    assert went_back(swayed) == []


def test_threads_that_ask_for_the_same_frames_get_the_same_answers() -> None:
    frames = [Frame(k, k, picture(2.0 * (k // 2))) for k in range(20)]
    changes = PictureChanges()
    first = [changes.of(frame) for frame in frames]
    assert all(again is one for again, one in zip([changes.of(frame) for frame in frames], first, strict=True))
    with ThreadPoolExecutor(2) as pool:
        both = PictureChanges()
        one, other = (pool.submit(lambda: [both.of(frame) for frame in frames]) for _ in range(2))
        assert [change.repeated for change in one.result()] == [change.repeated for change in first]
        assert all(a is b for a, b in zip(one.result(), other.result(), strict=True))
