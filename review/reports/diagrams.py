"""Drawings of the field as SVG: where the figures of a play went, and where a team's figures were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.scene import Jersey
from downfield.game.records.entries import Snap
from downfield.review.reports.markup import Markup, text
from downfield.review.reports.movement import HEAT_CELL_YD, Run

_COLORS: Final[dict[Jersey, str]] = {"dark": "#1f4e9c", "light": "#c4761b"}
_CARRIER: Final = "#c0172b"
_GRASS, _PAINT = "#f3f7f2", "#b9c6bd"
_YARD: Final = 8.0
"""Units of the drawing for a yard along the field."""


class FieldDrawing:
    """A printed field, and what is drawn on it; the left goal line is to the left, as the camera sees it.

    Args:
        title: what it shows, for those who hear it read.
    """

    def __init__(self, field: FieldModel, title: str) -> None:
        self._field, self._title = field, title
        self._across = _YARD * field.mm_per_yd_y / field.mm_per_yd_x
        self._height = field.width_yd * self._across
        self._shapes: list[str] = []
        self._paint()

    def spot(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Return where a place on the board is in the drawing."""
        across_yd = y_mm / self._field.mm_per_yd_y
        return round(x_mm / self._field.mm_per_yd_x * _YARD, 1), round(self._height - across_yd * self._across, 1)

    def line(self, x_yd: float, color: str, dashes: str = "") -> None:
        """Draw a line across the field."""
        x = round(x_yd * _YARD, 1)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._shapes.append(
            f'<line x1="{x}" y1="0" x2="{x}" y2="{self._height:.1f}" stroke="{color}" stroke-width="2"{dashed}/>'
        )

    def run(self, name: str, run: Run, *, carrier: bool) -> None:
        """Draw a figure's way, from a ring to a dot."""
        color = _CARRIER if carrier else _COLORS[run.jersey]
        spots = [self.spot(*point) for point in run.points_mm]
        if not spots:
            return
        way = " ".join(f"{x},{y}" for x, y in spots)
        (x0, y0), (x1, y1) = spots[0], spots[-1]
        self._shapes.append(
            f'<g stroke="{color}" stroke-width="{3 if carrier else 1.5}" fill="none"><title>{text(name)}</title>'
            f'<polyline points="{way}"/><circle cx="{x0}" cy="{y0}" r="6"/>'
            f'<circle cx="{x1}" cy="{y1}" r="4" fill="{color}"/></g>'
        )

    def heat(self, counts: Mapping[tuple[int, int], int], jersey: Jersey) -> None:
        """Shade the cells by how long figures were in them."""
        most = max(counts.values(), default=1)
        width, height = HEAT_CELL_YD * _YARD, HEAT_CELL_YD * self._across
        for (column, row), count in sorted(counts.items()):
            x, y = column * width, self._height - (row + 1) * height
            self._shapes.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
                f' fill="{_COLORS[jersey]}" fill-opacity="{0.05 + 0.9 * count / most:.2f}"/>'
            )

    def svg(self) -> Markup:
        """Return the drawing."""
        zone = self._field.end_zone_yd * _YARD
        box = f"{-zone:.1f} 0 {self._field.length_yd * _YARD + 2 * zone:.1f} {self._height:.1f}"
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img"><title>{text(self._title)}</title>\n'
            + "\n".join(self._shapes)
            + "\n</svg>\n"
        )

    def _paint(self) -> None:
        zone, length = self._field.end_zone_yd * _YARD, self._field.length_yd * _YARD
        self._shapes.append(
            f'<rect x="{-zone:.1f}" y="0" width="{length + 2 * zone:.1f}" height="{self._height:.1f}" fill="{_GRASS}"'
            f' stroke="{_PAINT}" stroke-width="3"/>'
        )
        for yard in range(0, round(self._field.length_yd) + 1, 10):
            self.line(yard, _PAINT)


def play_diagram(field: FieldModel, snap: Snap, number: int, runs: Mapping[str, Run]) -> Markup:
    """Return a play's diagram: the ways of its figures, the line of scrimmage and the line to gain."""
    drawing = FieldDrawing(field, f"Play {number}: {snap.situation}")
    drawing.line(snap.spot_yd, "#2563c9")
    if snap.kind == "scrimmage":
        drawing.line(snap.spot_yd + snap.direction * snap.distance_yd, "#d9a400", "8 5")
    for name, run in runs.items():
        drawing.run(name, run, carrier=name == snap.carrier)
    return drawing.svg()


def heat_map(field: FieldModel, counts: Mapping[tuple[int, int], int], jersey: Jersey) -> Markup:
    """Return where a team's figures were while the board ran, the darker the longer."""
    drawing = FieldDrawing(field, f"Where the {jersey} figures were")
    drawing.heat(counts, jersey)
    return drawing.svg()
