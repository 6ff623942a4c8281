"""What the stages of the live loop hand on to each other, and how much of it may wait."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.officiating.events import Event


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """Sizes and times of the loop."""

    captured_frames: int = 6
    """Frames that wait to be decoded: a tenth of a second. The detector skips frames until the queue is empty."""

    burst_frames: int = 12
    """Further frames that may wait after a stall of the computer or the camera, when frames arrive in a burst."""

    decoders: int = 2
    """Frames decoded in parallel, to work off a burst sooner."""

    decoded_frames: int = 1
    """Decoded frames that wait: a finished one and one being decoded, while an earlier frame is detected."""

    detected_frames: int = 2
    """Detected frames that wait: a finished one and one being detected, while an earlier frame is tracked."""

    scenes: int = 120
    """Scenes that wait: two seconds, which a ruling that recomputes minutes of a game may take."""

    tick_s: float = 1.0
    """Time without a scene after which the game's clock is advanced; no frame takes longer."""

    stop_timeout_s: float = 5.0
    """Timeout for a stage to end."""


LOOP_LIMITS: Final = LoopLimits()


@dataclass(frozen=True, slots=True)
class DecodingFrame:
    """A frame being decoded."""

    index: int
    frame: Future[Frame]
    captured_ns: int


@dataclass(frozen=True, slots=True)
class DetectedFrame:
    """A frame whose detections are, or will be, there; None where the detector was not run."""

    frame: Frame
    detections: Future[Sequence[Detection] | None]
    captured_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A scene or event for the game, with the capture time of its frame."""

    content: Scene | Event
    captured_ns: int
