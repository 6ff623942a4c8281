"""The seam of the frame sources: pictures with their place in time, still packed where they come packed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Image
from downfield.core.errors import SourceError
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.officiating.events import Event
from downfield.rig.sources.jpeg import unpack_jpeg

Kind = Literal["camera", "clip", "stream", "images", "twin"]


@dataclass(frozen=True, slots=True)
class VideoPacket:
    """One picture as the camera packed it, for the recorder to copy.

    Attributes:
        codec: ``"mjpeg"``, ``"h264"``, ...
        data: the packet.
        key: whether it can be unpacked without those before it.
        header: what a decoder needs besides; empty for MJPEG.

    """

    codec: str
    data: bytes
    key: bool = True
    header: bytes = b""


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """One picture as a source delivers it. At least one of `packed` (then MJPEG) and `image` is there.

    Attributes:
        index: in its source, from 0; a gap in the indices is frames that were lost.
        t_ns: capture time, on the source's clock; rises strictly.
        captured_ns: the same instant on the monotonic clock of this computer, to measure latency from. For what was
            captured earlier, the instant it was handed over.
        packed: as the camera packed it; None where it does not.
        image: uint8 blue green red, shape (height, width, 3), raw; None while it is still packed.
        hum: as of a frame.

    """

    index: int
    t_ns: int
    captured_ns: int
    packed: VideoPacket | None = None
    image: Image | None = None
    hum: float = 0.0

    def frame(self) -> Frame:
        """The picture, unpacked.

        Raises:
            SourceError: it is broken.

        """
        image = self.image if self.image is not None else self._unpacked()
        return Frame(self.index, self.t_ns, image, self.hum)

    def _unpacked(self) -> Image:
        image = unpack_jpeg(self.packed.data) if self.packed else None
        if image is None:
            raise SourceError(f"frame {self.index}: the picture is broken")
        return image


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a source is, once it is open.

    Attributes:
        kind: of what sort.
        name: for people and file names.
        size_px: width and height of its pictures.
        fps: nominal frame rate; None when it tells none.
        live: whether it shows what happens now; such frames come whether they are taken or not, all others wait.
        codec: what it packs its pictures with; empty when they come raw.
        notes: what was asked of it and refused, for people.

    """

    kind: Kind
    name: str
    size_px: tuple[int, int]
    fps: float | None
    live: bool
    codec: str = ""
    notes: tuple[str, ...] = ()


@runtime_checkable
class SourceWithTruth(Protocol):
    """What a source may know besides its pictures, as the twin does.

    Attributes:
        calibration: of its camera.
        events: what is declared.
        scenes: what is to be seen, one a picture.

    """

    calibration: Calibration
    events: tuple[Event, ...]
    scenes: tuple[Scene, ...]


class FrameSource(Protocol):
    """Delivers pictures. Opening is the constructor's work."""

    @property
    def facts(self) -> SourceFacts:
        """What it is."""
        ...

    def frames(self) -> Iterator[CapturedFrame]:
        """Every picture until it is over or closed; to be iterated over once.

        Raises:
            SourceError: it stopped and should not have.

        """
        ...

    def close(self) -> None:
        """End it; callable from any thread, more than once. `frames` ends soon after."""
        ...
