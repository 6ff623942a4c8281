"""``downfield rules`` prints rulebooks for people and as JSON, and refuses invalid house rules."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from downfield.cli.commands.rules import show
from downfield.cli.main import app, main
from downfield.officiating.rulebooks.installed import load_system, load_systems
from downfield.officiating.rulebooks.rulebook import load_rulebook


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, ["rules", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_all_rulebooks_are_listed() -> None:
    out = printed()
    for system in load_systems()[0]:
        assert f"{system.name}: {system.title}\n    {len(system.catalog)} clauses: " in out


def test_a_rulebook_is_printed_with_every_clause_and_parameter() -> None:
    out = printed("tap")
    for name in load_system("tap").catalog:
        assert f"  {name}  [" in out
    assert "formation.line_gap_yd = 1 yd" in out
    assert "TAP's one yard between offensive linemen" in out


def test_house_rules_are_shown_beside_the_defaults(tmp_path: Path) -> None:
    house = tmp_path / "river.toml"
    house.write_text(
        'name = "river"\nbase = "tap"\n[formation]\nline_gap_yd = 1.5\n'
        '[clauses.RC-1]\nhow = "checked"\ntext = "Wide gaps."\namends = ["TAP-067"]\n'
    )
    out = printed("--house", str(house))
    assert out.startswith("river")
    assert "house rules\n  RC-1  [checked]  Wide gaps.\n      amends: TAP-067" in out
    assert "formation.line_gap_yd = 1.5 yd (default 1 yd)" in out


def test_on_a_terminal_a_rulebook_is_printed_as_tables() -> None:
    console = Console(width=160, file=io.StringIO(), record=True)
    show(load_rulebook("tap"), console)
    out = console.export_text()
    for name in (*load_system("tap").catalog, *load_rulebook("tap").params.definitions):
        assert name in out


def test_a_rulebook_is_printed_as_json() -> None:
    data = json.loads(printed("tap", "--json"))
    assert data["system"] == "tap"
    assert [clause["id"] for clause in data["clauses"]] == list(load_system("tap").catalog)
    gap = next(param for param in data["parameters"] if param["name"] == "formation.line_gap_yd")
    assert (gap["value"], gap["unit"]) == (1.0, "yd")
    assert {book["name"] for book in json.loads(printed("--json"))} >= {"tap", "nfl-strategy"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('base = "tap"\n[formation]\nline_gap_yd = "wide"\n', "formation.line_gap_yd"),
        ('base = "tap"\n[formation]\nline_gap_yd = 99\n', "formation.line_gap_yd"),
        ('base = "tap"\n[formation]\nline_gap = 2\n', "formation.line_gap"),
        ('base = "tap"\n[stop]\nnone_for_none = 1\n', "stop.none_for_none"),
    ],
)
def test_invalid_house_rules_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    house = tmp_path / "river.toml"
    house.write_text(text)
    assert _status(monkeypatch, "rules", "tap", "--house", str(house)) == 2
    assert expected in capsys.readouterr().err


def test_an_unknown_rulebook_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _status(monkeypatch, "rules", "backyard") == 2
    err = capsys.readouterr().err
    assert "backyard" in err
    assert "tap" in err
    assert err.count("\n") == 1


def test_house_rules_for_another_rulebook_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / "river.toml"
    house.write_text('base = "nfl-strategy"\n')
    assert _status(monkeypatch, "rules", "tap", "--house", str(house)) == 2
    assert "nfl-strategy, not for tap" in capsys.readouterr().err


def _status(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr("sys.argv", ["downfield", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code
