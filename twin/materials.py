"""Surfaces of solids and what stands around a table, as the traced renderer draws them.

Other renderers draw the plain color: a material changes how a solid looks, never where it is.
"""

from __future__ import annotations

from typing import Literal, get_args

from downfield.core.records import record

Color = tuple[float, float, float]

Pattern = Literal[
    "plain", "stripe", "plate_digits", "bands", "sticker", "rim", "mottled", "text", "pips", "body_digits", "worn",
    "grooves",
]  # fmt: skip
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
"""Patterns in the order of the numbers that the kernels know them by."""

TableTop = Literal["speckled", "wood", "cloth", "stone"]
TABLE_TOPS: tuple[TableTop, ...] = get_args(TableTop)


@record
class Material:
    """The surface of a solid.

    A pattern mixes a second color into the solid's own. The meaning of its four values:

    | pattern | values |
    |---|---|
    | plain | none |
    | stripe | half width and middle across, shares of the half width along y |
    | plate_digits | tens (-1 for none), ones, 1 to be read from behind or 0 from ahead: on a box's face toward -x |
    | bands | half height and middle along z, shares of the second size |
    | sticker | middle along and across, half sizes along and across, shares, on the top |
    | rim | width of a painted rim of the top, mm |
    | mottled | patches per mm, where they begin, threshold 0..1 |
    | text | lines per mm, number of the text, on the top |
    | pips | none: those of a die, on the top |
    | body_digits | tens, ones, 1 behind 2 both sides 3 ahead, size as a share: on an ellipsoid |
    | worn | width of the worn upper edges, mm, where they begin, threshold 0..1 |
    | grooves | per mm, 0 for grooves or 1 for pimples, strength |

    Attributes:
        roughness: 0 polished .. 1 matt; None for the part's usual one.
        reflectance: at normal incidence: 0.04 for plastic and paint, more for metal.
        bevel_mm: width of the shaded rim of a box or cylinder; None for the part's usual one.
        corner_mm: radius of a box's upright edges; a base's follows from its size.
        refraction: refractive index of a clear solid; None for acrylic.
        pattern: see above.
        second: color of the pattern.
        values: see above.

    """

    roughness: float | None = None
    reflectance: float = 0.04
    bevel_mm: float | None = None
    corner_mm: float = 0.0
    refraction: float | None = None
    pattern: Pattern = "plain"
    second: Color = (0.5, 0.5, 0.5)
    values: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@record
class SkyLobe:
    """A bright part of the surroundings, such as a wall in the sun.

    Attributes:
        toward: its direction, a unit vector, board frame.
        power: the higher, the narrower.
        color: its light relative to the ambient light.

    """

    toward: tuple[float, float, float]
    power: float
    color: Color


@record
class Surroundings:
    """Table and room.

    Attributes:
        table_z_mm: height of the table under the board; below a sagging board.
        table_top: kind of its surface.
        grain: darkening by it, 0..1.
        table_roughness, board_roughness: 0 polished .. 1 matt.
        board_reflectance: at normal incidence.
        sky: color of the ambient light.
        sky_rise: brighter above than at the horizon by this share.
        lobes: at most two.

    """

    table_z_mm: float = -20.0
    table_top: TableTop = "wood"
    grain: float = 0.25
    table_roughness: float = 0.7
    board_roughness: float = 0.8
    board_reflectance: float = 0.04
    sky: Color = (1.0, 1.0, 1.0)
    sky_rise: float = 0.0
    lobes: tuple[SkyLobe, ...] = ()


@record
class Wear:
    """Dirt and damage of a board beyond its worn paint.

    Attributes:
        soil: strength of broad stains, 0 for none.
        soil_mm: size of the stains.
        scratches: number of scratches and tracks of bases.
        scratch: their color.
        marks: number of discs, tape and stickers put on the board.

    """

    soil: float = 0.0
    soil_mm: float = 30.0
    scratches: int = 0
    scratch: Color = (0.6, 0.6, 0.6)
    marks: int = 0
