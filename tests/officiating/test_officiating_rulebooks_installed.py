"""Rulebooks are found: what is registered is what there is, and no other code names one of them.

tests/docs/test_docs_extend.py has the packages of others, whole and broken.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from structure import ROOMS

from downfield.core.errors import RulebookError
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.installed import installed_rulebooks, load_system, load_systems

ROOT = Path(__file__).parents[2]
OURS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["downfield.rulebooks"]
ABOUT_ONE_BOOK = {
    "officiating/rulebooks/rulebook.py": "the rulebook of a game for which none is chosen",
    "core/strip.py": "a strip of that name",
    "twin": "plays with what each rulebook makes of them",
}


def test_what_pyproject_registers_is_installed_and_loads() -> None:
    assert set(OURS) <= set(installed_rulebooks()), "run `make .venv/.dev`"
    systems, problems = load_systems()
    assert not problems
    assert tuple(system.name for system in systems) == installed_rulebooks()
    assert DEFAULT_RULEBOOK in OURS


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(RulebookError, match=f"named 'rugby'. Installed rulebooks: {', '.join(installed_rulebooks())}"):
        load_system("rugby")


def test_no_other_code_names_a_rulebook() -> None:
    named = []
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*")):
            place = file.relative_to(ROOT).as_posix()
            if room in ABOUT_ONE_BOOK or place in ABOUT_ONE_BOOK or place.startswith("officiating/rulebooks/"):
                continue
            if file.suffix not in {".py", ".js", ".html"}:
                continue
            text = file.read_text()
            quoted = [name for name in OURS if re.search(rf"""["'}}]{name}["'{{]""", text)]
            if file.suffix == ".py" and quoted:  # a comment or a docstring may quote it
                constants = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
                quoted = [name for name in quoted if name in constants]
            named += [f"{place}: {name}" for name in quoted]
    assert not named
