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
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.frame import Detection, Frame
from downfield.core.roster import read_roster
from downfield.core.scene import Player, Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.connections import DetectionResult, LoopObserver, VisionStage
from downfield.rig.live.network_vision import detection_rate, local_detector, open_vision
from downfield.rig.live.process_tuning import tune_process
from downfield.rig.recording.recorded_clip import bundled_demo, open_clip
from downfield.rig.rig import Rig
from downfield.rig.sources.jpeg import decode_jpeg
from downfield.rig.sources.source import CapturedFrame
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.pipeline import Vision

_PICTURES = 240
_QUALITY = 85
_WARM_S = 3.0


class FakeCamera(ThreadingHTTPServer):
    """Sends pictures at an even rate; ``/cut?SECONDS`` ends every stream and refuses new ones for so long."""

    daemon_threads = True

    def __init__(self, fps: float, pictures: int = _PICTURES) -> None:
        self.fps = fps
        forward = list(_jpegs(pictures))
        self.jpegs = forward + forward[-2:0:-1]  # and backward: after a jump, all figures would be searched again
        self.cut_until = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: FakeCamera

    def do_GET(self) -> None:
        if self.path.startswith("/cut"):
            self.server.cut_until = time.monotonic() + float(self.path.partition("?")[2])
            self.send_response(204)
            self.end_headers()
        elif time.monotonic() < self.server.cut_until:
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
            if now < self.server.cut_until:
                return
            head = f"--cut\r\nContent-Length: {len(jpeg)}\r\nX-Timestamp: {now:.6f}\r\n\r\n"
            self.wfile.write(head.encode() + jpeg + b"\r\n")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _jpegs(pictures: int = _PICTURES) -> Iterator[bytes]:
    with av.open(str(bundled_demo())) as container:
        for frame in itertools.islice(container.decode(video=0), pictures):
            _, packed = cv2.imencode(
                ".jpg", frame.to_ndarray(format="bgr24", threads=1), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]
            )
            yield packed.tobytes()


class RecordedScenes:
    """A vision stage that repeats the clip's scenes, at the times of the frames."""

    def __init__(self) -> None:
        self._scenes = list(open_clip(bundled_demo()).tracks)
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None
        self.players: tuple[Player, ...] = open_clip(bundled_demo()).tracks.header.players

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        """Return nothing."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return the next scene."""
        shift_ns = frame.t_ns - self._scenes[frame.index % len(self._scenes)].t_ns
        scene = self._scenes[frame.index % len(self._scenes)]
        contacts = tuple(
            contact if contact.since_ns is None else replace(contact, since_ns=contact.since_ns + shift_ns)
            for contact in scene.contacts
        )
        return replace(scene, frame=frame.index, t_ns=frame.t_ns, contacts=contacts)

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Do nothing."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Do nothing: figures keep their recorded headings."""

    def find_figures(self) -> None:
        """Do nothing."""


class LatencyObserver(LoopObserver):
    """Measures the time from capture to publication of every frame."""

    def __init__(self) -> None:
        self.captured_ns: dict[int, int] = {}
        self.latencies_ms: list[float] = []
        self.captured = 0
        self.calls = 0
        self.last_ns = 0
        self.counting = False

    def frame_captured(self, frame: CapturedFrame) -> None:
        """Note the capture time."""
        self.last_ns = frame.captured_ns
        self.captured += self.counting
        self.captured_ns[frame.index] = frame.captured_ns
        self.captured_ns.pop(frame.index - 600, None)

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        """Note the latency."""
        self.calls += sum(call.verdict == "called" for call in calls)
        if isinstance(entry, Scene) and self.counting and entry.frame in self.captured_ns:
            self.latencies_ms.append((time.monotonic_ns() - self.captured_ns[entry.frame]) / 1e6)


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


def thread_cpu_s() -> dict[str, float]:
    """Return the CPU time of each thread of this process, by its name; Linux."""
    spent: dict[str, float] = {}
    for thread in threading.enumerate():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/self/task/{thread.native_id}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            spent[thread.name] = spent.get(thread.name, 0.0) + seconds
    return spent


def processes() -> dict[int, str]:
    """Return the rig's processes, by number: this one, the detector's and the feed relay's; Linux."""
    found = {os.getpid(): "rig"}
    for thread in Path("/proc/self/task").glob("*/children"):
        for number in thread.read_text().split():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{number}/cmdline").read_text().split("\0")
                name = next((word.rpartition(".")[2] for word in command if word.startswith("downfield.")), None)
                if name is not None:
                    found[int(number)] = f"process {name}"
    return found


def process_cpu_s() -> dict[str, float]:
    """Return the CPU time of the rig's other processes, by their names; Linux."""
    spent: dict[str, float] = {}
    others = processes()
    del others[os.getpid()]
    for number, name in others.items():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            spent[name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def memory_mb() -> float:
    """Return the memory of the rig's processes; Linux."""
    pages = 0
    for number in processes():
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{number}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages else float("nan")


def stolen_s() -> float:
    """Return how long cores of this virtual computer went to others while they were needed here; Linux."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def child(*args: str) -> subprocess.Popen[str]:
    """Start this program in another process, in another role."""
    return subprocess.Popen([sys.executable, __file__, *args], stdout=subprocess.PIPE, text=True)


def main() -> None:
    """Run the benchmark, or the role given by the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--stalled", type=int, default=20)
    parser.add_argument("--watchers", type=int, default=1)
    parser.add_argument("--fps", type=float, default=60)
    parser.add_argument("--vision", choices=("recorded", "network", "threaded"), default="recorded")
    parser.add_argument("--cuts", type=int, default=0, help="how often to cut the camera, for 0.5 s each")
    parser.add_argument("--be-camera", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--pictures", type=int, default=_PICTURES, help=argparse.SUPPRESS)
    parser.add_argument("--be-clients", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.be_camera:
        camera = FakeCamera(options.fps, options.pictures)
        print(camera.server_address[1], flush=True)
        camera.serve_forever()
    elif options.be_clients:
        run_idle()
        clients(options.be_clients, options.clients, options.stalled, options.watchers)
    else:
        measure(options)


def run_idle() -> None:
    """Run only when the rig needs no CPU: clients stand for other computers."""
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


def decoding_ms() -> float:
    """Return the median time to decode one picture here and now."""
    took = []
    for jpeg in [*itertools.islice(_jpegs(), 10)] * 5:
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
        camera = child("--be-camera", "--fps", str(options.fps))
        started.callback(_kill, camera)
        assert camera.stdout is not None
        port = int(camera.stdout.readline())
        rig = open_rig(options, port, Path(folder))
        started.callback(rig.close)
        measured = LatencyObserver()
        rig.add_observer(measured)
        here = rig.address.rsplit(":", 1)[1].strip("/")
        counts = ("--clients", options.clients, "--stalled", options.stalled, "--watchers", options.watchers)
        started.callback(_kill, child("--be-clients", here, *map(str, counts)))
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
        print(f"growth: memory {memory:.0f} MB at first, {memory_mb():.0f} MB at last; median by quarters {medians} ms")


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


def open_rig(options: argparse.Namespace, port: int, folder: Path) -> Rig:
    """Return the whole rig over the camera at a port, with the vision of the options."""
    tune_process()
    calibration = bundled_demo().with_suffix(".calibration.json")
    given = {
        "source.name": f"http://127.0.0.1:{port}/video",
        "calibration.file": str(calibration),
        "game.roster": str(bundled_demo().with_suffix(".tracks.jsonl")),
        "data": str(folder),
        "service.port": 0,
        "recording.stop_below_gb": 0.5,
        **getattr(options, "given", {}),
    }

    def recorded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        return RecordedScenes()

    def threaded(settings: RigSettings, calibration: Calibration, roster: Path | None, *, live: bool) -> VisionStage:  # noqa: ARG001 - the seam's signature
        known = None if roster is None else read_roster(roster)
        network = settings.network
        return Vision(calibration, local_detector(network), known, rate=detection_rate(network, time.perf_counter_ns))

    opener = {"network": open_vision, "threaded": threaded, "recorded": recorded}[options.vision]
    return Rig(load(environment={}, command_line=given), folder, open_vision=opener)


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
