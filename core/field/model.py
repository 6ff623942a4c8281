"""The printed field: its paint in field yards and in millimeters on the board, bundled presets, and field files.

Field yards run x = 0 at the left goal line to x = length at the right one, y = 0 at the lower sideline (as the camera
sees the board) to y = width at the upper one. The board frame has the same axes in millimeters, each with its own
scale, since a printed yard is often longer across than along.

A sideline belongs to out of bounds and a goal line to the end zone, so y = 0 and x = 0 are by default the *inner* edges
of those lines' paint; a `LineStyle` says where a print has them instead. Yard lines and hash marks are centered.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

import numpy as np

from downfield.core.arrays import Array
from downfield.core.errors import FieldError, InputError
from downfield.core.field.painted_lines import FieldNumber, LineKind, LineStyle, PaintedLine
from downfield.core.files.input_files import parse_toml, read_text
from downfield.core.records import check, from_data, record


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """Bounds of a printed field; tabletop boards are 600 to 1,900 mm long."""

    max_yd: float = 200.0  # largest length and width of the playing field
    max_end_zone_yd: float = 50.0  # largest depth of an end zone
    length_mm: tuple[float, float] = (100.0, 5000.0)  # least and largest length of the playing field on the board
    width_mm: tuple[float, float] = (50.0, 5000.0)  # least and largest width of the playing field on the board
    max_aspect: float = 4.0  # largest ratio of a yard one way to a yard the other way
    max_line_mm: float = 100.0  # largest width of a line's paint
    max_margin_mm: float = 1000.0  # largest width of the board beyond the paint
    min_spacing_yd: float = 0.2  # least distance between hash marks; between numbers it is five times as much
    max_rows: int = 8  # largest number of rows of hash marks, or of numbers
    max_name_length: int = 60  # largest number of characters of the name
    max_title_length: int = 200  # largest number of characters of the title


_LIMITS: Final = FieldLimits()


def check_field(field: FieldModel) -> None:
    """Refuse a field that no board can have. Raises FieldError: names what is out of bounds, and what it may be."""
    for names, size_mm, (low, high) in (
        ("length_yd and mm_per_yd_x", field.length_mm, _LIMITS.length_mm),
        ("width_yd and mm_per_yd_y", field.width_mm, _LIMITS.width_mm),
    ):
        if not low <= size_mm <= high:
            raise FieldError(
                f"{names} make {size_mm:g} mm; a board's field has {low:g} to {high:g} mm."
                " Give millimeters for each yard."
            )
    ratio = field.mm_per_yd_y / field.mm_per_yd_x
    if not 1 / _LIMITS.max_aspect <= ratio <= _LIMITS.max_aspect:
        raise FieldError(
            f"mm_per_yd_y is {ratio:.2g} times mm_per_yd_x; on boards it is {1 / _LIMITS.max_aspect:g}"
            f" to {_LIMITS.max_aspect:g} times as much"
        )
    for name, value, most in _sizes(field):
        check(value <= most, FieldError, f"{name} can't be above {most:g}, not {value:g}")
    for name, value, least in (
        ("hash_every_yd", field.hash_every_yd, _LIMITS.min_spacing_yd),
        ("number_every_yd", field.number_every_yd, 5 * _LIMITS.min_spacing_yd),
    ):
        check(value == 0 or value >= least, FieldError, f"{name} must be {least:g} or more, or 0 for none ({value:g})")
    for name, rows in (("hash_rows_y_yd", field.hash_rows_y_yd), ("number_rows_y_yd", field.number_rows_y_yd)):
        if len(rows) > _LIMITS.max_rows:
            raise FieldError(f"{name} has {len(rows)} rows; {_LIMITS.max_rows} are the most")
    for name, text, longest in (
        ("name", field.name, _LIMITS.max_name_length),
        ("title", field.title, _LIMITS.max_title_length),
    ):
        if not text.isprintable() or len(text) > longest:
            raise FieldError(f"{name} must have at most {longest} characters, all of which can be seen")
    check(bool(field.name.strip()), FieldError, "name is empty")


def _sizes(field: FieldModel) -> Iterator[tuple[str, float, float]]:
    """Yield names, sizes and the most that each may be."""
    yield "length_yd", field.length_yd, _LIMITS.max_yd
    yield "width_yd", field.width_yd, _LIMITS.max_yd
    yield "end_zone_yd", field.end_zone_yd, _LIMITS.max_end_zone_yd
    yield "yard_line_inset_yd", field.yard_line_inset_yd, field.width_yd / 10
    yield "hash_length_yd", field.hash_length_yd, field.width_yd / 2
    yield "number_height_yd", field.number_height_yd, field.width_yd / 2
    yield "margin_mm", max(field.margin_mm), _LIMITS.max_margin_mm
    for kind in ("sideline", "end_line"):  # the others are bounded by the space between lines
        style = getattr(field, kind)
        yield f"{kind}: width_mm", style.width_mm or 0.0, _LIMITS.max_line_mm


@record
class FieldModel:
    """A printed field.

    Attributes:
        name: short name, as given to ``--field``.
        title: its name for people.
        length_yd: goal line to goal line.
        width_yd: sideline to sideline.
        end_zone_yd: depth of each end zone; 0 when none is printed.
        mm_per_yd_x: millimeters for one yard along the field.
        mm_per_yd_y: millimeters for one yard across the field.
        line_mm: width of the painted lines whose own style leaves it open.
        yard_line_every_yd: spacing of the yard lines.
        yard_line_inset_yd: how far inside of the sidelines the yard lines end.
        hash_rows_y_yd: centers of the hash rows, from the lower sideline.
        hash_every_yd: spacing of the hash marks within a row; 0 when none is printed.
        hash_length_yd: length of a hash mark, in yards across.
        sideline_marks: whether the one-yard marks are repeated just inside both sidelines.
        number_every_yd: spacing of the painted numbers, counted from either goal line; 0 when none is printed.
        number_rows_y_yd: centers of the two rows of numbers, lower row first.
        number_height_yd: height of the numbers, in yards across.
        number_style: ``"to_goal"`` counts up to midfield and down again, ``"through"`` counts on.
        margin_mm: the board beyond the paint, to its edge or rail: along, across.
        sideline, goal_line, end_line, yard_line, hash_mark: how each kind of line is painted; what they leave open is
            taken from `line_mm` and the inner edge.
        measured: whether the millimeters were measured on a board of this kind, or derived (see source) and then only
            good to some percent.
        source: where the dimensions come from.

    Raises:
        FieldError: the description is impossible.
    """

    name: str
    title: str
    length_yd: float
    width_yd: float
    end_zone_yd: float
    mm_per_yd_x: float
    mm_per_yd_y: float
    line_mm: float
    yard_line_every_yd: float = 5.0
    yard_line_inset_yd: float = 0.0
    hash_rows_y_yd: tuple[float, ...] = ()
    hash_every_yd: float = 1.0
    hash_length_yd: float = 0.66
    sideline_marks: bool = True
    number_every_yd: float = 10.0
    number_rows_y_yd: tuple[float, ...] = ()
    number_height_yd: float = 2.0
    number_style: Literal["to_goal", "through"] = "to_goal"
    margin_mm: tuple[float, float] = (10.0, 10.0)
    sideline: LineStyle = LineStyle()
    goal_line: LineStyle = LineStyle()
    end_line: LineStyle = LineStyle()
    yard_line: LineStyle = LineStyle()
    hash_mark: LineStyle = LineStyle()
    measured: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("length_yd", "width_yd", "mm_per_yd_x", "mm_per_yd_y", "line_mm", "yard_line_every_yd"):
            check(getattr(self, name) > 0, FieldError, f"{name} must be above 0, not {getattr(self, name):g}")
        marks = ("hash_every_yd", "hash_length_yd", "number_every_yd", "number_height_yd")
        for name in ("end_zone_yd", "yard_line_inset_yd", *marks):
            check(getattr(self, name) >= 0, FieldError, f"{name} can't be negative ({getattr(self, name):g})")
        check(min(self.margin_mm) >= 0, FieldError, f"margin_mm can't be negative {self.margin_mm}")
        check_field(self)
        if not math.isclose(self.length_yd / self.yard_line_every_yd % 1, 0, abs_tol=1e-9):
            raise FieldError(
                f"yard_line_every_yd ({self.yard_line_every_yd:g}) does not divide length_yd ({self.length_yd:g})"
            )
        for name in ("hash_rows_y_yd", "number_rows_y_yd"):
            for y_yd in getattr(self, name):
                check(0 < y_yd < self.width_yd, FieldError, f"{name}: {y_yd:g} is outside 0..{self.width_yd:g} yards")
        thinnest = min(self.mm_per_yd_x * self.yard_line_every_yd, self.mm_per_yd_y * self.width_yd)
        widths_mm = {"line_mm": self.line_mm}
        widths_mm |= {f"{kind}: width_mm": self.line_width_mm(kind) for kind in ("goal_line", "yard_line", "hash_mark")}
        for name, width_mm in widths_mm.items():
            check(width_mm < thinnest / 2, FieldError, f"{name} ({width_mm:g}) would cover the space between lines")
        for kind in ("yard_line", "hash_mark"):
            centered = getattr(self, kind).zero in {None, "center"}
            check(centered, FieldError, f"{kind}: zero must be center: these lines lie on their yard")

    @property
    def mm_per_yd(self) -> Array:
        """Millimeters per yard along and across, shape (2,)."""
        return np.array([self.mm_per_yd_x, self.mm_per_yd_y])

    @property
    def length_mm(self) -> float:
        """Goal line to goal line."""
        return self.length_yd * self.mm_per_yd_x

    @property
    def width_mm(self) -> float:
        """Sideline to sideline."""
        return self.width_yd * self.mm_per_yd_y

    @property
    def end_zone_mm(self) -> float:
        """Depth of an end zone."""
        return self.end_zone_yd * self.mm_per_yd_x

    def to_yards(self, board_mm: Array) -> Array:
        """Convert board millimeters, shape (..., 2), to field yards, same shape."""
        return np.asarray(board_mm, dtype=np.float64) / self.mm_per_yd

    def to_mm(self, field_yd: Array) -> Array:
        """Convert field yards, shape (..., 2), to board millimeters, same shape."""
        return np.asarray(field_yd, dtype=np.float64) * self.mm_per_yd

    def line_width_mm(self, kind: LineKind) -> float:
        """Return the width of a kind of line, mm."""
        style: LineStyle = getattr(self, kind)
        return self.line_mm if style.width_mm is None else style.width_mm

    def line_outward_mm(self, kind: LineKind) -> tuple[float, float]:
        """Return where the paint of a boundary lies from its zero outward, (inner edge, outer edge), mm."""
        style: LineStyle = getattr(self, kind)
        width = self.line_width_mm(kind)
        inner = {"inner": 0.0, "center": -width / 2, "outer": -width}[style.zero or "inner"]
        return inner, inner + width

    @property
    def board_mm(self) -> tuple[float, float, float, float]:
        """Extent of the whole board with its margins: x low, y low, x high, y high, mm."""
        x_out = self.end_zone_mm + self.line_outward_mm("end_line")[1] + self.margin_mm[0]
        y_out = self.line_outward_mm("sideline")[1] + self.margin_mm[1]
        return (-x_out, -y_out, self.length_mm + x_out, self.width_mm + y_out)

    def yard_lines_yd(self) -> tuple[float, ...]:
        """Return the x of every yard line, in yards, without the goal lines."""
        count = round(self.length_yd / self.yard_line_every_yd)
        return tuple(i * self.yard_line_every_yd for i in range(1, count))

    def lines(self) -> tuple[PaintedLine, ...]:
        """Return every straight line of paint: long lines first, hash marks last."""
        return (*self._boundaries(), *self._yard_lines(), *self._hashes())

    def numbers(self) -> tuple[FieldNumber, ...]:
        """Return every painted yard number."""
        if not self.number_every_yd:
            return ()
        steps = int(self.length_yd / 2 / self.number_every_yd + 1e-9)
        from_goal = [i * self.number_every_yd for i in range(1, steps + 1)]
        at_yd = sorted({*from_goal, *(self.length_yd - x_yd for x_yd in from_goal)})
        return tuple(
            FieldNumber(
                self.number_text(x_yd), x_yd, y_yd, self.number_height_yd, 1 if y_yd < self.width_yd / 2 else -1
            )
            for y_yd in self.number_rows_y_yd
            for x_yd in at_yd
        )

    def number_text(self, x_yd: float) -> str:
        """Return the text painted at a yard line, in the field's style."""
        if self.number_style == "through":
            return f"{x_yd:.0f}"
        return f"{min(x_yd, self.length_yd - x_yd):.0f}"

    def _boundaries(self) -> list[PaintedLine]:
        length, width, zone = self.length_mm, self.width_mm, self.end_zone_mm
        side, goal, end = (self.line_outward_mm(kind) for kind in ("sideline", "goal_line", "end_line"))
        out = zone + end[1] if zone else 0.0
        across = (side[0] and -side[0], width + side[0])
        lines = [
            PaintedLine("sideline", (-out, length + out), (-side[1], -side[0])),
            PaintedLine("sideline", (-out, length + out), (width + side[0], width + side[1])),
            PaintedLine("goal_line", (-goal[1], -goal[0]), across),
            PaintedLine("goal_line", (length + goal[0], length + goal[1]), across),
        ]
        if zone:
            lines.append(PaintedLine("end_line", (-zone - end[1], -zone - end[0]), across))
            lines.append(PaintedLine("end_line", (length + zone + end[0], length + zone + end[1]), across))
        return lines

    def _yard_lines(self) -> list[PaintedLine]:
        half = self.line_width_mm("yard_line") / 2
        inner = self.line_outward_mm("sideline")[0] - self.yard_line_inset_yd * self.mm_per_yd_y
        at_mm = [x_yd * self.mm_per_yd_x for x_yd in self.yard_lines_yd()]
        return [
            PaintedLine("yard_line", (x - half, x + half), (inner and -inner, self.width_mm + inner)) for x in at_mm
        ]

    def _hashes(self) -> list[PaintedLine]:
        if not self.hash_every_yd:
            return []
        half_x, half_y = self.line_width_mm("hash_mark") / 2, self.hash_length_yd * self.mm_per_yd_y / 2
        rows_mm = [y_yd * self.mm_per_yd_y for y_yd in self.hash_rows_y_yd]
        if self.sideline_marks:
            rows_mm += [2 * half_y, self.width_mm - 2 * half_y]
        count = round(self.length_yd / self.hash_every_yd)
        at_yd = (i * self.hash_every_yd for i in range(1, count))
        on_line = self.yard_line_every_yd
        at_mm = [x * self.mm_per_yd_x for x in at_yd if not math.isclose(x / on_line, round(x / on_line))]
        return [PaintedLine("hash", (x - half_x, x + half_x), (y - half_y, y + half_y)) for y in rows_mm for x in at_mm]


_PRESETS = files("downfield.core") / "fields"


def preset_names() -> tuple[str, ...]:
    """Return the names of the bundled field models, sorted."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _PRESETS.iterdir() if file.name.endswith(".toml")))


@cache
def preset(name: str) -> FieldModel:
    """Return a bundled field model. Raises InputError: no preset has this name."""
    if name not in preset_names():
        raise InputError(f"no field is named '{name}'. Give one of {', '.join(preset_names())}, or a .toml file.")
    return _parse((_PRESETS / f"{name}.toml").read_text(encoding="utf-8"), f"preset {name}")


def is_field_file(name_or_path: str | Path) -> bool:
    """Return whether a text names a file of a field, not a preset: it ends in ``.toml``, in whatever case."""
    return str(name_or_path).lower().endswith(".toml")


def load_field(name_or_path: str) -> FieldModel:
    """Return a field model by the name of a preset or the path of a TOML file (anything that ends in ``.toml``).

    Raises:
        InputError: no such preset or file.
        FormatError: broken TOML, or a key that is unknown, missing or impossible; names it.
    """
    if not is_field_file(name_or_path):
        return preset(name_or_path)
    return _parse(read_text(Path(name_or_path)), name_or_path)


def _parse(text: str, path: str) -> FieldModel:
    return from_data(FieldModel, parse_toml(text, path), path=path)


def measured_field_toml(field: FieldModel) -> str:
    """Return a field model as the text of a TOML file that `load_field` reads back to the same model."""
    plain, tables = [], []
    for entry in dataclasses.fields(field):
        value = getattr(field, entry.name)
        if isinstance(value, LineStyle):
            lines = [
                f"{key} = {_toml_value(part)}" for key, part in dataclasses.asdict(value).items() if part is not None
            ]
            if lines:
                tables.append("\n".join(["", f"[{entry.name}]", *lines]))
        else:
            plain.append(f"{entry.name} = {_toml_value(value)}")
    return "\n".join([*plain, *tables]) + "\n"


def describe_measured(described: FieldModel | None, found: FieldModel) -> str:
    """Return what a solution found of a print beyond what was known of it, if anything, in one line for people."""
    if found == described:
        return ""
    parts = []
    if described is not None:
        ratio, before = (field.mm_per_yd_y / field.mm_per_yd_x for field in (found, described))
        parts.append(f"a yard across is {ratio:.3f} yards along (described: {before:.3f})")
    parts += [
        f"yard lines {found.line_width_mm('yard_line'):.1f} mm",
        f"goal lines {found.line_width_mm('goal_line'):.1f} mm, {_GOAL_PLACES[found.goal_line.zero or 'inner']}",
        f"border {found.line_width_mm('sideline'):.1f} mm",
    ]
    for rows, what in ((found.hash_rows_y_yd, "hash marks"), (found.number_rows_y_yd, "numbers")):
        if rows:
            near = sorted({round(min(y_yd, found.width_yd - y_yd), 1) for y_yd in rows})
            parts.append(f"{what} {' and '.join(f'{y_yd:g}' for y_yd in near)} yd from the sidelines")
    return "; ".join(parts)


_GOAL_PLACES: Final = {"inner": "outside the goal", "center": "centered on the goal", "outer": "inside the goal"}


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(_toml_value(part) for part in value)}]"
    if isinstance(value, float):
        return repr(round(value, 6))
    # A basic string of TOML takes the escapes of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
