"""The whole rig in one process: a live game that goes on after a restart, a lost camera, the twin as a source."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from loopback_streams import MjpegServer
from rig_fakes import PLAYERS, FakeVision, Notes

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.core.errors import InputError
from downfield.core.field import preset
from downfield.core.frame import Frame
from downfield.game.commands import Record, UseCalibration
from downfield.game.receipts import Accepted, Submission
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.vision_seam import VisionStage
from downfield.rig.recording.clip import bundled_demo
from downfield.rig.rig import Rig
from downfield.rig.sources.video_file import VideoFile

SEEING = threading.Event()
SEEING.set()


def wait_to_see(_: Frame) -> None:
    SEEING.wait(60)


def fake_sight(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001
    return FakeVision(wait_to_see)


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    """Of a camera that sends small pictures."""
    made = read_calibration(bundled_demo().with_suffix(".calibration.json"))
    lens = replace(made.camera.lens, size_px=(160, 90))
    path = tmp_path / "small.calibration.json"
    write_calibration(path, replace(made, camera=replace(made.camera, lens=lens)))
    return path


def rig_on(server: MjpegServer, calibration: Path, data: Path) -> Rig:
    given = {
        "source.name": server.url,
        "calibration.file": str(calibration),
        "data": str(data),
        "service.on": False,
        "recording.stop_below_gb": 0.0,
    }
    return Rig(load(environment={}, command_line=given), data, open_vision=fake_sight)


def play(rig: Rig) -> threading.Thread:
    thread = threading.Thread(target=rig.play, daemon=True)
    thread.start()
    until(lambda: rig.topic("scene"), "no scene was published")
    return thread


def test_a_live_game_goes_on_after_a_restart_and_survives_a_lost_camera(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    first = rig_on(server, calibration, tmp_path / "data")
    SEEING.clear()  # the board is soon seen to go on: no play is to begin before both are declared
    playing = threading.Thread(target=first.play, daemon=True)
    playing.start()
    for declaration in (
        SetUp("away", -1, 31.0, down=3, distance_yd=4.0, score=(7, 3)),
        LineUpDeclared(PLAYERS, "dark"),
    ):
        assert isinstance(first.game_service.declare(declaration, Submission()), Accepted)
    SEEING.set()
    until(lambda: first.situation().endswith("live"), "the board that was seen to go on began no play")
    stood, game = first.situation(), first.topic("game").game
    server.cut()
    until(lambda: first.health().level == "alarm", "the loss was not told")
    assert first.health().calls == "suspended"
    server.restore()
    until(lambda: first.health().level != "alarm", "the camera did not come back")
    assert isinstance(first.game_service.command(Record(on=False), Submission()), Accepted)
    first.end()
    playing.join(10)
    assert not playing.is_alive()
    assert list((tmp_path / "data" / "recordings").rglob("0001.mkv"))

    second = rig_on(server, calibration, tmp_path / "data")
    play(second)
    assert second.topic("game").game == game
    until(lambda: second.situation() == stood, "the game was not gone on with")
    assert second.topic("game").score == (7, 3)
    second.end()
    server.close()


def test_the_frames_of_a_live_call_are_served_out_of_the_file_being_written(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    given = {
        "source.name": server.url,
        "calibration.file": str(calibration),
        "data": str(tmp_path),
        "service.port": 0,
        "recording.stop_below_gb": 0.0,
    }
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=fake_sight)
    play(rig)
    until(lambda: rig.health().recording.seconds > 1, "nothing was recorded")
    with httpx.Client(base_url=rig.address, timeout=30) as client:
        made = client.post("/api/calls", json={"kind": "info", "text": "look at this"}).json()["calls"][0]
        path = f"/api/games/current/calls/{made['id']}/frames"
        until(lambda: len(client.get(path).json().get("frames", ())) > 40, "no frames after the call")
        listed = client.get(path).json()
        frames = [one["frame"] for one in listed["frames"]]
        assert listed["decisive"] in frames
        served = {frame: client.get(f"{path}/{frame}.jpg?plain").content for frame in frames[3:40:6]}
    rig.end()
    server.close()
    (video,) = (tmp_path / "recordings").rglob("0001.mkv")
    recorded = {shot.index: shot.frame().image.astype(int) for shot in VideoFile(video, paced=False).frames()}
    for frame, jpeg in served.items():
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        away = {index: np.abs(one - image).mean() for index, one in recorded.items()}
        assert min(away, key=lambda index: away[index]) == frame
        assert sorted(away.values())[1] > 2 * away[frame]  # every other picture's noise is another


def test_a_camera_that_sees_no_board_yet_is_started_and_says_so(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    given = {"source.name": server.url, "data": str(tmp_path), "service.on": False, "recording.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=fake_sight)
    play(rig)
    until(lambda: rig.health().calls == "suspended", "calls are made without a calibration")
    health = rig.health()
    assert health.level == "alarm"
    (reason,) = health.reasons
    assert reason.code == "no_calibration"
    assert "picture" in reason.remedy
    assert "the camera is not calibrated" in health.text
    first, made = rig.topic("game").game, read_calibration(calibration)
    rig.game_service.command(UseCalibration(calibration=replace(made, field=preset("mini"))), Submission())
    until(lambda: rig.topic("scene").figures, "nothing was seen once it was calibrated")
    assert rig.topic("game").game != first  # it was begun on a field that the board turned out not to be
    rig.end()
    server.close()


def test_a_calibration_of_pictures_of_another_size_is_refused(tmp_path: Path) -> None:
    server = MjpegServer(fps=30)
    with pytest.raises(InputError, match=r"pictures of 1920x1080, but .* sends 160x90"):
        rig_on(server, bundled_demo().with_suffix(".calibration.json"), tmp_path)
    server.close()


def test_the_twin_is_a_source_with_its_own_calibration_declarations_and_scenes(tmp_path: Path) -> None:
    given = {"source.name": "twin:clean-tackle", "source.size": [320, 180], "source.fps": 20, "service.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False)
    rig.play()
    kinds = {call.kind for call in rig.game_service.calls()}
    rig.end()
    assert "tackle" in kinds


def test_a_recording_shown_again_is_another_game_with_the_same_calls(tmp_path: Path) -> None:
    given = {"source.tracks": True, "service.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False)
    notes = Notes()
    rig.onlook(notes)
    games, showings = [], []
    for showing in range(2):
        if showing:
            rig.rewind()
        notes.refusals.clear()
        rig.play()
        games.append(rig.topic("game").game)
        showings.append([(call.t_ns, call.text) for call in rig.game_service.calls()])
        assert notes.refusals == []
    rig.end()
    assert games[0] != games[1]
    assert showings[0] == showings[1]
    assert len(showings[0]) == 6


def test_frames_of_a_recording_wait_for_whoever_looks(tmp_path: Path) -> None:
    """However long he takes: a camera's are lost meanwhile, these are there still."""
    given = {"source.tracks": False, "service.on": False}
    halted = FakeVision(lambda frame: time.sleep(0.8) if frame.index == 3 else None)
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=lambda *_, live: halted)  # noqa: ARG005
    playing = threading.Thread(target=rig.play, daemon=True)
    playing.start()
    until(lambda: len(halted.seen) > 60, "the recording stood still")
    rig.end()
    playing.join(10)
    assert halted.seen == list(range(len(halted.seen)))
    assert rig.dropped == 0


def test_the_bundled_recording_is_looked_at_and_not_shown(tmp_path: Path) -> None:
    given = {"service.on": False}
    asked: list[Path | None] = []

    def sight(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001
        asked.append(roster)
        return FakeVision()

    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False, open_vision=sight)
    rig.end()
    assert asked == [bundled_demo().with_suffix(".tracks.jsonl")]
