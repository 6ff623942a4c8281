"""A process killed at random moments: nothing acknowledged is lost, and the game resumes as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KILL = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def test_kills_at_random_moments_lose_nothing_acknowledged() -> None:
    result = subprocess.run(
        [sys.executable, str(KILL), "--kills", "3"], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "3 kills" in result.stdout
    assert "0 faults" in result.stdout
