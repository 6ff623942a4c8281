"""A picture of the figures that a network gets most wrong.

Green is the truth, red what was detected, a white edge the front that was detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.training.evaluation.scoring import HARDLY_SHOWN, WELL_SEEN, FrameScore
from downfield.twin.sets.labels import FigureLabel, Sample

_SHOWN: Final = 20
_COLUMNS: Final = 5
_TILE_PX: Final = 190
_MOST_OF_A_KIND: Final = 8
_GREEN, _RED, _WHITE = (80, 255, 80), (60, 60, 255), (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Scored:
    """A picture with what was detected in it."""

    sample: Sample
    path: Path
    detections: tuple[Detection, ...]
    score: FrameScore


@dataclass(frozen=True, slots=True)
class _Case:
    badness: float
    kind: str
    picture: Scored
    center_px: tuple[float, float]
    reach_px: float


def worst_sheet(pictures: Sequence[Scored]) -> Image:
    """Return the worst figures, those the network was surest of first, at most so many of a kind of error."""
    every = sorted((case for picture in pictures for case in _cases(picture)), key=lambda case: -case.badness)
    chosen: list[_Case] = []
    for case in every:
        if sum(one.kind == case.kind for one in chosen) < _MOST_OF_A_KIND and len(chosen) < _SHOWN:
            chosen.append(case)
    tiles = [_tile(case) for case in chosen]
    rows = -(-len(tiles) // _COLUMNS)
    sheet = np.zeros((max(rows, 1) * _TILE_PX, _COLUMNS * _TILE_PX, 3), np.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // _COLUMNS * _TILE_PX, number % _COLUMNS * _TILE_PX
        sheet[top : top + _TILE_PX, left : left + _TILE_PX] = tile
    return sheet


def _cases(picture: Scored) -> list[_Case]:
    known = [figure for figure in picture.sample.labels.figures if figure.shown >= HARDLY_SHOWN]
    score, out = picture.score, []
    for row, figure in enumerate(known):
        seen = float(score.visible[row])
        if not score.found[row]:
            kind, badness = "missed", seen if seen >= WELL_SEEN else 0.0
        elif score.heading_deg[row] > 90:
            kind, badness = "turned", float(score.scores[row]) * seen
        elif score.fallen[row] != score.said_fallen[row]:
            kind, badness = "upright" if score.fallen[row] else "fallen?", float(score.scores[row])
        else:
            continue
        if badness > 0:
            out.append(_case(badness, kind, picture, figure.corners_px))
    out += [
        _case(one.score, "nothing", picture, one.corners_px)
        for one in picture.detections
        if one.corners_px and not any(_is_near(one.corners_px, figure) for figure in known)
    ]
    return out


def _case(badness: float, kind: str, picture: Scored, corners_px: Sequence[tuple[float, float]]) -> _Case:
    corners: Array = np.array(corners_px)
    x, y = corners.mean(axis=0)
    reach = 1.6 * float(np.linalg.norm(corners - corners.mean(axis=0), axis=1).max())
    return _Case(badness, kind, picture, (float(x), float(y)), max(reach, 20.0))


def _is_near(corners_px: Sequence[tuple[float, float]], figure: FigureLabel) -> bool:
    true, seen = np.array(figure.corners_px), np.array(corners_px)
    length = float(np.linalg.norm(true[:2].mean(axis=0) - true[2:].mean(axis=0)))
    return float(np.linalg.norm(true.mean(axis=0) - seen.mean(axis=0))) < max(length, 1.0)


def _tile(case: _Case) -> Image:
    image = cv2.imread(str(case.picture.path))
    assert image is not None, case.picture.path
    scale = _TILE_PX / (2 * case.reach_px)
    shift = _TILE_PX / 2 - scale * np.array(case.center_px)
    matrix = np.array([[scale, 0, shift[0]], [0, scale, shift[1]]])
    tile = cv2.warpAffine(image, matrix, (_TILE_PX, _TILE_PX), flags=cv2.INTER_CUBIC)
    shapes = [(figure.corners_px, _GREEN) for figure in case.picture.sample.labels.figures]
    shapes += [(one.corners_px, _RED) for one in case.picture.detections if one.corners_px]
    for corners, color in shapes:
        fixed = np.rint((np.array(corners) * scale + shift) * 16).astype(np.int32)
        cv2.polylines(tile, [fixed], True, color, 1, cv2.LINE_AA, 4)
        cv2.line(tile, fixed[0].tolist(), fixed[1].tolist(), _WHITE if color is _RED else color, 3, cv2.LINE_AA, 4)
    cv2.putText(tile, case.kind, (5, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(tile, case.kind, (5, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.5, _WHITE, 1, cv2.LINE_AA)
    return np.asarray(tile, dtype=np.uint8)
