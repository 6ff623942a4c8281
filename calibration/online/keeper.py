"""A calibration kept true while the camera runs: taken along with every shake, solved again when that is not enough.

Frame by frame the print is followed from a reference picture. The first one need not show it where it was calibrated:
every mount sways by some tenths of a pixel, and may have been touched since; so it is solved again at once. Shake, and
drift while it is small, move the camera that is handed out. A bump suspends trust until the camera is still and has
been solved again; a drift that has grown is solved again without anybody noticing; and a field out of sight is said to
be so, and looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from downfield.calibration.calibration import Calibration
from downfield.calibration.online.drift import Drift, DriftState, DriftWatch
from downfield.calibration.online.resolve import solve_again
from downfield.calibration.online.shake import SEEN_SHARE, MovingCamera, Shake, ShakeTracker
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.records import check

_STILL_PX = 0.02  # a shake smaller than it is measured
_CREPT_PX = 0.7  # a slow drift that is worth a new solution; beyond BUMP_PX it would stop the game
_AGAIN_NS = 1_000_000_000  # after a solution that failed
_CREPT_AGAIN_NS = 20_000_000_000
_SEARCH_AFTER_NS = 1_500_000_000  # of a field out of sight: a hand over it is gone sooner

_MOVED = "the camera was moved"
_SOLVING = "the camera was moved: it is being calibrated again"
_LOST = "the field is not in the picture: clear the view, light the table, or turn the camera back to it"
_UNFOLLOWED = "too little of the print is seen to follow it"


@dataclass(frozen=True, slots=True)
class Kept:
    """What holds for one frame.

    Attributes:
        calibration: with the camera where it is in this frame, as far as is known.
        state: see `Drift`.
        troubles: why positions can't be trusted now; empty while they can.
        solutions: how often the camera was solved again since the first picture.

    """

    calibration: Calibration
    state: DriftState
    troubles: tuple[str, ...]
    solutions: int

    @property
    def trusted(self) -> bool:
        """Whether calls may be made."""
        return not self.troubles


@dataclass(frozen=True, slots=True)
class _Reference:
    """A picture whose calibration is known, what follows the print from it, and the camera it moves."""

    calibration: Calibration
    tracker: ShakeTracker
    camera: MovingCamera

    @staticmethod
    def of(image: Image, calibration: Calibration) -> _Reference | None:
        """None when too little of the print is seen in the picture."""
        try:
            tracker = ShakeTracker(image, calibration.camera, calibration.field)
        except CalibrationError:
            return None
        return _Reference(calibration, tracker, MovingCamera(calibration.camera, calibration.field))

    def moved(self, shake: Shake) -> Calibration:
        """The calibration of a picture displaced from this one."""
        if shake.largest_px <= _STILL_PX:
            return self.calibration
        return replace(self.calibration, camera=self.camera.at(shake))


@dataclass(frozen=True, slots=True)
class _Job:
    """A solution under way; `urgent` while calls are suspended for it, `first` of the first picture."""

    image: Image
    answer: Future[Calibration]
    urgent: bool
    first: bool


class Keeper:
    """Keeps one camera's calibration. The first picture is its reference, and is solved for where the camera is in it.

    Args:
        calibration: of the camera.
        in_background: whether solving goes on beside the frames, in a thread of its own; else frames wait for it.

    """

    def __init__(self, calibration: Calibration, *, in_background: bool = True) -> None:
        self._last = calibration
        self._reference: _Reference | None = None
        self._watch = DriftWatch()
        self._trusted = True
        self._pool = ThreadPoolExecutor(1, "calibration") if in_background else None
        self._job: _Job | None = None
        self._not_before_ns = 0
        self._failed = ""
        self._solutions = 0

    def see(self, image: Image, t_ns: int) -> Kept:
        """What holds for a frame.

        Args:
            image: blue green red or gray, of the calibration's size.
            t_ns: its capture time, rising.

        Raises:
            InputError: a picture of another size.

        """
        size, here = self._last.camera.lens.size_px, (image.shape[1], image.shape[0])
        check(here == size, InputError, f"a picture of {here[0]}x{here[1]} px, but calibrated at {size[0]}x{size[1]}")
        first = self._reference is None
        known = self._reference or _Reference.of(image, self._last)
        if known is None:
            return Kept(self._last, "lost", (_UNFOLLOWED,), self._solutions)
        self._reference = known = self._answered(known)
        shake = known.tracker.track(image)
        drift = self._watch.update(shake, t_ns)
        if shake.share >= SEEN_SHARE:
            self._last = known.moved(shake)
        self._trusted = drift.trusted
        if first or (self._job is None and t_ns >= self._not_before_ns and _wants_solving(drift, t_ns)):
            self._solve(image, known.calibration, shake, t_ns, first=first)
        return Kept(self._last, drift.state, self._troubles(drift), self._solutions)

    def close(self) -> None:
        """Wait for what is being solved, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown()

    def _solve(self, image: Image, before: Calibration, shake: Shake, t_ns: int, *, first: bool) -> None:
        still = image.copy()  # the camera's buffer may be used again

        def work() -> Calibration:
            return solve_again([still], before, shake, made_from=[f"frame at {t_ns / 1e9:.1f} s"])

        if not first:
            self._not_before_ns = t_ns + (_CREPT_AGAIN_NS if self._trusted else _AGAIN_NS)
        self._job = _Job(still, self._pool.submit(work) if self._pool else _done(work), not self._trusted, first)

    def _answered(self, known: _Reference) -> _Reference:
        """The reference to go on from: a newly solved one, once there is one."""
        job = self._job
        if job is None or not job.answer.done():
            return known
        self._job = None
        if job.urgent and self._trusted:
            return known  # whoever leaned on the table let go before it was solved
        error = job.answer.exception()
        if error is not None and not isinstance(error, CalibrationError):
            raise error
        solved = None if error is not None else _Reference.of(job.image, job.answer.result())
        if solved is None:
            self._failed = "" if job.first else str(error or _UNFOLLOWED)
            return known
        self._failed = ""
        self._watch = DriftWatch()
        self._solutions += not job.first
        return solved

    def _troubles(self, drift: Drift) -> tuple[str, ...]:
        if drift.trusted:
            return ()
        if drift.state == "lost":
            return (_LOST,)
        if drift.state == "bumped":
            return (_MOVED,)
        return (f"{_MOVED}; {self._failed}",) if self._failed else (_SOLVING,)


def _wants_solving(drift: Drift, t_ns: int) -> bool:
    if drift.state == "steady":
        return drift.creep_px > _CREPT_PX
    if drift.state == "lost":
        return t_ns - drift.since_ns >= _SEARCH_AFTER_NS
    return drift.state == "resolving"


def _done(work: Callable[[], Calibration]) -> Future[Calibration]:
    """The answer of work done at once."""
    answer: Future[Calibration] = Future()
    try:
        answer.set_result(work())
    except CalibrationError as error:
        answer.set_exception(error)
    return answer
