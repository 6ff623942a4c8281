"""Draws tables with prints of many conventions in perspective, for `prints.py`; shares no code with the twin's print.

Every shape is a polygon on the board that is projected through the camera and its lens and filled at four times the
picture's resolution, so that no raster of the print stands between the paint and the picture.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from webcam_lenses import draw_webcam_lens

from downfield.calibration.camera import Camera, Lens
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle, LineZero

Color = tuple[float, float, float]

_SIZE = (1920, 1080)
_FINER = 4

_STROKES: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "0": (((0.2, 0), (0, 0.2), (0, 0.8), (0.2, 1), (0.8, 1), (1, 0.8), (1, 0.2), (0.8, 0), (0.2, 0)),),
    "1": (((0.2, 0.8), (0.5, 1), (0.5, 0)),),
    "2": (((0, 0.8), (0.2, 1), (0.8, 1), (1, 0.8), (1, 0.6), (0, 0), (1, 0)),),
    "3": (((0, 0.9), (0.2, 1), (0.8, 1), (1, 0.75), (0.5, 0.53), (1, 0.3), (0.8, 0), (0.2, 0), (0, 0.1)),),
    "4": (((0.75, 0), (0.75, 1), (0, 0.33), (1, 0.33)),),
    "5": (((1, 1), (0.1, 1), (0, 0.55), (0.7, 0.6), (1, 0.4), (0.9, 0.1), (0.6, 0), (0, 0.05)),),
}
"""Digits as strokes in a unit square, y up."""


@dataclass(frozen=True, slots=True)
class Convention:
    """How one board is printed, and its true field model."""

    field: FieldModel
    border: Color | None
    margin: Color
    turf: Color
    stripes: float
    paint: Color
    end_zone: Literal["plain", "checkered", "lettered"]
    end_zone_colors: tuple[Color, Color]
    ticks: Literal["none", "touching", "apart"]
    tick_yd: float
    double_hashes: bool
    missing_fives: float
    logo_yd: float
    wear: float
    arrows: bool
    stroke: float


@dataclass(frozen=True, slots=True)
class PhotographedTable:
    """A picture of a table, and the truth."""

    image: Image
    camera: Camera
    convention: Convention

    @property
    def field(self) -> FieldModel:
        """The print as it is."""
        return self.convention.field


def draw_convention(rng: np.random.Generator) -> Convention:
    """Draw a way to print a board."""
    kind = rng.choice(["100", "100", "100", "100", "50", "110"])
    length, width, zone = {"100": (100.0, 160 / 3, 10.0), "50": (50.0, 85 / 3, 8.0), "110": (110.0, 65.0, 20.0)}[kind]
    if rng.random() < 0.08:
        zone = 0.0
    long_mm = rng.uniform(600, 1150)
    aspect = rng.uniform(1.55, 2.05) if kind != "50" else rng.uniform(1.6, 2.0)
    along, across = long_mm / length, long_mm / aspect / width
    thin = rng.uniform(0.9, 2.4) * long_mm / 900
    zeros: list[LineZero] = ["inner", "center", "outer"]
    border_mm = 0.0 if rng.random() < 0.15 else rng.uniform(0.8, 8.0)
    rows = [(20.0, width - 20.0), (23.58, width - 23.58)][int(rng.integers(2))]
    if kind != "100":
        rows = (0.385 * width, 0.615 * width)
    number_in = rng.uniform(6, 14) * width / (160 / 3)
    field = FieldModel(
        "print", "Print", length, width, zone, along, across, thin,
        hash_rows_y_yd=rows,
        hash_length_yd=rng.uniform(0.4, 1.1),
        number_rows_y_yd=(number_in, width - number_in),
        number_height_yd=rng.uniform(1.7, 3.6) * width / (160 / 3),
        number_every_yd=10.0,
        margin_mm=(rng.uniform(6, 40), rng.uniform(6, 40)),
        sideline=LineStyle(max(border_mm, 0.01), "inner"),
        goal_line=LineStyle(thin * rng.uniform(1, 3), zeros[int(rng.integers(3))]),
        end_line=LineStyle(max(border_mm, thin), "inner"),
        hash_mark=LineStyle(thin * rng.uniform(0.5, 1.0), "center"),
        measured=True,
    )  # fmt: skip
    turfs = (
        (0.16, 0.45, 0.2),
        (0.1, 0.35, 0.12),
        (0.3, 0.6, 0.28),
        (0.2, 0.4, 0.3),
        (0.45, 0.35, 0.2),
        (0.15, 0.25, 0.5),
    )
    turf = np.array(turfs[int(rng.integers(len(turfs)))]) * rng.uniform(0.75, 1.2)
    margins = [turf, np.array([0.9, 0.88, 0.84]), np.array([0.1, 0.1, 0.11]), rng.uniform(0.1, 0.9, 3)]
    margin = margins[int(rng.integers(1 if border_mm == 0 else 0, 4))]
    white = (0.93, 0.94, 0.92)
    paint = white if rng.random() < 0.85 else (0.95, 0.85, 0.25)
    borders = [paint, paint, (0.05, 0.05, 0.05), _color(rng.uniform(0.1, 0.9, 3))]
    border = None if border_mm == 0 else borders[int(rng.integers(4))]
    zones = (_color(rng.uniform(0.1, 0.8, 3)), _color(rng.uniform(0.1, 0.8, 3)))
    return Convention(
        field, border, _color(margin), _color(turf), float(rng.choice([0.0, 0.12])), paint,
        rng.choice(["plain", "checkered", "lettered"]), zones,
        rng.choice(["none", "touching", "apart"]), rng.uniform(0.4, 1.0), bool(rng.random() < 0.2),
        0.12 if rng.random() < 0.25 else 0.0, rng.uniform(3, 8) if rng.random() < 0.5 else 0.0,
        rng.uniform(0, 0.5), bool(rng.random() < 0.4), rng.uniform(0.1, 0.22),
    )  # fmt: skip


def photograph_table(seed: int, *, mirrored: bool = False, webcam: bool = False) -> PhotographedTable:
    """Draw a board of a convention of its own and photograph it with a camera of its own, or with a webcam's lens."""
    rng = np.random.default_rng([seed, 0x0DD])
    convention = draw_convention(rng)
    lens = draw_webcam_lens(np.random.default_rng([seed, 0x1E45]), _SIZE) if webcam else None
    camera = _draw_camera(rng, convention.field, lens)
    canvas = _Canvas(rng, camera)
    _draw_board(canvas, convention)
    image = _expose(canvas, rng, convention.wear)
    if mirrored:
        image = np.ascontiguousarray(image[:, ::-1])
    return PhotographedTable(image, camera, convention)


def rough_field(table: PhotographedTable, seed: int, error: float = 0.03) -> FieldModel:
    """Return what somebody would write down of a board: its kind and sizes to some percent, nothing of its paint."""
    rng = np.random.default_rng([seed, 0x707])
    field = table.field
    usual = 9.0 * field.width_yd / (160 / 3)
    return FieldModel(
        "rough", "Rough", field.length_yd, field.width_yd, field.end_zone_yd,
        field.mm_per_yd_x * rng.uniform(1 - error, 1 + error), field.mm_per_yd_y * rng.uniform(1 - error, 1 + error),
        1.6 * field.length_mm / 900,
        hash_rows_y_yd=field.hash_rows_y_yd, number_rows_y_yd=(usual, field.width_yd - usual), number_height_yd=2.5,
    )  # fmt: skip


class _Canvas:
    """A picture at four times its resolution, painted with polygons of the board."""

    def __init__(self, rng: np.random.Generator, camera: Camera) -> None:
        self.camera = camera
        width, height = camera.lens.size_px
        table = rng.uniform(0.15, 0.6, 3)
        self.image = np.empty((height * _FINER, width * _FINER, 3), dtype=np.uint8)
        self.image[:] = np.rint(255 * table)

    def polygon(self, points_mm: Array, color: Color) -> None:
        """Fill a polygon, shape (n, 2)."""
        steps = [
            a + (b - a) * np.linspace(0, 1, max(2, int(np.linalg.norm(b - a) / 12)), endpoint=False)[:, None]
            for a, b in zip(points_mm, np.roll(points_mm, -1, axis=0), strict=True)
        ]
        px = (self.camera.to_pixels(np.concatenate(steps)) + 0.5) * _FINER - 0.5
        if np.isfinite(px).all():
            # OpenCV also fills the pixels that the outline runs through, half a pixel beyond it.
            fixed = np.round(_inset(px, 0.5) * 16).astype(np.int32)
            cv2.fillPoly(self.image, [fixed], [255 * part for part in color[::-1]], cv2.LINE_8, 4)

    def box(self, x0: float, y0: float, x1: float, y1: float, color: Color) -> None:
        """Fill a rectangle."""
        self.polygon(np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]), color)

    def stroke(self, points_mm: Array, width_mm: float, color: Color) -> None:
        """Draw a polyline of a width, with square joints."""
        for a, b in pairwise(points_mm):
            run = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9) * width_mm / 2
            side = np.array([-run[1], run[0]])
            self.polygon(np.array([a - run - side, b + run - side, b + run + side, a - run + side]), color)


def _inset(px: Array, by: float) -> Array:
    """Return a polygon, shape (n, 2), with its corners moved inward along the mean of their edges' normals."""
    edges = np.roll(px, -1, axis=0) - px
    area = float(px[:, 0] @ np.roll(px[:, 1], -1) - px[:, 1] @ np.roll(px[:, 0], -1))
    normals = np.sign(area) * edges[:, ::-1] * (-1.0, 1.0)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    both = normals + np.roll(normals, 1, axis=0)
    inset: Array = px + by * both / np.maximum(1 + (normals * np.roll(normals, 1, axis=0)).sum(axis=1), 0.3)[:, None]
    return inset


def _draw_board(canvas: _Canvas, look: Convention) -> None:
    field = look.field
    x0, y0, x1, y1 = field.board_mm
    zone, length, width = field.end_zone_mm, field.length_mm, field.width_mm
    canvas.box(x0, y0, x1, y1, look.margin)
    if look.border is not None:
        edge = field.line_width_mm("sideline")
        canvas.box(-zone - edge, -edge, length + zone + edge, width + edge, look.border)
    canvas.box(-zone, 0, length + zone, width, look.turf)
    step = 5 * field.mm_per_yd_x
    darker = _color(np.array(look.turf) * (1 - look.stripes))
    for i in range(0, round(field.length_yd / 5), 2):
        canvas.box(i * step, 0, (i + 1) * step, width, darker)
    _draw_end_zones(canvas, look)
    rng = np.random.default_rng(7)
    for line in field.lines():
        (low, high), (bottom, top) = line.x_mm, line.y_mm
        if line.kind == "yard_line":
            five = abs((low + high) / 2 / field.mm_per_yd_x % 10 - 5) < 1
            if not (five and rng.random() < look.missing_fives):
                canvas.box(low, bottom, high, top, look.paint)
        elif line.kind == "goal_line":
            canvas.box(low, bottom, high, top, look.paint)
    if zone and look.border is None:
        thin = field.line_mm
        for x in (-zone - thin, length + zone):
            canvas.box(x, 0, x + thin, width, look.paint)
    _draw_marks(canvas, look)
    _draw_numbers(canvas, look)
    if look.logo_yd:
        turn = np.linspace(0, 2 * math.pi, 40, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * look.logo_yd * field.mm_per_yd
        canvas.polygon(ring * 0.9 + (length / 2, width / 2), look.end_zone_colors[0])
        star = np.column_stack([np.cos(turn[::4]), np.sin(turn[::4])]) * np.tile([1.0, 0.4], 5)[:, None]
        canvas.polygon(star * look.logo_yd * 0.7 * field.mm_per_yd + (length / 2, width / 2), look.paint)


def _draw_end_zones(canvas: _Canvas, look: Convention) -> None:
    field = look.field
    zone, length, width = field.end_zone_mm, field.length_mm, field.width_mm
    if not zone:
        return
    for x0, color in ((-zone, look.end_zone_colors[0]), (length, look.end_zone_colors[1])):
        canvas.box(x0, 0, x0 + zone, width, color)
        if look.end_zone == "checkered":
            rows = 14
            for i in range(3):
                for j in range(rows):
                    if (i + j) % 2:
                        canvas.box(
                            x0 + i * zone / 3, j * width / rows, x0 + (i + 1) * zone / 3, (j + 1) * width / rows,
                            look.paint,
                        )  # fmt: skip
        if look.end_zone == "lettered":
            for j, mark in enumerate("20543"):
                low = np.array([x0 + 0.2 * zone, (0.15 + 0.15 * j) * width])
                for stroke in _STROKES[mark]:
                    turned = np.array(stroke)[:, ::-1] * (1, -1) + (0, 1)
                    canvas.stroke(low + turned * (0.6 * zone, 0.1 * width), 0.09 * zone, look.paint)


def _draw_marks(canvas: _Canvas, look: Convention) -> None:
    field = look.field
    half = field.line_width_mm("hash_mark") / 2
    rows = [(y, field.hash_length_yd) for y in field.hash_rows_y_yd]
    if look.double_hashes:
        rows += [(y + s, field.hash_length_yd) for y, s in zip(field.hash_rows_y_yd, (3.0, -3.0), strict=True)]
    if look.ticks != "none":
        off = look.tick_yd / 2 + (0.0 if look.ticks == "touching" else 0.5)
        rows += [(off, look.tick_yd), (field.width_yd - off, look.tick_yd)]
    for yard in range(1, round(field.length_yd)):
        if yard % 5 == 0:
            continue
        x = yard * field.mm_per_yd_x
        for y_yd, long_yd in rows:
            y, long = y_yd * field.mm_per_yd_y, long_yd * field.mm_per_yd_y / 2
            canvas.box(x - half, y - long, x + half, y + long, look.paint)


def _draw_numbers(canvas: _Canvas, look: Convention) -> None:
    field = look.field
    tall = field.number_height_yd * field.mm_per_yd_y
    wide = min(0.62 * tall, 2.0 * field.mm_per_yd_x)
    gap = max(0.18 * wide, field.line_mm) + 0.12 * wide
    for number in field.numbers():
        middle = np.array([number.x_yd, number.y_yd]) * field.mm_per_yd
        for i, mark in enumerate(number.text):
            left = gap / 2 if i else -gap / 2 - wide
            for stroke in _STROKES[mark]:
                place = np.array(stroke) * (wide, tall) + (left, -tall / 2)
                canvas.stroke(middle + number.up * place, look.stroke * tall * 0.8, look.paint)
        toward = np.sign(number.x_yd - field.length_yd / 2)
        if look.arrows and toward:
            tip = middle + np.array([toward * (gap / 2 + wide + 0.55 * tall), 0])
            back = 0.3 * tall
            points = tip + np.array([(0.0, 0.0), (-toward * back, back / 2), (-toward * back, -back / 2)])
            canvas.polygon(points, look.paint)


def _draw_camera(rng: np.random.Generator, field: FieldModel, lens: Lens | None) -> Camera:
    width, height = _SIZE
    focal = rng.uniform(0.62, 1.1) * width
    barrel = rng.uniform(0.0, 0.16)
    corner = math.hypot(width, height) / 2 / focal
    center = ((width - 1) / 2 + rng.normal(0, 8), (height - 1) / 2 + rng.normal(0, 8))
    drawn = Lens(_SIZE, (focal, focal * (1 + rng.normal(0, 0.0005))), center, (-barrel / corner**2 * 0.8, 0, 0, 0, 0))
    lens = lens or drawn
    toward, tilt = rng.uniform(0, 2 * math.pi), math.radians(rng.uniform(1.0, 16.0))
    lean = cv2.Rodrigues(np.array([math.cos(toward), math.sin(toward), 0.0]) * tilt)[0]
    roll = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(rng.normal(0, 3))]))[0]
    turn = np.asarray(roll @ lean @ np.diag([1.0, -1.0, -1.0]), dtype=np.float64)
    rx, ry, rz = np.asarray(cv2.Rodrigues(turn)[0], dtype=np.float64).ravel().tolist()
    x0, y0, x1, y1 = field.board_mm
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2, 0.0])
    rim = np.array([(x, y) for x in np.linspace(x0, x1, 9) for y in (y0, y1)])
    low, high = 100.0, 10000.0
    for _ in range(40):
        distance = (low + high) / 2
        tx, ty, tz = (np.array([0.0, 0.0, distance]) - turn @ middle).tolist()
        camera = Camera(lens, (rx, ry, rz), (tx, ty, tz))
        px = camera.to_pixels(rim)
        fits = np.isfinite(px).all() and (px > 12).all() and (px < np.array(_SIZE) - 12).all()
        low, high = (low, distance) if fits else (distance, high)
    tx, ty, tz = (np.array([0.0, 0.0, high * rng.uniform(1.0, 1.15)]) - turn @ middle).tolist()
    return dataclasses.replace(camera, translation_mm=(tx, ty, tz))


def _expose(canvas: _Canvas, rng: np.random.Generator, wear: float) -> Image:
    width, height = _SIZE
    image = cv2.resize(canvas.image, _SIZE, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    # Worn paint: the picture is blended with a far smoother one of itself in patches.
    patches = cv2.resize(rng.random((40, 70)).astype(np.float32), _SIZE, interpolation=cv2.INTER_CUBIC)
    worn = (np.clip(patches - 0.75, 0, 1) * 3 * wear)[:, :, None]
    image = image * (1 - worn) + cv2.blur(image, (31, 31)) * worn
    image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.5, 1.1))
    x, y = np.meshgrid(np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32))
    slope = rng.uniform(-0.25, 0.25, 2)
    image *= (rng.uniform(0.65, 1.0) * (1 + slope[0] * x + slope[1] * y - 0.12 * (x * x + y * y)))[:, :, None]
    for _ in range(int(rng.integers(0, 4))):
        cx, cy, size = rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.8), rng.uniform(0.03, 0.12)
        image += (rng.uniform(0.2, 0.8) * np.exp(-((x - cx) ** 2 + (y - cy) ** 2 / 3) / size**2))[:, :, None]
    for _ in range(int(rng.integers(0, 23))):
        at = (int(rng.uniform(300, width - 300)), int(rng.uniform(200, height - 200)))
        color = tuple(rng.uniform(0, 1, 3).tolist())
        cv2.ellipse(image, at, (16, 10), rng.uniform(0, 180), 0, 360, color, -1, cv2.LINE_AA)
        cv2.circle(image, (at[0] + int(rng.normal(0, 12)), at[1] - 8), 7, tuple(rng.uniform(0, 1, 3).tolist()), -1)
    noisy = 255 * image ** rng.uniform(0.85, 1.1) if image.min() > 0 else 255 * np.clip(image, 0, None)
    noisy = noisy + rng.normal(0, rng.uniform(0.8, 3.0), image.shape).astype(np.float32)
    _, packed = cv2.imencode(".jpg", np.clip(noisy, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 92])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), dtype=np.uint8)


def _color(values: NDArray[np.float64]) -> Color:
    red, green, blue = np.clip(values, 0, 1).tolist()
    return red, green, blue
