"""What connects the parts of the live loop: queues between threads, what passes through, and seams."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, Protocol

from downfield.calibration.camera import Camera
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Jersey, Player, Scene
from downfield.core.track_files import RosterSpot
from downfield.game.published.publisher import LineUpStatus
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.vision.board.picture_health import PictureHealth

DetectionResult = Callable[[], Sequence[Detection] | None]
"""Waits for the result of `VisionStage.detect` for a frame, and returns it."""


class VisionStage(Protocol):
    """Turns frames into scenes in two steps, so that one thread may `detect` while another still does `update`.

    The detecting thread calls `detect` alone; the tracking thread calls everything else that changes the stage. So the
    two steps of one frame share nothing but the detections. The properties are read from any thread.
    """

    def detect(self, frame: Frame, waiting: int = 0) -> Sequence[Detection] | None:
        """Return the detections in the next frame, None when it was skipped; frames come in time order, with gaps.

        Args:
            waiting: number of newer frames that already wait; a stage that skips frames skips more, the more wait.
        """

    def update(self, frame: Frame, detections: DetectionResult, carrier: str | None, /) -> Scene:
        """Return the scene of a frame; frames come in time order, with gaps.

        Args:
            detections: waits for the result of `detect` and returns it; its exceptions are raised here. Call it late:
                what needs no detections runs meanwhile.
            carrier: roster id of the declared ball carrier; None if none is declared.
        """

    @property
    def players(self) -> tuple[Player, ...]:
        """The roster of the figures on the board; empty while it is not known."""

    @property
    def health(self) -> PictureHealth | None:
        """The health of the pictures; None if it is not monitored."""

    @property
    def camera(self) -> Camera | None:
        """The camera where it was in the latest frame; None if its shake is not followed."""

    def line_up(self, players: tuple[Player, ...], left: Jersey | None = None) -> None:
        """Set the roster on the board, and the team that the rules have on the left; None where they don't say.

        For the same players, confirm the identity of every tracked figure.
        """

    def identify(self, left: Jersey | None, spots: Sequence[RosterSpot] = ()) -> None:
        """Take a person's word for which team is on the left and where players stand; neither: all are as drawn."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Take a person's word for where a figure faces, degrees counter-clockwise from +x; None takes it back."""

    def find_figures(self) -> None:
        """Drop all positions, and search for every figure again."""


class FigurelessVision:
    """What a vision stage has nothing to do for that tracks no figures of its own."""

    players: tuple[Player, ...] = ()
    health: PictureHealth | None = None
    camera: Camera | None = None  # nothing follows it

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        """Return nothing."""
        return ()

    def line_up(self, players: tuple[Player, ...], left: Jersey | None = None) -> None:
        """Do nothing: identities are those of the recording, or there are none."""

    def identify(self, left: Jersey | None, spots: Sequence[RosterSpot] = ()) -> None:
        """Do nothing: figures keep their identities."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Do nothing: headings are those of the recording, or there are none."""

    def find_figures(self) -> None:
        """Do nothing: no figure is tracked."""


class Referee(Protocol):
    """Runs the game and publishes it; `downfield.game.service.GameService` is one. Callable from any thread."""

    def take(self, entry: Scene | Event) -> tuple[Call, ...]:
        """Process a scene, or an event that did not come through the API, and publish the results.

        Scenes come from one thread, in time order. It waits while a ruling is recomputed. Returns the calls made or
        changed. Raises RefusedError: the state does not allow the entry, and is unchanged.
        """

    def tick(self) -> None:
        """Advance the game's clock while no scenes come."""

    @property
    def line_up(self) -> LineUpStatus:
        """The line-up in force, and the number of times it was confirmed."""

    @property
    def carrier(self) -> str | None:
        """Roster id of the declared ball carrier; None if none is declared."""


class LoopControls:
    """Changes to a running loop, applied in its tracking thread before the next frame. Callable from any thread.

    Nobody waits for a change: until the next frame, which a lost camera may never send, the old vision stage is in use.
    """

    def __init__(self) -> None:
        self.suspension = ""  # why no calls are made from the camera now; empty while calls are made
        self._changes: queue.SimpleQueue[Callable[[VisionStage], VisionStage]] = queue.SimpleQueue()

    def change_vision(self, change: Callable[[VisionStage], VisionStage]) -> None:
        """Call a function with the vision stage before the next frame; it returns the stage to continue with."""
        self._changes.put(change)

    def apply_changes(self, vision: VisionStage) -> VisionStage:
        """Apply all changes requested since the last frame; return the vision stage to continue with."""
        while not self._changes.empty():
            vision = self._changes.get()(vision)
        return vision


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Sizes and times of the loop."""

    # Frames that wait to be decoded: a tenth of a second. The detector skips frames until the queue is empty.
    captured_frames: int = 6
    # Further frames that may wait after a stall of the computer or the camera, when frames arrive in a burst
    burst_frames: int = 12
    decoders: int = 2  # Frames decoded in parallel, to work off a burst sooner
    # Decoded frames that wait: a finished one and one being decoded, while an earlier frame is detected
    decoded_frames: int = 1
    # Detected frames that wait: a finished one and one being detected, while an earlier frame is tracked
    detected_frames: int = 2
    scenes: int = 120  # Scenes that wait: two seconds, which a ruling that recomputes minutes of a game may take
    tick_s: float = 1.0  # Time without a scene after which the game's clock is advanced; no frame takes longer
    stop_timeout_s: float = 5.0  # Timeout for a stage to end


LOOP_LIMITS: Final = LoopLimits()


@dataclass(frozen=True, slots=True)
class DecodingFrame:
    """A frame being decoded."""

    index: int
    frame: Future[Frame]
    captured_ns: int


@dataclass(frozen=True, slots=True)
class DetectedFrame:
    """A frame with its detections, which another thread may still be making; None where the detector skipped it."""

    frame: Frame
    detections: Future[Sequence[Detection] | None]
    captured_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A scene or event for the game, with the capture time of its frame."""

    content: Scene | Event
    captured_ns: int
