"""Suppresses duplicate detections, finds the same figure in two sets of detections, and chooses between its views.

For test-time augmentation a picture is run mirrored as well, and both results are merged: the network seldom makes the
same error in both pictures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Bools, Image
from downfield.core.frame import Detection, Pixel
from downfield.models.refiner import MIRRORED_CORNERS, ROTATED_POINTS, apparent_lengths, longer_sides
from downfield.models.runtime import logit, sigmoid


@dataclass(frozen=True, slots=True)
class SuppressionLimits:
    """Thresholds of suppression and of choosing views. Lengths are relative to the base's."""

    # Suppression.
    # figures whose centers are nearer are duplicates: bases are solid, so centers stay a width (0.6) apart
    same_place: float = 0.45
    max_overlap: float = 0.3  # when a larger share of a base lies inside another base, one of the two is false
    overlap_reach: float = 1.8  # bases whose centers are further apart don't overlap, whatever their width
    overlap_samples: int = 5  # sample points along a base's side
    tracked_bonus_logit: float = 1.0  # added to the logit of a figure that was tracked a moment ago
    worthless_score: float = 0.05  # a score that counts nothing against others
    # Views of one figure.
    min_difference: float = 0.08  # mean distance of corners from which two views differ, so that each is worth refining
    exact_sigma: float = 0.02  # error of corners below which one view is enough
    vague_sigma: float = 0.09  # error of corners from which the base may really lie across
    # score assumed in a mirrored picture for a figure that was detected only in the other picture
    missed_score: float = 0.05
    better_ratio: float = 0.8  # a view replaces another if its error is below this share of the other's


SUPPRESSION_LIMITS: Final = SuppressionLimits()
_ENDS: Final = (np.arange(SUPPRESSION_LIMITS.overlap_samples) + 0.5) / SUPPRESSION_LIMITS.overlap_samples
_SAMPLES: Final = tuple(side.ravel()[:, None] for side in np.meshgrid(_ENDS, _ENDS))
"""Shares along and across a base of the points at which bases are compared, shape (n, 1) each."""


def non_maximum_suppression(
    count: int, duplicates: Callable[[int, slice], Bools], limit: int | None = None
) -> list[int]:
    """Greedy non-maximum suppression: keep the best, drop its duplicates, and so on.

    Args:
        duplicates: given a row and the rows after it, returns which of these are duplicates of it.
        limit: number of rows to keep at most.

    Returns:
        The rows that are kept, in order.
    """
    alive = np.ones(count, dtype=np.bool_)
    kept: list[int] = []
    for row in range(count):
        if len(kept) == limit:
            break
        if alive[row]:
            kept.append(row)
            rest = slice(row + 1, None)
            alive[rest] &= ~duplicates(row, rest)
    return kept


def suppress_overlaps(figures: list[Detection], tracked: int) -> list[Detection]:
    """Drop figures whose base overlaps others, since bases are solid.

    Greedy suppression would fail where two bases meet: a false base made of half of each may outscore
    both. It overlaps two bases that don't overlap each other and together score more. So the figure with the lowest
    score relative to those it overlaps is dropped first.

    Args:
        tracked: number of detections, from the first on, that were tracked a moment ago.
    """
    if not figures:
        return []
    corners = np.array([figure.corners_px for figure in figures])
    centers, lengths = corners.mean(axis=1), longer_sides(corners)
    distance = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    longer = np.maximum(lengths[:, None], lengths[None])
    clash = distance < SUPPRESSION_LIMITS.same_place * longer
    upright = np.array([figure.kind == "upright" for figure in figures])
    near = upright[:, None] & upright[None] & (distance < SUPPRESSION_LIMITS.overlap_reach * longer)
    first, second = np.nonzero(np.triu(near, k=1))
    pairs = corners[first], corners[second]
    overlap = np.maximum(_share_inside(*pairs), _share_inside(*pairs[::-1])) > SUPPRESSION_LIMITS.max_overlap
    clash[first[overlap], second[overlap]] = clash[second[overlap], first[overlap]] = True
    np.fill_diagonal(clash, False)
    bonus = SUPPRESSION_LIMITS.tracked_bonus_logit * (np.arange(len(figures)) < tracked)
    weight = logit(np.array([figure.score for figure in figures])) + bonus
    weight = np.maximum(weight - float(logit(np.array(SUPPRESSION_LIMITS.worthless_score))), 0.0)
    alive = np.ones(len(figures), dtype=np.bool_)
    while True:
        against = (clash & alive[None]) @ weight
        clashing = alive & (clash & alive[None]).any(axis=1)
        if not clashing.any():
            return [figure for figure, stays in zip(figures, alive, strict=True) if stays]
        alive[np.where(clashing, weight - against, np.inf).argmin()] = False


def _share_inside(bases: Array, others: Array) -> Array:
    """Return the share of bases inside others, shape (n,)."""
    u, v = _SAMPLES
    a, b, c, d = (bases[:, None, k] for k in range(4))
    points = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
    a, b, c, d = (others[:, k] for k in range(4))
    ahead, aside = (a + b - c - d) / 2, (a + d - b - c) / 2
    off = points - others.mean(axis=1)[:, None]
    # In its own frame a base extends from -1/2 to 1/2 along both sides.
    cross = ahead[:, 0] * aside[:, 1] - ahead[:, 1] * aside[:, 0]
    cross = np.where(np.abs(cross) < 1e-9, np.inf, cross)[:, None]
    along = (off[..., 0] * aside[:, 1:] - off[..., 1] * aside[:, :1]) / cross
    across = (off[..., 1] * ahead[:, :1] - off[..., 0] * ahead[:, 1:]) / cross
    share: Array = ((np.abs(along) < 0.5) & (np.abs(across) < 0.5)).mean(axis=1)
    return share


def point_px(found: Detection) -> Pixel:
    """Return a hand's fingertips or a ball's center, carried in the helmet's place, or else the middle of its box."""
    left, top, right, bottom = found.box_px
    return found.helmet_px or ((left + right) / 2, (top + bottom) / 2)


def find_same_figure(figure: Detection, others: Sequence[Detection]) -> int | None:
    """Return the row of the same figure, judged by its place; None if there is none."""
    if not others:
        return None
    corners = np.array([other.corners_px for other in (figure, *others)])
    centers, lengths = corners.mean(axis=1), longer_sides(corners)
    distance = np.linalg.norm(centers[1:] - centers[0], axis=1) / np.maximum(lengths[1:], lengths[0])
    nearest = int(distance.argmin())
    return nearest if distance[nearest] < SUPPRESSION_LIMITS.same_place else None


def select_new_views(found: Sequence[Detection], tracked: Sequence[Detection]) -> list[Detection]:
    """Return the candidates that add information: new figures, other views of inexact figures, balls and hands.

    Args:
        tracked: detections tracked in the same picture or one close to it.
    """
    known = [figure for figure in tracked if figure.corners_px]
    rows = [find_same_figure(figure, known) if figure.corners_px else None for figure in found]
    return [figure for figure, row in zip(found, rows, strict=True) if row is None or adds_view(figure, known[row])]


def merge_refined(
    now: Sequence[Detection], then: Sequence[Detection], refined: Sequence[Detection]
) -> tuple[Detection, ...]:
    """Return the tracked detections, merged with those refined in an earlier picture.

    Args:
        now: the detections tracked now.
        then: the detections tracked in the earlier picture.
        refined: candidates refined in that picture: new figures, and better views of tracked figures. A figure that has
            moved since keeps its place and takes over the view.
    """
    rows = [i for i, figure in enumerate(now) if figure.corners_px]
    before = [figure for figure in then if figure.corners_px]
    known, out = [now[i] for i in rows], list(now)
    for view in refined:
        was = find_same_figure(view, before)
        same = find_same_figure(view if was is None else before[was], known)
        if was is None and same is None:
            out.append(view)
        elif was is not None and same is not None and better_view(before[was], view) is view:
            to_px, from_px = (np.array(figure.corners_px).mean(axis=0) for figure in (known[same], before[was]))
            corners = (np.array(view.corners_px) + (to_px - from_px)).tolist()
            out[rows[same]] = dataclasses.replace(view, corners_px=tuple((x, y) for x, y in corners))
    return tuple(out)


def better_view(figure: Detection, view: Detection) -> Detection:
    """Return a figure, or another view of the figure if that is clearly more exact."""
    return view if sum(view.corner_sigma_px) < SUPPRESSION_LIMITS.better_ratio * sum(figure.corner_sigma_px) else figure


def is_vague(figure: Detection, usual_px: float) -> bool:
    """Return whether a base is so inexact that it may really lie across."""
    return figure.kind == "upright" and sum(figure.corner_sigma_px) / 4 > SUPPRESSION_LIMITS.vague_sigma * usual_px


def quarter_turned(figure: Detection) -> Detection:
    """Return a figure turned by a quarter turn in place."""
    corners = np.array(figure.corners_px)
    center = corners.mean(axis=0)
    turned = (corners - center)[:, ::-1] * (1.0, -1.0) + center
    return dataclasses.replace(figure, corners_px=tuple((x, y) for x, y in turned.tolist()))


def adds_view(view: Detection, known: Detection) -> bool:
    """Return whether a view of a known figure may be better."""
    exact_px = SUPPRESSION_LIMITS.exact_sigma * float(apparent_lengths(known.corners_px))
    if 0 < sum(known.corner_sigma_px) / 4 < exact_px:  # hardly any view could be better
        return False
    least_px = SUPPRESSION_LIMITS.min_difference * float(apparent_lengths(view.corners_px))
    return corner_distance(view, known) > least_px


def corner_distance(figure: Detection, view: Detection) -> float:
    """Return the mean distance of corners between two views of a base, px, regardless of which end is the front."""
    corners, others = np.array(figure.corners_px), np.array(view.corners_px)
    orders = (others, others[list(ROTATED_POINTS[:4])])
    return min(float(np.linalg.norm(corners - order, axis=1).mean()) for order in orders)


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
    figures, others = ([one for one in found if bool(one.corners_px) is is_figure] for is_figure in (True, False))
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
