"""Measure what a stream costs the rig: frames dropped and latency, with nothing watched and with everything.

python benchmarks/on_air.py [--seconds 60] [--fps 30] [--vision network|recorded|threaded]
    [--watched overlays,program,hls,camera,replay] [--rounds 1] [--busy 0]

The rig of `benchmarks/rig.py` runs twice, one after the other: with one panel's feed only, and with all that a stream
has at once: two overlays, the program as motion JPEG and as HLS, the annotated picture, and a replay of every play's
call that is made by itself; `--watched` names some of them. Clients run in another process that gets processor time
only when the rig leaves some, as other computers would. It also prints how long after a call was known the first
pictures of its replay could be played, how many pictures came to the clients, and how much processor time went to the
rig, to camera and clients, and to other programs. Run it on an idle computer; it takes twice the seconds and some
thirty more. `--busy 1` has a program of ordinary priority beside it that always wants a core. With `--rounds 3` both
are run in turn three times, and what they differ by is seen beside what the same differs by from run to run.
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
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from clip_camera import started_camera
from measured_rig import LatencyObserver, open_rig
from processor_time import computer_cpu_s, killed_at_the_end, process_cpu_s, run_idle, thread_cpu_s, tree_cpu_s
from replay_client import play_and_replay

from downfield.broadcast.program.live_stream import TIMES

_WARM_S: Final = 8.0
_PICTURES: Final = 300
"""Of the bundled clip: the tackle that ends its first play is seen on the 276th."""
_WATCHED: Final = ("overlays", "program", "hls", "camera", "replay")
_END_S: Final = 60.0
_NAMED_THREADS: Final = 14
_PICTURES_SENT: Final = " pictures"
_OVERLAYS: Final = ("game,questions,calls,health,replay,graphic", "scene,game,ball,line_up")


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run measured.

    Attributes:
        captured, dropped: frames.
        latencies_ms: from capture to publication, of every frame.
        replays_s: from a call to the first pictures of its replay.
        requests: answers by what was asked for.
        pictures: that came to the clients in a second, by what was watched.
        busy_s: processor time of the rig's threads and other processes, in a second of the run.
        around_s: processor time of camera and clients, and of all other programs, in a second of the run.
    """

    captured: int
    dropped: int
    latencies_ms: list[float]
    replays_s: list[float]
    requests: dict[str, int]
    pictures: dict[str, float]
    busy_s: dict[str, float]
    around_s: tuple[float, float]


def _read_for_ever(url: str, count: Callable[[bytes], None]) -> None:
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=20) as answer:
            while chunk := answer.read1(1 << 20):
                count(chunk)
        time.sleep(0.2)


def _play_hls(base: str, count: Callable[..., None]) -> None:
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
                        count(f"HLS{_PICTURES_SENT}", answer.read().count(b"moof"))  # each picture is a fragment
                    count("HLS parts")
        except OSError:
            count("HLS failures")
        time.sleep(TIMES.part_s)


def watch(port: int, watched: Sequence[str]) -> None:
    """Be the clients until killed; every second a line of JSON says what came."""
    base = f"http://127.0.0.1:{port}"
    requests: dict[str, int] = {}
    replays: list[float] = []
    lock = threading.Lock()

    def count(what: str, by: int = 1) -> None:
        with lock:
            requests[what] = requests.get(what, 0) + by

    def reader(what: str, path: str) -> Callable[[], None]:
        def take(chunk: bytes) -> None:
            count(f"{what} bytes", len(chunk))
            if path.endswith(".mjpeg"):
                count(f"{what}{_PICTURES_SENT}", chunk.count(b"image/jpeg"))

        return lambda: _read_for_ever(f"{base}/{path}", take)

    jobs = {
        "overlays": [reader("overlay", f"api/feed?topics={topics}") for topics in _OVERLAYS],
        "program": [reader("program", "program.mjpeg")],
        "hls": [lambda: _play_hls(base, count)],
        "camera": [reader("camera", "camera.mjpeg")],
        "replay": [lambda: play_and_replay(base, replays.append, count)],
    }
    for job in [reader("panel", "api/feed"), *(job for name in watched for job in jobs[name])]:
        threading.Thread(target=job, daemon=True).start()
    while True:
        time.sleep(1)
        with lock:
            print(json.dumps({"at": time.monotonic(), "requests": requests, "replays": replays}), flush=True)


def measure(options: argparse.Namespace, watched: Sequence[str]) -> Figures:
    """Run the rig with its clients."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
        camera = started.enter_context(started_camera(options.fps, _PICTURES))
        for _ in range(options.busy):
            started.enter_context(killed_at_the_end(subprocess.Popen([sys.executable, "-c", "while True: pass"])))
        replays = {"stream.replay": "auto" if "replay" in watched else "off"}
        rig = open_rig(options.vision, camera, Path(folder), replays)
        playing = threading.Thread(target=rig.play, daemon=True)
        # A thread that is in OpenCV while the interpreter ends aborts the process.
        started.callback(lambda: playing.join(_END_S))
        started.callback(rig.close)
        observer = LatencyObserver()
        rig.add_observer(observer)
        port = rig.address.rsplit(":", 1)[1].strip("/")
        role = ["--be-clients", port, "--watched", ",".join(watched)]
        clients = subprocess.Popen([sys.executable, __file__, *role], stdout=subprocess.PIPE, text=True)
        started.enter_context(killed_at_the_end(clients))
        playing.start()
        time.sleep(_WARM_S)
        dropped, observer.counting = rig.dropped, True
        before, tree_s, computer_s, began = (
            thread_cpu_s() | process_cpu_s(), tree_cpu_s(), computer_cpu_s(), time.monotonic(),
        )  # fmt: skip
        time.sleep(options.seconds)
        observer.counting = False
        dropped = rig.dropped - dropped
        after = thread_cpu_s() | process_cpu_s()
        tree_s, computer_s = tree_cpu_s() - tree_s, computer_cpu_s() - computer_s
        busy_s = {name: (spent - before.get(name, 0.0)) / options.seconds for name, spent in after.items()}
        around_s = (tree_s / options.seconds - sum(busy_s.values()), (computer_s - tree_s) / options.seconds)
        clients.kill()
        assert clients.stdout is not None
        lines = [json.loads(line) for line in clients.stdout.read().splitlines()]
        last = lines[-1] if lines else {"requests": {}, "replays": []}
        pictures = _pictures([line for line in lines if line["at"] >= began])
        requests = {what: count for what, count in last["requests"].items() if not what.endswith(_PICTURES_SENT)}
        latencies_ms = observer.latencies_ms
        return Figures(observer.captured, dropped, latencies_ms, last["replays"], requests, pictures, busy_s, around_s)


def _pictures(lines: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the pictures that came in a second between the first and the last of the clients' lines."""
    if len(lines) < 2:
        return {}
    first, last = lines[0], lines[-1]
    counts = {what: count for what, count in last["requests"].items() if what.endswith(_PICTURES_SENT)}
    seconds = last["at"] - first["at"]
    return {
        what.removesuffix(_PICTURES_SENT): (count - first["requests"].get(what, 0)) / seconds
        for what, count in counts.items()
    }


def report(name: str, figures: Figures) -> None:
    """Print what a run measured."""
    took = np.array(figures.latencies_ms or [np.nan])
    share = figures.dropped / max(figures.captured, 1)
    print(f"{name}: {figures.captured} frames, {figures.dropped} dropped ({share:.2%})")
    quantiles = ", ".join(f"p{rank} {np.percentile(took, rank):.1f} ms" for rank in (50, 95, 99))
    print(f"    capture to published: {quantiles}")
    busiest = sorted(figures.busy_s.items(), key=lambda item: -item[1])[:_NAMED_THREADS]
    print(f"    processor time: {sum(figures.busy_s.values()):.2f} s in a second,", end=" ")
    print("ms in a second " + ", ".join(f"{name} {1000 * spent:.0f}" for name, spent in busiest if spent >= 0.001))
    if figures.pictures:
        print("    pictures in a second: " + ", ".join(f"{what} {rate:.1f}" for what, rate in figures.pictures.items()))
    print(
        "    beside the rig: camera and clients {:.2f} s in a second, other programs {:.2f}".format(*figures.around_s)
    )
    if figures.replays_s:
        replays = ", ".join(f"{took_s:.2f}" for took_s in figures.replays_s)
        print(f"    replays, call to first pictures: {replays} s (wanted: within 3)")
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
    parser.add_argument("--watched", default=",".join(_WATCHED), help="what is on air in the second run")
    parser.add_argument("--busy", type=int, default=0, help="programs beside it that always want a core")
    parser.add_argument("--rounds", type=int, default=1, help="how often both are run, in turn")
    options = parser.parse_args()
    watched = [name for name in options.watched.split(",") if name]
    if unknown := set(watched) - set(_WATCHED):
        parser.error(f"unknown: {', '.join(sorted(unknown))}. Known are {', '.join(_WATCHED)}.")
    if options.be_clients:
        run_idle()
        watch(options.be_clients, watched)
        return
    cases: dict[str, list[str]] = {"panel only": [], f"panel, {options.watched}": watched}
    p99_ms: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(options.rounds):
        for name, shown in cases.items():
            figures = measure(options, shown)
            report(name, figures)
            p99_ms[name].append(float(np.percentile(figures.latencies_ms or [np.nan], 99)))
    for name, measured in p99_ms.items():
        print(f"p99 {name}: " + ", ".join(f"{took:.0f}" for took in measured) + " ms")


if __name__ == "__main__":
    main()
