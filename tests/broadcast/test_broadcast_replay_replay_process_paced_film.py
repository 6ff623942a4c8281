"""Films are made quickly while somebody waits for them, and behind everything else once they are ahead."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from downfield.broadcast.replay.replay_process import LATER_NICENESS, LEAD_NS, PacedFilms
from downfield.core.platform.system import SYSTEM
from downfield.review.pictures.clips import TimedImage, encode_fragments

STEP_NS = 50_000_000
COUNT = 60


class Pictures:
    """Small pictures, and the thread and niceness that each was made with."""

    def __init__(self) -> None:
        self.made_by: list[str] = []
        self.niceness: list[int] = []

    def __iter__(self) -> Iterator[TimedImage]:
        for number in range(COUNT):
            self.made_by.append(threading.current_thread().name.rpartition("_")[0])
            if SYSTEM == "linux":
                self.niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            yield number * STEP_NS, np.full((36, 64, 3), 4 * number, np.uint8)


def test_a_film_is_awaited_until_it_is_ahead_and_again_when_it_has_fallen_behind() -> None:
    now_ns = 0
    pictures = Pictures()
    parts = PacedFilms(lambda: now_ns).film(iter(pictures))
    lead = LEAD_NS // STEP_NS
    while len(pictures.made_by) < lead + 20:  # made within no time
        next(parts)
    assert set(pictures.made_by[: lead + 1]) == {"awaited film"}
    assert set(pictures.made_by[lead + 1 :]) == {"film"}
    now_ns = (lead + 20) * STEP_NS  # and now all of it was seen
    for _ in range(5):
        next(parts)
    assert pictures.made_by[-1] == "awaited film"
    list(parts)
    assert len(pictures.made_by) == COUNT


def test_a_paced_film_is_the_same_film_and_one_after_the_other_begins_awaited() -> None:
    films = PacedFilms(lambda: 0)
    plain = b"".join(encode_fragments(iter(Pictures())))
    for _ in range(2):
        pictures = Pictures()
        assert b"".join(films.film(iter(pictures))) == plain
        assert pictures.made_by[0] == "awaited film"


@pytest.mark.skipif(SYSTEM != "linux", reason="threads have no priority of their own")
def test_only_the_thread_in_no_hurry_is_nicer() -> None:
    own = os.getpriority(os.PRIO_PROCESS, os.getpid())
    pictures = Pictures()
    list(PacedFilms(lambda: 0).film(iter(pictures)))
    assert pictures.niceness[0] == own
    assert pictures.niceness[-1] == min(own + LATER_NICENESS, 19)


def test_what_fails_while_a_picture_is_made_reaches_who_takes_the_parts() -> None:
    def broken() -> Iterator[TimedImage]:
        yield 0, np.zeros((36, 64, 3), np.uint8)
        raise ValueError("no picture")

    with pytest.raises(ValueError, match="no picture"):
        list(PacedFilms().film(broken()))
