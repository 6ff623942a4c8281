"""The halt detector notices in a few frames that all figures stop at once, and ignores a few that stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.board.power import HaltDetector
from downfield.vision.contacts.contact_tracker import ContactTracker
from downfield.vision.measuring.estimate import Estimate

FRAME_S = 1 / 60
STOPS_S = 0.5
SURE = 0.95
BASE = BaseSize(30.0, 18.0, 5.5, 1.0)
COVARIANCE = np.diag([0.3**2, 0.3**2, 0.01**2])

Way = Callable[[float], float]
"""From seconds to the way a figure has gone, mm."""


def goes(mm_s: float) -> Way:
    return lambda t_s: mm_s * t_s


def stops(mm_s: float) -> Way:
    return lambda t_s: mm_s * min(t_s, STOPS_S)


def figure(id_: str, x: float, y: float, heading_deg: float, mm_s: float, *, fresh: bool = True) -> Estimate:
    velocity = np.array([mm_s * math.cos(math.radians(heading_deg)), mm_s * math.sin(math.radians(heading_deg)), 0.0])
    footprint = Footprint(x, y, heading_deg, BASE)
    return Estimate(id_, "dark" if id_ < "e" else "light", footprint, COVARIANCE, velocity, fresh=fresh)


def halts(ways: Sequence[Way], *, noise_mm: float = 0.1, seed: int = 0, fps: float = 60.0) -> list[float]:
    """The times at which a halt is reported."""
    rng, detector, out = np.random.default_rng(seed), HaltDetector(), []
    for t_s in np.arange(0, 1.0, 1 / fps).tolist():
        jitter = rng.normal(0, noise_mm, (len(ways), 2))
        seen = [
            figure(f"light-{row}", way(t_s) + dx, 40.0 * row + dy, 0.0, 0.0)
            for row, (way, (dx, dy)) in enumerate(zip(ways, jitter.tolist(), strict=True))
        ]
        if detector.step(seen, round(t_s * 1e9)):
            out.append(t_s)
    return out


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_halt_of_all_figures_is_reported_within_two_frames(fps: float) -> None:
    reported = halts([stops(speed) for speed in (20, 30, 40, 60, 80, 100)], fps=fps)
    assert reported
    assert STOPS_S < reported[0] <= STOPS_S + 2.5 / min(fps, 60.0)


@example(389, [15.0] * 6)  # few and slow: by jitter alone they fall short by more than half of their way
@given(st.integers(0, 10_000), st.lists(st.floats(15, 120), min_size=6, max_size=22))
def test_figures_that_go_on_are_no_halt(seed: int, speeds: list[float]) -> None:
    assert not halts([goes(speed) for speed in speeds], noise_mm=0.15, seed=seed)


@pytest.mark.parametrize("some", [1, 2, 4])
def test_a_few_figures_that_stop_are_no_halt(some: int) -> None:
    assert not halts([stops(60)] * some + [goes(60)] * 8)


def test_too_few_figures_report_nothing() -> None:
    assert not halts([stops(60)] * 4)


def test_figures_that_were_not_measured_are_ignored() -> None:
    detector = HaltDetector()
    for number in range(40):
        t_s = number * FRAME_S
        gone = [figure(f"light-{row}", 60 * min(t_s, 0.3), 40.0 * row, 0.0, 0.0, fresh=t_s < 0.3) for row in range(8)]
        assert not detector.step(gone, round(t_s * 1e9))


def lasting_probability(others: Way, *, off: bool) -> float:
    """The highest probability in two of three frames that two figures touch which come to stand 0.6 mm apart."""
    tracker, rng = ContactTracker(), np.random.default_rng(3)
    probabilities: list[float] = []
    for t_s in np.arange(0, 1.0, FRAME_S).tolist():
        mm_s = 50.0 if t_s < STOPS_S else 0.0
        figures = [
            figure("dark-1", 100 + stops(50)(t_s) - 25 + rng.normal(0, 0.05), 0.0, 0.0, mm_s),
            figure("light-1", 130.6 + rng.normal(0, 0.05), 0.0, 180.0, 0.0),
            *(figure(f"light-{row}", 300 + others(t_s), 60.0 * row, 0.0, mm_s) for row in range(2, 9)),
        ]
        known_off = off and t_s > STOPS_S + 0.09
        contacts = tracker.step(figures, round(t_s * 1e9), power="off" if known_off else "on")
        probabilities.append(next((contact.probability for contact in contacts if contact.a == "dark-1"), 0.0))
    return max(sorted(probabilities[i : i + 3])[1] for i in range(len(probabilities) - 2))


def test_a_figure_that_stops_with_all_others_touches_nobody() -> None:
    assert lasting_probability(stops(50), off=True) < SURE


def test_a_figure_that_stops_while_others_go_on_touches() -> None:
    assert lasting_probability(goes(50), off=False) > SURE
