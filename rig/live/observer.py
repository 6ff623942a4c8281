"""Looking on at the loop without delaying it: the recorder, the annotated picture, the health, the terminal."""

from __future__ import annotations

from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.sources.source import CapturedFrame


class LoopObserver:
    """Told of what happens; each takes up what concerns it."""

    def shot(self, shot: CapturedFrame, /) -> None:
        """A picture was captured. Called from the capturing thread."""

    def scene(self, frame: Frame, scene: Scene, /) -> None:
        """It was seen what is on it. Called from the seeing thread."""

    def judged(self, entry: Scene | Event, calls: tuple[Call, ...], /) -> None:
        """A scene or a recorded declaration was judged, with the calls made or changed. Called from that thread."""

    def refused(self, event: Event, reason: str, /) -> None:
        """A recorded declaration was refused. Called from the judging thread."""
