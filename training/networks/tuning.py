"""Sets what the two networks share by validation pictures, as both run together; never by test pictures.

`downfield.training.tuning` sets thresholds network by network, with a detector that reports all it suspects. Several
cells of this detector report one figure, so the score from which the refiner is asked decides as well: it is chosen
together with the score from which the refined figures are believed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from downfield.core.arrays import Image
from downfield.core.frame import Detection
from downfield.models.card import KINDS, NetworkCard, write_card
from downfield.models.loading import open_detector
from downfield.training.figures import (
    Frames,
    ball_precision,
    ball_recall,
    fallen_f1,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.training.scoring import WELL_SEEN, pictures_of, score_frame
from downfield.training.tuning import tune
from downfield.twin.sets.sample import Sample


@dataclass(frozen=True, slots=True)
class PairTuning:
    """Values that are tried, and how they are judged."""

    asked: tuple[float, ...] = (0.04, 0.08, 0.15, 0.2, 0.3, 0.4)
    """Scores of the detector from which the refiner is asked."""
    believed: tuple[float, ...] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)
    """Scores of both from which a figure is reported."""
    balls: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9)
    """Scores from which a ball is reported."""
    turns: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    """Logits above which the refiner turns a figure round."""
    falls: tuple[float, ...] = (-1.0, 0.0, 1.0, 2.0)
    """Logits above which a figure has fallen."""
    ball_recall_weight: float = 2.0
    """Weight of a ball's recall relative to precision: the rig asks for far surer balls than are reported."""


TUNING: Final = PairTuning()

_Pictures = Sequence[tuple[Sample, Image]]
_Found = Sequence[tuple[Sample, Sequence[Detection]]]


def tune_pair(folder: Path, sets: Iterable[Path], progress: Callable[[str], None] = lambda _line: None) -> NetworkCard:
    """Set thresholds and error scales of the two networks, and write them into their card.

    Args:
        folder: of the network.
        sets: data sets whose validation split is used.
        progress: told what was found.

    Raises:
        InputError: a set has no validation pictures.

    """
    folders = list(sets)
    card = tune(folder, folders, progress)
    pictures = [pair for each in folders for pair in pictures_of(each, "val")]
    assert card.second_look is not None
    card = dataclasses.replace(card, turn_logit=1.0, fallen_logit=0.0, ball_threshold=min(TUNING.balls))
    best, chosen = -1.0, card
    for level in TUNING.asked:
        trial = _asking_from(card, level, min(TUNING.believed))
        found = _detected(folder, trial, pictures)
        for threshold in TUNING.believed:
            frames = _scored(found, threshold)
            value = _f_score(recall(frames, WELL_SEEN), precision(frames))
            if value > best:
                best, chosen = value, dataclasses.replace(trial, figure_threshold=threshold)
    card = chosen
    turns = {turn: turned(_run(folder, dataclasses.replace(card, turn_logit=turn), pictures)) for turn in TUNING.turns}
    card = dataclasses.replace(card, turn_logit=min(turns, key=lambda turn: (turns[turn], turn)))
    falls = {
        fall: fallen_f1(_run(folder, dataclasses.replace(card, fallen_logit=fall), pictures)) for fall in TUNING.falls
    }
    card = dataclasses.replace(card, fallen_logit=max(falls, key=lambda fall: (falls[fall], -abs(fall))))
    card = _with_ball_threshold(folder, card, pictures)
    for _ in range(2):  # sizes are made consistent by how exact corners are said to be
        assert card.second_look is not None
        scale = card.second_look.sigma_scale * sigma_ratio(_run(folder, card, pictures))
        card = dataclasses.replace(card, second_look=dataclasses.replace(card.second_look, sigma_scale=round(scale, 3)))
    write_card(folder, card)
    assert card.second_look is not None
    progress(
        f"together: figures asked from {card.thresholds[0]:g}, believed from {card.figure_threshold:g}, F1 {best:.4f};"
        f" ball from {card.ball_threshold:g}; errors x {card.second_look.sigma_scale:g};"
        f" turns above {card.turn_logit:g}, falls above {card.fallen_logit:g}"
    )
    return card


def _asking_from(card: NetworkCard, level: float, threshold: float) -> NetworkCard:
    """Return a card with one score for figures and ball: a cell's kind is that which exceeds its own score by most."""
    hand = card.thresholds[KINDS.index("hand")]
    return dataclasses.replace(card, thresholds=(level, level, level, hand), figure_threshold=threshold)


def _with_ball_threshold(folder: Path, card: NetworkCard, pictures: _Pictures) -> NetworkCard:
    found = [
        (sample, [one for one in seen if one.kind == "ball"]) for sample, seen in _detected(folder, card, pictures)
    ]
    weight = TUNING.ball_recall_weight**2
    values = []
    for threshold in TUNING.balls:
        frames = _scored(found, threshold)
        values.append(_f_score(ball_recall(frames), ball_precision(frames), weight))
    return dataclasses.replace(card, ball_threshold=TUNING.balls[int(np.argmax(values))])


def _detected(folder: Path, card: NetworkCard, pictures: _Pictures) -> _Found:
    write_card(folder, card)
    detector = open_detector(folder)
    return [(sample, detector.detect(image)) for sample, image in pictures]


def _run(folder: Path, card: NetworkCard, pictures: _Pictures) -> Frames:
    return _scored(_detected(folder, card, pictures), 0.0)


def _scored(found: _Found, threshold: float) -> Frames:
    return [score_frame(sample, [one for one in seen if one.score >= threshold]) for sample, seen in found]


def _f_score(found: float, right: float, weight: float = 1.0) -> float:
    """Return the F score of recall and precision, with the squared weight of recall; 0 where there is none."""
    both = (1 + weight) * found * right / max(weight * right + found, 1e-9)
    return float(both) if np.isfinite(both) else 0.0
