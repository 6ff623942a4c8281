"""The overlays that come with Downfield: each declared once, with its files, and following topics that exist."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import overlays_page
import pytest
from bundled import bundled_overlays

from downfield.broadcast.overlays import installed
from downfield.broadcast.overlays.installed import FILE_TYPES, SUFFIX, Overlay
from downfield.game.published.hub import TOPICS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "broadcast" / "overlays"
OVERLAYS = tuple(bundled_overlays().values())


def test_every_script_and_style_in_the_folder_belongs_to_a_declared_overlay() -> None:
    declared = {file.name.removesuffix(SUFFIX) for file in FOLDER.glob(f"*{SUFFIX}")}
    assert declared == {overlay.name for overlay in OVERLAYS} == {file.stem for file in FOLDER.glob("*.js")}
    served = {file.name for file in FOLDER.iterdir() if file.suffix in FILE_TYPES}
    assert {Path(name).stem for name in served} == declared
    assert served.isdisjoint(file.name for file in (ROOT / "api" / "pages" / "assets").iterdir())


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda overlay: overlay.name)
def test_an_overlay_follows_topics_of_the_feed_by_its_script(overlay: Overlay) -> None:
    script = (FOLDER / f"{overlay.name}.js").read_text(encoding="utf-8")
    assert f'overlay("{overlay.name}", ' in script
    assert set(overlay.topics) <= set(TOPICS)


def test_the_page_of_the_overlays_is_what_they_declare() -> None:
    assert (ROOT / "docs" / "overlays.md").read_text() == "".join(overlays_page.page()), "run `make docs`"


def test_a_package_without_init_is_read_also_where_pip_adds_a_path_that_is_no_folder(tmp_path: Path) -> None:
    module = SimpleNamespace(__path__=["__editable__.ticker.finder.__path_hook__", str(tmp_path)])
    entry = cast("EntryPoint", SimpleNamespace(load=lambda: module))
    assert installed._folder_of(entry) == tmp_path
