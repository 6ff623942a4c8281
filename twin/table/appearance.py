"""Appearance of a table and properties of its camera: the interface between randomization and the renderers.

One `Appearance` is drawn from a seed by `twin.randomization.tables` and rendered to the same geometry by any renderer.
Colors are sRGB display values, not linear light, 0..1, red green blue. Materials and surroundings are drawn by the path
tracer alone; the other renderers draw the plain color: a material changes how a solid looks, never where it is.
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
        second: the color that the pattern mixes in.
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
        power: exponent of the cosine from its direction: the higher, the narrower.
        color: its light there, relative to the ambient light.
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
        grain: largest darkening by the surface's pattern, 0..1.
        table_roughness, board_roughness: 0 polished .. 1 matt.
        board_reflectance: at normal incidence.
        sky: color of the ambient light.
        sky_rise: share by which it is brighter straight above than at the horizon; negative for darker.
        lobes: bright parts, at most two.
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
        soil: relative darkening and brightening by broad stains, a standard deviation; 0 for none.
        soil_mm: size of the stains.
        scratches: number of scratches and tracks of bases.
        scratch: color of the scratches.
        marks: number of discs, tape and stickers put on the board.
    """

    soil: float = 0.0
    soil_mm: float = 30.0
    scratches: int = 0
    scratch: Color = (0.6, 0.6, 0.6)
    marks: int = 0


@record
class Solid:
    """One part of a figure, a goal post or clutter.

    Attributes:
        kind: ``box`` (half sizes x, y, z), ``ellipsoid`` (radii), ``capsule`` and ``cylinder`` (radius, half length,
            unused; the axis is z).
        size_mm: sizes in the order that `kind` says.
        position_mm: center, in the owner's frame.
        rotation: attitude, in the owner's frame, (w, x, y, z).
        color: of its surface.
        opacity: 1, or less for clear plastic.
        part: name of the part; the solid whose part is ``base`` is the base box itself or the lowest of its layers,
            which has its outline, rounded by `BaseSize.corner_mm`.
        material: its surface in traced pictures; None for the part's usual one.
    """

    kind: Literal["box", "ellipsoid", "capsule", "cylinder"]
    size_mm: Vector
    position_mm: Vector
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    color: Color = (0.5, 0.5, 0.5)
    opacity: float = 1.0
    part: Literal["base", "body", "helmet", "ball", "strewn", "other"] = "body"
    material: Material | None = None


@record
class FigureAppearance:
    """The solids of one figure, in its own frame.

    Attributes:
        solids: the base's box first.
        holds_mm: places where its hands and arms may hold a ball, in its own frame.
    """

    solids: tuple[Solid, ...]
    holds_mm: tuple[Vector, ...] = ()


@record
class Lamp:
    """One lamp, or the window or panel that light comes through.

    Attributes:
        position_mm: board frame.
        strength: its light on a level surface at the board's middle; all lamps' and the ambient light add up to 1.
        color: of its light, 1 is white.
        radius_mm: of its disc; the larger, the softer its shadows.
        half_mm: half width and height of a window or panel, in place of a disc, in traced pictures.
    """

    position_mm: Vector
    strength: float
    color: Color
    radius_mm: float
    half_mm: tuple[float, float] | None = None


@record
class Decal:
    """A rectangle printed over the board, such as a dial's window, with a line of text in it.

    Attributes:
        x_mm, y_mm: its extent, (low, high) along and across.
        color: of its ground; None leaves the print under it.
        text: in the middle of it; what leaves the rectangle is cut off.
        ink: color of the text.
        height: of the text, as a share of the rectangle's.
        shift: of the text toward larger y, as a share of the rectangle's height.
        font: style of the text, see `twin.table.lettering`.
        edge_mm: width of a rim in the ink's color; 0 for none.
    """

    x_mm: tuple[float, float]
    y_mm: tuple[float, float]
    color: Color | None = None
    text: str = ""
    ink: Color = (0.05, 0.05, 0.05)
    height: float = 0.7
    shift: float = 0.0
    font: int = 4
    edge_mm: float = 0.0


@record
class BoardAppearance:
    """Print and wear of the board.

    Attributes:
        grass: colors of the stripes, repeated from the left end line, `stripe_yd` each.
        stripe_yd: their width.
        line: color of the paint.
        end_zones: colors, left and right.
        lettering: words in the end zones; may be empty.
        midfield: radius of the midfield emblem in yards along, 0 for none.
        texture: strength of the grass texture, 0..1.
        wear: share of paint worn off, 0..1.
        gloss: strength of the lamps' highlights, 0 matt .. 1 mirror.
        rail: color of the rail around the board, and its height and width, mm; height 0 for none.
        bow_mm: depth of the board's middle below its edges; negative for a board that bulges.
        seed: of the grain of texture and wear.
        border: color beyond the sidelines and end lines.
        emblem: color of the midfield emblem.
        font: style of numbers and words, see `twin.table.lettering`.
        emblem_text: letters in the emblem.
        end_pattern: how the end zones are filled.
        arrows: whether the numbers carry arrows toward the nearer goal.
        decals: printed over everything else, in order.
        dirt: stains, scratches and marks.
    """

    grass: tuple[Color, ...]
    stripe_yd: float
    line: Color
    end_zones: tuple[Color, Color]
    lettering: tuple[str, str]
    midfield: float
    texture: float
    wear: float
    gloss: float
    rail: Color
    rail_mm: tuple[float, float]
    bow_mm: float
    seed: int
    border: Color = (0.12, 0.35, 0.16)
    emblem: Color = (0.85, 0.85, 0.85)
    font: int = 4
    emblem_text: str = ""
    end_pattern: Literal["plain", "diagonal", "checks"] = "plain"
    arrows: bool = True
    decals: tuple[Decal, ...] = ()
    dirt: Wear = Wear()


@record
class Processing:
    """What a webcam makes of its own picture before it is compressed.

    Attributes:
        sharpen: strength of unsharp masking, 0 for none .. about 1.6.
        sharpen_px: standard deviation of the mask's blur.
        contrast: strength of an S-curve through the levels, 0 for none; negative flattens.
        gamma: exponent on display values of 0..1; above 1 darkens.
        black: display value of black, 0 as it is.
        saturation: 0 gray, 1 as it is.
        hue_deg: rotation of the colors about gray.
        aberration_px: shift of red outward and blue inward at the picture's corners.
        denoise: 0 none .. 1: smoothing of everything but strong edges.
    """

    sharpen: float = 0.0
    sharpen_px: float = 1.0
    contrast: float = 0.0
    gamma: float = 1.0
    black: float = 0.0
    saturation: float = 1.0
    hue_deg: float = 0.0
    aberration_px: float = 0.0
    denoise: float = 0.0


@record
class Sensor:
    """Properties of the camera beyond geometry.

    Attributes:
        fps: frames per second.
        exposure_ms: shutter time: motion blur.
        gain: factor on the light, 1 for none.
        white_balance: factors on red, green, blue.
        noise: standard deviation of read noise at mid gray, 0..255 scale; shot noise grows with brightness.
        blur_px: standard deviation of defocus.
        flicker: relative brightness swing of lamps on 50/60 Hz mains.
        mains_hz: frequency of the mains, 50 or 60.
        rolling_ms: time from the first row's exposure to the last's.
        shake_px: standard deviation of the mounted camera's slow sway.
        buzz_px: amplitude of its vibration while the board is on.
        jpeg: quality of the camera's MJPEG, 1..100.
        vignette: share of the light that is lost at the corners, 0..1.
        processing: what the camera itself does to its picture; None for nothing.
    """

    fps: float = 30.0
    exposure_ms: float = 4.0
    gain: float = 1.0
    white_balance: Color = (1.0, 1.0, 1.0)
    noise: float = 2.0
    blur_px: float = 0.5
    flicker: float = 0.0
    mains_hz: float = 60.0
    rolling_ms: float = 0.0
    shake_px: float = 0.0
    buzz_px: float = 0.0
    jpeg: int = 92
    vignette: float = 0.0
    processing: Processing | None = None


@record
class Appearance:
    """A table, its light and its camera.

    Attributes:
        seed: seed of all draws.
        field: the printed field.
        board: print and wear.
        figures: one per player, in roster order.
        ball: its solids, in the ball's frame.
        lamps: at least one.
        ambient: light from everywhere, 0..1: what the lamps leave of 1.
        table: color of the table under the board.
        clutter: things lying beside the board, in the board frame.
        skin: color of hands.
        sleeve: color of forearms.
        camera: nominal lens and pose; shake and buzz move it frame by frame.
        sensor: properties of the camera beyond geometry.
        surroundings: table and room in traced pictures; None for plain ones.
    """

    seed: int
    field: FieldModel
    board: BoardAppearance
    figures: tuple[FigureAppearance, ...]
    ball: FigureAppearance
    lamps: tuple[Lamp, ...]
    ambient: float
    table: Color
    clutter: tuple[Solid, ...]
    skin: Color
    sleeve: Color
    camera: Camera
    sensor: Sensor
    surroundings: Surroundings | None = None
