"""The documents: every link leads somewhere, each is near the index; helpers that find the commands they show."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from documented_commands import FENCE, PAGES, ROOT
from site_sources import gather

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)|<img[^>]*src=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in _HEADING.findall(page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_picture_leads_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text())
    targets = [*_LINK.findall(text), *(one or other for one, other in _PICTURE.findall(text))]
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}, which is not there"
        if anchor and linked.suffix == ".md":
            assert anchor in anchors(linked), f"{page.name} links to {target}, which has no such heading"


def test_every_document_is_reached_from_the_index_in_two_clicks() -> None:
    def linked(page: Path) -> set[Path]:
        found = (target.partition("#")[0] for target in _LINK.findall(page.read_text()))
        return {(page.parent / target).resolve() for target in found if target.endswith(".md")}

    index = ROOT / "docs" / "index.md"
    first = linked(index)
    second = {page for one in first if one.is_file() for page in linked(one)}
    missing = {page.name for page in (ROOT / "docs").glob("*.md") if page.name != "service_text.md"} - {
        page.name for page in {index, *first, *second}
    }
    assert missing == set()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    gather(folder)
    return folder


def test_the_site_lists_every_document_once(site: Path) -> None:
    listed = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in site.glob("*.md"))


def test_links_of_the_site_stay_within_it(site: Path) -> None:
    assert not list(site.rglob("*.py"))
    for page in site.glob("*.md"):
        for target in (one.partition("#")[0] for one in _LINK.findall(FENCE.sub("", page.read_text()))):
            outside = re.match(r"[a-z]+:", target) or not target
            assert outside or (page.parent / target).is_file(), f"{page.name} links to {target}, which the site lacks"


def test_each_room_names_its_packages() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    unnamed = []
    for _, room, package in (name.split(".") for name in packages if name.count(".") == 2):
        documented = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or ""
        unnamed += [] if re.search(rf"\b{package}\b", documented) else [f"{room}/{package}"]
    assert not unnamed, "the docstring of the room's __init__.py does not say what it is for"
