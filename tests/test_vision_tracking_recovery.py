"""Unmatched detections are remembered by place and time."""

from __future__ import annotations

import numpy as np

from downfield.vision.tracking.recovery import UnmatchedDetections

MS = 1_000_000
PLACE = np.array([[50.0, 60.0]])
PLACES = np.array([[51.0, 60.0], [80.0, 60.0]])
NONE = np.zeros((0, 2))


def test_an_unmatched_detection_is_no_figure_that_was_detected_elsewhere_at_the_same_time() -> None:
    unmatched = UnmatchedDetections()
    for at in (0, 30, 60):
        unmatched.update(PLACE, at * MS)
    beside = unmatched.seen_beside(PLACES, np.array([30, 60, 90, -20]) * MS)
    assert beside[:, 0].tolist() == [True, True, False, False]
    assert not beside[:, 1].any()


def test_a_detection_that_stayed_in_one_place_is_remembered_there_for_a_while() -> None:
    for stayed_ms, away_ms, remembered in ((600, 1000, True), (600, 4000, False), (300, 1000, False)):
        unmatched = UnmatchedDetections()
        for at in range(0, stayed_ms + 1, 30):
            unmatched.update(PLACE, at * MS)
        back_ms = stayed_ms + away_ms
        unmatched.update(NONE, back_ms * MS)
        seen_ns = np.array([200, 590, back_ms - 100]) * MS  # of figures, as long as it was there or longer
        fixtures = unmatched.fixtures(PLACES, seen_ns)
        assert fixtures[:, 0].tolist() == [False, remembered, remembered]
        assert not fixtures[:, 1].any()
        assert not unmatched.update(PLACE, (back_ms + 30) * MS).any(), "a detection that is back has to settle again"


def test_an_unmatched_detection_that_moves_is_no_fixture() -> None:
    unmatched = UnmatchedDetections()
    for at in range(0, 1500, 30):
        unmatched.update(np.array([[50.0 + at / 20, 60.0]]), at * MS)
    assert not unmatched.fixtures(np.array([[50.0 + 1470 / 20, 60.0]]), np.array([1400 * MS])).any()


def test_an_unmatched_detection_that_walks_fast_lasts_however_few_frames_there_are() -> None:
    unmatched = UnmatchedDetections()
    walks = [unmatched.update(np.array([[50.0 + 7.0 * k, 60.0]]), k * 67 * MS) for k in range(4)]
    assert [bool(one[0]) for one in walks] == [False, False, False, True]
    jumps = UnmatchedDetections()
    assert not any(jumps.update(np.array([[50.0 + 20.0 * k, 60.0]]), k * 67 * MS).any() for k in range(6))
