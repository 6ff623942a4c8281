"""Appearance of a table and properties of its camera: the interface between randomization and the renderers.

One `Appearance` is drawn from a seed by `twin.randomization.tables` and rendered to the same geometry by any renderer.
Colors are sRGB display values, not linear light, 0..1, red green blue. Materials and surroundings are drawn by the path
tracer alone; the compositor draws the plain color: a material changes how a solid looks, never where it is.
"""

from __future__ import annotations

from typing import Literal, get_args

from downfield.calibration.camera import Camera
from downfield.core.field.model import FieldModel
from downfield.core.records import record
from downfield.twin.table.snapshot import Quaternion, Vector

Color = tuple[float, float, float]

Pattern = Literal[
    "plain", "stripe", "plate_digits", "bands", "sticker", "rim", "mottled", "text", "pips", "body_digits", "worn",
    "grooves",
]  # fmt: skip
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)  # patterns in the order of the numbers that the kernels know them by

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
    """

    roughness: float | None = None  # 0 polished .. 1 matt; None for the part's usual one.
    reflectance: float = 0.04  # at normal incidence: 0.04 for plastic and paint, more for metal
    bevel_mm: float | None = None  # width of the shaded rim of a box or cylinder; None for the part's usual one
    corner_mm: float = 0.0  # radius of a box's upright edges; a base's follows from its size
    refraction: float | None = None  # refractive index of a clear solid; None for acrylic
    pattern: Pattern = "plain"  # see above
    second: Color = (0.5, 0.5, 0.5)  # the color that the pattern mixes in
    values: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # see above


@record
class SkyLobe:
    """A bright part of the surroundings, such as a wall in the sun."""

    toward: tuple[float, float, float]  # its direction, a unit vector, board frame
    power: float  # exponent of the cosine from its direction: the higher, the narrower
    color: Color  # its light there, relative to the ambient light


@record
class Surroundings:
    """Table and room."""

    table_z_mm: float = -20.0  # height of the table under the board; below a sagging board
    table_top: TableTop = "wood"  # kind of its surface
    grain: float = 0.25  # largest darkening by the surface's pattern, 0..1
    table_roughness: float = 0.7  # table_roughness, board_roughness: 0 polished .. 1 matt.
    board_roughness: float = 0.8
    board_reflectance: float = 0.04  # at normal incidence
    sky: Color = (1.0, 1.0, 1.0)  # color of the ambient light
    sky_rise: float = 0.0  # share by which it is brighter straight above than at the horizon; negative for darker
    lobes: tuple[SkyLobe, ...] = ()  # bright parts, at most two


@record
class Wear:
    """Dirt and damage of a board beyond its worn paint."""

    soil: float = 0.0  # relative darkening and brightening by broad stains, a standard deviation; 0 for none
    soil_mm: float = 30.0  # size of the stains
    scratches: int = 0  # number of scratches and tracks of bases
    scratch: Color = (0.6, 0.6, 0.6)  # color of the scratches
    marks: int = 0  # number of discs, tape and stickers put on the board


@record
class Solid:
    """One part of a figure, a goal post or clutter."""

    # `box` (half sizes x, y, z), `ellipsoid` (radii), `capsule`, `cylinder` (radius, half length, unused; axis z)
    kind: Literal["box", "ellipsoid", "capsule", "cylinder"]
    size_mm: Vector  # sizes in the order that `kind` says
    position_mm: Vector  # center, in the owner's frame
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)  # attitude, in the owner's frame, (w, x, y, z)
    color: Color = (0.5, 0.5, 0.5)  # of its surface
    opacity: float = 1.0  # 1, or less for clear plastic
    # name of the part; the solid whose part is `base` is the base box itself or the lowest of its layers, which has its
    # outline, rounded by `BaseSize.corner_mm`
    part: Literal["base", "body", "helmet", "ball", "strewn", "other"] = "body"
    material: Material | None = None  # its surface in traced pictures; None for the part's usual one


@record
class FigureAppearance:
    """The solids of one figure, in its own frame."""

    solids: tuple[Solid, ...]  # the base's box first
    holds_mm: tuple[Vector, ...] = ()  # places where its hands and arms may hold a ball, in its own frame


@record
class Lamp:
    """One lamp, or the window or panel that light comes through."""

    position_mm: Vector  # board frame
    strength: float  # its light on a level surface at the board's middle; all lamps' and the ambient light add up to 1
    color: Color  # of its light, 1 is white
    radius_mm: float  # of its disc; the larger, the softer its shadows
    half_mm: tuple[float, float] | None = None  # half sizes of a window or panel instead of a disc, in traced pictures


@record
class Decal:
    """A rectangle printed over the board, such as a dial's window, with a line of text in it."""

    x_mm: tuple[float, float]  # x_mm, y_mm: its extent, (low, high) along and across
    y_mm: tuple[float, float]
    color: Color | None = None  # of its ground; None leaves the print under it
    text: str = ""  # in the middle of it; what leaves the rectangle is cut off
    ink: Color = (0.05, 0.05, 0.05)  # color of the text
    height: float = 0.7  # of the text, as a share of the rectangle's
    shift: float = 0.0  # of the text toward larger y, as a share of the rectangle's height
    font: int = 4  # style of the text, see `twin.table.lettering`
    edge_mm: float = 0.0  # width of a rim in the ink's color; 0 for none


@record
class Numerals:
    """How yard numbers are painted. Lengths are shares of their height."""

    gap: float = 0.35  # between the digits, where the yard line runs, in ems
    stretch: float = 1.0  # of their width
    weight: float = 0.0  # added to their strokes on each side; negative takes away
    slant: float = 0.0  # shift of the upper edge against the lower
    bar: float = 0.0  # width of a bar through the middle of each digit; a negative one is cut out, as stencils do
    bar_deg: float = 60.0  # its angle from the horizontal
    ink: Color | None = None  # None for the lines' color
    rim: Color | None = None  # of an outline; None for none
    is_over_lines: bool = False  # whether they cover the yard line
    is_sideways: bool = False  # whether they are read from the end zones


@record
class BoardAppearance:
    """Print and wear of the board."""

    grass: tuple[Color, ...]  # colors of the stripes, repeated from the left end line, `stripe_yd` each
    stripe_yd: float  # their width
    line: Color  # color of the paint
    end_zones: tuple[Color, Color]  # colors, left and right
    lettering: tuple[str, str]  # words in the end zones; may be empty
    midfield: float  # radius of the midfield emblem in yards along, 0 for none
    texture: float  # strength of the grass texture, 0..1
    wear: float  # share of paint worn off, 0..1
    gloss: float  # strength of the lamps' highlights, 0 matt .. 1 mirror.
    rail: Color  # color of the rail around the board, and its height and width, mm; height 0 for none
    rail_mm: tuple[float, float]
    bow_mm: float  # depth of the board's middle below its edges; negative for a board that bulges
    seed: int  # of the grain of texture and wear
    border: Color = (0.12, 0.35, 0.16)  # color beyond the sidelines and end lines
    emblem: Color = (0.85, 0.85, 0.85)  # color of the midfield emblem
    font: int = 4  # style of numbers and words, see `twin.table.lettering`
    emblem_text: str = ""  # letters in the emblem
    end_pattern: Literal["plain", "diagonal", "checks"] = "plain"  # how the end zones are filled
    arrows: bool = True  # whether the numbers carry arrows toward the nearer goal
    numerals: Numerals = Numerals()  # how the numbers are painted
    decals: tuple[Decal, ...] = ()  # printed over everything else, in order
    dirt: Wear = Wear()  # stains, scratches and marks


@record
class Processing:
    """What a webcam makes of its own picture before it is compressed."""

    sharpen: float = 0.0  # strength of unsharp masking, 0 for none .. about 1.6.
    sharpen_px: float = 1.0  # standard deviation of the mask's blur
    contrast: float = 0.0  # strength of an S-curve through the levels, 0 for none; negative flattens
    gamma: float = 1.0  # exponent on display values of 0..1; above 1 darkens
    black: float = 0.0  # display value of black, 0 as it is
    saturation: float = 1.0  # 0 gray, 1 as it is
    hue_deg: float = 0.0  # rotation of the colors about gray
    aberration_px: float = 0.0  # shift of red outward and blue inward at the picture's corners
    denoise: float = 0.0  # 0 none .. 1: smoothing of everything but strong edges.


@record
class Sensor:
    """Properties of the camera beyond geometry."""

    fps: float = 30.0  # frames per second
    exposure_ms: float = 4.0  # shutter time: motion blur
    gain: float = 1.0  # factor on the light, 1 for none
    white_balance: Color = (1.0, 1.0, 1.0)  # factors on red, green, blue
    noise: float = 2.0  # standard deviation of read noise at mid gray, 0..255 scale; shot noise grows with brightness
    blur_px: float = 0.5  # standard deviation of defocus
    flicker: float = 0.0  # relative brightness swing of lamps on 50/60 Hz mains
    mains_hz: float = 60.0  # frequency of the mains, 50 or 60
    rolling_ms: float = 0.0  # time from the first row's exposure to the last's
    shake_px: float = 0.0  # standard deviation of the mounted camera's slow sway
    buzz_px: float = 0.0  # amplitude of its vibration while the board is on
    jpeg: int = 92  # quality of the camera's MJPEG, 1..100
    vignette: float = 0.0  # share of the light that is lost at the corners, 0..1
    processing: Processing | None = None  # what the camera itself does to its picture; None for nothing


@record
class Appearance:
    """A table, its light and its camera."""

    seed: int  # seed of all draws
    field: FieldModel  # the printed field
    board: BoardAppearance  # print and wear
    figures: tuple[FigureAppearance, ...]  # one per player, in roster order
    ball: FigureAppearance  # its solids, in the ball's frame
    lamps: tuple[Lamp, ...]  # at least one
    ambient: float  # light from everywhere, 0..1: what the lamps leave of 1
    table: Color  # color of the table under the board
    clutter: tuple[Solid, ...]  # things lying beside the board, in the board frame
    skin: Color  # color of hands
    sleeve: Color  # color of forearms
    camera: Camera  # nominal lens and pose; shake and buzz move it frame by frame
    sensor: Sensor  # properties of the camera beyond geometry
    surroundings: Surroundings | None = None  # table and room in traced pictures; None for plain ones
