"""The whole rig in one process: a live game survives a restart and a lost camera; recordings and the twin play."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from loopback_streams import MjpegServer
from rig_fakes import PLAYERS, FakeVision, RecordingObserver
from small_rig import TRACKING, open_fake_vision, play, small_calibration
from tackle_clip import write_tackle_clip
from waiting import WAIT_S, let_run, wait_until

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.sources.file_sources import VideoFile, bundled_demo
from downfield.core.errors import InputError
from downfield.core.field.model import preset
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import Record, UseCalibration
from downfield.officiating.declarations import LineUpDeclared, SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.connections import VisionStage
from downfield.rig.rig import Rig
from downfield.store.signed_lists import list_differences


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    return small_calibration(tmp_path)


def rig_on(server: MjpegServer, calibration: Path, data: Path, rulebook: str = "tap") -> Rig:
    given = {
        "game.rulebook": rulebook,
        "source.name": server.url,
        "calibration.file": str(calibration),
        "data": str(data),
        "service.on": False,
        "recording.stop_below_gb": 0.0,
    }
    return Rig(load(environment={}, command_line=given), data, open_vision=open_fake_vision)


def test_a_live_game_survives_a_lost_camera_and_a_restart(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    first = rig_on(server, calibration, tmp_path / "data")
    TRACKING.clear()  # no play may begin before both are declared; the board is soon switched on
    playing = threading.Thread(target=first.play, daemon=True)
    playing.start()
    for declaration in (
        SetUp("away", -1, 31.0, down=3, distance_yd=4.0, score=(7, 3)),
        LineUpDeclared(PLAYERS, "dark"),
    ):
        assert isinstance(first.game_service.declare(declaration, Submission()), Accepted)
    TRACKING.set()
    wait_until(lambda: first.situation().endswith("live"), "no play began when the board was switched on")
    stood, game = first.situation(), first.topic("game").game
    server.cut()
    wait_until(lambda: first.health().level == "alarm", "the loss was not reported")
    assert first.health().calls == "suspended"
    server.restore()
    wait_until(lambda: first.health().level != "alarm", "the camera did not come back")
    assert isinstance(first.game_service.command(Record(on=False), Submission()), Accepted)
    first.close()
    playing.join(WAIT_S)
    assert not playing.is_alive()
    assert list((tmp_path / "data" / "recordings").rglob("0001.mkv"))

    second = rig_on(server, calibration, tmp_path / "data", "efl")
    assert second.topic("game").rulebook_title == load_rulebook("tap").title, (
        "a resumed game keeps its rulebook, and its title"
    )
    play(second)
    assert second.topic("game").game == game
    wait_until(lambda: second.situation() == stood, "the game was not resumed")
    assert second.topic("game").score == (7, 3)
    second.close()

    with sqlite3.connect(tmp_path / "data" / "downfield.db") as connection:
        connection.execute("DELETE FROM entries WHERE seq > 2")
    connection.close()
    third, notices = rig_on(server, calibration, tmp_path / "data"), RecordingObserver()
    third.add_observer(notices)
    assert any("The store is not as this rig left it" in text for text in notices.notices), notices.notices
    third.close()
    server.close()


def test_the_frames_of_a_live_call_are_served_from_the_file_being_written(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    given = {
        "source.name": server.url,
        "calibration.file": str(calibration),
        "data": str(tmp_path),
        "service.port": 0,
        "recording.stop_below_gb": 0.0,
    }
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=open_fake_vision)
    play(rig)
    wait_until(lambda: rig.health().recording.seconds > 1, "nothing was recorded")
    with httpx.Client(base_url=rig.address, timeout=WAIT_S) as client:
        made = client.post("/api/calls", json={"kind": "info", "text": "look at this"}).json()["calls"][0]
        path = f"/api/games/current/calls/{made['id']}/frames"
        wait_until(lambda: len(client.get(path).json().get("frames", ())) > 40, "no frames after the call")
        listed = client.get(path).json()
        frames = [one["frame"] for one in listed["frames"]]
        assert listed["decisive"] in frames
        served = {frame: client.get(f"{path}/{frame}.jpg?plain").content for frame in frames[3:40:6]}
    rig.close()
    server.close()
    (video,) = (tmp_path / "recordings").rglob("0001.mkv")
    recorded = {shot.index: shot.decode().image.astype(int) for shot in VideoFile(video, paced=False).frames()}
    for frame, jpeg in served.items():
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        away = {index: np.abs(one - image).mean() for index, one in recorded.items()}
        assert min(away, key=lambda index: away[index]) == frame
        assert sorted(away.values())[1] > 2 * away[frame]  # every picture has its own noise


def test_a_camera_without_a_board_in_view_starts_uncalibrated_and_says_so(tmp_path: Path, calibration: Path) -> None:
    server = MjpegServer(fps=30)
    given = {"source.name": server.url, "data": str(tmp_path), "service.on": False, "recording.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=open_fake_vision)
    play(rig)
    wait_until(lambda: rig.health().calls == "suspended", "calls were made without a calibration")
    health = rig.health()
    assert health.level == "alarm"
    (reason,) = health.reasons
    assert reason.code == "no_calibration"
    assert "picture" in reason.remedy
    assert "the camera is not calibrated" in health.text
    first, made = rig.topic("game").game, read_calibration(calibration)
    rig.game_service.command(UseCalibration(calibration=replace(made, field=preset("mini"))), Submission())
    wait_until(lambda: rig.topic("scene").figures, "no figures came after the calibration")
    assert rig.topic("game").game != first  # the first one was begun on another field
    rig.close()
    server.close()


def test_a_calibration_for_pictures_of_another_size_is_refused(tmp_path: Path) -> None:
    server = MjpegServer(fps=30)
    with pytest.raises(InputError, match=r"pictures of 1920x1080, but .* sends 160x90"):
        rig_on(server, bundled_demo().with_suffix(".calibration.json"), tmp_path)
    server.close()


def test_the_twin_is_a_source_with_its_own_calibration_events_and_scenes(tmp_path: Path) -> None:
    given = {"source.name": "twin:clean-tackle", "source.size": [320, 180], "source.fps": 20, "service.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False)
    rig.play()
    kinds = {call.kind for call in rig.game_service.calls()}
    rig.close()
    assert "tackle" in kinds


def test_a_recording_played_again_is_another_game_with_the_same_calls(tmp_path: Path) -> None:
    given = {"source.name": str(write_tackle_clip(tmp_path)), "service.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False)
    observer = RecordingObserver()
    rig.add_observer(observer)
    games, runs = [], []
    for run in range(3):
        if run:
            rig.rewind()
        observer.refusals.clear()
        rig.play()
        games.append(rig.topic("game").game)
        runs.append([(call.t_ns, call.text) for call in rig.game_service.calls()])
        assert observer.refusals == []
        assert {row.id for row in rig._store.games(10)} == set(games[-2:]), "of all showings the last two are kept"
    assert list_differences(rig._store) == [], "a dropped showing is missed"
    rig.close()
    assert len({*games}) == 3
    assert runs[0] == runs[1] == runs[2]
    assert [text for _, text in runs[0] if "tackled" in text], runs[0]


def test_recorded_frames_wait_for_slow_vision_and_none_is_dropped(tmp_path: Path) -> None:
    given = {"source.tracks": False, "service.on": False}
    slow = FakeVision(lambda frame: let_run(0.8) if frame.index == 3 else None)
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=lambda *_, live: slow)  # noqa: ARG005
    playing = threading.Thread(target=rig.play, daemon=True)
    playing.start()
    wait_until(lambda: len(slow.updated) > 60, "the recording stopped")
    rig.close()
    playing.join(WAIT_S)
    assert slow.updated == list(range(len(slow.updated)))
    assert rig.dropped == 0


def test_the_bundled_recording_is_tracked_with_the_roster_of_its_tracks(tmp_path: Path) -> None:
    given = {"service.on": False}
    rosters: list[Path | None] = []

    def open_vision(
        settings: RigSettings,  # noqa: ARG001
        calibration: Calibration,  # noqa: ARG001
        roster: Path | None,
        *,
        live: bool,  # noqa: ARG001
    ) -> VisionStage:
        rosters.append(roster)
        return FakeVision()

    rig = Rig(load(environment={}, command_line=given), tmp_path, paced=False, open_vision=open_vision)
    rig.close()
    assert rosters == [bundled_demo().with_suffix(".tracks.jsonl")]
