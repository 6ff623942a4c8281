"""Sets thresholds, error scales and certainty of fronts of a network on validation pictures, never on test pictures.

Several cells of the detector may report one figure, so the score from which the refiner is run decides as well: it is
chosen together with the score from which the refined figures are reported. Both are run as the rig runs them. Of
several data sets each counts the same, by the logarithm of its errors: hard ones have more, and would decide alone.

Corner errors are scaled so that 68 % are within one standard deviation. Certainty of fronts is scaled by its logit (Guo
et al., On Calibration of Modern Neural Networks, 2017): a front given as 90 % sure is then right nine times in ten, on
tables like those of the validation pictures. Of several data sets the one whose fronts are hardest decides: a real
table is at least as strange, and a front that is too unsure is settled by motion, but one too sure is a wrong call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from downfield.core.arrays import Array, Bools, Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.models.card import KINDS, NetworkCard, NetworkFiles, read_card, write_card
from downfield.models.detector import TrackingDetector
from downfield.models.loading import open_detector
from downfield.models.runtime import logit, sigmoid
from downfield.models.two_stage_detector import in_agreement
from downfield.training.evaluation.measures import (
    Frames,
    ball_precision,
    ball_recall,
    fallen_f1,
    fronts,
    hand_precision,
    hand_recall,
    precision,
    recall,
    sigma_ratio,
    turned,
)
from downfield.training.evaluation.scoring import WELL_SEEN, FrameScore, pictures_of, score_frame
from downfield.twin.sets.labels import Sample

FIGURE, BALL, HAND = ("upright", "fallen"), ("ball",), ("hand",)

_ROUNDING: Final = 0.002  # added to shares of errors before they are compared: about one figure in the pictures
_BALL_RECALL: Final = 2.0  # weight of a ball's recall relative to precision: the rig asks for far surer balls

Detected = Sequence[tuple[Sample, Sequence[Detection]]]
Pictures = Sequence[tuple[Sample, Image]]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CalibrationLimits:
    """Limits of the fits."""

    min_fronts: int = 100  # upright figures below which neither errors nor fronts are fitted
    log_odds_range: tuple[float, float] = (-3.0, 1.0)  # range of the natural logarithm of the factor of fronts
    stiffness: float = 1.0  # how strongly the factor is held to 1: as much as about one front
    ball_stiffness: float = 0.02  # the same for a ball's slope and intercept: as much as one picture in fifty


CALIBRATION_LIMITS: Final = CalibrationLimits()


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """The fitted values, and those before."""

    pictures: int  # pictures, figures: numbers of pictures and upright figures measured
    figures: int
    sigma_scale: tuple[float, float]  # factor of corner errors, before and now
    front_odds: tuple[float, float]  # factor of the fronts' logits, before and now
    front_certainty: tuple[float, float]  # mean certainty of fronts, 0..1, before and now
    fronts_right: float  # share of fronts that are right


def calibrate_network(
    folder: Path, sets: Iterable[Path], progress: Callable[[int], None] = lambda _: None
) -> CalibrationReport:
    """Fit a network's corner errors and fronts, in its card. Raises InputError: too few pictures, or no refiner."""
    before = read_card(folder)
    if before.refiner is None:
        raise InputError(f"{folder}: this network has no refiner, whose errors and fronts could be calibrated.")
    try:
        return _calibrated(folder, before, before.refiner, list(sets), progress)
    except BaseException:  # a card is calibrated as a whole, or stays as it was
        write_card(folder, before)
        raise


def _calibrated(
    folder: Path, before: NetworkCard, refiner: NetworkFiles, sets: Sequence[Path], progress: Callable[[int], None]
) -> CalibrationReport:
    detector = open_detector(folder)
    assert isinstance(detector, TrackingDetector)  # since it has a refiner
    frames, all_alone = list[FrameScore](), list[FrameScore]()
    odds_of_sets: list[float] = []
    for each in sets:
        alone = []  # each figure by itself, since the factor is of the refiner's logits
        for sample, image in pictures_of(each, "val"):
            found = detector.detect_raw(image)
            alone.append(score_frame(sample, found))
            frames.append(score_frame(sample, in_agreement(found, image.shape[1::-1])))
            progress(len(frames))
        certainty, right = fronts(alone)
        all_alone += alone
        odds_of_sets.append(fit_front_odds(logit(certainty) / before.front_odds, right))
    certainty, right = fronts(all_alone)
    if len(right) < CALIBRATION_LIMITS.min_fronts:
        raise InputError(
            f"The validation pictures show {len(right)} upright figures that were found;"
            f" {CALIBRATION_LIMITS.min_fronts} are needed."
        )
    logits = logit(certainty) / before.front_odds
    odds = round(min(odds_of_sets), 3)
    scale = round(refiner.sigma_scale * sigma_ratio(frames), 3)
    now = replace(before, refiner=replace(refiner, sigma_scale=scale), front_odds=odds)
    write_card(folder, now)
    return CalibrationReport(
        len(frames),
        len(right),
        (refiner.sigma_scale, scale),
        (before.front_odds, odds),
        (float(certainty.mean()), float(sigmoid(odds * logits).mean())),
        float(right.mean()),
    )


def fit_front_odds(logits: Array, right: Bools) -> float:
    """Return the factor by which logits of fronts become log-odds of being right.

    Args:
        logits: at least 0, shape (n,).
        right: whether each front was right, shape (n,).
    """
    signs, stiffness = np.where(right, 1.0, -1.0), CALIBRATION_LIMITS.stiffness

    def unlikely(log_factor: float) -> float:
        return float(np.logaddexp(0.0, -signs * np.exp(log_factor) * logits).sum() + stiffness * log_factor**2)

    return float(np.exp(minimize_scalar(unlikely, bounds=CALIBRATION_LIMITS.log_odds_range, method="bounded").x))


# What `tune` tries: scores of the detector from which the refiner is run, scores from which figures, hands and the ball
# are reported, logits above which the refiner turns a figure round, and above which a figure has fallen.
_REFINED: Final = (0.04, 0.08, 0.15, 0.2, 0.3, 0.4)
_REPORTED: Final = (*(step / 20 for step in range(1, 13)), 0.7, 0.8, 0.85, 0.9)
_TURNS: Final = (0.0, 1.0, 2.0, 3.0)
_FALLS: Final = (-1.0, 0.0, 1.0, 2.0)


def tune(folder: Path, sets: Iterable[Path], progress: Progress = lambda _line: None) -> NetworkCard:
    """Set a network's thresholds and error scales in its card. Raises InputError: no validation pictures."""
    pictures = [list(pictures_of(each, "val")) for each in sets]
    lowest = min(_REPORTED)

    def tried(value: Callable[[NetworkCard], float], options: Iterable[NetworkCard]) -> NetworkCard:
        values = [(value(option), option) for option in options]
        return max(values, key=lambda each: each[0])[1]

    def of_figures(card: NetworkCard) -> float:
        return best_score(_detect(folder, card, pictures), FIGURE)[1]

    def of_fronts(card: NetworkCard) -> float:
        return _merit(1 - turned(each) for each in _run(folder, card, pictures))

    def of_falls(card: NetworkCard) -> float:
        return _merit(map(fallen_f1, _run(folder, card, pictures)))

    card = replace(
        read_card(folder), thresholds=(lowest,) * len(KINDS), turn_logit=1.0, fallen_logit=1.0, ball_threshold=0.01
    )
    card = _with_detector_scale(folder, card, pictures)
    card = tried(of_figures, (_refining_from(card, level, lowest) for level in _REFINED))
    detected = _detect(folder, card, pictures)
    thresholds = (*card.thresholds[:-1], best_score(detected, HAND)[0])
    card = replace(card, thresholds=thresholds, figure_threshold=best_score(detected, FIGURE)[0])
    card = tried(of_fronts, (replace(card, turn_logit=turn) for turn in _TURNS))
    card = tried(of_falls, (replace(card, fallen_logit=fall) for fall in _FALLS))
    card = replace(card, ball_odds=_fit_ball_odds(_detect(folder, replace(card, ball_odds=(1.0, 0.0)), pictures)))
    card = replace(card, ball_threshold=best_score(_detect(folder, card, pictures), BALL, _BALL_RECALL)[0])
    refiner, scale = card.refiner, 1.0
    assert refiner is not None
    for _ in range(2):  # the weights that make bases' sizes consistent depend on the scale
        scale = round(scale * _finite(sigma_ratio(_joined(_run(folder, card, pictures)))), 3)
        card = replace(card, refiner=replace(refiner, sigma_scale=scale))
    write_card(folder, card)
    progress(
        f"figures refined from {card.thresholds[0]:g}, reported from {card.figure_threshold:g}; hands from"
        f" {card.thresholds[-1]:g}; ball from {card.ball_threshold:g}; errors x {scale:g};"
        f" turns above {card.turn_logit:g}, falls above {card.fallen_logit:g}"
    )
    return card


def _with_detector_scale(folder: Path, card: NetworkCard, pictures: Sequence[Pictures]) -> NetworkCard:
    """Return a card with the factor of the detector's own errors."""
    plain = replace(card, detector=replace(card.detector, sigma_scale=1.0))
    write_card(folder, plain)
    detector = open_detector(folder, refine=False)
    detected = [[(sample, detector.detect(image)) for sample, image in each] for each in pictures]
    score, _ = best_score(detected, FIGURE)
    scale = round(_finite(sigma_ratio(_joined(_scores(each, FIGURE, score) for each in detected))), 3)
    return replace(card, detector=replace(card.detector, sigma_scale=scale))


def _fit_ball_odds(detected: Sequence[Detected]) -> tuple[float, float]:
    """Return slope and intercept that turn logits of balls into log-odds of being the ball; sets count the same."""
    rows = [
        (float(logit(np.array(ball.score))), 1.0 if seen.ball_found else -1.0, 1 / len(of_set))
        for of_set in detected
        for sample, found in of_set
        for ball in found
        if ball.kind == "ball"
        for seen in (score_frame(sample, [ball]),)
    ]
    if not rows:
        return 1.0, 0.0
    logits, signs, weights = np.array(rows).T

    def unlikely(odds: Array) -> float:
        slope, intercept = np.exp(odds[0]), odds[1]
        surprise = np.logaddexp(0.0, -signs * (slope * logits + intercept)) @ weights
        return float(surprise + CALIBRATION_LIMITS.ball_stiffness * (odds @ odds))

    slope, intercept = minimize(unlikely, np.zeros(2), method="Nelder-Mead").x
    return round(float(np.exp(slope)), 3), round(float(intercept), 3)


def _finite(ratio: float) -> float:
    """Return a ratio of errors, 1 where there were none to measure."""
    return ratio if np.isfinite(ratio) and ratio > 0 else 1.0


def _refining_from(card: NetworkCard, level: float, threshold: float) -> NetworkCard:
    """Return a card with one score for figures and ball: a cell's kind is that which exceeds its own score by most."""
    hand = card.thresholds[KINDS.index("hand")]
    return replace(card, thresholds=(level, level, level, hand), figure_threshold=threshold)


def _detect(folder: Path, card: NetworkCard, pictures: Sequence[Pictures]) -> list[Detected]:
    write_card(folder, card)
    detector = open_detector(folder)
    return [[(sample, detector.detect(image)) for sample, image in each] for each in pictures]


def _run(folder: Path, card: NetworkCard, pictures: Sequence[Pictures]) -> list[Frames]:
    return [_scores(each, KINDS, 0.0) for each in _detect(folder, card, pictures)]


def _joined(sets: Iterable[Frames]) -> Frames:
    return [frame for frames in sets for frame in frames]


def _merit(shares: Iterable[float]) -> float:
    """Return how good shares of what is right are in several sets, above 0; what a set does not show is left out."""
    return float(sum(math.log((1 + _ROUNDING) / (1 - share + _ROUNDING)) for share in shares if np.isfinite(share)))


def best_score(detected: Sequence[Detected], kinds: Sequence[str], recall_weight: float = 1.0) -> tuple[float, float]:
    """Return the score with the best F scores in some sets, the middle of equally good ones, and their merit.

    The highest where every F score is 0: a kind that is never right is better not reported.

    Args:
        kinds: `FIGURE`, `BALL` or `HAND`.
    """
    tried = _REPORTED
    values = [
        _merit(_f_score(*_found_and_right(_scores(of_set, kinds, each), kinds), recall_weight) for of_set in detected)
        for each in tried
    ]
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
