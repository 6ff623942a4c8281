from __future__ import annotations

import json
import os
import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, photograph
from typer.testing import CliRunner

from downfield.calibration.calibration import read_calibration
from downfield.calibration.pictures import read_pictures, write_picture
from downfield.cli.commands.calibrate import parse_landmark
from downfield.cli.main import app
from downfield.core.errors import InputError
from downfield.core.field.model import load_field


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
    assert "two sigma" in output
    assert "\\n" not in output, "what is to improve it stands on lines of its own"
    assert "Measured in the picture" in output  # every print is, a preset as well
    measured = load_field(str(written))
    assert (measured.mm_per_yd_x, measured.mm_per_yd_y) == pytest.approx(
        (TUDOR.mm_per_yd_x, TUDOR.mm_per_yd_y), rel=0.003
    )
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
    printed = run("calibrate", "landmarks", photo, "--field", "tudor-620", "-o", by_hand, *landmarks, "--json")
    told = json.loads(printed.splitlines()[-1])  # before it, on standard error: progress
    assert (told["calibration"], told["method"]) == (str(by_hand), "landmarks")
    assert told["quality"]["rms_px"] > 0
    assert 0 < told["base_tops_2_sigma_yd"] < 1
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


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pipe", "is a pipe, not a file"),
        ("loop.png", "can't be read: "),
        ("gone.png", "is a link that leads to no file"),
        ("phone.HEIC", "Save or send the photo as JPEG"),
        ("words.mp4", "neither a picture nor a video that can be read"),
        ("words.jpg", "not a readable picture"),
        ("folder", "is a folder. Give a photo"),
        ("a\0b", "no file has such a name"),
    ],
)
def test_what_is_no_picture_is_named_as_what_it_is(tmp_path: Path, name: str, says: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    for each in ("phone.HEIC", "words.mp4", "words.jpg"):
        (tmp_path / each).write_text("hello", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_pictures(tmp_path / name)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("length", "says"),
    [
        ("100,100=110,100=300", "10 px apart, under 20. Measure something longer"),
        ("-50,100=500,100=300", "the end -50,100 of the length is outside the picture of 1920x1080 px"),
        ("100,100=500,1080=300", "the end 500,1080 of the length is outside"),
    ],
)
def test_a_length_that_tells_no_scale_is_refused_before_the_field_is_searched(
    tmp_path: Path, length: str, says: str
) -> None:
    photo = tmp_path / "a.png"
    write_picture(photo, np.full((1080, 1920, 3), 90, dtype=np.uint8))
    with pytest.raises(InputError, match=re.escape(says)):
        run("calibrate", "field", photo, "-o", tmp_path / "x.json", "--length", length)


def test_a_photo_is_not_written_over_and_a_field_is_written_where_it_can_be_read_again(tmp_path: Path) -> None:
    photo, other = tmp_path / "a.png", tmp_path / "b.png"
    write_picture(photo, np.full((8, 8, 3), 90, dtype=np.uint8))
    write_picture(other, np.full((8, 8, 3), 90, dtype=np.uint8))
    before = other.read_bytes()
    for kind in ("field", "lens"):
        with pytest.raises(InputError, match="is a picture, which would be lost"):
            run("calibrate", kind, photo, "-o", other)
        with pytest.raises(InputError, match="is named like a picture"):
            run("calibrate", kind, photo, "-o", tmp_path / "new.png")
    with pytest.raises(InputError, match=r"End the name in \.toml"):
        run("calibrate", "field", photo, "-o", tmp_path / "x.json", "--write-field", tmp_path / "found.txt")
    assert other.read_bytes() == before


def test_a_landmark_that_is_no_place_is_refused() -> None:
    for text in ("0,0=1", "0,nan=1,1", "1e300,0=1,1"):
        with pytest.raises(InputError, match="is not a landmark"):
            parse_landmark(text)
