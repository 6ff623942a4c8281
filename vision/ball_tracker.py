"""Tracks the ball: its carrier, its place on the board, and the first figure to touch it.

The network sees the ball's center but not its height. On the board its height is its own radius; in a figure's arm
it is higher, and its ray meets the board elsewhere, so both heights are tried. A carried ball moves with its figure; a
ball on the board stays in place until it is moved, and is remembered while it is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.footprint import BaseSize, Footprint, signed_gaps
from downfield.core.frame import Detection, Pixel
from downfield.core.scene import Ball
from downfield.models.suppression import point_px
from downfield.vision.measuring.estimate import Estimate

_Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class BallLimits:
    """Thresholds and sizes of the ball tracker."""

    radius_mm: float = 4.5  # radius of the magnetic ball
    lying_height_mm: float = 3.0  # height of the center of a ball on the board
    carried_height_mm: float = 18.0  # height of the center of a ball in a figure's arm
    arm_mm: float = 16.0  # greatest distance of a carried ball from the center of its figure's base
    # least score of a ball, its probability: an arm may resemble it for seconds; a wrong carrier is worse than none
    min_score: float = 0.9
    same_place_mm: float = 6.0  # a ball detected this near to its known place has not moved
    place_sigma_mm: float = 0.8  # standard deviation of one sighting on the board
    carried_sigma_mm: float = 1.6  # standard deviation of one sighting in an arm
    guessed_sigma_mm: float = 6.0  # standard deviation of a carried ball that is not seen
    averaged_sightings: int = 30  # number of sightings averaged for the place of a ball on the board
    independent_sightings: int = 4  # number of these sightings that count as independent
    settled_sightings: int = 3  # sightings in a row at a new place after which the ball lies there
    held_sightings: int = 5  # sightings in a row at one figure after which it carries the ball
    near_mm: float = 40.0  # figures further away can't touch the ball soon
    # a figure that stopped touches the ball if the gap is at most this many standard deviations
    touch_sigmas: float = 2.0
    max_touch_gap_mm: float = 0.5  # upper limit of that gap
    stopped_mm: float = 0.1  # a gap that changes less than this between frames has stopped changing


_LIMITS: Final = BallLimits()


@dataclass(frozen=True, slots=True)
class _BallGap:
    """The gap between a figure's outline and the ball, and its standard deviation."""

    gap_mm: float
    sigma_mm: float


class BallTracker:
    """Tracks the ball; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._ball: Ball | None = None
        self._sightings = 0  # averaged for the place of the ball on the board
        self._moving: tuple[_Place, int] | None = None  # a new place, and the number of sightings in a row there
        self._held: tuple[str, int] | None = None  # a figure, and the number of sightings in a row in its arm
        self._gaps: dict[str, _BallGap] = {}
        self._t_ns: int | None = None

    def step(
        self,
        detections: Sequence[Detection] | None,
        estimates: Sequence[Estimate],
        camera: Camera,
        t_ns: int,
        *,
        carrier: str | None = None,
        fit: bool = True,
    ) -> Ball | None:
        """Add a frame and return the ball.

        Args:
            detections: all detections; None for a frame that the detector skipped, in which the ball stays.
            carrier: roster id of the declared ball carrier; None to use the picture alone.
            fit: whether the picture is reliable; if not, the ball stays as it was.
        """
        if not fit:
            self._gaps, self._t_ns = {}, t_ns
            return self._ball
        balls = [found for found in detections or () if found.kind == "ball" and found.score >= _LIMITS.min_score]
        px = point_px(max(balls, key=lambda ball: ball.score)) if balls else None
        by_id = {figure.id: figure for figure in estimates}
        unchanged = detections is None and (
            carrier is None or (self._ball is not None and self._ball.carrier == carrier)
        )
        if carrier in by_id and not unchanged:
            self._ball = _carried_ball(by_id[carrier], px, camera)
            self._reset()
        elif px is not None:
            self._take_sighting(px, estimates, camera)
        elif self._ball is not None and self._ball.carrier in by_id and not unchanged:
            self._ball = _carried_ball(by_id[self._ball.carrier], None, camera)
        self._find_touch(estimates, t_ns)
        self._t_ns = t_ns
        return self._ball

    def _take_sighting(self, px: Pixel, estimates: Sequence[Estimate], camera: Camera) -> None:
        """Add a sighting of the ball while no carrier is declared."""
        heights_mm = np.array([_LIMITS.lying_height_mm, _LIMITS.carried_height_mm])
        low, high = ((float(x), float(y)) for x, y in camera.to_board(np.array([px, px]), heights_mm))
        ball = self._ball
        if ball is not None and ball.carrier is None and math.dist(low, (ball.x_mm, ball.y_mm)) < _LIMITS.same_place_mm:
            self._sightings += 1
            share = 1 / min(self._sightings, _LIMITS.averaged_sightings)
            x, y = ball.x_mm + share * (low[0] - ball.x_mm), ball.y_mm + share * (low[1] - ball.y_mm)
            sigma = _LIMITS.place_sigma_mm / math.sqrt(min(self._sightings, _LIMITS.independent_sightings))
            self._ball = replace(ball, x_mm=x, y_mm=y, sigma_mm=sigma)
            self._moving = self._held = None
            return
        holder = _find_holder(high, low, estimates)
        if holder is not None:
            self._moving = None
            count = self._held[1] + 1 if self._held is not None and self._held[0] == holder.id else 1
            self._held = (holder.id, count)
            if count >= _LIMITS.held_sightings or (ball is not None and ball.carrier == holder.id):
                self._ball = Ball("carried", *high, carrier=holder.id, sigma_mm=_LIMITS.carried_sigma_mm)
                self._reset()
            return
        self._held = None
        near = self._moving is not None and math.dist(low, self._moving[0]) < _LIMITS.same_place_mm
        self._moving = (low, self._moving[1] + 1 if near and self._moving is not None else 1)
        if self._moving[1] >= _LIMITS.settled_sightings:
            lost = ball is not None and ball.carrier is not None
            rolled = ball is not None and ball.state == "loose"
            self._ball = Ball("loose" if lost or rolled else "magnetic", *low, sigma_mm=_LIMITS.place_sigma_mm)
            self._sightings, self._moving = 1, None
            self._gaps = {}

    def _reset(self) -> None:
        self._gaps, self._sightings, self._moving, self._held = {}, 0, None, None

    def _find_touch(self, estimates: Sequence[Estimate], t_ns: int) -> None:
        """Find the figure that first touches the ball on the board, between the last frame and this one."""
        ball = self._ball
        if ball is None or ball.carrier is not None or ball.touched_by is not None:
            return
        near = [
            figure
            for figure in estimates
            if figure.seen
            and figure.posture not in {"lifted", "unseen"}
            and math.dist((figure.footprint.x_mm, figure.footprint.y_mm), (ball.x_mm, ball.y_mm)) < _LIMITS.near_mm
        ]
        size = BaseSize(2 * _LIMITS.radius_mm, 2 * _LIMITS.radius_mm, 0.0, _LIMITS.radius_mm)
        disc = Footprint(ball.x_mm, ball.y_mm, 0.0, size)
        gaps = signed_gaps([figure.footprint for figure in near], [disc] * len(near))
        now = {}
        for figure, gap in zip(near, gaps, strict=True):
            way = np.array(gap.normal)
            variance_mm2 = float(way @ figure.covariance[:2, :2] @ way)
            now[figure.id] = _BallGap(gap.gap_mm, math.hypot(math.sqrt(variance_mm2), ball.sigma_mm))
        met = [(id_, gap) for id_, gap in now.items() if gap.gap_mm <= self._touch_gap_mm(id_, gap)]
        touches = [(self._touch_ns(id_, gap, t_ns), id_) for id_, gap in met]
        if touches:
            touched_ns, by = min(touches)
            self._ball = replace(ball, touched_by=by, touched_ns=touched_ns)
        self._gaps = now

    def _touch_gap_mm(self, id_: str, now: _BallGap) -> float:
        """Return the largest gap that counts as a touch: 0, or its uncertainty once the figure stopped at the ball."""
        before = self._gaps.get(id_)
        stopped = before is not None and abs(now.gap_mm - before.gap_mm) < _LIMITS.stopped_mm
        if not stopped or now.gap_mm >= _LIMITS.max_touch_gap_mm:
            return 0.0
        return min(_LIMITS.touch_sigmas * now.sigma_mm, _LIMITS.max_touch_gap_mm)

    def _touch_ns(self, id_: str, now: _BallGap, t_ns: int) -> int:
        """Return the instant at which the gap became 0, interpolated between the last frame and this one."""
        before = self._gaps.get(id_)
        if before is None or self._t_ns is None or before.gap_mm <= now.gap_mm or before.gap_mm <= 0:
            return t_ns
        share = min(before.gap_mm / (before.gap_mm - now.gap_mm), 1.0)
        return self._t_ns + round(share * (t_ns - self._t_ns))


def _carried_ball(carrier: Estimate, px: Pixel | None, camera: Camera) -> Ball:
    """Return the ball in a figure's arm: at its detected place, otherwise at the figure."""
    base = carrier.footprint.x_mm, carrier.footprint.y_mm
    if px is not None:
        x, y = camera.to_board(np.array([px]), _LIMITS.carried_height_mm)[0].tolist()
        if math.dist((x, y), base) < _LIMITS.arm_mm:
            return Ball("carried", x, y, carrier=carrier.id, sigma_mm=_LIMITS.carried_sigma_mm)
    return Ball("carried", *base, carrier=carrier.id, sigma_mm=_LIMITS.guessed_sigma_mm)


def _find_holder(high: _Place, low: _Place, estimates: Sequence[Estimate]) -> Estimate | None:
    """Return the figure that would carry the ball; None if the ball lies clear of every base."""
    upright = [figure for figure in estimates if figure.posture == "upright"]
    if not upright:
        return None
    nearest = min(upright, key=lambda figure: math.dist(high, (figure.footprint.x_mm, figure.footprint.y_mm)))
    base = nearest.footprint
    lying_gap_mm = signed_gaps([base], [Footprint(*low, 0.0, BaseSize(1.0, 1.0, 0.0, 0.5))])[0].gap_mm
    in_arm = math.dist(high, (base.x_mm, base.y_mm)) < _LIMITS.arm_mm and lying_gap_mm < _LIMITS.radius_mm
    return nearest if in_arm else None
