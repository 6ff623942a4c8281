"""SVG drawings of a calibration: the field lines as the camera sees them, and the residuals over the field."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.field.painted_lines import PaintedLine, PaintKind

_POINTS_PER_LINE: Final = 24
"""A lens bends a long line, and so does a bowed board."""

_WIDTHS_PX: Final[dict[PaintKind, float]] = {
    "sideline": 2.0,
    "goal_line": 2.0,
    "end_line": 2.0,
    "yard_line": 1.2,
    "hash": 1.0,
}
"""Widths of drawn lines in a picture 1080 pixels high."""

_GOOD_MM, _POOR_MM = 0.3, 1.0  # with 0.3 mm a gap still decides a tackle; with 1 mm it does not


def draw_field_lines(calibration: Calibration) -> str:
    """Return an SVG, as large as the picture, of every painted line's middle where the calibration puts it."""
    width, height = calibration.camera.lens.size_px
    by_kind: dict[PaintKind, list[str]] = {}
    for line in calibration.field.lines():
        by_kind.setdefault(line.kind, []).append(_line_path(calibration, line))
    strokes = (
        f'<path class="{kind}" d="{"".join(paths)}" stroke-width="{_WIDTHS_PX[kind] * height / 1080:.2f}"/>'
        for kind, paths in by_kind.items()
    )
    # A pixel's center has integer coordinates, so the picture's edge is half a pixel out.
    box = f"-0.5 -0.5 {width} {height}"
    style = 'fill="none" stroke="#35e0ff" stroke-opacity=".85" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"><g {style}>{"".join(strokes)}</g></svg>'


def _line_path(calibration: Calibration, line: PaintedLine) -> str:
    (x_low, x_high), (y_low, y_high) = line.x_mm, line.y_mm
    along_x = x_high - x_low > y_high - y_low
    points = 2 if line.kind == "hash" else _POINTS_PER_LINE
    share = np.linspace(0.0, 1.0, points)
    x = x_low + share * (x_high - x_low) if along_x else np.full(points, (x_low + x_high) / 2)
    y = np.full(points, (y_low + y_high) / 2) if along_x else y_low + share * (y_high - y_low)
    return _polyline(calibration.camera.to_pixels(np.stack([x, y], axis=1)).tolist())


def _polyline(points_px: Iterable[tuple[float, float]]) -> str:
    """Return path data; points the camera can't see are left out."""
    path, drawing = "", False
    for x, y in points_px:
        visible = bool(np.isfinite(x) and np.isfinite(y))
        if visible:
            path += f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}"
        drawing = visible
    return path


def draw_residuals(calibration: Calibration) -> str:
    """Return an SVG of the field with a disc for every cell, colored by its residual in millimeters."""
    field, quality = calibration.field, calibration.quality
    length, width = field.length_mm, field.width_mm
    box = f"-20 -60 {length + 40:.0f} {width + 80:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="system-ui, sans-serif" role="img">',
        f"<title>{escape(field.title)}</title>",
        f'<rect x="0" y="0" width="{length:.0f}" height="{width:.0f}" fill="#1f5a3a"/>',
    ]
    for x_yd in field.yard_lines_yd():
        x = x_yd * field.mm_per_yd_x
        parts.append(f'<path d="M{x:.1f} 0V{width:.1f}" stroke="#ffffff" stroke-opacity=".5" stroke-width="1.5"/>')
    caption = "Exact: from the digital twin, or no residuals are kept"
    if quality is not None:
        caption = f"Residual {quality.rms_px:.2f} px = {quality.rms_mm:.2f} mm rms over {quality.points} points"
        for cell in quality.cells:
            x, y = cell.x_yd * field.mm_per_yd_x, width - cell.y_yd * field.mm_per_yd_y
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="26" fill="{_residual_color(cell.rms_mm)}"/>')
            label = f"{cell.rms_mm:.2f}"
            parts.append(f'<text x="{x:.1f}" y="{y + 7:.1f}" font-size="20" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="0" y="-18" font-size="26" fill="#808890">{escape(caption)}</text></svg>')
    return "".join(parts)


def _residual_color(rms_mm: float) -> str:
    return "#8fd694" if rms_mm <= _GOOD_MM else "#f3c744" if rms_mm <= _POOR_MM else "#f0806a"
