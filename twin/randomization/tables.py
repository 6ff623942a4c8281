"""One table drawn from a seed: print, figures, light, clutter and camera. The entry of the package.

Training, validation and test tables share no seed and no setting: see `twin.randomization.deck`. Two varieties:

- ``usual``: simple figures on the twin's own bases, a few lamps, boxes beside the board. Cheap to draw in bulk: plays
  are filmed on such tables, and the compositor and MuJoCo draw their data sets of them.
- ``wide``: everything varied that a real table may vary, with materials and rooms that only the path tracer shows, to
  train and to calibrate on. What is the same in all training pictures becomes a false cue.
"""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

from downfield.core.field.model import FieldModel
from downfield.core.footprint import BaseSize
from downfield.core.scene import Jersey, Player
from downfield.twin.randomization.balls import draw_ball, draw_varied_ball, give_balls, give_varied_balls
from downfield.twin.randomization.bases import draw_bases, vary_bases
from downfield.twin.randomization.boards import draw_board, draw_bow, draw_field, vary_board, vary_field
from downfield.twin.randomization.cameras import draw_camera, draw_sensor, draw_view, draw_webcam
from downfield.twin.randomization.clutter import draw_clutter, draw_varied_clutter
from downfield.twin.randomization.colors import any_color
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.randomization.light import draw_lamps, draw_surroundings, skin_and_sleeve, table_color, vary_lamps
from downfield.twin.randomization.teams import draw_figures, draw_teams
from downfield.twin.table.appearance import Appearance
from downfield.twin.table.snapshot import BallKind

Variety = Literal["usual", "wide"]

_JERSEYS: Final[tuple[Jersey, ...]] = ("dark", "light")
_PER_SIDE: Final = 11


def draw_table(
    seed: int,
    players: tuple[Player, ...],
    *,
    variety: Variety = "usual",
    field: FieldModel | None = None,
    split: Split = "train",
    size: tuple[int, int] = (1920, 1080),
    fps: float = 30.0,
    ball: BallKind = "foam",
    carriers: float = 0.0,
    strewn: float = 0.0,
) -> Appearance:
    """Return the appearance of a whole table; equal arguments give equal appearances.

    Args:
        seed: of all draws, together with the split and the variety.
        players: the roster; figures are drawn in its order, on bases of the sizes it carries.
        variety: how widely tables differ from one another.
        field: the printed field; drawn with the same seed when None.
        split: draws come from this split's share of the settings.
        size: of the picture, px.
        fps: frames per second.
        ball: the kind of ball that the appearance shows wherever there is a ball.
        carriers: share of the figures that hold a ball of their own, 0..1, for training; a game has one ball, which at
            most one figure of 22 carries.
        strewn: share of the figures with a ball on the board beside them, 0..1 - `carriers`.
    """
    draw = _wide if variety == "wide" else _usual
    return draw(_Order(seed, players, split, size, fps, ball, carriers, strewn), field)


@dataclasses.dataclass(frozen=True, slots=True)
class _Order:
    """The arguments of `draw_table` that both varieties need."""

    seed: int
    players: tuple[Player, ...]
    split: Split
    size: tuple[int, int]
    fps: float
    ball: BallKind
    carriers: float
    strewn: float


# The numbers of the decks are part of what a seed means: another number is another table.


def _usual(order: _Order, field: FieldModel | None) -> Appearance:
    def deck(number: int) -> Deck:
        return Deck(order.split, order.seed, number)

    field = field or draw_field(order.seed, split=order.split)
    board = dataclasses.replace(draw_board(deck(2), field, order.seed), bow_mm=draw_bow(deck(11)))
    skin, sleeve = skin_and_sleeve(deck(5))
    figures = draw_figures(deck(3), order.players, board)
    lamps = draw_lamps(deck(6), field)
    return Appearance(
        seed=order.seed,
        field=field,
        board=board,
        figures=give_balls(deck(12), figures, order.carriers, order.strewn),
        ball=draw_ball(deck(4), order.ball),
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table_color(deck(7)),
        clutter=draw_clutter(deck(8), field, board),
        skin=skin,
        sleeve=sleeve,
        camera=draw_camera(deck(9), field, board, order.size),
        sensor=draw_sensor(deck(10), order.fps, order.size),
    )


def _wide(order: _Order, field: FieldModel | None) -> Appearance:
    def deck(number: int) -> Deck:
        return Deck(order.split, order.seed, 0x7A, number)

    field = field or vary_field(deck(0), draw_field(order.seed, split=order.split))
    drawn = draw_board(deck(1), field, order.seed)
    board = dataclasses.replace(vary_board(deck(2), drawn), bow_mm=draw_bow(deck(3)))
    skin, sleeve = skin_and_sleeve(deck(4))
    lamps = vary_lamps(deck(5), draw_lamps(deck(6), field), field)
    around = draw_surroundings(deck(7), board.gloss)
    figures = draw_teams(deck(8), order.players, board)
    cloth = deck(9)
    return Appearance(
        seed=order.seed,
        field=field,
        board=board,
        figures=give_varied_balls(deck(10), figures, order.carriers, order.strewn),
        ball=draw_varied_ball(deck(11), order.ball),
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table_color(cloth) if cloth.chance(0.6) else any_color(cloth, 0.4),
        clutter=draw_varied_clutter(deck(12), field, board, around.table_z_mm),
        skin=skin,
        sleeve=any_color(cloth, 0.2) if cloth.chance(0.4) else sleeve,
        camera=draw_view(deck(13), field, board, order.size),
        sensor=draw_webcam(deck(14), order.fps, order.size),
        surroundings=around,
    )


def draw_players(
    seed: int, per_side: int | None = None, *, variety: Variety = "usual", split: Split = "train"
) -> tuple[Player, ...]:
    """Return two teams with drawn bases: ``dark-1`` .. then ``light-1`` ...

    Args:
        seed: of all draws, together with the split.
        per_side: figures of a team; None for eleven, in the wide variety on a quarter of the tables fewer.
        variety: ``wide`` gives most tables bases of other makes than the twin's own.
        split: draws come from this split's share of the settings.
    """
    if variety == "usual":
        return _roster(draw_bases(seed, 2 * (per_side or _PER_SIDE), split=split))
    deck = Deck(split, seed, 0x51)
    drawn = _PER_SIDE if deck.chance(0.75) else int(deck.rng.integers(4, 11))
    return vary_bases(deck, _roster(draw_bases(seed, 2 * (per_side or drawn), split=split)))


def _roster(sizes: tuple[BaseSize, ...]) -> tuple[Player, ...]:
    per_side = len(sizes) // 2
    return tuple(
        Player(f"{jersey}-{number}", jersey, str(number), base=sizes[i * per_side + number - 1])
        for i, jersey in enumerate(_JERSEYS)
        for number in range(1, per_side + 1)
    )
