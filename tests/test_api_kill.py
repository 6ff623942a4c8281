"""A process killed at random moments: nothing acknowledged is lost, the game stands as it stood."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KILL = Path(__file__).parents[1] / "benchmarks" / "kill.py"


def test_kills_at_random_moments_lose_nothing_that_was_acknowledged() -> None:
    told = subprocess.run(
        [sys.executable, str(KILL), "--kills", "3"], capture_output=True, text=True, timeout=120, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "3 kills" in told.stdout
    assert "0 faults" in told.stdout
