"""Corrects the measured sizes of bases with each other, since a picture shows only a few different sizes.

A base's rear is usually in full view while its front is hidden by its figure, so its length is a guess. But the figures
stand on bases of one or a few makes, and some of these bases are fully visible. The picture itself shows which sizes
there are and how many bases have each: the distribution of sizes under which the measured ones are most
likely (the nonparametric maximum likelihood of Kiefer and Wolfowitz, 1956). Each base's size then follows from that
distribution and its own measurement. A base unlike all others keeps its own size.

The error model of corners is here as well: a network misplaces whole edges, most of all hidden ones. The model's
numbers were measured on validation pictures of the bundled network. Treating corners as independent, with equal errors
in all directions, leaves 16 to 25 % of positions beyond two sigmas, and trusts the front edge under a figure as much as
the rear edge in the open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection


@dataclass(frozen=True, slots=True)
class SizeCorrectionLimits:
    """Parameters of the error model and of the size estimate."""

    min_bases: int = 4  # fewer bases are too few to correct each other
    # relative deviation of bases of one make, including what remains of the view's distortion
    make_spread: float = 0.012
    # share of bases unlike all others; their log sizes lie anywhere within a square of side 1
    outlier_share: float = 0.03
    own_weight: float = 0.2  # weight of a base's own measurement in the distribution it is judged by
    rounds: int = 12  # iterations of the distribution of sizes
    growth_spread: float = 0.12  # standard deviation of log scale from the bases' center to their edge
    slant_spread: float = 0.03  # standard deviation of log scale with the direction bases point in
    view_rounds: int = 3  # iterations of fitting these two
    view_freedom: float = 4.0  # degrees of freedom of Student's t distribution in that fit: unusual bases count little
    min_variance_share: float = 0.05  # at least this share of a corner's variance stays


SIZE_CORRECTION_LIMITS: Final = SizeCorrectionLimits()

# Actual error of a side as a multiple of its stated error, and how often: a guess may be far off.
_ERROR_FACTORS: Final = np.array([1.0, 3.0, 9.0])
_ERROR_SHARES: Final = np.array([0.8, 0.15, 0.05])
_SIGNS: Final = np.array([[0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]])  # of corners, in length and in width

# Errors of corners along and across the base, relative to the network's one error, and their change when hidden.
_VISIBLE_ERROR, _PER_HIDDEN = (1.1, 1.0), (0.7, -0.75)


def errors_by_direction(sigma: Array, visible: Array) -> Array:
    """Return corners' errors along the base and across it.

    A hidden corner mostly belongs to an end under the figure, between sides that continue in the open.

    Args:
        sigma: standard deviations of corners as the network predicts them, shape (..., 4).
        visible: scores of the corners being visible, 0..1, same shape.

    Returns:
        Standard deviations along and across, shape (..., 4, 2).
    """
    hidden = 1 - np.clip(visible, 0.0, 1.0)[..., None]
    return sigma[..., None] * (np.array(_VISIBLE_ERROR) + np.array(_PER_HIDDEN) * hidden)


def _correlation(ends: tuple[float, float], sides: tuple[float, float], diagonals: tuple[float, float]) -> Array:
    other = np.array([(1.0, 1.0), ends, diagonals, sides])
    return np.stack([other[[i ^ k for k in range(4)]] for i in range(4)])


CORNER_CORRELATION: Final = _correlation(ends=(0.7, 0.3), sides=(0.1, 0.35), diagonals=(-0.15, -0.2))
"""Correlation of two corners' errors, along and across the base, shape (4, 4, 2)."""


def estimate_sizes(logs: Array, noise: Array) -> tuple[Array, Array]:
    """Estimate sizes of bases from all measured sizes together.

    Args:
        logs: logarithms of measured length and width, shape (n, 2).
        noise: their variances, shape (n, 2).

    Returns:
        The estimated logarithms and their variances, shape (n, 2) each.
    """
    difference = logs[:, None] - logs  # of base n from make m, side
    levels = (_ERROR_FACTORS**2)[:, None, None, None] * noise[:, None]  # level of noise, base n, 1, side
    spread = levels + SIZE_CORRECTION_LIMITS.make_spread**2
    height = _ERROR_SHARES[:, None, None, None] / np.sqrt(2 * np.pi * spread)
    density = height * np.exp(-0.5 / spread * difference**2)
    side = density.sum(axis=0)
    fits = (1 - SIZE_CORRECTION_LIMITS.outlier_share) * side[..., 0] * side[..., 1]
    np.fill_diagonal(fits, SIZE_CORRECTION_LIMITS.own_weight * fits.diagonal())
    shares = np.full(len(logs), 1 / len(logs))
    for _ in range(SIZE_CORRECTION_LIMITS.rounds):
        updated = shares * ((1 / (fits @ shares + SIZE_CORRECTION_LIMITS.outlier_share)) @ fits)
        shares = updated / max(float(updated.sum()), 1e-12)
    weight = shares * fits
    # Of each base in each make, shape (n, m); the rest to 1 is "unlike all others".
    member = weight / (weight.sum(axis=1, keepdims=True) + SIZE_CORRECTION_LIMITS.outlier_share)
    chance = density * (member[..., None] / np.maximum(side, 1e-300))
    unlike = 1 - member.sum(axis=1)[:, None]
    shrinkage = levels / spread
    shifts = -difference * shrinkage
    shift = np.einsum("lnms,lnms->ns", chance, shifts)
    within = (chance.sum(axis=2, keepdims=True) * levels * (1 - shrinkage)).sum(axis=0)[:, 0] + unlike * noise
    between = np.einsum("lnms,lnms->ns", chance, (shifts - shift[:, None]) ** 2) + unlike * shift**2
    return logs + shift, np.minimum(within + between, noise)


def with_consistent_sizes(figures: Sequence[Detection]) -> list[Detection]:
    """Return the figures, with the bases of upright figures resized to agree with the others in the picture.

    A side's two edges move apart or together by how uncertain each is. A camera doesn't show equal bases equally: a
    near base is larger, and one seen from its front is shorter. That is fitted first, as a change of
    scale across the picture and with the direction bases point in.
    """
    rows = [i for i, figure in enumerate(figures) if figure.kind == "upright" and len(figure.corner_sigma_px) == 4]
    out = list(figures)
    if len(rows) < SIZE_CORRECTION_LIMITS.min_bases:
        return out
    corners = np.array([figures[i].corners_px for i in rows])
    sigmas = np.array([figures[i].corner_sigma_px for i in rows])
    errors = errors_by_direction(sigmas, np.array([figures[i].corner_scores for i in rows]))
    sides = np.einsum("ki,nic->nkc", _SIGNS, corners)
    spans = np.maximum(np.linalg.norm(sides, axis=2), 1.0)
    # How each corner moves with a span, and how uncertain the span is.
    reach = np.einsum("nik,ijk,njk,kj->nki", errors, CORNER_CORRELATION, errors, _SIGNS)
    variance = (reach * _SIGNS).sum(axis=2)
    noise = variance / spans**2
    logs = np.log(spans) - _view_scale(corners.mean(axis=1), sides[:, 0], np.log(spans), noise)
    estimated, remaining = estimate_sizes(logs, noise)
    change_px = spans * np.expm1(estimated - logs)
    share = reach / variance[:, :, None]
    corners = corners + np.einsum("nk,nki,nkc->nic", change_px, share, sides / spans[:, :, None])
    # Variance that the sizes explain, by corner, mean of both directions.
    explained = (share**2 * (variance * (1 - remaining / noise))[:, :, None]).sum(axis=1) / 2
    sigmas = np.sqrt(np.maximum(sigmas**2 - explained, SIZE_CORRECTION_LIMITS.min_variance_share * sigmas**2))
    for i, places, sigma in zip(rows, corners.tolist(), sigmas.tolist(), strict=True):
        points = tuple((x, y) for x, y in places)
        out[i] = dataclasses.replace(figures[i], corners_px=points, corner_sigma_px=tuple(sigma))
    return out


def _view_scale(centers: Array, ahead: Array, logs: Array, noise: Array) -> Array:
    """Return how much larger sides appear because of where bases stand and point, as logarithms, shape (n, 2).

    By the bases' centers, px, the way they point, the logarithms of length and width, and the variances of these.
    """
    off = centers - centers.mean(axis=0)
    off = off / max(float(np.abs(off).max()), 1.0)
    angle = np.arctan2(ahead[:, 1], ahead[:, 0])
    slant = np.stack([np.cos(2 * angle), np.sin(2 * angle)], axis=1)
    terms = np.zeros((len(logs), 2, 6))
    terms[:, 0, 0] = terms[:, 1, 1] = 1.0
    terms[..., 2:4] = off[:, None]
    terms[:, 0, 4:], terms[:, 1, 4:] = slant, -slant
    rows, measured, spread = terms.reshape(-1, 6), logs.ravel(), noise.ravel() + SIZE_CORRECTION_LIMITS.make_spread**2
    prior = np.diag(
        [0.0, 0.0, *[SIZE_CORRECTION_LIMITS.growth_spread**-2] * 2, *[SIZE_CORRECTION_LIMITS.slant_spread**-2] * 2]
    )
    fit = np.array([*np.median(logs, axis=0), 0.0, 0.0, 0.0, 0.0])
    for _ in range(SIZE_CORRECTION_LIMITS.view_rounds):
        residual = measured - rows @ fit
        freedom = SIZE_CORRECTION_LIMITS.view_freedom
        pull = rows.T * ((freedom + 1) / (freedom + residual**2 / spread) / spread)
        fit = np.linalg.solve(pull @ rows + prior, pull @ measured)
    scale: Array = terms[..., 2:] @ fit[2:]
    return scale
