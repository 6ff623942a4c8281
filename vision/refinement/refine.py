"""Base outlines measured on the picture's edges, more finely than the network's corners.

The picture is sampled across the predicted sides of a base's top, through the full camera and at the top's height.
Neighboring lines are averaged into segments. Where color changes fast in a segment, from that of the base to another,
there may be the edge, or the lower edge of the base's side, a line of the print, a shadow, an arm. Which of them is the
edge is not decided segment by segment: all of a base's segments must agree on one movement of the base, so candidates
are weighed by how well they fit the common one, ever more sharply (EM with annealing, as in S. Gold et al., Pattern
Recognition 31(8), 1998).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.footprint import Footprint
from downfield.vision.refinement.edges import Edges, find_edges
from downfield.vision.tracking.estimate import Estimate

LEAST_SUPPORT: Final = 0.2
"""Share of the segments that must show the edge for a refined outline to be told."""

_WIDTHS_MM: Final = (0.7, 0.45, 0.3, 0.22, 0.22)  # how far a candidate may be off the common movement, step by step
_ELSEWHERE: Final = 0.25  # weight of the chance that none of a segment's candidates is the edge
_SYSTEMATIC: Final = (0.05, 0.05, 0.003)  # of x, y mm and heading rad: what all edges have wrong together
_LEFT_SHARE: Final = 0.3
"""Of the error before, when all edges are found; with fewer as much more, for those found may belong to something else.

On 20 rendered plays 95 % of errors lay within two of these sigmas, up to 0.5 mm.
"""

_FURTHEST_MM: Final = 2.0  # further than that the edges found belong to something else
_MOST_TURN: Final = 0.12  # rad


@dataclass(frozen=True, slots=True)
class RefinedOutline:
    """A base's outline as its edges say.

    Attributes:
        footprint: where it stands.
        covariance: of x mm, y mm and heading in radians, shape (3, 3).
        support: share of its edge that was found, 0..1.

    """

    footprint: Footprint
    covariance: Array
    support: float


def refine(image: Image, camera: Camera, estimates: Sequence[Estimate]) -> list[RefinedOutline | None]:
    """Measure bases on the edges of their tops.

    Args:
        image: uint8 blue green red, raw.
        camera: as it stood when the picture was taken.
        estimates: upright figures; their footprints and covariances are where the search starts and what it is weighed
            against.

    Returns:
        For each figure its outline, the estimate's own knowledge included, or None where too little of it is seen.

    """
    if not estimates:
        return []
    edges = find_edges(image, camera, [one.footprint for one in estimates])
    turn = _to_board(np.radians([one.footprint.heading_deg for one in estimates]))
    known = turn.transpose(0, 2, 1) @ np.array([one.covariance for one in estimates]) @ turn
    prior = np.asarray(np.linalg.inv(known), dtype=np.float64)
    move, information, shown = _common_movement(edges, prior)
    # The upper and the lower edge of a segment are two rows: one of them is enough.
    support = np.maximum(shown[:, ::2], shown[:, 1::2]).mean(axis=1)
    left = np.minimum(_LEFT_SHARE / np.maximum(support, 1e-3), 1.0)[:, None, None] ** 2 * known
    error = np.linalg.inv(information) + np.diag(np.square(_SYSTEMATIC)) + left
    covariance = turn @ error @ turn.transpose(0, 2, 1)
    board = np.einsum("nij,nj->ni", turn, move)
    return [_moved(*found) for found in zip(estimates, board, covariance, support.tolist(), strict=True)]


def _common_movement(edges: Edges, prior: Array) -> tuple[Array, Array, Array]:
    """The movement that a base's edges agree on: ahead, to the left, turn.

    Args:
        edges: of n bases.
        prior: inverse covariances of the movements, shape (n, 3, 3).

    Returns:
        Movements, shape (n, 3), their inverse covariances, shape (n, 3, 3), and how surely each row shows its edge,
        0..1, shape (n, rows).

    """
    # By candidate first: sums over the few candidates then go over whole arrays.
    offset, strength, variance = (
        np.ascontiguousarray(values.transpose(2, 0, 1))
        for values in (edges.offset_mm, edges.strength, edges.sigma_mm**2)
    )
    move, information, weight = np.zeros((len(prior), 3)), prior, strength
    products = (edges.slopes[..., :, None] * edges.slopes[..., None, :]).reshape(*edges.slopes.shape[:2], 9)
    for width_mm in _WIDTHS_MM:
        weight = _belongs(offset - (edges.slopes @ move[..., None])[..., 0], strength, width_mm)
        trust = weight / (variance + (width_mm / 3) ** 2)
        information = prior + (trust.sum(axis=0)[:, None] @ products).reshape(-1, 3, 3)
        pull = (trust * offset).sum(axis=0)[:, None] @ edges.slopes
        move = np.linalg.solve(information, pull.transpose(0, 2, 1))[..., 0]
    return move, information, weight.sum(axis=0)


def _moved(one: Estimate, by: Array, covariance: Array, support: float) -> RefinedOutline | None:
    """A figure's outline moved; None where that is not to be trusted."""
    x, y, turn = by.tolist()
    if support < LEAST_SUPPORT or math.hypot(x, y) > _FURTHEST_MM or abs(turn) > _MOST_TURN:
        return None
    at = one.footprint
    there = Footprint(at.x_mm + x, at.y_mm + y, at.heading_deg + math.degrees(turn), at.size)
    return RefinedOutline(there, covariance, support)


def _to_board(heading: Array) -> Array:
    """From ahead, left and turn to x, y and turn, for headings in radians, shape (n,); (n, 3, 3)."""
    turn = np.zeros((len(heading), 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(heading)
    turn[:, 1, 0] = np.sin(heading)
    turn[:, 0, 1] = -turn[:, 1, 0]
    turn[:, 2, 2] = 1.0
    return turn


def _belongs(off: Array, strength: Array, width_mm: float) -> Array:
    """How probably each candidate is the edge, given how far it is off the common movement; shape (k, n, rows)."""
    bell = strength * np.exp(-0.5 * (off / width_mm) ** 2)
    belongs: Array = bell / (bell.sum(axis=0) + _ELSEWHERE)
    return belongs
