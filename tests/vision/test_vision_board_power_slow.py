"""Board power on slow boards, 10 to 20 mm/s, where a figure moves no farther between frames than it is measured."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_detector import SimulatedDetector, calibration_of, classify_jerseys
from tracked_tables import FIELD, Path, Table, filmed, look_of, roster_of

from downfield.core.footprint import BaseSize, Footprint
from downfield.core.scene import Power
from downfield.vision.board.power import PowerDetector
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import measure
from downfield.vision.tracking.initialization import LineUpSearch
from downfield.vision.tracking.tracker import Tracker

FRAME_NS = 16_666_667
COVARIANCE = np.diag([0.05, 0.05, 1e-4])
NOTICED_S = 0.4
"""A slow board is noticed within this: at 10 mm/s a figure moves 4 mm."""


def walks_between(x_mm: float, y_mm: float, heading_deg: float, mm_s: float, on_s: float, off_s: float) -> Path:
    """A path ahead while the board is on."""
    turn = math.radians(heading_deg)

    def path(t_s: float) -> tuple[float, float, float]:
        way = mm_s * (min(max(t_s, on_s), off_s) - on_s)
        return x_mm + way * math.cos(turn), y_mm + way * math.sin(turn), heading_deg

    return path


def readings(table: Table) -> list[tuple[float, Power]]:
    """The power read in each frame, by tracks that follow from what was read before, as in the pipeline."""
    detector, search, reader = SimulatedDetector(), LineUpSearch(FIELD, roster_of(table)), PowerDetector()
    tracker: Tracker | None = None
    power: Power = "unknown"
    out = []
    for view, _, t_s in filmed(table):
        detections, calibration = detector.detect(view), calibration_of(view, look_of(table.players))
        if tracker is None:
            found = search.update(measure(detections, calibration, search.height_mm), view.t_ns)
            tracker = None if found is None else Tracker(found, view.t_ns)
            continue
        measurements = classify_jerseys(measure(detections, calibration, tracker.height_mm), view)
        power = reader.step(tracker.update(measurements, view.t_ns, power=power), view.t_ns).power
        out.append((t_s, power))
    return out


@pytest.mark.parametrize("mm_s", [10.0, 15.0, 20.0])
def test_a_slow_board_is_on_while_it_runs_and_off_before_and_after(mm_s: float) -> None:
    on_s, off_s, random = 0.5, 1.9, np.random.default_rng(int(mm_s))
    paths = {
        f"{team}-{i}": walks_between(
            x_mm,
            60 + 90 * i,
            heading_deg + random.uniform(-15, 15),
            mm_s * random.uniform(0.9, 1.2) * (i > 0),
            on_s,
            off_s,
        )
        for team, x_mm, heading_deg in (("dark", 300.0, 0.0), ("light", 600.0, 180.0))
        for i in range(5)  # the first of each team is blocked
    }
    table = Table(paths, 2.6, power=lambda t_s: on_s <= t_s < off_s)
    for t_s, power in readings(table):
        if on_s + NOTICED_S <= t_s < off_s:
            assert power == "on", t_s
        elif t_s >= off_s + NOTICED_S or 0.2 < t_s < on_s:
            assert power == "off", t_s


def frame(at: np.ndarray, noise_mm: float, random: np.random.Generator) -> list[Estimate]:
    """Figures at these places, measured with noise."""
    seen = at + random.normal(0, noise_mm, at.shape)
    return [
        Estimate(f"dark-{i}", "dark", Footprint(float(x), float(y), 0.0, BaseSize()), COVARIANCE, np.zeros(3))
        for i, (x, y) in enumerate(seen)
    ]


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), mm_s=st.floats(10.0, 25.0), noise_mm=st.floats(0.02, 0.15))
def test_slow_boards_are_never_read_off_while_they_run(seed: int, mm_s: float, noise_mm: float) -> None:
    random = np.random.default_rng(seed)
    at, turn = random.uniform(0, 500, (22, 2)), random.uniform(-np.pi, np.pi, 22)
    velocity = mm_s * np.stack([np.cos(turn), np.sin(turn)], axis=1) * (np.arange(22) < 16)[:, None]
    reader = PowerDetector()
    for i in range(240):
        on = 60 <= i < 180
        at = at + velocity * on * FRAME_NS / 1e9
        power = reader.step(frame(at, noise_mm, random), i * FRAME_NS).power
        if i >= 12 and not 60 <= i < 84 and not 180 <= i < 204:
            assert power == ("on" if on else "off"), i


def test_two_figures_that_a_hand_pushes_slowly_do_not_switch_the_board_on() -> None:
    random, reader, at = np.random.default_rng(3), PowerDetector(), np.random.default_rng(4).uniform(0, 500, (22, 2))
    states = set()
    for i in range(120):
        at[:2] += 15.0 * FRAME_NS / 1e9
        states.add(reader.step(frame(at, 0.1, random), i * FRAME_NS).power)
    assert "on" not in states


def test_a_single_shift_of_all_figures_is_no_slow_movement() -> None:
    random, reader, at = np.random.default_rng(5), PowerDetector(), np.random.default_rng(6).uniform(0, 500, (22, 2))
    states = []
    for i in range(120):
        at = at + (0.9 if i == 60 else 0.0)  # as when the camera is calibrated anew
        states.append(reader.step(frame(at, 0.02, random), i * FRAME_NS).power)
    assert states[70:] == ["off"] * 50
