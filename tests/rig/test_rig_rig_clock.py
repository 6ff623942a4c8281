"""The computer's clock is set during a game, and is wrong at the next start: nothing is lost, and it is told."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest
from loopback_streams import MjpegServer
from ports import reserve_port
from rig_fakes import RecordingObserver
from small_rig import open_fake_vision, play, small_calibration
from waiting import WAIT_S, wait_until

from downfield.api.context.access_control import access_control_of
from downfield.capture.recording.recording_library import create_recording
from downfield.rig.configuration.loading import load
from downfield.rig.live.rig_health import CLOCK_SET
from downfield.rig.rig import Rig
from downfield.store.signed_lists import list_differences

DAY_S = 86_400


def set_clock(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    """Set the clock of this process, as far as Python asks for it."""
    wall_ns, ahead_s = time.time_ns, round(days * DAY_S)
    monkeypatch.setattr(time, "time_ns", lambda: wall_ns() + ahead_s * 1_000_000_000)
    monkeypatch.setattr(time, "time", lambda: wall_ns() / 1e9 + ahead_s)


def rig_on(server: MjpegServer, folder: Path, calibration: Path, port: int) -> Rig:
    given = {
        "source.name": server.url,
        "calibration.file": str(calibration),
        "data": str(folder),
        "service.port": port,
        "service.trust_local": False,
        "recording.keep_days": 1,
        "recording.stop_below_gb": 0.0,
    }
    return Rig(load(environment={}, command_line=given), folder, open_vision=open_fake_vision)


def test_a_clock_set_by_60_years_back_to_2_years_ahead_costs_nothing_in_a_game_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, calibration, port = MjpegServer(fps=30), small_calibration(tmp_path), reserve_port()
    last_week = create_recording(tmp_path / "data" / "recordings", "20261120-120000")
    for number in range(1, 6):
        (last_week / f"{number:04d}.mkv").write_bytes(bytes(1000))
    rig = rig_on(server, tmp_path / "data", calibration, port)
    recorder = rig._recorder
    assert rig.service is not None
    assert recorder is not None
    play(rig)
    made = 0
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=WAIT_S) as phone:
        code = access_control_of(rig.service._app).token_store.make_code("operator").code
        paired = phone.post("/api/session", json={"code": code})
        phone.cookies.clear()  # the phone's clock is right, and this process's is not
        phone.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in paired.cookies.items())
        game = rig.topic("game").game
        for days in (-60 * 365, -400, -1, 1, 30, 365, 730, 0):
            with monkeypatch.context() as clock:
                set_clock(clock, days)
                recorder._disk_checked_at = recorder._keeper._tried_s = -1e9
                assert (CLOCK_SET in {reason.code for reason in rig.health().reasons}) == (days != 0), f"{days} days"
                wait_until(lambda: recorder._keeper._tried_s > 0, "room was looked for")
                assert phone.get("/api/session").json()["role"] == "operator", f"{days} days: thrown out"
                answer = phone.post("/api/calls", json={"kind": "info", "text": f"{days} days"})
                assert answer.status_code == 200, answer.text
                made += 1
        assert rig.topic("game").game == game
        identity = {"Cookie": phone.headers["Cookie"]}
    wait_until(lambda: rig.health().recording.seconds > 0, "nothing was recorded")
    assert len(rig.game_service.calls()) == made
    assert list_differences(rig._store) == []
    rig.close()
    videos = list((tmp_path / "data" / "recordings").rglob("*.mkv"))
    assert len(videos) == 6, "a recording was deleted"
    for days in (-60 * 365, 730):
        with monkeypatch.context() as clock:
            set_clock(clock, days)
            again, notices = rig_on(server, tmp_path / "data", calibration, port), RecordingObserver()
            again.add_observer(notices)
            play(again)
            assert again.topic("game").game == game, f"{days} days: another game was begun"
            assert len(again.game_service.calls()) == made
            told_at_start = any("clock shows" in text for text in notices.notices)
            assert told_at_start == (days < 0), "a clock that is behind what was recorded is told"
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=identity, timeout=WAIT_S) as phone:
                assert phone.get("/api/session").json()["role"] == "operator", f"{days} days: thrown out"
            again.close()
        assert all(video.exists() for video in videos)
    server.close()
