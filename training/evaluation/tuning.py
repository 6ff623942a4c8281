"""Sets thresholds and error scales of a network on validation pictures, never on test pictures.

`tune` sets them stage by stage, with a detector that reports all it suspects. Several cells of a pair's detector report
one figure, so the score from which its refiner is run decides as well: `tune_pair` chooses it together with the score
from which the refined figures are reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.ball_detection import decode_ball
from downfield.models.base_sizes import with_consistent_sizes
from downfield.models.card import KINDS, NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.refiner import FALLEN, TURN, decode_refinement
from downfield.models.two_stage_detector import TwoStageDetector
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

_LOWEST: Final = 0.02
_STIFFNESS: Final = 0.01  # penalty that holds log-odds to logits where few pictures tell otherwise
_BALL_RECALL: Final = 2.0  # weight of a ball's recall relative to precision: the rig asks for far surer balls
_CANDIDATES: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
_TURN_LOGITS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
_FALLEN_LOGITS: Final = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)

Detected = Sequence[tuple[Sample, Sequence[Detection]]]
Pictures = Sequence[tuple[Sample, Image]]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PairTuning:
    """Values that `tune_pair` tries."""

    refined: tuple[float, ...] = (0.04, 0.08, 0.15, 0.2, 0.3, 0.4)
    """Scores of the detector from which the refiner is run."""
    reported: tuple[float, ...] = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)
    """Scores of both from which a figure is reported."""
    balls: tuple[float, ...] = (*_CANDIDATES, 0.9)
    """Scores from which a ball is reported."""
    turns: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
    """Logits above which the refiner turns a figure round."""
    falls: tuple[float, ...] = (-1.0, 0.0, 1.0, 2.0)
    """Logits above which a figure has fallen."""


TUNING: Final = PairTuning()


@dataclass(frozen=True, slots=True)
class _Outputs:
    """The outputs of all networks for one picture, from the lowest threshold on."""

    sample: Sample
    figures: list[Detection]
    balls: list[Detection]
    hands: list[Detection]
    refined: Array
    transforms: Array
    heat: Array
    heat_transforms: Array
    detector: TwoStageDetector | None

    @property
    def unrefined(self) -> list[Detection]:
        """Return the detections of the figure detector alone."""
        return self.figures + self.balls + self.hands


def tune(folder: Path, sets: Iterable[Path], progress: Progress = lambda _line: None) -> NetworkCard:
    """Set a network's thresholds and error scales, and write them into its card.

    Raises:
        InputError: a set has no validation pictures.
    """
    card = _untuned(read_card(folder))
    write_card(folder, card)
    outputs = list(_run_networks(folder, sets))
    detected = [(each.sample, each.unrefined) for each in outputs]
    figure, ball = _best_figure(detected), _best_ball(detected)
    hand = _best(detected, HAND, lambda frames: (hand_recall(frames), hand_precision(frames)))
    scale = _error_scale(detected, figure)
    progress(f"detector: figures from {figure:g}, ball from {ball:g}, hands from {hand:g}; errors x {scale:.2f}")
    # Where refiners follow, which reject what is none, the detector reports all it suspects.
    levels = (figure, figure, ball) if card.second_look is None else (_LOWEST,) * 3
    card = dataclasses.replace(
        card, thresholds=(*levels, hand), first_look=dataclasses.replace(card.first_look, sigma_scale=scale)
    )
    if card.second_look is not None:
        card = _tune_refiners(card, card.second_look, outputs, progress)
    write_card(folder, card)
    return card


def tune_pair(folder: Path, sets: Iterable[Path], progress: Progress = lambda _line: None) -> NetworkCard:
    """Set thresholds and error scales of a pair as both run together, and write them into its card.

    Arguments and errors are those of `tune`.
    """
    folders = list(sets)
    card = tune(folder, folders, progress)
    pictures = [pair for each in folders for pair in pictures_of(each, "val")]
    card = dataclasses.replace(card, turn_logit=1.0, fallen_logit=0.0, ball_threshold=min(TUNING.balls))
    best, chosen = -1.0, card
    for level in TUNING.refined:
        trial = _refining_from(card, level, min(TUNING.reported))
        detected = _detect(folder, trial, pictures)
        for threshold in TUNING.reported:
            frames = _scores(detected, FIGURE, threshold)
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
    detected = _detect(folder, card, pictures)
    frames_of = [_scores(detected, BALL, threshold) for threshold in TUNING.balls]
    values = [_f_score(ball_recall(frames), ball_precision(frames), _BALL_RECALL) for frames in frames_of]
    card = dataclasses.replace(card, ball_threshold=TUNING.balls[int(np.argmax(values))])
    for _ in range(2):  # the weights that make bases' sizes consistent depend on the scale
        assert card.second_look is not None
        scale = round(card.second_look.sigma_scale * sigma_ratio(_run(folder, card, pictures)), 3)
        card = dataclasses.replace(card, second_look=dataclasses.replace(card.second_look, sigma_scale=scale))
    write_card(folder, card)
    progress(
        f"together: figures refined from {card.thresholds[0]:g}, reported from {card.figure_threshold:g}, F1"
        f" {best:.4f}; ball from {card.ball_threshold:g}; errors x {scale:g};"
        f" turns above {card.turn_logit:g}, falls above {card.fallen_logit:g}"
    )
    return card


def _tune_refiners(
    card: NetworkCard, files: NetworkFiles, outputs: Sequence[_Outputs], progress: Progress
) -> NetworkCard:
    wrong = [turned(_scores(list(_refine(outputs, turn)), FIGURE, 0.5)) for turn in _TURN_LOGITS]
    best = int(np.nanargmin(wrong)) if np.isfinite(wrong).any() else 0
    turn = _TURN_LOGITS[best]
    right = [fallen_f1(_scores(list(_refine(outputs, turn, fallen)), FIGURE, 0.5)) for fallen in _FALLEN_LOGITS]
    surest = int(np.nanargmax(right)) if np.isfinite(right).any() else 0
    fallen = _FALLEN_LOGITS[surest]
    detected = list(_refine(outputs, turn, fallen))
    figure, ball = _best_figure(detected), _best_ball(detected)
    # Errors are scaled for figures as they are reported.
    reported = [
        (sample, with_consistent_sizes([one for one in found if one.score >= figure])) for sample, found in detected
    ]
    scale = _error_scale(reported, figure)
    progress(
        f"refiner: figures from {figure:g}, ball from {ball:g}; errors x {scale:.2f}; turns above {turn:g}, which"
        f" leaves {100 * wrong[best]:.2f} % wrong against {100 * wrong[0]:.2f} % at 0; falls above {fallen:g}, F1"
        f" {right[surest]:.3f} against {right[0]:.3f} at 0"
    )
    return dataclasses.replace(
        card,
        figure_threshold=figure,
        ball_threshold=ball,
        turn_logit=turn,
        fallen_logit=fallen,
        second_look=dataclasses.replace(files, sigma_scale=scale),
    )


def _untuned(card: NetworkCard) -> NetworkCard:
    return dataclasses.replace(
        card,
        thresholds=(_LOWEST,) * len(card.thresholds),
        figure_threshold=_LOWEST,
        ball_threshold=_LOWEST,
        ball_odds=(1.0, 0.0),
        turn_logit=0.0,
        fallen_logit=0.0,
        first_look=dataclasses.replace(card.first_look, sigma_scale=1.0),
        second_look=card.second_look and dataclasses.replace(card.second_look, sigma_scale=1.0),
    )


def _run_networks(folder: Path, sets: Iterable[Path]) -> Iterator[_Outputs]:
    detector, whole = open_detector(folder, refine=False), open_detector(folder)
    two_stage = whole if isinstance(whole, TwoStageDetector) else None
    nothing, nowhere = np.zeros((0, 0)), np.zeros((0, 2, 3))
    for each in sets:
        for sample, image in pictures_of(each, "val"):
            detected = detector.detect(image)
            figures = [one for one in detected if one.corners_px]
            balls, hands = ([one for one in detected if one.kind == kind] for kind in ("ball", "hand"))
            refined, transforms, heat, heat_transforms = nothing, nowhere, nothing, nowhere
            if two_stage is not None:
                balls, heat, heat_transforms = two_stage.search_ball(image, detected)
                if figures:
                    refined, transforms = two_stage.run_refiner(figures, image)
            yield _Outputs(sample, figures, balls, hands, refined, transforms, heat, heat_transforms, two_stage)


def _refine(
    outputs: Sequence[_Outputs], turn_logit: float, fallen_logit: float = 0.0
) -> Iterator[tuple[Sample, list[Detection]]]:
    """Refine the detections, swapping front and rear and marking figures fallen above the given logits."""
    for each in outputs:
        refined = each.refined.copy()
        if len(refined):
            refined[:, TURN] -= turn_logit
            refined[:, FALLEN] -= fallen_logit
        figures = decode_refinement(each.figures, refined, each.transforms) if each.figures else []
        balls = each.balls
        if each.detector is not None and len(each.heat):
            balls = decode_ball(each.balls, each.heat, each.heat_transforms, each.detector.zoom)
        yield each.sample, figures + balls


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


def best_score(detected: Detected, kinds: Sequence[str]) -> float:
    """Return the score with the best F1 of figures, balls or hands: `FIGURE`, `BALL` or `HAND`."""
    if kinds == HAND:
        return _best(detected, HAND, lambda frames: (hand_recall(frames), hand_precision(frames)))
    if kinds == BALL:
        return _best(detected, BALL, lambda frames: (ball_recall(frames), ball_precision(frames)))
    return _best_figure(detected)


def _best_figure(detected: Detected) -> float:
    return _best(detected, FIGURE, lambda frames: (recall(frames, WELL_SEEN), precision(frames)))


def _best_ball(detected: Detected) -> float:
    return _best(detected, BALL, lambda frames: (ball_recall(frames), ball_precision(frames)), _BALL_RECALL)


def _best(
    detected: Detected,
    kinds: Sequence[str],
    judged: Callable[[Frames], tuple[float, float]],
    recall_weight: float = 1.0,
) -> float:
    """Return the threshold with the best F score of detections of some kinds; the middle of equally good ones.

    The highest where every score is 0: a kind that is never right is better not reported.
    """
    values = [_f_score(*judged(_scores(detected, kinds, threshold)), recall_weight) for threshold in _CANDIDATES]
    if max(values) == 0:
        return _CANDIDATES[-1]
    best = [t for t, value in zip(_CANDIDATES, values, strict=True) if value >= max(values) - 1e-4]
    return best[len(best) // 2]


def _scores(detected: Detected, kinds: Sequence[str], threshold: float) -> Frames:
    return [
        score_frame(sample, [one for one in found if one.kind in kinds and one.score >= threshold])
        for sample, found in detected
    ]


def _error_scale(detected: Detected, threshold: float) -> float:
    ratio = sigma_ratio(_scores(detected, FIGURE, threshold))
    return round(ratio, 3) if np.isfinite(ratio) else 1.0


def _f_score(found: float, right: float, recall_weight: float = 1.0) -> float:
    """Return the F score of recall and precision, with a weight of recall against precision; 0 where undefined."""
    weight = recall_weight**2
    both = (1 + weight) * found * right / (weight * right + found) if found + right else 0.0
    return float(both) if np.isfinite(both) else 0.0
