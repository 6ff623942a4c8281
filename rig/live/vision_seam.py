"""The seam between pictures and the game: a frame goes in, a scene comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from downfield.core.detection import Detection
from downfield.core.errors import InputError
from downfield.core.frame import Frame
from downfield.core.scene import Player, Scene
from downfield.vision.board.health import PictureHealth

DetectionResult = Callable[[], Sequence[Detection] | None]
"""Waits for what `VisionStage.look` finds in a frame, and gives it."""


class VisionStage(Protocol):
    """Sees scenes in frames, in two steps that may be a thread's each: look at one frame while the last is understood.

    Attributes:
        carrier: roster id of who is declared to have the ball, for the loop to set; None when nobody is.

    """

    carrier: str | None

    def look(self, frame: Frame, waiting: int = 0) -> Sequence[Detection] | None:
        """What is found in the next frame; they come in the order of their times, with gaps.

        Args:
            frame: the frame.
            waiting: how many frames have come since.

        Returns:
            None when it was not looked at.

        """
        ...

    def see(self, frame: Frame, looked: DetectionResult) -> Scene:
        """What is on the board in a frame; they come in the order of their times, with gaps.

        Args:
            frame: the frame.
            looked: gives what `look` found in it; may raise, and so may this then.

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
        self.carrier: str | None = None
        self._scenes = iter(tracks)
        self._next: Scene | None = next(self._scenes, None)

    def look(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        """Nothing: what was seen is recorded."""
        return ()

    def see(self, frame: Frame, looked: DetectionResult) -> Scene:  # noqa: ARG002 - the seam's signature
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
        self.carrier: str | None = None
        self._unfit = (why,)

    def look(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        """Nothing."""
        return ()

    def see(self, frame: Frame, looked: DetectionResult) -> Scene:  # noqa: ARG002 - the seam's signature
        """An empty board, unfit for calls."""
        return Scene(frame.index, frame.t_ns, "unknown", (), unfit=self._unfit)

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Nobody is seen."""

    def find_figures(self) -> None:
        """Nobody is seen."""
