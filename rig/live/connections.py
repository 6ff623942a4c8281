"""Connections between the parts of the live loop: the queue between threads, and the interfaces of stages."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Generic, Literal, Protocol, TypeVar

from downfield.calibration.camera import Camera
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Player, Scene
from downfield.game.published.publisher import LineUpStatus
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.sources.source import CapturedFrame
from downfield.vision.board.picture_health import PictureHealth

T = TypeVar("T")

NoticeLevel = Literal["info", "warning", "alarm"]

DetectionResult = Callable[[], Sequence[Detection] | None]
"""Waits for the result of `VisionStage.detect` for a frame, and returns it."""

_BURST_RECOVERY_S: Final = 2.0
"""Time without extra capacity for bursts after an item was dropped."""


class BoundedQueue(Generic[T]):
    """A bounded first-in, first-out queue between two threads, which drops the oldest items or makes the producer wait.

    Args:
        capacity: number of items it holds.
        burst_capacity: number of further items it holds while no item was dropped lately. A short stall then drops
            nothing, and under constant overload no item waits longer.

    Attributes:
        dropped: number of dropped items.

    """

    def __init__(self, capacity: int, burst_capacity: int = 0) -> None:
        self.dropped = 0
        self._capacity, self._burst_capacity = capacity, burst_capacity
        self._dropped_at = -math.inf
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    def put_or_drop(self, item: T) -> bool:
        """Add an item at once; when full, drop the oldest.

        Returns:
            Whether nothing was dropped.

        """
        with self._changed:
            if self._closed:
                return True
            now = time.monotonic()
            capacity = self._capacity + (self._burst_capacity if now - self._dropped_at > _BURST_RECOVERY_S else 0)
            full = len(self._items) >= capacity
            if full:
                self._dropped_at = now
            while len(self._items) >= capacity:
                self._items.popleft()
                self.dropped += 1
            self._items.append(item)
            self._changed.notify_all()
            return not full

    def put(self, item: T) -> None:
        """Add an item as soon as there is room; do nothing once the queue is closed."""
        with self._changed:
            while len(self._items) >= self._capacity and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()

    def close(self) -> None:
        """Accept no more items; the consumer still gets the remaining ones."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def get(self, timeout_s: float | None = None) -> T | None:
        """Return the next item; None if none came in time, or the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed, timeout_s)
            if not self._items:
                return None
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    @property
    def finished(self) -> bool:
        """Whether the queue is closed and empty."""
        with self._changed:
            return self._closed and not self._items

    def __iter__(self) -> Iterator[T]:
        """Yield items until the queue is closed and empty."""
        while (item := self.get()) is not None:
            yield item


class VisionStage(Protocol):
    """Turns frames into scenes in two steps, so that one thread may `detect` while another still does `update`."""

    def detect(self, frame: Frame, waiting: int = 0) -> Sequence[Detection] | None:
        """Return the detections in the next frame; frames come in time order, with gaps.

        Args:
            frame: the frame.
            waiting: number of newer frames that already wait.

        Returns:
            None when the detector skipped the frame.

        """
        ...

    def update(self, frame: Frame, detections: DetectionResult, carrier: str | None = None) -> Scene:
        """Return the scene of a frame; frames come in time order, with gaps.

        Args:
            frame: the frame.
            detections: returns the result of `detect`; its exceptions are raised here.
            carrier: roster id of the declared ball carrier; None if none is declared.

        """
        ...

    @property
    def players(self) -> tuple[Player, ...]:
        """The roster of the figures on the board; empty while it is not known."""
        ...

    @property
    def health(self) -> PictureHealth | None:
        """The health of the pictures; None if it is not monitored."""
        ...

    @property
    def camera(self) -> Camera | None:
        """The camera where it was in the latest frame; None if its shake is not followed."""
        ...

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Set the roster on the board; for the same players, confirm the identity of every tracked figure."""
        ...

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Take a person's word for where a figure faces, degrees counter-clockwise from +x; None takes it back."""
        ...

    def find_figures(self) -> None:
        """Drop all positions, and search for every figure again."""
        ...


class Referee(Protocol):
    """Runs the game and publishes it; `downfield.game.service.GameService` is one. Callable from any thread."""

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Process a scene, or an event that did not come through the API, and publish the results.

        Returns:
            The calls made or changed.

        Raises:
            RefusedError: the state does not allow the entry, and is unchanged.

        """
        ...

    def tick(self) -> None:
        """Advance the game's clock while no scenes come."""
        ...

    @property
    def line_up(self) -> LineUpStatus:
        """The line-up in force, and the number of times it was confirmed."""
        ...

    @property
    def carrier(self) -> str | None:
        """Roster id of the declared ball carrier; None if none is declared."""
        ...


class LoopObserver:
    """An observer of the loop, which must not delay it; each subclass overrides the methods it needs."""

    def frame_captured(self, frame: CapturedFrame, /) -> None:
        """Handle a captured frame. Called from the capturing thread."""

    def scene_ready(self, frame: Frame, scene: Scene, /) -> None:
        """Handle the scene of a frame. Called from the tracking thread."""

    def entry_judged(self, entry: Scene | Event, calls: tuple[Call, ...], /) -> None:
        """Handle a judged scene or recorded event, with the calls made or changed. Called from the judging thread."""

    def event_refused(self, event: Event, reason: str, /) -> None:
        """Handle a recorded event that the game refused. Called from the judging thread."""

    def notice_given(self, level: NoticeLevel, text: str, /) -> None:
        """Handle a notice about the rig. Called from any thread."""


class LoopControls:
    """Changes to a running loop, which it applies before its next frame. Callable from any thread.

    Attributes:
        suspension: why no calls are made from the camera now; empty while calls are made.

    """

    def __init__(self) -> None:
        self.suspension = ""
        self._changes: queue.SimpleQueue[Callable[[VisionStage], VisionStage]] = queue.SimpleQueue()

    def change_vision(self, change: Callable[[VisionStage], VisionStage]) -> None:
        """Call a function with the vision stage before the next frame; it returns the stage to continue with."""
        self._changes.put(change)

    def apply_changes(self, vision: VisionStage) -> VisionStage:
        """Apply all changes requested since the last frame; return the vision stage to continue with."""
        while not self._changes.empty():
            vision = self._changes.get()(vision)
        return vision


class EventPlayback:
    """Plays back recorded events at their times.

    Args:
        events: in any order.

    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._pending = sorted(events, key=lambda event: event.t_ns, reverse=True)

    def due(self, t_ns: int | None = None) -> Iterable[Event]:
        """Yield the remaining events up to an instant, in order; None for all remaining events."""
        while self._pending and (t_ns is None or self._pending[-1].t_ns <= t_ns):
            yield self._pending.pop()
