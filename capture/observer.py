"""What watches a frame on its way: each observer overrides the moments that it needs."""

from __future__ import annotations

from typing import Literal

from downfield.capture.sources.source import CapturedFrame
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event

NoticeLevel = Literal["info", "warning", "alarm"]


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
