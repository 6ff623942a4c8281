"""Which team a figure plays for, by its colors: learned at the line-up and from then on, told of every sighting.

Looked at are pixels of helmet, shoulders and base. The colors met at the line-up are gathered into a palette; a team
is how often each color of it is met on helmets, around them, and on bases. Two such teams are looked for that explain
the figures best, beginning with those that face one way and those that face the other. What both have alike, such as
bases of one make or of the board's green, then counts for nothing by itself, and so does the board beside an arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.vision.tracking.measurement import HELMET_MM, Measurements

_RINGS: Final = ((0.0, 1), (1.5, 6), (3.0, 10), (4.5, 14), (6.5, 18))  # radius around the helmet's middle, mm; points
_ON_HELMET: Final = 17  # so many of them lie on the helmet, the others on shoulders or beside them
_BESIDE_MM: Final = 10.0  # how far apart two places are of which the picture's scale is told
_ON_BASE: Final = [(x, y) for x in (-0.4, -0.15, 0.15, 0.4) for y in (-0.36, 0.36)]  # shares of its size
POINTS: Final = sum(count for _, count in _RINGS) + len(_ON_BASE)
"""So many pixels of every figure are looked at."""

_AROUND: Final = np.array(
    [
        (radius * math.cos(2 * math.pi * k / count), radius * math.sin(2 * math.pi * k / count))
        for radius, count in _RINGS
        for k in range(count)
    ]
)
"""Points around a helmet's middle, mm, shape (p, 2)."""

_PALETTE: Final = 28  # colors at most
_ALIKE: Final = 10.0  # of one color: noise and shade within a figure make as much
_LIGHTNESS: Final = 0.6  # what a step in L counts beside one in a or b: shade changes L first
_ROUNDS: Final = 12
_FEWEST: Final = 3  # of a team
_RARE: Final = 0.5  # pixels that are taken for seen of every color in every team
_WORTH: Final = 0.12  # of a pixel: its neighbors tell the same
_TWO_TEAMS: Final = 2.5  # mean log-odds of a figure's team: chance alone finds groups, but not so clear ones
_REMEMBERED: Final = 440.0  # figures of a team, each looked at a few times a second: light and poses change
SURE_ODDS: Final = 7.0
"""Log-odds at most: one figure in 1000 is odd whatever its colors say."""


@dataclass(frozen=True, slots=True)
class TeamColors:
    """How two teams differ.

    Attributes:
        palette: colors, Lab with L as weighted, shape (k, 3).
        met: how often each of them was met on each part of the light team and of the dark one, shape (2, 3, k).

    """

    palette: Array
    met: Array

    def exchanged(self) -> TeamColors:
        """The same with the teams' names exchanged."""
        return TeamColors(self.palette, self.met[::-1])

    def light_odds(self, colors: Array) -> Array:
        """Log-odds that figures are of the light team, by colors of shape (m, POINTS, 3); 0 where not known."""
        told = np.einsum("mpk,pk->m", _counts(colors, self.palette), _odds(self.met))
        odds: Array = np.clip(told, -SURE_ODDS, SURE_ODDS)
        return odds

    def learned(self, colors: Array, light: NDArray[np.bool_]) -> TeamColors:
        """What is known once more figures were seen whose teams are known; what was seen long ago fades.

        Args:
            colors: of each, shape (m, POINTS, 3).
            light: which are of the light team, shape (m,).

        """
        counts = _counts(colors, self.palette)
        met = self.met + np.stack([counts[team].sum(axis=0) for team in (light, ~light)])
        figures = met.sum(axis=(1, 2)) / POINTS
        return TeamColors(self.palette, met * np.minimum(1.0, _REMEMBERED / figures)[:, None, None])


def sample_colors(image: Image, sightings: Measurements, camera: Camera, height_mm: float) -> Array:
    """Colors of helmet, shoulders and base of every sighting, Lab, shape (m, POINTS, 3); NaN outside the picture.

    Args:
        image: uint8 blue green red, shape (height, width, 3).
        sightings: of that picture.
        camera: as it stood.
        height_mm: of base tops.

    """
    count = len(sightings)
    if not count:
        return np.zeros((0, POINTS, 3))
    pose = sightings.pose
    turn = pose[:, 2, None]
    ahead, left = np.array(_ON_BASE).T[:, None] * pose[:, 3:5].T[:, :, None]
    base = np.stack([ahead * np.cos(turn) - left * np.sin(turn), ahead * np.sin(turn) + left * np.cos(turn)], axis=2)
    # Of each figure the middle at a helmet's height, the middle and a place beside it at the base's, and the base.
    places = np.empty((count, 3 + len(_ON_BASE), 3))
    places[:, :, :2], places[:, :, 2] = pose[:, None, :2], height_mm
    places[:, 0, 2] = HELMET_MM
    places[:, 2, 0] += _BESIDE_MM
    places[:, 3:, :2] += base
    seen_px = camera.to_pixels(places)
    head_px, middle_px, beside_px, base_px = seen_px[:, 0], seen_px[:, 1], seen_px[:, 2], seen_px[:, 3:]
    for row, one in enumerate(sightings.detections):
        if one.helmet_px is not None:
            head_px[row] = one.helmet_px
    px_per_mm = np.linalg.norm(beside_px - middle_px, axis=1) / _BESIDE_MM
    helmet_px = head_px[:, None] + _AROUND * px_per_mm[:, None, None]
    seen_px = np.concatenate([helmet_px, base_px], axis=1)
    px = np.rint(np.where(np.isfinite(seen_px), seen_px, -1.0)).astype(np.intp)
    height, width = image.shape[:2]
    columns, rows = px[..., 0], px[..., 1]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    seen = image[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)].astype(np.float32) / 255
    lab: Array = cv2.cvtColor(seen.reshape(1, -1, 3), cv2.COLOR_BGR2LAB).reshape(count, -1, 3).astype(np.float64)
    lab[..., 0] *= _LIGHTNESS
    lab[~inside] = np.nan
    return lab


def cluster_teams(colors: Array, facing: NDArray[np.bool_]) -> TeamColors | None:
    """Two teams among figures.

    Args:
        colors: of each, as of `sample_colors`, shape (n, POINTS or a multiple of it, 3).
        facing: which of two ways each faces: where the search begins.

    Returns:
        How they differ, the one with the lighter jersey called light; None when there are not two groups.

    """
    pixels = colors[np.isfinite(colors).all(axis=2)]
    if len(colors) < 2 * _FEWEST or not len(pixels):
        return None
    palette = _palette(pixels)
    counts = _counts(colors, palette)
    shares = np.sqrt(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0)).reshape(len(counts), -1)
    main = np.linalg.svd(shares - shares.mean(axis=0), full_matrices=False)
    starts = [facing, *(main[0][:, i] > 0 for i in range(2))]
    found = [one for start in starts if (one := _grouped(counts, start)) is not None]
    if not found:
        return None
    met, group, told = max(found, key=lambda one: one[2])
    if told < _TWO_TEAMS * len(counts):
        return None
    odds = _odds(met)
    # How light a jersey is tell the colors that only that team has about the shoulders.
    own = [(counts[team, 1].sum(axis=0) * np.maximum(sign * odds[1], 0.0)) for team, sign in ((group, 1), (~group, -1))]
    light, dark = (float(weight @ palette[:, 0] / max(weight.sum(), 1e-9)) for weight in own)
    return TeamColors(palette, met if light >= dark else met[::-1])


def _palette(pixels: Array) -> Array:
    """Colors that stand for all, by k-means from colors that lie furthest apart; shape (k, 3)."""
    chosen = [np.median(pixels, axis=0)]
    away = np.full(len(pixels), np.inf)
    for _ in range(_PALETTE - 1):
        away = np.minimum(away, ((pixels - chosen[-1]) ** 2).sum(axis=1))
        if away.max() < _ALIKE**2:
            break
        chosen.append(pixels[int(away.argmax())])
    palette = np.array(chosen)
    for _ in range(_ROUNDS):
        near = _nearest(pixels, palette)
        for k in range(len(palette)):
            if (near == k).any():
                palette[k] = pixels[near == k].mean(axis=0)
    return palette


def _nearest(pixels: Array, palette: Array) -> NDArray[np.intp]:
    off = pixels @ (2 * palette.T)
    np.subtract((palette**2).sum(axis=1), off, out=off)
    nearest: NDArray[np.intp] = off.argmin(axis=-1)
    return nearest


def _counts(colors: Array, palette: Array) -> Array:
    """How often each figure's parts show each color, shape (m, 3, k)."""
    row, point = np.nonzero(np.isfinite(colors[..., 0]))  # all three are known, or none
    near = _nearest(colors[row, point], palette)
    part = np.full(POINTS, 1)
    part[:_ON_HELMET], part[POINTS - len(_ON_BASE) :] = 0, 2
    parts = np.tile(part, colors.shape[1] // POINTS)
    shape = len(colors), 3, len(palette)
    cells = np.ravel_multi_index((row, parts[point], near), shape)
    out = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    scaled: Array = out * (POINTS / max(colors.shape[1], 1))
    return scaled


def _odds(met: Array) -> Array:
    """Log-odds that a pixel of each color is of the light team, by part, shape (3, k); see `TeamColors.met`."""
    shares = (met + _RARE) / (met + _RARE).sum(axis=2, keepdims=True)
    odds: Array = _WORTH * np.log(shares[0] / shares[1])
    return odds


def _grouped(counts: Array, group: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_], float] | None:
    """Two teams from a first grouping, by turns: colors met (2, 3, k), the grouping, and how much it explains."""
    for _ in range(_ROUNDS):
        if min(group.sum(), (~group).sum()) < _FEWEST:
            return None
        met = np.stack([counts[team].sum(axis=0) for team in (group, ~group)])
        told = np.einsum("npk,pk->n", counts, _odds(met))
        now = told > 0
        if (now == group).all():
            break
        group = now
    return met, group, float(np.abs(told).sum())
