"""Measures the vision pipeline on rendered plays: positions, falls, contacts, ball, board power, teams.

Run: python benchmarks/plays.py FOLDER [--make N] [--network NETWORK] [--disturb]

The whole pipeline processes the clips in FOLDER, which have their truth beside them. With `--make N` random plays are
rendered there first (1080p, 60 frames/s, with the twin's test appearances: camera shake, noise and blur too) until
there are N; no constant was fitted on their seeds. With `--disturb` frames are dropped,
frozen and dark now and then (`disturbance_kinds.py`): much is missed then, but nothing false may be reported.
`tracking_tally.py` and `contact_episodes.py` explain the printed figures.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scenes_tally
import tracking_tally
from clip_pipeline import FramePair, run_pipeline
from twin_clips import render_clip

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector

FIRST_SEED, FIRST_APPEARANCE = 91_925, 8_755


def main() -> None:
    """Process the clips and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=Path, metavar="FOLDER")
    parser.add_argument("--make", type=int, default=0, metavar="N", help="render_clip plays until there are so many")
    parser.add_argument("--network", default=BUNDLED, help="a bundled network or a folder")
    parser.add_argument("--disturb", action="store_true", help="drop, freeze and darken frames now and then")
    options = parser.parse_args()
    for number in range(options.make):
        seed = FIRST_SEED + number
        render_clip(options.clips / f"{seed}.mp4", seed, FIRST_APPEARANCE + number, "--fps", "60")
    tracking, scenes, detector = (
        tracking_tally.TrackingTally(),
        scenes_tally.SceneTally(),
        open_detector(options.network),
    )
    for clip in sorted(options.clips.glob("*.mp4")):
        calibration = read_calibration(clip.with_name(clip.stem + ".calibration.json"))
        frames = list(run_pipeline(clip, calibration, detector, scenes.teams, faults=options.disturb))
        if not frames:
            print(f"{clip.name}: no line-up found", flush=True)
            continue
        known = len(tracking.corners_mm)
        tracking_tally.score_play(tracked_play(clip.name, calibration, frames), tracking)
        px_per_mm = _px_per_mm(calibration)
        scenes_tally.score_clip([(pair.true, pair.seen) for pair in frames], px_per_mm, scenes)
        median_mm, p95_mm = np.quantile(tracking.corners_mm[known:] or [math.nan], (0.5, 0.95))
        corner_error = f"corner error {median_mm:.2f} mm, 95 % within {p95_mm:.2f} mm"
        summary = f"{len(frames)} frames, {px_per_mm:.1f} px/mm, {tracking.switches[-1]} switches, {corner_error}"
        print(f"{clip.name}: {summary}", flush=True)
    if not tracking.switches:
        parser.error(f"{options.clips}: no clip with a line-up. Render some with --make 4.")
    tracking_tally.report(tracking)
    scenes_tally.report(scenes)


def tracked_play(name: str, calibration: Calibration, frames: Sequence[FramePair]) -> tracking_tally.TrackedPlay:
    """A clip's truth and tracks, as they are scored."""
    out = tracking_tally.TrackedPlay(name, 1, calibration.field.mm_per_yd_x)
    for pair in frames:
        out.truth.append(pair.true)
        out.seen.append(pair.seen.figures)
        out.boxes.append((list(pair.measurements.detections), pair.measurements.pose[:, :2]))
        out.happened += pair.happened
        out.add_falls(pair.falls, pair.true.t_ns)
    return out


def _px_per_mm(calibration: Calibration) -> float:
    """Return the scale of the picture at the middle of the field."""
    x, y = calibration.field.length_mm / 2, calibration.field.width_mm / 2
    (ax, ay), (bx, by) = calibration.camera.to_pixels(np.array([(x - 0.5, y, 0.0), (x + 0.5, y, 0.0)])).tolist()
    return math.hypot(bx - ax, by - ay)


if __name__ == "__main__":
    main()
