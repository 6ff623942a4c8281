"""docs/dice.md: its example runs, and every purpose a game can wait for stands in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

OFFICIATING = Path(__file__).parents[2] / "officiating"
PAGE = (Path(__file__).parents[2] / "docs" / "dice.md").read_text(encoding="utf-8")


def test_the_example_prints_its_game(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(block, {})
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "returned to H 27, Home ball"
    assert "fumble, Home recovers" in out
    assert out[-1].startswith("1st & 10 at H 47")


def test_every_roll_and_coin_is_documented() -> None:
    purposes: set[str] = set()
    for module in OFFICIATING.rglob("*.py"):
        source = module.read_text(encoding="utf-8")
        purposes |= set(re.findall(r'wait_for_(?:roll|coin)\([^"\n]*"(\w+)"', source))
        purposes |= set(re.findall(r'PendingInput\("(?:roll|coin)", "(\w+)"', source))
    purposes -= {"return"}  # NFL Strategy's is a card of its own
    assert {"fumble", "penalty", "interception", "onside_length"} <= purposes
    assert not [name for name in sorted(purposes) if f"`{name}`" not in PAGE]
