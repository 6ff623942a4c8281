"""Collecting views of the sheet: what is kept, what is still lacking, and the command before a camera."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from sheet_scenes import LENS, drawn, filmed
from typer.testing import CliRunner

from downfield.calibration.lens.lens_calibration import LENS_CALIBRATION_LIMITS, LensCollector, Sheet, read_lens
from downfield.cli.main import app
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError


@pytest.fixture(scope="module")
def views() -> list[Image]:
    """Enough of them: flat in the middle first, then everywhere, tilted."""
    page = drawn(Sheet())
    rng = np.random.default_rng(5)
    out = [filmed(page, (0.0, 0.0, 0.0), (-132.0, -84.0, 330.0))]
    for i in range(13):
        turn = (float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.2, 0.2)))
        place = ((i % 3 - 1) * 90.0 - 132.0, (i // 3 % 3 - 1) * 55.0 - 84.0, 300.0 + 9.0 * i)
        out.append(filmed(page, turn, place))
    return out


def test_missing_views_are_listed_until_they_are_shown(views: list[Image]) -> None:
    collector = LensCollector(Sheet())
    assert collector.add(views[0])
    assert not collector.add(views[0])
    assert f"more views (1 of {LENS_CALIBRATION_LIMITS.enough_views})" in collector.missing
    assert f"the sheet tilted (0 of {LENS_CALIBRATION_LIMITS.enough_tilted_views})" in collector.missing
    for image in views[1:]:
        collector.add(image)
    assert collector.is_complete, collector.missing


def test_a_part_of_the_picture_without_views_is_named(views: list[Image]) -> None:
    collector = LensCollector(Sheet())
    collector.add(cv2.copyMakeBorder(views[0], 0, 900, 0, 1300, cv2.BORDER_CONSTANT, value=200))  # type: ignore[arg-type]
    parts = collector.missing[0]
    assert "lower right" in parts
    assert "upper left" not in parts


def test_a_live_view_counts_only_when_the_sheet_is_held_still(views: list[Image]) -> None:
    collector = LensCollector(Sheet(), hold_still=True)
    assert not collector.add(views[1])
    assert not collector.add(views[2])
    assert collector.add(views[2])
    assert not collector.add(np.full_like(views[0], 128))
    assert not collector.sees_sheet


def test_pictures_of_another_size_are_refused(views: list[Image]) -> None:
    collector = LensCollector(Sheet())
    collector.add(views[0])
    with pytest.raises(CalibrationError, match="640x360"):
        collector.add(cv2.resize(views[0], (640, 360)))  # type: ignore[arg-type]


def test_live_it_lists_what_is_missing_and_stops_by_itself(views: list[Image], tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    held = [image for image in views for _ in range(2)] + [views[0]]
    for i, image in enumerate(held):
        cv2.imwrite(str(shown / f"{i:03d}.png"), image)
    out = tmp_path / "a.lens.json"
    result = CliRunner().invoke(app, ["calibrate", "lens", "--source", str(shown), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "view 1: " in result.output
    assert "still needed: the sheet in the picture's " in result.output
    assert "that is enough" in result.output
    measured = read_lens(out)
    assert measured.views >= LENS_CALIBRATION_LIMITS.enough_views
    assert measured.lens.focal_px[0] == pytest.approx(LENS.focal_px[0], rel=0.01)


def test_a_video_and_a_camera_are_not_both_given(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["calibrate", "lens", "-o", str(tmp_path / "a.json")])
    assert isinstance(result.exception, InputError)
    assert "either" in str(result.exception)
