"""Thresholds and error scales of a network, set on validation pictures: nothing here ever sees a test picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from downfield.models.card import NetworkCard, read_card, write_card
from downfield.models.detection import Detection
from downfield.models.detector import Image
from downfield.models.opening import open_detector
from downfield.models.training.figures import (
    Frames,
    ball_precision,
    ball_recall,
    hand_precision,
    hand_recall,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.models.training.scoring import WELL_SEEN, pictures_of, score_frame
from downfield.twin.sets.sample import Sample

FIGURE, BALL, HAND = ("upright", "fallen"), ("ball",), ("hand",)

_LOWEST = 0.05
_CANDIDATES: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
_TURN_LOGITS: Final = (0.0, 1.0, 2.0, 3.0, 4.0)
_FIRST_OF_TWO = 0.1
"""First look's threshold for figures where a second look follows: that one tells what is none."""

Seen = Sequence[tuple[Sample, Sequence[Detection]]]


def tune(folder: Path, sets: Iterable[Path], progress: Callable[[str], None] = lambda _line: None) -> NetworkCard:
    """Set a network's thresholds and error scales, and write them into its card.

    Args:
        folder: of the network.
        sets: data sets whose validation split is looked at.
        progress: told what was found.

    Raises:
        InputError: a set has no validation pictures.

    """
    card = read_card(folder)
    card = dataclasses.replace(
        card,
        thresholds=(_LOWEST,) * len(card.thresholds),
        figure_threshold=_LOWEST,
        first_look=dataclasses.replace(card.first_look, sigma_scale=1.0),
        second_look=card.second_look and dataclasses.replace(card.second_look, sigma_scale=1.0),
    )
    write_card(folder, card)
    pictures = [picture for each in sets for picture in pictures_of(each, "val")]
    first = open_detector(folder, second_look=False)
    seen = [(sample, first.detect(image)) for sample, image in pictures]
    figure = _best(seen, FIGURE, lambda frames: (recall(frames, WELL_SEEN), precision(frames)))
    ball = _best(seen, BALL, lambda frames: (ball_recall(frames), ball_precision(frames)))
    hand = _best(seen, HAND, lambda frames: (hand_recall(frames), hand_precision(frames)))
    scale = _finite(sigma_ratio(_scores(seen, FIGURE, figure)))
    progress(f"first look: figures from {figure:g}, ball from {ball:g}, hands from {hand:g}; errors x {scale:.2f}")
    two = card.second_look is not None
    level = _FIRST_OF_TWO if two else figure
    card = dataclasses.replace(
        card,
        thresholds=(level, level, ball, hand),
        first_look=dataclasses.replace(card.first_look, sigma_scale=round(scale, 3)),
    )
    write_card(folder, card)
    second = card.second_look
    if second is not None:
        turn, wrong = _turn_logit(folder, card, pictures)
        card = dataclasses.replace(card, turn_logit=turn)
        write_card(folder, card)
        both = open_detector(folder)
        seen = [(sample, both.detect(image)) for sample, image in pictures]
        figure = _best(seen, FIGURE, lambda frames: (recall(frames, WELL_SEEN), precision(frames)))
        scale = _finite(sigma_ratio(_scores(seen, FIGURE, figure)))
        progress(f"second look: figures from {figure:g}; errors x {scale:.2f}; {100 * wrong:.2f} % turned at {turn:g}")
        look = dataclasses.replace(second, sigma_scale=round(scale, 3))
        card = dataclasses.replace(card, figure_threshold=figure, second_look=look)
        write_card(folder, card)
    return card


def _turn_logit(folder: Path, card: NetworkCard, pictures: Sequence[tuple[Sample, Image]]) -> tuple[float, float]:
    """How sure the second look must be to turn a figure round, and the share of headings then wrong."""
    wrong = []
    for logit in _TURN_LOGITS:
        write_card(folder, dataclasses.replace(card, turn_logit=logit))
        both = open_detector(folder)
        wrong.append(turned([score_frame(sample, both.detect(image)) for sample, image in pictures]))
    best = int(np.nanargmin(wrong))
    return _TURN_LOGITS[best], wrong[best]


def _best(seen: Seen, kinds: tuple[str, ...], judged: Callable[[Frames], tuple[float, float]]) -> float:
    """The threshold with the best F1 of recall and precision; the middle of those equally good."""
    values = []
    for threshold in _CANDIDATES:
        found, right = judged(_scores(seen, kinds, threshold))
        values.append(_finite(2 * found * right / (found + right), 0.0) if found + right else 0.0)
    best = [t for t, value in zip(_CANDIDATES, values, strict=True) if value >= max(values) - 1e-4]
    return best[len(best) // 2]


def _scores(seen: Seen, kinds: tuple[str, ...], threshold: float) -> Frames:
    return [
        score_frame(sample, [one for one in said if one.kind not in kinds or one.score >= threshold])
        for sample, said in seen
    ]


def _finite(value: float, otherwise: float = 1.0) -> float:
    return float(value) if np.isfinite(value) else otherwise
