"""A figure that has just fallen is where it lies, not at what is still detected where it stood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_measurements import EXACT, measurements

from downfield.core.arrays import Bools
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import Assignment
from downfield.vision.tracking.matching import prefer_fallen

STOOD, LIES, FAR = 0, 1, 2
"""Detections: where the figure stood, of the figure that lies 20 mm beside it, and another figure's."""
DARK = np.array([-1.0, -1.0])
STANDING = np.array([False, False])


def seen(standing_score: float, lying_score: float, *, light: float = -3.0, edgewise: bool = True) -> Measurements:
    """The three detections; the second is called fallen."""
    out = measurements(
        (200.0, 200.0, EXACT, standing_score, -3.0),
        (200.0, 220.0, EXACT, lying_score, light),
        (400.0, 200.0, EXACT, 0.95, -3.0),
    )
    size_mm = np.array([(30.0, 18.0), (30.0, 4.0 if edgewise else 18.0), (30.0, 18.0)])
    signs = replace(out.signs, called_fallen=np.array([False, True, False]), size_mm=size_mm)
    return replace(out, signs=signs)


def matched(found: Measurements, lies: Bools = STANDING, *, both: bool = True) -> list[int]:
    """The detections of the two figures, of which the second is seen unless only one is."""
    places = np.array([(200.0, 200.0), (400.0, 200.0) if both else (210.0, 240.0)])
    off_mm = np.linalg.norm(places[:, None] - found.pose[None, :, :2], axis=2)
    figures, detections = (np.array(one[: 2 if both else 1]) for one in ([0, 1], [STOOD, FAR]))
    pairs = Assignment(figures, detections, np.zeros(len(figures), dtype=bool))
    out: list[int] = prefer_fallen(pairs, found, off_mm, DARK, lies).detections.tolist()
    return out


def test_a_figure_lies_beside_its_place_when_that_is_far_surer_than_what_is_detected_there() -> None:
    assert matched(seen(0.5, 0.95)) == [LIES, FAR]
    assert matched(seen(0.9, 0.95)) == [STOOD, FAR], "a figure that stands beside one that lies"


def test_a_figure_that_is_believed_to_lie_stays_where_it_lies_as_soon_as_that_is_surer() -> None:
    assert matched(seen(0.7, 0.8), np.array([True, False])) == [LIES, FAR]
    assert matched(seen(0.8, 0.7), np.array([True, False])) == [STOOD, FAR]


@pytest.mark.parametrize(
    "found",
    [seen(0.5, 0.95, edgewise=False), seen(0.5, 0.95, light=5.0), seen(0.1, 0.6)],
    ids=["flat", "team", "unsure"],
)
def test_a_flat_base_one_of_the_other_team_or_an_unsure_one_is_not_taken_for_it(found: Measurements) -> None:
    assert matched(found) == [STOOD, FAR]


def test_where_another_figure_is_missing_nearby_the_one_that_lies_may_be_that_one() -> None:
    assert matched(seen(0.5, 0.95), both=False) == [STOOD]
