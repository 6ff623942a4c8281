"""Which of several detections is assigned to a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from made_measurements import EXACT, VAGUE, measurements
from numpy.typing import NDArray

from downfield.core.arrays import Bools
from downfield.vision.measuring.measurement import Measurements
from downfield.vision.tracking.assignment import (
    ASSIGNMENT_LIMITS,
    Assignment,
    assign,
    exchange_doubts,
    find_merged,
    lie_on_others,
    out_of_reach,
    way_costs,
)
from downfield.vision.tracking.kalman import MotionFilter

LIGHT, DARK = 1.0, -1.0


def standing(*places: tuple[float, float]) -> MotionFilter:
    pose = np.array([(x, y, 0.0, 30.0, 18.0) for x, y in places])
    cov = np.tile(np.diag([0.05, 0.05, 1e-3]), (len(places), 1, 1))
    return MotionFilter.standing(pose, cov, np.full((len(places), 2), 0.5))


def assigned(
    motion: MotionFilter,
    found: Measurements,
    jersey: float = LIGHT,
    elsewhere: Bools | None = None,
    lies: Bools | None = None,
) -> dict[int, int]:
    """The detection of each figure that gets one."""
    figures = np.arange(len(motion.mean))
    pairs = assign(motion, figures, found, np.arange(len(found)), np.full(len(figures), jersey), elsewhere, lies)
    return dict(zip(pairs.figures.tolist(), pairs.detections.tolist(), strict=True))


@pytest.mark.parametrize("false_mm", [8.5, 12.0, 15.0])
def test_an_exact_detection_beside_the_prediction_beats_a_vague_one_further_off(false_mm: float) -> None:
    found = measurements((101.5, 100, EXACT, 0.95, 0.0), (100, 100 + false_mm, VAGUE, 0.6, 0.0))
    assert assigned(standing((100, 100)), found) == {0: 0}


def test_a_detection_that_existed_while_the_figure_was_elsewhere_is_not_that_figure() -> None:
    found = measurements((110.0, 100, EXACT, 0.95, 0.0))
    assert assigned(standing((100, 100)), found) == {0: 0}
    assert assigned(standing((100, 100)), found, elsewhere=np.array([[True]])) == {}


def test_at_its_own_place_a_figure_may_look_like_the_other_team_for_a_moment() -> None:
    motion = standing((100, 100))
    motion.inflate(np.array([0]), 4.0, 1.0)
    assert assigned(motion, measurements((102.0, 100, EXACT, 0.95, -7.0))) == {0: 0}
    assert assigned(motion, measurements((110.0, 100, EXACT, 0.95, -7.0))) == {}
    assert assigned(motion, measurements((110.0, 100, EXACT, 0.95, -7.0)), DARK) == {0: 0}


def test_a_figure_just_detected_is_not_assigned_the_other_teams_color_a_base_away() -> None:
    motion = standing((100, 100))
    motion.persistent[0] = np.diag([32.0, 32.0, 1.0])  # it was hardly visible in the last detection
    assert assigned(motion, measurements((120.0, 100, EXACT, 0.95, -7.0))) == {}
    assert assigned(motion, measurements((120.0, 100, EXACT, 0.95, 0.0))) == {0: 0}


@pytest.mark.parametrize(("off_mm", "score", "matches"), [(60.0, 0.5, False), (60.0, 0.9, True), (12.0, 0.5, True)])
def test_a_vague_figure_is_not_found_far_off_in_a_low_score_detection(
    off_mm: float, score: float, matches: bool
) -> None:
    motion = standing((100, 100))
    motion.inflate(np.array([0]), 40.0, 1.0)
    assert (assigned(motion, measurements((100 + off_mm, 100, EXACT, score, 0.0))) == {0: 0}) == matches


def test_a_figure_of_known_place_is_not_found_a_base_away_in_a_low_score_detection() -> None:
    motion = standing((100, 100))
    motion.inflate(np.array([0]), 2.0, 0.1)
    assert assigned(motion, measurements((114.0, 100, VAGUE, 0.6, 0.0))) == {}
    assert assigned(motion, measurements((114.0, 100, VAGUE, 0.95, 0.0))) == {0: 0}


@pytest.mark.parametrize(
    ("turned_rad", "sigma_rad", "matches"), [(1.2, 0.3, False), (0.6, 0.3, True), (1.2, 1.0, True)]
)
def test_a_figure_of_known_heading_is_not_assigned_a_base_across_it(
    turned_rad: float, sigma_rad: float, matches: bool
) -> None:
    motion, across = standing((100, 100)), measurements((100.0, 100, VAGUE, 0.95, 0.0))
    motion.inflate(np.array([0]), 1.0, sigma_rad)
    across.pose[0, 2] = turned_rad
    assert (assigned(motion, across) == {0: 0}) == matches


def doubted(
    places: list[tuple[float, float]],
    found: Measurements,
    pairs: dict[int, int],
    *,
    jerseys: Sequence[float] = (),
    away_s: float | Sequence[float] = 1 / 30,
) -> set[int]:
    """The figures that may be exchanged: they stood at these places when they were last detected."""
    off_mm = np.linalg.norm(np.array(places)[:, None] - found.pose[None, :, :2], axis=2)
    count, rows = len(places), np.array(list(pairs), dtype=int)
    sigma_mm = np.hypot(3.0, ASSIGNMENT_LIMITS.leaves_way_mm_per_s * np.broadcast_to(away_s, count))
    made = Assignment(rows, np.array(list(pairs.values()), dtype=int), np.zeros(len(rows), dtype=bool))
    cost = way_costs(off_mm, sigma_mm, np.array(jerseys or (LIGHT,) * count), found, np.zeros(off_mm.shape, dtype=bool))
    free = np.ones(off_mm.shape, dtype=bool)
    free[:, made.detections] = False
    return set(exchange_doubts(made, cost, free)[0].tolist())


def test_a_figure_detected_a_moment_ago_is_not_confused_with_its_half_hidden_opponent() -> None:
    strip = measurements((131.0, 100, np.diag([32.0, 32.0, 0.05, 4.0, 4.0]), 0.96, -7.0))
    opponents = [(100.0, 100.0), (131.0, 100.0)]
    assert doubted(opponents, strip, {0: 0}, jerseys=(DARK, LIGHT)) == {0, 1}, "dark's color, where light is"
    assert doubted(opponents, strip, {1: 0}, jerseys=(LIGHT, DARK)) == set()
    assert doubted(opponents, strip, {1: 0}, jerseys=(DARK, LIGHT), away_s=1.0) == {0, 1}


def test_a_detection_that_fits_one_figure_badly_and_another_worse_is_not_ambiguous() -> None:
    part = measurements((100.0, 108.0, EXACT, 0.95, 7.0))
    assert doubted([(100, 132), (100, 100)], part, {1: 0}) == set()
    assert doubted([(100, 100), (100, 132)], part, {0: 0}) == set()
    assert doubted([(100, 100), (100, 116)], part, {0: 0}) == {0, 1}, "as far from both"


@pytest.mark.parametrize(("apart_mm", "away_s", "doubt"), [(18, 1 / 30, 0), (30, 0.1, 0), (18, 0.5, 2), (60, 0.5, 0)])
def test_teammates_detected_again_after_a_gap_may_be_exchanged_if_they_were_near(
    apart_mm: float, away_s: float, doubt: int
) -> None:
    pair = measurements((100.0, 100.0, EXACT, 0.95, 7.0), (100.0, 100.0 + apart_mm, EXACT, 0.95, 7.0))
    assert len(doubted([(100, 100), (100, 100 + apart_mm)], pair, {0: 0, 1: 1}, away_s=away_s)) == doubt


@pytest.mark.parametrize("count", [2, 3, 4])
def test_figures_in_a_row_may_all_be_one_place_further_where_the_last_is_missed(count: int) -> None:
    """Each was found where the next one was; the first one's own detection is taken for nobody's."""
    places = [(100.0 + 25 * row, 100.0) for row in range(count)]
    row = measurements(*((x + 12.5, y, EXACT, 0.95, 7.0) for x, y in places))
    pairs = {figure: figure - 1 for figure in range(1, count)}
    assert doubted(places, row, pairs, away_s=0.3) == set(range(count))


def test_figures_may_be_exchanged_in_a_ring_of_three() -> None:
    ring = [(100.0, 100.0), (120.0, 100.0), (110.0, 117.0)]
    found = measurements(*((x, y, EXACT, 0.95, 7.0) for x, y in [(112.0, 105.0), (110.0, 105.0), (109.0, 107.0)]))
    assert doubted(ring, found, {0: 0, 1: 2, 2: 1}, away_s=0.2) == {0, 1, 2}


def test_jerseys_that_show_tell_neighbors_apart_after_a_gap() -> None:
    pair = measurements((100.0, 100.0, EXACT, 0.95, 7.0), (120.0, 100.0, EXACT, 0.95, -7.0))
    plain = measurements((100.0, 100.0, EXACT, 0.95, 0.0), (120.0, 100.0, EXACT, 0.95, 0.0))
    places = [(100.0, 100.0), (120.0, 100.0)]
    assert doubted(places, pair, {0: 0, 1: 1}, jerseys=(LIGHT, DARK), away_s=0.6) == set()
    assert doubted(places, plain, {0: 0, 1: 1}, jerseys=(LIGHT, DARK), away_s=0.6) == {0, 1}


def fallen(odds: float, x_mm: float, light: float = -7.0) -> Measurements:
    """A base on its edge, across, whose jersey looks like the dark team's."""
    found = measurements((x_mm, 100, EXACT, 0.98, light))
    found.pose[0, 2:] = 1.3, 28.0, 1.0
    found.fallen[0] = odds
    return found


def test_a_toppled_figure_is_found_beside_where_it_stood() -> None:
    figures = standing((100, 100), (160, 100))
    assert assigned(figures, fallen(3.4, 118.0)) == {0: 0}
    assert assigned(figures, fallen(3.4, 130.0)) == {}
    assert assigned(figures, fallen(-1.0, 118.0)) == {}


def test_who_lies_is_not_the_one_who_stands_beside_though_another_is_missed_where_it_lies() -> None:
    motion = standing((100, 100), (104, 104))
    motion.mean[1, 2] = np.pi / 2  # the missed one stands across what is detected upright
    motion.inflate(np.array([0]), 5.0, 1.0)
    motion.inflate(np.array([1]), 17.0, 0.05)
    found = measurements((105.0, 100, EXACT, 0.98, 0.0), (87.0, 100, EXACT, 0.85, 0.0))
    found.fallen[0] = 3.4
    assert assigned(motion, found, lies=np.array([True, False])) == {0: 0}
    assert assigned(motion, found.select(np.array([False, True])), lies=np.array([True, False])) == {0: 0}


def test_a_toppling_figure_may_look_like_the_other_team() -> None:
    motion, toppling = standing((100, 100)), measurements((110.0, 100, EXACT, 0.95, -7.0))
    assert assigned(motion, toppling) == {}
    toppling.fallen[0] = 1.0
    assert assigned(motion, toppling) == {0: 0}
    motion.inflate(np.array([0]), 40.0, 1.0)
    toppling.pose[0, 0] = 160.0  # no figure topples this far
    assert assigned(motion, toppling) == {}


@pytest.mark.parametrize(
    ("off_way_mm", "away_s", "out"),
    [(8.0, 1 / 15, False), (16.0, 1 / 15, True), (16.0, 0.2, False), (8.0, 1 / 60, True)],
)
def test_a_base_leaves_its_way_no_faster_than_bases_are_pushed(off_way_mm: float, away_s: float, out: bool) -> None:
    found = measurements((100.0, 100.0, EXACT, 0.95, 0.0))
    away_ns = np.array([round(away_s * 1e9)])
    assert out_of_reach(np.array([[off_way_mm]]), away_ns, found).tolist() == [[out]]


def test_what_may_be_a_fall_is_within_reach_since_whoever_falls_is_thrown() -> None:
    found = measurements((100.0, 100.0, EXACT, 0.95, 0.0))
    found.signs.called_fallen[0] = True
    assert not out_of_reach(np.array([[14.0]]), np.array([16_000_000]), found).any()
    found.signs.called_fallen[0], found.signs.size_mm[0] = False, (30.0, 6.0)
    assert not out_of_reach(np.array([[14.0]]), np.array([16_000_000]), found).any()


@pytest.mark.parametrize(("apart_mm", "lies"), [(18.2, False), (16.5, False), (11.0, True)])
def test_the_less_sure_of_two_bases_that_enter_each_other_lies_on_the_other(apart_mm: float, lies: bool) -> None:
    found = measurements((100.0, 100.0, EXACT, 0.95, 0.0), (100.0, 100.0 + apart_mm, EXACT, 0.7, 0.0))
    assert lie_on_others(found).tolist() == [False, lies]


def test_bases_measured_badly_may_seem_to_enter_each_other() -> None:
    found = measurements((100.0, 100.0, VAGUE, 0.95, 0.0), (100.0, 111.0, VAGUE, 0.7, 0.0))
    assert not lie_on_others(found).any()


MS = 1_000_000
JUST = np.array([67 * MS, 67 * MS])


def merged(
    detected_mm: list[tuple[float, float]],
    figures_mm: list[tuple[float, float]] | None = None,
    *,
    away_ns: NDArray[np.int64] = JUST,
    since_ns: NDArray[np.int64] = JUST,
) -> list[tuple[list[int], int]]:
    """The pairs detected as one, with their detection."""
    places = np.array(figures_mm or [(100.0, 100.0), (129.0, 100.0)])
    found = find_merged(places, away_ns, since_ns, np.array(detected_mm).reshape(-1, 2))
    return list(zip(found.figures.tolist(), found.detections.tolist(), strict=True))


def test_a_detection_between_two_figures_without_one_of_their_own_is_both() -> None:
    assert merged([(114.0, 101.0)]) == [([0, 1], 0)]
    assert merged([(109.5, 104.0)]) == [([0, 1], 0)], "it need not be exactly in the middle"
    assert merged([(114.0, 101.0), (101.0, 100.0)]) == [], "the first one is detected by itself"
    assert merged([(106.0, 100.0)]) == [], "it is the first one, measured badly"
    assert merged([(114.0, 115.0)]) == [], "it is beside both"
    assert merged([]) == []


def test_figures_that_stand_too_far_apart_are_not_detected_as_one() -> None:
    assert merged([(125.0, 100.0)], [(100.0, 100.0), (150.0, 100.0)]) == []


def test_figures_that_were_missed_for_long_may_have_walked_to_where_one_is_detected() -> None:
    long, hidden = np.array([500 * MS, 500 * MS]), np.array([67 * MS, 500 * MS])
    assert merged([(114.0, 100.0)], away_ns=long, since_ns=long) == []
    assert merged([(114.0, 100.0)], away_ns=hidden, since_ns=hidden) == []
    assert merged([(114.0, 100.0)], away_ns=long, since_ns=JUST) == [([0, 1], 0)], "they were detected as one since"
    assert merged([(114.0, 100.0)], away_ns=10 * long, since_ns=JUST) == [], "and not for ever"


def test_each_figure_and_each_detection_is_in_one_pair_the_nearest_to_the_middle() -> None:
    row = [(100.0, 100.0), (126.0, 100.0), (152.0, 100.0)]
    away = np.full(3, 67 * MS)
    found = merged([(117.0, 100.0), (139.0, 100.0)], row, away_ns=away, since_ns=away)
    assert found == [([1, 2], 1)]
