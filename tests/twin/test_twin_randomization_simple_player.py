"""Figures: they stand on their bases, have a player's size, and differ by pose."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from downfield.core.footprint import BaseSize
from downfield.twin.randomization.deck import Deck
from downfield.twin.randomization.simple_player import POSES, Build, Kit, shape
from downfield.twin.randomization.tables import draw_ball, draw_players, draw_table
from downfield.twin.randomization.teams import draw_figures, draw_kits
from downfield.twin.table.appearance import FigureAppearance
from downfield.twin.table.snapshot import FOAM_BALL_MM, MAGNETIC_BALL_MM
from downfield.twin.table.solids import cloud

KIT = Kit(
    base=(0.1, 0.5, 0.2),
    base_opacity=1.0,
    jersey=(0.1, 0.1, 0.4),
    pants=(0.9, 0.9, 0.9),
    socks=(0.1, 0.1, 0.4),
    helmet=(0.8, 0.7, 0.1),
    mask=(0.5, 0.5, 0.5),
    number=(1.0, 1.0, 1.0),
    skin=(0.6, 0.4, 0.3),
)


def body_points(figure: FigureAppearance) -> NDArray[np.float64]:
    """Surface points of the player without the base, shape (n, 3)."""
    return cloud([solid for solid in figure.solids if solid.part != "base"]).reshape(-1, 3)


@pytest.mark.parametrize("build", POSES, ids=lambda build: f"crouch{build.crouch:g}-stride{build.stride_deg:g}")
@pytest.mark.parametrize("base", [BaseSize(), BaseSize(27.0, 16.0, 4.0, 0.0), BaseSize(33.0, 20.0, 7.0, 3.0)])
def test_every_pose_stands_on_its_base(build: Build, base: BaseSize) -> None:
    figure = shape(base, KIT, build)
    points = body_points(figure)
    assert points[:, 2].min() > base.height_mm - 1.2  # feet sink no deeper than a sole
    assert points[:, 2].min() < base.height_mm + 0.6
    feet = points[points[:, 2] < base.height_mm + 1.0]
    assert np.all(np.abs(feet[:, 0]) < base.length_mm / 2)
    assert np.all(np.abs(feet[:, 1]) < base.width_mm / 2)
    assert 10 <= len(figure.solids) <= 30


def test_figures_have_a_players_size() -> None:
    heights = []
    for seed in range(30):
        players = draw_players(seed)
        for figure, player in zip(draw_table(seed, players).figures, players, strict=True):
            heights.append(float(body_points(figure)[:, 2].max()) - player.base.height_mm)
    assert min(heights) > 14  # a lineman in his stance
    assert max(heights) < 46
    assert 22 < np.median(heights) < 38


def test_there_is_one_helmet_and_it_is_on_top() -> None:
    figure = shape(BaseSize(), KIT, Build())
    helmets = [solid for solid in figure.solids if solid.part == "helmet"]
    assert len(helmets) == 1
    assert helmets[0].position_mm[2] > np.median([solid.position_mm[2] for solid in figure.solids])


def test_hard_cases_of_teams_are_drawn() -> None:
    clear = own_green = two_darks = 0
    for seed in range(150):
        appearance = draw_table(seed, draw_players(seed, 1))
        kits = draw_kits(Deck("train", seed, 3), appearance.board)
        clear += any(kit.base_opacity < 0.7 for kit in kits.values())
        own_green += any(np.abs(np.subtract(kit.base, appearance.board.grass[0])).max() < 0.08 for kit in kits.values())
        two_darks += all(sum(kit.jersey) < 1.2 for kit in kits.values())
    assert clear > 20
    assert own_green > 20
    assert two_darks > 3


def test_teams_wear_their_colors() -> None:
    players = draw_players(2)
    appearance = draw_table(2, players)
    again = draw_figures(Deck("train", 2, 3), players, appearance.board)
    assert again == appearance.figures


def test_drawn_balls_have_the_size_the_physics_gives_them() -> None:
    disc = draw_ball(Deck("train", 1), "magnetic").solids[0]
    assert disc.size_mm[:2] == MAGNETIC_BALL_MM
    assert draw_ball(Deck("train", 1)).solids[0].size_mm[:2] == FOAM_BALL_MM
