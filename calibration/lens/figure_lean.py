"""How far figures lean outward in the picture: what tells a far camera with a long lens from a near one with a short.

Seen straight down, paint can't tell them apart; but a helmet over a base is seen outside it, the more so the nearer the
camera is. Figures are made to one height, more or less, and can only be lower by bending ahead from the hips: so how
high helmets seem to be, and how far ahead, says how much too far or too near a solution puts the camera.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.calibration.lens.prior import TypicalLens, lens_at_distance
from downfield.core.arrays import Array
from downfield.core.footprint import BASE_TOP_MM

HELMET_MM: Final = 34.0
"""Height of a standing figure's helmet over the board: bought figures stand 33 to 34 mm high on bases of 5 mm."""

HELMET_SPREAD: Final = 0.1
"""Relative, of a table's figures among tables: all may come from one mold."""

_LOWER: Final = 0.1  # mm lower by mm ahead squared: an upper body half a figure long, swung about the hips
_AHEAD_MM: Final = (3.5, 4.5)  # mean and spread of how far a helmet is before its base's middle
_PLACE_MM: Final = 2.0  # spread of a helmet about where that has it: twisted bodies, leaning figures, the network
_DOUBT: Final = 0.2  # relative, beside what the figures themselves leave open: bodies and poses this does not know of
_STRAY: Final = 0.05  # share of helmets that are anywhere
_STRAY_MM: Final = 25.0
_FEWEST: Final = 6  # figures

_RATIOS = np.exp(np.linspace(np.log(0.45), np.log(2.2), 81))
_HEIGHTS = HELMET_MM * np.exp(HELMET_SPREAD * np.linspace(-2, 2, 9))
_AHEADS = np.linspace(-5, 15, 21)


@dataclass(frozen=True, slots=True)
class StandingFigures:
    """Figures standing on a board.

    Attributes:
        corners_px: of their bases' tops: front left, front right, rear right, rear left; shape (n, 4, 2).
        helmets_px: their helmets' centers, shape (n, 2).

    """

    corners_px: Array
    helmets_px: Array


@dataclass(frozen=True, slots=True)
class Distance:
    """How far away the camera is, by the leans, against how far a solution has it.

    Attributes:
        log_ratio: natural logarithm of the solution's distance over the true one.
        spread: its standard deviation.

    """

    log_ratio: float
    spread: float


def estimate_lens_from_lean(camera: Camera, standing: StandingFigures) -> TypicalLens | None:
    """What is known of the lens once figures have been seen to lean; None when they are too few to tell.

    Args:
        camera: a solution good on the paint: only its focal length and distance may be wrong, and in step.
        standing: figures in the picture it was solved from.

    """
    distance = estimate_distance_from_lean(camera, standing)
    if distance is None:
        return None
    return lens_at_distance(camera, float(np.exp(-distance.log_ratio)), distance.spread)


def estimate_distance_from_lean(camera: Camera, standing: StandingFigures) -> Distance | None:
    """Judge a solution's distance by where helmets are seen over their bases; None by too few figures.

    Every figure's height and how far it bends ahead are unknown; what they may be is summed over.
    """
    corners = camera.to_board(standing.corners_px, BASE_TOP_MM)[..., :2].reshape(-1, 4, 2)
    grounds = camera.to_board(standing.helmets_px)[..., :2].reshape(-1, 2)
    usable = np.isfinite(corners).all(axis=(1, 2)) & np.isfinite(grounds).all(axis=1)
    if usable.sum() < _FEWEST:
        return None
    corners, grounds = corners[usable], grounds[usable]
    eye = camera.position_mm
    # A ray's place over the board moves from where it meets the ground toward the camera's foot, in step with height.
    climb = (eye[:2] - grounds) / eye[2]
    ahead = corners[:, :2].mean(axis=1) - corners[:, 2:].mean(axis=1)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    out = grounds - corners.mean(axis=1)
    # Of each figure, by (ratio, height, ahead): how far its helmet is from where these would have it.
    heights = _RATIOS[:, None, None] * (_HEIGHTS[:, None] - _LOWER * _AHEADS**2)
    squares = np.zeros((len(out), *heights.shape))
    for axis in range(2):
        wanted = out[:, axis, None, None, None] + climb[:, axis, None, None, None] * heights
        squares += (wanted - ahead[:, axis, None, None, None] * _AHEADS) ** 2
    mean, spread = _AHEAD_MM
    weights = np.exp(-(((_AHEADS - mean) / spread) ** 2) / 2)
    near = np.exp(-squares / (2 * _PLACE_MM**2)) @ (weights / weights.sum()) / _PLACE_MM**2
    likely = np.log((1 - _STRAY) * near + _STRAY / _STRAY_MM**2).sum(axis=0)
    likely -= (np.log(_HEIGHTS / HELMET_MM) / HELMET_SPREAD) ** 2 / 2
    share = np.exp(likely - likely.max()).sum(axis=1)
    share /= share.sum()
    logs = np.log(_RATIOS)
    middle = float(share @ logs)
    left_open = float(share @ (logs - middle) ** 2) + (logs[1] - logs[0]) ** 2
    return Distance(middle, float(np.sqrt(left_open + _DOUBT**2)))
