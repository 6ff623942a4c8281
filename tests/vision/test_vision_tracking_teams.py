from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from downfield.core.arrays import Array
from downfield.vision.tracking.teams import POINTS, cluster_teams

GREEN, NAVY, WHITE, RED, MAROON = (40.0, -35.0, 30.0), (10, 5, -25), (56, 0, 2), (27, 55, 38), (13, 30, 12)
"""Lab, the lightness weighted as `teams` does."""

ON_HELMET, ON_BASE = slice(0, 17), slice(POINTS - 8, POINTS)


def figures(
    jerseys: Sequence[tuple[float, float, float]],
    *,
    helmet: tuple[float, float, float] | None = None,
    base: tuple[float, float, float] = GREEN,
    seed: int = 0,
) -> Array:
    """Colors of figures in jerseys; half of those around the helmet are the board, and each is shaded differently."""
    random = np.random.default_rng(seed)
    out = np.zeros((len(jerseys), POINTS, 3))
    for row, jersey in enumerate(jerseys):
        out[row] = jersey
        board = random.random(POINTS) < 0.5
        out[row, board] = GREEN
        out[row, ON_HELMET] = helmet or jersey
        out[row, ON_BASE] = base
        out[row, :, 0] *= random.uniform(0.85, 1.15)
    return out + random.normal(0, 3.0, out.shape)


def test_two_teams_are_found_and_the_lighter_one_is_light() -> None:
    colors = figures([NAVY] * 11 + [WHITE] * 11)
    teams = cluster_teams(colors, np.arange(22) < 11)
    assert teams is not None
    assert (teams.light_odds(colors) > 3).tolist() == [False] * 11 + [True] * 11


def test_equal_helmets_and_bases_of_the_boards_color_do_not_matter() -> None:
    colors = figures([MAROON] * 9 + [NAVY] * 11, helmet=RED)
    teams = cluster_teams(colors, np.arange(20) % 2 == 0)
    assert teams is not None
    light = teams.light_odds(figures([MAROON] * 9 + [NAVY] * 11, helmet=RED, seed=1)) > 0
    assert len(set(light[:9].tolist())) == 1
    assert (light[9:] != light[0]).all()


def test_teams_are_found_even_if_their_facing_says_nothing() -> None:
    colors = figures([WHITE, NAVY] * 10)
    teams = cluster_teams(colors, np.arange(20) < 10)
    assert teams is not None
    assert (teams.light_odds(colors) > 0).tolist() == [True, False] * 10


def test_equal_figures_are_not_two_teams() -> None:
    assert cluster_teams(figures([NAVY] * 20), np.arange(20) < 10) is None


def test_unsampled_colors_say_nothing() -> None:
    colors = figures([NAVY] * 8 + [WHITE] * 8)
    teams = cluster_teams(colors, np.arange(16) < 8)
    assert teams is not None
    assert teams.light_odds(np.full((2, POINTS, 3), np.nan)).tolist() == [0.0, 0.0]
    assert cluster_teams(np.full((16, POINTS, 3), np.nan), np.arange(16) < 8) is None


@settings(max_examples=15)
@given(st.permutations(range(14)), st.integers(0, 1000))
def test_the_order_of_figures_does_not_matter(order: list[int], seed: int) -> None:
    colors = figures([NAVY] * 7 + [RED] * 7, seed=seed)
    facing = np.arange(14) < 7
    teams, shuffled = cluster_teams(colors, facing), cluster_teams(colors[order], facing[order])
    assert teams is not None
    assert shuffled is not None
    np.testing.assert_array_equal(teams.light_odds(colors) > 0, shuffled.light_odds(colors) > 0)


def test_a_jersey_in_another_light_is_learned_and_the_line_up_fades() -> None:
    """A navy team walks into a lamp's pool of light."""
    teams = cluster_teams(figures([NAVY] * 11 + [WHITE] * 11), np.arange(22) < 11)
    assert teams is not None
    lit, light = (36.0, 4.0, -15.0), np.arange(22) >= 11
    later = figures([lit] * 11 + [WHITE] * 11, seed=3)
    assert (teams.light_odds(later)[:11] > 0).any()
    for seed in range(25):
        teams = teams.updated(figures([lit] * 11 + [WHITE] * 11, seed=10 + seed), light)
    assert (teams.light_odds(later) > 0).tolist() == light.tolist()
    assert teams.color_counts.sum() <= 2 * 440 * POINTS + 1


def test_an_update_with_one_team_changes_only_that_team() -> None:
    teams = cluster_teams(figures([NAVY] * 11 + [WHITE] * 11), np.arange(22) < 11)
    assert teams is not None
    after = teams.updated(figures([NAVY] * 3, seed=5), np.zeros(3, bool))
    np.testing.assert_array_equal(after.color_counts[0], teams.color_counts[0])
    assert after.color_counts[1].sum() == teams.color_counts[1].sum() + 3 * POINTS
