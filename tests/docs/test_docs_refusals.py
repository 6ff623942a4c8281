"""The page of refusals has every text with which a calibration refuses, whatever the code says today."""

from __future__ import annotations

import re
from pathlib import Path

from refusal_texts import is_listed, refusal_texts, texts_of

PAGE = Path(__file__).parents[2] / "docs" / "refusals.md"


def test_every_text_that_refuses_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [
        f"{module}: {text}" for module, texts in refusal_texts().items() for text in texts if not is_listed(text, page)
    ]
    assert missing == [], "run 'python docs/refusals_page.py docs/refusals.md docs/pictures'"


def test_pictures_of_the_page_exist_and_no_other_is_left() -> None:
    page = PAGE.read_text(encoding="utf-8")
    pictures = {path.name for path in (PAGE.parent / "pictures").glob("refused-*.jpg")}
    shown = [line for line in page.splitlines() if line.startswith("![")]
    assert pictures == {line.rpartition("/")[2].rstrip(")") for line in shown}
    assert len(pictures) >= 15


def test_a_text_is_found_however_it_is_raised() -> None:
    source = '''
DARK = "the picture is too dark"

def solve(size, ok):
    raise CalibrationError(DARK if size else f"only {size} of {ok} lines are seen")

def weigh(rms):
    """Return what speaks against it, in words."""
    return [f"the paint is {rms:.2f} px off"]

class Length:
    def __post_init__(self):
        check(self.mm > 0, InputError, "the length must be above 0 mm")

def other():
    raise ValueError("no text that a person sees")
'''
    assert sorted(texts_of(source)) == [
        "only … of … lines are seen",
        "the length must be above 0 mm",
        "the paint is … px off",
        "the picture is too dark",
    ]


def test_what_is_filled_in_does_not_matter_but_every_word_does() -> None:
    page = "> the picture is only 320x180\n> px. Set the camera to 1920x1080."
    assert is_listed("the picture is only …x… px. Set the camera to 1920x1080.", page)
    assert not is_listed("the picture is only …x… px. Set the lens to 1920x1080.", page)


def test_a_page_names_no_option_and_no_file_of_the_command_line() -> None:
    pages = PAGE.parents[1] / "api" / "pages"
    scripts = [pages / "setup.html", *sorted((pages / "assets").glob("setup*.js"))]
    texts: dict[str, tuple[str, ...]] = {path.name: (path.read_text(encoding="utf-8"),) for path in scripts}
    of_command = ("cli/", "core/", "calibration/certificate.py", "calibration/lens/", "rig/tables/table_calibration.py")
    texts |= {module: found for module, found in refusal_texts().items() if not module.startswith(of_command)}
    assert "rig/tables/setup_solving.py" in texts
    named = re.compile(r"(?<![\w<-])--(?!>)[a-z]|\.toml|downfield [a-z]+ ")
    assert [f"{module}: {text}" for module, found in texts.items() for text in found if named.search(text)] == []
