"""A calibration's residuals drawn over the field, as SVG."""

from __future__ import annotations

from html import escape

from downfield.calibration.calibration import Calibration

_GOOD_MM, _POOR_MM = 0.3, 1.0  # a gap of a third of a millimeter still decides a tackle; a whole one does not


def residual_picture(calibration: Calibration) -> str:
    """An SVG of the field with a disc for every cell, colored by its residual in millimeters."""
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
    told = "exact: made by the twin, or without residuals"
    if quality is not None:
        told = f"{quality.points} points, {quality.rms_px:.2f} px, {quality.rms_mm:.2f} mm rms"
        for cell in quality.cells:
            x, y = cell.x_yd * field.mm_per_yd_x, width - cell.y_yd * field.mm_per_yd_y
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="26" fill="{_color(cell.rms_mm)}"/>')
            label = f"{cell.rms_mm:.2f}"
            parts.append(f'<text x="{x:.1f}" y="{y + 7:.1f}" font-size="20" text-anchor="middle">{label}</text>')
    parts.append(f'<text x="0" y="-18" font-size="26" fill="#808890">{escape(told)}</text></svg>')
    return "".join(parts)


def _color(rms_mm: float) -> str:
    return "#8fd694" if rms_mm <= _GOOD_MM else "#f3c744" if rms_mm <= _POOR_MM else "#f0806a"
