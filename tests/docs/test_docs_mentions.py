"""What documents, docstrings and comments name in this repository is there: files, folders, modules and their names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from documented_commands import PAGES, ROOT
from structure import ROOMS

from downfield.cli.main import COMMANDS

TOPS = (*ROOMS, "tests", "benchmarks", "docs")
TEXTS = sorted(
    path
    for path in (
        *(page for page in PAGES if page.name != "CHANGELOG.md"),
        *(ROOT / name for name in ("Makefile", "pyproject.toml", "Containerfile", "mkdocs.yml")),
        *(file for top in TOPS for kind in ("*.py", "*.js", "*.html") for file in (ROOT / top).rglob(kind)),
    )
    if "node_modules" not in path.parts
)
PATH = re.compile(
    rf"(?<![\w./~<{{*-])((?:{'|'.join(TOPS)})(?:/[\w.-]+)*/[\w-]+\.(?:py|md|js|css|html|toml|json|png|jpg))(?![\w*{{])"
)
FOLDER = re.compile(rf"``?((?:{'|'.join(TOPS)})(?:/[a-z_]+)*/)``?")
NAME = re.compile(r"(?<![\w.@/-])downfield((?:\.[a-z_][a-z_0-9]*)+)((?:\.[A-Z]\w*)?)(?![\w/])")


def paths_in(text: str) -> set[str]:
    """Return the files and folders of the repository that a text names."""
    return {*PATH.findall(text), *FOLDER.findall(text)}


def names_in(text: str) -> set[str]:
    """Return the modules, and names of modules, that a text names."""
    return {f"{module[1:]}{name}" for module, name in NAME.findall(text)}


@cache
def module_file(module: str) -> Path | None:
    """Return the file of a module or a package, by its name without `downfield.`."""
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def is_name(name: str) -> bool:
    """Return whether a dotted name is a module, or a name that stands in one."""
    parts = name.split(".")
    if parts[0] not in ROOMS:
        return False
    for length in range(len(parts), 0, -1):
        file = module_file(".".join(parts[:length]))
        if file is not None:
            if length == len(parts) or parts[length].startswith("__"):
                return True
            return bool(re.search(rf"\b{re.escape(parts[length])}\b", file.read_text(encoding="utf-8")))
    return (ROOT / parts[0]).is_dir() and len(parts) == 1


MADE_UP = {"docs/none.py", "docs/b.md", "game/nowhere/", "game/no_module.py", "game.no_module", "core.errors.NoError"}
"""Names that tests make up for what is not there."""


@pytest.mark.parametrize("top", [*TOPS, ""])
def test_every_file_and_name_that_is_mentioned_exists(top: str) -> None:
    texts = [text for text in TEXTS if (text.relative_to(ROOT).parts[0] if text.parent != ROOT else "") == top]
    missing: dict[str, list[str]] = {}
    for text in texts:
        read = text.read_text(encoding="utf-8")
        paths = [path for path in paths_in(read) if not is_there(path)]
        names = [name for name in names_in(read) if name.split(".")[0] in ROOMS and not is_name(name)]
        made_up = MADE_UP if top == "tests" else set()
        if {*paths, *names} - made_up:
            missing[str(text.relative_to(ROOT))] = sorted({*paths, *names} - made_up)
    assert missing == {}


def is_there(path: str) -> bool:
    """Return whether a path is in the repository, or an address of a service, whose files have no `.py`."""
    return (ROOT / path).exists() or (not path.endswith(".py") and path.startswith(("api/", "desk/event")))


def test_what_was_moved_is_found() -> None:
    text = "see `game/nowhere/` and game/no_module.py, or downfield.game.no_module and downfield.core.errors.NoError"
    assert paths_in(text) == {"game/nowhere/", "game/no_module.py"}
    assert names_in(text) == {"game.no_module", "core.errors.NoError"}
    assert not any(is_name(name) for name in names_in(text))
    assert is_name("core.errors.DownfieldError")


def rows() -> list[list[str]]:
    """Return the questions of CONTRIBUTING.md, each with the files to open."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| question |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_what_a_stranger_looks_for_is_three_files_away(row: list[str]) -> None:
    assert len(rows()) >= 10
    read = ""
    for cell in filter(None, row[1:]):
        path, *names = re.findall(r"`([^`]+)`", cell)
        folder, _, stem = path.removesuffix("/__init__.py").removesuffix(".py").removesuffix(".js").rpartition("/")
        led = not folder or bool(re.search(rf"\b{stem}\b", read)) or path.startswith("core/")
        assert led, f"nothing that was opened before {path} names it"
        read += (ROOT / path).read_text(encoding="utf-8")
        for name in names:
            assert name in read, f"{path} has no {name}"


def test_the_readme_lists_every_room_in_the_order_of_import() -> None:
    folders = re.findall(r"^\| `(\w+)/` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert folders == list(ROOMS)


def test_the_readme_lists_every_command() -> None:
    listed = re.findall(r"`downfield (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(listed) == set(COMMANDS)
