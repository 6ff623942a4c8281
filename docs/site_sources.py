"""Gather the pages of the documents' site: docs/, how to contribute and what changed, and a list of all modules.

Run: python docs/site_sources.py build/site-sources       (`make docs-site` does)
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = [room for room in PYPROJECT["tool"]["setuptools"]["package-dir"].values() if "/" not in room]
FROM_THE_TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages of the repository that the site has as well, named in small letters there."""

MODULES = "modules.md"
"""Made for the site alone: it would be out of date in the repository with every module that is added."""

_NOT_SHOWN = shutil.ignore_patterns("*.py", "__pycache__", "service_text.md")


def gather(folder: Path) -> None:
    """Write the pages and pictures of the site, with links as they are there; a folder of that name is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=_NOT_SHOWN)
    for name in FROM_THE_TOP:
        (folder / name.lower()).write_text(for_the_site((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        if (folder / page.name).exists():
            (folder / page.name).write_text(for_the_site(page.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / MODULES).write_text(module_list(), encoding="utf-8")


def module_list() -> str:
    """Return the page that says of every module what it is, by the first sentence of its docstring."""
    text = "In the order in which data flows; [architecture](architecture.md) says how they work together."
    lines = ["# Every module", "", text]
    for folder in ROOMS:
        lines += ["", f"## {folder}", "", "| module | what it is |", "|---|---|"]
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name != "__init__.py":
                documented = _docstring(path.read_text(encoding="utf-8"))
                first = " ".join(documented.split("\n\n")[0].split()).replace("|", "\\|")
                lines.append(f"| `{path.relative_to(ROOT).as_posix()}` | {first} |")
    return "\n".join(lines) + "\n"


def _docstring(source: str) -> str:
    """Return a module's docstring, "" where there is none; what follows it is not parsed."""
    begins, quotes, rest = source.partition('"""')
    return ast.get_docstring(ast.parse(begins + quotes + "".join(rest.partition('"""')[:2]))) or ""


def for_the_site(text: str) -> str:
    """Return a page's text with its links as they are in the site, where all pages lie in one folder."""
    text = text.replace("](docs/", "](")
    for name in FROM_THE_TOP:
        text = re.sub(rf"\]\((\.\./)?{re.escape(name)}", f"]({name.lower()}", text)
    # GitHub makes one dash of each space beside a dash in a heading, the site one of all of them.
    return re.sub(r"(?m)^(\[[^\]]+\]: #)(\S+)$", lambda found: found[1] + re.sub("-+", "-", found[2]), text)


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
