"""Measure whether vision becomes slower or larger over hours of play.

python benchmarks/endurance.py [--hours 4] [--fps 30]

The first seconds of the bundled clip are repeated, forward and backward, as one video with continuous times, as fast
as this computer can. Each picture is decoded and detected once, before. Everything that keeps a state runs for every
frame: health, online calibration, teams, tracking, outlines, contacts, ball, power. Reported by quarters of the video,
with this process's memory, less the benchmark's own pictures.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence
from functools import partial

import av
import numpy as np
from processor_time import memory_mb

from downfield.calibration.calibration import read_calibration
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.core.frame import Detection, Frame
from downfield.core.platform.process_tuning import tune_process
from downfield.core.track_files import read_roster
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.vision.detection_schedule import DetectionRate, DetectionSchedule
from downfield.vision.pipeline import Vision

PICTURES = 60
QUARTERS = 4

DetectedPicture = tuple[Image, Sequence[Detection] | None]


def main() -> None:
    """Process the video and print the times of each quarter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=4.0, help="length of the video")
    parser.add_argument("--fps", type=float, default=30.0)
    options = parser.parse_args()
    tune_process()
    step_ns, each = round(1e9 / options.fps), round(options.hours * 3600 * options.fps / QUARTERS)
    forward, detector = _pictures(), open_detector()
    own_mb = sum(picture.nbytes for picture in forward) / 1e6
    video = itertools.cycle(list(_detect(detector, forward + forward[-2:0:-1], step_ns)))
    clip = bundled_demo()
    vision = Vision(
        read_calibration(clip.with_suffix(".calibration.json")),
        detector,
        read_roster(clip.with_suffix(".tracks.jsonl")),
    )
    index, took_ms = 0, np.zeros(each)
    for quarter in range(1, QUARTERS + 1):
        contacts, unfit = 0, 0
        for position in range(each):
            image, detections = next(video)
            began = time.perf_counter()
            scene = vision.update(Frame(index, index * step_ns, image), partial(_return, detections))
            took_ms[position] = 1e3 * (time.perf_counter() - began)
            contacts, unfit, index = contacts + len(scene.contacts), unfit + bool(scene.unfit), index + 1
        p50, p99 = np.percentile(took_ms, (50, 99))
        print(
            f"quarter {quarter}: {each} frames, p50 {p50:.2f} ms, p99 {p99:.2f} ms,"
            f" {memory_mb().proportional - own_mb:.0f} MB and {own_mb:.0f} MB of the benchmark's pictures;"
            f" {contacts / each:.1f} pairs near each other, {unfit / each:.1%} unfit",
            flush=True,
        )


def _pictures() -> list[Image]:
    with av.open(str(bundled_demo())) as container:
        frames = itertools.islice(container.decode(video=0), PICTURES)
        return [np.asarray(frame.to_ndarray(format="bgr24", threads=1), dtype=np.uint8) for frame in frames]


def _detect(detector: Detector, pictures: Sequence[Image], step_ns: int) -> Iterator[DetectedPicture]:
    """Yield pictures with their detections."""
    schedule = DetectionSchedule(detector, DetectionRate(), continuous=True)
    for index, image in enumerate(pictures):
        yield image, schedule.detect(Frame(index, index * step_ns, image), 0)


def _return(detections: Sequence[Detection] | None) -> Sequence[Detection] | None:
    return detections


if __name__ == "__main__":
    main()
