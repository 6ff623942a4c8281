"""Bowed boards: drawn apart in every split, and known to the truth as a calibration knows them."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.core.field.model import preset
from downfield.twin.randomization.boards import draw_board, draw_bow
from downfield.twin.randomization.deck import SPLITS, Deck, Split
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.table.solids import as_calibrated, surface_mm

FIELD = preset("tudor-620")


@pytest.mark.parametrize("bow_mm", [0.0, 2.5, -0.4])
def test_the_calibrated_camera_sees_the_surface_where_it_is(bow_mm: float) -> None:
    appearance = draw_table(5, draw_players(5, 1), field=FIELD)
    known = as_calibrated(appearance.camera, FIELD, bow_mm)
    x, y = np.meshgrid(np.linspace(0, FIELD.length_mm, 9), np.linspace(0, FIELD.width_mm, 5))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    for height_mm in (0.0, 5.5):
        true = np.column_stack([points, surface_mm(FIELD, bow_mm, points) + height_mm])
        seen = np.column_stack([points, np.full(len(points), height_mm)])
        np.testing.assert_allclose(known.to_pixels(seen), appearance.camera.to_pixels(true), atol=1e-9)


@pytest.mark.parametrize("split", SPLITS)
def test_boards_are_flat_sagging_or_dished_in_every_split(split: Split) -> None:
    bows = np.array([draw_bow(Deck(split, seed, 11)) for seed in range(300)])
    assert 0.2 < (bows == 0).mean() < 0.4
    assert 0.1 < (bows > 1.5).mean() < 0.35
    assert -0.4 <= bows.min() < 0.0
    assert 2.8 < bows.max() <= 3.5


def test_the_bow_is_drawn_beside_everything_else() -> None:
    appearances = [draw_table(seed, draw_players(seed, 1)) for seed in range(12)]
    assert len({appearance.board.bow_mm for appearance in appearances}) > 4
    for seed, appearance in enumerate(appearances):
        board = draw_board(Deck("train", seed, 2), appearance.field, seed)
        assert (board.rail_mm, board.lettering, board.wear) == (
            appearance.board.rail_mm,
            appearance.board.lettering,
            appearance.board.wear,
        )
