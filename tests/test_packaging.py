"""What is shipped: the package list, the data files, the formats page."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import formats_page
import pytest
from structure import ROOMS

ROOT = Path(__file__).parents[1]
MOST_MODULES = 20
CHECKPOINTS = ROOT / "training" / "checkpoints"  # for those who train on from the repository


def test_every_folder_of_code_is_a_listed_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    on_disk = {
        ".".join(("downfield", *init.parent.relative_to(ROOT).parts))
        for folder in ROOMS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert set(setuptools["packages"]) == {"downfield", *on_disk}, "`downfield` itself is `cli/as_module`"


def test_every_data_file_is_shipped() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    shipped = {
        file
        for package, patterns in data.items()
        for folder in ([*ROOMS, "cli/as_module"] if package == "*" else ["/".join(package.split(".")[1:])])
        for pattern in patterns
        for file in (ROOT / folder).glob(pattern)
    }
    on_disk = {
        file
        for folder in ROOMS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__" and file.parent != CHECKPOINTS
    }
    assert shipped == on_disk


def test_the_formats_page_is_what_the_code_says() -> None:
    assert (ROOT / "docs" / "formats.md").read_text() == formats_page.page(), "run `make docs`"


def test_rooms_import_only_from_those_above_them() -> None:
    for below, folder in enumerate(ROOMS):
        allowed = {*ROOMS[: below + 1]}
        if folder == "officiating":
            allowed = {"core", "officiating"}
        for module in (ROOT / folder).rglob("*.py"):
            for line in module.read_text().splitlines():
                words = line.split()
                if words[:1] in (["from"], ["import"]) and words[1].startswith("downfield."):
                    imported = words[1].split(".")[1]
                    assert imported in allowed, f"{module.relative_to(ROOT)} imports downfield.{imported}"


def _modules(room: str) -> dict[str, Path]:
    """Every module of a room, by its name below `downfield`; a package's name stands for its `__init__`."""
    named = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in (ROOT / room).rglob("*.py")}
    return {name.removesuffix(".__init__"): file for name, file in named.items()}


def _imports(file: Path) -> Iterator[str]:
    """Names below `downfield` that a module imports: modules, and whatever is imported from them."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("downfield."):
            yield from (f"{node.module}.{name.name}".removeprefix("downfield.") for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name.removeprefix("downfield.") for name in node.names)


@pytest.mark.parametrize("room", ROOMS)
def test_packages_inside_a_room_import_one_way(room: str) -> None:
    """In every package of a room its sub-packages, and its own modules each by itself, import without a cycle."""
    modules = _modules(room)
    packages = {name for name, file in modules.items() if file.name == "__init__.py"}
    imported = {
        name: {part for target in _imports(file) for part in (target, target.rpartition(".")[0]) if part in modules}
        for name, file in modules.items()
    }
    for package in packages:
        depth = package.count(".") + 2
        graph: dict[str, set[str]] = {}
        for name, targets in imported.items():
            if not name.startswith(f"{package}."):
                continue
            child = ".".join(name.split(".")[:depth])
            inside = {".".join(target.split(".")[:depth]) for target in targets if target.startswith(f"{package}.")}
            graph.setdefault(child, set()).update(inside - {child})
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            pytest.fail(f"{package}: {' is imported by '.join(error.args[1])}")


@pytest.mark.parametrize("room", ROOMS)
def test_a_folder_of_more_than_twenty_modules_has_packages(room: str) -> None:
    held = Counter(module.parent for module in (ROOT / room).rglob("*.py") if module.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): count for folder, count in held.items() if count > MOST_MODULES} == {}


def test_nothing_that_runs_imports_the_training() -> None:
    for folder in ROOMS:
        for module in (ROOT / folder).rglob("*.py"):
            if folder != "training":
                assert "from downfield.training" not in module.read_text(), module.relative_to(ROOT)


def test_officiating_is_pure() -> None:
    for module in (ROOT / "officiating").rglob("*.py"):
        text = module.read_text()
        for impure in ("cv2", "downfield.models", "downfield.api", "import time", "import random"):
            assert impure not in text, f"{module.relative_to(ROOT)} uses {impure}"
