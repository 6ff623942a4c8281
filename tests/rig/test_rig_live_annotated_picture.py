"""The annotated picture is drawn less often when the computer is overloaded."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from downfield.broadcast.latest_picture import LatestPicture
from downfield.capture.source import CapturedFrame, VideoPacket
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.rig.live.annotated_picture import OVERLOADED_FPS, WATCHED_FPS, AnnotatedPicture, RecentPictures


class WatchedPicture(LatestPicture):
    """A picture that is always watched."""

    watchers = 1


def pictures_per_second(index_step: int, monkeypatch: pytest.MonkeyPatch, *, overloaded: bool = False) -> int:
    """Return how many pictures are drawn in a second of 60 frames whose indices rise by a step."""
    now, drawn = 0.0, 0
    monkeypatch.setattr("downfield.rig.live.annotated_picture.time.monotonic", lambda: now)
    picture = AnnotatedPicture(WatchedPicture(), overloaded=lambda: overloaded)
    picture.close()  # pictures are counted here, and not drawn

    def count_picture(_item: object) -> bool:
        nonlocal drawn
        drawn += 1
        return True

    monkeypatch.setattr(picture._newest, "put_or_drop", count_picture)
    image = np.zeros((8, 8, 3), dtype=np.uint8)
    for number in count():
        now = number / 60
        if now >= 2.0:
            break
        if now == 1.0:
            drawn = 0
        index = number * index_step
        picture.scene_ready(Frame(index, index + 1, image), Scene(index, index + 1, "off", ()))
    return drawn


def test_when_no_frames_are_dropped_the_picture_is_drawn_at_the_full_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures_per_second(1, monkeypatch) == pytest.approx(WATCHED_FPS, abs=2)


def test_while_frames_are_dropped_it_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures_per_second(2, monkeypatch) == pytest.approx(OVERLOADED_FPS, abs=1)


def test_on_an_overloaded_computer_it_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pictures_per_second(1, monkeypatch, overloaded=True) == pytest.approx(OVERLOADED_FPS, abs=1)


def test_pictures_to_calibrate_from_are_there_once_enough_frames_came() -> None:
    recent = RecentPictures()
    for index in range(40):
        image = np.full((2, 2, 3), index, dtype=np.uint8)
        recent.frame_captured(CapturedFrame(index, index, index, image=image))
        kept = [int(image[0, 0, 0]) for image in recent.images()]
        assert kept == ([] if index < 24 else list(range(index - index % 6 - 24, index + 1, 6)))


def test_pictures_of_a_new_size_are_there_without_any_scene_and_damaged_ones_are_not() -> None:
    recent = RecentPictures()
    for index in range(0, 90, 6):
        image = np.zeros((2, 2, 3) if index < 60 else (4, 4, 3), dtype=np.uint8)
        recent.frame_captured(CapturedFrame(index, index, index, image=image))
        sizes = {image.shape for image in recent.images()}
        assert sizes == (set() if index < 24 or 60 <= index < 84 else {image.shape})
    recent.frame_captured(CapturedFrame(90, 90, 90, VideoPacket("mjpeg", b"no picture")))
    assert recent.images() == []
