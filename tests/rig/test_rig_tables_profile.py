"""A table that was set up once is saved, and found again by its camera and its print."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, Scene, photograph
from loopback_streams import MjpegServer
from typer.testing import CliRunner

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.cli.main import app
from downfield.core.errors import InputError, NotFoundError
from downfield.core.field.model import load_field
from downfield.rig.tables.profile import TableFolder, camera_identity, check_table_name, new_profile

LONG = ("\u1e96" * 60, "\U00010330" * 60)  # in UTF-8 longer than the name of a file may be
CAMERA = "http://me:secret@phone:8080/video"


@pytest.fixture(scope="module")
def scene() -> Scene:
    return photograph()


@pytest.fixture(scope="module")
def calibration(scene: Scene) -> Calibration:
    return Calibration(TUDOR, scene.camera, "truth")


def test_a_table_is_found_again_by_its_camera_and_its_print(
    tmp_path: Path, scene: Scene, calibration: Calibration
) -> None:
    folder = TableFolder(tmp_path / "tables")
    assert folder.recognize(CAMERA, scene.image) is None
    folder.save(new_profile(" Attic table ", CAMERA, calibration))
    found = folder.recognize("http://me:changed@phone:8080/video", scene.image)
    assert found is not None
    assert (found.name, found.calibration) == ("Attic table", calibration)
    assert folder.recognize("http://other:8080/video", scene.image) is None
    assert folder.recognize(CAMERA, np.full_like(scene.image, 90)) is None
    assert folder.recognize(CAMERA, scene.image[:, :1280]) is None


def test_the_identity_of_a_stream_holds_no_password() -> None:
    assert camera_identity(CAMERA) == "http://phone:8080/video"


def test_a_name_that_can_be_no_file_is_refused(calibration: Calibration) -> None:
    for name in ("", "  ", "../..", "a\nb", "x" * 61):
        with pytest.raises(InputError, match="is no name for a table"):
            new_profile(name, CAMERA, calibration)
    assert new_profile("../Küche/2", CAMERA, calibration).id == "küche-2"


@pytest.mark.parametrize("name", ["\u202eevil", "a\u200bb", "\ud800", "a\x7f", "\U0001f3c8", "<>", "_"])
def test_a_name_that_can_not_be_seen_is_refused_without_repeating_what_is_hidden(name: str) -> None:
    with pytest.raises(InputError, match="Use letters or digits") as refused:
        check_table_name(name)
    assert all(char.isprintable() for char in str(refused.value))


@pytest.mark.parametrize(
    "name", ["<b>Attic</b>", "\u05d4\u05de\u05e9\u05d7\u05e7", "\U0001f3c8 2", "CON", "\u1e96" * 60, "\U00010330" * 60]
)
def test_any_other_name_is_kept_in_a_file_of_its_own(tmp_path: Path, calibration: Calibration, name: str) -> None:
    folder = TableFolder(tmp_path)
    folder.save(new_profile("Attic", CAMERA, calibration))
    folder.save(new_profile(name, CAMERA, calibration))
    folder.save(new_profile(f"{name[:-1]}x", CAMERA, calibration))
    assert folder.get(name).name == name
    assert len(folder.profiles()) == 3


def test_a_broken_file_does_not_hide_the_other_tables(tmp_path: Path, calibration: Calibration) -> None:
    folder = TableFolder(tmp_path)
    folder.save(new_profile("Attic", CAMERA, calibration))
    (tmp_path / "broken.table.json").write_text("{", encoding="utf-8")
    (tmp_path / "other.table.json").write_bytes(b"\xff\xfe")
    (tmp_path / "gone.table.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.table.json").mkdir()
    assert [profile.name for profile in folder.profiles()] == ["Attic"]


def test_the_latest_table_is_first_though_the_clock_was_put_back(tmp_path: Path, calibration: Calibration) -> None:
    folder = TableFolder(tmp_path)
    for name in ("Attic", "Club", "Hall"):
        path = folder.save(new_profile(name, CAMERA, calibration))
        if name == "Attic":
            os.utime(path, ns=(2**62, 2**62))
    assert [profile.name for profile in folder.profiles()] == ["Hall", "Club", "Attic"]


def test_the_table_in_use_is_forgotten_with_its_file(tmp_path: Path, calibration: Calibration) -> None:
    folder = TableFolder(tmp_path)
    assert folder.in_use() is None
    folder.save(new_profile("Attic", CAMERA, calibration))
    folder.save(new_profile("Club", CAMERA, calibration))
    folder.use("attic")
    assert folder.in_use() == folder.get("Attic")
    folder.remove("Attic")
    assert folder.in_use() is None
    with pytest.raises(NotFoundError, match="Saved tables: Club"):
        folder.get("Attic")


def test_a_table_is_set_up_listed_used_and_removed_from_the_command_line(
    tmp_path: Path, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOWNFIELD_DATA", str(tmp_path / "data"))
    pictures = [cv2.imencode(".jpg", np.roll(scene.image, 0), [cv2.IMWRITE_JPEG_QUALITY, 95 + i])[1] for i in range(2)]
    server = MjpegServer(fps=30, encoded=lambda number: pictures[number % 2].tobytes())

    secret = "p://w#x"
    source = server.url.replace("http://", f"http://me:{secret}@")

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output + str(result.exception)
        assert secret not in result.output
        return result.output

    try:
        made = run("calibrate", "table", "Attic", "--source", source, "--field", "tudor-620")
    finally:
        server.close()
    assert "'Attic' is saved in" in made
    (file,) = (tmp_path / "data").rglob("*.table.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "it holds the password"
    assert f"* Attic: {TUDOR.title}, camera {server.url}" in run("tables", "list")
    assert "residual" in run("tables", "show", "attic", "--calibration", "a.calibration.json", "--field", "my.toml")
    assert secret not in (tmp_path / "a.calibration.json").read_text()
    saved = read_calibration(tmp_path / "a.calibration.json").field
    for field in (load_field("my.toml"), TUDOR):
        assert saved.mm_per_yd == pytest.approx(field.mm_per_yd, rel=0.003)
    run("tables", "use", "none")
    assert "  Attic" in run("tables", "list")
    run("tables", "remove", "Attic")
    assert "No table is saved yet" in run("tables", "list")
