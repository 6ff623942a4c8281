"""Measures the refinement of outlines on rendered pictures, from starts with the network's errors.

Make the pictures first, then give their folder and split:

downfield twin dataset out/set --split val --count 40 --per-table 2
python benchmarks/refine.py out/set val [every nth picture]
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import cast

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.footprint import BaseSize, Footprint
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.dataset import read_samples
from downfield.twin.sets.labels import FigureLabel, Sample
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.refinement import RefinedOutline, refine_outlines

START_MM, START_DEG = 0.4, 1.0
"""Standard deviations of the start; corners are off by 0.6 mm in each direction."""

LEAST_VISIBLE = 0.2
EDGE_PX = 4


def true_footprints(sample: Sample, image: Image) -> list[tuple[FigureLabel, Footprint]]:
    """Return the true footprints of bases that are visible enough, by the corners of their tops."""
    out = []
    limit = np.array(image.shape[1::-1]) - EDGE_PX
    for figure in sample.labels.figures:
        px = np.array(figure.corners_px)
        inside = bool((px > EDGE_PX).all() and (px < limit).all())
        if (
            figure.kind != "upright"
            or figure.tilt_deg > 3
            or figure.in_hand
            or figure.visible < LEAST_VISIBLE
            or not inside
        ):
            continue
        size = BaseSize(*figure.base_mm)
        corners = sample.calibration.camera.to_board(px, size.height_mm)
        (x, y), ahead = corners.mean(axis=0), corners[0] + corners[1] - corners[2] - corners[3]
        heading = math.degrees(math.atan2(ahead[1], ahead[0]))
        out.append((figure, Footprint(float(x), float(y), heading, size)))
    return out


def perturbed(figure: FigureLabel, at: Footprint, rng: np.random.Generator) -> Estimate:
    """Return an estimate with the network's errors."""
    x, y, turn = rng.standard_normal(3) * (START_MM, START_MM, START_DEG)
    there = Footprint(at.x_mm + x, at.y_mm + y, at.heading_deg + turn, at.size)
    covariance = np.diag([START_MM**2, START_MM**2, math.radians(START_DEG) ** 2])
    return Estimate(figure.id, figure.jersey, there, covariance, np.zeros(3))


def row(figure: FigureLabel, at: Footprint, start: Estimate, found: RefinedOutline) -> tuple[float, ...]:
    """Return visible share, support, corner errors before and after, mm, squared error over variance per dimension."""
    off = np.array([found.footprint.x_mm - at.x_mm, found.footprint.y_mm - at.y_mm, 0.0])
    off[2] = math.radians(math.remainder(found.footprint.heading_deg - at.heading_deg, 360.0))
    square = float(off @ np.linalg.solve(found.covariance, off)) / 3
    before, after = (_corner_error_mm(one, at) for one in (start.footprint, found.footprint))
    return figure.visible, found.support, before, after, square


def _corner_error_mm(one: Footprint, other: Footprint) -> float:
    return float(np.linalg.norm(one.corners_mm() - other.corners_mm(), axis=1).mean())


def show(name: str, rows: Array) -> None:
    """Prints one line."""
    if len(rows):
        before, after, square = rows[:, 2], rows[:, 3], rows[:, 4]
        print(
            f"  {name:<16}{len(rows):5d}  corners: {np.median(before):.2f} mm, refined {np.median(after):.2f},"
            f" p95 {np.percentile(after, 95):.2f};  error^2 / variance {square.mean():.2f},"
            f" inside 95 % {np.mean(square < 7.81 / 3):.1%}"
        )


def main() -> None:
    """Refine the outlines of a folder's pictures and print the errors."""
    folder, split = Path(sys.argv[1]), cast("Split", sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng, rows, count, seconds = np.random.default_rng(0), [], 0, 0.0
    for number, sample in enumerate(read_samples(folder, split)):
        if number % every:
            continue
        image = np.asarray(cv2.imread(str(folder / sample.image)), dtype=np.uint8)
        known = true_footprints(sample, image)
        starts = [perturbed(figure, at, rng) for figure, at in known]
        begin = time.process_time()
        found = refine_outlines(image, sample.calibration.camera, starts)
        seconds += time.process_time() - begin
        count += len(known)
        for (figure, at), start, one in zip(known, starts, found, strict=True):
            if one is not None:
                rows.append(row(figure, at, start, one))
    table = np.array(rows).reshape(-1, 5)
    print(f"{folder}: {len(table)} of {count} bases refined, {1e3 * seconds / max(count, 1):.2f} ms of CPU time each")
    show("all", table)
    show("seen over 0.6", table[table[:, 0] > 0.6])
    show("seen below 0.6", table[table[:, 0] <= 0.6])
    show("support over 0.6", table[table[:, 1] > 0.6])


if __name__ == "__main__":
    main()
