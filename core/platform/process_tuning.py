"""Settings of the whole process for the live loop: thread switching, garbage collection and memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from dataclasses import dataclass
from typing import Final

import cv2

from downfield.core.platform.system import SYSTEM


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Values that the process is tuned to."""

    # longest time a thread may hold the interpreter: Python's 5 ms are long beside the 16 ms of a frame
    switch_interval_s: float = 0.0002
    # objects created before new ones are collected: a frame creates a few hundred and leaves hardly any garbage
    young_objects: int = 5_000
    # Collections of new objects before a full one: half a day. A full collection visits everything that a game keeps in
    # memory, while every frame waits, and frees next to nothing.
    young_collections: int = 1_400
    kept_heap_bytes: int = 512 << 20  # free memory at the heap's end that is kept: more than is ever in use at once
    # size from which glibc maps memory separately, and so returns it at once: the largest value that glibc allows
    mapped_bytes: int = 32 << 20
    # Heaps that glibc may open. It would open one for each thread, up to eight for each core, and what one thread has
    # freed is of no use to another: 120 MB lay free while a rig ran. Nearly all memory is requested by threads that
    # hold the interpreter, so that they do not wait for one another at the heap either.
    heaps: int = 1


_LIMITS: Final = ProcessLimits()

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # parameters of glibc's mallopt, malloc.h


def tune_process() -> None:
    """Tune this process for the live loop, whose threads must not wait for one another."""
    cv2.setNumThreads(1)
    sys.setswitchinterval(_LIMITS.switch_interval_s)
    gc.set_threshold(_LIMITS.young_objects, gc.get_threshold()[1], _LIMITS.young_collections)
    keep_memory()


def keep_memory() -> bool:
    """Keep freed memory in this process for the next frame, instead of returning it to the system (glibc on Linux).

    Memory from the system is cleared first, page by page: a tenth of all time spent on frames. All threads share it.
    Returns whether it could be set.
    """
    if SYSTEM != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all(
        [
            mallopt(_TRIM_THRESHOLD, _LIMITS.kept_heap_bytes),
            mallopt(_MMAP_THRESHOLD, _LIMITS.mapped_bytes),
            mallopt(_ARENA_MAX, _LIMITS.heaps),
        ]
    )
