"""Estimates the camera's distance by how far figures lean outward in the picture.

Paint seen straight down can't tell a far camera with a long lens from a near one with a short lens. But a helmet over a
base is seen outside it, the more so the nearer the camera is. Figures have about one height, and can only be lower by
bending ahead from the hips: so how high helmets seem to be, and how far ahead, shows how much too far or too near a
solution puts the camera.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.lens.prior import TypicalLens, lens_at_distance
from downfield.core.arrays import Array
from downfield.core.footprint import BASE_TOP_MM


@dataclass(frozen=True, slots=True)
class LeanLimits:
    """What figures are like, and thresholds of measuring by their leaning."""

    # height of a standing figure's helmet over the board: bought figures stand 33 to 34 mm high on bases of 5 mm
    helmet_mm: float = 34.0
    # relative standard deviation of that height among tables: a table's figures may all come from one mold
    helmet_spread: float = 0.1
    lower_per_mm2: float = 0.1  # a helmet is lower by so many mm per mm ahead squared: it swings about the hips
    ahead_mm: tuple[float, float] = (3.5, 4.5)  # mean and standard deviation of a helmet's place ahead of its base
    place_mm: float = 2.0  # standard deviation of a helmet about that: twisted bodies, leaning figures, the network
    model_error: float = 0.2  # relative error of the distance on top of the figures': bodies and poses vary
    outlier_share: float = 0.05  # share of helmets that are outliers: a detection may be anywhere
    outlier_mm: float = 25.0  # standard deviation of the place of an outlier
    min_figures: int = 6  # least number of figures


LEAN_LIMITS: Final = LeanLimits()
_RATIOS: Final = np.exp(np.linspace(np.log(0.45), np.log(2.2), 81))
_HEIGHTS_MM: Final = LEAN_LIMITS.helmet_mm * np.exp(LEAN_LIMITS.helmet_spread * np.linspace(-2, 2, 9))
_AHEADS_MM: Final = np.linspace(-5, 15, 21)


@dataclass(frozen=True, slots=True)
class StandingFigures:
    """Figures that stand on a board."""

    corners_px: Array  # of their bases' tops: front left, front right, rear right, rear left; shape (n, 4, 2)
    helmets_px: Array  # their helmets' centers, shape (n, 2)


@dataclass(frozen=True, slots=True)
class RelativeDistance:
    """The camera's distance in a solution relative to its true distance."""

    log_ratio: float  # natural logarithm of the solution's distance over the true one
    spread: float  # its standard deviation


def estimate_lens_from_lean(camera: Camera, standing: StandingFigures) -> TypicalLens | None:
    """Return what the figures show of the lens; None when there are too few.

    Args:
        camera: a solution good on the paint: only its focal length and distance may be wrong, by one factor.
        standing: figures in the picture it was solved from.
    """
    distance = estimate_distance_from_lean(camera, standing)
    if distance is None:
        return None
    return lens_at_distance(camera, float(np.exp(-distance.log_ratio)), distance.spread)


def estimate_distance_from_lean(camera: Camera, standing: StandingFigures) -> RelativeDistance | None:
    """Measure a solution's distance by where helmets are seen over their bases; None when there are too few.

    Every figure's height and how far it bends ahead are unknown and marginalized.
    """
    corners = camera.to_board(standing.corners_px, BASE_TOP_MM)[..., :2].reshape(-1, 4, 2)
    grounds = camera.to_board(standing.helmets_px)[..., :2].reshape(-1, 2)
    usable = np.isfinite(corners).all(axis=(1, 2)) & np.isfinite(grounds).all(axis=1)
    if usable.sum() < LEAN_LIMITS.min_figures:
        return None
    corners, grounds = corners[usable], grounds[usable]
    eye = camera.position_mm
    # The place of a ray over the board moves from where it meets the ground toward below the camera, with height.
    climb = (eye[:2] - grounds) / eye[2]
    ahead = corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    out = grounds - corners.mean(axis=1)
    # Squared distance of each helmet from where (ratio, height, ahead) would have it.
    heights = _RATIOS[:, None, None] * (_HEIGHTS_MM[:, None] - LEAN_LIMITS.lower_per_mm2 * _AHEADS_MM**2)
    squares = np.zeros((len(out), *heights.shape))
    for axis in range(2):
        wanted = out[:, axis, None, None, None] + climb[:, axis, None, None, None] * heights
        squares += (wanted - ahead[:, axis, None, None, None] * _AHEADS_MM) ** 2
    mean, spread = LEAN_LIMITS.ahead_mm
    weights = np.exp(-(((_AHEADS_MM - mean) / spread) ** 2) / 2)
    near = np.exp(-squares / (2 * LEAN_LIMITS.place_mm**2)) @ (weights / weights.sum()) / LEAN_LIMITS.place_mm**2
    likely = np.log((1 - LEAN_LIMITS.outlier_share) * near + LEAN_LIMITS.outlier_share / LEAN_LIMITS.outlier_mm**2).sum(
        axis=0
    )
    likely -= (np.log(_HEIGHTS_MM / LEAN_LIMITS.helmet_mm) / LEAN_LIMITS.helmet_spread) ** 2 / 2
    share = np.exp(likely - likely.max()).sum(axis=1)
    share /= share.sum()
    logs = np.log(_RATIOS)
    middle = float(share @ logs)
    left_open = float(share @ (logs - middle) ** 2) + (logs[1] - logs[0]) ** 2
    return RelativeDistance(middle, float(np.sqrt(left_open + LEAN_LIMITS.model_error**2)))
