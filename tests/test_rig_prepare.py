"""The process of a rig: what would hold up every frame is kept away from it."""

from __future__ import annotations

import subprocess
import sys

HOLDS_MUCH = """
import gc
from downfield.rig.cli.run import prepare

prepare()
walks = []
gc.callbacks.append(lambda phase, told: walks.append(told["generation"]))
scenes = [[] for _ in range(1_000_000)]
print(walks.count(1) > 10, walks.count(2))
"""


def test_what_a_long_game_remembers_is_not_walked_through_while_frames_wait() -> None:
    done = subprocess.run([sys.executable, "-c", HOLDS_MUCH], capture_output=True, text=True, check=True)
    assert done.stdout == "True 0\n"


def test_without_that_it_would_be() -> None:
    plain = HOLDS_MUCH.replace("\nprepare()", "")
    done = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1]) > 0
