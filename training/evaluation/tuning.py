"""Sets thresholds and error scales of a network of two on validation pictures, never on test pictures.

Several cells of the detector may report one figure, so the score from which the refiner is run decides as well: it is
chosen together with the score from which the refined figures are reported. Both are run as the rig runs them.
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
from downfield.models.card import KINDS, NetworkCard, read_card, write_card
from downfield.models.loading import open_detector
from downfield.training.evaluation.measures import (
    Frames,
    ball_precision,
    ball_recall,
    fallen_f1,
    hand_precision,
    hand_recall,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.training.evaluation.scoring import WELL_SEEN, pictures_of, score_frame
from downfield.twin.sets.labels import Sample

FIGURE, BALL, HAND = ("upright", "fallen"), ("ball",), ("hand",)

_BALL_RECALL: Final = 2.0  # weight of a ball's recall relative to precision: the rig asks for far surer balls

Detected = Sequence[tuple[Sample, Sequence[Detection]]]
Pictures = Sequence[tuple[Sample, Image]]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TunedValues:
    """Values that `tune` tries."""

    refined: tuple[float, ...] = (0.04, 0.08, 0.15, 0.2, 0.3, 0.4)
    """Scores of the detector from which the refiner is run."""
    reported: tuple[float, ...] = (
        0.05,
        0.1,
        0.15,
        0.2,
        0.25,
        0.3,
        0.35,
        0.4,
        0.45,
        0.5,
        0.55,
        0.6,
        0.7,
        0.8,
        0.85,
        0.9,
    )
    """Scores from which figures, hands and the ball are reported."""
    turns: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    """Logits above which the refiner turns a figure round."""
    falls: tuple[float, ...] = (-1.0, 0.0, 1.0, 2.0)
    """Logits above which a figure has fallen."""


VALUES: Final = TunedValues()


def tune(folder: Path, sets: Iterable[Path], progress: Progress = lambda _line: None) -> NetworkCard:
    """Set a network's thresholds and error scales, and write them into its card.

    Raises:
        InputError: a set has no validation pictures.
    """
    pictures = [pair for each in sets for pair in pictures_of(each, "val")]
    lowest = min(VALUES.reported)
    card = dataclasses.replace(
        read_card(folder), thresholds=(lowest,) * len(KINDS), turn_logit=1.0, fallen_logit=0.0, ball_threshold=lowest
    )
    card = _with_detector_scale(folder, card, pictures)
    best, chosen, hands = -1.0, card, lowest
    for level in VALUES.refined:
        trial = _refining_from(card, level, lowest)
        detected = _detect(folder, trial, pictures)
        threshold, value = _best(detected, FIGURE)
        if value > best:
            best, hands = value, best_score(detected, HAND)
            chosen = dataclasses.replace(trial, figure_threshold=threshold)
    card = dataclasses.replace(chosen, thresholds=(*chosen.thresholds[:-1], hands))
    turns = {turn: turned(_run(folder, dataclasses.replace(card, turn_logit=turn), pictures)) for turn in VALUES.turns}
    card = dataclasses.replace(card, turn_logit=min(turns, key=lambda turn: (turns[turn], turn)))
    falls = {
        fall: fallen_f1(_run(folder, dataclasses.replace(card, fallen_logit=fall), pictures)) for fall in VALUES.falls
    }
    card = dataclasses.replace(card, fallen_logit=max(falls, key=lambda fall: (falls[fall], -abs(fall))))
    balls, _ = _best(_detect(folder, card, pictures), BALL, _BALL_RECALL)
    card = dataclasses.replace(card, ball_threshold=balls)
    refiner, scale = card.second_look, 1.0
    assert refiner is not None
    for _ in range(2):  # the weights that make bases' sizes consistent depend on the scale
        scale = round(scale * _finite(sigma_ratio(_run(folder, card, pictures))), 3)
        card = dataclasses.replace(card, second_look=dataclasses.replace(refiner, sigma_scale=scale))
    write_card(folder, card)
    progress(
        f"figures refined from {card.thresholds[0]:g}, reported from {card.figure_threshold:g}, F1 {best:.4f};"
        f" hands from {hands:g}; ball from {balls:g}; errors x {scale:g};"
        f" turns above {card.turn_logit:g}, falls above {card.fallen_logit:g}"
    )
    return card


def best_score(detected: Detected, kinds: Sequence[str]) -> float:
    """Return the score with the best F1 of figures, balls or hands: `FIGURE`, `BALL` or `HAND`."""
    return _best(detected, kinds)[0]


def _with_detector_scale(folder: Path, card: NetworkCard, pictures: Pictures) -> NetworkCard:
    """Return a card with the factor of the detector's own errors."""
    plain = dataclasses.replace(card, first_look=dataclasses.replace(card.first_look, sigma_scale=1.0))
    write_card(folder, plain)
    detector = open_detector(folder, refine=False)
    detected = [(sample, detector.detect(image)) for sample, image in pictures]
    scale = round(_finite(sigma_ratio(_scores(detected, FIGURE, best_score(detected, FIGURE)))), 3)
    return dataclasses.replace(card, first_look=dataclasses.replace(card.first_look, sigma_scale=scale))


def _finite(ratio: float) -> float:
    """Return a ratio of errors, 1 where there were none to measure."""
    return ratio if np.isfinite(ratio) and ratio > 0 else 1.0


def _refining_from(card: NetworkCard, level: float, threshold: float) -> NetworkCard:
    """Return a card with one score for figures and ball: a cell's kind is that which exceeds its own score by most."""
    hand = card.thresholds[KINDS.index("hand")]
    return dataclasses.replace(card, thresholds=(level, level, level, hand), figure_threshold=threshold)


def _detect(folder: Path, card: NetworkCard, pictures: Pictures) -> Detected:
    write_card(folder, card)
    detector = open_detector(folder)
    return [(sample, detector.detect(image)) for sample, image in pictures]


def _run(folder: Path, card: NetworkCard, pictures: Pictures) -> Frames:
    return _scores(_detect(folder, card, pictures), KINDS, 0.0)


def _best(detected: Detected, kinds: Sequence[str], recall_weight: float = 1.0) -> tuple[float, float]:
    """Return the score with the best F score of some kinds, the middle of equally good ones, and that F score.

    The highest where every F score is 0: a kind that is never right is better not reported.
    """
    tried = VALUES.reported
    values = [_f_score(*_found_and_right(_scores(detected, kinds, each), kinds), recall_weight) for each in tried]
    if max(values) == 0:
        return tried[-1], 0.0
    best = [each for each, value in zip(tried, values, strict=True) if value >= max(values) - 1e-4]
    return best[len(best) // 2], max(values)


def _found_and_right(frames: Frames, kinds: Sequence[str]) -> tuple[float, float]:
    """Return recall and precision of figures, balls or hands."""
    if kinds == HAND:
        return hand_recall(frames), hand_precision(frames)
    if kinds == BALL:
        return ball_recall(frames), ball_precision(frames)
    return recall(frames, WELL_SEEN), precision(frames)


def _scores(detected: Detected, kinds: Sequence[str], threshold: float) -> Frames:
    return [
        score_frame(sample, [one for one in found if one.kind in kinds and one.score >= threshold])
        for sample, found in detected
    ]


def _f_score(found: float, right: float, recall_weight: float = 1.0) -> float:
    """Return the F score of recall and precision, with a weight of recall against precision; 0 where undefined."""
    weight = recall_weight**2
    both = (1 + weight) * found * right / (weight * right + found) if found + right else 0.0
    return float(both) if np.isfinite(both) else 0.0
