"""How long from a frame's capture to its published calls, what is lost on the way, and how soon a lost camera is back.

python benchmarks/rig.py [--seconds 30] [--clients 200] [--stalled 20] [--watchers 1] [--fps 60]
    [--sight recorded|network|threaded] [--cuts 0]

A camera of its own process sends the bundled clip's pictures, there and back, as motion JPEG with its capture stamps;
the clip is of 30 frames/s, so that at 60 its figures run twice as fast as they did.
The whole rig runs on it: recording, journal, annotated picture, service. Clients read the feed, as overlays and panels
do; watchers the annotated picture, which a camera page does. They are of another process, which yields to the rig; the
stalled ones read nothing. With ``--sight recorded`` the scenes are those recorded with the clip, in place of the
network's; with ``threaded`` a thread of the rig looks at whole pictures, in place of a process of its own. A computer
that others share changes its speed: how long one picture takes to unpack, with nothing beside it, is told of before and
after, and how much of the cores went to others meanwhile, so that runs can be compared.
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
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.frame import Detection, Frame
from downfield.core.roster import read_roster
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.cli.run import prepare
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.network_vision import detection_rate, detector, open_vision
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.vision_seam import DetectionResult, VisionStage
from downfield.rig.recording.clip import bundled_demo, open_clip
from downfield.rig.rig import Rig
from downfield.rig.sources.jpeg import unpack_jpeg
from downfield.rig.sources.source import CapturedFrame
from downfield.vision.board.health import PictureHealth
from downfield.vision.pipeline import Vision

_PICTURES = 240
_QUALITY = 85
_WARM_S = 3.0


class Camera(ThreadingHTTPServer):
    """Sends pictures at an even rate; ``/cut?SECONDS`` breaks every stream off and refuses new ones for so long."""

    daemon_threads = True

    def __init__(self, fps: float) -> None:
        self.fps = fps
        there = list(_jpegs())
        self.jpegs = there + there[-2:0:-1]  # and back: a film that jumps is another, and has everybody looked for anew
        self.dark_until = 0.0
        super().__init__(("127.0.0.1", 0), _Answer)


class _Answer(BaseHTTPRequestHandler):
    server: Camera

    def do_GET(self) -> None:
        if self.path.startswith("/cut"):
            self.server.dark_until = time.monotonic() + float(self.path.partition("?")[2])
            self.send_response(204)
            self.end_headers()
        elif time.monotonic() < self.server.dark_until:
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=cut")
            self.end_headers()
            with contextlib.suppress(OSError):
                self._send()

    def _send(self) -> None:
        began = time.monotonic()
        for count, jpeg in enumerate(itertools.cycle(self.server.jpegs)):
            time.sleep(max(0.0, began + count / self.server.fps - time.monotonic()))
            now = time.monotonic()
            if now < self.server.dark_until:
                return
            head = f"--cut\r\nContent-Length: {len(jpeg)}\r\nX-Timestamp: {now:.6f}\r\n\r\n"
            self.wfile.write(head.encode() + jpeg + b"\r\n")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _jpegs() -> Iterator[bytes]:
    with av.open(str(bundled_demo())) as container:
        for frame in itertools.islice(container.decode(video=0), _PICTURES):
            _, packed = cv2.imencode(".jpg", frame.to_ndarray(format="bgr24"), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
            yield packed.tobytes()


class RecordedScenes:
    """The clip's scenes over and over, at the times of the frames."""

    def __init__(self) -> None:
        self._scenes = list(open_clip(bundled_demo()).tracks)
        self.health: PictureHealth | None = None
        self.players: tuple[Player, ...] = open_clip(bundled_demo()).tracks.header.players

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        """Nothing."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the seam's signature
        carrier: str | None = None,  # noqa: ARG002 - the seam's signature
    ) -> Scene:
        """The scene whose turn it is."""
        shift_ns = frame.t_ns - self._scenes[frame.index % len(self._scenes)].t_ns
        scene = self._scenes[frame.index % len(self._scenes)]
        contacts = tuple(
            one if one.since_ns is None else replace(one, since_ns=one.since_ns + shift_ns) for one in scene.contacts
        )
        return replace(scene, frame=frame.index, t_ns=frame.t_ns, contacts=contacts)

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Recorded."""

    def find_figures(self) -> None:
        """Recorded."""


class Measured(LoopObserver):
    """Remembers when frames were captured and when what was seen in them was published."""

    def __init__(self) -> None:
        self.captured_ns: dict[int, int] = {}
        self.took_ms: list[float] = []
        self.captured = 0
        self.calls = 0
        self.last_ns = 0
        self.gaps_s: list[float] = []
        self.counting = False

    def shot(self, shot: CapturedFrame) -> None:
        """Captured."""
        if self.last_ns and shot.captured_ns - self.last_ns > 150_000_000:
            self.gaps_s.append((shot.captured_ns - self.last_ns) / 1e9)
        self.last_ns = shot.captured_ns
        self.captured += self.counting
        self.captured_ns[shot.index] = shot.captured_ns
        self.captured_ns.pop(shot.index - 600, None)

    def judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Published."""
        self.calls += sum(call.verdict == "called" for call in calls)
        if isinstance(entry, Scene) and self.counting and entry.frame in self.captured_ns:
            self.took_ms.append((time.monotonic_ns() - self.captured_ns[entry.frame]) / 1e6)


def clients(port: int, count: int, stalled: int, watchers: int) -> None:
    """Open feeds, of which some are never read, and watch the picture; until killed.

    What comes is thrown away unseen: clients stand for other computers.
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


def thread_cpu_s() -> dict[str, float]:
    """What each thread of this process has spent, by its name; Linux."""
    spent: dict[str, float] = {}
    for thread in threading.enumerate():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/self/task/{thread.native_id}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            spent[thread.name] = spent.get(thread.name, 0.0) + seconds
    return spent


def processes() -> dict[int, str]:
    """The rig's: this one, and what it started to find figures and to tell listeners, by number; Linux."""
    found = {os.getpid(): "rig"}
    for thread in Path("/proc/self/task").glob("*/children"):
        for number in thread.read_text().split():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{number}/cmdline").read_text().split("\0")
                name = next((one.rpartition(".")[2] for one in command if one.startswith("downfield.")), None)
                if name is not None:
                    found[int(number)] = f"process {name}"
    return found


def process_cpu_s() -> dict[str, float]:
    """What the rig's other processes have spent, by their names; Linux."""
    spent: dict[str, float] = {}
    others = processes()
    del others[os.getpid()]
    for number, name in others.items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            spent[name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def memory_mb() -> float:
    """What the rig's processes hold of the computer's memory; Linux."""
    pages = 0
    for number in processes():
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{number}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages else float("nan")


def stolen_s() -> float:
    """How long cores of this computer, a virtual one, have been others' when they were wanted here; Linux."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def child(*args: str) -> subprocess.Popen[str]:
    """The same program in a process of its own, with another part."""
    return subprocess.Popen([sys.executable, __file__, *args], stdout=subprocess.PIPE, text=True)


def main() -> None:
    """Play the part asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=20)
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--fps", type=float, default=60)
    parser.add_argument("--sight", choices=("recorded", "network", "threaded"), default="recorded")
    parser.add_argument("--cuts", type=int, default=0, help="cut the camera so many times, for half a second each")
    parser.add_argument("--be-camera", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--be-clients", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.be_camera:
        camera = Camera(asked.fps)
        print(camera.server_address[1], flush=True)
        camera.serve_forever()
    elif asked.be_clients:
        _take_nothing()
        clients(asked.be_clients, asked.clients, asked.stalled, asked.watchers)
    else:
        measure(asked)


def _take_nothing() -> None:
    """Run on what the rig leaves alone: clients stand for other computers, which take nothing from this one."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


def unpacking_ms() -> float:
    """How long one picture takes to unpack here and now, in the median."""
    took = []
    for jpeg in [*itertools.islice(_jpegs(), 10)] * 5:
        began = time.perf_counter()
        unpack_jpeg(jpeg)
        took.append((time.perf_counter() - began) * 1e3)
    return float(np.median(took))


def measure(asked: argparse.Namespace) -> None:
    """Run the rig, and print what was measured."""
    before_ms = unpacking_ms()
    _measure(asked)
    print(f"one picture alone is unpacked in {before_ms:.1f} ms before, {unpacking_ms():.1f} ms after")


def _measure(asked: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
        camera = child("--be-camera", "--fps", str(asked.fps))
        started.callback(_kill, camera)
        assert camera.stdout is not None
        port = int(camera.stdout.readline())
        rig = _rig(asked, port, Path(folder))
        started.callback(rig.end)
        measured = Measured()
        rig.onlook(measured)
        here = rig.address.rsplit(":", 1)[1].strip("/")
        counts = ("--clients", asked.clients, "--stalled", asked.stalled, "--watchers", asked.watchers)
        started.callback(_kill, child("--be-clients", here, *map(str, counts)))
        threading.Thread(target=rig.play, daemon=True).start()
        time.sleep(_WARM_S)
        dropped = rig.dropped
        measured.counting = True
        before, stolen, began = thread_cpu_s() | process_cpu_s(), stolen_s(), time.monotonic()
        memory = memory_mb()
        back_s = _cut(asked.cuts, port, measured)
        time.sleep(max(0.0, asked.seconds - (time.monotonic() - began)))
        took_s = time.monotonic() - began
        measured.counting = False
        after, stolen = thread_cpu_s() | process_cpu_s(), stolen_s() - stolen
        busy_s = {name: after[name] - before.get(name, 0.0) for name in after}
        _report(asked, rig, measured, rig.dropped - dropped, took_s, busy_s, back_s)
        print(f"cores that others had meanwhile: {stolen / took_s:.2f}")
        quarters = [np.median(part) for part in np.array_split(np.array(measured.took_ms), 4) if len(part)]
        told = ", ".join(f"{quarter:.1f}" for quarter in quarters)
        print(f"growth: memory {memory:.0f} MB at first, {memory_mb():.0f} MB at last; p50 by quarters {told} ms")


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def _rig(asked: argparse.Namespace, port: int, folder: Path) -> Rig:
    prepare()
    calibration = bundled_demo().with_suffix(".calibration.json")
    given = {
        "source.name": f"http://127.0.0.1:{port}/video",
        "calibration.file": str(calibration),
        "game.roster": str(bundled_demo().with_suffix(".tracks.jsonl")),
        "data": str(folder),
        "service.port": 0,
        "recording.stop_below_gb": 0.5,
    }

    def recorded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        return RecordedScenes()

    def threaded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        known = None if roster is None else read_roster(roster)
        network = settings.network
        return Vision(calibration, detector(network), known, rate=detection_rate(network, time.perf_counter_ns))

    sight = {"network": open_vision, "threaded": threaded, "recorded": recorded}[asked.sight]
    return Rig(load(environment={}, command_line=given), folder, open_vision=sight)


def _cut(times: int, port: int, measured: Measured) -> list[float]:
    """Cut the camera again and again; how long after it sends again its first picture is there, seconds."""
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
    asked: argparse.Namespace,
    rig: Rig,
    measured: Measured,
    dropped: int,
    took_s: float,
    busy_s: dict[str, float],
    back_s: list[float],
) -> None:
    took = np.array(measured.took_ms or [np.nan])
    health = rig.topic("health")
    feeds = f"{asked.clients} feed clients, {asked.stalled} of them stalled, {asked.watchers} watching the picture"
    print(f"sight: {asked.sight}; {feeds}; {took_s:.0f} s")
    print(f"captured {measured.captured} frames, {measured.captured / took_s:.1f} a second of {asked.fps:g}")
    print(f"capture to published: p50 {np.percentile(took, 50):.1f} ms, p99 {np.percentile(took, 99):.1f} ms")
    print(f"dropped: {dropped} ({dropped / max(measured.captured, 1):.2%})")
    print(f"recording: {health.recording.seconds:.0f} s; reasons: {[reason.code for reason in health.reasons]}")
    busy = sum(busy_s.values()) / took_s
    print(f"rig: {busy:.2f} of {os.cpu_count()} cores; load of the computer {os.getloadavg()[0]:.1f}")
    for name, spent in sorted(busy_s.items(), key=lambda item: -item[1])[:8]:
        print(f"    {name}: {1000 * spent / took_s:.1f} ms of CPU a second")
    print(f"    by judged frame: see {1000 * busy_s.get('see', 0) / max(len(took), 1):.1f} ms,", end=" ")
    print(f"judge {1000 * busy_s.get('judging', 0) / max(len(took), 1):.1f} ms")
    if back_s:
        print(
            f"{len(back_s)} cuts of 0.5 s: back after median {np.median(back_s):.2f} s, at most {max(back_s):.2f} s;"
            f" {measured.calls} calls made"
        )


if __name__ == "__main__":
    main()
