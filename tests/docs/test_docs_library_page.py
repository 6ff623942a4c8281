"""The page of what Python programs may use is what the code says, and its examples run."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import library_page
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "library.md"
EXAMPLES = re.findall(r"^## ([^\n]+)\n\n```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
OUTPUTS = {
    "In a few lines": r"^\d+\.\d+\.\d+ \d+ figures",
    "Judge a recorded game": r"tackle: .*\n.*\n$|fumble",
    "Write a case of a rulebook by hand": r"^tackle: .*dark-22",
    "Measure between two bases": r"^\d\.\d\d mm between them, give or take 0\.\d\d\n$",
    "From pixels to yards": r"^\d\d\.\d\d yd along the field, \d\d\.\d\d yd across; 0\.\d\d mm sure along\n$",
    "See figures in a picture": r"^2[012] figures",
    "Errors": r"^no such table\.calibration\.json: no such file\n$",
}


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text() == library_page.page().rstrip() + "\n", "run `make docs`"


def test_every_chapter_has_an_example_that_is_tried() -> None:
    assert [title for title, _ in EXAMPLES] == list(OUTPUTS)


@pytest.mark.parametrize(("title", "example"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_an_example_runs_as_it_stands(
    title: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(example, f"library.md: {title}", "exec"), {"__name__": "__main__"})
    assert re.search(OUTPUTS[title], output.getvalue(), re.MULTILINE), output.getvalue()
