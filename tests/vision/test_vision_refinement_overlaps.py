"""Overlapping bases are moved apart in proportion to their variances; all others stay."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.refinement import REFINEMENT_LIMITS, separate_overlaps

SIZE = BaseSize(30.0, 18.0, 5.5, 1.0)


def figure(name: str, x_mm: float, y_mm: float = 100.0, heading_deg: float = 0.0, sigma_mm: float = 1.0) -> Estimate:
    covariance = np.diag([sigma_mm**2, sigma_mm**2, math.radians(sigma_mm) ** 2])
    return Estimate(name, "dark", Footprint(x_mm, y_mm, heading_deg, SIZE), covariance, np.zeros(3))


def places(estimates: tuple[Estimate, ...]) -> list[float]:
    return [estimate.footprint.x_mm for estimate in estimates]


def test_of_two_overlapping_bases_the_better_known_one_moves_less() -> None:
    sure, unsure = figure("a", 100.0, sigma_mm=0.3), figure("b", 126.0, sigma_mm=1.5)
    first, second = separate_overlaps((sure, unsure))
    assert first.footprint.x_mm == pytest.approx(100.0, abs=0.2)
    assert second.footprint.x_mm == pytest.approx(129.7, abs=0.4)
    assert (first.covariance == sure.covariance).all()


def test_in_a_chain_the_misplaced_base_moves_back_to_its_place() -> None:
    figures = tuple(figure(str(i), 100.0 + 30.0 * i, sigma_mm=0.4) for i in range(5))
    astray = figure("2", 155.5, sigma_mm=2.0)
    separated = separate_overlaps((*figures[:2], astray, *figures[3:]))
    assert separated[2].footprint.x_mm == pytest.approx(160.0, abs=1.0)
    assert max(abs(a - b) for a, b in zip(places(separated), places(figures), strict=True)) < 1.0


def test_bases_that_overlap_by_no_more_than_the_error_of_their_sizes_stay() -> None:
    figures = (
        figure("a", 100.0),
        figure("b", 130.0),
        figure("c", 160.0 - 0.9 * REFINEMENT_LIMITS.overlap_slack_mm),
        figure("d", 300.0),
    )
    assert separate_overlaps(figures) == figures


@pytest.mark.parametrize(
    "state", [{"posture": "fallen"}, {"posture": "lifted"}, {"posture": "unseen"}, {"seen": False}]
)
def test_fallen_held_and_unseen_figures_stay(state: dict[str, object]) -> None:
    figures = (figure("a", 100.0), replace(figure("b", 125.0), **state))  # type: ignore[arg-type]
    assert separate_overlaps(figures) == figures


def test_a_base_in_the_place_of_another_is_no_error_of_place() -> None:
    figures = (figure("a", 100.0), figure("b", 104.0))
    assert separate_overlaps(figures) == figures


@example(off_mm=28.375, aside_mm=2.0, turn_deg=-112.5, sigma_a=1.0, sigma_b=1.0)  # overlap between the two bounds
@given(st.floats(24.0, 29.5), st.floats(-15, 15), st.floats(-170, 170), st.floats(0.2, 2.0), st.floats(0.2, 2.0))
@settings(max_examples=60)
def test_no_overlap_grows_whatever_the_headings(
    off_mm: float, aside_mm: float, turn_deg: float, sigma_a: float, sigma_b: float
) -> None:
    before = figure("a", 100.0, sigma_mm=sigma_a), figure("b", 100.0 + off_mm, 100.0 + aside_mm, turn_deg, sigma_b)
    after = separate_overlaps(before)
    gap_before, gap_after = (signed_gap(a.footprint, b.footprint).gap_mm for a, b in (before, after))
    assert gap_after >= min(gap_before, -REFINEMENT_LIMITS.overlap_slack_mm) - 1e-6
    if gap_before >= -REFINEMENT_LIMITS.overlap_slack_mm - REFINEMENT_LIMITS.overlap_tolerance_mm:
        assert after == before, "a base within the tolerance was moved"
    elif gap_before > -12.0:
        assert gap_after > gap_before
        assert gap_after < 0.5
