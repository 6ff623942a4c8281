"""Keeps a calibration true while the camera runs: follows shake and drift, and solves again after a bump.

Frame by frame the print is followed from a reference picture. The first picture is solved again at once, since every
mount sways by some tenths of a pixel and may have been touched since it was calibrated. Shake, and drift while it is
small, move the camera that is handed out. A displacement over the limit that lasts is a bump: calls are suspended until
the camera is still and has been solved again. A drift that has grown is solved again without suspending calls. A field
out of sight is reported, and searched for.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.calibration.online.recalibration import recalibrate
from downfield.calibration.online.shake import NOT_ENOUGH_PRINT, SHAKE_LIMITS, MovingCamera, Shake, ShakeTracker
from downfield.core.arrays import Array, Image
from downfield.core.errors import CalibrationError, InputError

DriftState = Literal["steady", "bumped", "resolving", "lost"]


@dataclass(frozen=True, slots=True)
class OnlineLimits:
    """Thresholds of keeping a calibration true."""

    bump_px: float = 2.0  # displacement of the field in the picture beyond which the calibration no longer holds
    bumped_after_ns: int = 200_000_000  # a displacement that lasts so long is a bump: shake is over sooner
    pushed_px: float = 1.2  # movement between frames of a camera that is pushed; the mount's sway is slower
    jumped_after_ns: int = 60_000_000  # a displacement this long after a push, two frames at 30 a second, is a bump
    min_visible_share: float = 0.25  # with a smaller share of the print's corners the field is not seen
    lost_after_ns: int = 400_000_000  # a field that is not seen for so long is lost
    max_still_px: float = 0.4  # movement between frames below which no hand is on the camera any more
    still_for_ns: int = 300_000_000  # time for which it must have been so
    drift_lasts_ns: int = 300_000_000  # a displacement that is never less for so long is drift: sway comes back sooner
    # error of the field's place in the picture, as a share of how far it was followed from its reference
    followed_error: float = 0.04
    error_steps_px: float = 0.5  # that distance is rounded up to multiples of this, so that errors are computed rarely
    min_shake_px: float = 0.02  # a smaller shake is measurement noise
    max_drift_px: float = 0.7  # drift that is worth a new solution; beyond `bump_px` it would stop the game
    retry_after_ns: int = 1_000_000_000  # time from a solution that failed to the next attempt
    again_after_ns: int = 500_000_000  # the same from one that was found, while the camera slips on
    drift_retry_after_ns: int = 20_000_000_000  # the same after one that failed while calls were not suspended
    search_after_ns: int = 1_500_000_000  # a field out of sight is searched for after this: a hand is gone sooner


_LIMITS: Final = OnlineLimits()
Covariance: TypeAlias = tuple[tuple[float, ...], ...]
_CENTER: Final = (2, 3)  # the picture's middle among `jacobians.PARAMETERS`
CAMERA_MOVED: Final = "the camera was moved"
_MOVING = f"{CAMERA_MOVED}: fasten it; calls resume once it stands still and is calibrated again"
_SOLVING = "the camera was moved and is being calibrated again"
_LOST = "the field is not in the picture: clear the view, light the table, or turn the camera back to it"


@dataclass(frozen=True, slots=True)
class DriftStatus:
    """The state of the calibration at one frame."""

    # `steady`: positions hold, once corrected for the shake; `bumped`: the camera was moved, calls are suspended;
    # `resolving`: it is still again and must be solved afresh; `lost`: the field is not seen
    state: DriftState
    since_ns: int  # when that state began
    drift_px: float  # how far the field's corners have stayed displaced

    @property
    def trusted(self) -> bool:
        """Whether calls may be made."""
        return self.state == "steady"


class DriftDetector:
    """Judges a sequence of shakes. Begin a new one with each new reference picture."""

    def __init__(self) -> None:
        self._status: DriftStatus | None = None
        self._displaced_since_ns: int | None = None
        self._unseen_since_ns: int | None = None
        self._still_since_ns: int | None = None
        self._middle_px: Array | None = None  # when last seen, displacement of the field's middle
        self._displaced: deque[tuple[int, float]] = deque()
        self._pushed = False

    def update(self, shake: Shake, t_ns: int) -> DriftStatus:
        """Judge one frame.

        Args:
            shake: the frame's displacement from the reference picture.
            t_ns: its capture time, rising.
        """
        seen = shake.share >= _LIMITS.min_visible_share
        self._unseen_since_ns = None if seen else _first(self._unseen_since_ns, t_ns)
        displaced = seen and shake.largest_px > _LIMITS.bump_px
        self._displaced_since_ns = _first(self._displaced_since_ns, t_ns) if displaced else None
        still = False
        if seen and self._middle_px is not None:
            moved_px = float(np.linalg.norm(shake.middle_px - self._middle_px))
            self._pushed = moved_px > _LIMITS.pushed_px or (self._pushed and displaced)
            still = moved_px < _LIMITS.max_still_px
        self._still_since_ns = _first(self._still_since_ns, t_ns) if still else None
        if seen:
            self._middle_px = shake.middle_px
            self._displaced.append((t_ns, shake.largest_px))
            while len(self._displaced) > 1 and t_ns - self._displaced[1][0] >= _LIMITS.drift_lasts_ns:
                self._displaced.popleft()
        state = self._state(t_ns)
        goes_on = self._status is not None and self._status.state == state
        since_ns = self._status.since_ns if goes_on and self._status is not None else t_ns
        self._status = DriftStatus(state, since_ns, self._drift_px())
        return self._status

    def _state(self, t_ns: int) -> DriftState:
        before: DriftState = self._status.state if self._status else "steady"
        if _lasted(self._unseen_since_ns, t_ns, _LIMITS.lost_after_ns):
            return "lost"
        if before == "steady":
            lasts_ns = _LIMITS.jumped_after_ns if self._pushed else _LIMITS.bumped_after_ns
            return "bumped" if _lasted(self._displaced_since_ns, t_ns, lasts_ns) else "steady"
        if _lasted(self._still_since_ns, t_ns, _LIMITS.still_for_ns):
            # Back within the limit it need not be solved again: whoever leaned on the table has let go.
            return "resolving" if self._displaced_since_ns is not None else "steady"
        return "bumped" if self._unseen_since_ns is None or before != "lost" else "lost"

    def _drift_px(self) -> float:
        if not self._displaced or self._displaced[-1][0] - self._displaced[0][0] < _LIMITS.drift_lasts_ns:
            return 0.0
        return min(px for _, px in self._displaced)


@dataclass(frozen=True, slots=True)
class CalibrationStatus:
    """What holds for one frame."""

    calibration: Calibration  # with the camera where it is in this frame, as far as is known
    state: DriftState  # see `DriftStatus`
    problems: tuple[str, ...]  # why positions can't be trusted now, phrases; empty while they can
    solutions: int  # how often the camera was solved again since the first picture

    @property
    def trusted(self) -> bool:
        """Whether calls may be made."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Reference:
    """A picture whose calibration is known, the tracker that follows the print from it, and the camera it moves."""

    calibration: Calibration
    tracker: ShakeTracker
    camera: MovingCamera
    covariances: dict[int, Covariance] = field(default_factory=dict)

    @staticmethod
    def of(image: Image, calibration: Calibration) -> _Reference | None:
        """Return the reference that a picture makes; None when too little of the print is seen in it."""
        try:
            tracker = ShakeTracker(image, calibration.camera, calibration.field)
        except CalibrationError:
            return None
        return _Reference(calibration, tracker, MovingCamera(calibration.camera, calibration.field))

    def moved(self, shake: Shake) -> Calibration:
        """Return the calibration of a picture displaced from this one."""
        if shake.largest_px <= _LIMITS.min_shake_px:
            return self.calibration
        return replace(self.calibration, camera=self.camera.at(shake), covariance=self._covariance(shake.largest_px))

    def _covariance(self, followed_px: float) -> Covariance:
        """Return the covariance with the error of following the field so far, as one of the picture's middle."""
        known, steps = self.calibration.covariance, math.ceil(followed_px / _LIMITS.error_steps_px)
        if not known or steps <= 1:
            return known
        if steps not in self.covariances:
            total = np.array(known)
            for center in _CENTER:
                total[center, center] += (_LIMITS.followed_error * steps * _LIMITS.error_steps_px) ** 2
            self.covariances[steps] = tuple(map(tuple, total.tolist()))
        return self.covariances[steps]


@dataclass(frozen=True, slots=True)
class _Job:
    """A solution under way."""

    t_ns: int
    image: Image
    result: Future[Calibration]  # the new calibration, once it is there
    urgent: bool  # whether calls are suspended for it
    first: bool  # whether it is of the first picture


class OnlineCalibrator:
    """Keeps one camera's calibration. The first picture is its reference, and is solved for where the camera is in it.

    Args:
        in_background: whether solving goes on beside the frames, in a thread of its own; else frames wait for it.
    """

    def __init__(self, calibration: Calibration, *, in_background: bool = True) -> None:
        self._last = calibration
        self._reference: _Reference | None = None
        self._drift = DriftDetector()
        self._trusted = True
        self._pool = ThreadPoolExecutor(1, "calibration") if in_background else None
        self._job: _Job | None = None
        self._not_before_ns = 0
        self._failure = ""
        self._solutions = 0

    @property
    def camera(self) -> Camera:
        """The camera where it was in the latest picture, as far as it was followed."""
        return self._last.camera

    def update(self, image: Image, t_ns: int) -> CalibrationStatus:
        """Return what holds for a frame.

        Args:
            image: blue green red or gray, of the calibration's size.
            t_ns: its capture time, rising.

        Raises:
            InputError: a picture of another size.
        """
        size, here = self._last.camera.lens.size_px, (image.shape[1], image.shape[0])
        if here != size:
            raise InputError(
                f"the camera picture is {here[0]}x{here[1]} px, but the table was calibrated at {size[0]}x{size[1]} px."
                " Set the camera to that size, or calibrate again."
            )
        first = self._reference is None
        reference = self._reference or _Reference.of(image, self._last)
        if reference is None:
            return CalibrationStatus(self._last, "lost", (NOT_ENOUGH_PRINT,), self._solutions)
        self._reference = reference = self._newest(reference)
        shake = reference.tracker.track(image)
        drift = self._drift.update(shake, t_ns)
        if shake.share >= SHAKE_LIMITS.min_share:
            self._last = reference.moved(shake)
        self._trusted = drift.trusted
        if first or (self._job is None and t_ns >= self._not_before_ns and _needs_solving(drift, t_ns)):
            self._solve(image, reference.calibration, shake, t_ns, first=first)
        return CalibrationStatus(self._last, drift.state, self._problems(drift), self._solutions)

    def close(self) -> None:
        """Wait for what is being solved, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown()

    def _solve(self, image: Image, before: Calibration, shake: Shake, t_ns: int, *, first: bool) -> None:
        still = image.copy()  # the camera's buffer may be used again

        def work() -> Calibration:
            return recalibrate([still], before, shake, made_from=[f"frame at {t_ns / 1e9:.1f} s"])

        if not first:
            self._not_before_ns = t_ns + _LIMITS.retry_after_ns
        self._job = _Job(
            t_ns, still, self._pool.submit(work) if self._pool else _run_now(work), not self._trusted, first
        )

    def _newest(self, reference: _Reference) -> _Reference:
        job = self._job
        if job is None or not job.result.done():
            return reference
        self._job = None
        if job.urgent and self._trusted:
            return reference  # whoever leaned on the table let go before it was solved
        error = job.result.exception()
        if error is not None and not isinstance(error, CalibrationError):
            raise error
        solved = None if error is not None else _Reference.of(job.image, job.result.result())
        if solved is None:
            self._failure = "" if job.first else str(error or NOT_ENOUGH_PRINT)
            if not job.urgent and not job.first:
                self._not_before_ns = job.t_ns + _LIMITS.drift_retry_after_ns
            return reference
        self._failure = ""
        self._not_before_ns = job.t_ns + _LIMITS.again_after_ns
        self._drift = DriftDetector()
        self._solutions += not job.first
        return solved

    def _problems(self, drift: DriftStatus) -> tuple[str, ...]:
        if drift.trusted:
            return ()
        if drift.state == "lost":
            return (_LOST,)
        if drift.state == "bumped":
            return (_MOVING,)
        return (f"{CAMERA_MOVED}; {self._failure}",) if self._failure else (_SOLVING,)


def _needs_solving(drift: DriftStatus, t_ns: int) -> bool:
    if drift.state == "steady":
        return drift.drift_px > _LIMITS.max_drift_px
    if drift.state == "lost":
        return t_ns - drift.since_ns >= _LIMITS.search_after_ns
    return drift.state == "resolving"


def _run_now(work: Callable[[], Calibration]) -> Future[Calibration]:
    result: Future[Calibration] = Future()
    try:
        result.set_result(work())
    except CalibrationError as error:
        result.set_exception(error)
    return result


def _first(since_ns: int | None, t_ns: int) -> int:
    return t_ns if since_ns is None else since_ns


def _lasted(since_ns: int | None, t_ns: int, duration_ns: int) -> bool:
    return since_ns is not None and t_ns - since_ns >= duration_ns
