"""A picture seen in a mirror as well: what a network makes of that, brought back, and both words together.

A network errs on both pictures, but seldom alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.models.head import logit, sigmoid
from downfield.models.suppression import find_same_figure

MIRRORED_CORNERS: Final = (1, 0, 3, 2)
"""What each corner is called in a mirror: left is right there."""

_UNSEEN = 0.05  # the score of who is seen in one of them only, in the other


def mirror_image(image: Image) -> Image:
    """A picture as a mirror shows it, left and right exchanged."""
    return np.ascontiguousarray(image[:, ::-1])


def mirror_detections(found: Sequence[Detection], width_px: int) -> list[Detection]:
    """What was found in a mirrored picture of some width, as of the picture itself."""
    return [_mirrored(one, width_px - 1) for one in found]


def merge_mirrored(found: Sequence[Detection], again: Sequence[Detection]) -> list[Detection]:
    """What was found in a picture, with the word of what was found in its mirrored one.

    Both count alike of figures: the mean of their log-odds. Balls and hands stay as they were found.

    Args:
        found: in the picture.
        again: in the mirrored one, brought back.

    """
    figures, others = ([one for one in found if bool(one.corners_px) is figure] for figure in (True, False))
    scores = [_UNSEEN] * len(figures)
    new = []
    for view in again:
        if not view.corners_px:
            continue
        same = find_same_figure(view, figures)
        if same is None:
            new.append(_heard(view, _UNSEEN))
        else:
            scores[same] = max(scores[same], view.score)
    return [*(_heard(one, score) for one, score in zip(figures, scores, strict=True)), *new, *others]


def _heard(one: Detection, other_score: float) -> Detection:
    word = logit(np.array([one.score, other_score])).mean()
    return dataclasses.replace(one, score=float(sigmoid(word)))


def _mirrored(one: Detection, last_px: int) -> Detection:
    left, top, right, bottom = one.box_px
    changed: dict[str, object] = {"box_px": (last_px - right, top, last_px - left, bottom)}
    if one.helmet_px:
        changed["helmet_px"] = (last_px - one.helmet_px[0], one.helmet_px[1])
    for name, values in (("corner_scores", one.corner_scores), ("corner_sigma_px", one.corner_sigma_px)):
        if values:
            changed[name] = tuple(values[i] for i in MIRRORED_CORNERS)
    if one.corners_px:
        changed["corners_px"] = tuple((last_px - one.corners_px[i][0], one.corners_px[i][1]) for i in MIRRORED_CORNERS)
    return dataclasses.replace(one, **changed)  # type: ignore[arg-type]
