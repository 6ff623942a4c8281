"""Figures of two detectors: each once, with the opinions of both; nothing changes where the second does not count."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refined_figures import FRAME, FixedDetector, base, figure

from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import OpinionWeights
from downfield.models.refiner import OUTPUTS, PATCH_PX, TURN, rotate_back
from downfield.models.runtime import logit
from downfield.models.second_opinion import OPINION_LIMITS, join_figures, match_detectors
from downfield.models.two_stage_detector import TwoStageDetector

EQUAL = OpinionWeights(detectors=(0.5, 0.5, 0.0), disputed_front=0.5)
BALL = Detection("ball", 0.4, (0.0, 0.0, 9.0, 9.0))


def at(x_px: float, score: float = 0.8, turn: float = 0.0) -> Detection:
    return dataclasses.replace(figure(base(x_px, 200, turn)), score=score)


def test_a_figure_that_the_second_does_not_report_is_less_sure_and_what_only_it_reports_is_none() -> None:
    joined = join_figures((at(100), at(200), BALL), (at(101), at(300), dataclasses.replace(BALL, score=0.9)), EQUAL)
    places = {round(float(np.mean(one.corners_px, axis=0)[0])): one.score for one in joined if one.corners_px}
    assert set(places) == {100, 200}
    assert places[100] == pytest.approx(0.8), "both are as sure"
    assert places[200] < 0.3
    assert joined[-1] == BALL
    assert [one.score for one in joined[:-1]] == sorted(places.values(), reverse=True)


@given(first=st.floats(0.2, 0.99), second=st.floats(0.2, 0.99), a=st.floats(0, 1), b=st.floats(0, 1))
def test_a_joint_logit_is_the_weighted_sum(first: float, second: float, a: float, b: float) -> None:
    (one,) = join_figures((at(100, first),), (at(100, second),), OpinionWeights(detectors=(a, b, 0.25)))
    wanted = a * logit(np.array(first)) + b * logit(np.array(second)) + 0.25
    assert logit(np.array(one.score)) == pytest.approx(float(wanted), abs=1e-3)


def test_of_several_reports_of_one_figure_the_surest_counts() -> None:
    logits, _ = match_detectors((at(100),), (at(101, 0.9), at(99, 0.2)))
    assert logits[0, 1] == pytest.approx(float(logit(np.array(0.9))))
    assert match_detectors((), (at(100),))[0].shape == (0, 2)
    assert match_detectors((at(100),), ())[0][0, 1] == OPINION_LIMITS.missed_logit


def test_without_weights_only_hands_of_the_other_detector_count() -> None:
    found = (at(100), BALL)
    assert join_figures(found, (at(300),), OpinionWeights()) == found


def test_fronts_are_disputed_where_the_detectors_see_opposite_ones() -> None:
    agreed, disputed = (join_figures((at(100),), (at(100, turn=turn),), EQUAL)[0] for turn in (0.3, np.pi - 0.3))
    assert (agreed.front_score, disputed.front_score) == (1.0, EQUAL.disputed_front)


class Turning:
    """A refiner that is a little for the front being at the other end."""

    name = "turning"
    size_px = (PATCH_PX, PATCH_PX)

    def __init__(self) -> None:
        self.row = np.zeros((1, OUTPUTS))
        self.row[0, TURN], self.row[0, TURN + 1], self.row[0, TURN + 2] = 0.5, -9.0, 9.0
        self.row[0, :10] = [0.5, -0.3, 0.5, 0.3, -0.5, 0.3, -0.5, -0.3, 0, 0]

    def run(self, pictures: np.ndarray) -> np.ndarray:
        """Of two runs of a picture the second is of the patch turned by half."""
        row = self.row if not getattr(self, "turned", False) else rotate_back(self.row)
        self.turned = not getattr(self, "turned", False)
        return np.repeat(row, len(pictures), axis=0).astype(np.float32)


@pytest.mark.parametrize(("second", "turned"), [(0.0, False), (np.pi, True)])
def test_a_refiner_overrules_a_disputed_front_more_easily(second: float, *, turned: bool) -> None:
    where = at(300)
    detector = TwoStageDetector(
        FixedDetector(where),
        Turning(),
        turn_logit=1.0,
        second_detector=FixedDetector(at(300, turn=second)),
        opinions=EQUAL,
    )
    (seen,) = detector.detect(FRAME)
    ahead = np.mean(seen.corners_px[:2], axis=0) - np.mean(seen.corners_px[2:], axis=0)
    before = np.mean(where.corners_px[:2], axis=0) - np.mean(where.corners_px[2:], axis=0)
    assert bool(ahead @ before < 0) is turned


def test_a_probability_out_of_range_is_refused() -> None:
    for chance in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match="disputed_front must be between 0 and 1"):
            OpinionWeights(disputed_front=chance)
