"""The colors of teams are kept from one game to the next, for a roster on a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from downfield.rig.configuration.settings import RigSettings, SourceSettings, tables_folder
from downfield.rig.live.vision_stages import KeptColors
from downfield.vision.tracking.teams import TeamColors

COLORS = TeamColors(np.array([[20.0, 3.5, -4.0], [48.25, 0.0, 1.0]]), np.arange(12.0).reshape(2, 3, 2))


def settings_of(folder: Path, source: str = "0") -> RigSettings:
    return RigSettings(source=SourceSettings(name=source), data=str(folder))


def test_colors_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    kept = KeptColors.of(settings_of(tmp_path), Path("cup.roster.json"))
    assert kept.read() is None
    kept.write(COLORS)
    again = KeptColors.of(settings_of(tmp_path), Path("cup.roster.json")).read()
    assert again is not None
    assert (again.palette == COLORS.palette).all()
    assert (again.color_counts == COLORS.color_counts).all()


@pytest.mark.parametrize(("source", "roster"), [("1", "cup.roster.json"), ("0", "final.roster.json")])
def test_another_table_or_another_roster_has_colors_of_its_own(tmp_path: Path, source: str, roster: str) -> None:
    KeptColors.of(settings_of(tmp_path), Path("cup.roster.json")).write(COLORS)
    assert KeptColors.of(settings_of(tmp_path, source), Path(roster)).read() is None


@pytest.mark.parametrize(
    "content", ["", "{", '{"format": "downfield.colors", "version": 1, "palette": 3, "counts": []}']
)
def test_a_damaged_file_is_as_none(tmp_path: Path, content: str) -> None:
    kept = KeptColors.of(settings_of(tmp_path), Path("cup.roster.json"))
    kept.write(COLORS)
    kept.path.write_text(content)
    assert kept.read() is None


def test_colors_that_cannot_be_kept_stop_nothing(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    tables_folder(settings).parent.mkdir(parents=True, exist_ok=True)
    tables_folder(settings).write_text("a file in the place of the folder")
    KeptColors.of(settings, Path("cup.roster.json")).write(COLORS)
