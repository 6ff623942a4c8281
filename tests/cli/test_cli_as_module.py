"""`import downfield`: the names that matter, cheap, and every input checked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from waiting import WAIT_S

import downfield
from downfield.capture.sources.file_sources import bundled_demo

DEMO = bundled_demo()


def test_importing_it_imports_nothing_else() -> None:
    shown = "import downfield, sys; print(downfield.__version__, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, timeout=WAIT_S, check=True)
    number, *loaded = done.stdout.split()
    assert number == version("downfield")
    assert not {"cv2", "numpy", "pydantic", "av"} & set(loaded)


def test_every_name_it_promises_is_there() -> None:
    assert all(getattr(downfield, name) is not None for name in downfield.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'referee'"):
        _ = downfield.referee


def test_recorded_tracks_are_judged_from_paths_as_texts_and_from_scenes() -> None:
    tracks, events = str(DEMO.with_suffix(".tracks.jsonl")), str(DEMO.with_suffix(".events.jsonl"))
    judgment = downfield.judge(tracks, events, "tap")
    assert sum(call.verdict != "reported" for call in judgment.calls) == 5
    scenes = list(downfield.TrackFile(tracks))[:5]
    with pytest.raises(downfield.DownfieldError, match="field: is needed"):
        downfield.judge(scenes)
    calibration = downfield.read_calibration(str(DEMO.with_suffix(".calibration.json")))
    assert downfield.judge(scenes, field=calibration.field).calls == ()


@pytest.mark.parametrize(
    ("picture", "problem"),
    [
        (None, "is None, which cv2.imread returns"),
        (np.zeros((540, 960, 3)), "values of type float64"),
        (np.zeros((540, 960, 2), np.uint8), r"array of shape \(540, 960, 2\)"),
        (np.zeros((0, 0, 3), np.uint8), "array of shape"),
        ("no such picture.png", "not a readable picture"),
        (7, "the picture is int"),
    ],
)
def test_what_is_no_picture_is_refused_with_the_reason(picture: Any, problem: str) -> None:
    for use in (downfield.detect, downfield.calibrate):
        with pytest.raises(downfield.DownfieldError, match=problem):
            use(picture)


def test_gray_pictures_and_those_with_alpha_are_taken() -> None:
    gray = np.full((540, 960), 90, np.uint8)
    assert downfield.detect(gray) == downfield.detect(np.dstack([gray] * 3 + [np.full_like(gray, 255)]))


def test_a_video_is_tracked_scene_by_scene() -> None:
    scenes = downfield.track(str(DEMO))
    assert [next(scenes).frame, next(scenes).frame] == [0, 1]
    with pytest.raises(downfield.DownfieldError, match="no such file"):
        next(downfield.track("none.mp4", DEMO.with_suffix(".calibration.json")))


class _Feed(BaseHTTPRequestHandler):
    """A feed that is cut off after each message, and goes on after the number that it is told."""

    def do_GET(self) -> None:
        if "secret" not in self.headers.get("Authorization", ""):
            self.send_error(401)
            return
        seq = int((self.headers.get("Last-Event-ID") or "a-0").rpartition("-")[2]) + 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f'event: game\nid: a-{seq}\ndata: {{"seq": {seq}}}\n\n'.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def feed() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Feed)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_feed_is_followed_over_lost_connections(feed: str) -> None:
    messages = downfield.follow(feed, key="secret")
    assert [next(messages)["seq"] for _ in range(3)] == [1, 2, 3]
    with pytest.raises(downfield.DownfieldError, match="refused the feed with status 401"):
        next(downfield.follow(feed))
    with pytest.raises(downfield.DownfieldError, match="no address of a rig"):
        next(downfield.follow("127.0.0.1:8317"))
