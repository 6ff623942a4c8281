"""`downfield card`: lines that the panel takes, or one sentence why there are none."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from card_photos import LINES, WINDOWS, CardLook, photograph
from typer.testing import CliRunner

from downfield.cli.main import app
from downfield.core.errors import InputError


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "cards.jpg"
    cv2.imwrite(str(path), photograph(WINDOWS, CardLook(0, size_px=(900, 1200), blur_px=0.8)))
    return path


@pytest.mark.parametrize(("rolls", "ends"), [((), "?????"), (("--rolls", "9, 20,50,80,100"), (9, 20, 50, 80, 100))])
def test_a_photo_becomes_lines_with_the_rolls_given(photo: Path, rolls: tuple[str, ...], ends: tuple[object]) -> None:
    done = CliRunner().invoke(app, ["card", str(photo), *rolls])
    assert done.exit_code == 0
    assert done.output.splitlines() == [f"{end}: {line}" for end, line in zip(ends, LINES, strict=True)]


@pytest.mark.parametrize("rolls", ["", "1,2,3,4", "5,4,3,2,1", "0,1,2,3,4", "1,2,3,4,101", "a,b,c,d,e", "1,1,2,3,4"])
def test_rolls_that_no_card_has_are_refused(photo: Path, rolls: str) -> None:
    with pytest.raises(InputError, match="--rolls: five rising numbers"):
        CliRunner().invoke(app, ["card", str(photo), "--rolls", rolls], catch_exceptions=False)


def test_a_photo_without_windows_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "wall.png"
    cv2.imwrite(str(path), np.full((300, 400, 3), 90, np.uint8))
    with pytest.raises(InputError, match=r"wall\.png: no 5 result windows .* from above\.$"):
        CliRunner().invoke(app, ["card", str(path)], catch_exceptions=False)
