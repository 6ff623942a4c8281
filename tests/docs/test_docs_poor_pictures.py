"""The page of poor pictures says what Downfield says, and shows a picture of each."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/poor-pictures.md").read_text(encoding="utf-8")
SOURCES = "".join(
    path.read_text(encoding="utf-8") for room in ("vision", "calibration") for path in (ROOT / room).rglob("*.py")
)


def test_each_text_is_one_of_ours() -> None:
    texts = re.findall(r"^> (.+)$", PAGE, re.MULTILINE)
    assert len(texts) > 12
    for text in texts:
        told, _, act = text.partition(": ")
        assert act in SOURCES, f"what to do is said otherwise now: {act}"
        assert re.split(r"[,;] | [0-9]", told)[0] in SOURCES, told


def test_each_reason_has_its_picture() -> None:
    headings, pictures = PAGE.count("\n## "), re.findall(r"\]\((pictures/poor-[a-z]+\.jpg)\)", PAGE)
    assert headings == len(pictures)
    assert all((ROOT / "docs" / name).is_file() for name in pictures)
