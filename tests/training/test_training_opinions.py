"""Fitting opinions: who is right more often counts more, every set the same, and few figures change little."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.arrays import Array, Bools
from downfield.models.card import BUNDLED, find_network, read_card
from downfield.models.refiner import FALLEN, FIGURE, OUTPUTS, TURN
from downfield.training.evaluation.weights import (
    LEAST_BALLS,
    BallEvidence,
    CandidateEvidence,
    fit_ball,
    fit_logits,
    fit_weights,
)

CARD = read_card(find_network(BUNDLED))


def noisy(truth: Bools, error: float, rng: np.random.Generator) -> Array:
    """Logits of a network that is wrong the more often the larger its error."""
    return np.where(truth, 2.0, -2.0) + rng.normal(0.0, error, len(truth))


def evidence(first_error: float, second_error: float, count: int = 4000, seed: int = 1) -> CandidateEvidence:
    """Candidates of two sets, half of them figures, with refiners and detectors of the given errors."""
    rng = np.random.default_rng(seed)
    figure = rng.random(count) < 0.5
    turned, fallen = figure & (rng.random(count) < 0.3), figure & (rng.random(count) < 0.2)
    refiners = [np.zeros((count, OUTPUTS)) for _ in range(2)]
    for outputs, error in zip(refiners, (first_error, second_error), strict=True):
        for column, truth in ((TURN, turned), (FALLEN, fallen), (FIGURE, figure)):
            outputs[:, column] = noisy(truth, error, rng)
    detectors = np.stack([noisy(figure, error, rng) for error in (first_error, second_error)], axis=1)
    first, second = refiners
    return CandidateEvidence(
        np.arange(count) % 2, detectors, np.ones(count), first, second, figure, ~figure, turned, fallen
    )


@pytest.mark.parametrize(("first", "second"), [(1.0, 4.0), (4.0, 1.0)])
def test_the_better_network_counts_more(first: float, second: float) -> None:
    weights = fit_weights(CARD, evidence(first, second)).opinions
    assert weights.detectors is not None
    for pair in (weights.front, weights.fallen, weights.figure, weights.detectors[:2]):
        assert (pair[0] > 2 * pair[1]) is (first < second), pair
    assert sum(weights.front) == pytest.approx(1) == pytest.approx(sum(weights.fallen))


def test_thresholds_follow_a_network_that_is_biased() -> None:
    """One that takes standing figures for fallen ones needs a higher logit."""
    plain, biased = evidence(1.0, 1.0), evidence(1.0, 1.0)
    for outputs in (biased.first, biased.second):
        outputs[:, FALLEN] += 2.0
    assert fit_weights(CARD, biased).fallen_logit == pytest.approx(fit_weights(CARD, plain).fallen_logit + 2, abs=0.6)


def test_a_front_that_the_detectors_dispute_is_worth_what_the_pictures_show() -> None:
    known = evidence(50.0, 50.0)  # the refiners know nothing
    rows = np.flatnonzero(known.is_figure & ~known.is_fallen)
    known.agreement[rows[::2]] = -1.0
    known.is_turned[rows] = False
    known.is_turned[rows[::4]] = True  # half of the disputed ones
    assert fit_weights(CARD, known).opinions.disputed_front == pytest.approx(0.5, abs=0.05)


@settings(max_examples=20)
@given(copies=st.integers(2, 9))
def test_a_set_counts_the_same_however_many_pictures_it_has(copies: int) -> None:
    rng = np.random.default_rng(3)
    features, right = rng.normal(size=(400, 2)), rng.random(400) < 0.5
    groups = np.arange(400) // 200
    rows = np.concatenate([*[np.arange(200)] * copies, np.arange(200, 400)])
    once, often = (fit_logits(features[of], right[of], groups[of], (0.0, 0.0)) for of in (np.arange(400), rows))
    np.testing.assert_allclose(once, often, atol=0.02)


def test_without_evidence_the_weights_stay_where_they_start() -> None:
    nothing = np.zeros((0, 2))
    fitted = fit_logits(nothing, np.zeros(0, np.bool_), np.zeros(0, np.intp), (0.3, 0.7))
    np.testing.assert_allclose(fitted, (0.3, 0.7))


def ball_evidence(own_error: float, other_error: float, count: int = 2000) -> BallEvidence:
    rng = np.random.default_rng(3)
    ball = rng.random(count) < 0.3
    return BallEvidence(np.arange(count) % 2, noisy(ball, own_error, rng), noisy(ball, other_error, rng), ball)


@pytest.mark.parametrize(("own", "other"), [(1.0, 4.0), (4.0, 1.0)])
def test_of_two_opinions_about_the_ball_the_better_counts_more(own: float, other: float) -> None:
    weights = fit_ball(ball_evidence(own, other))
    assert weights is not None
    assert (weights[0] > 2 * weights[1]) is (own < other)


def test_a_ball_is_as_probable_as_its_score_says() -> None:
    known = ball_evidence(2.0, 2.0, 20_000)
    weights = fit_ball(known)
    assert weights is not None
    own, other, constant = weights
    scores = 1 / (1 + np.exp(-(own * known.own + other * known.other + constant)))
    for low, high in ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9)):
        rows = (scores > low) & (scores < high)
        assert known.is_ball[rows].mean() == pytest.approx(scores[rows].mean(), abs=0.05)


def test_from_a_few_balls_nothing_is_fitted() -> None:
    known = ball_evidence(1.0, 1.0, 40)
    few = dataclasses.replace(known, is_ball=np.arange(40) < LEAST_BALLS - 1)
    assert fit_ball(few) is None
