"""A live call's replay is made from the file still being written, at once after the call, and can be played."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import httpx
import pytest
from loopback_streams import MjpegServer
from small_rig import open_fake_vision, play, small_calibration
from waiting import WAIT_S, wait_until

from downfield.broadcast.replay.framing import HEIGHT_PX, PACE, WIDTH_PX, shots
from downfield.rig.configuration.loading import load
from downfield.rig.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A rig that records files of one second: a replay lies in two or three of them."""
    server = MjpegServer(fps=30)
    given = {
        "source.name": server.url,
        "calibration.file": str(small_calibration(tmp_path)),
        "data": str(tmp_path),
        "service.port": 0,
        "recording.stop_below_gb": 0.0,
        "recording.segment_s": 1,
    }
    made = Rig(load(environment={}, command_line=given), tmp_path, open_vision=open_fake_vision)
    play(made)
    wait_until(lambda: made.health().recording.seconds > 2.5, "nothing was recorded")
    yield made
    made.close()
    server.close()


def ready(client: httpx.Client, call: str) -> dict[str, Any]:
    """Wait until a call's replay can be shown, and return how it stands."""
    state: dict[str, Any] = {}

    def is_ready() -> bool:
        state.update(client.get("/api/state").json()["data"]["replay"])
        assert state["state"] != "failed", state
        return (state["call"], state["state"]) == (call, "ready")

    wait_until(is_ready, "no replay came")
    return state


def test_a_replay_of_a_call_made_just_now_reaches_into_the_file_being_written(rig: Rig) -> None:
    with httpx.Client(base_url=rig.address, timeout=WAIT_S) as client:
        call = client.post("/api/calls", json={"kind": "info", "text": "look at this"}).json()["calls"][0]["id"]
        assert client.post("/api/replay", json={"call": call}).json()["state"] == "making"
        clip = client.get(f"/{ready(client, call)['clip']}").content
        listed = client.get(f"/api/games/current/calls/{call}/frames").json()
    with av.open(io.BytesIO(clip), "r") as container:
        pictures = [one for one in container.decode(video=0) if isinstance(one, av.VideoFrame)]
    assert {(one.width, one.height) for one in pictures} == {(WIDTH_PX, HEIGHT_PX)}
    # However few frames a busy computer records, each one before the call is shown, at its time. The replay ends with
    # the first frame after the call, or with the nearest one if that was not recorded yet.
    later_ns = [one["t_ns"] for one in listed["frames"] if one["t_ns"] >= listed["call"]["t_ns"]]
    decisive_ns = next(one["t_ns"] for one in listed["frames"] if one["frame"] == listed["decisive"])
    at_s = [float(one.time or 0) for one in pictures[:-1]]
    assert any(at_s == pytest.approx(shown_s(listed, end_ns), abs=1e-3) for end_ns in (*later_ns[:1], decisive_ns))


def shown_s(listed: dict[str, Any], end_ns: int) -> list[float]:
    """Return when the pictures of a replay are shown that ends with the frame of an instant, and its stamp."""
    recorded_ns = [one["t_ns"] for one in listed["frames"] if 0 <= end_ns - one["t_ns"] <= PACE.before_s * 1e9]
    return [shot.shown_ns / 1e9 for shot in shots(recorded_ns)] if len(recorded_ns) > 1 else []
