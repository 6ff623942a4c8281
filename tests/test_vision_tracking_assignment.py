"""Who of several sightings a figure is."""

from __future__ import annotations

import numpy as np
import pytest
from made_sightings import EXACT, VAGUE, seen
from numpy.typing import NDArray

from downfield.vision.tracking.assignment import match
from downfield.vision.tracking.kalman import Motion
from downfield.vision.tracking.measurement import Measurements
from downfield.vision.tracking.reappearance import Strangers

LIGHT, DARK = 1.0, -1.0


def standing(*places: tuple[float, float]) -> Motion:
    pose = np.array([(x, y, 0.0, 30.0, 18.0) for x, y in places])
    cov = np.tile(np.diag([0.05, 0.05, 1e-3]), (len(places), 1, 1))
    return Motion.standing(pose, cov, np.full((len(places), 2), 0.5))


def whose(
    motion: Motion, sightings: Measurements, jersey: float = LIGHT, strange: NDArray[np.bool_] | None = None
) -> dict[int, int]:
    figures = np.arange(len(motion.mean))
    found = match(motion, figures, sightings, np.arange(len(sightings)), np.full(len(figures), jersey), strange)
    return dict(zip(found.figures.tolist(), found.sightings.tolist(), strict=True))


@pytest.mark.parametrize("ghost_mm", [8.5, 12.0, 15.0])
def test_an_exact_sighting_beside_its_place_beats_a_vague_one_further_off(ghost_mm: float) -> None:
    sightings = seen((101.5, 100, EXACT, 0.95, 0.0), (100, 100 + ghost_mm, VAGUE, 0.6, 0.0))
    assert whose(standing((100, 100)), sightings) == {0: 0}


def test_what_was_there_while_a_figure_was_elsewhere_is_not_that_figure() -> None:
    sightings = seen((110.0, 100, EXACT, 0.95, 0.0))
    assert whose(standing((100, 100)), sightings) == {0: 0}
    assert whose(standing((100, 100)), sightings, strange=np.array([[True]])) == {}


def test_at_its_own_place_a_figure_may_look_like_the_other_team_for_a_moment() -> None:
    motion = standing((100, 100))
    motion.loosen(np.array([0]), 4.0, 1.0)
    assert whose(motion, seen((102.0, 100, EXACT, 0.95, -7.0))) == {0: 0}
    assert whose(motion, seen((110.0, 100, EXACT, 0.95, -7.0))) == {}
    assert whose(motion, seen((110.0, 100, EXACT, 0.95, -7.0)), DARK) == {0: 0}


def test_who_was_just_seen_is_not_taken_for_one_of_the_other_team_a_base_further_off() -> None:
    motion = standing((100, 100))
    motion.lasting[0] = np.diag([32.0, 32.0, 1.0])  # he hardly showed when he was seen last
    assert whose(motion, seen((120.0, 100, EXACT, 0.95, -7.0))) == {}
    assert whose(motion, seen((120.0, 100, EXACT, 0.95, 0.0))) == {0: 0}


@pytest.mark.parametrize(("off_mm", "score", "is_he"), [(60.0, 0.5, False), (60.0, 0.9, True), (12.0, 0.5, True)])
def test_who_may_be_anywhere_is_not_found_far_off_in_what_may_be_nobody(
    off_mm: float, score: float, is_he: bool
) -> None:
    motion = standing((100, 100))
    motion.loosen(np.array([0]), 40.0, 1.0)
    assert (whose(motion, seen((100 + off_mm, 100, EXACT, score, 0.0))) == {0: 0}) == is_he


def test_who_is_known_is_not_found_a_base_away_in_what_may_be_nobody() -> None:
    motion = standing((100, 100))
    motion.loosen(np.array([0]), 2.0, 0.1)
    assert whose(motion, seen((114.0, 100, VAGUE, 0.6, 0.0))) == {}
    assert whose(motion, seen((114.0, 100, VAGUE, 0.95, 0.0))) == {0: 0}


@pytest.mark.parametrize(("turned_rad", "sigma_rad", "is_he"), [(1.2, 0.3, False), (0.6, 0.3, True), (1.2, 1.0, True)])
def test_who_is_known_to_face_ahead_is_not_seen_across(turned_rad: float, sigma_rad: float, is_he: bool) -> None:
    motion, across = standing((100, 100)), seen((100.0, 100, VAGUE, 0.95, 0.0))
    motion.loosen(np.array([0]), 1.0, sigma_rad)
    across.pose[0, 2] = turned_rad
    assert (whose(motion, across) == {0: 0}) == is_he


def doubtful(motion: Motion, sightings: Measurements, *jerseys: float) -> set[int]:
    figures = np.arange(len(motion.mean))
    found = match(motion, figures, sightings, np.arange(len(sightings)), np.array(jerseys))
    return set(found.doubtful.tolist())


def test_who_was_known_a_moment_ago_is_not_in_doubt_with_his_opponent_of_whom_an_arm_leaves_a_strip() -> None:
    strip = seen((131.0, 100, np.diag([64.0, 64.0, 0.05, 4.0, 4.0]), 0.96, -7.0))
    opponents = standing((100, 100), (131, 100))
    assert doubtful(opponents, strip, DARK, LIGHT) == set()
    opponents.loosen(np.array([0]), 10.0, 0.1)  # but where the other is, is no longer known
    assert doubtful(opponents, strip, DARK, LIGHT) == {0, 1}


def test_what_fits_one_badly_and_another_worse_leaves_no_doubt() -> None:
    part = seen((100.0, 108.0, EXACT, 0.95, 7.0))
    part.pose[0, 3:] = 20.0, 12.0  # half a base
    neighbors = standing((100, 100), (100, 128))
    neighbors.loosen(np.array([0, 1]), 4.0, 0.1)
    assert doubtful(neighbors, part, LIGHT, LIGHT) == set()
    neighbors.mean[1, 1] = 116.0  # as far from it as the first
    assert doubtful(neighbors, part, LIGHT, LIGHT) == {0, 1}


def lying(odds: float, x_mm: float, light: float = -7.0) -> Measurements:
    """A base on its edge, across, over which jerseys seem to be the dark team's."""
    sightings = seen((x_mm, 100, EXACT, 0.98, light))
    sightings.pose[0, 2:] = 1.3, 28.0, 1.0
    sightings.fallen[0] = odds
    return sightings


def test_who_has_toppled_is_found_beside_where_he_stood() -> None:
    standing_men = standing((100, 100), (160, 100))
    assert whose(standing_men, lying(3.4, 118.0)) == {0: 0}
    assert whose(standing_men, lying(3.4, 130.0)) == {}
    assert whose(standing_men, lying(-1.0, 118.0)) == {}


def test_who_topples_looks_like_the_other_team_on_his_way_down() -> None:
    motion, going = standing((100, 100)), seen((110.0, 100, EXACT, 0.95, -7.0))
    assert whose(motion, going) == {}
    going.fallen[0] = 1.0
    assert whose(motion, going) == {0: 0}
    motion.loosen(np.array([0]), 40.0, 1.0)
    going.pose[0, 0] = 160.0  # nobody topples so far
    assert whose(motion, going) == {}


def test_strangers_are_known_by_when_they_were_there() -> None:
    strangers, place, ms = Strangers(), np.array([[50.0, 60.0]]), 1_000_000
    for at in (0, 30, 60):
        strangers.settled(place, at * ms)
    beside = strangers.beside(np.array([[51.0, 60.0], [80.0, 60.0]]), np.array([30, 60, 90, -20]) * ms)
    assert beside[:, 0].tolist() == [True, True, False, False]
    assert not beside[:, 1].any()


def test_what_stayed_in_a_place_is_remembered_there_for_a_while() -> None:
    place, ms = np.array([[50.0, 60.0]]), 1_000_000
    for stayed_ms, away_ms, remembered in ((600, 1000, True), (600, 4000, False), (300, 1000, False)):
        strangers = Strangers()
        for at in range(0, stayed_ms + 1, 30):
            strangers.settled(place, at * ms)
        back_ms = stayed_ms + away_ms
        strangers.settled(np.zeros((0, 2)), back_ms * ms)
        seen_ns = np.array([200, 590, back_ms - 100]) * ms  # as early as the stranger, and for longer beside him
        fixed = strangers.fixed(np.array([[51.0, 60.0], [80.0, 60.0]]), seen_ns)
        assert fixed[:, 0].tolist() == [False, remembered, remembered]
        assert not fixed[:, 1].any()
        assert not strangers.settled(place, (back_ms + 30) * ms).any(), "one who is back has to settle anew"


def test_who_walks_about_unknown_is_no_fixture() -> None:
    strangers, ms = Strangers(), 1_000_000
    for at in range(0, 1500, 30):
        strangers.settled(np.array([[50.0 + at / 20, 60.0]]), at * ms)
    assert not strangers.fixed(np.array([[50.0 + 1470 / 20, 60.0]]), np.array([1400 * ms])).any()
