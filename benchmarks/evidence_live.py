"""A rig with its service in a process of its own, refereeing the bundled recording by its networks, for benchmarks."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from downfield.capture.sources.file_sources import bundled_demo

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
WAIT_S = 300.0  # for a rig to start and to call a tackle, on a busy computer
BETWEEN_S = 0.1  # pictures, as a person who jumps about asks for them


@contextmanager
def live_rig() -> Iterator[str]:
    """Run a rig over and over on the recording, without its recorded scenes; return the address of its service."""
    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder) / "played.mp4"
        for suffix in (".mp4", ".calibration.json", ".events.jsonl"):
            shutil.copy(bundled_demo().with_suffix(suffix), clip.with_suffix(suffix))
        command = [sys.executable, "-m", "downfield", "run", "--source", str(clip), "--port", "0"]
        command += ["--calibration", str(clip.with_suffix(".calibration.json")), "--set", f"data={folder}/data"]
        rig = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert rig.stdout is not None
            yield next(found[0] for line in rig.stdout if (found := ADDRESS.search(line)))
        finally:
            rig.terminate()
            rig.wait()


def frame_times_ms(url: str, count: int) -> list[float]:
    """Return how long each of some frames around a tackle takes to fetch, in any order, while the game goes on, ms."""
    call = _tackle(url)
    frames = [frame["frame"] for frame in json.loads(_got(f"{call}/frames?seconds=3"))["frames"]]
    order, took = random.Random(1), []
    for frame in order.choices(frames, k=count):
        began = time.perf_counter()
        _got(f"{call}/frames/{frame}.jpg?plain")
        took.append(1e3 * (time.perf_counter() - began))
        time.sleep(BETWEEN_S)
    return took


def dropped_frames(url: str) -> float:
    """Return how many frames a rig has dropped since it started."""
    found = re.search(rb"^downfield_frames_dropped_total (\S+)", _got(f"{url}/metrics"), re.MULTILINE)
    return float(found[1]) if found else 0.0


def _tackle(url: str) -> str:
    ends_s = time.monotonic() + WAIT_S
    while time.monotonic() < ends_s:
        for game in json.loads(_got(f"{url}/api/games")):
            path = f"{url}/api/games/{game['id']}/calls"
            for call in json.loads(_got(path)):
                if call["kind"] == "tackle":
                    return f"{path}/{quote(call['id'], safe='')}"
        time.sleep(1.0)
    raise TimeoutError("the rig has called no tackle")


def _got(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as response:
        content: bytes = response.read()
        return content
