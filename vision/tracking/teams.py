"""Classifies figures into teams by their colors, learned at the line-up and updated during play.

Pixels of helmet, shoulders and base are sampled. The colors of the line-up form a palette; a team is modeled by
how often each of these colors occurs on helmets, around them, and on bases. The search for the two teams that explain
the figures best starts with the figures that face one way and those that face the other. Colors that both teams share,
such as those of equal bases or the board's green, then have no weight, and neither does the board beside an arm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Bools, Image, Indices
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.measuring.measurement import MEASUREMENT_LIMITS, Measurements

_RINGS: Final = ((0.0, 1), (1.5, 6), (3.0, 10), (4.5, 14), (6.5, 18))  # radius around the helmet's middle, mm; points
_ON_HELMET: Final = 17  # this many of them lie on the helmet, the others on shoulders or beside them
_ON_BASE: Final = [(x, y) for x in (-0.4, -0.15, 0.15, 0.4) for y in (-0.36, 0.36)]  # shares of its size
POINTS: Final = sum(count for _, count in _RINGS) + len(_ON_BASE)  # Number of pixels sampled of every figure

_AROUND: Final = np.array(
    [
        (radius * math.cos(2 * math.pi * k / count), radius * math.sin(2 * math.pi * k / count))
        for radius, count in _RINGS
        for k in range(count)
    ]
)
"""Points around a helmet's middle, mm, shape (p, 2)."""


@dataclass(frozen=True, slots=True)
class TeamLimits:
    """Thresholds of distinguishing two teams; weights are log-odds."""

    scale_step_mm: float = 10.0  # Distance between two places whose pixels give the image's scale
    max_colors: int = 28  # Largest palette
    same_color: float = 10.0  # Lab distance within one color: noise and shade within a figure cause as much
    lightness_weight: float = 0.6  # Weight of a step in L against one in a or b, since shade changes L first
    rounds: int = 12  # Iterations of clustering colors, and of clustering figures
    min_team: int = 3  # Least number of figures of a team
    unseen_pixels: float = 0.5  # Pixels added to every color of every team, so that a rare color can't decide
    pixel_weight: float = 0.12  # Weight of one pixel, since neighboring pixels are not independent
    min_mean_log_odds: float = 2.5  # Least mean certainty of the figures' teams; random groups are less clear
    # Least difference of the mean log-odds, under colors learned earlier, of two groups that are the teams
    min_remembered_difference: float = 2.0
    # Number of a team's samples that are remembered, a few per figure and second, since light and poses change
    max_remembered: float = 440.0
    max_log_odds: float = 7.0  # Share of figures, 1 in 1000, whose colors are misleading
    update_every_ns: int = 250_000_000  # Time between updates: sooner, every figure still looks the same
    own_detection_mm: float = 3.0  # Distance within which a detection belongs to a figure's estimate
    min_visible: float = 0.5  # Share of the base top that must be visible for an update
    # A figure that looks more like the other team than this may be misidentified, and is not used for updates
    max_contradiction: float = 3.5


TEAM_LIMITS: Final = TeamLimits()


@dataclass(frozen=True, slots=True)
class TeamColors:
    """The colors of two teams."""

    palette: Array  # colors, Lab with L as weighted, shape (k, 3)
    color_counts: Array  # counts of each color on each part of the light and the dark team, shape (2, 3, k)

    def swapped(self) -> TeamColors:
        """Return the same with the teams' names exchanged."""
        return TeamColors(self.palette, self.color_counts[::-1])

    def light_odds(self, colors: Array) -> Array:
        """Return the log-odds that figures are of the light team, by colors (m, POINTS, 3); 0 where unknown."""
        total = np.einsum("mpk,pk->m", _counts(colors, self.palette), _odds(self.color_counts))
        odds: Array = np.clip(total, -TEAM_LIMITS.max_log_odds, TEAM_LIMITS.max_log_odds)
        return odds

    def updated(self, colors: Array, light: Bools) -> TeamColors:
        """Return these with figures of known teams added; old counts fade.

        Args:
            colors: colors of each figure, shape (m, POINTS, 3).
            light: which figures are of the light team, shape (m,).
        """
        counts = _counts(colors, self.palette)
        color_counts = self.color_counts + np.stack([counts[team].sum(axis=0) for team in (light, ~light)])
        figures = color_counts.sum(axis=(1, 2)) / POINTS
        return TeamColors(
            self.palette, color_counts * np.minimum(1.0, TEAM_LIMITS.max_remembered / figures)[:, None, None]
        )


class TeamClassifier:
    """Classifies detections by team, and keeps learning, since a line-up shows each figure in one pose and light.

    Args:
        colors: those learned at the line-up; None if the teams can't be distinguished.

    Attributes:
        colors: those known now.
    """

    def __init__(self, colors: TeamColors | None = None) -> None:
        self.colors = colors
        self._next_ns = 0

    def classify(self, measurements: Measurements) -> Measurements:
        """Return the measurements with the log-odds of their teams."""
        if self.colors is None:
            return measurements
        return replace(measurements, light=measurements.light + self.colors.light_odds(measurements.colors))

    def update(self, measurements: Measurements, estimates: Sequence[Estimate], t_ns: int) -> None:
        """Learn from a frame, if an update is due. `measurements`: classified measurements of the frame."""
        if self.colors is None or t_ns < self._next_ns or not len(measurements):
            return
        rows, light = [], []
        for figure in estimates:
            if not (figure.fresh and figure.seen and figure.sure) or figure.posture != "upright":
                continue
            apart = np.hypot(*(measurements.pose[:, :2] - (figure.footprint.x_mm, figure.footprint.y_mm)).T)
            row = int(apart.argmin())
            own_team = float(measurements.light[row]) * (1 if figure.jersey == "light" else -1)
            visible = measurements.visible[row] > TEAM_LIMITS.min_visible
            if apart[row] < TEAM_LIMITS.own_detection_mm and visible and own_team > -TEAM_LIMITS.max_contradiction:
                rows.append(row)
                light.append(figure.jersey == "light")
        if rows:
            self._next_ns = t_ns + TEAM_LIMITS.update_every_ns
            self.colors = self.colors.updated(measurements.colors[rows], np.array(light))


def sample_colors(image: Image, measurements: Measurements, camera: Camera, height_mm: float) -> Array:
    """Return colors of helmet, shoulders and base of every detection, Lab, (m, POINTS, 3); NaN outside the image.

    Args:
        image: uint8 blue green red, shape (height, width, 3).
        height_mm: height of base tops.
    """
    count = len(measurements)
    if not count:
        return np.zeros((0, POINTS, 3))
    pose = measurements.pose
    heading = pose[:, 2, None]
    ahead, left = np.array(_ON_BASE).T[:, None] * pose[:, 3:5].T[:, :, None]
    base = np.stack(
        [ahead * np.cos(heading) - left * np.sin(heading), ahead * np.sin(heading) + left * np.cos(heading)], axis=2
    )
    # Of each figure the center at a helmet's height, the center and a place beside it at the base's, and the base.
    places = np.empty((count, 3 + len(_ON_BASE), 3))
    places[:, :, :2], places[:, :, 2] = pose[:, None, :2], height_mm
    places[:, 0, 2] = MEASUREMENT_LIMITS.helmet_mm
    places[:, 2, 0] += TEAM_LIMITS.scale_step_mm
    places[:, 3:, :2] += base
    points_px = camera.to_pixels(places)
    head_px, center_px, beside_px, base_px = points_px[:, 0], points_px[:, 1], points_px[:, 2], points_px[:, 3:]
    for row, detection in enumerate(measurements.detections):
        if detection.helmet_px is not None:
            head_px[row] = detection.helmet_px
    px_per_mm = np.linalg.norm(beside_px - center_px, axis=1) / TEAM_LIMITS.scale_step_mm
    helmet_px = head_px[:, None] + _AROUND * px_per_mm[:, None, None]
    sampled_px = np.concatenate([helmet_px, base_px], axis=1)
    px = np.rint(np.where(np.isfinite(sampled_px), sampled_px, -1.0)).astype(np.intp)
    height, width = image.shape[:2]
    columns, rows = px[..., 0], px[..., 1]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    values = image[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)].astype(np.float32) / 255
    lab: Array = cv2.cvtColor(values.reshape(1, -1, 3), cv2.COLOR_BGR2LAB).reshape(count, -1, 3).astype(np.float64)
    lab[..., 0] *= TEAM_LIMITS.lightness_weight
    lab[~inside] = np.nan
    return lab


def cluster_teams(colors: Array, facing: Bools, remembered: TeamColors | None = None) -> TeamColors | None:
    """Return the colors of two teams among figures.

    Where the teams' colors are known from before, the groups are those that they tell apart: what divides the figures
    most clearly now may be the light that falls on them.

    Args:
        colors: colors of each, from `sample_colors`, shape (n, POINTS or a multiple of it, 3).
        facing: which of two ways each faces, the initial grouping.
        remembered: as learned earlier; None if they never were.

    Returns:
        The colors, as the light team those that are the more like the remembered one's, or, with nothing remembered,
        the lighter jersey; None if there are no two groups.
    """
    pixels = colors[np.isfinite(colors).all(axis=2)]
    if len(colors) < 2 * TEAM_LIMITS.min_team or not len(pixels):
        return None
    palette = _palette(pixels)
    counts = _counts(colors, palette)
    least = TEAM_LIMITS.min_mean_log_odds * len(counts)
    if remembered is not None:
        like = remembered.light_odds(colors)
        starts = [like > 0, like > (like.min() + like.max()) / 2]
        found = [
            grouping
            for start in starts
            if (grouping := _group(counts, start)) is not None
            and abs(mean_difference(like, grouping[1])) >= TEAM_LIMITS.min_remembered_difference
        ]
        best = max(found, key=lambda grouping: grouping[2], default=None)
        if best is not None and best[2] >= least:
            color_counts, light, _ = best
            return TeamColors(palette, color_counts if mean_difference(like, light) > 0 else color_counts[::-1])
    shares = np.sqrt(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0)).reshape(len(counts), -1)
    main = np.linalg.svd(shares - shares.mean(axis=0), full_matrices=False)
    starts = [facing, *(main[0][:, i] > 0 for i in range(2))]
    found = [grouping for start in starts if (grouping := _group(counts, start)) is not None]
    if not found:
        return None
    color_counts, light, certainty = max(found, key=lambda grouping: grouping[2])
    if certainty < least:
        return None
    odds = _odds(color_counts)
    # The lightness of a jersey is that of the colors that only its team has around the shoulders.
    own = [(counts[team, 1].sum(axis=0) * np.maximum(sign * odds[1], 0.0)) for team, sign in ((light, 1), (~light, -1))]
    first, second = (float(weight @ palette[:, 0] / max(weight.sum(), 1e-9)) for weight in own)
    return TeamColors(palette, color_counts if first >= second else color_counts[::-1])


def learn_teams(colors: Array, light: Bools) -> TeamColors | None:
    """Return the colors of two teams of figures whose teams are known; None if these do not tell them apart.

    Args:
        colors: as in `cluster_teams`.
        light: which figures are of the light team, shape (n,).
    """
    pixels = colors[np.isfinite(colors).all(axis=2)]
    if min(light.sum(), (~light).sum()) < TEAM_LIMITS.min_team or not len(pixels):
        return None
    palette = _palette(pixels)
    counts = _counts(colors, palette)
    color_counts = np.stack([counts[team].sum(axis=0) for team in (light, ~light)])
    certainty = np.einsum("npk,pk->n", counts, _odds(color_counts)) @ np.where(light, 1.0, -1.0)
    return TeamColors(palette, color_counts) if certainty >= TEAM_LIMITS.min_mean_log_odds * len(counts) else None


def mean_difference(values: Array, group: Bools) -> float:
    """Return by how much the mean of a group is above that of the others; 0 where either is empty."""
    return float(values[group].mean() - values[~group].mean()) if 0 < group.sum() < len(group) else 0.0


def _palette(pixels: Array) -> Array:
    """Return representative colors, by k-means from colors that lie furthest apart; shape (k, 3).

    scipy.cluster.vq.kmeans2 sums in another order, so that the last digits of results and old recordings would change,
    and it has no such start.
    """
    chosen = [np.median(pixels, axis=0)]
    away = np.full(len(pixels), np.inf)
    for _ in range(TEAM_LIMITS.max_colors - 1):
        away = np.minimum(away, ((pixels - chosen[-1]) ** 2).sum(axis=1))
        if away.max() < TEAM_LIMITS.same_color**2:
            break
        chosen.append(pixels[int(away.argmax())])
    palette = np.array(chosen)
    for _ in range(TEAM_LIMITS.rounds):
        nearest = _nearest(pixels, palette)
        for k in range(len(palette)):
            if (nearest == k).any():
                palette[k] = pixels[nearest == k].mean(axis=0)
    return palette


def _nearest(pixels: Array, palette: Array) -> Indices:
    off = pixels @ (2 * palette.T)
    np.subtract((palette**2).sum(axis=1), off, out=off)
    nearest: Indices = off.argmin(axis=-1)
    return nearest


def _counts(colors: Array, palette: Array) -> Array:
    """Return counts of each color on each figure's parts, shape (m, 3, k)."""
    row, point = np.nonzero(np.isfinite(colors[..., 0]))  # all three channels are finite, or none
    nearest = _nearest(colors[row, point], palette)
    part = np.full(POINTS, 1)
    part[:_ON_HELMET], part[POINTS - len(_ON_BASE) :] = 0, 2
    parts = np.tile(part, colors.shape[1] // POINTS)
    shape = len(colors), 3, len(palette)
    cells = np.ravel_multi_index((row, parts[point], nearest), shape)
    out = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    scaled: Array = out * (POINTS / max(colors.shape[1], 1))
    return scaled


def _odds(color_counts: Array) -> Array:
    """Return the log-odds that a pixel of each color is of the light team, by part, shape (3, k)."""
    shares = (color_counts + TEAM_LIMITS.unseen_pixels) / (color_counts + TEAM_LIMITS.unseen_pixels).sum(
        axis=2, keepdims=True
    )
    odds: Array = TEAM_LIMITS.pixel_weight * np.log(shares[0] / shares[1])
    return odds


def _group(counts: Array, group: Bools) -> tuple[Array, Bools, float] | None:
    """Return two teams refined from a first grouping: counts of colors (2, 3, k), the grouping, and its certainty."""
    for _ in range(TEAM_LIMITS.rounds):
        if min(group.sum(), (~group).sum()) < TEAM_LIMITS.min_team:
            return None
        color_counts = np.stack([counts[team].sum(axis=0) for team in (group, ~group)])
        certainty = np.einsum("npk,pk->n", counts, _odds(color_counts))
        now = certainty > 0
        if (now == group).all():
            break
        group = now
    return color_counts, group, float(np.abs(certainty).sum())
