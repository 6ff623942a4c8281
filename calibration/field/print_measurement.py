"""Measures how a print's lines are painted, once the camera is good to a pixel: widths, edges, rows of marks.

Along its whole length a line is the same, so its profile is taken as the median over many places along it: figures,
hands, marks and wear over some of them do not count, and thin edges stand out of the noise.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera, flat_bow
from downfield.calibration.field.lines.line_chains import find_peaks, levels_at, smoothed
from downfield.core.arrays import Array, Image, Plane
from downfield.core.field.model import FieldModel
from downfield.core.field.painted_lines import LineStyle, LineZero


@dataclass(frozen=True, slots=True)
class PrintLimits:
    """Where lines of a print are searched for, and what counts as an edge."""

    step_px: float = 0.25  # spacing of profiles
    smooth_px: float = 0.6  # standard deviation of the Gaussian against noise in profiles
    max_border_mm: float = 9.0  # largest width of a border
    # least and largest distance by which yard lines may end inside of the sidelines; a smaller one is blur
    insets_yd: tuple[float, float] = (0.25, 1.5)
    min_band_contrast: float = 0.75  # least contrast of a sideline beyond the yard lines' ends, as a share of theirs
    min_band_end: float = 0.12  # least contrast of its outer edge, the same way: a margin may be bright as well
    max_band_yd: float = 2.3  # largest width of such a sideline, of 2 yards in full size; more is the margin
    # largest difference of the color between the yard lines' ends and such a sideline from the ground's, as a share of
    # that between paint and ground; else it is a border
    max_ground_off: float = 0.3
    # least cosine between how its color and the yard lines' differ from the ground; else it is a margin or a rail
    min_paint_likeness: float = 0.95
    max_inset_difference: float = 0.4  # largest relative difference of that distance between the two sidelines
    max_inside_px: float = 4.0  # largest distance of a border's inner edge inside its place
    max_goal_line_mm: float = 11.0  # largest width of a goal line
    min_edge_share: float = 0.3  # least contrast of an edge that counts, as a share of the clearest edge of its profile
    min_border_edge_share: float = 0.15  # the same beside a border, whose outer edge is often the clearer one
    min_inset_mm: float = 0.3  # a goal line whose inner edge is further inside is not painted outside its place
    # largest distance of a goal line's inner edge from where a placement has it, as a share of its width
    max_zero_error: float = 0.12
    min_width_px: float = 0.8  # least distance between the two edges of a line


_LIMITS: Final = PrintLimits()


def measure_styles(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> FieldModel:
    """Return the field with its goal lines and borders as they are painted.

    Args:
        camera: good to about a pixel on the paint.
        field: the field; what it says of goal lines, sidelines and end lines is replaced.
        paint: contrast of the yard lines, gray levels, signed.
    """
    border = _border(plane, camera, field)
    goal = _goal_line(plane, camera, field, paint)
    return dataclasses.replace(
        field, sideline=border, end_line=border, goal_line=field.goal_line if goal is None else goal
    )


def with_line_inset(
    plane: Plane, image: Image, camera: Camera, field: FieldModel, paint: float
) -> tuple[FieldModel, Camera]:
    """Return the field as wide as its borders are apart, where its yard lines end inside of them, and its camera.

    On most prints yard lines run into the sidelines. Where bare ground is left between the ends of them and paint like
    theirs, that is the sideline; other edges beyond are those of a border or a margin. A margin of the paint's color
    beyond a border of the ground's looks like that, too, but goes on to the board's edge.

    Args:
        image: the picture itself: a border and the ground may be alike in gray and not in color.
        camera: good to about a pixel, if the yard lines' ends are the sidelines.
        field: the field, its sidelines at the yard lines' ends.
    """
    low, high = (side * field.mm_per_yd_y for side in _LIMITS.insets_yd)
    found = []
    x_mm = _between_lines(field)
    widest = _LIMITS.max_band_yd * field.mm_per_yd_y
    offsets = np.arange(-low, high + widest, _LIMITS.step_px / _px_per_mm(camera, field))
    for y_mm, outward in ((0.0, -1.0), (field.width_mm, 1.0)):
        points = np.stack(np.broadcast_arrays(x_mm, y_mm + outward * offsets[:, None]), axis=-1)
        profile = np.median(levels_at(plane, camera.to_pixels(points)), axis=1) * np.sign(paint)
        edges = _edges(profile, offsets, _LIMITS.min_edge_share)
        inner = float(edges[0]) if len(edges) else 0.0
        band = (offsets > inner) & (offsets < inner + 2 * low)
        beyond = (offsets > inner + low) & (offsets < inner + widest)
        risen = float(profile[band].max(initial=-np.inf)) - float(np.median(profile[offsets < low]))
        fallen = float(profile[band].max(initial=-np.inf)) - float(profile[beyond].min(initial=np.inf))
        is_line = risen > _LIMITS.min_band_contrast * abs(paint) and fallen > _LIMITS.min_band_end * abs(paint)
        is_line = is_line and low <= inner < high
        alike = is_line and _is_colored_alike(image, camera, field, points, offsets, (inner, inner + 2 * low))
        found.append(inner if alike else 0.0)
    inset_mm = float(np.mean(found))
    if min(found) < low or abs(found[0] - found[1]) > _LIMITS.max_inset_difference * inset_mm:
        return field, camera
    across_mm = (field.width_mm + 2 * inset_mm) / field.width_yd
    wider = dataclasses.replace(field, mm_per_yd_y=across_mm, yard_line_inset_yd=round(inset_mm / across_mm, 3))
    x, y, z = (np.array(camera.translation_mm) - camera.board_to_camera @ np.array([0.0, inset_mm, 0.0])).tolist()
    return wider, dataclasses.replace(camera, translation_mm=(x, y, z), bow=flat_bow(wider))


def _is_colored_alike(
    image: Image, camera: Camera, field: FieldModel, points_mm: Array, offsets_mm: Array, band_mm: tuple[float, float]
) -> bool:
    """Return whether the ground goes on beyond the yard lines' ends, and what lies there has the yard lines' color.

    Places between yard lines, shape (n, m, 2), lie at distances beyond the ends, shape (n,); the sideline in a band of
    these.
    """
    inner, outer = band_mm
    colors = np.median(levels_at(image, camera.to_pixels(points_mm)), axis=1).reshape(len(offsets_mm), -1)
    lines = [
        (x * field.mm_per_yd_x, share * field.width_mm) for x in field.yard_lines_yd() for share in (0.1, 0.4, 0.6, 0.9)
    ]
    paint = np.median(levels_at(image, camera.to_pixels(np.array(lines)[:, None])), axis=0).reshape(-1)
    ground = np.median(colors[offsets_mm < 0], axis=0)
    between = colors[(offsets_mm > 0) & (offsets_mm < inner)]
    band = colors[(offsets_mm > inner) & (offsets_mm < outer)]
    apart = float(np.linalg.norm(paint - ground))
    middle = between[len(between) // 4 : -len(between) // 4]  # the rest is blurred
    bare = float(np.linalg.norm(middle - ground, axis=1).min(initial=np.inf)) < _LIMITS.max_ground_off * apart
    # A thin line is seen mixed with the ground: in any mixture it differs from that the same way.
    likeness = (band - ground) @ (paint - ground) / (np.linalg.norm(band - ground, axis=1) * apart + 1e-9)
    return bare and float(likeness.max()) > _LIMITS.min_paint_likeness


def _border(plane: Plane, camera: Camera, field: FieldModel) -> LineStyle:
    """Return the style of the sidelines; one whose outer edge is not seen has the largest width searched for."""
    widths = []
    x_mm = _between_lines(field)
    scale = _px_per_mm(camera, field)
    offsets = np.arange(-_LIMITS.max_inside_px, _LIMITS.max_border_mm * scale, _LIMITS.step_px) / scale
    for y_mm, outward in ((0.0, -1.0), (field.width_mm, 1.0)):
        points = np.stack(np.broadcast_arrays(x_mm, y_mm + outward * offsets[:, None]), axis=-1)
        profile = np.median(levels_at(plane, camera.to_pixels(points)), axis=1)
        edges = _edges(profile, offsets, _LIMITS.min_border_edge_share)
        inner = edges[np.abs(edges).argmin()] if len(edges) else 0.0
        beyond = edges[edges > inner + _LIMITS.min_width_px / scale]
        widths.append(float(beyond[0] - inner) if len(beyond) else _LIMITS.max_border_mm)
    return LineStyle(round(float(np.mean(widths)), 2), "inner")


def _goal_line(plane: Plane, camera: Camera, field: FieldModel, paint: float) -> LineStyle | None:
    """Return the style of the goal lines; None when they are not seen."""
    scale = _px_per_mm(camera, field)
    reach = min(_LIMITS.max_goal_line_mm, 1.5 * field.mm_per_yd_x)
    offsets = np.arange(-reach, reach, _LIMITS.step_px / scale)
    y_mm = (np.arange(4, int(field.width_yd) - 4) + 0.5) * field.mm_per_yd_y
    found = []
    for x_mm, outward in ((0.0, -1.0), (field.length_mm, 1.0)):
        points = np.stack(np.broadcast_arrays(x_mm + outward * offsets[:, None], y_mm), axis=-1)
        profile = np.median(levels_at(plane, camera.to_pixels(points)), axis=1) * np.sign(paint)
        rising, falling = (_edges(profile, offsets, _LIMITS.min_edge_share, sign) for sign in (1, -1))
        if not len(rising):
            continue
        inner = float(rising[np.abs(rising).argmin()])
        outer = falling[falling > inner + _LIMITS.min_width_px / scale]
        found.append((inner, float(outer[0]) - inner if len(outer) else np.nan))
    if not found:
        return None
    inner = float(np.mean([edge for edge, _ in found]))
    widths = [width for _, width in found if np.isfinite(width)]
    return _placed(inner, float(np.mean(widths)) if widths else None)


def _placed(inner_mm: float, width_mm: float | None) -> LineStyle:
    """Return the style of a goal line by its inner edge, outward from its place, and its width if that is seen.

    A goal line of the color of what lies beyond it has no outer edge: then its place is the outer one.
    """
    inset = max(-inner_mm, _LIMITS.min_inset_mm)
    if width_mm is None:
        return LineStyle(round(inset, 2), "outer")
    zeros: dict[LineZero, float] = {"inner": 0.0, "center": -width_mm / 2, "outer": -width_mm}
    zero = min(zeros, key=lambda name: abs(inner_mm - zeros[name]))
    if abs(inner_mm - zeros[zero]) > max(_LIMITS.min_inset_mm, _LIMITS.max_zero_error * width_mm) and -inner_mm > 0:
        return LineStyle(round(inset, 2), "outer")
    return LineStyle(round(width_mm, 2), zero)


def _between_lines(field: FieldModel) -> Array:
    """Return places along the field half-way between one-yard marks, clear of yard lines, mm."""
    yards = np.arange(int(field.length_yd)) + 0.5
    off = yards % field.yard_line_every_yd
    clear = np.minimum(off, field.yard_line_every_yd - off) > 1
    places: Array = yards[clear] * field.mm_per_yd_x
    return places


def _px_per_mm(camera: Camera, field: FieldModel) -> float:
    middle = np.array([field.length_mm, field.width_mm]) / 2
    near = camera.to_pixels(middle + np.array([(0.0, 0.0), (0.0, 1.0)]))
    return float(np.linalg.norm(near[1] - near[0]))


def _edges(profile: Array, offsets_mm: Array, least: float, sign: int = 0) -> Array:
    """Return the places of the edges of a profile, mm, rising, with a least share of the clearest; 0 is either sign."""
    slope = np.gradient(smoothed(profile, _LIMITS.smooth_px / _LIMITS.step_px))
    rising = np.abs(slope) if sign == 0 else np.maximum(sign * slope, 0.0)
    peak, beside = find_peaks(rising, least * np.abs(slope).max())
    return np.asarray(offsets_mm[peak] + beside * (offsets_mm[1] - offsets_mm[0]))
