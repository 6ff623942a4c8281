"""What Python's library has on Linux and not on Windows or macOS, by the type stubs that mypy brings along."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import mypy

_STUBS: Final = Path(mypy.__file__).with_name("typeshed") / "stdlib"
OTHERS: Final = ("win32", "darwin")


@cache
def linux_only(module: str) -> frozenset[str]:
    """Return the names of a module that another system's lacks; all of them where it has nothing but its imports."""
    stub = _STUBS / f"{module}.pyi"
    if not stub.is_file():
        stub = _STUBS / module / "__init__.pyi"
    if not stub.is_file():
        return frozenset()
    body = ast.parse(stub.read_text(encoding="utf-8")).body
    everywhere = set.intersection(*(set(_names(body, system)) for system in OTHERS))
    return frozenset(set(_names(body, "linux")) - everywhere)


@cache
def is_linux_only(module: str) -> bool:
    """Return whether a module as a whole is of no use on another system: most of what it defines is not there."""
    body_names = linux_only(module)
    stub = _STUBS / f"{module}.pyi"
    if not stub.is_file():
        return False
    all_names = set(_names(ast.parse(stub.read_text(encoding="utf-8")).body, "linux", imports=False))
    return bool(all_names) and len(all_names - body_names) <= len(all_names) // 10


def _names(body: list[ast.stmt], system: str, *, imports: bool = True) -> Iterator[str]:
    for node in body:
        match node:
            case ast.If():
                yield from _names(node.body if _holds(node.test, system) else node.orelse, system, imports=imports)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign():
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))
            case ast.Import() | ast.ImportFrom() if imports:
                yield from (alias.asname or alias.name for alias in node.names)


def _holds(test: ast.expr, system: str) -> bool:
    """Evaluate the conditions that stubs may have: on the system and on Python's version."""
    return bool(eval(ast.unparse(test), {"__builtins__": {}, "sys": _System(system), "TYPE_CHECKING": True}))


class _System:
    """Python's `sys` on another system, as far as stubs ask it."""

    version_info = sys.version_info

    def __init__(self, platform: str) -> None:
        self.platform = platform
