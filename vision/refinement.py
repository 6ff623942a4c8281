"""Refines the estimates of a frame: separates overlapping bases, and measures outlines on the edges in the image.

Overlaps. In a scrum, bases of one color stand flush, and the image does not show where one ends. An error of a few
millimeters then appears as an overlap with a neighbor that is better visible, but solid bases cannot overlap. The most
likely places without overlaps are found to first order, pair by pair: each base moves in proportion to its variance.
The variances stay the same, since the absence of overlaps says little about bases that stand apart.

Edges. The image is sampled across the predicted sides of a base's top, see `edges`. A segment's color edge may be the
base's, or the lower edge of its side, a line of the print, a shadow, an arm. All segments of a base must agree on one
movement, so candidates are weighted by how well they fit the common movement, ever more sharply (EM with annealing,
as in S. Gold et al., Pattern Recognition 31(8), 1998).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Footprint, Gaps, outlines_of
from downfield.core.mathematics import wrap_deg
from downfield.vision.contacts.gaps import find_near_pairs, gap_gradients
from downfield.vision.edges import EdgeCandidates, find_edges
from downfield.vision.measuring.estimate import Estimate


@dataclass(frozen=True, slots=True)
class RefinementLimits:
    """Thresholds of refining estimates."""

    # overlap that may come from inexact sizes; `ContactTracker` weighs it as evidence of a contact
    overlap_slack_mm: float = 0.3
    overlap_tolerance_mm: float = 0.1  # bases that overlap by no more than this beyond the slack are not moved
    max_overlap_mm: float = 12.0  # a larger overlap is no small error: one of the figures is somewhere else
    overlap_sweeps: int = 4  # rounds of separating all overlapping pairs
    # distance from the carrier, an opponent or a boundary line within which a call may depend on a figure
    decisive_mm: float = 15.0
    touching_mm: float = 35.0  # distance of centers within which two bases may touch
    min_support: float = 0.2  # share of the segments that must show the edge for an outline to be refined
    # tolerance of candidates around the common movement, round by round
    annealing_mm: tuple[float, ...] = (0.7, 0.45, 0.3, 0.22, 0.22)
    no_edge_weight: float = 0.25  # prior weight of the case that none of a segment's candidates is the edge
    # error that all edges have in common: x mm, y mm, heading rad
    systematic_sigma: tuple[float, float, float] = (0.05, 0.05, 0.003)
    # Share of the earlier error that remains if all edges are found; more remains if fewer are, as these may belong to
    # something else. On 20 rendered plays, 95 % of errors were within two of these sigmas, up to 0.5 mm.
    remaining_share: float = 0.3
    max_move_mm: float = 2.0  # largest movement; beyond it, the edges belong to something else
    max_turn_rad: float = 0.12  # largest turn of a refined base


REFINEMENT_LIMITS: Final = RefinementLimits()


@dataclass(frozen=True, slots=True)
class RefinedOutline:
    """A base's outline, measured on its edges."""

    footprint: Footprint
    covariance: Array  # of x mm, y mm and heading in radians, shape (3, 3)
    support: float  # share of its edge that was found, 0..1


def separate_overlaps(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates of a frame, overlapping bases of standing figures that are seen moved apart."""
    candidates = [figure for figure in estimates if figure.seen and figure.posture == "upright"]
    figures, pairs = find_near_pairs(candidates, 0.0)
    if not pairs.size:
        return tuple(estimates)
    outlines = outlines_of([figure.footprint for figure in figures])
    covariance = np.array([figure.covariance for figure in figures])
    moved: set[int] = set()
    least_mm = -REFINEMENT_LIMITS.overlap_slack_mm - REFINEMENT_LIMITS.overlap_tolerance_mm
    for _ in range(REFINEMENT_LIMITS.overlap_sweeps):
        gaps = Gaps.of(outlines[pairs])
        rows = np.flatnonzero((gaps.gap_mm < least_mm) & (gaps.gap_mm > -REFINEMENT_LIMITS.max_overlap_mm))
        if not len(rows):
            break
        step = np.zeros((len(figures), 3))
        gradients = gap_gradients(gaps)
        for row in rows[np.argsort(gaps.gap_mm[rows])].tolist():
            a, b = pairs[:, row].tolist()
            opened_mm = gradients[1, row] @ step[b] - gradients[0, row] @ step[a]
            lacks_mm = -REFINEMENT_LIMITS.overlap_slack_mm - gaps.gap_mm[row] - opened_mm
            if lacks_mm <= 0:
                continue
            way_a, way_b = covariance[a] @ gradients[0, row], covariance[b] @ gradients[1, row]
            share = lacks_mm / (gradients[0, row] @ way_a + gradients[1, row] @ way_b)
            step[a] -= way_a * share
            step[b] += way_b * share
            moved |= {a, b}
        outlines[:, :2] += step[:, :2]
        outlines[:, 2] += np.degrees(step[:, 2])
        pairs = pairs[:, np.isin(pairs, list(moved)).any(axis=0)]  # nothing changed between all others
    separated = {figures[row].id: _placed(figures[row], outlines[row]) for row in moved}
    return tuple(separated.get(figure.id, figure) for figure in estimates)


def _placed(estimate: Estimate, outline: Array) -> Estimate:
    x_mm, y_mm, heading_deg = outline[:3].tolist()
    return replace(estimate, footprint=Footprint(x_mm, y_mm, wrap_deg(heading_deg), estimate.footprint.size))


def find_decisive(estimates: Sequence[Estimate], field: FieldModel, carrier: str | None) -> list[int]:
    """Return the rows of the upright, seen figures on which a call may soon depend.

    These are the carrier and figures near it (without a declared carrier, figures near an opponent), and figures near a
    boundary line of the field.
    """
    upright = [row for row, figure in enumerate(estimates) if figure.seen and figure.posture == "upright"]
    if not upright:
        return []
    figures = [estimates[row] for row in upright]
    footprints = [figure.footprint for figure in figures]
    x, y, length = np.array([(at.x_mm, at.y_mm, at.size.length_mm) for at in footprints]).T
    near = np.hypot(x[:, None] - x, y[:, None] - y) < REFINEMENT_LIMITS.touching_mm + REFINEMENT_LIMITS.decisive_mm
    if carrier:
        carries = np.array([figure.id == carrier for figure in figures])
        near &= carries[:, None] | carries
    else:
        dark = np.array([figure.jersey == "dark" for figure in figures])
        near &= dark[:, None] != dark
    to_line = np.minimum.reduce([np.abs(x), np.abs(x - field.length_mm), y, field.width_mm - y])
    chosen = near.any(axis=1) | (to_line < length / 2 + REFINEMENT_LIMITS.decisive_mm)
    return [row for row, decisive in zip(upright, chosen.tolist(), strict=True) if decisive]


def refine_outlines(image: Image, camera: Camera, estimates: Sequence[Estimate]) -> list[RefinedOutline | None]:
    """Measure bases on the edges of their tops.

    Args:
        camera: the camera when the image was taken.
        estimates: upright figures; the search starts at their footprints and is weighed against their covariances.

    Returns:
        For each figure its outline, combined with the estimate, or None if too little of it is visible.
    """
    if not estimates:
        return []
    edges = find_edges(image, camera, [figure.footprint for figure in estimates])
    turn = _to_board(np.radians([figure.footprint.heading_deg for figure in estimates]))
    known = turn.transpose(0, 2, 1) @ np.array([figure.covariance for figure in estimates]) @ turn
    prior = np.asarray(np.linalg.inv(known), dtype=np.float64)
    move, information, shown = _common_movement(edges, prior)
    # The upper and the lower edge of a segment are two rows; either is enough.
    support = np.maximum(shown[:, ::2], shown[:, 1::2]).mean(axis=1)
    left = np.minimum(REFINEMENT_LIMITS.remaining_share / np.maximum(support, 1e-3), 1.0)[:, None, None] ** 2 * known
    error = np.linalg.inv(information) + np.diag(np.square(REFINEMENT_LIMITS.systematic_sigma)) + left
    covariance = turn @ error @ turn.transpose(0, 2, 1)
    board = np.einsum("nij,nj->ni", turn, move)
    return [_moved(*found) for found in zip(estimates, board, covariance, support.tolist(), strict=True)]


def _common_movement(edges: EdgeCandidates, prior: Array) -> tuple[Array, Array, Array]:
    """Return the movement that a base's edges agree on: ahead, to the left, turn; shape (n, 3).

    And its inverse covariances, as `prior` has them beforehand, (n, 3, 3), and how surely each row shows its edge,
    0..1, (n, rows).
    """
    # Candidates are the first axis, so that sums over these few run over whole arrays.
    candidates = (edges.offset_mm, edges.strength, edges.sigma_mm**2)
    offset, strength, variance = (np.ascontiguousarray(values.transpose(2, 0, 1)) for values in candidates)
    move, information, weight = np.zeros((len(prior), 3)), prior, strength
    products = (edges.slopes[..., :, None] * edges.slopes[..., None, :]).reshape(*edges.slopes.shape[:2], 9)
    for width_mm in REFINEMENT_LIMITS.annealing_mm:
        bell = strength * np.exp(-0.5 * ((offset - (edges.slopes @ move[..., None])[..., 0]) / width_mm) ** 2)
        weight = bell / (bell.sum(axis=0) + REFINEMENT_LIMITS.no_edge_weight)  # probability of being the edge
        trust = weight / (variance + (width_mm / 3) ** 2)
        information = prior + (trust.sum(axis=0)[:, None] @ products).reshape(-1, 3, 3)
        pull = (trust * offset).sum(axis=0)[:, None] @ edges.slopes
        move = np.linalg.solve(information, pull.transpose(0, 2, 1))[..., 0]
    return move, information, weight.sum(axis=0)


def _moved(figure: Estimate, by: Array, covariance: Array, support: float) -> RefinedOutline | None:
    """Return a figure's moved outline; None if the movement is implausible."""
    x, y, turn = by.tolist()
    implausible = math.hypot(x, y) > REFINEMENT_LIMITS.max_move_mm or abs(turn) > REFINEMENT_LIMITS.max_turn_rad
    if support < REFINEMENT_LIMITS.min_support or implausible:
        return None
    old = figure.footprint
    moved = Footprint(old.x_mm + x, old.y_mm + y, old.heading_deg + math.degrees(turn), old.size)
    return RefinedOutline(moved, covariance, support)


def _to_board(heading: Array) -> Array:
    """Return matrices from ahead, left and turn to x, y and turn, for headings in radians (n,); shape (n, 3, 3)."""
    turn = np.zeros((len(heading), 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(heading)
    turn[:, 1, 0] = np.sin(heading)
    turn[:, 0, 1] = -turn[:, 1, 0]
    turn[:, 2, 2] = 1.0
    return turn
