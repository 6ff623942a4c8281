"""Strip descriptions: the bundled one, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from downfield.core.errors import FieldError, FormatError, InputError
from downfield.core.strip import DialWindow, SlideShape, load_strip


def test_the_bundled_strip_counts_everything_the_game_needs() -> None:
    assert set(load_strip().counts) == {"home", "away", "down", "quarter", "minutes", "seconds"}


def test_an_unknown_strip_is_named() -> None:
    with pytest.raises(InputError, match="no strip is named 'other'"):
        load_strip("other")


def test_a_broken_file_names_its_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n')
    with pytest.raises(FormatError, match=r"mine\.toml"):
        load_strip(str(path))


def test_a_window_off_the_print_is_refused() -> None:
    strip = load_strip()
    with pytest.raises(FieldError, match="not on the print"):
        dataclasses.replace(strip, dials=(dataclasses.replace(strip.dials[0], y_mm=(400.0, 410.0)),))


@pytest.mark.parametrize("faces", [("1",), ("1", "1"), ("1", "x"), ("1", "100")])
def test_impossible_faces_are_refused(faces: tuple[str, ...]) -> None:
    with pytest.raises(FieldError, match="dial down"):
        DialWindow("down", (0.0, 1.0), (0.0, 1.0), faces)


def test_thirds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(FieldError, match="thirds_y_yd"):
        SlideShape(thirds_y_yd=(10.0, 20.0, 30.0))
