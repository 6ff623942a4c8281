"""The process of a rig is tuned so that nothing delays every frame."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

CREATE_MANY_OBJECTS = """
import gc
from downfield.core.platform.process_tuning import tune_process

tune_process()
generations = []
gc.callbacks.append(lambda phase, info: generations.append(info["generation"]))
scenes = [[] for _ in range(1_000_000)]
print(generations.count(1) > 10, generations.count(2))
"""

ALLOCATE_AND_FREE = """
import sys
from pathlib import Path
import numpy as np
from downfield.core.platform.process_tuning import keep_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

if sys.argv[1] == "kept":
    assert keep_memory()
before = resident_mb()
pictures = [np.ones((1080, 1920, 3), np.uint8) for _ in range(20)]
del pictures
print(resident_mb() - before)
"""

ALLOCATE_IN_TURN = """
import sys, threading
from pathlib import Path
import numpy as np
from downfield.core.platform.process_tuning import keep_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

def use_pictures():
    for _ in range(8):
        pictures.append(np.ones((1080, 1920, 3), np.uint8))
    pictures.clear()
    freed.release()
    ended.wait()

assert keep_memory()
if sys.argv[1] == "apart":
    import ctypes
    ctypes.CDLL(None).mallopt(-8, 8)
before, pictures, freed, ended = resident_mb(), [], threading.Semaphore(0), threading.Event()
threads = [threading.Thread(target=use_pictures) for _ in range(4)]
for thread in threads:
    thread.start()
    freed.acquire()
print(resident_mb() - before)
ended.set()
"""


def test_the_objects_of_a_long_game_are_not_collected_while_frames_wait() -> None:
    done = subprocess.run([sys.executable, "-c", CREATE_MANY_OBJECTS], capture_output=True, text=True, check=True)
    assert done.stdout == "True 0\n"


def test_without_tuning_they_would_be() -> None:
    untuned = CREATE_MANY_OBJECTS.replace("\ntune_process()", "")
    done = subprocess.run([sys.executable, "-c", untuned], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1]) > 0


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="needs glibc, whose settings keep freed memory in the process"
)
@pytest.mark.parametrize("memory", ["kept", "returned"])
def test_the_memory_of_freed_pictures_stays_in_the_process(memory: str) -> None:
    done = subprocess.run([sys.executable, "-c", ALLOCATE_AND_FREE, memory], capture_output=True, text=True, check=True)
    stays_mb = float(done.stdout)
    assert (stays_mb > 100) == (memory == "kept"), f"{stays_mb:.0f} of 124 MB stay"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc, which has a heap for each thread")
@pytest.mark.parametrize("heaps", ["together", "apart"])
def test_what_a_thread_freed_serves_the_others(heaps: str) -> None:
    done = subprocess.run([sys.executable, "-c", ALLOCATE_IN_TURN, heaps], capture_output=True, text=True, check=True)
    grown_mb = float(done.stdout)
    assert (grown_mb < 80) == (heaps == "together"), f"{grown_mb:.0f} MB for four threads of 50 MB, one after another"
