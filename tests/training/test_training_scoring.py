"""Scoring of detectors: faults put in by hand come out as the figures that name them."""

from __future__ import annotations

import numpy as np
import pytest
from network_measures import interval
from twin_tables import FIELD, SQUARE, camera_over

from downfield.calibration.calibration import Calibration
from downfield.core.footprint import Footprint
from downfield.core.frame import Detection, DetectionKind
from downfield.training.evaluation.measures import corner_mm, fallen_f1, precision, recall, sigma_ratio, turned
from downfield.training.evaluation.scoring import score_frame
from downfield.twin.sets.labels import FigureLabel, Labels, Sample

KNOWN = Calibration(FIELD, camera_over((1280, 720), tilt_deg=10.0), "truth")
PLACES = [(100.0 + 60 * i, 80.0 + 30 * (i % 4), 40.0 * i) for i in range(8)]


def corners(x: float, y: float, heading: float) -> tuple[tuple[float, float], ...]:
    base = Footprint(x, y, heading, SQUARE).corners_mm()
    pixels = KNOWN.camera.to_pixels(np.column_stack([base, np.full(4, SQUARE.height_mm)]))
    return tuple((float(u), float(v)) for u, v in pixels)


def label(i: int, shown: float = 1.0) -> FigureLabel:
    x, y, heading = PLACES[i]
    return FigureLabel(
        id=f"dark-{i}",
        jersey="dark",
        kind="fallen" if i == 7 else "upright",
        box_px=(0.0, 0.0, 1.0, 1.0),
        corners_px=corners(x, y, heading),
        corners_visible=(True,) * 4,
        visible=shown,
        shown=shown,
        helmet_px=(0.0, 0.0),
        helmet_visible=True,
        position_mm=(x, y, 0.0),
        heading_deg=heading,
        tilt_deg=0.0,
        base_mm=(SQUARE.length_mm, SQUARE.width_mm, SQUARE.height_mm, 0.0),
        in_hand=False,
    )


def sample(*labels: FigureLabel, table: int = 0) -> Sample:
    return Sample(0, "", "val", table, False, "compositor", False, KNOWN, Labels(labels, ()))


def seen(i: int, off_mm: float = 0.0, turn: float = 0.0) -> Detection:
    x, y, heading = PLACES[i]
    kind: DetectionKind = "fallen" if i == 7 else "upright"
    return Detection(kind, 0.9, (0.0, 0.0, 1.0, 1.0), corners(x + off_mm, y, heading + turn), (1.0,) * 4, (2.0,) * 4)


def test_a_detector_that_sees_the_truth_has_no_faults() -> None:
    score = score_frame(sample(*map(label, range(8))), [seen(i) for i in reversed(range(8))])
    assert (recall([score], 0.3), precision([score]), fallen_f1([score]), turned([score])) == (1, 1, 1, 0)
    assert corner_mm([score], 100) == pytest.approx(0, abs=1e-6)


def test_every_fault_is_counted_as_what_it_is() -> None:
    said = [seen(0, off_mm=1.5), seen(1, turn=180), seen(2), seen(7), seen(5)]
    score = score_frame(sample(*map(label, (0, 1, 2, 3, 7))), said)
    assert recall([score], 0.3) == pytest.approx(4 / 5)
    assert precision([score]) == pytest.approx(4 / 5)
    assert turned([score]) == pytest.approx(1 / 3)
    assert np.nanmax(score.corners_mm[0]) == pytest.approx(1.5, abs=1e-6)
    assert np.isnan(score.corners_mm[4]).all()  # a fallen base's corners are not at its height


def test_what_hardly_shows_is_neither_missed_nor_a_false_alarm() -> None:
    truth = sample(label(0), label(1, shown=0.05))
    for said in ([seen(0)], [seen(0), seen(1)]):
        score = score_frame(truth, said)
        assert recall([score], 0.0) == 1
        assert precision([score]) == 1


def test_sigmas_that_are_true_have_a_ratio_of_one() -> None:
    rng = np.random.default_rng(1)
    scores = []
    for table in range(60):
        said = []
        for i in range(7):
            one = seen(i)
            points = np.array(one.corners_px) + rng.normal(0, 2.0, (4, 2))
            noisy = tuple((float(u), float(v)) for u, v in points)
            said.append(Detection(one.kind, 0.9, one.box_px, noisy, (1.0,) * 4, (2.0,) * 4))
        scores.append(score_frame(sample(*map(label, range(7)), table=table), said))
    value, low, high = interval(scores, sigma_ratio)
    assert low < value < high
    assert value == pytest.approx(1.0, abs=0.05)
