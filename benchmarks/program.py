"""Measures the program feed on filmed twin tables: what covers the paint, how far it swims, what it costs.

Run: PYTHONPATH=tests python benchmarks/program.py [--seeds N] [--shake PX] [--cost]

Without options, three looks with 3 px of shake, the camera tracked as the rig tracks it: the share of the figures' edge
pixels on the paint that are within 2 px of the truth, both ways, and how far the paint is from its place on the board.
With `--cost`, the processor time of one picture of the bundled recording, by part, and what 30 a second are of a core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeVar

import cv2
import numpy as np
from program_scenes import edge_errors_px, filmed, lines, paint_seen, painted_area, painter, tracked_cameras

from downfield.broadcast.program.picture_process import program_jpeg
from downfield.broadcast.program.program_feed import PROGRAM_LIMITS
from downfield.broadcast.program.program_painter import ProgramMoment, ProgramPainter
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.core.frame import Frame
from downfield.game.published.stream_topics import ProgramOptions

T = TypeVar("T")

LEARNED_S = [0.4 * number for number in range(30)]
SHOWN_S = [12.1 + 0.37 * number for number in range(4)]


def accuracy(seeds: Sequence[int], shake_px: float) -> None:
    """Print occlusion and swim for each look."""
    for seed in seeds:
        frames = list(filmed(seed, [*LEARNED_S, *SHOWN_S], shake_px))
        program, errors, swim = painter(seed), [], []
        for frame, camera in zip(frames, tracked_cameras(seed, frames), strict=True):
            painted = program.paint(frame.image, frame.scene, lines(), camera).image
            if frame.scene.t_ns < SHOWN_S[0] * 1e9 - 1:
                continue
            area = painted_area(frame.camera)
            errors.append(edge_errors_px(paint_seen(frame.image, painted), frame, area))
            for shape in lines():
                points = np.column_stack([shape.outlines_mm[0], np.zeros(len(shape.outlines_mm[0]))])
                swim.append(np.linalg.norm(frame.camera.to_pixels(points) - camera.to_pixels(points), axis=1))
        edges, away = np.concatenate(errors), np.concatenate(swim)
        sys.stdout.write(
            f"look {seed}, shake {shake_px:g} px: {100 * (edges <= 2).mean():.1f} % of {len(edges)} edge pixels within"
            f" 2 px; swim 95 % {np.percentile(away, 95):.2f} px, most {away.max():.2f} px\n"
        )


def cost() -> None:
    """Print the processor time of a picture."""
    recording = open_clip(bundled_demo())
    assert recording.calibration is not None
    moment = ProgramMoment(None, "dark-28", recording.tracks.header.players)
    views: tuple[Literal["camera", "field"], ...] = ("camera", "field")
    painters = {view: ProgramPainter() for view in views}
    for drawing in painters.values():
        drawing.calibrate(recording.calibration)
    video = cv2.VideoCapture(str(bundled_demo()))
    spent = dict.fromkeys((*views, "JPEG"), 0.0)
    drawn = 0

    def timed(part: str, work: Callable[[], T]) -> T:
        began = time.thread_time()
        result = work()
        spent[part] += time.thread_time() - began
        return result

    for scene in recording.tracks:
        read, image = video.read()
        if not read or scene.frame >= 300:
            break
        frame = Frame(scene.frame, scene.t_ns, np.asarray(image, np.uint8))
        for view, drawing in painters.items():
            options = ProgramOptions(view=view)
            out = timed(view, partial(drawing.draw, frame.image, scene, None, moment, options))
        timed("JPEG", partial(program_jpeg, out))
        drawn += 1
    for view in views:
        each_ms = 1e3 * (spent[view] + spent["JPEG"]) / drawn
        sys.stdout.write(
            f"{view} view: {each_ms:.1f} ms a picture, of these {1e3 * spent['JPEG'] / drawn:.1f} ms JPEG; at"
            f" {PROGRAM_LIMITS.fps:g} a second {each_ms * PROGRAM_LIMITS.fps / 10:.0f} % of a core\n"
        )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shake", type=float, default=3.0)
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    if options.cost:
        cost()
    else:
        accuracy(range(3, 3 + options.seeds), options.shake)


if __name__ == "__main__":
    main()
