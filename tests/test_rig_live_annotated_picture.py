"""The annotated picture gives way to the calls."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from downfield.api.feed.hub import Hub
from downfield.api.feed.latest_picture import LatestPicture
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.rig.live.annotated_picture import BUSY_PER_S, PER_S, AnnotatedPicture


class Watched(LatestPicture):
    """A picture that is always watched, and counts how often it is replaced."""

    watched = True


def made_in_a_second(step: int, monkeypatch: pytest.MonkeyPatch, *, busy: bool = False) -> int:
    """AnnotatedPicture offered in a second of frames whose indices rise by so much."""
    now, offered = 0.0, 0
    monkeypatch.setattr("downfield.rig.live.annotated_picture.time.monotonic", lambda: now)
    making = AnnotatedPicture(None, Hub(), Watched(), lambda: busy)
    making.close()  # what is offered is counted here, and not drawn

    def offer(_item: object) -> bool:
        nonlocal offered
        offered += 1
        return True

    monkeypatch.setattr(making._newest, "offer", offer)
    image = np.zeros((8, 8, 3), dtype=np.uint8)
    for number in count():
        now = number / 60
        if now >= 2.0:
            break
        if now == 1.0:
            offered = 0
        index = number * step
        making.scene(Frame(index, index + 1, image), Scene(index, index + 1, "off", ()))
    return offered


def test_all_frames_seen_the_picture_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_in_a_second(1, monkeypatch) == pytest.approx(PER_S, abs=2)


def test_while_frames_are_lost_it_moves_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_in_a_second(2, monkeypatch) == pytest.approx(BUSY_PER_S, abs=1)


def test_on_a_computer_that_is_too_slow_it_moves_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_in_a_second(1, monkeypatch, busy=True) == pytest.approx(BUSY_PER_S, abs=1)
