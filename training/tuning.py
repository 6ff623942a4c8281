"""Sets thresholds and error scales of a network on validation pictures, never on test pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize

from downfield.core.arrays import Array
from downfield.core.frame import Detection
from downfield.models.ball_detection import decode_ball
from downfield.models.base_sizes import with_consistent_sizes
from downfield.models.card import NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.loading import open_detector
from downfield.models.refiner import FALLEN, TURN, decode_refinement
from downfield.models.runtime import logit, sigmoid
from downfield.models.two_stage_detector import TwoStageDetector
from downfield.training.figures import (
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
from downfield.training.scoring import WELL_SEEN, pictures_of, score_frame
from downfield.twin.sets.sample import Sample

FIGURE, BALL, HAND = ("upright", "fallen"), ("ball",), ("hand",)

_LOWEST = 0.02
_STIFF = 0.01  # how strongly log-odds are held to logits where few pictures tell otherwise
_MISSED_BALL: Final = 2.0  # times as bad as one that is none: who follows it asks for far surer ones
_CANDIDATES: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
_TURN_LOGITS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
_FALLEN_LOGITS: Final = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
_FIRST_OF_TWO = _LOWEST
"""First look's threshold for figures and balls where a second look follows: that one tells what is none."""

Seen = Sequence[tuple[Sample, Sequence[Detection]]]


@dataclass(frozen=True, slots=True)
class _Looks:
    """The outputs of all networks for one picture, from the lowest threshold on."""

    sample: Sample
    figures: list[Detection]
    balls: list[Detection]
    hands: list[Detection]
    said: Array
    transforms: Array
    heat: Array
    heat_transforms: Array
    detector: TwoStageDetector | None

    @property
    def first(self) -> list[Detection]:
        """Return the detections of the figure detector alone."""
        return self.figures + self.balls + self.hands

    def with_odds(self, slope: float, intercept: float) -> _Looks:
        """Return it with the balls' scores calibrated to probabilities."""
        scores = sigmoid(slope * logit(np.array([ball.score for ball in self.balls])) + intercept).tolist()
        balls = [dataclasses.replace(ball, score=score) for ball, score in zip(self.balls, scores, strict=True)]
        return dataclasses.replace(self, balls=balls)


def tune(folder: Path, sets: Iterable[Path], progress: Callable[[str], None] = lambda _line: None) -> NetworkCard:
    """Set a network's thresholds and error scales, and write them into its card.

    Args:
        folder: of the network.
        sets: data sets whose validation split is looked at.
        progress: told what was found.

    Raises:
        InputError: a set has no validation pictures.

    """
    card = _untuned(read_card(folder))
    write_card(folder, card)
    looks = list(_looks(folder, sets))
    if card.ball_look is not None:
        odds = _ball_odds(looks)
        looks = [each.with_odds(*odds) for each in looks]
        card = dataclasses.replace(card, ball_odds=odds)
        progress(f"ball look: log-odds {odds[0]:g} x logit {odds[1]:+g}")
    seen = [(each.sample, each.first) for each in looks]
    figure = _best(seen, FIGURE, lambda frames: (recall(frames, WELL_SEEN), precision(frames)))
    ball = _best(seen, BALL, lambda frames: (ball_recall(frames), ball_precision(frames)), _MISSED_BALL)
    hand = _best(seen, HAND, lambda frames: (hand_recall(frames), hand_precision(frames)))
    scale = _scale(seen, figure)
    progress(f"first look: figures from {figure:g}, ball from {ball:g}, hands from {hand:g}; errors x {scale:.2f}")
    levels = (figure, figure, ball) if card.second_look is None else (_FIRST_OF_TWO,) * 3
    card = dataclasses.replace(
        card,
        thresholds=(*levels, hand),
        first_look=dataclasses.replace(card.first_look, sigma_scale=scale),
    )
    if card.second_look is not None:
        card = _tune_second(card, card.second_look, looks, progress)
    write_card(folder, card)
    return card


def _tune_second(
    card: NetworkCard, files: NetworkFiles, looks: Sequence[_Looks], progress: Callable[[str], None]
) -> NetworkCard:
    wrong = [turned(_scores(list(_better(looks, turn)), FIGURE, 0.5)) for turn in _TURN_LOGITS]
    best = int(np.nanargmin(wrong)) if np.isfinite(wrong).any() else 0
    turn = _TURN_LOGITS[best]
    right = [fallen_f1(_scores(list(_better(looks, turn, fallen)), FIGURE, 0.5)) for fallen in _FALLEN_LOGITS]
    surest = int(np.nanargmax(right)) if np.isfinite(right).any() else 0
    fallen = _FALLEN_LOGITS[surest]
    seen = list(_better(looks, turn, fallen))
    figure = _best(seen, FIGURE, lambda frames: (recall(frames, WELL_SEEN), precision(frames)))
    ball = _best(seen, BALL, lambda frames: (ball_recall(frames), ball_precision(frames)), _MISSED_BALL)
    # Errors are told of what is reported in the end.
    reported = [(sample, with_consistent_sizes([one for one in said if one.score >= figure])) for sample, said in seen]
    scale = _scale(reported, figure)
    progress(
        f"second look: figures from {figure:g}, ball from {ball:g}; errors x {scale:.2f}; turns above {turn:g}, which"
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


def _ball_odds(looks: Sequence[_Looks]) -> tuple[float, float]:
    """Fit slope and intercept that calibrate the ball detector's logits to log-odds, by logistic regression."""
    told = [(each.sample, ball) for each in looks for ball in each.balls]
    logits = logit(np.array([ball.score for _, ball in told]))
    right = np.array([score_frame(sample, [ball]).ball_found for sample, ball in told])

    def unlikely(line: Array) -> float:
        said = line[0] * logits + line[1]
        return float((np.logaddexp(0, said) - right * said).sum() + _STIFF * ((line[0] - 1) ** 2 + line[1] ** 2))

    slope, intercept = minimize(unlikely, (1.0, 0.0), method="Nelder-Mead").x.tolist()
    return round(slope, 3), round(intercept, 3)


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


def _looks(folder: Path, sets: Iterable[Path]) -> Iterator[_Looks]:
    first, both = open_detector(folder, refine=False), open_detector(folder)
    nothing = np.zeros((0, 0))
    nowhere = np.zeros((0, 2, 3))
    for each in sets:
        for sample, image in pictures_of(each, "val"):
            seen = first.detect(image)
            figures = [one for one in seen if one.corners_px]
            balls, hands = ([one for one in seen if one.kind == kind] for kind in ("ball", "hand"))
            said, transforms, heat, heat_transforms = nothing, nowhere, nothing, nowhere
            if isinstance(both, TwoStageDetector):
                balls, heat, heat_transforms = both.search_ball(image, seen)
            if isinstance(both, TwoStageDetector) and figures:
                said, transforms = both.run_refiner(figures, image)
            two_stage = both if isinstance(both, TwoStageDetector) else None
            yield _Looks(sample, figures, balls, hands, said, transforms, heat, heat_transforms, two_stage)


def _better(
    looks: Sequence[_Looks], turn_logit: float, fallen_logit: float = 0.0
) -> Iterator[tuple[Sample, list[Detection]]]:
    """Refine the detections, swapping front and rear and marking figures fallen above the given logits."""
    for each in looks:
        said = each.said.copy()
        if len(said):
            said[:, TURN] -= turn_logit
            said[:, FALLEN] -= fallen_logit
        figures = decode_refinement(each.figures, said, each.transforms) if each.figures else []
        balls = each.balls
        if each.detector is not None and len(each.heat):
            balls = decode_ball(each.balls, each.heat, each.heat_transforms, each.detector.zoom)
        yield each.sample, figures + balls


def _best(
    seen: Seen, kinds: tuple[str, ...], judged: Callable[[Frames], tuple[float, float]], weight: float = 1.0
) -> float:
    """Return the threshold with the best F score of recall and precision; the middle of equally good ones.

    What is never right is hardly to be reported: the highest.

    Args:
        seen: what was seen.
        kinds: of it.
        judged: recall and precision.
        weight: of recall, against precision's 1.

    """
    values = []
    for threshold in _CANDIDATES:
        found, right = judged(_scores(seen, kinds, threshold))
        both = (1 + weight**2) * found * right / (found + weight**2 * right) if found + right else 0.0
        values.append(_finite(both, 0.0))
    if max(values) == 0:
        return _CANDIDATES[-1]
    best = [t for t, value in zip(_CANDIDATES, values, strict=True) if value >= max(values) - 1e-4]
    return best[len(best) // 2]


def _scores(seen: Seen, kinds: tuple[str, ...], threshold: float) -> Frames:
    return [
        score_frame(sample, [one for one in said if one.kind in kinds and one.score >= threshold])
        for sample, said in seen
    ]


def _scale(seen: Seen, threshold: float) -> float:
    return round(_finite(sigma_ratio(_scores(seen, FIGURE, threshold))), 3)


def _finite(value: float, otherwise: float = 1.0) -> float:
    return float(value) if np.isfinite(value) else otherwise
