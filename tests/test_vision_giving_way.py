"""Threads beside the frames: they yield, and no other does."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from downfield.vision.giving_way import give_way
from downfield.vision.looking import BESIDE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's threads apart")


def niceness() -> int:
    """Of the calling thread."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_thread_that_gives_way_is_the_only_one_that_does() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=give_way) as yielding, ThreadPoolExecutor(1) as other:
        assert yielding.submit(niceness).result() == min(before + 5, 19)
        assert other.submit(niceness).result() == niceness() == before


def test_looks_at_whole_pictures_give_way_to_frames() -> None:
    assert BESIDE.submit(niceness).result() == min(niceness() + 5, 19)
