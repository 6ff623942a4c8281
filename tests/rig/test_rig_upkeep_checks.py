"""The doctor reports each fault with its remedy."""

from __future__ import annotations

import dataclasses
import json
import socket
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from loopback_streams import MjpegServer

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.sources.file_sources import bundled_demo
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.main import run_command
from downfield.core.arrays import Image
from downfield.rig.configuration.settings import CalibrationSettings, NetworkSettings, ServiceSettings
from downfield.rig.upkeep.checks import check_calibration, check_camera, check_focus, check_light
from downfield.rig.upkeep.computer_checks import check_disk, check_network, check_port, check_time

MISSING = Path("nowhere.calibration.json")


@pytest.fixture(scope="module")
def image() -> Image:
    with av.open(str(bundled_demo())) as container:
        frame = next(container.decode(video=0))
    return np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8)


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


def test_a_missing_camera_is_a_fault_with_a_remedy() -> None:
    (result,), images = check_camera(SourceChoice("http://127.0.0.1:9/video"))
    assert not images
    assert (result.subject, result.state) == ("camera", "fault")
    assert result.remedy


def test_an_extra_that_a_source_lacks_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    (fault,), _ = check_camera(SourceChoice("phone://camera"))
    assert fault.state == "fault"
    assert fault.text.startswith("A phone as the camera needs the extra 'phone'. Install it with: ")
    assert fault.remedy == ""


def test_a_working_stream_is_ok_and_yields_pictures() -> None:
    server = MjpegServer(fps=30)
    results, images = check_camera(SourceChoice(server.url))
    server.close()
    assert [result.state for result in results] == ["ok"]
    assert "160x90, mjpeg" in results[0].text
    assert len(images) == 5


def test_dark_overexposed_and_dim_pictures_are_reported(image: Image) -> None:
    assert check_light(image).state == "ok"
    dark = check_light((image // 12).astype(np.uint8))
    assert (dark.state, dark.remedy) == ("fault", "Add light over the table or lengthen the exposure")
    assert check_light(np.full_like(image, 255)).state == "fault"
    assert check_light((image * 0.4).astype(np.uint8)).state == "warning"


def test_a_soft_picture_is_reported(image: Image) -> None:
    assert check_focus(image).state == "ok"
    soft = check_focus(np.asarray(cv2.GaussianBlur(image, (0, 0), 9), dtype=np.uint8))
    assert soft.state == "fault"
    assert "Focus" in soft.remedy


def test_a_calibration_fits_its_own_picture_only(image: Image, calibration: Calibration, tmp_path: Path) -> None:
    beside = bundled_demo().with_suffix(".calibration.json")
    fits, certified = check_calibration(CalibrationSettings(), [image], beside)
    assert fits.state == "ok"
    assert certified.state == "warning"
    assert "downfield certify" in certified.remedy

    camera = calibration.camera
    moved = dataclasses.replace(camera, translation_mm=tuple(np.add(camera.translation_mm, (40.0, 0.0, 0.0))))
    path = tmp_path / "moved.calibration.json"
    write_calibration(path, dataclasses.replace(calibration, camera=moved))
    moved_result, _ = check_calibration(CalibrationSettings(file=str(path)), [image], MISSING)
    assert moved_result.state == "fault"
    assert "was moved" in moved_result.remedy

    other_size, _ = check_calibration(CalibrationSettings(), [image[:720, :1280]], beside)
    assert other_size.state == "fault"


def test_a_picture_without_a_field_is_a_fault_with_a_remedy() -> None:
    plain = np.full((1080, 1920, 3), 120, dtype=np.uint8)
    (result,) = check_calibration(CalibrationSettings(field="ultimate"), [plain], MISSING)
    assert result.state == "fault"
    assert result.remedy


def test_an_unknown_network_is_a_fault(image: Image) -> None:
    result = check_network(NetworkSettings(name="nonesuch"), image)
    assert result.state == "fault"
    assert "nonesuch" in result.text


def test_too_little_disk_space_is_a_fault(tmp_path: Path) -> None:
    assert check_disk(tmp_path / "not" / "yet", RecordingSettings(warn_below_gb=0, stop_below_gb=0)).state != "fault"
    short = check_disk(tmp_path, RecordingSettings(stop_below_gb=10_000_000))
    assert (short.state, short.remedy) == ("fault", "Free some disk space: nothing would be recorded")


def test_an_occupied_port_is_a_fault() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert check_port(ServiceSettings(port=port)).state == "fault"
    assert check_port(ServiceSettings(port=port)).state == "ok"


def test_the_clock_is_checked() -> None:
    assert check_time().subject == "time"


def test_the_command_prints_json_and_exits_with_status_1_on_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--set", f"data={tmp_path}", "--set", "service.port=0"]
    assert run_command(["doctor", "--source", "gone.mp4", "--json", *options]) == 1
    results = json.loads(capsys.readouterr().out)
    assert results[0]["text"] == "gone.mp4: no such file"
    assert {result["subject"] for result in results} == {"camera", "rulebook", "disk", "store", "port", "time"}
