"""The bases of a picture are of few sizes: what is seen of all of them says where a base's hidden edges are.

Mostly a base's rear is in full view while its front lies under its figure, so its length is a guess. But figures play
on bases bought together, all alike or of a few makes, and others of them are seen whole. Which sizes there are, and how
many bases are of each, is estimated from the picture itself, as the distribution on the sizes measured under which
these are likeliest (the nonparametric maximum likelihood of Kiefer and Wolfowitz, 1956). Each base's size is then what
that distribution and its own measurement say together. What no other base is like keeps its own size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.corner_errors import CORNER_CORRELATION, errors_by_direction

FEWEST: Final = 4
"""Bases: fewer say little of each other."""

_MAKE = 0.012  # deviation of bases of one make, as a share of their size, with what is left of the view's distortion
_TIMES = np.array([1.0, 3.0, 9.0])  # how many times its stated error a side is off,
_OFTEN = np.array([0.8, 0.15, 0.05])  # and how often: what is guessed may be guessed badly
_ODD = 0.03  # share of bases like no other; their log sizes are anywhere within a square of side 1
_OWN_SHARE = 0.2  # what a measurement has to say about itself
_ROUNDS = 12

_GROWTH, _SLANT = 0.12, 0.03  # deviations of log scale: per half of what the bases cover, and with where they point
_VIEW_ROUNDS, _VIEW_FREEDOM = 3, 4.0  # of fitting these, with Student's t so that odd bases count for little
_LEAST_LEFT = 0.05  # share of a corner's variance that stays, at least

_SIGNS = np.array([[0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]])  # of corners, in length and in width


def estimate_sizes(logs: Array, noise: Array) -> tuple[Array, Array]:
    """Sizes of bases as each other's make them likely.

    Args:
        logs: logarithms of length and width as measured, shape (n, 2).
        noise: their variances, shape (n, 2).

    Returns:
        The logarithms as now believed, and their variances, shape (n, 2) each.

    """
    off = logs[:, None] - logs  # of base n from make m, side
    levels = (_TIMES**2)[:, None, None, None] * noise[:, None]  # level of noise, base n, 1, side
    spread = levels + _MAKE**2
    often = _OFTEN[:, None, None, None] / np.sqrt(2 * np.pi * spread)
    density = often * np.exp(-0.5 / spread * off**2)
    side = density.sum(axis=0)
    fits = (1 - _ODD) * side[..., 0] * side[..., 1]
    np.fill_diagonal(fits, _OWN_SHARE * fits.diagonal())
    shares = np.full(len(logs), 1 / len(logs))
    for _ in range(_ROUNDS):
        met = shares * ((1 / (fits @ shares + _ODD)) @ fits)
        shares = met / max(float(met.sum()), 1e-12)
    whose = _whose(shares, fits)
    chance = density * (whose[..., None] / np.maximum(side, 1e-300))
    own = 1 - whose.sum(axis=1)[:, None]
    pull = levels / spread
    each = -off * pull
    moved = np.einsum("lnms,lnms->ns", chance, each)
    within = (chance.sum(axis=2, keepdims=True) * levels * (1 - pull)).sum(axis=0)[:, 0] + own * noise
    between = np.einsum("lnms,lnms->ns", chance, (each - moved[:, None]) ** 2) + own * moved**2
    return logs + moved, np.minimum(within + between, noise)


def with_consistent_sizes(figures: Sequence[Detection]) -> list[Detection]:
    """Figures with the bases of those that stand made as large as others of the picture make likely.

    A side's two edges move apart or together by how uncertain each is. A camera doesn't show alike bases alike: one is
    larger where it is nearer, and shorter where it is seen from its front; that is fitted first, as a change of scale
    across the picture and with the way bases point.
    """
    rows = [i for i, one in enumerate(figures) if one.kind == "upright" and len(one.corner_sigma_px) == 4]
    out = list(figures)
    if len(rows) < FEWEST:
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
    logs = np.log(spans) - _view(corners.mean(axis=1), sides[:, 0], np.log(spans), noise)
    likely, left = estimate_sizes(logs, noise)
    grown = spans * np.expm1(likely - logs)
    share = reach / variance[:, :, None]
    corners = corners + np.einsum("nk,nki,nkc->nic", grown, share, sides / spans[:, :, None])
    known = (share**2 * (variance * (1 - left / noise))[:, :, None]).sum(axis=1) / 2  # a corner's, of both directions
    sigmas = np.sqrt(np.maximum(sigmas**2 - known, _LEAST_LEFT * sigmas**2))
    for i, places, sigma in zip(rows, corners.tolist(), sigmas.tolist(), strict=True):
        points = tuple((x, y) for x, y in places)
        out[i] = dataclasses.replace(figures[i], corners_px=points, corner_sigma_px=tuple(sigma))
    return out


def _view(middles: Array, ahead: Array, logs: Array, noise: Array) -> Array:
    """How much larger sides seem for where bases stand and point, as logarithms, shape (n, 2).

    Args:
        middles: of bases, pixels, shape (n, 2).
        ahead: the way they point, shape (n, 2).
        logs: logarithms of length and width, shape (n, 2).
        noise: their variances.

    """
    off = middles - middles.mean(axis=0)
    off = off / max(float(np.abs(off).max()), 1.0)
    way = np.arctan2(ahead[:, 1], ahead[:, 0])
    slant = np.stack([np.cos(2 * way), np.sin(2 * way)], axis=1)
    terms = np.zeros((len(logs), 2, 6))
    terms[:, 0, 0] = terms[:, 1, 1] = 1.0
    terms[..., 2:4] = off[:, None]
    terms[:, 0, 4:], terms[:, 1, 4:] = slant, -slant
    rows, said, spread = terms.reshape(-1, 6), logs.ravel(), noise.ravel() + _MAKE**2
    prior = np.diag([0.0, 0.0, *[_GROWTH**-2] * 2, *[_SLANT**-2] * 2])
    fit = np.array([*np.median(logs, axis=0), 0.0, 0.0, 0.0, 0.0])
    for _ in range(_VIEW_ROUNDS):
        left = said - rows @ fit
        pull = rows.T * ((_VIEW_FREEDOM + 1) / (_VIEW_FREEDOM + left**2 / spread) / spread)
        fit = np.linalg.solve(pull @ rows + prior, pull @ said)
    seen: Array = terms[..., 2:] @ fit[2:]
    return seen


def _whose(shares: Array, fits: Array) -> Array:
    """How likely each base is of each make, shape (n, m); the rest to 1 is that it is like no other."""
    whose = shares * fits
    likely: Array = whose / (whose.sum(axis=1, keepdims=True) + _ODD)
    return likely
