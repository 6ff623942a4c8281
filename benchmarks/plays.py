"""How well rendered plays are seen: who is where, falls, contacts, ball, board power, teams.

Run: python benchmarks/plays.py FOLDER [--make N] [--network NETWORK] [--disturb]

The whole pipeline sees the pictures of the clips in FOLDER, which have their truth beside them. With `--make` random
plays are rendered there first (1080p, 60 frames/s, by both renderers in turn, with the twin's test looks: camera shake,
noise and blur too) until there are so many; no constant was fitted on their seeds. With `--disturb` pictures are lost,
frozen and dark now and then (`disturbances.py`): much is missed then, and what counts is that nothing is said wrongly.
What is printed is told in `tracking_tally.py` and `contact_episodes.py`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scenes_tally
import tracking_tally
from making import render
from watching import Moment, watched

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector

SEED, LOOK = 91_925, 8_755  # the first of both
RENDERERS = ("compositor", "mujoco")


def main() -> None:
    """Watch clips and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path, metavar="FOLDER")
    parser.add_argument("--make", type=int, default=0, metavar="N", help="render plays until there are so many")
    parser.add_argument("--network", default=BUNDLED, help="a bundled one or a folder")
    parser.add_argument("--disturb", action="store_true", help="lose, freeze and darken pictures now and then")
    options = parser.parse_args()
    for number, renderer in zip(range(options.make), itertools.cycle(RENDERERS), strict=False):
        render(options.clips / f"{SEED + number}.mp4", SEED + number, LOOK + number, renderer, "--fps", "60")
    tracking, scenes, detector = tracking_tally.Tally(), scenes_tally.Tally(), open_detector(options.network)
    for clip in sorted(options.clips.glob("*.mp4")):
        calibration = read_calibration(clip.with_name(clip.stem + ".calibration.json"))
        moments = list(watched(clip, calibration, detector, scenes.teams, disturb=options.disturb))
        if not moments:
            print(f"{clip.name}: nobody lined up", flush=True)
            continue
        known = len(tracking.corners_mm)
        tracking_tally.judge(_tracked(clip.name, calibration, moments), tracking)
        px_per_mm = _px_per_mm(calibration)
        scenes_tally.judge([(one.true, one.seen) for one in moments], px_per_mm, scenes)
        median_mm, p95_mm = np.quantile(tracking.corners_mm[known:] or [math.nan], (0.5, 0.95))
        off = f"corners {median_mm:.2f} and {p95_mm:.2f} mm off"
        told = f"{len(moments)} frames, {px_per_mm:.1f} px/mm, {tracking.switches[-1]} switches, {off}"
        print(f"{clip.name}: {told}", flush=True)
    if not tracking.switches:
        parser.error(f"{options.clips}: no clip in which anybody lined up; --make 4 renders some")
    tracking_tally.report(tracking)
    scenes_tally.report(scenes)


def _tracked(name: str, calibration: Calibration, moments: Sequence[Moment]) -> tracking_tally.Watched:
    out = tracking_tally.Watched(name, 1, calibration.field.mm_per_yd_x)
    for one in moments:
        out.truth.append(one.true)
        out.seen.append(one.seen.figures)
        out.boxes.append((list(one.sightings.detections), one.sightings.pose[:, :2]))
        out.happened += one.happened
        out.see_falls(one.falls, one.true.t_ns)
    return out


def _px_per_mm(calibration: Calibration) -> float:
    """How large the camera shows the middle of the field."""
    x, y = calibration.field.length_mm / 2, calibration.field.width_mm / 2
    (ax, ay), (bx, by) = calibration.camera.to_pixels(np.array([(x - 0.5, y, 0.0), (x + 0.5, y, 0.0)])).tolist()
    return math.hypot(bx - ax, by - ay)


if __name__ == "__main__":
    main()
