"""Scores a detector on labeled pictures: missed objects, false detections and errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from downfield.calibration.pictures import read_picture
from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.core.mathematics import wrap_deg
from downfield.models.suppression import point_px
from downfield.twin.randomization.deck import Split
from downfield.twin.sets.dataset import read_samples
from downfield.twin.sets.labels import FigureLabel, Sample, ThingLabel

Bools = NDArray[np.bool_]

WELL_SEEN: Final = 0.3  # share of a base's top, or of the ball, from which it counts as seen

HARDLY_SHOWN: Final = 0.08  # visible share of a whole figure below which neither finding nor missing it counts

_REACH = 0.5  # of a base's length: middles further apart are not the same figure
_BALL_REACH_PX = 6.0  # at least; the ball's own size where it is larger
_HAND_REACH = 0.04  # of the picture's width, about half a hand: fingertips reported within it count as found


@dataclass(frozen=True, slots=True)
class FrameScore:
    """The score of one picture; hardly visible figures are left out."""

    table: int  # which drawn table it shows; pictures of a table are alike, so chance is drawn by table
    visible: Array  # share of each figure's base top that is seen, shape (n,)
    length_px: Array  # of each base, shape (n,)
    fallen: Bools  # shape (n,)
    found: Bools  # shape (n,)
    said_fallen: Bools  # shape (n,); False where it was not found
    # how far off each corner is on the board, at the height of the base's top; NaN for what was not found, has fallen
    # or is in a hand; shape (n, 4)
    corners_mm: Array
    corners_px: Array  # error of each corner along x and y in the picture; NaN for what was not found; shape (n, 4, 2)
    sigmas_px: Array  # standard deviation that the detector reported, NaN where none; shape (n, 4)
    corners_seen: Bools  # shape (n, 4)
    heading_deg: Array  # how far off, 0..180; NaN as corners_mm; shape (n,)
    front_scores: Array  # certainty of each front as reported, NaN for what was not found; shape (n,)
    scores: Array  # of the figures found, NaN elsewhere, shape (n,)
    false_scores: Array  # of figures seen where there is none, shape (m,)
    ball_shown: float  # how much of the ball is seen, 0..1; 0 where there is none
    ball_found: bool  # whether it was found
    balls_false: int  # balls seen elsewhere
    hands: int
    hands_found: int  # hands_found, hands_false: how many were found, and seen where there are none
    hands_false: int


def pictures_of(folder: Path, split: Split) -> Iterable[tuple[Sample, Image]]:
    """Yield the pictures of a data set with their labels. Raises InputError: there are none, or one is no picture."""
    for sample in read_samples(folder, split):
        yield sample, read_picture(folder / sample.image)


def score_frame(sample: Sample, detections: Sequence[Detection]) -> FrameScore:
    """Compare the detections in one picture with its labels."""
    figures = list(sample.labels.figures)
    reported = [detection for detection in detections if detection.corners_px]
    pairs = match_figures(figures, reported)
    unknown = {i for i, figure in enumerate(figures) if figure.shown < HARDLY_SHOWN}
    excused = {pairs[i] for i in unknown if i in pairs}
    false = [one.score for k, one in enumerate(reported) if k not in excused and k not in pairs.values()]
    rows = [i for i in range(len(figures)) if i not in unknown]
    known = [figures[i] for i in rows]
    found = [reported[pairs[i]] if i in pairs else None for i in rows]
    corners_mm, heading_deg = _on_board(sample, known, found)
    balls = [thing for thing in sample.labels.things if thing.kind == "ball"]
    balls_said = [one for one in detections if one.kind == "ball"]
    hits = [any(is_ball(ball, one) for ball in balls) for one in balls_said]
    hands = [thing for thing in sample.labels.things if thing.kind == "hand" and thing.shown >= HARDLY_SHOWN]
    hands_said = [one for one in detections if one.kind == "hand"]
    reach = _HAND_REACH * sample.calibration.camera.lens.size_px[0]
    tips = [point_px(one) for one in hands_said]
    hands_found = sum(any(math.dist(hand.center_px, tip) < reach for tip in tips) for hand in hands)
    hands_true = sum(any(_within(hand.box_px, tip, reach) for hand in hands) for tip in tips)
    return FrameScore(
        table=sample.table,
        visible=np.array([figure.visible for figure in known]),
        length_px=np.array([_length(np.array(figure.corners_px)) for figure in known]),
        fallen=np.array([figure.kind == "fallen" for figure in known], dtype=np.bool_),
        found=np.array([one is not None for one in found], dtype=np.bool_),
        said_fallen=np.array([one is not None and one.kind == "fallen" for one in found], dtype=np.bool_),
        corners_mm=corners_mm,
        corners_px=np.array([_errors_px(f, one) for f, one in zip(known, found, strict=True)]).reshape(-1, 4, 2),
        sigmas_px=np.array([_sigmas(one) for one in found]).reshape(-1, 4),
        corners_seen=np.array([figure.corners_visible for figure in known], dtype=np.bool_).reshape(-1, 4),
        heading_deg=heading_deg,
        front_scores=np.array([np.nan if one is None else one.front_score for one in found]),
        scores=np.array([np.nan if one is None else one.score for one in found]),
        false_scores=np.array(false),
        ball_shown=max((ball.shown for ball in balls), default=0.0),
        ball_found=any(hits),
        balls_false=len(hits) - sum(hits),
        hands=len(hands),
        hands_found=hands_found,
        hands_false=len(hands_said) - hands_true,
    )


def match_figures(figures: Sequence[FigureLabel], reported: Sequence[Detection]) -> dict[int, int]:
    """Return which detection shows each figure: row of the truth to row of the detections."""
    if not figures or not reported:
        return {}
    true = np.array([figure.corners_px for figure in figures])
    seen = np.array([one.corners_px for one in reported])
    reach = _REACH * np.array([_length(corners) for corners in true])
    apart = np.linalg.norm(true.mean(axis=1)[:, None] - seen.mean(axis=1)[None], axis=2) / reach[:, None]
    # What can't be a pair costs more than any number of pairs could save.
    rows, columns = linear_sum_assignment(np.where(apart < 1, apart, 1e3))
    return {int(i): int(k) for i, k in zip(rows, columns, strict=True) if apart[i, k] < 1}


def _on_board(sample: Sample, known: Sequence[FigureLabel], found: Sequence[Detection | None]) -> tuple[Array, Array]:
    """Return the errors of corners, mm, shape (n, 4), and of headings, degrees, shape (n,)."""
    corners, headings = np.full((len(known), 4), np.nan), np.full(len(known), np.nan)
    for i, (figure, one) in enumerate(zip(known, found, strict=True)):
        if one is None or figure.kind == "fallen" or figure.in_hand:
            continue
        both = sample.calibration.camera.to_board([figure.corners_px, one.corners_px], figure.base_mm[2])
        corners[i] = np.linalg.norm(both[1] - both[0], axis=1)
        ahead = both[:, :2].mean(axis=1) - both[:, 2:].mean(axis=1)
        turn = np.degrees(np.subtract(*np.arctan2(ahead[:, 1], ahead[:, 0])))
        headings[i] = abs(wrap_deg(turn))
    return corners, headings


def _errors_px(figure: FigureLabel, one: Detection | None) -> Array:
    return np.full((4, 2), np.nan) if one is None else np.subtract(one.corners_px, figure.corners_px)


def _sigmas(one: Detection | None) -> Array:
    return np.array(one.corner_sigma_px) if one is not None and one.corner_sigma_px else np.full(4, np.nan)


def is_ball(ball: ThingLabel, one: Detection) -> bool:
    """Return whether a detected ball is this one: no further off than the ball is large, or a few pixels."""
    left, top, right, bottom = one.box_px
    reach = max(ball.box_px[2] - ball.box_px[0], ball.box_px[3] - ball.box_px[1], _BALL_REACH_PX)
    return bool(np.hypot((left + right) / 2 - ball.center_px[0], (top + bottom) / 2 - ball.center_px[1]) < reach)


def _within(box: Sequence[float], point: Sequence[float], reach: float) -> bool:
    """Return whether a point is in a box or near it: a hand detected elsewhere on the arm is no false detection."""
    left, top, right, bottom = box
    return left - reach <= point[0] <= right + reach and top - reach <= point[1] <= bottom + reach


def _length(corners: Array) -> float:
    """Return the longer side of a base in the picture."""
    ahead = float(np.linalg.norm(corners[:2].mean(axis=0) - corners[2:].mean(axis=0)))
    aside = float(np.linalg.norm(corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)))
    return max(ahead, aside, 1.0)
