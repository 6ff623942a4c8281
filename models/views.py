"""Views of one base: how far they differ, which is surer, and what a closer look at an earlier picture changes now."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.patches import apparent_lengths
from downfield.models.second_look_output import TURNED
from downfield.models.suppression import find_same_figure

_DIFFERS = 0.08  # of a base's length, mean distance of corners: two views of it are worth a look each
_EXACT = 0.02  # errors of corners by a base's length below which one view is enough
_VAGUE = 0.09  # errors of corners by a base's length from which it may lie across what is believed
_SURER = 0.8  # errors that another view must be said to have, by those of one that was followed


def select_new_views(found: Sequence[Detection], seen: Sequence[Detection]) -> list[Detection]:
    """What is found in a picture and not seen there anyhow: what a later picture's `track` needs to know of.

    Args:
        found: by `TwoStageDetector.find_candidates`.
        seen: by `TwoStageDetector.track`, in the same picture or nearly.

    """
    known = [one for one in seen if one.corners_px]
    same = [find_same_figure(one, known) if one.corners_px else None for one in found]
    return [one for one, row in zip(found, same, strict=True) if row is None or is_news(one, known[row])]


def merge_refined(
    seen: Sequence[Detection], then: Sequence[Detection], views: Sequence[Detection]
) -> tuple[Detection, ...]:
    """What is seen now, with what a closer look has made of an earlier picture: to be looked at again.

    Args:
        seen: by `TwoStageDetector.track`, now.
        then: by it, in the earlier picture.
        views: by `TwoStageDetector.refine_candidates`, of the earlier picture: new figures, and better
            views of tracked ones, which are moved along with them.

    """
    rows, before = [i for i, one in enumerate(seen) if one.corners_px], [one for one in then if one.corners_px]
    now, out = [seen[i] for i in rows], list(seen)
    for view in views:
        was = find_same_figure(view, before)
        same = find_same_figure(view if was is None else before[was], now)
        if was is None and same is None:
            out.append(view)
        elif was is not None and same is not None and surer(before[was], view) is view:
            out[rows[same]] = _moved(view, _middle_px(now[same]) - _middle_px(before[was]))
    return tuple(out)


def _middle_px(figure: Detection) -> Array:
    middle: Array = np.array(figure.corners_px).mean(axis=0)
    return middle


def _moved(figure: Detection, by_px: Array) -> Detection:
    corners = (np.array(figure.corners_px) + by_px).tolist()
    return dataclasses.replace(figure, corners_px=tuple((x, y) for x, y in corners))


def surer(one: Detection, view: Detection) -> Detection:
    """A figure, or another view of it if that is said to be clearly more exact."""
    return view if sum(view.corner_sigma_px) < _SURER * sum(one.corner_sigma_px) else one


def vague(one: Detection, usual_px: float) -> bool:
    """Whether a base is seen so vaguely that it may lie across what is believed."""
    return one.kind == "upright" and sum(one.corner_sigma_px) / 4 > _VAGUE * usual_px


def quarter_turned(figure: Detection) -> Detection:
    """A figure as if it lay across where it is seen."""
    corners = np.array(figure.corners_px)
    middle = corners.mean(axis=0)
    turned = (corners - middle)[:, ::-1] * (1.0, -1.0) + middle
    return dataclasses.replace(figure, corners_px=tuple((x, y) for x, y in turned.tolist()))


def is_news(one: Detection, known: Detection) -> bool:
    """Whether a view of a figure that is known may be a better one."""
    return not _exact(known) and _elsewhere(one, known)


def _exact(one: Detection) -> bool:
    """Whether a figure is said to be where it is so exactly that hardly another view of it could be surer."""
    limit_px = _EXACT * float(apparent_lengths(one.corners_px))
    return 0 < sum(one.corner_sigma_px) / 4 < limit_px


def _elsewhere(one: Detection, other: Detection) -> bool:
    """Whether two views of one base differ."""
    return apart(one, other) > _DIFFERS * float(apparent_lengths(one.corners_px))


def apart(one: Detection, other: Detection) -> float:
    """How far apart two views of one base have its corners, pixels, whichever end they take for its front."""
    corners, others = np.array(one.corners_px), np.array(other.corners_px)
    ways = (others, others[list(TURNED[:4])])
    return min(float(np.linalg.norm(corners - way, axis=1).mean()) for way in ways)
