"""Memory of pictures that are gone is kept for the next ones."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

TAKE_AND_FREE = """
import sys
from pathlib import Path
import numpy as np
from downfield.rig.live.memory import keep_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

if sys.argv[1] == "kept":
    assert keep_memory()
before = resident_mb()
pictures = [np.ones((1080, 1920, 3), np.uint8) for _ in range(20)]
del pictures
print(resident_mb() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told what to do with freed memory")
@pytest.mark.parametrize("memory", ["kept", "given back"])
def test_freed_pictures_stay_with_the_process_that_keeps_memory(memory: str) -> None:
    run = subprocess.run([sys.executable, "-c", TAKE_AND_FREE, memory], capture_output=True, text=True, check=True)
    stays_mb = float(run.stdout)
    assert (stays_mb > 100) == (memory == "kept"), f"{stays_mb:.0f} of 124 MB stay"
