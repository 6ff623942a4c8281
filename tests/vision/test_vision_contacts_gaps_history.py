"""The start of a contact is fitted to the gaps before and after it."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.core.footprint import BaseSize, Footprint
from downfield.vision.contacts.gaps import GapHistory, PairMeasurements, find_near_pairs, fit_onset_s, measure_pairs
from downfield.vision.contacts.limits import CONTACT_LIMITS
from downfield.vision.measuring.estimate import Estimate


def approach(t_s: Array, met_s: float, speed_mm_s: float, level_mm: float) -> Array:
    """Gaps that close at a steady speed until they stay at a level."""
    return level_mm + speed_mm_s * np.maximum(met_s - t_s, 0.0)


@given(
    met_s=st.floats(-0.03, 0.05),
    speed_mm_s=st.floats(25.0, 300.0),
    level_mm=st.floats(-2.0, 2.0),
    frames_per_s=st.sampled_from((30.0, 60.0)),
    start=st.floats(0.0, 1.0),
)
@example(met_s=0.0, speed_mm_s=100.0, level_mm=0.0, frames_per_s=30.0, start=0.0)
def test_a_contact_begins_where_approach_and_level_cross(
    met_s: float, speed_mm_s: float, level_mm: float, frames_per_s: float, start: float
) -> None:
    t_s = np.arange(-max(0.08, 3 / frames_per_s), 0.13, 1 / frames_per_s) + start / frames_per_s
    found_s = fit_onset_s(t_s, approach(t_s, met_s, speed_mm_s, level_mm), np.full(len(t_s), 0.02))
    # Bases that shake meet a little sooner; where the noise allows for it, the instant is that much less exact.
    assert abs(found_s + CONTACT_LIMITS.chatter_mm / speed_mm_s - met_s) < 0.002 + 0.15 / speed_mm_s


def test_without_a_minimum_in_range_the_estimate_stays() -> None:
    t_s = np.arange(-0.08, 0.13, 1 / 60)
    for met_s in (0.07, 0.08, 0.1):  # later than any that is tried
        assert fit_onset_s(t_s, approach(t_s, met_s, 40.0, 0.0), np.full(len(t_s), 0.02)) == 0.0


def test_a_bias_of_the_gap_does_not_matter() -> None:
    t_s = np.arange(-0.08, 0.13, 1 / 30)
    gap_mm, noise_mm = approach(t_s, 0.01, 60.0, 0.0), np.full(len(t_s), 0.1)
    assert abs(fit_onset_s(t_s, gap_mm, noise_mm) - fit_onset_s(t_s, gap_mm + 1.5, noise_mm)) < 0.0021


def test_an_outlier_hardly_counts() -> None:
    t_s = np.arange(-0.08, 0.13, 1 / 60)
    gap_mm, noise_mm = approach(t_s, 0.01, 60.0, 0.0), np.full(len(t_s), 0.1)
    gap_mm[7] += 1.2
    assert abs(fit_onset_s(t_s, gap_mm, noise_mm) - 0.01) < 0.006


def test_movement_long_before_does_not_matter() -> None:
    t_s = np.arange(-0.08, 0.13, 1 / 60)
    gap_mm = np.minimum(approach(t_s, 0.0, 50.0, 0.0), 2.2)  # at rest, and then off
    assert abs(fit_onset_s(t_s, gap_mm, np.full(len(t_s), 0.1))) < 0.006


def test_in_noise_the_median_is_right_and_few_are_a_frame_off() -> None:
    rng = np.random.default_rng(5)
    t_s = np.arange(-0.08, 0.13, 1 / 30)
    off = np.array(
        [
            fit_onset_s(
                t_s,
                approach(t_s, met, 70.0, rng.normal(0, 0.3)) + rng.normal(0, 0.15, len(t_s)),
                np.full(len(t_s), 0.15),
            )
            - met
            for met in rng.uniform(-0.03, 0.03, 200)
        ]
    )
    assert abs(np.median(off)) < 0.002
    assert np.mean(abs(off) < 1 / 60) > 0.98


def pair_at(gap_mm: float) -> PairMeasurements:
    """Two bases in line, so far apart."""
    size = BaseSize(30.0, 18.0, 5.5, 1.0)
    still, sure = np.zeros(3), np.eye(3) * 1e-4
    places = Footprint(0.0, 0.0, 0.0, size), Footprint(30.0 + gap_mm, 0.0, 180.0, size)
    figures = [Estimate("dark-1", "dark", places[0], sure, still), Estimate("light-1", "light", places[1], sure, still)]
    return measure_pairs(*find_near_pairs(figures, 50.0), np.zeros((2, 2)))


def test_gaps_before_a_hand_moved_a_figure_do_not_count() -> None:
    goes_on, moved = GapHistory(), GapHistory()
    pair = ("dark-1", "light-1")
    for frame in range(-6, 7):
        now = pair_at(max(-60.0 * frame / 60, 0.0))
        goes_on.add(now, np.array([0.05]), frame / 60, {pair})
        moved.add(now, np.array([0.05]), frame / 60, set() if frame == 5 else {pair})
    assert abs(goes_on.refine_onset_s(pair, 0.015)) < 0.004
    assert moved.refine_onset_s(pair, 0.015) == 0.015, "too few gaps since"
