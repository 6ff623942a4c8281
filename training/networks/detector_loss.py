"""The loss of the detector, and which of its cells is trained on which object, without a loop over objects.

Cells belong to objects by the true places, not by the network's output: bases are solid, so a cell near a base's middle
is that base's from the first step on. A score is how near the middle the cell is, 1 in the nearest one, which is what
suppression needs. Cells around a base are trained on its place though their score is nearly 0: what they report must
lie where the best cell's does, or it would count as another figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss

from downfield.models.frame_detector import KEYPOINTS, STRIDE_PX
from downfield.training.data.samples import BALL, FALLEN, HAND, UPRIGHT, FrameSamples
from downfield.training.networks.blocks import Losses
from downfield.training.networks.detector import POSE_KINDS


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


@dataclass(frozen=True, slots=True)
class DetectorLossWeights:
    """Weights of the loss's parts and cells."""

    kinds: tuple[float, float, float] = (2.0, 3.0, 3.0)
    """Of cells with something upright, fallen, a hand: there are few of the latter two."""
    scores: float = 0.3
    """Of the scores, relative to places."""
    around: float = 0.08
    """Of places in cells around a base, relative to its middle: there are about ten of them."""
    empty_around: float = 1.5
    """Of there being nothing in cells around a base, where figures are reported twice."""
    hidden: float = 0.5
    """Of hidden keypoints: they can only be inferred."""
    fallen_place: float = 0.3
    """Of fallen figures' places: their base stands on its edge."""
    visible: float = 0.5
    """Of whether keypoints are visible."""
    place: float = 0.5
    """Of places."""
    box: float = 0.5
    """Of boxes."""
    hand_box_px: float = 64.0
    """Distance from the fingertips to which a hand's box is trained."""
    trained_score: float = 0.25
    """Score from which a cell is trained on places."""
    empty_score: float = 0.02
    """Score below which a cell counts as having nothing."""
    least_spread_cells: float = 0.02
    """The least spread in the likelihood."""
    ball_score: float = 0.1
    """Score from which a cell is trained on the ball's place."""
    rare_ball: float = 0.1
    """Of a batch's ball scores if it has hardly any ball: they then count by the picture."""


WEIGHTS: Final = DetectorLossWeights()


def detector_loss(pose: Tensor, ball: Tensor, truth: FrameSamples) -> tuple[Tensor, Losses]:
    """Return the loss of a detector's output, and its parts.

    Args:
        pose: pose branch of `DetectorNetwork`, shape (b, `POSE_CHANNELS`, rows, columns).
        ball: its ball branch, shape (b, `BALL_CHANNELS`, rows, columns).
    """
    rows, columns = pose.shape[-2:]
    size = torch.tensor([columns, rows], dtype=torch.float32, device=pose.device)
    points = torch.cat([(truth.points[..., :2] + 0.5) / STRIDE_PX, truth.points[..., 2:]], dim=-1)
    boxes = (truth.boxes + 0.5) / STRIDE_PX
    objects = cell_objects(truth.kinds, points, truth.shown, size)
    cells = cell_centers(rows, columns, pose.device)
    pose_loss, parts = _pose_loss(pose.float().flatten(2).transpose(1, 2), cells, objects, points, boxes)
    ball_loss, ball_parts = _ball_loss(ball.float().flatten(2).transpose(1, 2), cells, objects)
    return pose_loss + ball_loss, parts | ball_parts


def _pose_loss(
    output: Tensor, cells: Tensor, objects: CellObjects, points: Tensor, boxes: Tensor
) -> tuple[Tensor, Losses]:
    scores, vague = cell_scores(objects, cells, objects.kinds != BALL)
    # A hand over figures gets the cells it needs: the figures have others.
    over = (objects.kinds == HAND)[..., None] & (scores > WEIGHTS.trained_score)
    best, owner = (scores + over.to(scores.dtype)).max(dim=1)
    score = scores.gather(1, owner[:, None])[:, 0]
    kind = objects.kinds.gather(1, owner)
    distance = (objects.middles.gather(1, owner[..., None].expand(-1, -1, 2)) - cells).norm(dim=2)
    near = (distance < objects.around.gather(1, owner)) & (best > 0)
    box, classes, placed, spreads = output.split((4, len(POSE_KINDS), 3 * KEYPOINTS, 2 * KEYPOINTS), dim=2)

    scored = _score_loss(classes, kind, score, near, vague)
    scored = scored / (objects.required & (objects.kinds != BALL)).sum().clamp(min=1)
    trained = torch.where(best > WEIGHTS.trained_score, score, 0.0)
    true = points.gather(1, owner[:, :, None, None].expand(-1, -1, KEYPOINTS, 3))
    placed = placed.unflatten(2, (KEYPOINTS, 3))
    error = (placed[..., :2] + cells[:, None] - true[..., :2]).abs()
    placing = torch.where(best > WEIGHTS.trained_score, score, WEIGHTS.around * near)
    place = _place_loss(error, spreads.unflatten(2, (KEYPOINTS, 2)), true[..., 2], placing, kind)
    visible = trained[..., None] * (true[..., 2] > 0)
    seen = _entropy(placed[..., 2], (true[..., 2] > 1).float(), visible)
    boxed = _box_loss(box, cells, boxes.gather(1, owner[..., None].expand(-1, -1, 4)), true, kind, trained)
    loss = WEIGHTS.scores * scored + WEIGHTS.place * place + WEIGHTS.visible * seen + WEIGHTS.box * boxed
    clear = trained[..., None] * (true[..., 2] > 1)
    off_px = STRIDE_PX * (error.sum(dim=-1) / 2 * clear).sum() / clear.sum().clamp(min=1)
    return loss, {"scores": scored, "place": place, "off_px": off_px, "visible": seen, "box": boxed}


def _score_loss(classes: Tensor, kind: Tensor, score: Tensor, near: Tensor, vague: Tensor) -> Tensor:
    """Return the sum of the weighted cross-entropies of all cells and classes."""
    target = torch.stack([kind == row for row in POSE_KINDS], dim=2) * score[..., None]
    something = torch.tensor(WEIGHTS.kinds, device=classes.device)
    weight = torch.where(target > WEIGHTS.trained_score, something, 1.0)
    weight = torch.where(near[..., None] & (target < WEIGHTS.empty_score), WEIGHTS.empty_around, weight)
    weight = weight * ~(vague[..., None] & (target < WEIGHTS.trained_score))
    return (binary_cross_entropy_with_logits(classes, target, reduction="none") * weight).sum()


def _place_loss(error: Tensor, spreads: Tensor, flags: Tensor, placing: Tensor, kind: Tensor) -> Tensor:
    """Return the Laplace likelihood of keypoints (b, c, 5, 2), weighted by cell, visibility and kind."""
    spread = spreads.sigmoid().clamp(min=WEIGHTS.least_spread_cells)
    weight = placing[..., None] * torch.where(flags > 1, 1.0, WEIGHTS.hidden) * (flags > 0)
    weight = weight * torch.where(kind == FALLEN, WEIGHTS.fallen_place, 1.0)[..., None]
    return ((error / spread + spread.log()).sum(dim=-1) * weight).sum() / weight.sum().clamp(min=1)


def _box_loss(box: Tensor, cells: Tensor, true: Tensor, points: Tensor, kind: Tensor, trained: Tensor) -> Tensor:
    """Return the mean error of boxes relative to their size; a hand's box ends some way from its fingertips."""
    tip, far = points[:, :, 4, :2].repeat(1, 1, 2), WEIGHTS.hand_box_px / STRIDE_PX
    true = torch.where((kind == HAND)[..., None], true.clamp(tip - far, tip + far), true)
    sides = torch.cat([cells - true[..., :2], true[..., 2:] - cells], dim=2)
    size = (true[..., 2:] - true[..., :2]).sum(dim=2).clamp(min=1)
    return ((box - sides).abs().sum(dim=2) / size * trained).sum() / trained.sum().clamp(min=1)


def _ball_loss(output: Tensor, cells: Tensor, objects: CellObjects) -> tuple[Tensor, Losses]:
    scores, vague = cell_scores(objects, cells, objects.kinds == BALL)
    target, owner = scores.max(dim=1)
    count = (objects.required & (objects.kinds == BALL)).sum().clamp(min=1)
    each = binary_cross_entropy_with_logits(output[..., 0], target, reduction="none")
    scored = (each * ~(vague & (target < WEIGHTS.trained_score))).sum() / count
    middle = objects.middles.gather(1, owner[..., None].expand(-1, -1, 2))
    trained = torch.where(target > WEIGHTS.ball_score, target, 0.0)
    error = smooth_l1_loss(output[..., 1:] + cells, middle, reduction="none", beta=0.1).sum(dim=2)
    place = (error * trained).sum() / trained.sum().clamp(min=1)
    share = torch.where(count > 1, 1.0, WEIGHTS.rare_ball)
    return share * scored + place, {"ball": scored, "ball_place": place}


def _entropy(logits: Tensor, true: Tensor, weight: Tensor) -> Tensor:
    each = binary_cross_entropy_with_logits(logits, true, reduction="none")
    return (each * weight).sum() / weight.sum().clamp(min=1)
