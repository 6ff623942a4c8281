"""Which cell of the detector is trained on which object, without a loop over objects.

Cells belong to objects by the true places, not by the network's output: bases are solid, so a cell near a base's middle
is that base's from the first step on. A score is how near the middle the cell is, 1 in the nearest one, which is what
suppression needs. Cells around a base learn its place though their score is next to nothing: what they report
must lie where the best cell's does, or it would count as another figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from torch import Tensor

from downfield.training.networks.samples import BALL, FALLEN, HAND, UPRIGHT


@dataclass(frozen=True, slots=True)
class CellTargetLimits:
    """Reach of objects over cells."""

    score_share: float = 0.22
    """Standard deviation of a figure's score around its middle, relative to its length."""
    least_score_cells: float = 0.5
    """The least such deviation."""
    most_score_cells: float = 1.4
    """The largest such deviation."""
    hand_score_cells: float = 1.0
    """The deviation around fingertips."""
    ball_score_cells: float = 0.5
    """The deviation around a ball."""
    around_share: float = 0.9
    """Cells within this share of a base's length from its middle learn its place."""
    least_around_cells: float = 1.6
    """The least such distance."""
    ball_shown: float = 0.2
    """Visible share of a ball from which it must be found; below it may be."""
    vague_score: float = 0.3
    """Score, by an object that need not be found, from which a cell is not trained."""


_LIMITS: Final = CellTargetLimits()


class CellObjects(NamedTuple):
    """Objects of a batch in cells from the picture's outer edge.

    Attributes:
        kinds: -1 for none, shape (b, n).
        middles: shape (b, n, 2).
        reach: standard deviation of the score around a middle, shape (b, n).
        around: distance within which cells learn the place, shape (b, n).
        required: whether it must be found, shape (b, n).
        optional: whether it may be found or not, shape (b, n).

    """

    kinds: Tensor
    middles: Tensor
    reach: Tensor
    around: Tensor
    required: Tensor
    optional: Tensor


def cell_objects(kinds: Tensor, points: Tensor, shown: Tensor, size: Tensor) -> CellObjects:
    """Return the objects of a batch.

    Args:
        kinds: shape (b, n).
        points: keypoints in cells, with flags, shape (b, n, 5, 3).
        shown: visible shares, shape (b, n).
        size: columns and rows, shape (2,).

    """
    corners, flags = points[:, :, :4, :2], points[..., 2]
    figure = (kinds == UPRIGHT) | (kinds == FALLEN)
    middles = torch.where(figure[..., None], corners.mean(dim=2), points[:, :, 4, :2])
    ahead = (corners[:, :, :2].mean(dim=2) - corners[:, :, 2:].mean(dim=2)).norm(dim=-1)
    aside = (corners[:, :, (0, 3)].mean(dim=2) - corners[:, :, (1, 2)].mean(dim=2)).norm(dim=-1)
    length = torch.maximum(ahead, aside)
    reach = (_LIMITS.score_share * length).clamp(_LIMITS.least_score_cells, _LIMITS.most_score_cells)
    reach = torch.where(kinds == BALL, _LIMITS.ball_score_cells, reach)
    reach = torch.where(kinds == HAND, _LIMITS.hand_score_cells, reach)
    around = (_LIMITS.around_share * length).clamp(min=_LIMITS.least_around_cells) * figure
    inside = ((middles > 0) & (middles < size)).all(dim=-1)
    clear = torch.where(kinds == HAND, flags[..., 4] > 0, (kinds != BALL) | (shown >= _LIMITS.ball_shown))
    known = kinds >= 0
    return CellObjects(kinds, middles, reach, around, known & inside & clear, known & ~(inside & clear))


def cell_centers(rows: int, columns: int, device: torch.device) -> Tensor:
    """Return the centers of all cells, row by row, shape (cells, 2)."""
    y, x = torch.meshgrid(torch.arange(rows, device=device), torch.arange(columns, device=device), indexing="ij")
    return torch.stack([x, y], dim=-1).reshape(-1, 2) + 0.5


def cell_scores(objects: CellObjects, cells: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores cells should give to required objects, and whether they are near an optional one.

    Args:
        objects: all objects.
        cells: centers, shape (c, 2).
        chosen: which objects count, shape (b, n).

    Returns:
        Scores, shape (b, n, c), 1 in the nearest cell; and a mask, shape (b, c).

    """
    off = (objects.middles[:, :, None] - cells).square().sum(dim=-1)
    width = 2 * objects.reach[..., None].square()
    scores = (-(off - off.amin(dim=2, keepdim=True)) / width).exp() * (objects.required & chosen)[..., None]
    near = (-off / width).exp() * (objects.optional & chosen)[..., None]
    return scores, near.amax(dim=1) > _LIMITS.vague_score
