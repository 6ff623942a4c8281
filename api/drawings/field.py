"""The calibrated field drawn as the camera sees it, as SVG to lie over the camera's picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.field import PaintedLine, PaintKind

_POINTS: Final = 24
"""Of a long line: a lens bends it, and a bowed board too."""

_WIDTHS_PX: Final[dict[PaintKind, float]] = {
    "sideline": 2.0,
    "goal_line": 2.0,
    "end_line": 2.0,
    "yard_line": 1.2,
    "hash": 1.0,
}
"""At a picture 1080 high."""


def field_picture(calibration: Calibration) -> str:
    """An SVG of the picture's size with the middle of every painted line where the calibration puts it."""
    width, height = calibration.camera.lens.size_px
    by_kind: dict[PaintKind, list[str]] = {}
    for line in calibration.field.lines():
        by_kind.setdefault(line.kind, []).append(_path(calibration, line))
    strokes = (
        f'<path class="{kind}" d="{"".join(paths)}" stroke-width="{_WIDTHS_PX[kind] * height / 1080:.2f}"/>'
        for kind, paths in by_kind.items()
    )
    # A pixel's center has integer coordinates, so the picture's edge is half a pixel out.
    box = f"-0.5 -0.5 {width} {height}"
    style = 'fill="none" stroke="#35e0ff" stroke-opacity=".85" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}"><g {style}>{"".join(strokes)}</g></svg>'


def _path(calibration: Calibration, line: PaintedLine) -> str:
    (x_low, x_high), (y_low, y_high) = line.x_mm, line.y_mm
    along = x_high - x_low > y_high - y_low
    points = 2 if line.kind == "hash" else _POINTS
    share = np.linspace(0.0, 1.0, points)
    x = x_low + share * (x_high - x_low) if along else np.full(points, (x_low + x_high) / 2)
    y = np.full(points, (y_low + y_high) / 2) if along else y_low + share * (y_high - y_low)
    return _polyline(calibration.camera.to_pixels(np.stack([x, y], axis=1)).tolist())


def _polyline(points_px: Iterable[tuple[float, float]]) -> str:
    """Path data; a part that the camera can't see is left out."""
    path, drawing = "", False
    for x, y in points_px:
        seen = bool(np.isfinite(x) and np.isfinite(y))
        if seen:
            path += f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}"
        drawing = seen
    return path
