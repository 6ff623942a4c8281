"""Count what makes the code easy or hard to find one's way in: modules, their length, names, loose constants.

Run: python benchmarks/structure.py [ROOT]

Prints per folder the number of modules, their lines, their lines of code (without blank lines, comments, docstrings),
the median and the longest one, then class names that stand for two things, and
numeric constants outside classes of thresholds. `tests/test_structure.py` holds the counts that must stay 0.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = tuple(name.partition(".")[2] for name in PYPROJECT["tool"]["setuptools"]["package-dir"] if "." in name)
"""The rooms of the product, in import order."""


def modules(root: Path, folder: str) -> list[Path]:
    """The modules of a folder, without the one-line `__init__.py` files of packages."""
    return sorted(path for path in (root / folder).rglob("*.py") if path.name != "__init__.py")


def public_classes(root: Path) -> dict[str, list[Path]]:
    """Where each public top-level class name is defined."""
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in ROOMS:
        for path in modules(root, folder):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(path)
    return found


def duplicate_classes(root: Path) -> dict[str, list[Path]]:
    """Public class names that are defined more than once."""
    return {name: paths for name, paths in public_classes(root).items() if len(paths) > 1}


def loose_numbers(path: Path) -> Iterator[str]:
    """Module-level names that are bound to one number or a tuple of numbers, other than 0, 1 and array indices."""
    for node in ast.parse(path.read_text()).body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and value is not None and _is_threshold(value):
            yield target.id


def _is_threshold(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return _is_threshold(value.operand)
    return isinstance(value, ast.Constant) and isinstance(value.value, float)


def code_lines(path: Path) -> int:
    """Return the lines of a module that hold code: no blank lines, comments or strings that stand alone."""
    source = path.read_text()
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            texts.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - texts)


def main() -> None:
    """Print the counts."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    print(f"{'folder':<14}{'modules':>8}{'lines':>8}{'code':>8}{'median':>8}  longest")
    every: list[tuple[int, Path]] = []
    all_code = 0
    for folder in ROOMS:
        sizes = [(len(path.read_text().splitlines()), path) for path in modules(root, folder)]
        every += sizes
        if sizes:
            lines, longest = max(sizes)
            median = statistics.median(size for size, _ in sizes)
            total = sum(size for size, _ in sizes)
            code = sum(code_lines(path) for _, path in sizes)
            all_code += code
            print(
                f"{folder:<14}{len(sizes):>8}{total:>8}{code:>8}{median:>8.0f}  {longest.relative_to(root)} ({lines})"
            )
    lines, median = sum(size for size, _ in every), statistics.median(size for size, _ in every)
    print(f"{'all':<14}{len(every):>8}{lines:>8}{all_code:>8}{median:>8.0f}")
    print("class names defined more than once:", ", ".join(sorted(duplicate_classes(root))) or "none")
    loose = {path.relative_to(root): list(loose_numbers(path)) for _, path in every}
    print("numeric constants outside threshold classes:", sum(map(len, loose.values())))
    for path, names in sorted(loose.items(), key=lambda item: -len(item[1]))[:10]:
        print(f"  {path}: {', '.join(names)}")


if __name__ == "__main__":
    main()
