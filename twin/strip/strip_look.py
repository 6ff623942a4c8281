"""The look of a strip, drawn from a seed: print, scoreboard, windows, slide, light and camera.

As for tables, the splits share no seed and no setting (`twin.randomization.deck`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from downfield.calibration.camera import Camera
from downfield.core.field.model import FieldModel
from downfield.core.strip import StripSet
from downfield.twin.appearance import BoardAppearance, Color, FigureAppearance, Lamp, Sensor, Solid
from downfield.twin.randomization import palettes
from downfield.twin.randomization.camera_draw import draw_camera, draw_sensor
from downfield.twin.randomization.deck import Deck, Split
from downfield.twin.randomization.lettering import FONTS
from downfield.twin.randomization.table_draw import draw_board, draw_lamps, skin_and_sleeve, table_color

_REDS = tuple(palettes.rgb(code) for code in (0xC41E24, 0xB82028, 0xD02A20, 0xC02430, 0xD8322A))
_PANELS = (*palettes.STRONG, *palettes.DARKS)
_FACES = palettes.LIGHTS
_INKS = (*palettes.DARKS[:10], *palettes.STRONG[:5])


@dataclass(frozen=True, slots=True)
class StripLook:
    """Everything about a strip's pictures that does not change in a game.

    Attributes:
        seed: of all draws.
        strip: the set; its field is the printed one, a little off its nominal size.
        board: the print without the scoreboard.
        panel: color of the scoreboard around the field.
        label: color of the words on it.
        face, ink: colors of the dials and their numbers.
        face_font: style of the numbers.
        face_height: their height as a share of the window's.
        red: color of the slide's line.
        ball: color of the ball.
        plate: opacity of the clear slide.
        shine: strength of the lamps' mirror images in clear plastic, 0..1.
        lamps, ambient, table, skin, sleeve, camera, sensor: as in `twin.appearance.Appearance`.

    """

    seed: int
    strip: StripSet
    board: BoardAppearance
    panel: Color
    label: Color
    face: Color
    ink: Color
    face_font: int
    face_height: float
    red: Color
    ball: Color
    plate: float
    shine: float
    lamps: tuple[Lamp, ...]
    ambient: float
    table: Color
    skin: Color
    sleeve: Color
    camera: Camera
    sensor: Sensor


def draw_look(
    strip: StripSet, seed: int, *, split: Split = "train", size: tuple[int, int] = (1920, 1080), fps: float = 30.0
) -> StripLook:
    """Return the look of a strip.

    Args:
        strip: the set.
        seed: of all draws, together with the split.
        split: draws come from this split's share of the settings.
        size: of the picture, px.
        fps: frames a second.

    """
    deck = Deck(split, seed, 40)
    field = _vary_field(deck, strip.field)
    board = draw_board(Deck(split, seed, 41), field, seed)
    board = dataclasses.replace(board, wear=0.3 * board.wear, gloss=0.4 * board.gloss, rail_mm=(0.0, 0.0))
    light = deck.chance(0.7)
    face, ink = deck.choice(_FACES), deck.choice(_INKS)
    lamps = draw_lamps(Deck(split, seed, 42), field)
    skin, sleeve = skin_and_sleeve(Deck(split, seed, 43))
    panel = deck.choice(_PANELS)
    return StripLook(
        seed=seed,
        strip=dataclasses.replace(strip, field=field),
        board=dataclasses.replace(board, border=panel),
        panel=panel,
        label=deck.choice(palettes.PAINTS),
        face=face if light else ink,
        ink=ink if light else face,
        face_font=deck.choice(range(FONTS)),
        face_height=deck.uniform(0.52, 0.78),
        red=deck.choice(_REDS),
        ball=deck.choice(palettes.PAINTS),
        plate=deck.uniform(0.04, 0.16),
        shine=deck.uniform(0.15, 1.0) if deck.chance(0.6) else 0.0,
        lamps=lamps,
        ambient=1 - sum(lamp.strength for lamp in lamps),
        table=table_color(Deck(split, seed, 44)),
        skin=skin,
        sleeve=sleeve,
        camera=draw_camera(Deck(split, seed, 45), field, board, size),
        sensor=draw_sensor(Deck(split, seed, 46), fps, size),
    )


def no_figures() -> FigureAppearance:
    """Return the ball of an appearance that shows none: the strip's own ball is part of its slide."""
    return FigureAppearance((Solid("ellipsoid", (0.1, 0.1, 0.1), (0.0, 0.0, 0.0), part="ball"),))


def _vary_field(deck: Deck, field: FieldModel) -> FieldModel:
    """Return the print with its scales and paint varied; the windows stay where they are."""
    return dataclasses.replace(
        field,
        mm_per_yd_x=field.mm_per_yd_x * deck.uniform(0.99, 1.01),
        mm_per_yd_y=field.mm_per_yd_y * deck.uniform(0.99, 1.01),
        line_mm=field.line_mm * deck.uniform(0.8, 1.5),
        hash_every_yd=0.0 if deck.chance(0.15) else field.hash_every_yd,
        sideline_marks=deck.chance(0.7),
        number_height_yd=field.number_height_yd * deck.uniform(0.8, 1.2),
    )
