"""A day at the table in accelerated time: the loop, the game, the recording and the health, with a day's mishaps.

Run: PYTHONPATH=tests python benchmarks/day.py [--hours 24] [--fps 1]

The clock of the program is the camera's: it advances by a frame whenever the last one was judged, so the day passes as
fast as this computer can. Meanwhile, at random moments by a fixed seed:

- the wall clock jumps, by up to a year ahead or back;
- the camera leaves for up to ten minutes, and comes back;
- the disk of the store or of the recordings fills, and has room again after up to twenty minutes;
- the rig is stopped in order and started again, on the same store and data folder.

Networks are left out: scenes are a tackle's, over and over. Declared is a set-up every minute. In the end everything
that was declared must be in the store, once and in order; the hash chains and the signed heads must agree; and the
health must say nothing that is over. Memory and time per frame are reported by quarters of the day.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from rig_fakes import FIELD, FakeVision
from served_games import FakeRig

from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorder import Recorder
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.capture.source import CapturedFrame, LoopObserver, SourceFacts, VideoPacket
from downfield.capture.sources.reconnecting import ReconnectingSource, ReconnectLimits
from downfield.core.errors import OutputError, SourceError
from downfield.game.published.hub import Hub
from downfield.game.receipts import Accepted, Submission
from downfield.game.records.commands import NewGame
from downfield.game.records.owner import GameOwner, rig_id
from downfield.game.service import GameService
from downfield.officiating.declarations import SetUp
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.rig.live.camera_watch import CameraWatch
from downfield.rig.live.loop import Loop
from downfield.rig.live.rig_health import FrameMeter
from downfield.store.history import History
from downfield.store.sealing.hash_chain import verify_journal
from downfield.store.sealing.heads import HeadsFile, compare_with_heads, read_heads
from downfield.store.sealing.signing import RigKey
from downfield.store.writing import journal
from downfield.store.writing.journals import CheckpointFile, StoredJournals
from downfield.store.writing.spool import Spool
from downfield.store.writing.store import Store

QUARTERS: Final = 4
DECLARED_EVERY_S: Final = 60.0
ON_EVERY_S: Final = 1800.0
ON_FOR_S: Final = 20.0
YEAR_S: Final = 365 * 86_400
GB: Final = 10**9
EVERY_S: Final = {"jump": 1800, "camera": 1800, "store": 5400, "recordings": 5400, "restart": 7200}
"""Mean time between two mishaps of a kind."""

AFTERWARDS_S: Final = 600.0
"""The rig runs so long after the day, without mishaps, and has to make good what was left."""

RECONNECT_LIMITS: Final = ReconnectLimits(
    stalled_s=60, first_frame_s=60, frozen_s=1e9, open_timeout_s=60, first_wait_s=0.001, longest_wait_s=0.002
)
"""By this computer's own clock, of which the day takes little."""

BEGAN_NS: Final = 1_795_000_000_000_000_000


@dataclass
class DayClock:
    """The clock of the program: the camera's, and a wall clock that jumps. It stands in for the time module's.

    Attributes:
        now_s: since the beginning of the day.
        wall_off_s: what the wall clock is off.
    """

    now_s: float = 0.0
    wall_off_s: float = 0.0

    def install(self) -> None:
        """Let the program read this clock; what waits for a thread or a timeout still waits by the real one."""
        time.monotonic = lambda: 1_000.0 + self.now_s
        time.monotonic_ns = lambda: round(time.monotonic() * 1e9)
        for module in list(sys.modules.values()):
            if module.__name__.startswith("downfield.") and hasattr(module, "monotonic_ns"):
                module.__dict__["monotonic_ns"] = time.monotonic_ns
        time.time_ns = lambda: BEGAN_NS + round((self.now_s + self.wall_off_s) * 1e9)
        time.time = lambda: time.time_ns() / 1e9


@dataclass
class Mishaps:
    """What goes wrong, and when, by a fixed seed.

    Attributes:
        camera_gone, store_full, recordings_full: until when, seconds of the day.
        counted: how often each happened.
        over: whether nothing more happens.
    """

    random: random.Random
    camera_gone: float = 0.0
    store_full: float = 0.0
    recordings_full: float = 0.0
    counted: dict[str, int] = field(default_factory=dict)
    over: bool = False

    def end(self) -> None:
        """Let nothing more happen: the camera is there, and every disk has room."""
        self.over, self.camera_gone, self.store_full, self.recordings_full = True, 0.0, 0.0, 0.0

    def happen(self, clock: DayClock, step_s: float) -> bool:
        """Let some of them happen; return whether the rig is started again."""
        restarts = False
        if self.over:
            return False
        for name, every_s in EVERY_S.items():
            if self.random.random() >= step_s / every_s:
                continue
            self.counted[name] = self.counted.get(name, 0) + 1
            if name == "jump":
                clock.wall_off_s = self.random.choice([-YEAR_S, -3600, 3600, YEAR_S, 0, self.random.uniform(-5, 5)])
            elif name == "camera":
                self.camera_gone = clock.now_s + self.random.uniform(1, 600)
            elif name == "store":
                self.store_full = clock.now_s + self.random.uniform(1, 1200)
            elif name == "recordings":
                self.recordings_full = clock.now_s + self.random.uniform(1, 1200)
            else:
                restarts = True
        return restarts


class Day:
    """The day: its clock, its camera, its disks, and the rig that is started again and again."""

    def __init__(self, folder: Path, hours: float, fps: float) -> None:
        self.folder, self.step_s, self.ends_s = folder, 1 / fps, hours * 3600
        self.clock, self.mishaps = DayClock(), Mishaps(random.Random(40))
        self.key = RigKey.generate()
        self.judged = threading.Event()
        self.frames = self.dropped = self.starts = 0
        self.declared: list[tuple[str, float]] = []
        self.active: tuple[str, ...] = ()
        self.pictures = [_picture(number) for number in range(30)]
        self.stop_at_s = 0.0
        self.base_ns = 0

    def run(self) -> None:
        """Play the day; in the end whatever was full has room, and the rig is started once more."""
        self.clock.install()
        while self.clock.now_s < self.ends_s:
            self._run_rig(self.ends_s)
        self.mishaps.end()
        self._run_rig(self.clock.now_s + AFTERWARDS_S)

    def frames_of_camera(self) -> Iterator[CapturedFrame]:
        """Yield the frames of one opening of the camera, each once the one before was judged."""
        for index in itertools.count():
            if self.clock.now_s >= self.stop_at_s:
                return
            self.clock.now_s += self.step_s
            if self.mishaps.happen(self.clock, self.step_s):
                self.stop_at_s = self.clock.now_s
                return
            if self.clock.now_s < self.mishaps.camera_gone:
                raise SourceError("the camera was unplugged")
            self.judged.clear()
            captured_ns = time.monotonic_ns()
            packet = VideoPacket("mjpeg", self.pictures[self.frames % len(self.pictures)])
            yield CapturedFrame(index, self.base_ns + captured_ns, captured_ns, packet)
            self.judged.wait(20)
            self.frames += 1

    def open_camera(self) -> _Camera:
        """Open the camera; while it is gone, a try takes ten seconds of the day."""
        self.clock.now_s += 10.0
        if self.clock.now_s < self.mishaps.camera_gone:
            raise SourceError("it is not plugged in")
        return _Camera(self)

    def _run_rig(self, until_s: float) -> None:
        """Run the rig until a time of the day, or until it is started again."""
        self.starts += 1
        self.stop_at_s = until_s
        with ExitStack() as closing:
            store = Store.at(self.folder / "games.db")
            closing.callback(store.close)
            vars(store)["append"] = partial(self._append, store.append)
            owner = GameOwner(rig_id(self.key.public_text), "day")
            store.lease(owner)
            store.spool = Spool([self.folder / "unsaved"])
            store.keep_heads(HeadsFile(self.folder / "heads.jsonl", self.key))
            service = GameService(
                StoredJournals(store, CheckpointFile(self.folder / "game.checkpoint", self.key)),
                Hub(),
                FakeRig(None),
                FIELD,
                load_rulebook(),
                lambda: self.base_ns + time.monotonic_ns(),
                owner,
            )
            closing.callback(service.close)
            self.base_ns = max(BEGAN_NS, service.last_kept_ns() + 60 * 10**9) - time.monotonic_ns()
            if service.resume() is None:
                service.start_game(NewGame(title="the day"))
            problems = ActiveProblems()
            source = ReconnectingSource(self.open_camera, problems, RECONNECT_LIMITS)
            keep = RecordingSettings(segment_s=600, keep_gb=0.02)
            recorder = Recorder(
                self.folder / "recordings", keep, lambda: source.facts, problems,
                free_bytes=lambda _: 0 if self.clock.now_s < self.mishaps.recordings_full else 100 * GB,
            )  # fmt: skip
            closing.callback(recorder.close)
            recorder.record_when_possible()
            watch = CameraWatch(lambda: source.facts, problems)
            loop = Loop(
                source, _Vision(), service, problems, meter=FrameMeter(), ticks=True,
                observers=(recorder, watch, _Declares(self, service)),
            )  # fmt: skip
            loop.run()
            self.dropped += loop.dropped
            self.active = tuple(problem.text for problem in problems.active())

    def _append(self, append: Callable[..., None], *entry: Any) -> None:
        """Append to the store, while its disk has room."""
        if self.clock.now_s < self.mishaps.store_full:
            raise OutputError("No space left on device")
        append(*entry)


class _Camera:
    """One opening of the camera."""

    def __init__(self, day: Day) -> None:
        self._day = day
        self.facts = SourceFacts("camera", "Day Cam", (64, 36), 1 / day.step_s, live=True, codec="mjpeg")

    def frames(self) -> Iterator[CapturedFrame]:
        return self._day.frames_of_camera()

    def close(self) -> None:
        """Nothing is held."""


class _Vision(FakeVision):
    """Sees an empty board, and a play now and then."""

    def update(self, frame, detections, carrier=None):  # type: ignore[no-untyped-def]
        scene = super().update(frame, detections, carrier)
        self.updated.clear()
        self.carriers.clear()
        return replace(scene, board="on" if frame.t_ns / 1e9 % ON_EVERY_S < ON_FOR_S else "off", contacts=())


class _Declares(LoopObserver):
    """Declares a set-up every minute, and lets the camera send the next frame."""

    def __init__(self, day: Day, service: GameService) -> None:
        self._day, self._service, self._next_s = day, service, day.clock.now_s

    def entry_judged(self, *_: object) -> None:
        """Declare what is due."""
        day = self._day
        if day.clock.now_s >= self._next_s:
            self._next_s = day.clock.now_s + DECLARED_EVERY_S
            yd = len(day.declared) % 90 + 1.0
            submission = Submission(key=f"k{len(day.declared)}-{day.starts}")
            if isinstance(
                self._service.declare(SetUp("home", 1, yd), submission), Accepted
            ):  # else a play is under way
                day.declared.append((self._service.game_id, yd))
        day.judged.set()


def _picture(number: int) -> bytes:
    noise = np.random.default_rng(number).integers(60, 120, (36, 64, 3), dtype=np.uint8)
    return cv2.imencode(".jpg", noise)[1].tobytes()


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def report(day: Day) -> bool:
    """Print what is in the store against what was declared; return whether nothing is lost or wrong."""
    store = Store.at(day.folder / "games.db")
    store.spool = Spool([day.folder / "unsaved"])
    kept = [
        (row.id, event.body.spot_yd)
        for row in reversed(store.games())
        for event in History(store, row).events
        if isinstance(event.body, SetUp)
    ]
    broken = [
        found.problem for row in store.games() if (found := verify_journal(row.id, store.entries(row.id))).problem
    ]
    differences = list(compare_with_heads(store, read_heads(day.folder / "heads.jsonl")))
    recorded = sum(path.stat().st_size for path in (day.folder / "recordings").rglob("*") if path.is_file())
    print(f"{day.frames} frames, {day.dropped} dropped; {day.starts} starts; {day.mishaps.counted}")
    print(f"{len(day.declared)} declared; kept, each once and in order: {len(kept)}, {kept == day.declared}")
    print(f"journals broken: {broken}; heads differ: {differences}; recordings {recorded / 1e6:.1f} MB")
    print(f"told of at the end: {day.active}")
    store.close()
    return kept == day.declared and not broken and not differences


def main() -> None:
    """Play the day and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--fps", type=float, default=1.0, help="frames a second of the day")
    options = parser.parse_args()
    # A full disk takes none of the day's time.
    vars(journal)["JOURNAL_LIMITS"] = replace(journal.JOURNAL_LIMITS, receipt_timeout_s=0.02, retry_s=0.02)
    with tempfile.TemporaryDirectory() as folder:
        day = Day(Path(folder), options.hours, options.fps)
        began_s, done = time.process_time(), threading.Event()

        def watch() -> None:
            frames, busy_s = 0, time.process_time()
            for quarter in range(1, QUARTERS + 1):
                while day.clock.now_s < day.ends_s * quarter / QUARTERS and not done.wait(0.05):
                    pass
                took_ms = (time.process_time() - busy_s) * 1e3 / max(1, day.frames - frames)
                print(f"quarter {quarter}: {took_ms:.2f} ms of processor a frame, {_resident_mb():.0f} MB", flush=True)
                frames, busy_s = day.frames, time.process_time()

        watcher = threading.Thread(target=watch)
        watcher.start()
        day.run()
        done.set()
        watcher.join()
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(f"{time.process_time() - began_s:.0f} s of processor; peak {peak_mb:.0f} MB")
        if not report(day):
            sys.exit(1)


if __name__ == "__main__":
    main()
