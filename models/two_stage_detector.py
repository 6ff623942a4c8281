"""The detector stage and the refinement stage together: figures are detected, then refined at full resolution.

Unclear patches are run a second time, rotated by half a turn: the average is more exact and favors neither direction.
In single pictures all patches are rotated, and mirrored as well if requested. A figure that was tracked a moment ago is
refined once, around its last place, without running the detector; its patch then depends on the last output. So from
time to time the detector's own view of the figure is refined as well, and for vague figures a view turned by a quarter,
and the most exact view is kept. A patch that was cut askew is cut again. The ball is searched for in all patches from
time to time; in between it is tracked around its last place.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.ball_refiner import BallRefiner, with_patch_corners
from downfield.models.base_sizes import with_consistent_sizes
from downfield.models.detector import Detector
from downfield.models.leaning import with_leaning
from downfield.models.refiner import (
    FALLEN,
    REFINER_LIMITS,
    TURN,
    FurtherViews,
    apparent_lengths,
    average_all_views,
    average_rotated,
    cut_figures,
    decode_refinement,
    run_patches,
    usual_length_px,
    usual_lengths_px,
)
from downfield.models.runtime import Network, logit, sigmoid
from downfield.models.suppression import (
    adds_view,
    better_view,
    corner_distance,
    find_same_figure,
    is_vague,
    merge_mirrored,
    mirror_detections,
    mirror_image,
    quarter_turned,
    select_new_views,
    suppress_overlaps,
)

FULL_LINE_UP: Final = 22
"""Figures on the board when both teams are complete, and so the patches that are run for most frames."""

BATCHES: Final = (1, 3, 6, 11, 17, FULL_LINE_UP)
"""Patches of one pass: all figures, or the unclear ones; each pass costs as much as two to five further patches."""


def in_agreement(found: Sequence[Detection], size_px: tuple[int, ...]) -> tuple[Detection, ...]:
    """Return a picture's detections, best first, with sizes of bases and fronts as all figures together tell them.

    Args:
        size_px: width and height of the picture.
    """
    balls = [each for each in found if each.kind == "ball"]
    others = with_consistent_sizes([each for each in found if each.kind != "ball"])
    return _best_first([*with_leaning(others, (size_px[0], size_px[1])), *balls])


class TwoStageDetector:
    """A detector whose figures are refined.

    Args:
        ball_refiner: finds the ball in patches; None to leave the ball as detected.
        candidate_refiner: a second detector, which refines candidates while this one tracks; None to refine them here.
        threshold: score, 0..1, by both stages, from which a figure is reported.
        ball_threshold: score, 0..1, from which a ball is reported.
        turn_logit: the logit of facing the other way must exceed this to overrule the detector.
        fallen_logit: the logit of having fallen must exceed this.
        sigma_scale: standard deviation of a corner per deviation that the network predicts.
        front_odds: log-odds that a front is right per unit of its logit.
        augmented: whether single pictures and their figures are run mirrored as well.
    """

    def __init__(
        self,
        detector: Detector,
        refiner: Network,
        ball_refiner: BallRefiner | None = None,
        *,
        candidate_refiner: TwoStageDetector | None = None,
        threshold: float = 0.5,
        ball_threshold: float = 0.5,
        turn_logit: float = 0.0,
        fallen_logit: float = 0.0,
        sigma_scale: float = 1.0,
        front_odds: float = 1.0,
        augmented: bool = False,
    ) -> None:
        self.name = f"{detector.name}, refined" + (" and mirrored" if augmented else "")
        self._detector, self._refiner = detector, refiner
        self._ball_refiner = ball_refiner
        self._candidate_refiner = candidate_refiner or self
        self._threshold, self._ball_threshold = threshold, ball_threshold
        self._turn_logit, self._fallen_logit = turn_logit, fallen_logit
        self._sigma_scale, self._front_odds = sigma_scale, front_odds
        self._augmented = augmented

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return everything in a single picture, uint8 (height, width, 3), best first."""
        return in_agreement(self.detect_raw(image), image.shape[1::-1])

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """Return the same with each figure as measured by itself, before `in_agreement`."""
        found: Sequence[Detection] = self.find_candidates(image)
        if self._augmented:
            mirrored = mirror_detections(self._detector.detect(mirror_image(image)), image.shape[1])
            found = merge_mirrored(found, mirrored)
        balls = [candidate for candidate in found if candidate.kind == "ball"]
        others = [candidate for candidate in found if candidate.kind != "ball"]
        further = average_all_views if self._augmented else average_rotated
        return _best_first([*self._refine(image, (), others, further=further), *balls])

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """Return the detector's output; another thread may `track` meanwhile."""
        found = self._detector.detect(image)
        others = [candidate for candidate in found if candidate.kind != "ball"]
        if not ball:
            return tuple(others)
        best = self._find_ball(image, found)
        return (*others, *(ball for ball in best if ball.score >= self._ball_threshold))

    def _find_ball(self, image: Image, found: Sequence[Detection]) -> list[Detection]:
        """Return the most probable ball in the frame, in figures' arms too, or an empty list."""
        balls = [candidate for candidate in found if candidate.kind == "ball"]
        carriers = [candidate for candidate in found if candidate.corners_px][: REFINER_LIMITS.max_ball_carriers]
        if self._ball_refiner is None or not carriers:  # without figures the size of patches is unknown
            return list(_best_first(balls)[:1])
        cut = [*carriers, *with_patch_corners(balls, carriers)]
        transforms, patches = cut_figures(cut, image, usual_length_px(carriers))
        return self._ball_refiner.find(balls, patches, transforms)

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """Return refined candidates: those that are new, and those of tracked figures that are vague.

        Another thread may `track` meanwhile if there is a `candidate_refiner`; `merge_refined` joins both results.
        """
        known = [figure for figure in seen if figure.corners_px]
        views = [view for view in select_new_views(found, known) if view.corners_px]
        if not known and not views:
            return ()
        vague = [one for one, px in zip(known, usual_lengths_px(known, views), strict=True) if is_vague(one, float(px))]
        views += [figure for figure in vague if find_same_figure(figure, views) is None]
        return self._candidate_refiner._refine(image, (), views, further=average_rotated, others=known)

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """Return the known figures and balls at their places in the next picture, best first; see `TrackingDetector`.

        Sizes of bases stay as measured, since the tracker knows them better.
        """
        known = [figure for figure in seen if figure.corners_px]
        rest = [detection for detection in seen if not detection.corners_px]
        if found is None:
            return self._refine(image, known, rest)
        fresh, again = [], []
        for candidate in found:
            same = find_same_figure(candidate, known) if candidate.corners_px else None
            if same is None:
                fresh.append(candidate)
            elif adds_view(candidate, known[same]):
                again.append((same, candidate))
        # Not every run searches for the ball.
        if not any(candidate.kind == "ball" for candidate in fresh):
            fresh += [detection for detection in rest if detection.kind == "ball"]
        return self._refine(image, known, fresh, again, further=average_rotated)

    def _refine(
        self,
        image: Image,
        known: Sequence[Detection],
        seen: Sequence[Detection],
        again: Sequence[tuple[int, Detection]] = (),
        *,
        further: FurtherViews | None = None,
        others: Sequence[Detection] = (),
    ) -> tuple[Detection, ...]:
        """Return all detections, refined.

        Args:
            known: figures tracked a moment ago, at their last places.
            seen: all other detections, of this picture or the last.
            again: rows of known figures with the detector's present view of them, which does not depend on the last
                output, as that may be wrong.
            further: runs further views of patches, and of vague figures turned by a quarter; None if there is no time.
            others: more figures in the picture, whose bases tell how long bases are.
        """
        fresh = [candidate for candidate in seen if candidate.corners_px]
        hands = [candidate for candidate in seen if candidate.kind == "hand"]
        balls = [candidate for candidate in seen if candidate.kind == "ball"]
        figures = [*known, *(view for _, view in again), *fresh]
        if not figures:
            return _best_first(balls + hands)
        usual_px = usual_lengths_px(figures, others)
        transforms, patches = cut_figures(figures, image, usual_px)
        outputs = run_patches(self._refiner, patches)
        if further:
            # The front of known figures was decided when they were first detected: one view of them is enough.
            further(self._refiner, outputs[len(known) :], patches[len(known) :])
        self._subtract_thresholds(outputs, figures, len(known))
        better = decode_refinement(figures, outputs, transforms, self._sigma_scale, self._front_odds)
        if further:
            self._realign(image, better, figures, len(known), usual_px, further)
        for row, (same, _) in enumerate(again, len(known)):
            better[same] = better_view(better[same], better[row])
        if further:
            self._view_across(image, better, usual_px, further)
        tracked = better[: len(known)]
        lengths_px = apparent_lengths(np.array([figure.corners_px for figure in tracked]).reshape(-1, 4, 2))
        sizes = (lengths_px / usual_lengths_px(tracked, figures[len(known) :])).tolist()
        still = [figure for figure, size in zip(tracked, sizes, strict=True) if self._is_trackable(figure, size)]
        new = [figure for figure in better[len(known) + len(again) :] if figure.score >= self._threshold]
        kept = suppress_overlaps(still + new, len(still))
        balls = self._track_ball(image, balls, figures, float(np.median(usual_px)))
        return _best_first(kept + balls + hands)

    def _track_ball(
        self, image: Image, balls: list[Detection], figures: Sequence[Detection], usual_px: float
    ) -> list[Detection]:
        """Return the ball tracked a moment ago at its present place."""
        if self._ball_refiner is None or not balls:
            return balls
        transforms, patches = cut_figures(with_patch_corners(balls[:1], figures), image, usual_px)
        found = self._ball_refiner.track(balls[0], patches, transforms)
        return [ball for ball in found if ball.score >= self._ball_threshold]

    def _realign(
        self,
        image: Image,
        figures: list[Detection],
        before: Sequence[Detection],
        start: int,
        usual_px: Array,
        further: FurtherViews,
    ) -> None:
        """Refine again, in place and from a row on, the figures whose patch was cut off-center or askew.

        Both views vote on whether there is a figure, since a better patch makes a false figure look better, too.
        """
        rows = [
            i
            for i, figure in enumerate(figures[start:], start)
            if figure.score > REFINER_LIMITS.min_score_again
            and corner_distance(figure, before[i])
            > REFINER_LIMITS.max_misalignment * float(apparent_lengths(figure.corners_px))
        ]
        if not rows:
            return
        guesses = [dataclasses.replace(figures[i], score=before[i].score) for i in rows]
        for i, view in zip(rows, self._refine_views(image, guesses, usual_px[rows], further), strict=True):
            mean = (logit(np.array(figures[i].score)) + logit(np.array(view.score))) / 2
            figures[i] = dataclasses.replace(view, score=float(sigmoid(mean)))

    def _view_across(self, image: Image, figures: list[Detection], usual_px: Array, further: FurtherViews) -> None:
        """Refine vague figures again, in place, turned by a quarter, and keep the more exact view."""
        rows = [
            i
            for i, figure in enumerate(figures)
            if is_vague(figure, float(usual_px[i])) and figure.score > REFINER_LIMITS.min_score_again
        ]
        if not rows:
            return
        across = [quarter_turned(figures[i]) for i in rows]
        for i, view in zip(rows, self._refine_views(image, across, usual_px[rows], further), strict=True):
            figures[i] = better_view(figures[i], view)

    def _refine_views(
        self, image: Image, views: Sequence[Detection], usual_px: Array, further: FurtherViews
    ) -> list[Detection]:
        transforms, patches = cut_figures(views, image, usual_px)
        outputs = run_patches(self._refiner, patches)
        further(self._refiner, outputs, patches)
        self._subtract_thresholds(outputs, views, 0)
        return decode_refinement(views, outputs, transforms, self._sigma_scale, self._front_odds)

    def _subtract_thresholds(self, outputs: Array, figures: Sequence[Detection], known: int) -> None:
        """Subtract, in place, the thresholds of the logits of turning and falling.

        A front that is not sure is more easily overruled; those of the first `known` figures were decided before.
        """
        sure = logit(np.array([figure.front_score for figure in figures[known:]])) / self._front_odds
        outputs[:known, TURN] -= self._turn_logit
        outputs[known:, TURN] -= np.minimum(sure, self._turn_logit)
        outputs[:, FALLEN] -= self._fallen_logit

    def _is_trackable(self, figure: Detection, size: float) -> bool:
        """Return whether a figure can be tracked further: a wrong place may lead to worse ones."""
        if figure.score < min(self._threshold, REFINER_LIMITS.min_tracked_score):
            return False
        visible = sum(figure.corner_scores) / len(figure.corner_scores) > REFINER_LIMITS.min_visibility
        most = REFINER_LIMITS.max_tracked_size_ratio
        return figure.kind != "upright" or (visible and 1 / most < size < most)


def _best_first(detections: Sequence[Detection]) -> tuple[Detection, ...]:
    return tuple(sorted(detections, key=lambda detection: -detection.score))
