"""Figures as scenes have them, and those of them that a decision may soon hang on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.field import FieldModel
from downfield.core.scene import Figure
from downfield.vision.tracking.estimate import Estimate

_DIGITS: Final = 4  # of millimeters and degrees: a tenth of a micrometer
_NEAR_MM: Final = 15.0  # of the carrier, an opponent or a line that bounds the field
_REACH_MM: Final = 35.0  # two bases whose middles are further apart than this and `_NEAR_MM` are not near


def figure_of(estimate: Estimate) -> Figure:
    """A figure as scenes have it."""
    at, size, helmet = estimate.footprint, estimate.footprint.size, estimate.helmet_mm
    variance_x, variance_y, variance_rad = estimate.covariance.diagonal().tolist()
    length_mm, width_mm = round(size.length_mm, _DIGITS), round(size.width_mm, _DIGITS)
    return Figure(
        id=estimate.id,
        jersey=estimate.jersey,
        x_mm=round(at.x_mm, _DIGITS),
        y_mm=round(at.y_mm, _DIGITS),
        heading_deg=round(at.heading_deg, _DIGITS),
        length_mm=length_mm,
        width_mm=width_mm,
        corner_mm=min(round(size.corner_mm, _DIGITS), length_mm / 2, width_mm / 2),
        posture=estimate.posture,
        sigma_mm=(round(math.sqrt(variance_x), _DIGITS), round(math.sqrt(variance_y), _DIGITS)),
        sigma_deg=round(math.degrees(math.sqrt(variance_rad)), _DIGITS),
        visible=round(estimate.visible, _DIGITS),
        helmet_mm=None if helmet is None else (round(helmet[0], _DIGITS), round(helmet[1], _DIGITS)),
        sure=estimate.sure,
        fell_ns=estimate.fell_ns,
    )


def deciding(estimates: Sequence[Estimate], field: FieldModel, carrier: str | None) -> list[int]:
    """Rows of the figures that a decision may soon hang on, as far as they are seen standing.

    These are the carrier and whoever is near him; while nobody is declared to have the ball, whoever is near an
    opponent; and whoever is near a line that bounds the field.
    """
    standing = [row for row, one in enumerate(estimates) if one.seen and one.posture == "upright"]
    if not standing:
        return []
    able = [estimates[row] for row in standing]
    x, y, length = np.array([(one.footprint.x_mm, one.footprint.y_mm, one.footprint.size.length_mm) for one in able]).T
    near = np.hypot(x[:, None] - x, y[:, None] - y) < _REACH_MM + _NEAR_MM
    if carrier:
        carries = np.array([one.id == carrier for one in able])
        near &= carries[:, None] | carries
    else:
        dark = np.array([one.jersey == "dark" for one in able])
        near &= dark[:, None] != dark
    to_line = np.minimum.reduce([np.abs(x), np.abs(x - field.length_mm), y, field.width_mm - y])
    chosen = near.any(axis=1) | (to_line < length / 2 + _NEAR_MM)
    return [row for row, decides in zip(standing, chosen.tolist(), strict=True) if decides]
