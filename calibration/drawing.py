"""Draws a calibration: the field model over the photograph, magnified residuals, and the error map in yards."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.lines.line_chains import clearest_channel
from downfield.calibration.field.paint.paint_measurement import observe_paint
from downfield.calibration.quality import base_top_sigma_mm
from downfield.core.arrays import Array, Image
from downfield.core.footprint import BASE_TOP_MM

_Color = tuple[int, int, int]
_MODEL: _Color = (255, 200, 0)
_HASH: _Color = (255, 120, 200)
_RESIDUAL: _Color = (0, 80, 255)
_AXIS_X: _Color = (60, 60, 255)
_AXIS_Y: _Color = (80, 220, 80)
_WHITE: _Color = (255, 255, 255)
_SUBPIXEL_BITS: Final = 4


@dataclass(frozen=True, slots=True)
class DrawingLimits:
    """Sizes of the drawing."""

    arrow_scale: float = 100.0  # length of residual arrows, as a multiple of the residual
    search_px: float = 2.5  # distance from its prediction within which paint is searched for
    caption_px: int = 96  # height of the caption strip above the picture
    map_px: int = 220  # height of the error map below the picture
    strip_gray: int = 32  # gray level of caption strip and error map
    worst_yd: float = 0.10  # error drawn reddest


_LIMITS: Final = DrawingLimits()


def draw_calibration(image: Image, calibration: Calibration) -> Image:
    """Return a photograph with the field model on it, a caption above and the error map below, of the same width."""
    over = draw_field(image, calibration)
    worst = _residuals(over, image, calibration)
    _axes(over, calibration)
    return np.vstack([_caption(calibration, worst, image.shape[1]), over, _error_map(calibration, image.shape[1])])


def draw_field(image: Image, calibration: Calibration, thickness: int = 1) -> Image:
    """Return a photograph with the field model drawn on it, in lines of a thickness in px; nothing else."""
    over = image.copy()
    for line in calibration.field.lines():
        (x0, x1), (y0, y1) = line.x_mm, line.y_mm
        count, color = (2, _HASH) if line.kind == "hash" else (24, _MODEL)
        t = np.linspace(0, 1, count)[:, None]
        corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
        rim = np.concatenate([a + (b - a) * t for a, b in pairwise(corners)])
        _polyline(over, calibration.camera.to_pixels(rim), color, thickness)
    return over


def _polyline(canvas: Image, px: Array, color: _Color, thickness: int = 1) -> None:
    if np.isfinite(px).all():
        fixed = np.round(px * 2**_SUBPIXEL_BITS).astype(np.int32)
        cv2.polylines(canvas, [fixed.reshape(-1, 1, 2)], False, color, thickness, cv2.LINE_AA, _SUBPIXEL_BITS)


def _residuals(canvas: Image, image: Image, calibration: Calibration) -> float:
    """Draw arrows from where paint is predicted toward where it is; return the 95th percentile, px."""
    seen = observe_paint([clearest_channel(image)], calibration.camera, calibration.field, _LIMITS.search_px)
    if not len(seen.px):
        return 0.0
    predicted = calibration.camera.to_pixels(seen.points_mm)
    off = ((seen.px - predicted) * seen.normals).sum(axis=1)
    for start, normal, amount in zip(predicted[::2], seen.normals[::2], off[::2], strict=True):
        _polyline(canvas, np.array([start, start + normal * amount * _LIMITS.arrow_scale]), _RESIDUAL)
    return float(np.percentile(np.abs(off), 95))


def _axes(canvas: Image, calibration: Calibration) -> None:
    field = calibration.field
    for end, color, name in (((10.0, 0.0), _AXIS_X, "x"), ((0.0, 10.0), _AXIS_Y, "y")):
        px = calibration.camera.to_pixels(np.array([(0.0, 0.0), end]) * field.mm_per_yd)
        if np.isfinite(px).all():
            start, tip = (tuple(int(v) for v in p) for p in px)
            cv2.arrowedLine(canvas, start, tip, color, 3, cv2.LINE_AA, 0, 0.15)
            _text(canvas, name, (tip[0] + 6, tip[1] - 6), 0.9)


def _caption(calibration: Calibration, p95_px: float, width: int) -> Image:
    strip = np.full((_LIMITS.caption_px, width, 3), _LIMITS.strip_gray, dtype=np.uint8)
    quality, camera = calibration.quality, calibration.camera
    lines = [f"{calibration.field.title}   by {calibration.method}   {calibration.made_at}"]
    if quality:
        lines.append(
            f"rms {quality.rms_px:.3f} px = {quality.rms_mm:.3f} mm = {quality.rms_yd[0]:.4f} yd along,"
            f" {quality.rms_yd[1]:.4f} across   {quality.points} places"
        )
    lines.append(
        f"focal length {camera.lens.focal_px[0]:.0f} px   tilt {camera.tilt_deg:.1f} deg   height"
        f" {camera.position_mm[2]:.0f} mm   residual arrows x{_LIMITS.arrow_scale:.0f}, p95 {p95_px:.2f} px"
    )
    for i, line in enumerate(lines):
        _text(strip, line, (16, 28 + 28 * i), 0.7)
    return strip


def _text(canvas: Image, text: str, at: tuple[int, int], size: float) -> None:
    cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, _WHITE, 1, cv2.LINE_AA)


def _error_map(calibration: Calibration, width: int) -> Image:
    """Draw two standard deviations of a base top's position over the field, the larger of both axes, yards."""
    field = calibration.field
    x = np.linspace(-field.end_zone_mm, field.length_mm + field.end_zone_mm, 49)
    y = np.linspace(field.width_mm, 0, 25)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    error_yd = 2 * (base_top_sigma_mm(calibration, points) / field.mm_per_yd).max(axis=1).reshape(len(y), len(x))
    shade = np.clip(error_yd / _LIMITS.worst_yd * 255, 0, 255).astype(np.uint8)
    high = _LIMITS.map_px - 40
    wide = min(round(high * np.ptp(x) / np.ptp(y)), width - 40)
    drawn = cv2.applyColorMap(cv2.resize(shade, (wide, high), interpolation=cv2.INTER_LINEAR), cv2.COLORMAP_TURBO)
    strip = np.full((_LIMITS.map_px, width, 3), _LIMITS.strip_gray, dtype=np.uint8)
    strip[30 : 30 + high, 20 : 20 + wide] = drawn
    title = f"two-sigma error of base tops {BASE_TOP_MM:g} mm up: dark 0, red {_LIMITS.worst_yd:g} yd"
    _text(strip, title, (20, 22), 0.55)
    summary = f"median {np.median(error_yd):.3f}   worst {error_yd.max():.3f}"
    _text(strip, summary, (40 + wide, 60), 0.6)
    return strip
