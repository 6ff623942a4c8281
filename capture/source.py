"""The seam of frame sources: frames with their times, encoded or raw, facts of a source, clocks and observers."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable

from downfield.calibration.calibration import Calibration
from downfield.capture.jpeg import decode_jpeg
from downfield.core.arrays import Image
from downfield.core.errors import SourceError
from downfield.core.frame import TIME_UNKNOWN_NS, Frame
from downfield.core.platform.clock import monotonic_ns
from downfield.core.scene import Scene, SentScene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event

SourceKind = Literal["camera", "clip", "stream", "images", "twin"]


@dataclass(frozen=True, slots=True)
class PictureTimeLimits:
    """Thresholds of telling how even stamps are."""

    memory: int = 25  # Stamps that are remembered
    # Pictures nearer to each other than this, and `at_once_share`, came together: few cameras take 80 a second
    at_once_ns: int = 12_000_000
    at_once_share: float = 0.35  # Share of the usual step below which pictures came together
    uneven_share: float = 0.25  # A step that differs from the mean by more than this share is short or long
    turns: int = 4  # Changes between short and long steps from which stamps are uneven; a rate that changes makes one
    multiple_share: float = 0.12  # Steps this near, by share of a period, to its multiples are of dropped pictures
    # A step this many times the usual one was a drop; or a stall, once pictures have come together
    late_factor: float = 1.7
    # The first picture after a step this long, and this many times any before, may be one that a stall held up: only
    # the next one tells, by coming together with it or not
    stalled_ns: int = 100_000_000
    stalled_factor: float = 2.5
    most_stalls: int = 2  # Among the remembered steps; more are a rate
    even_ns: int = 1_500_000  # Deviations of steps to this are rounding


_EVENNESS: Final = PictureTimeLimits()


class PictureTime(NamedTuple):
    """When a picture was taken."""

    t_ns: int  # strictly later than the picture before
    sigma_ns: int  # standard deviation; `TIME_UNKNOWN_NS` where it came together with others and nothing tells


class PictureTimes:
    """Returns the times of pictures by their stamps; call it for every picture, in the order in which they come.

    A camera takes pictures evenly, and whatever delivers them can only be late: in bursts, after a stall, now and then.
    So where stamps are uneven in a way that no camera is, a picture is taken a period after the one before, and at the
    latest when it came; pictures that came without delay, such as the last one of a burst, keep that true. Steps that
    are multiples of one period are left alone, as others were dropped, and so is a rate that changes with the light.
    """

    def __init__(self) -> None:
        self._stamps: deque[int] = deque(maxlen=_EVENNESS.memory)
        self._lags: deque[int] = deque(maxlen=_EVENNESS.memory - 1)
        self._last_ns: int | None = None
        self._at_once = False
        self._stalls: set[int] = set()  # those of the steps

    def __call__(self, stamp_ns: int) -> PictureTime:
        """Return when a picture was taken that is stamped so, or came then; any epoch."""
        last_ns = self._last_ns
        self._stamps.append(stamp_ns)
        if last_ns is None:
            self._last_ns = stamp_ns
            return PictureTime(stamp_ns, 0)
        steps = [after - before for before, after in pairwise(self._stamps)]
        if _is_uneven(steps):
            t_ns, sigma_ns = self._evened(stamp_ns, last_ns, steps)
        else:
            self._lags.clear()
            t_ns, sigma_ns = stamp_ns, self._error_ns(steps)
        self._last_ns = max(t_ns, last_ns + 1)
        return PictureTime(self._last_ns, sigma_ns)

    def _evened(self, stamp_ns: int, last_ns: int, steps: list[int]) -> tuple[int, int]:
        """Return a period after the picture before, no later than it came, and no later than it always comes."""
        period_ns = _slope(self._stamps)
        t_ns = min(stamp_ns, last_ns + round(period_ns))
        self._lags.append(stamp_ns - t_ns)
        recent = list(self._lags)[-(_longest_burst(steps, period_ns) + 2) :]
        if len(self._lags) > len(recent):
            t_ns += min(recent)  # all of them lag, so the pictures between were dropped
            self._lags[-1] -= min(recent)
        return t_ns, round(max(max(self._lags), abs(steps[-1]) / 4) / math.sqrt(12))

    def _error_ns(self, steps: list[int]) -> int:
        """Return the error of a stamp among even ones."""
        usual = statistics.median(steps)
        if steps[-1] < min(_EVENNESS.at_once_ns, _EVENNESS.at_once_share * usual):
            self._at_once = True
            return TIME_UNKNOWN_NS
        if len(steps) < 3:
            return 0
        self._stalls.intersection_update(steps)
        others = [step for step in steps[:-1] if step not in self._stalls]
        longest = max(steps[:-1] if len(steps) - 1 - len(others) > _EVENNESS.most_stalls else others)
        if steps[-1] > max(_EVENNESS.stalled_ns, _EVENNESS.stalled_factor * longest):
            self._stalls.add(steps[-1])
            return TIME_UNKNOWN_NS
        off = statistics.median(abs(_off_multiple(step, _shortest(steps))) for step in steps)
        jitter = 1.05 * off if off > _EVENNESS.even_ns else 0.0  # of one stamp, by those of two
        late = steps[-1] - usual if self._at_once and steps[-1] > _EVENNESS.late_factor * usual else 0.0
        return round(math.hypot(jitter, late / math.sqrt(12)))


def _is_uneven(steps: list[int]) -> bool:
    """Return whether steps change between short and long again and again, and dropped pictures don't explain it."""
    mean = (sum(steps)) / len(steps)
    kinds = [step > mean for step in steps if abs(step - mean) > _EVENNESS.uneven_share * mean]
    if sum(before != after for before, after in pairwise(kinds)) < _EVENNESS.turns:
        return False
    period = _shortest(steps)
    if period <= _EVENNESS.at_once_ns:
        return True
    odd = sum(abs(_off_multiple(step, period)) > _EVENNESS.multiple_share * period for step in steps)
    return odd > len(steps) // 6


def _shortest(steps: list[int]) -> int:
    """Return the shortest step, but for a tenth that may be shorter by chance."""
    return sorted(steps)[len(steps) // 10]


def _off_multiple(step: float, period: float) -> float:
    """Return by how much a step misses the nearest multiple of a period, at least one of them."""
    return step - max(round(step / period), 1) * period if period > 0 else 0.0


def _longest_burst(steps: list[int], period: float) -> int:
    """Return how many short steps follow each other at most."""
    longest = run = 0
    for step in steps:
        run = run + 1 if step < period else 0
        longest = max(longest, run)
    return longest


def _slope(stamps: deque[int]) -> float:
    """Return the period by which stamps grow, by least squares."""
    first, middle = stamps[0], (len(stamps) - 1) / 2
    rows = [(place - middle, stamp - first) for place, stamp in enumerate(stamps)]
    return sum(x * y for x, y in rows) / sum(x * x for x, _ in rows)


_CATCH_UP_NS: Final = 100_000_000
"""Playback later than this goes on at its normal pace, since a game that rushes to catch up is hard to follow."""

_LONGEST_WAIT_NS: Final = 5_000_000_000
"""A frame that is due later than this comes at once: the times leap where a recording was paused or joined."""


@dataclass(frozen=True, slots=True)
class VideoPacket:
    """One encoded picture as the camera sent it, for the recorder to copy."""

    codec: str  # ``"mjpeg"``, ``"h264"``, ...
    data: bytes
    is_keyframe: bool = True  # whether it can be decoded without earlier packets
    extradata: bytes = b""  # further data that a decoder needs; empty for MJPEG


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """One frame as a source delivers it, with at least one of `packet` (then MJPEG) and `image`."""

    index: int  # its number in the source, from 0; a gap means lost frames
    t_ns: int  # capture time on the source's clock; strictly increasing
    # the same instant on this computer's monotonic clock, to measure latency from. For recordings, the instant the
    # frame was delivered.
    captured_ns: int
    packet: VideoPacket | None = None  # the camera's encoded picture; None if it arrives raw
    image: Image | None = None  # uint8 BGR, shape (height, width, 3); None while it is still encoded
    # hum, t_sigma_ns, sent: as in `Frame`
    hum: float = 0.0
    t_sigma_ns: int = 0
    sent: SentScene | None = None

    def decode(self) -> Frame:
        """Return the frame with its decoded image. Raises SourceError: the picture is damaged."""
        image = self.image
        if image is None and self.packet is not None:
            image = decode_jpeg(self.packet.data)
        if image is None:
            raise SourceError(f"frame {self.index}: the picture is damaged")
        return Frame(self.index, self.t_ns, image, self.hum, self.t_sigma_ns, self.sent)


class PictureFaultError(SourceError):
    """A source that is open does not send pictures to go on with: it is opened again.

    Args:
        symptom: what is seen, a whole sentence for the operator.
        remedy: what to do; empty for what helps a source that sends nothing.
    """

    def __init__(self, symptom: str, remedy: str = "") -> None:
        super().__init__(symptom)
        self.remedy = remedy


def changed_size(now_px: tuple[int, int], before_px: tuple[int, int]) -> PictureFaultError:
    """Return the error of a source whose pictures have another size than before: opening it again finds it out."""
    now, before = ("x".join(map(str, size_px)) for size_px in (now_px, before_px))
    return PictureFaultError(
        f"The camera sends pictures of {now} pixels in place of {before}", "It is opened again with that size"
    )


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The facts of an open source."""

    kind: SourceKind  # ``"camera"`` for one plugged into this computer; ``"stream"`` for any other live source
    name: str  # name for people and file names
    size_px: tuple[int, int]
    fps: float | None  # nominal frame rate; None if the source reports none
    # whether frames arrive whether they are processed or not; recorded frames wait. `open_source` sets it, as the
    # `SourceType` says: a source need not.
    live: bool = False
    codec: str = ""  # codec of its pictures; empty if they arrive raw
    notes: tuple[str, ...] = ()  # settings that the camera refused, for people

    @property
    def is_plugged_in(self) -> bool:
        """Whether it is a camera of this computer, whose driver tells rate and codec; a stream may announce any."""
        return self.kind == "camera"


@runtime_checkable
class SourceWithTruth(Protocol):
    """A source that also knows the truth of its pictures, as the twin does."""

    calibration: Calibration
    events: tuple[Event, ...]
    scenes: tuple[Scene, ...]  # the true scenes, one per frame


class FrameSource(Protocol):
    """Delivers frames. The constructor opens it."""

    @property
    def facts(self) -> SourceFacts:
        """The facts of the source."""

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield every frame until the source ends or is closed; may be called once.

        Raises:
            SourceError: the source failed.
        """

    def close(self) -> None:
        """Stop; callable from any thread, more than once. `frames` ends soon after."""


class CaptureClock:
    """The clock of live sources: starts at the time of day, and is monotonic from then on."""

    def __init__(self) -> None:
        self._offset_ns = time.time_ns() - monotonic_ns()

    def start_after(self, t_ns: int) -> None:
        """Continue after an instant of a resumed game, even if the computer's clock was set back since."""
        self._offset_ns = max(self._offset_ns, t_ns + 1 - monotonic_ns())

    def now_ns(self) -> int:
        """Return the time now, ns since 1970."""
        return self.from_monotonic(monotonic_ns())

    def from_monotonic(self, monotonic_ns: int) -> int:
        """Convert an instant of the monotonic clock to ns since 1970."""
        return monotonic_ns + self._offset_ns

    @staticmethod
    def monotonic_at(time_of_day_ns: int) -> int:
        """Convert an instant of the computer's time of day, such as a file's, to one of the monotonic clock, ns."""
        return monotonic_ns() - (time.time_ns() - time_of_day_ns)


class PlaybackPacer:
    """Delays the frames of a recording until they are due."""

    def __init__(self, *, paced: bool) -> None:
        self._paced = paced
        self._stopped = threading.Event()
        self._offset_ns: int | None = None

    def wait_until(self, t_ns: int) -> bool:
        """Wait until a frame is due, the first one at once; return False if playback was stopped meanwhile."""
        if self._paced:
            now = monotonic_ns()
            offset_ns = now - t_ns if self._offset_ns is None else self._offset_ns
            if not -_LONGEST_WAIT_NS <= now - (offset_ns + t_ns) <= _CATCH_UP_NS:
                offset_ns = now - t_ns
            self._offset_ns = offset_ns
            self._stopped.wait(max(0, offset_ns + t_ns - now) / 1e9)
        return not self._stopped.is_set()

    def stop(self) -> None:
        """Stop waiting, now and from now on."""
        self._stopped.set()


NoticeLevel = Literal["info", "warning", "alarm"]


class LoopObserver:
    """An observer of the live loop; each subclass overrides the methods it needs.

    Observers are called one after the other, in the order in which the loop has them, in the thread of the stage: what
    one of them spends is added to the latency of the frame. One that raises is reported as a problem of the rig, and
    keeps nothing from the others. Methods of one observer run in different threads at the same time, so what they share
    needs a lock unless it is one assignment.

    What people declare and rule does not pass here: it goes from the API straight into the game. Follow the topics of
    the game (`game.published`) for that.
    """

    def frame_captured(self, frame: CapturedFrame, /) -> None:
        """Handle a captured frame, before it is queued; it may be dropped later. Called from the capturing thread."""

    def scene_ready(self, frame: Frame, scene: Scene, /) -> None:
        """Handle the scene of a frame. Called from the tracking thread, before or after the game has judged it."""

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...], /) -> None:
        """Handle a judged scene or recorded event, with the calls made or changed. Called from the judging thread.

        Scenes come in time order, none is left out, and up to two seconds late while a ruling is recomputed.
        """

    def event_refused(self, event: Event, reason: str, /) -> None:
        """Handle a recorded event that the game refused. Called from the judging thread."""

    def notice_given(self, level: NoticeLevel, text: str, /) -> None:
        """Handle a notice about the rig. Called from any thread."""
