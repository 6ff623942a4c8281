"""Places that overlap are mended by what each is not sure of; all others are left alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from downfield.core.footprint import BaseSize, Footprint, signed_gap
from downfield.vision.tracking.estimate import Estimate
from downfield.vision.tracking.overlap import NEAR_MM, SLACK_MM, apart

SIZE = BaseSize(30.0, 18.0, 5.5, 1.0)


def man(name: str, x_mm: float, y_mm: float = 100.0, heading_deg: float = 0.0, sigma_mm: float = 1.0) -> Estimate:
    covariance = np.diag([sigma_mm**2, sigma_mm**2, math.radians(sigma_mm) ** 2])
    return Estimate(name, "dark", Footprint(x_mm, y_mm, heading_deg, SIZE), covariance, np.zeros(3))


def places(estimates: tuple[Estimate, ...]) -> list[float]:
    return [one.footprint.x_mm for one in estimates]


def test_of_two_that_overlap_who_is_known_better_moves_less() -> None:
    sure, unsure = man("a", 100.0, sigma_mm=0.3), man("b", 126.0, sigma_mm=1.5)
    first, second = apart((sure, unsure))
    assert first.footprint.x_mm == pytest.approx(100.0, abs=0.2)
    assert second.footprint.x_mm == pytest.approx(129.7, abs=0.4)
    assert (first.covariance == sure.covariance).all()


def test_in_a_chain_he_who_was_misplaced_goes_back_to_his_place() -> None:
    men = tuple(man(str(i), 100.0 + 30.0 * i, sigma_mm=0.4) for i in range(5))
    astray = man("2", 155.5, sigma_mm=2.0)
    mended = apart((*men[:2], astray, *men[3:]))
    assert mended[2].footprint.x_mm == pytest.approx(160.0, abs=1.0)
    assert max(abs(a - b) for a, b in zip(places(mended), places(men), strict=True)) < 1.0


def test_who_stands_apart_touches_or_overlaps_by_no_more_than_sizes_err_stays() -> None:
    men = (man("a", 100.0), man("b", 130.0), man("c", 160.0 - 0.9 * SLACK_MM), man("d", 300.0))
    assert apart(men) == men


@pytest.mark.parametrize("how", [{"posture": "fallen"}, {"posture": "lifted"}, {"posture": "unseen"}, {"seen": False}])
def test_who_lies_is_in_a_hand_or_not_seen_is_left_alone(how: dict[str, object]) -> None:
    men = (man("a", 100.0), replace(man("b", 125.0), **how))  # type: ignore[arg-type]
    assert apart(men) == men


def test_one_in_the_place_of_another_is_no_error_of_a_place() -> None:
    men = (man("a", 100.0), man("b", 104.0))
    assert apart(men) == men


@example(off_mm=28.375, aside_mm=2.0, turn_deg=-112.5, sigma_a=1.0, sigma_b=1.0)  # overlap between the two bounds
@given(st.floats(24.0, 29.5), st.floats(-15, 15), st.floats(-170, 170), st.floats(0.2, 2.0), st.floats(0.2, 2.0))
@settings(max_examples=60, deadline=None)
def test_nobody_overlaps_more_than_before_wherever_they_face(
    off_mm: float, aside_mm: float, turn_deg: float, sigma_a: float, sigma_b: float
) -> None:
    before = man("a", 100.0, sigma_mm=sigma_a), man("b", 100.0 + off_mm, 100.0 + aside_mm, turn_deg, sigma_b)
    after = apart(before)
    gap_before, gap_after = (signed_gap(a.footprint, b.footprint).gap_mm for a, b in (before, after))
    assert gap_after >= min(gap_before, -SLACK_MM) - 1e-6
    if gap_before >= -SLACK_MM - NEAR_MM:
        assert after == before, "who overlaps by no more than is near enough is moved"
    elif gap_before > -12.0:
        assert gap_after > gap_before
        assert gap_after < 0.5
