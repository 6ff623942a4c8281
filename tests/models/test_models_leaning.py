"""Fronts by leaning: all helmets of a picture tell perspective from leaning, and right the fronts that are in doubt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.leaning import LEANING_LIMITS, lean_log_odds, with_leaning

SIZE = (1920, 1080)
LENGTH_PX = 42.0
CORNERS = ((0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3))
TABLES = {"from above": (1.2, (0.0, 0.0)), "from one end": (0.9, (0.25, 0.05)), "a small picture of it": (0.3, (0, 0))}


def team(rng: np.random.Generator, lean: float, widening: float, middle: tuple[float, float]) -> list[Detection]:
    """Twenty-two figures with their true fronts, that lean ahead by so much, in lengths of a base."""
    figures = []
    for _ in range(22):
        place, turn = rng.uniform((150, 100), (1770, 980)), rng.uniform(0, 2 * np.pi)
        ahead, aside = np.array([np.cos(turn), np.sin(turn)]), np.array([np.sin(turn), -np.cos(turn)])
        corners = [
            place + LENGTH_PX * (x * ahead + y * aside) for x, y in ((0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3))
        ]
        out = widening * (place - np.array(SIZE) / 2) / SIZE[0] + middle
        helmet = place + LENGTH_PX * (out + lean * ahead + rng.normal(0, 0.05, 2))
        figures.append(
            Detection(
                "upright",
                0.9,
                (0.0, 0.0, 1.0, 1.0),
                tuple((float(x), float(y)) for x, y in corners),
                (1.0, 0.9, 0.8, 0.7),
                (0.4, 0.5, 0.6, 0.7),
                helmet_px=(float(helmet[0]), float(helmet[1])),
                helmet_score=1.0,
                front_score=0.95,
            )
        )
    return figures


def turned(figure: Detection, front_score: float) -> Detection:
    """The same base with its rear taken for the front."""
    a, b, c, d = figure.corners_px
    return Detection(
        "upright", 0.9, figure.box_px, (c, d, a, b), (0.8, 0.7, 1.0, 0.9), (0.6, 0.7, 0.4, 0.5),
        helmet_px=figure.helmet_px, helmet_score=1.0, front_score=front_score,
    )  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
@given(seed=st.integers(0, 10_000))
def test_a_front_in_doubt_is_righted_by_the_lean_of_the_others(table: str, seed: int) -> None:
    figures = team(np.random.default_rng(seed), 0.25, *TABLES[table])
    out = with_leaning([turned(figures[0], 0.55), *figures[1:]], SIZE)
    assert out[0].corners_px == figures[0].corners_px
    assert out[0].corner_scores == figures[0].corner_scores
    assert out[0].corner_sigma_px == figures[0].corner_sigma_px
    assert [figure.corners_px for figure in out[1:]] == [figure.corners_px for figure in figures[1:]]


@given(seed=st.integers(0, 10_000))
def test_perspective_alone_turns_nobody(seed: int) -> None:
    figures = team(np.random.default_rng(seed), 0.0, 1.4, (0.1, -0.1))
    out = with_leaning(figures, SIZE)
    assert [figure.corners_px for figure in out] == [figure.corners_px for figure in figures]


def test_what_does_not_tell_how_figures_lean_stays_as_it_is() -> None:
    figures = team(np.random.default_rng(1), 0.2, 1.2, (0.0, 0.0))
    few = [turned(figures[0], 0.6), *figures[1 : LEANING_LIMITS.min_figures - 1]]
    assert with_leaning(few, SIZE) == few
    ball, lies = Detection("ball", 0.8, (1.0, 2.0, 3.0, 4.0)), Detection("fallen", 0.9, (0.0, 0.0, 1.0, 1.0))
    assert with_leaning([ball, lies, *figures], SIZE)[:2] == [ball, lies]


@given(seed=st.integers(0, 10_000), turn=st.floats(0, 6.3))
def test_the_odds_do_not_depend_on_how_the_picture_is_turned(seed: int, turn: float) -> None:
    rng = np.random.default_rng(seed)
    place, helmet, network = rng.uniform(-0.4, 0.4, (15, 2)), rng.normal(0, 0.3, (15, 2)), rng.normal(0, 2, 15)
    way = rng.uniform(0, 2 * np.pi, 15)
    ahead = np.stack([np.cos(way), np.sin(way)], axis=1)
    rotation: Array = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    straight = lean_log_odds(place, helmet, ahead, network)
    rotated = lean_log_odds(place @ rotation.T, helmet @ rotation.T, ahead @ rotation.T, network)
    assert rotated == pytest.approx(straight, abs=1e-6)
    opposite = lean_log_odds(place, helmet, -ahead, -network)
    assert opposite == pytest.approx(-straight, abs=1e-6)
