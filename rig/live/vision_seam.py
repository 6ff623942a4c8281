"""The seam between pictures and the game: a frame goes in, a scene comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from downfield.core.errors import InputError
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Player, Scene
from downfield.vision.board.health import PictureHealth

DetectionResult = Callable[[], Sequence[Detection] | None]
"""Waits for the detections that `VisionStage.detect` finds in a frame, and returns them."""


class VisionStage(Protocol):
    """Turns frames into scenes in two steps, so that one thread may `detect` while another still does `update`."""

    def detect(self, frame: Frame, waiting: int = 0) -> Sequence[Detection] | None:
        """The detections in the next frame; frames come in time order, with gaps.

        Args:
            frame: the frame.
            waiting: number of newer frames that already wait.

        Returns:
            None when the detector skipped the frame.

        """
        ...

    def update(self, frame: Frame, detections: DetectionResult, carrier: str | None = None) -> Scene:
        """The scene of a frame; frames come in time order, with gaps.

        Args:
            frame: the frame.
            detections: returns what `detect` found in it; may raise, and so may this then.
            carrier: roster id of the declared ball carrier; None if none is declared.

        """
        ...

    @property
    def players(self) -> tuple[Player, ...]:
        """Who is on the board; empty while that is not known."""
        ...

    @property
    def health(self) -> PictureHealth | None:
        """Whether the pictures can be relied on; None where nobody looks."""
        ...

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Somebody says who is on the board; of the same men, that each stands where he is believed to."""
        ...

    def find_figures(self) -> None:
        """Forget who stands where, and find everybody anew."""
        ...


class RecordedVision:
    """Sees what was recorded beside a clip, frame by frame.

    Args:
        tracks: its scenes.
        players: whom to name to the game; none when it is declared who is on the board.

    """

    def __init__(self, tracks: Iterable[Scene], players: tuple[Player, ...] = ()) -> None:
        self.players = players
        self.health: PictureHealth | None = None
        self._scenes = iter(tracks)
        self._next: Scene | None = next(self._scenes, None)

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        """Nothing: what was seen is recorded."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the seam's signature
        carrier: str | None = None,  # noqa: ARG002 - the seam's signature
    ) -> Scene:
        """The scene of a frame.

        Raises:
            InputError: the tracks hold none for it.

        """
        while self._next is not None and self._next.frame < frame.index:
            self._next = next(self._scenes, None)
        if self._next is None or self._next.frame != frame.index:
            raise InputError(f"frame {frame.index}: the clip's tracks hold no scene for it")
        return self._next

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Figures keep the names they were recorded with."""

    def find_figures(self) -> None:
        """They are where they were recorded."""


class UncalibratedVision:
    """Sees nothing, for want of a calibration, and says so: the camera's picture is shown meanwhile.

    Args:
        why: what the scenes are unfit for.

    """

    def __init__(self, why: str) -> None:
        self.players: tuple[Player, ...] = ()
        self.health: PictureHealth | None = None
        self._unfit = (why,)

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        """Nothing."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the seam's signature
        carrier: str | None = None,  # noqa: ARG002 - the seam's signature
    ) -> Scene:
        """An empty board, unfit for calls."""
        return Scene(frame.index, frame.t_ns, "unknown", (), unfit=self._unfit)

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Nobody is seen."""

    def find_figures(self) -> None:
        """Nobody is seen."""
