"""The examples of docs/officiating.md run as they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from downfield.officiating.rulebooks.rulebook import load_rulebook

PAGE = Path(__file__).parents[2] / "docs" / "officiating.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_examples_run_and_print_their_game(capsys: pytest.CaptureFixture[str]) -> None:
    there: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, there)
    out = capsys.readouterr().out
    assert "4th & 3 at A 34" in out
    assert "field goal from 34 yards out good on 8" in out
    assert out.count("waiting for roll: field goal") == 1
    assert out.endswith("caught by dark-80\n")


def test_the_house_rules_example_loads(tmp_path: Path) -> None:
    (block,) = blocks("toml")
    assert tomllib.loads(block)["base"] == "tap"
    path = tmp_path / "league.toml"
    path.write_text(block)
    assert load_rulebook(str(path)).params.count("stoppage.allowed") == 2
