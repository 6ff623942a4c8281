"""Whether hours of play make seeing slower or larger.

python benchmarks/endurance.py [--hours 4] [--fps 30]

The bundled clip's first seconds run there and back as one film whose times go on, as fast as this computer can. What
the network finds in each picture it finds once, before; the pictures are unpacked once, too. All that remembers
anything runs anew for every frame, on the pictures: health, the calibration's keeper, teams, tracking, outlines,
contacts, ball, power. Told by quarters of the film.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import av
import cv2
import numpy as np

from downfield.calibration.calibration import read_calibration
from downfield.core.arrays import Image
from downfield.core.frame import Detection, Frame
from downfield.core.roster import read_roster
from downfield.models.opening import open_detector
from downfield.rig.recording.clip import bundled_demo
from downfield.vision.detection_schedule import DetectionRate, DetectionSchedule
from downfield.vision.pipeline import Vision

PICTURES = 120
QUARTERS = 4

Looked = tuple[Image, Sequence[Detection] | None]


def main() -> None:
    """Watch the film and print what each quarter of it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=4.0, help="of film")
    parser.add_argument("--fps", type=float, default=30.0)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    step_ns, each = round(1e9 / options.fps), round(options.hours * 3600 * options.fps / QUARTERS)
    there = _pictures()
    film = itertools.cycle(list(_looked_at(there + there[-2:0:-1], step_ns)))
    clip = bundled_demo()
    vision = Vision(
        read_calibration(clip.with_suffix(".calibration.json")),
        open_detector(),
        read_roster(clip.with_suffix(".tracks.jsonl")),
    )
    index, took_ms = 0, np.zeros(each)
    for quarter in range(1, QUARTERS + 1):
        contacts, unfit = 0, 0
        for place in range(each):
            image, found = next(film)
            began = time.perf_counter()
            scene = vision.update(Frame(index, index * step_ns, image), partial(_same, found))
            took_ms[place] = 1e3 * (time.perf_counter() - began)
            contacts, unfit, index = contacts + len(scene.contacts), unfit + bool(scene.unfit), index + 1
        p50, p99 = np.percentile(took_ms, (50, 99))
        print(
            f"quarter {quarter}: {each} frames, p50 {p50:.2f} ms, p99 {p99:.2f} ms, {_memory_mb():.0f} MB;"
            f" {contacts / each:.1f} pairs near each other, {unfit / each:.1%} unfit",
            flush=True,
        )


def _pictures() -> list[Image]:
    with av.open(str(bundled_demo())) as container:
        frames = itertools.islice(container.decode(video=0), PICTURES)
        return [np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8) for frame in frames]


def _looked_at(pictures: Sequence[Image], step_ns: int) -> Iterator[Looked]:
    """Pictures with what is found in each; none of them is left out."""
    schedule = DetectionSchedule(open_detector(), DetectionRate(), continuous=True)
    for index, image in enumerate(pictures):
        yield image, schedule.detect(Frame(index, index * step_ns, image), 0)


def _same(found: Sequence[Detection] | None) -> Sequence[Detection] | None:
    return found


def _memory_mb() -> float:
    """What this process holds of the computer's memory; Linux."""
    held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return held * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
