"""docs/rulebooks.md: what the catalog says, its league file and its example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rulebooks_page
from bundled import bundled_rulebooks

from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.rulebooks.rulebook import load_rulebook

PAGE = Path(__file__).parents[2] / "docs" / "rulebooks.md"


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_page_matches_the_catalog() -> None:
    assert PAGE.read_text() == rulebooks_page.page(), "run `make docs`"


def test_every_reading_is_on_the_page() -> None:
    text = PAGE.read_text()
    for book in bundled_rulebooks():
        for name, clause in load_system(book).catalog.items():
            assert (f"| {name} |" in text) == bool(clause.reading), name


def test_the_league_file_loads(tmp_path: Path) -> None:
    league = tmp_path / "river-city.toml"
    league.write_text(block("toml"))
    rulebook = load_rulebook(str(league))
    assert rulebook.name == "River City"
    assert rulebook.params.flag("formation.line_gap_exact")
    assert not rulebook.params.flag("stop.none_for_none")


def test_the_example_runs_and_finds_the_quarterback_missing(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block("python"), "docs/rulebooks.md", "exec"), {})
    out = capsys.readouterr().out.splitlines()
    assert any(line.startswith("kept ('TAP-067',)") for line in out)
    assert any(line.startswith("unknown ('TAP-071'") for line in out)
    assert not any(line.startswith("broken ('TAP-068'") for line in out)
