"""Measures how fast a reviewer gets the frames and a clip of a call, from the bundled recording.

Run: python benchmarks/evidence.py

Times depend on the machine, so each is also given as a ratio to decoding one frame of the same file in order. Processor
time is what the live loop may lose; the wall clock beside it shows how busy the machine was.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import av
import cv2
import numpy as np

from downfield.core.track_files import TrackFile
from downfield.game.footage import FootageFrame
from downfield.review.call_viewer import encode_jpeg
from downfield.review.clips import TimedImage, encode_clip, scaled
from downfield.rig.recording.frame_reader import FrameReader
from downfield.rig.recording.recorded_clip import bundled_demo, tracks_path

AROUND = 90  # frames to each side of a call: a clip of six seconds
DECODED = 120  # frames whose mean time is the unit
CLIP_WIDTH_PX = 1280


def main() -> None:
    """Measure and print."""
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
    cpu_ms, wall_ms = timed(lambda: encode_clip(clip_images(around), "mp4"))
    print(
        f"clip of {len(around)} frames: {cpu_ms / 1e3:.2f} s of processor time ({cpu_ms / unit_ms:.0f} x);"
        f" wall clock {wall_ms / 1e3:.2f} s"
    )


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


def clip_images(frames: Sequence[FootageFrame]) -> Iterator[TimedImage]:
    """Yield the pictures of a clip."""
    reader = FrameReader()
    for frame in frames:
        yield frame.t_ns - frames[0].t_ns, scaled(reader.read(frame), CLIP_WIDTH_PX)
    reader.close()


def report(what: str, times: Sequence[tuple[float, float]], unit_ms: float) -> None:
    """Print median and 95th percentile."""
    (cpu, wall) = (np.percentile([pair[column] for pair in times], [50, 95]) for column in (0, 1))
    print(
        f"{what}: processor {cpu[0]:.0f} ms, p95 {cpu[1]:.0f} ms ({cpu[1] / unit_ms:.0f} x);"
        f" wall clock {wall[0]:.0f} ms, p95 {wall[1]:.0f} ms"
    )


if __name__ == "__main__":
    main()
