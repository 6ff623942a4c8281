"""A tracker of somebody's own, a program without Downfield, sends scenes to a real rig: they are judged as its own."""

from __future__ import annotations

import http.server
import json
import math
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ports import reserve_port
from waiting import wait_until
from websockets.sync.server import ServerConnection, serve

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock, CapturedFrame
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.main import run_command
from downfield.core.errors import SourceError
from downfield.core.field.model import preset
from downfield.core.frame import Frame
from downfield.core.records import from_json
from downfield.core.scene import Scene, SentScene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.officiating.declarations import Carrier, SetUp
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.rig.live.vision_stages import SentVision

FIELD = preset("ultimate")

TRACKER = f'''
"""Somebody's own tracker: it shows a line-up until it is told to go, then a run into a standing defender."""
import json, select, sys, time
from pathlib import Path
go, log = Path(sys.argv[1]), open(sys.argv[2], "w")
began = went = None
start = time.monotonic()
while went is None or time.monotonic() - went < 4:
    now = time.monotonic()
    if went is None and go.exists():
        went = now
    ran = 0 if went is None else min(max(now - went - 0.5, 0) * 6, 10)
    figures = [
        {{"team": "dark", "number": "28", "x": 40 + ran, "y": {FIELD.width_yd / 2}, "heading_deg": 0}},
        {{"team": "light", "number": "24", "x": 49, "y": {FIELD.width_yd / 2}, "heading_deg": 180}},
    ]
    figures = [one | {{"sigma_mm": 0.3, "sigma_deg": 1}} for one in figures]
    board = "off" if went is None else "on"
    scene = {{"t_ns": int((now - start) * 1e9), "unit": "yd", "figures": figures, "board": board}}
    line = json.dumps(scene)
    print(line, flush=True)
    print(line, file=log, flush=True)
    select.select([], [], [], 1 / 40)  # a camera of 40 pictures a second
'''


def asked(port: int, path: str, body: dict[str, Any] | None = None) -> Any:
    """What a rig answers; None while it does not."""
    address = f"http://127.0.0.1:{port}/api/{path}"
    request = urllib.request.Request(address, headers={"Content-Type": "application/json"})
    try:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.URLError:
        return None


def as_compared(calls: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What must be the same of calls, whatever clock they were made on."""
    return [(call["kind"], call["verdict"], tuple(call.get("players", ())), call["text"]) for call in calls]


def test_a_tracker_of_ones_own_is_judged_live_as_its_tracks_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port, go, log = reserve_port(), tmp_path / "go", tmp_path / "sent.jsonl"
    (tmp_path / "tracker.py").write_text(TRACKER)
    tracker = subprocess.Popen(
        [sys.executable, "-I", str(tmp_path / "tracker.py"), str(go), str(log)], stdout=subprocess.PIPE
    )
    options = [f"data={tmp_path / 'data'}", "calibration.field=ultimate"]
    command = [sys.executable, "-m", "downfield", "run", "--source", "scenes://-", "--port", str(port)]
    command += [part for option in options for part in ("--set", option)]
    rig = subprocess.Popen(command, stdin=tracker.stdout, stdout=subprocess.DEVNULL, cwd=tmp_path)
    assert tracker.stdout is not None
    tracker.stdout.close()  # the rig alone reads it
    try:
        seen = wait_until(lambda: asked(port, "scene"), "the rig sees the scenes")
        assert {figure["id"] for figure in seen["figures"]} == {"dark-28", "light-24"}
        set_up = {"type": "set_up", "offense": "home", "direction": 1, "spot_yd": 40.0}
        assert asked(port, "declarations", {"declaration": set_up})
        assert asked(port, "declarations", {"declaration": {"type": "carrier", "player": "dark-28"}})
        go.touch()
        wait_until(
            lambda: [call for call in asked(port, "calls") or () if call["kind"] == "tackle"],
            lambda: (asked(port, "calls"), asked(port, "game")["text"]),
        )
        tracker.wait()
        live = as_compared(asked(port, "calls"))
        told = wait_until(
            lambda: (state := asked(port, "state")) and "has ended" in json.dumps(state) and state,
            lambda: asked(port, "state"),
        )
    finally:
        rig.terminate()
        tracker.kill()
        rig.wait()
    assert "Start it again" in json.dumps(told)

    vision = SentVision(FIELD)
    scenes = list(scenes_of(log, vision))
    write_tracks(tmp_path / "own.tracks.jsonl", TracksHeader(FIELD, vision.players, 40), scenes)
    events = (Event("1", 0, "operator", SetUp("home", 1, 40.0)), Event("2", 1, "operator", Carrier("dark-28")))
    write_events(tmp_path / "own.events.jsonl", EventsHeader("test"), events)
    capsys.readouterr()
    assert run_command(["judge", str(tmp_path / "own.tracks.jsonl"), "--json", "--reported"]) == 0
    assert as_compared(json.loads(capsys.readouterr().out)["calls"]) == live
    assert ("tackle", "called") in [call[:2] for call in live]


def scenes_of(log: Path, vision: SentVision) -> Iterator[Scene]:
    for index, line in enumerate(log.read_text().splitlines()):
        sent = from_json(SentScene, line, path="log")
        yield vision.update(Frame(index, sent.t_ns, np.zeros((1, 1, 3), np.uint8), sent=sent), lambda: ())


GOOD = {"t_ns": 5, "unit": "mm", "figures": [{"team": "dark", "number": "1", "x": 1, "y": 2, "heading_deg": 0}]}
FIGURE = GOOD["figures"][0]  # type: ignore[index]


@contextmanager
def sending(*lines: str) -> Iterator[str]:
    """An HTTP server that streams lines; yields the source's name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write("".join(f"{line}\n" for line in lines).encode())

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"scenes+http://127.0.0.1:{server.server_address[1]}/scenes"
        server.shutdown()


def first_frames(name: str, count: int) -> tuple[list[CapturedFrame], list[str]]:
    """The first frames of a source, and the problems until they had come."""
    told: list[str] = []
    problems = ActiveProblems(notify=lambda _, text: told.append(text))
    source = open_source(SourceChoice(name), CaptureClock(), problems)
    found: list[CapturedFrame] = []
    try:
        for frame in source.frames():
            found.append(frame)
            if len(found) == count:
                break
    finally:
        source.close()
    return found, told


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (json.dumps(GOOD | {"speed": 1}), "speed: unknown key"),
        (json.dumps(GOOD | {"unit": "cm"}), "unit: must be 'mm' or 'yd'"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "unit"}), "unit: missing"),
        (json.dumps(GOOD | {"figures": [FIGURE | {"x": math.nan}]}), "x: must be a finite number"),
        (json.dumps(GOOD | {"figures": [FIGURE | {"sigma_mm": -1}]}), "sigma_mm: must be at least 0"),
        (json.dumps(GOOD | {"figures": [FIGURE | {"team": "red"}]}), "team: must be 'dark' or 'light'"),
        (json.dumps(GOOD | {"figures": [FIGURE, FIGURE]}), "figures: two have the same team and number"),
        (json.dumps(GOOD | {"t_ns": 4}), "t_ns: time does not rise: 4 after 4"),
        ("{not json", "broken JSON"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_one_sentence(line: str, why: str) -> None:
    before = json.dumps(GOOD | {"t_ns": 4})
    with sending(before, line) as name:
        frames, told = first_frames(name, 2)  # the second is of the next connection
        assert len(frames) == 2
    (text,) = [text for text in told if "scene 2" in text]
    assert why in text
    assert text.count(". ") <= 2


def test_scenes_come_by_a_web_socket_with_their_own_steps_of_time() -> None:
    def send(socket: ServerConnection) -> None:
        for t_ns in (10**9, 10**9 + 7_000_000):
            socket.send(json.dumps(GOOD | {"t_ns": t_ns}))
        socket.recv()  # until it has gone

    with serve(send, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        name = f"scenes+ws://127.0.0.1:{server.socket.getsockname()[1]}"
        (first, second), _ = first_frames(name, 2)
        server.shutdown()
    assert 0 < second.t_ns - first.t_ns <= 7_000_000, "no step is longer than the program's own"
    assert second.sent is not None
    assert second.sent.figures[0].sigma_mm == 5.0, "an error that is not stated is taken as poor"


def test_an_address_where_nobody_sends_is_named_without_its_password() -> None:
    with pytest.raises(SourceError, match=r"scenes\+ws://me@127.0.0.1:1: no scenes") as refused:
        first_frames("scenes+ws://me:s3cret@127.0.0.1:1", 1)
    assert "s3cret" not in str(refused.value)
