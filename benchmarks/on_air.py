"""Measure what a stream costs the rig: frames dropped and latency, with nothing watched and with everything.

python benchmarks/on_air.py [--seconds 60] [--fps 30] [--vision network|recorded|threaded]

The rig of `benchmarks/rig.py` runs twice, one after the other: with one panel's feed only, and with all that a stream
has at once: the program as motion JPEG and as HLS, two overlays, the panel, the annotated picture, and a replay every
ten seconds. Clients run in another process that gets processor time only when the rig leaves some, as other computers
would. It also prints how long after each request a replay's first pictures could be played. Run it on an idle computer;
it takes twice the seconds and some thirty more.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

import rig as rig_benchmark

_WARM_S: Final = 8.0
_REPLAY_EVERY_S: Final = 10.0
_OVERLAYS: Final = ("game,questions,calls,health,replay,graphic", "scene,game,ball,line_up")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run measured.

    Attributes:
        captured, dropped: frames.
        latencies_ms: from capture to publication, of every frame.
        replays_s: from each request to the first pictures of the replay.
        requests: answers by what was asked for.

    """

    captured: int
    dropped: int
    latencies_ms: list[float]
    replays_s: list[float]
    requests: dict[str, int]


def _read_for_ever(url: str, count: Callable[[int], None]) -> None:
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=20) as answer:
            while chunk := answer.read1(1 << 20):
                count(len(chunk))
        time.sleep(0.2)


def _play_hls(base: str, count: Callable[[str], None]) -> None:
    """Read the playlist and every part once, as a player does."""
    read: set[str] = set()
    while True:
        try:
            with urllib.request.urlopen(f"{base}/program.m3u8", timeout=20) as answer:
                playlist = answer.read().decode()
            for uri in re.findall(r'EXT-X-PART:DURATION=[\d.]+,URI="([^"]+)"', playlist):
                if uri not in read:
                    read.add(uri)
                    with urllib.request.urlopen(f"{base}/{uri}", timeout=20) as answer:
                        answer.read()
                    count("HLS parts")
        except OSError:
            count("HLS failures")
        time.sleep(0.1)


def _replay(base: str, report: Callable[[float], None]) -> None:
    """Ask for a replay as the panel does, and take its first pictures as the overlay does."""
    while True:
        time.sleep(_REPLAY_EVERY_S)
        began = time.monotonic()
        with contextlib.suppress(OSError, ValueError, KeyError):
            request = urllib.request.Request(
                f"{base}/api/replay", b'{"call": null}', {"Content-Type": "application/json"}, method="POST"
            )
            with urllib.request.urlopen(request, timeout=20) as answer:
                take = json.load(answer)
            while time.monotonic() < began + _REPLAY_EVERY_S:
                with urllib.request.urlopen(f"{base}/api/state", timeout=20) as answer:
                    state = json.load(answer)["data"]["replay"]
                if state["take"] != take["take"] or state["state"] == "failed":
                    break
                if state["state"] == "ready":
                    with urllib.request.urlopen(f"{base}/{state['clip']}", timeout=20) as answer:
                        answer.read(64_000)
                        report(time.monotonic() - began)
                        while answer.read(1 << 20):
                            pass
                    break
                time.sleep(0.02)


def watch(port: int, *, everything: bool) -> None:
    """Be the clients until killed; every second a line of JSON says what came."""
    base = f"http://127.0.0.1:{port}"
    requests: dict[str, int] = {}
    replays: list[float] = []
    lock = threading.Lock()

    def count(what: str, by: int = 1) -> None:
        with lock:
            requests[what] = requests.get(what, 0) + by

    def reader(what: str, path: str) -> Callable[[], None]:
        return lambda: _read_for_ever(f"{base}/{path}", lambda size: count(f"{what} bytes", size))

    jobs = [reader("panel", "api/feed")]
    if everything:
        jobs += [reader("overlay", f"api/feed?topics={topics}") for topics in _OVERLAYS]
        jobs += [reader("program", "program.mjpeg"), reader("camera", "camera.mjpeg")]
        jobs += [lambda: _play_hls(base, count), lambda: _replay(base, replays.append)]
    for job in jobs:
        threading.Thread(target=job, daemon=True).start()
    while True:
        time.sleep(1)
        with lock:
            print(json.dumps({"requests": requests, "replays": replays}), flush=True)


def measure(options: argparse.Namespace, *, everything: bool) -> Figures:
    """Run the rig with its clients."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
        camera = rig_benchmark.child("--be-camera", "--fps", str(options.fps))
        started.callback(_kill, camera)
        assert camera.stdout is not None
        seen = argparse.Namespace(vision=options.vision)
        rig = rig_benchmark.open_rig(seen, int(camera.stdout.readline()), Path(folder))
        started.callback(rig.close)
        observer = rig_benchmark.LatencyObserver()
        rig.add_observer(observer)
        port = rig.address.rsplit(":", 1)[1].strip("/")
        role = ["--be-clients", port, *(["--everything"] if everything else [])]
        clients = subprocess.Popen([sys.executable, __file__, *role], stdout=subprocess.PIPE, text=True)
        started.callback(_kill, clients)
        threading.Thread(target=rig.play, daemon=True).start()
        time.sleep(_WARM_S)
        dropped, observer.counting = rig.dropped, True
        time.sleep(options.seconds)
        observer.counting = False
        dropped = rig.dropped - dropped
        clients.kill()
        assert clients.stdout is not None
        lines = clients.stdout.read().splitlines()
        last = json.loads(lines[-1]) if lines else {"requests": {}, "replays": []}
        return Figures(observer.captured, dropped, observer.latencies_ms, last["replays"], last["requests"])


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def report(name: str, figures: Figures) -> None:
    """Print what a run measured."""
    took = np.array(figures.latencies_ms or [np.nan])
    share = figures.dropped / max(figures.captured, 1)
    print(f"{name}: {figures.captured} frames, {figures.dropped} dropped ({share:.2%})")
    quantiles = ", ".join(f"p{rank} {np.percentile(took, rank):.1f} ms" for rank in (50, 95, 99))
    print(f"    capture to published: {quantiles}")
    if figures.replays_s:
        replays = ", ".join(f"{took_s:.2f}" for took_s in figures.replays_s)
        print(f"    replays, request to first pictures: {replays} s (wanted: within 3)")
    print(
        "    came to the clients: " + ", ".join(f"{what} {count}" for what, count in figures.requests.items()),
        flush=True,
    )


def main() -> None:
    """Run the benchmark, or the role given by the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--fps", type=float, default=30)
    parser.add_argument("--vision", choices=("network", "recorded", "threaded"), default="network")
    parser.add_argument("--be-clients", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--everything", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_clients:
        rig_benchmark.run_idle()
        watch(options.be_clients, everything=options.everything)
        return
    report("panel only", measure(options, everything=False))
    report("everything", measure(options, everything=True))


if __name__ == "__main__":
    main()
