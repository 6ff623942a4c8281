"""Sizes of bases: a hidden edge is placed by the other bases in the picture, and by nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.base_sizes import (
    SIZE_CORRECTION_LIMITS,
    errors_by_direction,
    estimate_sizes,
    with_consistent_sizes,
)

SEEN_PX, HIDDEN_PX = 0.4, 3.0


def outline(x: float, y: float, turn: float, length: float = 42.0, width: float = 25.0) -> Array:
    """Corners of a base in the picture."""
    half = np.array([[length, -width], [length, width], [-length, width], [-length, -width]]) / 2
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(half @ rotation.T + (x, y))


def seen(corners: Array, *, hidden_front: bool = False, kind: str = "upright") -> Detection:
    """A figure in full view, or one whose front is under it."""
    front = HIDDEN_PX if hidden_front else SEEN_PX
    return Detection(
        "fallen" if kind == "fallen" else "upright",
        0.9,
        (0.0, 0.0, 1.0, 1.0),
        tuple((float(x), float(y)) for x, y in corners),
        (0.4, 0.4, 1.0, 1.0) if hidden_front else (1.0,) * 4,
        (front, front, SEEN_PX, SEEN_PX),
    )


def shortened(corners: Array, by_px: float) -> Array:
    """With the front edge taken to be so much further back."""
    ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
    out = corners.copy()
    out[:2] -= by_px * ahead / np.linalg.norm(ahead)
    return out


def table(rng: np.random.Generator, count: int = 12, length: float = 42.0, width: float = 25.0) -> list[Array]:
    """Equal bases here and there, as a camera that looks straight down shows them."""
    places = rng.uniform((200, 200), (1700, 900), (count, 2))
    return [outline(x, y, rng.uniform(0, 2 * np.pi), length, width) for x, y in places]


def off_px(figure: Detection, truth: Array) -> float:
    return float(np.linalg.norm(np.array(figure.corners_px) - truth, axis=1).max())


def length_px(figure: Detection) -> float:
    corners = np.array(figure.corners_px)
    return float(np.linalg.norm(corners[:2].mean(axis=0) - corners[2:].mean(axis=0)))


@given(st.integers(0, 10_000), st.floats(-6.0, 6.0))
def test_a_hidden_front_is_placed_by_the_others_lengths(seed: int, short_px: float) -> None:
    rng = np.random.default_rng(seed)
    truth = table(rng)
    figures = [seen(corners + rng.normal(0, 0.15, (4, 2))) for corners in truth[1:]]
    before = seen(shortened(truth[0], short_px), hidden_front=True)
    after = with_consistent_sizes([before, *figures])[0]
    assert off_px(after, truth[0]) < 0.25 * abs(short_px) + 0.6
    rear = np.linalg.norm(np.array(after.corners_px)[2:] - truth[0][2:], axis=1)
    assert rear.max() < 0.4, "what is in full view must not move"
    assert after.corner_sigma_px[0] < before.corner_sigma_px[0]


def test_each_of_two_makes_is_corrected_by_its_own() -> None:
    rng = np.random.default_rng(3)
    short, long = table(rng, 11), table(rng, 11, 47.0, 27.0)
    figures = [seen(corners + rng.normal(0, 0.15, (4, 2))) for corners in short[1:] + long[1:]]
    hidden = [seen(shortened(corners, 4.0), hidden_front=True) for corners in (short[0], long[0])]
    first, second = with_consistent_sizes([*hidden, *figures])[:2]
    # Widths, which are in view, tell which make it is.
    assert length_px(first) == pytest.approx(42.0, abs=2.5)
    assert length_px(second) == pytest.approx(47.0, abs=2.5)


def test_a_fully_visible_base_like_no_other_keeps_its_size() -> None:
    rng = np.random.default_rng(4)
    odd = outline(600, 500, 0.5, 55.0, 33.0)
    figures = [seen(corners + rng.normal(0, 0.15, (4, 2))) for corners in table(rng)]
    after = with_consistent_sizes([seen(odd), *figures])[0]
    assert off_px(after, odd) < 0.3


@pytest.mark.parametrize("tilt", [0.0, 0.15])
def test_bases_that_are_larger_because_nearer_stay_so(tilt: float) -> None:
    rng = np.random.default_rng(5)
    truth = [
        base.mean(axis=0) + (base - base.mean(axis=0)) * (1 + tilt * (base.mean() - 700) / 700) for base in table(rng)
    ]
    figures = [seen(corners + rng.normal(0, 0.15, (4, 2))) for corners in truth]
    after = with_consistent_sizes(figures)
    assert max(off_px(figure, true) for figure, true in zip(after, truth, strict=True)) < 0.9


def test_too_few_bases_fallen_ones_and_those_without_errors_are_left_alone() -> None:
    rng = np.random.default_rng(6)
    truth = table(rng, SIZE_CORRECTION_LIMITS.min_bases)
    figures = [seen(corners) for corners in truth]
    assert with_consistent_sizes(figures[:-1]) == figures[:-1]
    lying = seen(shortened(truth[0], 20.0), kind="fallen")
    without_errors = dataclasses.replace(seen(shortened(truth[0], 5.0)), corner_sigma_px=())
    assert with_consistent_sizes([lying, without_errors, *figures])[:2] == [lying, without_errors]
    ball = Detection("ball", 0.5, (1.0, 1.0, 2.0, 2.0))
    assert with_consistent_sizes([ball, *figures])[0] == ball


@given(st.lists(st.tuples(st.floats(-0.5, 0.5), st.floats(1e-6, 0.1)), min_size=2, max_size=25))
def test_an_estimate_is_never_vaguer_than_the_measurement_nor_beyond_all_others(
    rows: list[tuple[float, float]],
) -> None:
    logs, noise = np.array(rows).T
    both, errors = np.stack([logs, logs - 0.5], axis=1), np.stack([noise, noise], axis=1)
    estimated, left = estimate_sizes(both, errors)
    assert (left <= errors).all()
    assert (left > 0).all()
    assert estimated[:, 0].min() >= logs.min() - 1e-9
    assert estimated[:, 0].max() <= logs.max() + 1e-9


def test_a_hidden_corner_errs_along_its_base_rather_than_across() -> None:
    along, across = errors_by_direction(np.array([1.0, 1.0]), np.array([1.0, 0.3])).T
    assert along[1] > along[0] >= across[0] > across[1]
