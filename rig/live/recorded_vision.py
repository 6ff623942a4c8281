"""Vision stages that use no pictures: for clips with recorded scenes, and for a camera without calibration."""

from __future__ import annotations

from collections.abc import Iterable

from downfield.calibration.camera import Camera
from downfield.core.errors import InputError
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Player, Scene
from downfield.rig.live.connections import DetectionResult
from downfield.vision.board.picture_health import PictureHealth


class RecordedVision:
    """Returns the scenes recorded beside a clip, frame by frame.

    Args:
        tracks: the scenes.
        players: the roster to declare to the game; empty when recorded events declare it.

    """

    def __init__(self, tracks: Iterable[Scene], players: tuple[Player, ...] = ()) -> None:
        self.players = players
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None  # nothing follows it
        self._scenes = iter(tracks)
        self._next: Scene | None = next(self._scenes, None)

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        """Return nothing: the scenes are recorded."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return the scene of a frame.

        Raises:
            InputError: the tracks have no scene for the frame.

        """
        while self._next is not None and self._next.frame < frame.index:
            self._next = next(self._scenes, None)
        if self._next is None or self._next.frame != frame.index:
            raise InputError(f"frame {frame.index}: the clip's tracks hold no scene for it")
        return self._next

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Do nothing: figures keep their recorded identities."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Do nothing: figures keep their recorded headings."""

    def find_figures(self) -> None:
        """Do nothing: figures keep their recorded positions."""


class UncalibratedVision:
    """Returns empty scenes that are unfit for calls, so that the camera can be aimed by its picture.

    Args:
        reason: why the scenes are unfit.

    """

    def __init__(self, reason: str) -> None:
        self.players: tuple[Player, ...] = ()
        self.health: PictureHealth | None = None
        self.camera: Camera | None = None  # nothing follows it
        self._unfit = (reason,)

    def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:  # noqa: ARG002 - the interface's
        """Return nothing."""
        return ()

    def update(
        self,
        frame: Frame,
        detections: DetectionResult,  # noqa: ARG002 - the interface's
        carrier: str | None = None,  # noqa: ARG002 - the interface's
    ) -> Scene:
        """Return an empty scene, unfit for calls."""
        return Scene(frame.index, frame.t_ns, "unknown", (), unfit=self._unfit)

    def line_up(self, players: tuple[Player, ...]) -> None:
        """Do nothing: no figure is tracked."""

    def settle_front(self, player: str, heading_deg: float | None) -> None:
        """Do nothing: no figure is tracked."""

    def find_figures(self) -> None:
        """Do nothing: no figure is tracked."""
