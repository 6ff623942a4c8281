"""Unmatched detections are remembered by place and time."""

from __future__ import annotations

import numpy as np
import pytest
from made_measurements import EXACT, measurements

from downfield.vision.tracking.recovery import RECOVERY_LIMITS, LostFigures, UnmatchedDetections, settled_for_far

MS = 1_000_000
PLACE = np.array([[50.0, 60.0]])
PLACES = np.array([[51.0, 60.0], [80.0, 60.0]])
NONE = np.zeros((0, 2))


def test_an_unmatched_detection_is_no_figure_that_was_detected_elsewhere_at_the_same_time() -> None:
    unmatched = UnmatchedDetections()
    for at in (0, 30, 60):
        unmatched.update(PLACE, NONE, at * MS, 22)
    beside = unmatched.seen_beside(PLACES, np.array([30, 60, 90, -20]) * MS)
    assert beside[:, 0].tolist() == [True, True, False, False]
    assert not beside[:, 1].any()


def test_a_detection_that_stayed_in_one_place_is_remembered_there_for_a_while() -> None:
    for stayed_ms, away_ms, remembered in ((600, 1000, True), (600, 4000, False), (120, 1000, False)):
        unmatched = UnmatchedDetections()
        for at in range(0, stayed_ms + 1, 30):
            unmatched.update(PLACE, NONE, at * MS, 22)
        back_ms = stayed_ms + away_ms
        unmatched.update(NONE, NONE, back_ms * MS, 22)
        seen_ns = np.array([200, 590, back_ms - 100]) * MS  # of figures, as long as it was there or longer
        fixtures = unmatched.fixtures(PLACES, seen_ns)
        assert fixtures[:, 0].tolist() == [False, remembered, remembered]
        assert not fixtures[:, 1].any()
        assert not unmatched.update(PLACE, NONE, (back_ms + 30) * MS, 22).any(), (
            "a detection that is back has to settle again"
        )


def test_print_that_is_detected_now_and_then_is_no_figure_once_all_were_detected_beside_it() -> None:
    figures = np.array([[100.0, 100.0], [150.0, 100.0]])
    seen_ns = np.array([-MS, -MS])  # nobody was ever sure
    for all_there in (False, True):
        unmatched = UnmatchedDetections()
        for at in (0, 60, 120, 180, 800, 860):
            unmatched.update(PLACE, figures if all_there else figures[:1], at * MS, len(figures))
        assert unmatched.fixtures(PLACES, seen_ns).tolist() == [[all_there, False]] * 2
    unmatched.update(PLACE, PLACE, 920 * MS, len(figures))
    assert not unmatched.fixtures(PLACES, seen_ns).any(), "what is matched there is a figure"


def test_an_unmatched_detection_that_moves_is_no_fixture() -> None:
    unmatched = UnmatchedDetections()
    for at in range(0, 1500, 30):
        unmatched.update(np.array([[50.0 + at / 20, 60.0]]), NONE, at * MS, 22)
    assert not unmatched.fixtures(np.array([[50.0 + 1470 / 20, 60.0]]), np.array([1400 * MS])).any()


def test_an_unmatched_detection_that_walks_fast_lasts_however_few_frames_there_are() -> None:
    unmatched = UnmatchedDetections()
    walks = [unmatched.update(np.array([[50.0 + 7.0 * k, 60.0]]), NONE, k * 67 * MS, 22) for k in range(4)]
    assert [one[0] >= RECOVERY_LIMITS.settled_ns for one in walks] == [False, False, False, True]
    jumps = UnmatchedDetections()
    assert not any(jumps.update(np.array([[50.0 + 20.0 * k, 60.0]]), NONE, k * 67 * MS, 22).any() for k in range(6))


@pytest.mark.parametrize(("beside_mm", "settled"), [(25.0, False), (60.0, True)])
def test_what_stands_beside_a_surer_detection_lasts_longer_before_it_is_a_figure_lost_far_off(
    beside_mm: float, settled: bool
) -> None:
    found = measurements((100.0, 100.0, EXACT, 0.95, 0.0), (100.0 + beside_mm, 100.0, EXACT, 0.7, 0.0))
    assert settled_for_far(found, np.array([0, 500 * MS])).tolist() == [False, settled]
    assert settled_for_far(found, np.array([0, 1100 * MS])).tolist() == [False, True]
    assert not settled_for_far(found, np.array([0, 300 * MS])).any()


@pytest.mark.parametrize(
    ("away_ms", "off_mm", "fastest_mm_per_s", "too_soon"),
    [
        (500, 70.0, 150.0, False),  # it may have been pushed there
        (300, 70.0, 150.0, True),
        (500, 40.0, 10.0, True),  # the board is off
        (500, 10.0, 10.0, False),
        (1200, 40.0, 10.0, False),  # a hand that nobody noticed
    ],
)
def test_a_lost_figure_is_no_further_off_than_it_may_have_gone_by_now(
    away_ms: int, off_mm: float, fastest_mm_per_s: float, too_soon: bool
) -> None:
    away_ns, yes, no, off = np.array([away_ms * MS]), np.array([True]), np.array([False]), np.array([[off_mm]])
    assert LostFigures(away_ns, yes, yes, no, fastest_mm_per_s).too_soon(off).tolist() == [[too_soon]]
    assert not LostFigures(away_ns, yes, yes, yes, fastest_mm_per_s).too_soon(off).any(), "a hand has it"


@pytest.mark.parametrize(
    ("away_ms", "off_mm", "too_far"), [(500, 79.0, False), (500, 81.0, True), (2000, 140.0, False)]
)
def test_a_lost_figure_walks_only_so_far(away_ms: int, off_mm: float, too_far: bool) -> None:
    away_ns, yes, no, off = np.array([away_ms * MS]), np.array([True]), np.array([False]), np.array([[off_mm]])
    assert LostFigures(away_ns, yes, yes, no).too_far(off).tolist() == [[too_far]]
    assert not LostFigures(away_ns, yes, yes, yes).too_far(off).any(), "a hand has it"
