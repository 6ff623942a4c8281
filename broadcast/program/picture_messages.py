"""The messages between the live loop and the process that draws the program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from downfield.broadcast.program.live_stream import Part
from downfield.broadcast.program.program_options import ProgramOptions
from downfield.broadcast.program.program_painter import ProgramMoment
from downfield.calibration.camera import Camera
from downfield.core.scene import Scene


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """Requests a picture of the program.

    Attributes:
        t_ns: when it was captured.
        scene: what was seen in it.
        camera: where it was; None for as calibrated.
        moment, options: as of `ProgramPainter.draw`.
        film: whether it is a picture of the film.
        picture: whether it is shown as a picture.
    """

    t_ns: int
    scene: Scene
    camera: Camera | None
    moment: ProgramMoment
    options: ProgramOptions
    film: bool
    picture: bool


@dataclass(frozen=True, slots=True)
class SharedRequest:
    """A request whose picture lies in shared memory.

    Attributes:
        shape: of the picture.
        request: what is drawn.
    """

    shape: tuple[int, ...]
    request: DrawRequest


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a take of the film."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Jpeg:
    """A picture."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Failed:
    """Why something could not be drawn or encoded, as a phrase."""

    cause: str


class Sign(Enum):
    """A message without content."""

    DRAWN = "the shared picture is not needed any more"
    END = "the take has ended: nobody asked for it"


Message = Header | Part | Jpeg | Failed | Sign
