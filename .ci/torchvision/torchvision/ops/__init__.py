"""Non-maximum suppression, by ultralytics' own."""

from typing import Any


def nms(boxes: Any, scores: Any, iou_threshold: float) -> Any:
    """Indices of the boxes that stay, best first."""
    from ultralytics.utils.nms import TorchNMS

    return TorchNMS.nms(boxes, scores, iou_threshold)
