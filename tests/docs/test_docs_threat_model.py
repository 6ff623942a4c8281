"""Every line of the threat model names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_line_of_the_threat_model_is_shown_by_tests_that_exist() -> None:
    lines = [line for line in (ROOT / "docs" / "threat-model.md").read_text().splitlines() if line.startswith("| to ")]
    assert len(lines) > 10
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for line in lines:
        named = re.findall(r"`(test_\w+)`", line)
        assert named, f"no test shows: {line}"
        missing = [name for name in named if f"def {name}(" not in tests]
        assert not missing, f"{missing} are no tests"
