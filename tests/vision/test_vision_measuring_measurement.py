"""Measurements of bases on the board."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_measurements import VAGUE, measurements
from simulated_detector import PERFECT, Faults, SimulatedDetector, calibration_of
from tracked_tables import BASE, Table, filmed, look_of, standing

from downfield.vision.measuring.measurement import measure


@settings(max_examples=12)
@given(st.floats(60, 800), st.floats(40, 400), st.floats(-180, 180))
def test_a_perfectly_detected_base_is_measured_where_it_stands(x_mm: float, y_mm: float, heading: float) -> None:
    table = Table({"dark-1": standing(x_mm, y_mm, heading)}, 0.0)
    view = filmed(table)[0][0]
    calibration = calibration_of(view, look_of(table.players))
    measured = measure(SimulatedDetector(PERFECT).detect(view), calibration, BASE.height_mm)
    x, y, turn, length, width = measured.pose[0]
    assert math.hypot(x - x_mm, y - y_mm) < 0.05
    assert abs(math.remainder(turn - math.radians(heading), 2 * math.pi)) < 0.01
    assert abs(length - BASE.length_mm) < 0.1
    assert abs(width - BASE.width_mm) < 0.1


def test_measurement_errors_agree_with_their_covariances() -> None:
    table = Table({"dark-1": standing(300, 200, 20), "light-1": standing(600, 300, -130)}, 0.0)
    view = filmed(table)[0][0]
    calibration = calibration_of(view, look_of(table.players))
    distances = []
    for seed in range(150):
        quiet = Faults(miss=0.0, flip=0.0, double=0.0, false=0.0, wild=0.0, mistake=0.0)
        measured = measure(SimulatedDetector(quiet, seed).detect(view), calibration, BASE.height_mm)
        for pose, cov in zip(measured.pose, measured.covariance, strict=True):
            truth = (300, 200, math.radians(20)) if pose[0] < 450 else (600, 300, math.radians(-130))
            off = pose[:3] - truth
            distances.append(off @ np.linalg.solve(cov[:3, :3], off))
    assert 2.3 < np.mean(distances) < 3.9  # chi squared of 3


def test_a_base_whose_corners_are_one_point_is_measured_anyway() -> None:
    table = Table({"dark-1": standing(300, 200, 0)}, 0.0)
    view = filmed(table)[0][0]
    (detection,) = SimulatedDetector(PERFECT).detect(view)
    flat = dataclasses.replace(detection, corners_px=(detection.corners_px[0],) * 4)
    measured = measure([flat], calibration_of(view, look_of(table.players)), BASE.height_mm)
    assert np.isfinite(measured.pose).all()


def test_a_figure_called_fallen_is_judged_by_its_base_and_helmet() -> None:
    table = Table({"dark-1": standing(300, 200, 0)}, 0.0)
    view = filmed(table)[0][0]
    calibration = calibration_of(view, look_of(table.players))
    (stands,) = SimulatedDetector(PERFECT).detect(view)
    over = dataclasses.replace(stands, kind="fallen", score=1.0)
    assert over.helmet_px is not None
    beside = dataclasses.replace(over, helmet_px=(over.helmet_px[0], over.helmet_px[1] + 40))
    guessed = dataclasses.replace(over, helmet_score=0.2)
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = over.corners_px
    thin = dataclasses.replace(
        over,
        corners_px=(
            (ax, ay),
            (0.7 * ax + 0.3 * bx, 0.7 * ay + 0.3 * by),
            (0.3 * cx + 0.7 * dx, 0.3 * cy + 0.7 * dy),
            (dx, dy),
        ),
    )
    detections = (stands, over, beside, guessed, thin)
    upright, above, aside, unknown, edge = (
        float(measure([detection], calibration, BASE.height_mm).fallen[0]) for detection in detections
    )
    assert upright < above < aside == unknown < 0 < edge - 1  # nothing falls without moving its base


def test_at_the_edge_of_the_board_a_helmet_far_off_its_base_in_the_image_is_over_it() -> None:
    """A standing figure there is visible from its side, like a fallen one."""
    table = Table({"dark-1": standing(1080, 580, 0)}, 0.0)
    view = filmed(table)[0][0]
    (stands,) = SimulatedDetector(PERFECT).detect(view)
    right_px = max(x for x, _ in stands.corners_px)
    assert stands.helmet_px is not None
    assert stands.helmet_px[0] > right_px
    called_fallen = dataclasses.replace(stands, kind="fallen", score=1.0)
    assert measure([called_fallen], calibration_of(view, look_of(table.players)), BASE.height_mm).fallen < 0


def test_covariances_stay_valid_where_the_errors_of_length_and_width_go_together() -> None:
    table = Table({f"dark-{i}": standing(150 + 90 * i, 200, 45) for i in range(6)}, 0.0)
    view = filmed(table)[0][0]
    calibration = calibration_of(view, look_of(table.players))
    detections = SimulatedDetector(PERFECT).detect(view)
    corners = np.array(detections[0].corners_px)
    middle, random = corners.mean(axis=0), np.random.default_rng(0)
    for _ in range(60):
        misshapen = middle + (corners - middle) * random.uniform(0.2, 1.5, 2) + random.normal(0, 2, (4, 2))
        mistaken = dataclasses.replace(
            detections[0],
            corners_px=tuple((float(x), float(y)) for x, y in misshapen),
            corner_scores=tuple(random.uniform(0.02, 0.98, 4).tolist()),
        )
        measured = measure([mistaken, *detections[1:]], calibration, BASE.height_mm)
        assert np.linalg.eigvalsh(measured.covariance).min() > 0


def test_the_vague_place_of_a_base_on_its_edge_explains_no_jump() -> None:
    found = measurements((100.0, 100.0, VAGUE, 0.95, 0.0), (200.0, 100.0, VAGUE, 0.95, 0.0))
    found.fallen[1] = 2.0
    assert found.place_sigma_mm == pytest.approx([math.sqrt(8.0)] * 2)
    assert found.jump_sigma_mm == pytest.approx([math.sqrt(8.0), 0.0])
