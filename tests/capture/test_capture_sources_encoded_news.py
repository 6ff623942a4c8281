"""What is new in encoded pictures: a source that is frozen and encodes on is told from one in which nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import av
import cv2
import numpy as np
import pytest
from av.video.codeccontext import VideoCodecContext
from numpy.typing import NDArray
from phone_film import encode

from downfield.capture.sources.encoded_news import EXPORT_QUANTIZERS, EncodedNews
from downfield.core.arrays import Image

WIDE, HIGH = 640, 360  # no whole number of blocks
NOISES = 17
Camera = Callable[[int], Image]


@cache
def board() -> Image:
    """Return a picture with fine and coarse structure, as turf, lines and figures have it."""
    rng = np.random.default_rng(3)
    small = rng.integers(60, 150, (HIGH // 6, WIDE // 6, 3)).astype(np.uint8)
    image = cv2.resize(small, (WIDE, HIGH), interpolation=cv2.INTER_CUBIC)
    for x in range(20, WIDE, 50):
        cv2.line(image, (x, 0), (x, HIGH), (220, 225, 220), 2)
        cv2.rectangle(image, (x + 12, 40 + x % 240), (x + 26, 54 + x % 240), (30, 30, 160), -1)
    return np.asarray(image)


@cache
def noise(sigma: float, number: int) -> NDArray[np.int8]:
    """Return the noise of a sensor, gray levels, as large as a picture."""
    return np.floor(np.random.default_rng(number).normal(0, sigma, board().shape)).astype(np.int8)


def with_noise(image: Image, sigma: float, number: int) -> Image:
    """Return a picture as a sensor gives it; its noise comes again only after more pictures than an encoder keeps."""
    return np.asarray(cv2.add(image, noise(sigma, number % NOISES), dtype=cv2.CV_8U), np.uint8)


def walking(number: int, fps: int) -> Image:
    """Return a picture in which figures walk."""
    image = board().copy()
    for figure in range(6):
        x, y = 40 + 90 * figure, round(40 + 30 * figure + 60 * number / fps) % (HIGH - 30)
        cv2.rectangle(image, (x, y), (x + 22, y + 22), (200, 190, 40), -1)
    return image


def told(pictures: Iterator[Image], fps: int, mbit: float, codec: str = "h264") -> list[bool]:
    """Return what is told of pictures that are encoded and decoded."""
    decoder = av.CodecContext.create(codec, "r")
    assert isinstance(decoder, VideoCodecContext)
    decoder.options = {"flags": "low_delay", **EXPORT_QUANTIZERS}
    news, out = EncodedNews(), list[bool]()
    packets = encode(lambda: pictures, fps, [mbit], 1).variants[mbit][0] if codec == "h264" else vp8(pictures, fps)
    for number, packet in enumerate(packets):
        out += [news.shows(frame, number * 1_000_000_000 // fps) for frame in decoder.decode(av.Packet(packet))]
    return out


def vp8(pictures: Iterator[Image], fps: int) -> list[bytes]:
    """Return pictures encoded in the other format of browsers."""
    codec = av.CodecContext.create("libvpx", "w")
    assert isinstance(codec, VideoCodecContext)
    codec.width, codec.height, codec.pix_fmt, codec.time_base = WIDE, HIGH, "yuv420p", Fraction(1, fps)
    codec.bit_rate, codec.options, codec.thread_count = 800_000, {"deadline": "realtime", "cpu-used": "8"}, 1
    frames = [av.VideoFrame.from_ndarray(image, format="bgr24") for image in pictures]
    for number, frame in enumerate(frames):
        frame.pts = number
    return [bytes(packet) for frame in [*frames, None] for packet in codec.encode(frame)]


def film(fps: int, then: Camera, seconds: float = 2.0) -> Iterator[Image]:
    """Yield a second in which figures walk, then what a camera shows."""
    for number in range(fps):
        yield with_noise(walking(number, fps), 1.0, number)
    for number in range(round(seconds * fps)):
        yield then(fps + number)


@pytest.mark.parametrize("fps", [30, 60])
@pytest.mark.parametrize("mbit", [0.5, 1.5])
def test_a_picture_that_is_encoded_again_and_again_is_frozen_after_a_second_and_a_half(fps: int, mbit: float) -> None:
    held = with_noise(walking(fps, fps), 1.0, fps)
    shown = told(film(fps, lambda _: held), fps, mbit * fps / 30)
    assert all(shown[: 2 * fps]), "a second is needed to tell"
    assert not any(shown[round(2.5 * fps) :]), "it is frozen, and each picture is taken for a new one"


@pytest.mark.parametrize("fps", [30, 60])
@pytest.mark.parametrize("mbit", [0.5, 1.5])
@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_a_line_up_in_which_nothing_moves_is_not_frozen(fps: int, mbit: float, sigma: float) -> None:
    still = walking(fps, fps)
    shown = told(film(fps, lambda number: with_noise(still, sigma, number), 3.0), fps, mbit * fps / 30)
    assert all(shown), f"frozen from picture {shown.index(False)} on"


def test_what_moves_in_a_frozen_picture_is_new_at_once() -> None:
    fps, held = 30, with_noise(walking(30, 30), 1.0, 30)
    begins = 3 * fps
    shown = told(film(fps, lambda number: held if number < begins else walking(number, fps), 3.0), fps, 1.0)
    assert not shown[begins - 1]
    assert all(shown[begins + 1 :]), shown[begins:]


def test_of_a_stream_that_does_not_tell_its_quantizers_all_is_new() -> None:
    held = walking(30, 30)
    assert all(told(film(30, lambda _: held), 30, 1.0, "vp8"))
