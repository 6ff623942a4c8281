"""The check of the site's links: it finds pages, headings and pictures that are missing, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import site_links
from site_sources import for_the_site

PAGE = '<html><body><h2 id="top">Top</h2><a href="{0}">there</a></body></html>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "index.html").write_text(PAGE.format("../index.html#top"))
    (tmp_path / "a b.png").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    "link",
    ["#top", "reference/", "reference/index.html#top", "a%20b.png", "https://example.org/x#y", "mailto:a@b.c", "?q=1"],
)
def test_links_that_lead_somewhere_are_not_reported(site: Path, link: str) -> None:
    (site / "index.html").write_text(PAGE.format(link))
    assert site_links.missing_links(site) == []


@pytest.mark.parametrize("link", ["#bottom", "reference/other.html", "../CHANGELOG.md", "index.html#bottom", "c.png"])
def test_links_that_lead_nowhere_are_named_with_their_page(site: Path, link: str) -> None:
    (site / "index.html").write_text(PAGE.format(link))
    (missing,) = site_links.missing_links(site)
    assert missing.startswith(f"index.html: {link} ")
    done = subprocess.run([sys.executable, site_links.__file__, str(site)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert missing in done.stdout


def test_links_to_versions_are_those_of_the_site() -> None:
    assert for_the_site("x\n[0.3.0]: #030---2026-11-28\n") == "x\n[0.3.0]: #030-2026-11-28\n"
    assert for_the_site("[a](docs/b.md#c---d) [e](../CHANGELOG.md)") == "[a](b.md#c---d) [e](changelog.md)"


def test_an_empty_folder_is_no_site(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, site_links.__file__, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == 1
