"""The ball: who carries it, where it lies, and who touches it first.

The network sees the ball's middle, not its height. On the board it is at its own radius; in a figure's arm it is
higher, and its ray crosses the board somewhere else, so a place is tried at both heights. A ball that is carried goes
along with its figure; one on the board stays where it is until somebody moves it, and is remembered while it is hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from downfield.calibration.camera import Camera
from downfield.core.footprint import BaseSize, Footprint
from downfield.core.frame import Detection
from downfield.core.gap import signed_gaps
from downfield.core.scene import Ball
from downfield.vision.tracking.estimate import Estimate

Place = tuple[float, float]

_RADIUS_MM: Final = 4.5  # of the magnetic ball
_LYING_MM: Final = 3.0  # height of the middle of a ball on the board
_CARRIED_MM: Final = 18.0  # of one in a figure's arm
_ARM_MM: Final = 16.0  # a carried ball is this near to the middle of its figure's base
_LEAST_SCORE: Final = 0.95  # an arm may be taken for the ball for seconds: a wrong carrier is worse than none
_SAME_MM: Final = 6.0  # a ball on the board seen this near is where it was
_PLACE_SIGMA_MM: Final = 0.8  # of one sighting on the board
_GUESSED_SIGMA_MM: Final = 6.0  # of a carried ball that is not seen
_SETTLED: Final = 3  # sightings at one place that make a ball lie there
_TOUCH_SIGMAS: Final = 2.0  # a ball is touched when the gap is surely less than it is uncertain
_HELD: Final = 5  # sightings at one figure that make it carried
_NEXT_TO_MM: Final = 40.0  # figures further away can't touch it soon


@dataclass(frozen=True, slots=True)
class _Reach:
    """How near one figure is to the ball.

    Attributes:
        gap_mm: of outline and ball.
        sigma_mm: its standard deviation.

    """

    gap_mm: float
    sigma_mm: float


class BallTracker:
    """Follows the ball; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._ball: Ball | None = None
        self._looks = 0  # how many sightings made the place of a ball on the board
        self._moving: tuple[Place, int] | None = None  # a new place, and how often it was seen there in a row
        self._held: tuple[str, int] | None = None  # a figure, and how often in a row the ball was seen in its arm
        self._reach: dict[str, _Reach] = {}
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
        """The ball as of a frame.

        Args:
            detections: everything that was detected; None where nobody looked: the ball is where it was.
            estimates: all figures.
            camera: as it stands in this frame.
            t_ns: capture time.
            carrier: roster id of who is declared to have it; None when nobody is, and the picture alone must tell.
            fit: whether the picture may be believed; when not, the ball stays as it was.

        """
        if not fit:
            self._reach, self._t_ns = {}, t_ns
            return self._ball
        seen = None if detections is None else _best(detections)
        px = None if seen is None else _middle(seen)
        by_id = {one.id: one for one in estimates}
        as_before = detections is None and (
            carrier is None or (self._ball is not None and self._ball.carrier == carrier)
        )
        if carrier in by_id and not as_before:
            self._ball = _carried(by_id[carrier], px, camera)
            self._forget()
        elif seen is not None:
            self._see(seen, estimates, camera)
        elif self._ball is not None and self._ball.carrier in by_id and not as_before:
            self._ball = _carried(by_id[self._ball.carrier], None, camera)
        self._touch(estimates, t_ns)
        self._t_ns = t_ns
        return self._ball

    def _see(self, seen: Detection, estimates: Sequence[Estimate], camera: Camera) -> None:
        """Take note of where the ball is seen when nobody is declared to have it."""
        px = _middle(seen)
        low, high = (
            (float(x), float(y)) for x, y in camera.to_board(np.array([px, px]), np.array([_LYING_MM, _CARRIED_MM]))
        )
        ball = self._ball
        if ball is not None and ball.carrier is None and math.dist(low, (ball.x_mm, ball.y_mm)) < _SAME_MM:
            self._looks += 1
            share = 1 / min(self._looks, 30)
            x, y = ball.x_mm + share * (low[0] - ball.x_mm), ball.y_mm + share * (low[1] - ball.y_mm)
            sigma = _PLACE_SIGMA_MM / math.sqrt(min(self._looks, 4))
            self._ball = replace(ball, x_mm=x, y_mm=y, sigma_mm=sigma)
            self._moving = self._held = None
            return
        holder = _holder(high, low, estimates)
        if holder is not None:
            self._moving = None
            count = self._held[1] + 1 if self._held is not None and self._held[0] == holder.id else 1
            self._held = (holder.id, count)
            if count >= _HELD or (ball is not None and ball.carrier == holder.id):
                self._ball = Ball("carried", *high, carrier=holder.id, sigma_mm=2 * _PLACE_SIGMA_MM)
                self._forget()
            return
        self._held = None
        near = self._moving is not None and math.dist(low, self._moving[0]) < _SAME_MM
        self._moving = (low, self._moving[1] + 1 if near and self._moving is not None else 1)
        if self._moving[1] >= _SETTLED:
            lost = ball is not None and ball.carrier is not None
            rolled = ball is not None and ball.state == "loose"
            self._ball = Ball("loose" if lost or rolled else "magnetic", *low, sigma_mm=_PLACE_SIGMA_MM)
            self._looks, self._moving = 1, None
            self._reach = {}

    def _forget(self) -> None:
        self._reach, self._looks, self._moving, self._held = {}, 0, None, None

    def _touch(self, estimates: Sequence[Estimate], t_ns: int) -> None:
        """Find who touches the ball on the board first, between the last frame and this one."""
        ball = self._ball
        if ball is None or ball.carrier is not None or ball.touched_by is not None:
            return
        near = [
            one
            for one in estimates
            if one.seen
            and one.posture not in {"lifted", "unseen"}
            and math.dist((one.footprint.x_mm, one.footprint.y_mm), (ball.x_mm, ball.y_mm)) < _NEXT_TO_MM
        ]
        disc = Footprint(ball.x_mm, ball.y_mm, 0.0, BaseSize(2 * _RADIUS_MM, 2 * _RADIUS_MM, 0.0, _RADIUS_MM))
        gaps = signed_gaps([one.footprint for one in near], [disc] * len(near))
        reach = {
            one.id: _Reach(gap.gap_mm, math.hypot(math.sqrt(_along(one, gap.normal)), ball.sigma_mm))
            for one, gap in zip(near, gaps, strict=True)
        }
        touched = [
            (self._crossed_ns(id_, now, t_ns), id_) for id_, now in reach.items() if now.gap_mm <= self._bound(id_, now)
        ]
        if touched:
            touched_ns, by = min(touched)
            self._ball = replace(ball, touched_by=by, touched_ns=touched_ns)
        self._reach = reach

    def _bound(self, id_: str, now: _Reach) -> float:
        """A gap this small is a touch: 0, or as much as is uncertain once the figure has stopped before the ball."""
        before = self._reach.get(id_)
        stopped = before is not None and abs(now.gap_mm - before.gap_mm) < 0.1
        return min(_TOUCH_SIGMAS * now.sigma_mm, 0.5) if stopped and now.gap_mm < 0.5 else 0.0

    def _crossed_ns(self, id_: str, now: _Reach, t_ns: int) -> int:
        before = self._reach.get(id_)
        if before is None or self._t_ns is None or before.gap_mm <= now.gap_mm or before.gap_mm <= 0:
            return t_ns
        share = min(before.gap_mm / (before.gap_mm - now.gap_mm), 1.0)
        return self._t_ns + round(share * (t_ns - self._t_ns))


def _best(detections: Sequence[Detection]) -> Detection | None:
    """The likeliest ball."""
    balls = [one for one in detections if one.kind == "ball" and one.score >= _LEAST_SCORE]
    return max(balls, key=lambda one: one.score, default=None)


def _middle(ball: Detection) -> Place:
    left, top, right, bottom = ball.box_px
    return ball.helmet_px if ball.helmet_px is not None else ((left + right) / 2, (top + bottom) / 2)


def _carried(by: Estimate, px: Place | None, camera: Camera) -> Ball:
    """The ball in a figure's arm: where it is seen, or else at the figure."""
    at = by.footprint.x_mm, by.footprint.y_mm
    if px is not None:
        x, y = camera.to_board(np.array([px]), _CARRIED_MM)[0].tolist()
        if math.dist((x, y), at) < _ARM_MM:
            return Ball("carried", x, y, carrier=by.id, sigma_mm=2 * _PLACE_SIGMA_MM)
    return Ball("carried", *at, carrier=by.id, sigma_mm=_GUESSED_SIGMA_MM)


def _holder(high: Place, low: Place, estimates: Sequence[Estimate]) -> Estimate | None:
    """The figure in whose arm the ball would be, unless it lies clear of every base."""
    able = [one for one in estimates if one.posture == "upright"]
    if not able:
        return None
    nearest = min(able, key=lambda one: math.dist(high, (one.footprint.x_mm, one.footprint.y_mm)))
    at = nearest.footprint
    lies = signed_gaps([at], [Footprint(*low, 0.0, BaseSize(1.0, 1.0, 0.0, 0.5))])[0].gap_mm
    return nearest if math.dist(high, (at.x_mm, at.y_mm)) < _ARM_MM and lies < _RADIUS_MM else None


def _along(one: Estimate, normal: tuple[float, float]) -> float:
    """Variance of a figure's place along a direction, mm^2."""
    direction = np.array(normal)
    return float(direction @ one.covariance[:2, :2] @ direction)
