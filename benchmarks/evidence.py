"""Measures how fast a reviewer gets the frames and a clip of a call, from the bundled recording.

Run: python benchmarks/evidence.py [--live]

With --live the frames are fetched from a rig's service while it referees the same recording, at its own pace, with its
networks, and its dropped frames are counted before and meanwhile.

Times depend on the machine, so each is also given as a ratio to decoding one frame of the same file in order. Processor
time is what the live loop may lose; the wall clock beside it shows how busy the machine was.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import av
import cv2
import numpy as np
from evidence_live import dropped_frames, frame_times_ms, live_rig

from downfield.capture.footage import FootageFrame
from downfield.capture.recording.frame_reader import FrameReader
from downfield.capture.recording.recorded_footage import ClipFootage
from downfield.capture.source import CapturedFrame
from downfield.capture.sources.file_sources import bundled_demo, open_clip, tracks_path
from downfield.core.scene import Scene
from downfield.core.track_files import TrackFile
from downfield.game.published.hub import Hub
from downfield.game.records.commands import NewGame
from downfield.game.records.keeping import GameRow
from downfield.game.service import GameService
from downfield.officiating.events import Event
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.evidence.call_viewer import encode_jpeg
from downfield.review.evidence.exports import ClipExporter, ClipOptions
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.pictures.painting import DRAWING_KINDS
from downfield.rig.service.review import NoCamera
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

AROUND = 90  # frames to each side of a call: a clip of six seconds
DECODED = 120  # frames whose mean time is the unit
CLIP_WIDTH_PX = 1280
LIVE_FRAMES = 150


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", action="store_true", help="fetch frames from a rig that referees meanwhile")
    if parser.parse_args().live:
        live()
        return
    cv2.setNumThreads(1)
    clip = bundled_demo()
    times_ns = [scene.t_ns for scene in TrackFile(tracks_path(clip))]
    frames = [FootageFrame(number, t_ns, clip, t_ns) for number, t_ns in enumerate(times_ns)]
    middle = len(frames) // 2
    around = frames[middle - AROUND : middle + AROUND + 1]
    with av.open(str(clip), "r") as container:
        container.streams.video[0].codec_context.thread_count = 1
        cpu_ms, _ = timed(lambda: list(islice(container.decode(video=0), DECODED)))
    unit_ms = cpu_ms / DECODED
    print(f"one frame decoded in order: {unit_ms:.1f} ms of processor time")
    order = random.Random(1)
    report("any frame around a call, as JPEG", frame_times(order.choices(around, k=120)), unit_ms)
    report("the next frame, as JPEG", frame_times(around), unit_ms)
    report("the frame before, as JPEG", frame_times(around[::-1]), unit_ms)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.at(Path(folder) / "games.db")
        row, call = played(store, clip)
        exporter = ClipExporter(EvidenceFinder(store, None, footage(clip, times_ns)))
        for name, kinds in (("plain", ()), ("with drawings", DRAWING_KINDS)):
            options = ClipOptions(1.0, tuple(kinds), CLIP_WIDTH_PX)
            cpu_ms, wall_ms = timed(lambda options=options: exporter.call(row, call, "mp4", 3.0, options))  # type: ignore[misc]
            print(
                f"clip of 6 s, {name}: {cpu_ms / 1e3:.2f} s of processor time in two threads"
                f" ({cpu_ms / unit_ms:.0f} x); wall clock {wall_ms / 1e3:.2f} s"
            )
        store.close()


def live() -> None:
    """Measure frames fetched from a rig that referees meanwhile, and print."""
    with live_rig() as url:
        times = frame_times_ms(url, LIVE_FRAMES)
        median, p95 = np.percentile(times, [50, 95])
        print(f"any frame of a live rig, fetched: wall clock {median:.0f} ms, p95 {p95:.0f} ms, {len(times)} frames;")
        print(f"  {dropped_frames(url):.0f} frames dropped since the rig started; load {os.getloadavg()[0]:.1f}")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return processor and wall time of some work, ms."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def frame_times(frames: Sequence[FootageFrame]) -> list[tuple[float, float]]:
    """Return processor and wall time of each frame, one after another by one reader, ms."""
    reader = FrameReader()
    found = [timed(lambda frame=frame: encode_jpeg(reader.read(frame))) for frame in frames]  # type: ignore[misc]
    reader.close()
    return found


def played(store: Store, clip: Path) -> tuple[GameRow, str]:
    """Play the recording into a store; return the game and the id of its tackle."""
    recording = open_clip(clip)
    rig = NoCamera(recording.calibration, {})
    game_service = GameService(StoredJournals(store), Hub(), rig, recording.tracks.header.field, load_rulebook())
    game = game_service.start_game(NewGame(title="benchmark"), recording.tracks.header.players)
    entries: list[Scene | Event] = [*recording.events, *recording.tracks]
    for entry in sorted(entries, key=lambda entry: (entry.t_ns, isinstance(entry, Scene))):
        game_service.take(entry)
    call = next(call.id for call in game_service.calls() if call.kind == "tackle")
    game_service.close()
    row = store.game(game)
    if row is None:
        raise RuntimeError("the game was not written")
    return row, call


def footage(clip: Path, times_ns: Sequence[int]) -> ClipFootage:
    """Return the pictures of the recording as a rig keeps them that has played it."""
    calibration = open_clip(clip).calibration
    kept = ClipFootage(clip, lambda: calibration)
    for number, t_ns in enumerate(times_ns):
        kept.frame_captured(CapturedFrame(number, t_ns, 0))
    return kept


def report(what: str, times: Sequence[tuple[float, float]], unit_ms: float) -> None:
    """Print median and 95th percentile."""
    (cpu, wall) = (np.percentile([pair[column] for pair in times], [50, 95]) for column in (0, 1))
    print(
        f"{what}: processor {cpu[0]:.0f} ms, p95 {cpu[1]:.0f} ms ({cpu[1] / unit_ms:.0f} x);"
        f" wall clock {wall[0]:.0f} ms, p95 {wall[1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
