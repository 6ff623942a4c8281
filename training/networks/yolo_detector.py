"""The bundled figure detector: a YOLO26-pose network over whole frames, with a loss of its own.

ultralytics teaches a keypoint's confidence whether the keypoint is labeled at all. Here hidden corners are labeled too,
since their places follow from the rest of the figure, so the confidence is free to say that they are hidden.

And ultralytics scores a cell by how near it puts every keypoint, so a figure with front and rear swapped, or one lying
on its side, would be trained as background. Here a score means only that something is there; the refiner measures it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

import torch
from ultralytics.cfg import get_cfg
from ultralytics.nn.tasks import PoseModel
from ultralytics.utils import DEFAULT_CFG
from ultralytics.utils.loss import PoseLoss26
from ultralytics.utils.tal import PoseTaskAlignedAssigner

from downfield.models.card import KINDS
from downfield.models.frame_detector import KEYPOINTS
from downfield.training.data.samples import BALL, FALLEN, UPRIGHT, FrameSamples, as_input

OKS_SIGMAS: Final = (0.07, 0.07, 0.07, 0.07, 0.3)
"""Scale of each keypoint's error, as a share of the object's size: a figure's corners should come within 2 to 3 px; the
ball, 6 px wide, has only the last one, and may be off by as many."""

CLASS_WEIGHTS: Final = (2.0, 5.0, 12.0, 6.0)
"""Weight of each class's score: a frame has 22 figures and one ball, and no later stage finds what this one misses."""

HIDDEN_WEIGHT: Final = 0.5  # weight of hidden keypoints' places against visible ones': they can only be inferred

REACH_PX: Final = (4.0, 10.0, 7.0, 40.0)
"""Error of an object's middle at which its cell scores 0.6, of upright and fallen figures, the ball and hands, input
pixels. A base is 14 of them wide; fallen figures and hands, whose middle is vague, get a longer reach."""

_SEEN = 2
_LEAST_SHOWN: Final = 0.3  # visible share of a ball from which it is one
_FIRST_KIND_OVER_FIGURES = 2
_ASSIGNER = ("topk", "topk2", "num_classes", "alpha", "beta", "stride")


def yolo_batch(frames: FrameSamples) -> dict[str, torch.Tensor]:
    """Return labeled pictures as ultralytics' losses take them: objects in one list with their picture's number."""
    height, width = frames.image.shape[1:3]
    size = frames.boxes.new_tensor([width, height])
    there = (frames.kinds >= 0) & ~_held(frames)
    boxes, points = frames.boxes[there], frames.points[there].clone()
    middles, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2 + 0.5, boxes[:, 2:] - boxes[:, :2]
    points[..., :2] = (points[..., :2] + 0.5) / size
    return {
        "img": as_input(frames.image),
        "cls": frames.kinds[there][:, None].to(boxes.dtype),
        "bboxes": torch.cat([middles / size, sizes / size], dim=1),
        "keypoints": points,
        "batch_idx": there.nonzero()[:, 0].to(boxes.dtype),
    }


def _held(frames: FrameSamples) -> torch.Tensor:
    """Return which objects are balls on a figure or nearly hidden, shape (n, k).

    They are five pixels wide here, and nothing tells them from hands and helmets: learned as balls, they were more
    than a third of the loss of the scores. The refiner finds them in the figures' patches at full resolution.
    """
    middles = (frames.boxes[..., :2] + frames.boxes[..., 2:]) / 2
    figures = (frames.kinds == UPRIGHT) | (frames.kinds == FALLEN)
    inside = (middles[:, :, None] > frames.boxes[:, None, :, :2]) & (middles[:, :, None] < frames.boxes[:, None, :, 2:])
    over = (inside.all(dim=-1) & figures[:, None]).any(dim=-1)
    return (frames.kinds == BALL) & (over | (frames.shown < _LEAST_SHOWN))


class PlaceAssigner(PoseTaskAlignedAssigner):
    """Assigns objects to cells by how near these put the middle of their keypoints, regardless of the order.

    A cell reports one object. The ball in a figure's arm and a hand over figures take their cells before the figures,
    which cover others as well.
    """

    def get_pos_mask(
        self,
        pd_scores: torch.Tensor,
        pd_bboxes: torch.Tensor,
        gt_labels: torch.Tensor,
        gt_bboxes: torch.Tensor,
        anc_points: torch.Tensor,
        mask_gt: torch.Tensor,
        **extra: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return which cells may predict which objects, as ultralytics does, remembering the objects' classes."""
        self._kinds = gt_labels[..., 0].long()
        masks: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = super().get_pos_mask(
            pd_scores, pd_bboxes, gt_labels, gt_bboxes, anc_points, mask_gt, **extra
        )
        return masks

    def select_highest_overlaps(
        self, mask_pos: torch.Tensor, overlaps: torch.Tensor, n_max_boxes: int, align_metric: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Leave each cell one object: a ball or a hand, else the one it agrees with best."""
        over = (self._kinds >= _FIRST_KIND_OVER_FIGURES)[..., None].to(overlaps.dtype)
        chosen: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = super().select_highest_overlaps(
            mask_pos, overlaps + over * mask_pos, n_max_boxes, align_metric
        )
        return chosen

    def pair_overlaps(
        self,
        indices: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        gt_bboxes: torch.Tensor,
        pd_bboxes: torch.Tensor,
        pd_kpts: torch.Tensor,
        gt_kpts: torch.Tensor,
    ) -> torch.Tensor:
        """Return how well pairs of an object and a cell agree, 0..1, shape (pairs,).

        Args:
            indices: picture, object and cell of each pair, each of shape (pairs,).
            gt_bboxes: left, top, right, bottom of objects in pixels, shape (pictures, objects, 4).
            pd_bboxes: of cells, shape (pictures, cells, 4).
            pd_kpts: x, y in pixels as cells put them, shape (pictures, cells, 5, 2).
            gt_kpts: true x, y, flag in pixels, shape (pictures, objects, 5, 3).
        """
        picture, thing, cell = indices
        true, predicted = gt_kpts[picture, thing], pd_kpts[picture, cell].float()
        labeled = (true[..., 2] > 0).to(true.dtype)
        count = labeled.sum(dim=1)
        off = ((predicted - true[..., :2]) * labeled[..., None]).sum(dim=1) / count.clamp(min=1)[:, None]
        reach = torch.tensor(REACH_PX, device=true.device)[self._kinds[picture, thing]]
        place = (-off.square().sum(dim=1) / (2 * reach.square())).exp()
        boxes: torch.Tensor = super(PoseTaskAlignedAssigner, self).pair_overlaps(
            (picture, thing, cell), gt_bboxes, pd_bboxes
        )
        return torch.where(count > 0, place.to(boxes.dtype), boxes)


class VisibilityPoseLoss(PoseLoss26):
    """The YOLO26-pose loss of the one-to-many branch with labels flagged hidden (1) or seen (2)."""

    def __init__(self, model: Any, tal_topk: int = 10, tal_topk2: int | None = None) -> None:
        super().__init__(model, tal_topk, tal_topk2)
        before: Any = self.assigner
        kept = {name: getattr(before, name) for name in _ASSIGNER}
        self.assigner: Any = PlaceAssigner(self.keypoint_loss.sigmas, **kept)

    def calculate_keypoints_loss(
        self,
        masks: torch.Tensor,
        target_gt_idx: torch.Tensor,
        keypoints: torch.Tensor,
        stride_tensor: torch.Tensor,
        target_bboxes: torch.Tensor,
        pred_kpts: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the losses of place, confidence and likelihood over the cells that predict an object.

        Args:
            masks: which cells do, shape (pictures, cells).
            target_gt_idx: for which object of its picture, shape (pictures, cells).
            keypoints: true x, y, flag in pixels, shape (pictures, objects, 5, 3).
            stride_tensor: pixels per cell, shape (cells, 1).
            target_bboxes: left, top, right, bottom in pixels, shape (pictures, cells, 4).
            pred_kpts: x, y, confidence logit and two spread logits in cells, shape (pictures, cells, 5, 5).
        """
        picture, cell = masks.nonzero(as_tuple=True)
        stride = stride_tensor[cell].view(-1, 1, 1)
        true = keypoints[picture, target_gt_idx[masks]].clone()
        true[..., :2] /= stride
        boxes = target_bboxes[masks] / stride[:, 0]
        area = ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).unsqueeze(1)
        predicted = pred_kpts[masks]
        labeled, seen = true[..., 2] > 0, true[..., 2] == _SEEN
        place = self._of_both(predicted, true, labeled, seen, area)
        spread = self.calculate_rle_loss(predicted, true, labeled).clamp(min=0)
        # What lies outside the picture is neither seen nor known to be hidden.
        confidence = torch.nn.functional.binary_cross_entropy_with_logits(
            predicted[..., 2][labeled], seen[labeled].to(predicted.dtype), reduction="sum"
        ) / max(int(labeled.sum()), 1)
        return place, confidence, spread

    def _of_both(
        self, predicted: torch.Tensor, true: torch.Tensor, labeled: torch.Tensor, seen: torch.Tensor, area: torch.Tensor
    ) -> torch.Tensor:
        plain: torch.Tensor = self.keypoint_loss(predicted, true, seen, area)
        inferred: torch.Tensor = self.keypoint_loss(predicted, true, labeled & ~seen, area)
        return plain + HIDDEN_WEIGHT * inferred


def new_yolo_detector() -> Any:
    """Return an untrained detector; its loss is `VisibilityPoseLoss`, which the caller sets as `criterion`."""
    model = PoseModel(str(files("downfield.training.networks") / "yolo-detector.yaml"), verbose=False)
    model.args = get_cfg(DEFAULT_CFG)
    model.names = dict(enumerate(KINDS))
    model.kpt_shape = [KEYPOINTS, 3]
    model.kpt_oks_sigmas = list(OKS_SIGMAS)
    model.class_weights = torch.tensor(CLASS_WEIGHTS)
    return model
