"""Prints what networks reach on the twin's test pictures and on strangers', as one table with 95 % intervals.

Run: python benchmarks/network_table.py [--network NAME_OR_FOLDER ...] [--data FOLDER] [--only SET] [--worst FILE.jpg]

Single pictures of 1920 x 1080, without test-time augmentation. The twin's test pictures are made where they are
missing, photoreal ones as `benchmarks/network.py` says, strangers' by `benchmarks/strangers.py FOLDER/strangers`.
Intervals are bootstraps over tables. `--worst` draws the first network's worst figures on strangers' pictures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from network_measures import front_certainty, fronts_right, interval
from network_sets import PICTURES, picture_sets
from worst_figures import Scored, worst_sheet

from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector
from downfield.training.evaluation.measures import (
    Frames,
    ball_precision,
    ball_recall,
    fallen_f1,
    hand_precision,
    hand_recall,
    precision,
    recall,
    turned,
)
from downfield.training.evaluation.scoring import WELL_SEEN, pictures_of, score_frame

STRANGERS: Final = "strangers"
BALL_SEEN: Final = 0.7
"""Share of a ball from which it is to be found."""

Statistic = Callable[[Frames], float]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    Attributes:
        name: what it shows.
        of: its statistics, in the order they are printed.
        goals: wanted values, on the twin's pictures and on strangers'.
        unit: printed behind them.
        places: decimals.
    """

    name: str
    of: tuple[Statistic, ...]
    goals: tuple[str, str]
    unit: str = "%"
    places: int = 1


def right_corners_mm(frames: Frames, percentile: float) -> float:
    """A percentile of the corners' errors of well seen, standing figures whose front is right, mm."""
    errors = np.concatenate(
        [frame.corners_mm[(frame.visible >= WELL_SEEN) & (frame.heading_deg < 90)].ravel() for frame in frames]
    )
    errors = errors[np.isfinite(errors)]
    return float(np.percentile(errors, percentile)) if len(errors) else np.nan


def within_sigma(frames: Frames) -> float:
    """Share of the errors of seen corners, along x and along y, that are within the standard deviation said."""
    ratios = np.concatenate(
        [
            (np.abs(frame.corners_px) / frame.sigmas_px[..., None])[
                frame.corners_seen & (frame.heading_deg < 90)[:, None]
            ].ravel()
            for frame in frames
        ]
    )
    ratios = ratios[np.isfinite(ratios)]
    return float((ratios <= 1).mean()) if len(ratios) else np.nan


ROWS: Final = (
    Row(
        "recall / precision, 30 % of the base top seen",
        (partial(recall, least_visible=WELL_SEEN), precision),
        ("99.7 / 99.7", "99.5 / 99.5"),
    ),
    Row("heading wrong by over 90 deg", (turned,), ("0.3", "2")),
    Row("fallen F1", (fallen_f1,), ("0.98", "0.95"), "", 2),
    Row(
        "corners right way round, median / p95",
        (partial(right_corners_mm, percentile=50), partial(right_corners_mm, percentile=95)),
        ("0.3 / 1.2", "0.5 / 2"),
        "mm",
        2,
    ),
    Row(
        "ball recall / precision, 70 % of it seen",
        (partial(ball_recall, least_shown=BALL_SEEN), ball_precision),
        ("97 / 95", "92 / 92"),
    ),
    Row("hands recall / precision", (hand_recall, hand_precision), ("95 / 98", "90 / 95")),
    Row("front: how sure / right", (front_certainty, fronts_right), ("alike", "alike")),
    Row("share of errors within one said sigma", (within_sigma,), ("64 to 72", "60 to 76")),
)


def main() -> None:
    """Measure, and print a table for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", help="a bundled network or a folder; may be repeated")
    parser.add_argument("--data", type=Path, default=Path("data/test"), help="folder of the test sets")
    parser.add_argument("--only", action="append", metavar="SET", help="measure this set alone; may be repeated")
    parser.add_argument("--backend", default="auto", help="openvino, onnxruntime or auto")
    parser.add_argument("--worst", type=Path, metavar="FILE.jpg", help="draw the worst figures of strangers")
    parser.add_argument("--pictures", type=int, default=PICTURES, help="least number in the twin's set")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    sets = picture_sets(options.data, options.pictures, options.only or ())
    if not sets:
        parser.error(f"{options.data}: no set of {', '.join(options.only)}. `strangers.py` makes strangers' pictures.")
    for number, network in enumerate(options.network or [BUNDLED]):
        scored = {name: score(folder, network, options.backend) for name, folder in sets.items()}
        print_table(network, scored)
        if number == 0 and options.worst is not None and STRANGERS in scored:
            cv2.imwrite(str(options.worst), worst_sheet(scored[STRANGERS]), [cv2.IMWRITE_JPEG_QUALITY, 80])


def score(folder: Path, network: str, backend: str = "auto") -> list[Scored]:
    """Return the test pictures of a set with a network's detections."""
    detector = open_detector(network, backend=backend)
    out = []
    for sample, image in pictures_of(folder, "test"):
        detections = detector.detect(image)
        out.append(Scored(sample, folder / sample.image, detections, score_frame(sample, detections)))
    return out


def print_table(network: str, scored: Mapping[str, Sequence[Scored]]) -> None:
    """Print a table in Markdown."""
    columns = {name: [one.score for one in pictures] for name, pictures in scored.items()}
    counts = {name: sum(len(frame.found) for frame in frames) for name, frames in columns.items()}
    print(f"\n| {network} | goals, twin / strangers | {' | '.join(columns)} |")
    print(f"|---|---|{'---|' * len(columns)}")
    pictures_and_figures = " | ".join(f"{len(columns[name])}, {counts[name]}" for name in columns)
    print(f"| pictures, figures | | {pictures_and_figures} |")
    for row in ROWS:
        cells = " | ".join(_cell(row, frames) for frames in columns.values())
        print(f"| {row.name} | {row.goals[0]}; {row.goals[1]} | {cells} |", flush=True)


def _cell(row: Row, frames: Frames) -> str:
    scale = 100.0 if row.unit == "%" else 1.0
    texts = []
    for statistic in row.of:
        value, low, high = (scale * part for part in interval(frames, statistic))
        if not np.isfinite(value):
            texts.append("none")
            continue
        texts.append(f"{value:.{row.places}f} [{low:.{row.places}f}, {high:.{row.places}f}]")
    return f"{' / '.join(texts)} {row.unit}".rstrip()


if __name__ == "__main__":
    main()
