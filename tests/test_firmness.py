"""Tests give the same answer in every run: they wait for conditions, and draw nothing at random."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
FILES = {str(path.relative_to(TESTS)): path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
WAITS = re.compile(r"\btime\.sleep\(|\bfrom time import\b.*\bsleep\b|\.wait_for_timeout\(|\basyncio\.sleep\((?!0\))")
DRAWS = re.compile(r"\bdefault_rng\(\)|\bRandom\(\)|\bSystemRandom\b|\bhash\(")
DRAWS_OF_THE_MODULE = re.compile(r"(?<![\w.])random\.(?!Random\b)[a-z]\w*\(")


def lines(pattern: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    return [f"{name}: {line}" for name, text in texts.items() for line in text.splitlines() if pattern.search(line)]


def test_nothing_waits_for_a_time() -> None:
    others = {name: text for name, text in FILES.items() if name not in {"waiting.py", Path(__file__).name}}
    assert lines(WAITS, others) == [], "wait for a condition: tests/waiting.py"


def test_every_generator_has_a_seed() -> None:
    others = {name: text for name, text in FILES.items() if name != Path(__file__).name}
    assert lines(DRAWS, others) == []
    with_module = {name: text for name, text in others.items() if re.search(r"^import random$", text, re.MULTILINE)}
    assert lines(DRAWS_OF_THE_MODULE, with_module) == [], "draw from a random.Random with a seed"


@pytest.mark.skipif("HYPOTHESIS_PROFILE" in os.environ, reason="as `make fuzz` runs them")
def test_property_tests_take_the_same_examples_everywhere() -> None:
    assert settings.default is not None
    assert settings.default.derandomize
    assert settings.default.database is None
    assert settings.default.deadline is None


def test_the_files_that_run_first_exist() -> None:
    """Otherwise they run last, one core beside idle ones."""
    first = re.search(r"^LONGEST_FIRST: Final = \((.*?)^\)", FILES["conftest.py"], re.MULTILINE | re.DOTALL)
    assert first is not None
    assert set(re.findall(r'"(\w+)"', first[1])) <= {Path(name).stem for name in FILES}
