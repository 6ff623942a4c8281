"""Non-maximum suppression keeps the best of duplicates, in order, up to a limit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.frame import Detection
from downfield.models.suppression import non_maximum_suppression


def kept_places(places: list[float], reach: float, limit: int | None = None) -> list[float]:
    """The places that are kept, best first, where nearer ones are duplicates."""
    at = np.array(places)
    rows = non_maximum_suppression(len(at), lambda row, rest: np.abs(at[rest] - at[row]) < reach, limit)
    return [places[row] for row in rows]


def test_duplicates_of_the_best_are_dropped_and_those_of_dropped_ones_are_not() -> None:
    assert kept_places([0.0, 0.8, 1.5], 1.0) == [0.0, 1.5]


def test_no_more_than_the_limit_are_kept() -> None:
    assert kept_places([0.0, 5.0, 10.0], 1.0, limit=2) == [0.0, 5.0]


@given(st.lists(st.floats(-50, 50), max_size=30), st.floats(0.1, 20))
def test_kept_places_are_apart_and_every_dropped_one_has_a_better_neighbor(places: list[float], reach: float) -> None:
    kept = kept_places(places, reach)
    assert all(abs(a - b) >= reach for i, a in enumerate(kept) for b in kept[:i])
    for row, place in enumerate(places):
        assert place in kept or any(abs(place - better) < reach for better in places[:row])


def hand(x_px: float, score: float = 0.8) -> Detection:
    return Detection("hand", score, (x_px - 40, 0.0, x_px + 40, 80.0), helmet_px=(x_px, 60.0), helmet_score=0.9)
