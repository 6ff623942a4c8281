"""Measure the latency from capture to published calls, the frames dropped, and how soon a lost camera is back.

python benchmarks/rig.py [--seconds 30] [--clients 200] [--stalled 20] [--watchers 1] [--fps 60]
    [--vision recorded|network|threaded] [--cuts 0]

A camera in its own process sends the pictures of the bundled clip, forward and backward, as motion JPEG with capture
stamps. The clip has 30 frames/s, so that at 60 its figures run twice as fast. The whole rig runs on it: recording,
journal, annotated picture, service. Clients read the feed, as overlays and panels do; watchers read the annotated
picture. They are another process, with lower priority than the rig; stalled ones read nothing. ``--vision recorded``
uses the clip's recorded scenes instead of the network; ``threaded`` detects whole frames in a thread of the rig instead
of another process. Shared computers change their speed, so the time to decode one picture is measured before and after,
and how much of the cores went to others, to make runs comparable.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
from clip_camera import jpegs, started_camera
from measured_rig import VISIONS, LatencyObserver, open_rig
from processor_time import killed_at_the_end, memory_mb, process_cpu_s, run_idle, stolen_s, thread_cpu_s

from downfield.capture.jpeg import decode_jpeg
from downfield.rig.rig import Rig

_WARM_S = 3.0


def clients(port: int, count: int, stalled: int, watchers: int) -> None:
    """Open feeds, of which some are never read, and watch the picture, until killed.

    Received data is discarded: clients stand for other computers.
    """
    waiting, stay = selectors.DefaultSelector(), []
    for index in range(count + watchers):
        path = "/api/feed" if index < count else "/camera.mjpeg"
        client = socket.socket()
        client.connect(("127.0.0.1", port))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        stay.append(client)
        if index >= stalled:
            waiting.register(client, selectors.EVENT_READ)
    room = bytearray(1 << 20)
    while True:
        for key, _ in waiting.select():
            assert isinstance(key.fileobj, socket.socket)
            if not key.fileobj.recv_into(room, flags=socket.MSG_TRUNC):
                waiting.unregister(key.fileobj)


def main() -> None:
    """Run the benchmark, or the role given by the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=20)
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--fps", type=float, default=60)
    parser.add_argument("--vision", choices=VISIONS, default="recorded")
    parser.add_argument("--cuts", type=int, default=0, help="how often to cut the camera, for 0.5 s each")
    parser.add_argument("--be-clients", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_clients:
        run_idle()
        clients(options.be_clients, options.clients, options.stalled, options.watchers)
    else:
        measure(options)


def decoding_ms() -> float:
    """Return the median time to decode one picture here and now."""
    took = []
    for jpeg in [*itertools.islice(jpegs(), 10)] * 5:
        began = time.perf_counter()
        decode_jpeg(jpeg)
        took.append((time.perf_counter() - began) * 1e3)
    return float(np.median(took))


def measure(options: argparse.Namespace) -> None:
    """Run the rig, and print the measurements."""
    before_ms = decoding_ms()
    _measure(options)
    print(f"decoding one picture alone takes {before_ms:.1f} ms before, {decoding_ms():.1f} ms after")


def _measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
        port = started.enter_context(started_camera(options.fps))
        rig = open_rig(options.vision, port, Path(folder))
        started.callback(rig.close)
        measured = LatencyObserver()
        rig.add_observer(measured)
        here = rig.address.rsplit(":", 1)[1].strip("/")
        counts = ("--clients", options.clients, "--stalled", options.stalled, "--watchers", options.watchers)
        role = [sys.executable, __file__, "--be-clients", here, *map(str, counts)]
        started.enter_context(killed_at_the_end(subprocess.Popen(role)))
        threading.Thread(target=rig.play, daemon=True).start()
        time.sleep(_WARM_S)
        dropped = rig.dropped
        measured.counting = True
        before, stolen, began = thread_cpu_s() | process_cpu_s(), stolen_s(), time.monotonic()
        memory = memory_mb()
        back_s = _cut(options.cuts, port, measured)
        time.sleep(max(0.0, options.seconds - (time.monotonic() - began)))
        took_s = time.monotonic() - began
        measured.counting = False
        after, stolen = thread_cpu_s() | process_cpu_s(), stolen_s() - stolen
        busy_s = {name: after[name] - before.get(name, 0.0) for name in after}
        _report(options, rig, measured, rig.dropped - dropped, took_s, busy_s, back_s)
        print(f"cores that went to others: {stolen / took_s:.2f}")
        quarters = [np.median(part) for part in np.array_split(np.array(measured.latencies_ms), 4) if len(part)]
        medians = ", ".join(f"{quarter:.1f}" for quarter in quarters)
        print(f"memory at first: {memory}")
        print(f"memory at last: {memory_mb()}")
        print(f"median by quarters {medians} ms")


def _cut(times: int, port: int, measured: LatencyObserver) -> list[float]:
    """Cut the camera repeatedly; return how long its first picture takes after it sends again, seconds."""
    back_s = []
    for _ in range(times):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/cut?0.5", timeout=10).close()
        restored = time.monotonic() + 0.5
        time.sleep(0.5)
        while measured.last_ns < restored * 1e9 and time.monotonic() < restored + 30:
            time.sleep(0.005)
        back_s.append(measured.last_ns / 1e9 - restored)
        time.sleep(0.5)
    return back_s


def _report(
    options: argparse.Namespace,
    rig: Rig,
    measured: LatencyObserver,
    dropped: int,
    took_s: float,
    busy_s: dict[str, float],
    back_s: list[float],
) -> None:
    took = np.array(measured.latencies_ms or [np.nan])
    health = rig.topic("health")
    feeds = (
        f"{options.clients} feed clients, {options.stalled} of them stalled, {options.watchers} watching the picture"
    )
    print(f"vision: {options.vision}; {feeds}; {took_s:.0f} s")
    print(f"captured {measured.captured} frames, {measured.captured / took_s:.1f} per second of {options.fps:g}")
    print(f"capture to published: p50 {np.percentile(took, 50):.1f} ms, p99 {np.percentile(took, 99):.1f} ms")
    print(f"dropped: {dropped} ({dropped / max(measured.captured, 1):.2%})")
    print(f"recording: {health.recording.seconds:.0f} s; reasons: {[reason.code for reason in health.reasons]}")
    busy = sum(busy_s.values()) / took_s
    print(f"rig: {busy:.2f} of {os.cpu_count()} cores; load of the computer {os.getloadavg()[0]:.1f}")
    for name, spent in sorted(busy_s.items(), key=lambda item: -item[1])[:8]:
        print(f"    {name}: {1000 * spent / took_s:.1f} ms of CPU per second")
    print(f"    per judged frame: track {1000 * busy_s.get('track', 0) / max(len(took), 1):.1f} ms,", end=" ")
    print(f"judge {1000 * busy_s.get('judge', 0) / max(len(took), 1):.1f} ms")
    if back_s:
        print(
            f"{len(back_s)} cuts of 0.5 s: back after median {np.median(back_s):.2f} s, at most {max(back_s):.2f} s;"
            f" {measured.calls} calls made"
        )


if __name__ == "__main__":
    main()
