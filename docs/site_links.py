"""Check the links of the documents' site: every page, heading and picture that it links to is in it.

Run: python docs/site_links.py build/site       (`make docs-site` does; exits with 1 and names what is missing)
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

_LINKS = {("a", "href"), ("img", "src"), ("link", "href"), ("script", "src"), ("source", "src"), ("video", "src")}


@dataclass
class SitePage(HTMLParser):
    """What a page links to, and what in it can be linked to.

    Attributes:
        links: addresses as they stand there.
        anchors: ids and names of its elements.
    """

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, and its name."""
        for name, value in attrs:
            if value and (tag, name) in _LINKS:
                self.links.append(value)
            if value and name in {"id", "name"}:
                self.anchors.add(value)


def read_site(folder: Path) -> dict[Path, SitePage]:
    """Return the pages of a site by their files."""
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        page = SitePage()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = page
    return pages


def missing_links(folder: Path) -> list[str]:
    """Return what links of a site lead nowhere, one sentence each; addresses of other sites are not looked up."""
    pages, missing = read_site(folder), []
    for path, page in pages.items():
        if path.name == "404.html":  # shown at any address: its links begin at the site's root
            continue
        for link in dict.fromkeys(page.links):
            address, anchor = urldefrag(link)
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                missing.append(f"{path.name}: {link} is not there.")
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                missing.append(f"{path.name}: {link} has no such heading.")
    return missing


def main() -> None:
    """Print what is missing."""
    folder = Path(sys.argv[1])
    missing = missing_links(folder)
    sys.stdout.write("".join(f"{line}\n" for line in missing))
    count = len(read_site(folder))
    if missing or not count:
        sys.exit(f"{len(missing)} links of {count} pages lead nowhere.")


if __name__ == "__main__":
    main()
