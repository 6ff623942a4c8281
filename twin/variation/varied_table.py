"""One table drawn from a seed, with everything varied that a real table may vary: to train and to calibrate on."""

from __future__ import annotations

import dataclasses

import numpy as np

from downfield.core.arrays import Array
from downfield.core.field.model import FieldModel
from downfield.core.scene import Player
from downfield.twin.appearance import Appearance, Solid
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.randomization.randomize import draw_field, draw_players
from downfield.twin.randomization.table_draw import draw_board, draw_bow, draw_lamps, skin_and_sleeve, table_color
from downfield.twin.render.solids import cloud
from downfield.twin.variation.balls import BallKind, draw_varied_ball, give_varied_balls
from downfield.twin.variation.bases import vary_bases
from downfield.twin.variation.boards import vary_board, vary_field
from downfield.twin.variation.clutter import draw_varied_clutter
from downfield.twin.variation.colors import any_color
from downfield.twin.variation.light import draw_surroundings, vary_lamps
from downfield.twin.variation.teams import draw_teams
from downfield.twin.variation.views import draw_view, draw_webcam

_FLAT_MM = 0.3  # what rises less over the board is no obstacle


def draw_varied_players(seed: int, *, split: Split = "train") -> tuple[Player, ...]:
    """Return two teams with bases of every make, on a quarter of the tables smaller teams than eleven."""
    deck = Deck(split, seed, 0x51)
    per_side = 11 if deck.chance(0.75) else int(deck.rng.integers(4, 11))
    return vary_bases(deck, draw_players(seed, per_side, split=split))


def draw_varied(
    seed: int,
    players: tuple[Player, ...],
    *,
    split: Split = "train",
    size: tuple[int, int] = (1920, 1080),
    fps: float = 30.0,
    ball: BallKind = "foam",
    carriers: float = 0.0,
    strewn: float = 0.0,
) -> Appearance:
    """Return the appearance of a whole table; arguments as of `twin.randomization.randomize.draw`.

    Named settings and intervals are dealt to the splits, so no split shows what another one shows.
    """

    def deck(number: int) -> Deck:
        return Deck(split, seed, 0x7A, number)

    field = vary_field(deck(0), draw_field(seed, split=split))
    drawn = draw_board(deck(1), field, seed)
    board = dataclasses.replace(vary_board(deck(2), drawn), bow_mm=draw_bow(deck(3)))
    skin, sleeve = skin_and_sleeve(deck(4))
    lamps = vary_lamps(deck(5), draw_lamps(deck(6), field), field)
    around = draw_surroundings(deck(7), board.gloss)
    figures = draw_teams(deck(8), players, board)
    cloth = deck(9)
    return Appearance(
        seed=seed,
        field=field,
        board=board,
        figures=give_varied_balls(deck(10), figures, carriers, strewn),
        ball=draw_varied_ball(deck(11), ball),
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table_color(cloth) if cloth.chance(0.6) else any_color(cloth, 0.4),
        clutter=draw_varied_clutter(deck(12), field, board, around.table_z_mm),
        skin=skin,
        sleeve=any_color(cloth, 0.2) if cloth.chance(0.4) else sleeve,
        camera=draw_view(deck(13), field, board, size),
        sensor=draw_webcam(deck(14), fps, size),
        surroundings=around,
    )


def obstacles_on(field: FieldModel, clutter: tuple[Solid, ...]) -> Array:
    """Return where things stand on the board: x, y and reach of each solid, mm, shape (n, 3)."""
    out, points = [], cloud(clutter)
    for own in points:
        if not _is_on_board(field, own) or own[:, 2].max() < _FLAT_MM:
            continue
        middle = (own[:, :2].min(axis=0) + own[:, :2].max(axis=0)) / 2
        out.append([*middle, np.linalg.norm(own[:, :2] - middle, axis=1).max()])
    return np.array(out).reshape(-1, 3)


def without_obstacles(appearance: Appearance) -> Appearance:
    """Return the appearance without what stands on the field of play, for figures that move by themselves."""
    points = cloud(appearance.clutter)
    kept = [
        solid for solid, own in zip(appearance.clutter, points, strict=True) if not _is_on_field(appearance.field, own)
    ]
    return dataclasses.replace(appearance, clutter=tuple(kept))


def _is_on_board(field: FieldModel, points_mm: Array) -> bool:
    left, low, right, high = field.board_mm
    x, y = points_mm[:, 0], points_mm[:, 1]
    return bool(x.max() > left and x.min() < right and y.max() > low and y.min() < high and points_mm[:, 2].max() > 0)


def _is_on_field(field: FieldModel, points_mm: Array) -> bool:
    """Return whether something is on the board, other than goal posts and what lies on its edge."""
    x, y = points_mm[:, :2].mean(axis=0)
    inside = -field.end_zone_mm < x < field.length_mm + field.end_zone_mm and 0 < y < field.width_mm
    return inside and _is_on_board(field, points_mm)
