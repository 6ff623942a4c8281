"""The second look: every figure found is cut out at full resolution and looked at again.

What the network says is in `second_look_output`.

A patch of which anything is in doubt is looked at twice, the second time turned by half a circle: both answers together
are nearer the truth, and neither way round is preferred. In a picture by itself all are, and in a mirror besides, as is
the picture, where there is time for that. Where a figure was seen a moment ago, one look is enough, and no first one is
needed; but then a patch is cut by what was said before. So now and then a first look's own view of it is looked at
besides, and of what is seen but vaguely a view across: the one of smaller errors is believed. And where a first look
was so far off that the patch was cut askew, it is cut again by what was made of it. The ball is looked for now and
then, by networks of its own: in the whole frame (`ball_look`), and closely in figures' arms and where it may be
(`close_look`). In between it is where it was seen last, or nowhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from downfield.core.arrays import Array, Image
from downfield.core.frame import Detection
from downfield.models.ball_look import BallDetector
from downfield.models.base_sizes import with_consistent_sizes
from downfield.models.close_look import BALL_PATCH_ZOOM, BallRefiner, decode_ball, with_patch_corners
from downfield.models.detector import Detector
from downfield.models.head import logit, sigmoid
from downfield.models.patch_views import FurtherViews, all_ways, both_ways_round, cut, look_at, said_of, usual_length_px
from downfield.models.patches import apparent_lengths
from downfield.models.runtime import Network
from downfield.models.second_look_output import (
    FALLEN,
    TURN,
    decode_refinement,
)
from downfield.models.suppression import find_same_figure, suppress_overlaps
from downfield.models.test_time_augmentation import merge_mirrored, mirror_detections, mirror_image
from downfield.models.views import apart, is_news, quarter_turned, select_new_views, surer, vague

BATCHES: Final = (1, 3, 6, 11, 17, 23)
"""Patches of one pass, of 22 figures and one more or of what is in doubt; every pass costs two patches besides."""

_STILL_THERE = 0.3  # score of what was there a moment ago: figures don't vanish
_SHOWS = 0.35  # of its corners: what of a figure can only be guessed is not followed
_UNLIKELY = 1.4  # a base that is so many times smaller or larger than most
_MAY_CARRY = 22  # figures, the surest, in whose arms the ball is looked for
_ASKEW = 0.05  # of a base's length, mean distance of corners: a patch cut so far off is cut anew
_MAY_BE = 0.15  # score from which it is worth that


class TwoStageDetector:
    """A first look with every figure in it looked at again.

    Args:
        first: what finds the figures.
        network: with the outputs of `second_look_output`.
        close: sees the ball in patches; None where there is no such: the ball is what was found first.
        ball: says where balls may lie, better than the first look does; None where there is no such.
        beside: another one like this, which examines what was found; None where nobody looks again meanwhile.
        threshold: score, by both looks, from which a figure stays.
        ball_threshold: the same of the ball.
        turn_logit: what the logit of a figure facing the other way must exceed to overrule the first look.
        fallen_logit: what the logit of a figure having fallen must exceed.
        sigma_scale: standard deviation of a corner per deviation that the network says.
        augmented: whether a picture by itself and its figures are looked at in a mirror as well.

    """

    def __init__(
        self,
        first: Detector,
        network: Network,
        close: BallRefiner | None = None,
        ball: BallDetector | None = None,
        *,
        beside: TwoStageDetector | None = None,
        threshold: float = 0.5,
        ball_threshold: float = 0.5,
        turn_logit: float = 0.0,
        fallen_logit: float = 0.0,
        sigma_scale: float = 1.0,
        augmented: bool = False,
    ) -> None:
        self.name = f"{first.name}, two looks" + (" and a mirror" if augmented else "")
        self._first, self._network = first, network
        self._close, self._ball = close, ball
        self._beside = beside or self
        self._threshold, self._ball_threshold = threshold, ball_threshold
        self._turn_logit, self._fallen_logit = turn_logit, fallen_logit
        self._sigma_scale = sigma_scale
        self._augmented = augmented

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Everything seen in one picture, uint8 (height, width, 3), best first."""
        seen = self.detect_raw(image)
        balls = [one for one in seen if one.kind == "ball"]
        rest = [one for one in seen if one.kind != "ball"]
        return tuple(sorted([*with_consistent_sizes(rest), *balls], key=lambda one: -one.score))

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        """The same, but every base as it looks by itself; what was found as the ball is not looked at again."""
        found: Sequence[Detection] = self.find_candidates(image)
        if self._augmented:
            found = merge_mirrored(found, mirror_detections(self._first.detect(mirror_image(image)), image.shape[1]))
        balls = [one for one in found if one.kind == "ball"]
        others = [one for one in found if one.kind != "ball"]
        rest = self._closer(image, (), others, further=all_ways if self._augmented else both_ways_round)
        return tuple(sorted([*rest, *balls], key=lambda one: -one.score))

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
        """What the first look finds; and the ball, if it is asked for. Another thread may `track` meanwhile."""
        found = self._first.detect(image)
        others = [one for one in found if one.kind != "ball"]
        if not ball:
            return tuple(others)
        balls, heat, transforms = self.search_ball(image, found)
        seen = decode_ball(balls, heat, transforms) if len(heat) else sorted(balls, key=lambda one: -one.score)[:1]
        return (*others, *(one for one in seen if one.score >= self._ball_threshold))

    def find_ball_candidates(self, image: Image, found: Sequence[Detection]) -> list[Detection]:
        """What may be a ball by the ball look, or by what the first look found where there is no such."""
        return (
            self._ball.find_candidates(image)
            if self._ball is not None
            else [one for one in found if one.kind == "ball"]
        )

    def search_ball(self, image: Image, found: Sequence[Detection]) -> tuple[list[Detection], Array, Array]:
        """Where the ball may be.

        Args:
            image: the picture.
            found: what the first look finds in it.

        Returns:
            What may be a ball; what the close look says of the figures' patches and then of those, shape (n, 256), of
            none where it can't be asked; and the patches' transforms, shape (n, 2, 3).

        """
        balls = self.find_ball_candidates(image, found)
        figures = [one for one in found if one.corners_px][:_MAY_CARRY]
        if self._close is None or not figures:  # and so no size to look at balls with
            return balls, np.zeros((0, 0)), np.zeros((0, 2, 3))
        transforms, patches = cut(
            [*figures, *with_patch_corners(balls, figures)], image, usual_length_px(figures), BALL_PATCH_ZOOM
        )
        return balls, self._close.search(patches), transforms

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """What a closer look makes of the figures that were found and are new, and of those seen but vaguely.

        Another thread may `track` meanwhile, if there is another one `beside`; what it sees then is merged.
        """
        known = [one for one in seen if one.corners_px]
        views = [one for one in select_new_views(found, known) if one.corners_px]
        if not known and not views:
            return ()
        usual_px = usual_length_px([*known, *views])
        views += [one for one in known if vague(one, usual_px) and find_same_figure(one, views) is None]
        return self._beside._closer(image, (), views, further=both_ways_round, usual_px=usual_px)

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        """What was seen a moment ago, as it is in the next picture, best first; see `TrackingDetector`.

        Every base as it looks by itself: who follows bases knows better how large they are.
        """
        known = [one for one in seen if one.corners_px]
        rest = [one for one in seen if not one.corners_px]
        if found is None:
            return self._closer(image, known, rest)
        fresh, again = [], []
        for one in found:
            same = find_same_figure(one, known) if one.corners_px else None
            if same is None:
                fresh.append(one)
            elif is_news(one, known[same]):
                again.append((same, one))
        # The ball is not looked for every time.
        if not any(one.kind == "ball" for one in fresh):
            fresh += [one for one in rest if one.kind == "ball"]
        return self._closer(image, known, fresh, again, further=both_ways_round)

    def _closer(
        self,
        image: Image,
        known: Sequence[Detection],
        seen: Sequence[Detection],
        again: Sequence[tuple[int, Detection]] = (),
        *,
        further: FurtherViews | None = None,
        usual_px: float | None = None,
    ) -> tuple[Detection, ...]:
        """A closer look at what is seen.

        Args:
            image: the picture.
            known: figures that were there a moment ago, as they were.
            seen: what else is seen, or was.
            again: rows of those known, with how a first look sees them now: it does not build on what was said before,
                which may have led astray.
            further: how patches are looked at further, those of vague figures across as well; None where there is no
                time.
            usual_px: length of most bases; None for that of these.

        """
        fresh = [one for one in seen if one.corners_px]
        hands = [one for one in seen if one.kind == "hand"]
        balls = [one for one in seen if one.kind == "ball"]
        figures = [*known, *(one for _, one in again), *fresh]
        if not figures:
            return tuple(sorted(balls + hands, key=lambda one: -one.score))
        usual_px = usual_px or usual_length_px(figures)
        transforms, patches = cut(figures, image, usual_px)
        said = said_of(self._network, patches)
        if further:
            # Where the front of those known is was settled when they were first seen: one look at them is enough.
            further(self._network, said[len(known) :], patches[len(known) :])
        self._limit(said)
        better = decode_refinement(figures, said, transforms, self._sigma_scale)
        if further:
            self._look_straight(image, better, figures, len(known), usual_px, further)
        for row, (same, _) in enumerate(again, len(known)):
            better[same] = surer(better[same], better[row])
        if further:
            self._look_across(image, better, usual_px, further)
        sizes = (
            (apparent_lengths([one.corners_px for one in better[: len(known)]]) / usual_px).tolist() if known else []
        )
        still = [one for one, size in zip(better, sizes, strict=False) if self._goes_on(one, size)]
        new = [one for one in better[len(known) + len(again) :] if one.score >= self._threshold]
        kept = suppress_overlaps(still + new, len(still))
        balls = self._followed(image, balls, figures, usual_px)
        return tuple(sorted(kept + balls + hands, key=lambda one: -one.score))

    def _followed(
        self, image: Image, balls: list[Detection], figures: Sequence[Detection], usual_px: float
    ) -> list[Detection]:
        """Where the ball is now that was there a moment ago."""
        if self._close is None or not balls:
            return balls
        transforms, patches = cut(with_patch_corners(balls, figures), image, usual_px, BALL_PATCH_ZOOM)
        seen = decode_ball(balls, self._close.follow(patches), transforms)
        return [ball for ball in seen if ball.score >= self._ball_threshold]

    def _look_straight(
        self,
        image: Image,
        figures: list[Detection],
        before: Sequence[Detection],
        start: int,
        usual_px: float,
        further: FurtherViews,
    ) -> None:
        """Look anew at those, from a row on and in place, whose patch was cut beside them or askew.

        Whether there is a figure both views say: the better patch makes a wrong one look better, too.
        """
        rows = [
            i
            for i, one in enumerate(figures[start:], start)
            if one.score > _MAY_BE and apart(one, before[i]) > _ASKEW * float(apparent_lengths(one.corners_px))
        ]
        if not rows:
            return
        guesses = [dataclasses.replace(figures[i], score=before[i].score) for i in rows]
        said, transforms = look_at(self._network, guesses, image, usual_px, further)
        self._limit(said)
        views = decode_refinement(guesses, said, transforms, self._sigma_scale)
        for i, view in zip(rows, views, strict=True):
            both = (logit(np.array(figures[i].score)) + logit(np.array(view.score))) / 2
            figures[i] = dataclasses.replace(view, score=float(sigmoid(both)))

    def _look_across(self, image: Image, figures: list[Detection], usual_px: float, further: FurtherViews) -> None:
        """Look at vague figures, in place, as if turned by a quarter: a patch cut across a base may hold its answer."""
        rows = [i for i, one in enumerate(figures) if vague(one, usual_px) and one.score > _MAY_BE]
        if not rows:
            return
        across = [quarter_turned(figures[i]) for i in rows]
        said, transforms = look_at(self._network, across, image, usual_px, further)
        self._limit(said)
        views = decode_refinement(across, said, transforms, self._sigma_scale)
        for i, view in zip(rows, views, strict=True):
            figures[i] = surer(figures[i], view)

    def _limit(self, said: Array) -> None:
        """Take off, in place, what must be exceeded."""
        said[:, TURN] -= self._turn_logit
        said[:, FALLEN] -= self._fallen_logit

    def _goes_on(self, figure: Detection, size: float) -> bool:
        """Whether a figure seen a moment ago can be followed further: a wrong place may lead to worse ones."""
        if figure.score < min(self._threshold, _STILL_THERE):
            return False
        shows = sum(figure.corner_scores) / len(figure.corner_scores) > _SHOWS
        return figure.kind != "upright" or (shows and 1 / _UNLIKELY < size < _UNLIKELY)

    def run_refiner(self, figures: Sequence[Detection], image: Image) -> tuple[Array, Array]:
        """What the network says of figures.

        Args:
            figures: at least one.
            image: they are in.

        Returns:
            Its numbers, shape (n, `OUTPUTS`), and the transforms the patches were cut with, shape (n, 2, 3).

        Raises:
            InputError: the network is not one that can take a second look.

        """
        return look_at(self._network, figures, image, usual_length_px(figures), both_ways_round)
