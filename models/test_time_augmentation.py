"""Test-time augmentation: a picture is run mirrored as well, and both results are merged.

The network seldom makes the same error in both pictures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.models.refiner import MIRRORED_CORNERS
from downfield.models.runtime import logit, sigmoid
from downfield.models.suppression import SUPPRESSION_LIMITS, find_same_figure


def mirror_image(image: Image) -> Image:
    """Return the picture with left and right exchanged."""
    return np.ascontiguousarray(image[:, ::-1])


def mirror_detections(found: Sequence[Detection], width_px: int) -> list[Detection]:
    """Map detections in a mirrored picture, `width_px` wide, to the original picture."""
    return [_mirrored(detection, width_px - 1) for detection in found]


def merge_mirrored(found: Sequence[Detection], mirrored: Sequence[Detection]) -> list[Detection]:
    """Merge the detections in a picture with those in its mirror image.

    A figure's score is the mean of both, taken as logits. Balls and hands stay as found in the picture.

    Args:
        mirrored: detections in the mirrored picture, mapped back.
    """
    figures, others = (
        [detection for detection in found if bool(detection.corners_px) is is_figure] for is_figure in (True, False)
    )
    scores = [SUPPRESSION_LIMITS.missed_score] * len(figures)
    new = []
    for view in mirrored:
        if not view.corners_px:
            continue
        same = find_same_figure(view, figures)
        if same is None:
            new.append(_with_mean_score(view, SUPPRESSION_LIMITS.missed_score))
        else:
            scores[same] = max(scores[same], view.score)
    both = (_with_mean_score(figure, score) for figure, score in zip(figures, scores, strict=True))
    return [*both, *new, *others]


def _with_mean_score(figure: Detection, other_score: float) -> Detection:
    mean = logit(np.array([figure.score, other_score])).mean()
    return dataclasses.replace(figure, score=float(sigmoid(mean)))


def _mirrored(detection: Detection, last_px: int) -> Detection:
    left, top, right, bottom = detection.box_px
    changed: dict[str, object] = {"box_px": (last_px - right, top, last_px - left, bottom)}
    if detection.helmet_px:
        changed["helmet_px"] = (last_px - detection.helmet_px[0], detection.helmet_px[1])
    for name, values in (("corner_scores", detection.corner_scores), ("corner_sigma_px", detection.corner_sigma_px)):
        if values:
            changed[name] = tuple(values[i] for i in MIRRORED_CORNERS)
    if detection.corners_px:
        corners = (detection.corners_px[i] for i in MIRRORED_CORNERS)
        changed["corners_px"] = tuple((last_px - x, y) for x, y in corners)
    return dataclasses.replace(detection, **changed)  # type: ignore[arg-type]
