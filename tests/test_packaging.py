"""What is shipped: the package list, the data files, the formats page."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from structure import ROOMS

ROOT = Path(__file__).parents[1]
CHECKPOINTS = ROOT / "training" / "checkpoints"  # for those who train on from the repository


def test_every_folder_of_code_is_a_listed_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    on_disk = {
        ".".join(("downfield", *init.parent.relative_to(ROOT).parts))
        for folder in ROOMS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert set(setuptools["packages"]) == {"downfield", *on_disk}, "`downfield` itself holds only `python -m downfield`"


def test_every_data_file_is_shipped() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    shipped = {
        file
        for package, patterns in data.items()
        for folder in (ROOMS if package == "*" else ["/".join(package.split(".")[1:])])
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


def test_the_formats_page_is_what_the_code_says(tmp_path: Path) -> None:
    made = tmp_path / "formats.md"
    subprocess.run([sys.executable, ROOT / "docs" / "formats_page.py", made], check=True)
    assert (ROOT / "docs" / "formats.md").read_text() == made.read_text(), "run `make docs`"


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
