"""The seam of the renderers: a snapshot and a camera go in, a picture and what can be seen of every base come out.

A renderer draws the ideal picture: exact geometry through the whole lens, one instant, no noise. What a real camera
does to it beyond geometry is `twin.film.sensor_effects`; filming over time is `twin.film.film`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from downfield.calibration.camera import Camera
from downfield.core.arrays import Array, Image
from downfield.twin.appearance import Appearance
from downfield.twin.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class BaseTop:
    """What a picture shows of the top of one base.

    Attributes:
        id: roster id.
        corners_px: the sharp corners in the order of a footprint, shape (4, 2).
        corners_visible: which of them are in the picture with nothing before them.
        visible: share of the top's area that is seen, 0..1; 0 when it faces away.

    """

    id: str
    corners_px: Array
    corners_visible: tuple[bool, bool, bool, bool]
    visible: float


@dataclass(frozen=True, slots=True)
class RenderedFrame:
    """One picture with its truth.

    Attributes:
        t_ns: mid exposure.
        camera: lens and pose at that instant, shake included.
        image: uint8 blue green red, shape (height, width, 3).
        base_tops: one per figure, in roster order.

    """

    t_ns: int
    camera: Camera
    image: Image
    base_tops: tuple[BaseTop, ...]


class Renderer(Protocol):
    """Draws pictures of one appearance."""

    @property
    def appearance(self) -> Appearance:
        """What it draws."""
        ...

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """The ideal picture of one instant.

        Args:
            snapshot: what stands where.
            camera: lens and pose; the same lens size as the appearance's.
            t_ns: the time to stamp it with.

        """
        ...

    def close(self) -> None:
        """Give back what it holds; rendering afterwards is an error."""
        ...
