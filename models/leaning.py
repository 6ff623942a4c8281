"""Corrects fronts by the way figures lean, which all figures of a picture tell together.

A player leans toward the front, so that the helmet is ahead of the base's middle. A camera over the board's middle
shows it farther out as well, by as much, and a network that sees one patch can't tell one from the other. But the shift
by perspective grows evenly across the picture, and leaning turns with the figures: both follow from all helmets at
once, with the fronts that are in doubt as unknowns (expectation maximization; Dempster, Laird and Rubin, 1977). Where
figures do not lean alike, the lean that is found is small, and so is what it counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.refiner import ROTATED_POINTS, base_sides
from downfield.models.runtime import logit, sigmoid


@dataclass(frozen=True, slots=True)
class LeaningLimits:
    """Parameters of the model; lengths in lengths of a base."""

    min_figures: int = 6  # fewer figures do not show how figures lean
    min_helmet_score: float = 0.5  # of a helmet that counts
    # mean and standard deviation of: the shift by perspective over the picture's width; that in its middle; leaning
    widening: tuple[float, float] = (1.0, 0.6)
    middle: tuple[float, float] = (0.0, 0.3)
    lean: tuple[float, float] = (0.1, 0.12)
    spread: float = 0.17  # standard deviation of one helmet along each axis
    # weights of the network's log-odds and of leaning's: the network looks at helmets, too
    network_weight: float = 0.8
    lean_weight: float = 0.55
    rounds: int = 8


LEANING_LIMITS: Final = LeaningLimits()


def lean_log_odds(place: Array, helmet: Array, ahead: Array, network: Array) -> Array:
    """Return the log-odds by leaning that figures face ahead, shape (n,).

    Args:
        place: middles of the bases, in widths of the picture from its middle, shape (n, 2).
        helmet: helmets from the middles of their bases, in lengths of a base, shape (n, 2).
        ahead: unit vectors of the headings, shape (n, 2).
        network: log-odds by the network that these are the fronts, shape (n,).
    """
    limits, count = LEANING_LIMITS, len(place)
    means, deviations = np.array([limits.widening, limits.middle, limits.middle, limits.lean]).T
    precision, noise = np.diag(deviations**-2.0), limits.spread**2
    terms = np.zeros((count, 2, 4))  # of widening, of the middle's shift along both axes, of leaning
    terms[:, :, 0], terms[:, :, 1:3] = place, np.eye(2)
    perspective = terms[..., :3]
    odds = np.zeros(count)
    for _ in range(limits.rounds):
        facing = np.tanh((limits.network_weight * network + limits.lean_weight * odds) / 2)  # expected: 1 ahead, -1 not
        terms[..., 3] = ahead * facing[:, None]
        pull = np.einsum("nij,nik->jk", terms, terms) / noise
        pull[3, 3] = count / noise
        covariance = np.linalg.inv(pull + precision)
        found = covariance @ (np.einsum("nij,ni->j", terms, helmet) / noise + precision @ means)
        own = noise + np.einsum("nij,jk,nik->n", perspective, covariance[:3, :3], perspective) / 2
        odds = 2 * found[3] * ((helmet - perspective @ found[:3]) * ahead).sum(axis=1) / own
    return odds


def with_leaning(figures: Sequence[Detection], size_px: tuple[int, int]) -> list[Detection]:
    """Return the figures of a picture, the fronts of upright ones corrected by the way all of them lean.

    Args:
        size_px: width and height of the picture.
    """
    limits, out = LEANING_LIMITS, list(figures)
    rows = [
        row
        for row, figure in enumerate(figures)
        if figure.kind == "upright" and figure.helmet_px and figure.helmet_score >= limits.min_helmet_score
    ]
    if len(rows) < limits.min_figures:
        return out
    chosen = [figures[row] for row in rows]
    corners = np.array([figure.corners_px for figure in chosen])
    middle, ahead = corners.mean(axis=1), base_sides(corners)[0]
    length = np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1.0)
    helmet = (np.array([figure.helmet_px for figure in chosen]) - middle) / np.median(length)
    place = (middle - np.array(size_px) / 2) / size_px[0]
    network = logit(np.array([figure.front_score for figure in chosen]))
    leaning = lean_log_odds(place, helmet, ahead / length, network)
    odds = limits.network_weight * network + limits.lean_weight * leaning
    for row, figure, front in zip(rows, chosen, odds.tolist(), strict=True):
        out[row] = dataclasses.replace(
            _reversed(figure) if front < 0 else figure, front_score=float(sigmoid(abs(front)))
        )
    return out


def _reversed(figure: Detection) -> Detection:
    """Return the figure facing the other way."""
    order = ROTATED_POINTS[:4]
    return dataclasses.replace(
        figure,
        corners_px=tuple(figure.corners_px[k] for k in order),
        corner_scores=tuple(figure.corner_scores[k] for k in order) if figure.corner_scores else (),
        corner_sigma_px=tuple(figure.corner_sigma_px[k] for k in order) if figure.corner_sigma_px else (),
    )
