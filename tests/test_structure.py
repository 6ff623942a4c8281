"""The house stays in order: one meaning per class name, no module too long, a docstring that opens with a sentence."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "core",
    "calibration",
    "models",
    "vision",
    "officiating",
    "game",
    "review",
    "api",
    "rig",
    "desk",
    "twin",
    "training",
)
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
LONGEST = 400


def test_a_public_class_name_has_one_meaning() -> None:
    found: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_no_module_is_too_long_to_read() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_package_says_what_is_in_it(folder: str) -> None:
    for init in (ROOT / folder).rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), init.relative_to(ROOT)


STARTS_THREADS = {"Thread", "Timer", "start_new_thread"}
THREADS = ROOT / "core" / "supervision.py"


def _started_threads(source: str) -> list[int]:
    """Return the lines on which a thread is made by hand, however the module was imported."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in STARTS_THREADS
    ]


def test_no_thread_is_started_without_a_supervisor() -> None:
    found = {
        str(path.relative_to(ROOT)): _started_threads(path.read_text(encoding="utf-8"))
        for path in MODULES
        if path != THREADS
    }
    assert {path: lines for path, lines in found.items() if lines} == {}, "use core/supervision.py"


def test_a_thread_made_by_hand_is_found_however_it_is_imported() -> None:
    made = ["threading.Thread(target=f)", "Thread(target=f)", "Timer(1, f).start()", "_thread.start_new_thread(f, ())"]
    assert [_started_threads(line) for line in made] == [[1]] * 4
    assert _started_threads("ThreadPoolExecutor(1)\nthread: threading.Thread = supervised_thread(f)") == []
