from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, photograph
from typer.testing import CliRunner

from downfield.calibration.calibration import read_calibration
from downfield.calibration.pictures import write_picture
from downfield.core.errors import InputError
from downfield.core.field import load_field
from downfield.rig.cli.calibrate import parse_landmark
from downfield.rig.cli.main import app


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_is_calibrated_drawn_and_certified(tmp_path: Path) -> None:
    scene = photograph()
    photo, out, drawn, report = (tmp_path / name for name in ("a.png", "a.calibration.json", "b.png", "r.html"))
    write_picture(photo, scene.image)
    written = tmp_path / "found.toml"
    output = run(
        "calibrate", "field", photo, "--field", "tudor-620", "-o", out, "--picture", drawn, "--write-field", written
    )
    assert "tudor-620" in output
    assert "Measured in the picture" not in output  # the print is as the preset describes it
    assert load_field(str(written)) == TUDOR
    assert "px" in output
    calibration = read_calibration(out)
    assert calibration.method == "field"
    assert calibration.made_from == ("a.png",)
    assert cv2.imread(str(drawn)) is not None
    assert "hash marks" in run("certify", photo, "-c", out, "--report", report)
    assert read_calibration(out).certificate is not None
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    corners = [(0.0, 0.0), (100.0, 0.0), (100.0, TUDOR.width_yd), (0.0, TUDOR.width_yd)]
    landmarks = []
    for x, y in corners:
        u, v = scene.camera.to_pixels(TUDOR.to_mm(np.array([x, y]))).tolist()
        landmarks += ["--at", f"{x},{y}={u},{v}"]
    by_hand = tmp_path / "hand.calibration.json"
    run("calibrate", "landmarks", photo, "--field", "tudor-620", "-o", by_hand, *landmarks)
    assert read_calibration(by_hand).method == "landmarks"


def test_the_lens_sheet_is_written(tmp_path: Path) -> None:
    out = tmp_path / "sheet.pdf"
    assert "100%" in run("calibrate", "sheet", "-o", out, "--paper", "a3", "--square-mm", "30")
    assert out.read_bytes().startswith(b"%PDF")


def test_a_missing_picture_and_an_unknown_field_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        run("calibrate", "field", tmp_path / "none.png", "-o", tmp_path / "x.json")
    photo = tmp_path / "a.png"
    write_picture(photo, photograph(figures=0).image[:8, :8])
    with pytest.raises(InputError, match="no field is named"):
        run("calibrate", "field", photo, "--field", "nowhere", "-o", tmp_path / "x.json")


def test_a_landmark_that_is_no_place_is_refused() -> None:
    for text in ("0,0=1", "0,nan=1,1", "1e300,0=1,1"):
        with pytest.raises(InputError, match="is not a landmark"):
            parse_landmark(text)
