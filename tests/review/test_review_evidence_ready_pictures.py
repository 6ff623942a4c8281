"""Pictures of a call that was opened are made ready ahead of need, and are never those of another file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from waiting import WAIT_S

from downfield.capture.footage import FootageFrame
from downfield.core.arrays import Image
from downfield.review.evidence import ready_pictures
from downfield.review.evidence.ready_pictures import ReadyLimits, ReadyPictures


class Decoder:
    """Yields a picture of every frame but the damaged ones, once it may, and notes which it was asked for."""

    def __init__(self) -> None:
        self.damaged: set[int] = set()
        self.decoded: list[int] = []
        self.begun = threading.Event()
        self.may = threading.Semaphore(0)

    def __call__(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        for still in stills:
            self.begun.set()
            assert self.may.acquire(timeout=WAIT_S)
            self.decoded.append(still.frame)
            yield None if still.frame in self.damaged else np.full((4, 4, 3), still.frame, np.uint8)


def encoded(image: Image) -> bytes:
    return bytes([image[0, 0, 0]]) * 10


@pytest.fixture
def decoder() -> Decoder:
    return Decoder()


@pytest.fixture
def pictures(decoder: Decoder) -> Iterator[ReadyPictures]:
    made = ReadyPictures(decoder, encoded)
    yield made
    decoder.may.release(100)
    made.close()


@pytest.fixture
def stills(tmp_path: Path) -> list[FootageFrame]:
    video = tmp_path / "0001.mkv"
    video.write_bytes(b"as it was recorded")
    return [FootageFrame(number, number * 500_000_000, video, number) for number in range(8)]


def until(condition: Callable[[], bool]) -> None:
    waited = threading.Event()
    for _ in range(3000):
        if condition():
            return
        waited.wait(0.01)
    raise AssertionError("it never came about")


def test_pictures_are_made_from_before_the_decisive_one_on_and_the_others_after_them(
    pictures: ReadyPictures, decoder: Decoder, stills: list[FootageFrame]
) -> None:
    decoder.damaged.add(3)
    pictures.prepare(stills, stills[5])
    decoder.may.release(100)
    until(lambda: pictures.get(stills[2]) is not None)
    assert decoder.decoded == [3, 4, 5, 6, 7, 0, 1, 2]
    assert [pictures.get(still) for still in stills] == [None if n == 3 else bytes([n]) * 10 for n in range(8)]


def test_what_is_ready_is_not_made_again(pictures: ReadyPictures, decoder: Decoder, stills: list[FootageFrame]) -> None:
    decoder.may.release(100)
    pictures.prepare(stills[:4], stills[2])
    until(lambda: pictures.get(stills[3]) is not None)
    pictures.prepare(stills, stills[2])
    until(lambda: pictures.get(stills[7]) is not None)
    assert decoder.decoded == list(range(8))


def test_a_call_opened_meanwhile_comes_first(
    pictures: ReadyPictures, decoder: Decoder, stills: list[FootageFrame]
) -> None:
    pictures.prepare(stills[:6], stills[0])
    decoder.may.release(1)
    until(lambda: pictures.get(stills[0]) is not None)
    pictures.prepare(stills[6:], stills[6])
    decoder.may.release(100)
    until(lambda: pictures.get(stills[7]) is not None)
    assert pictures.get(stills[5]) is None


def test_closing_waits_for_the_picture_that_is_being_made(decoder: Decoder, stills: list[FootageFrame]) -> None:
    pictures = ReadyPictures(decoder, encoded)
    pictures.prepare(stills, stills[0])
    assert decoder.begun.wait(WAIT_S)
    closing = threading.Thread(target=pictures.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive(), "a picture is still being decoded"
    decoder.may.release(1)
    closing.join(WAIT_S)
    assert not closing.is_alive()
    assert decoder.decoded == [0]


def test_only_the_latest_pictures_are_kept(
    pictures: ReadyPictures, stills: list[FootageFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready_pictures, "READY_LIMITS", ReadyLimits(kept_bytes=30))
    for still in stills[:4]:
        pictures.keep(still, still.video.stat(), bytes(10))
        assert pictures.get(stills[0]) is not None
    assert [pictures.get(still) is not None for still in stills[:4]] == [True, False, True, True]


def test_a_picture_of_a_file_that_grew_is_shown_and_one_of_a_file_that_is_another_or_gone_is_not(
    pictures: ReadyPictures, stills: list[FootageFrame]
) -> None:
    still, video = stills[0], stills[0].video
    pictures.keep(still, video.stat(), b"jpeg")
    with video.open("ab") as file:
        file.write(b", and more")
    assert pictures.get(still) == b"jpeg"
    assert pictures.get(replace(still, rank=1)) is None
    pictures.keep(still, video.stat(), b"jpeg")
    video.write_bytes(b"altered")
    assert pictures.get(still) is None
    other = video.with_name("other")
    other.write_bytes(b"put in its place")
    other.replace(video)
    assert pictures.get(still) is None
    pictures.keep(still, video.stat(), b"jpeg")
    video.unlink()
    assert pictures.get(still) is None
