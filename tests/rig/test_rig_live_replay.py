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

from downfield.broadcast.replay.framing import HEIGHT_PX, PACE, WIDTH_PX
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
    with av.open(io.BytesIO(clip), "r") as container:
        pictures = [one for one in container.decode(video=0) if isinstance(one, av.VideoFrame)]
    assert {(one.width, one.height) for one in pictures} == {(WIDTH_PX, HEIGHT_PX)}
    at_s = [float(one.time or 0) for one in pictures]
    # Frames of the approach, of several files; a busy computer records few of them.
    assert sum(one < PACE.before_s / PACE.approach for one in at_s) >= 3
    assert at_s[-1] > PACE.hold_s
