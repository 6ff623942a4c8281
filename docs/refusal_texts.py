"""Lists the texts with which a calibration refuses a picture or what was entered, as they stand in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PLACES: Final = (
    "core/field/model.py",
    "core/field/painted_lines.py",
    "core/texts.py",
    "calibration",
    "api/table_setup.py",
    "rig/tables/aim_check.py",
    "rig/tables/profile.py",
    "rig/tables/setup_session.py",
    "rig/tables/setup_solving.py",
    "rig/tables/table_calibration.py",
    "cli/console/output.py",
    "cli/console/options.py",
    "cli/commands/field_solving.py",
    "cli/commands/calibrate.py",
    "cli/commands/certify.py",
)
ERRORS: Final = frozenset(
    {
        "AimError",
        "AmbiguousField",
        "CalibrationError",
        "FieldError",
        "InputError",
        "NotFoundError",
        "OutputError",
        "RefusedError",
    }
)
GAP: Final = "…"
"""Stands for what is filled in."""

_PROBLEM_LISTS: Final = frozenset({"weigh", "cut_text", "no_match_text"})
"""Functions whose texts are joined into a refusal by others."""

_LEAST_CHARACTERS: Final = 12


def refusal_texts() -> dict[str, tuple[str, ...]]:
    """Return the texts of every module that refuses, by its path from the repository's root."""
    found = {}
    for place in PLACES:
        root = ROOT / place
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            texts = texts_of(path.read_text(encoding="utf-8"))
            if texts:
                found[path.relative_to(ROOT).as_posix()] = texts
    return found


def texts_of(source: str) -> tuple[str, ...]:
    """Return the texts with which a module refuses, in order and each once; `GAP` stands for what is filled in."""
    tree = ast.parse(source)
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    texts = []
    for part in _refusing(tree):
        texts += [_text(each) for each in _strings(part, named)]
    return tuple(dict.fromkeys(text for text in texts if len(text) >= _LEAST_CHARACTERS and " " in text))


def is_listed(text: str, page: str) -> bool:
    """Return whether a page has a text, whatever is filled in; line breaks and quotation marks do not matter."""
    parts = [re.escape(_plain(part)) for part in text.split(GAP)]
    return re.search(".{0,400}?".join(parts), _plain(page)) is not None


@cache
def _plain(text: str) -> str:
    return re.sub(r"[\s>]+", " ", text)


def _refusing(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what an error is raised with, and what functions of problems are made of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ERRORS:
                yield from node.args
            elif node.func.id == "check" and len(node.args) == 3:
                yield node.args[2]
        elif isinstance(node, ast.FunctionDef) and node.name in _PROBLEM_LISTS:
            for statement in node.body[1:]:
                yield from _outermost(statement)


def _outermost(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the texts in a node, but not the parts of which they are put together."""
    if isinstance(node, ast.JoinedStr | ast.Constant):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from _outermost(child)


def _strings(node: ast.expr, named: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
    """Yield the texts of an expression: itself, what a name of the module stands for, or either branch of a choice."""
    if isinstance(node, ast.Name) and node.id in named:
        yield from _strings(named[node.id], {})
    elif isinstance(node, ast.IfExp):
        yield from (*_strings(node.body, named), *_strings(node.orelse, named))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _strings(value, named)
    elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    values = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in values)
