"""The doctor names each fault and its remedy."""

from __future__ import annotations

import dataclasses
import json
import socket
import subprocess
import sys
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from loopback_streams import MjpegServer

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.core.arrays import Image
from downfield.rig.configuration.settings import (
    CalibrationSettings,
    NetworkSettings,
    RecordingSettings,
    ServiceSettings,
)
from downfield.rig.doctor.camera import look_at_camera
from downfield.rig.doctor.computer import look_at_disk, look_at_network, look_at_port, look_at_time
from downfield.rig.doctor.picture import look_at_calibration, look_at_focus, look_at_light
from downfield.rig.recording.clip import bundled_demo
from downfield.rig.sources.opening import SourceChoice

NOWHERE = Path("nowhere.calibration.json")


@pytest.fixture(scope="module")
def image() -> Image:
    with av.open(str(bundled_demo())) as container:
        frame = next(container.decode(video=0))
    return np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


def test_a_camera_that_is_not_there_is_a_fault_with_a_remedy() -> None:
    (finding,) = look_at_camera(SourceChoice("http://127.0.0.1:9/video")).findings
    assert (finding.subject, finding.state) == ("camera", "fault")
    assert finding.remedy


def test_a_stream_that_works_is_well_and_gives_pictures() -> None:
    server = MjpegServer(fps=30)
    looked = look_at_camera(SourceChoice(server.url))
    server.close()
    assert [finding.state for finding in looked.findings] == ["ok"]
    assert "160x90, mjpeg" in looked.findings[0].text
    assert len(looked.images) == 5


def test_light(image: Image) -> None:
    assert look_at_light(image).state == "ok"
    dark = look_at_light((image // 12).astype(np.uint8))
    assert (dark.state, dark.remedy) == ("fault", "Add light over the table or lengthen the exposure")
    assert look_at_light(np.full_like(image, 255)).state == "fault"
    assert look_at_light((image * 0.4).astype(np.uint8)).state == "warning"


def test_focus(image: Image) -> None:
    assert look_at_focus(image).state == "ok"
    soft = look_at_focus(np.asarray(cv2.GaussianBlur(image, (0, 0), 9), dtype=np.uint8))
    assert soft.state == "fault"
    assert "Focus" in soft.remedy


def test_a_calibration_fits_its_picture_and_no_other(image: Image, calibration: Calibration, tmp_path: Path) -> None:
    beside = bundled_demo().with_suffix(".calibration.json")
    fits, certified = look_at_calibration(CalibrationSettings(), [image], beside)
    assert fits.state == "ok"
    assert certified.state == "warning"
    assert "downfield certify" in certified.remedy

    camera = calibration.camera
    moved = dataclasses.replace(camera, translation_mm=tuple(np.add(camera.translation_mm, (40.0, 0.0, 0.0))))
    path = tmp_path / "moved.calibration.json"
    write_calibration(path, dataclasses.replace(calibration, camera=moved))
    moved_finding, _ = look_at_calibration(CalibrationSettings(file=str(path)), [image], NOWHERE)
    assert moved_finding.state == "fault"
    assert "was moved" in moved_finding.remedy

    other_size, _ = look_at_calibration(CalibrationSettings(), [image[:720, :1280]], beside)
    assert other_size.state == "fault"


def test_no_field_in_the_picture_is_a_fault_with_a_remedy() -> None:
    plain = np.full((1080, 1920, 3), 120, dtype=np.uint8)
    (finding,) = look_at_calibration(CalibrationSettings(field="ultimate"), [plain], NOWHERE)
    assert finding.state == "fault"
    assert finding.remedy


def test_a_network_that_is_not_there_is_a_fault(image: Image) -> None:
    finding = look_at_network(NetworkSettings(name="nonesuch"), image)
    assert finding.state == "fault"
    assert "nonesuch" in finding.text


def test_disk(tmp_path: Path) -> None:
    assert look_at_disk(tmp_path / "not" / "yet", RecordingSettings(warn_below_gb=0, stop_below_gb=0)).state != "fault"
    short = look_at_disk(tmp_path, RecordingSettings(stop_below_gb=10_000_000))
    assert (short.state, short.remedy) == ("fault", "Make room: nothing would be recorded")


def test_a_port_that_is_taken_is_a_fault() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert look_at_port(ServiceSettings(port=port)).state == "fault"
    assert look_at_port(ServiceSettings(port=port)).state == "ok"


def test_time_is_looked_at() -> None:
    assert look_at_time().subject == "time"


def test_the_command_prints_json_and_its_status_says_whether_all_is_well(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "downfield.rig", "doctor", "--source", "gone.mp4", "--json"]
    command += ["--set", f"data={tmp_path}", "--set", "service.port=0"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    findings = json.loads(told.stdout)
    assert told.returncode == 1
    assert findings[0]["text"] == "gone.mp4: no such file"
    assert {finding["subject"] for finding in findings} == {"camera", "disk", "port", "time"}
