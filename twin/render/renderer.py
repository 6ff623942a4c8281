"""The interface of the renderers: from a snapshot and a camera to a picture and the visible part of every base.

A renderer draws the ideal picture: exact geometry through the whole lens, one instant, no noise.
`twin.film.sensor_effects` adds the effects of a real camera; `twin.film.film` films over time.
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
    """The top of one base in a picture.

    Attributes:
        id: roster id.
        corners_px: the sharp corners in the order of a footprint, shape (4, 2).
        corners_visible: whether each of them is in the picture and not occluded.
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
        """The appearance that it draws."""
        ...

    def render(self, snapshot: Snapshot, camera: Camera, *, t_ns: int) -> RenderedFrame:
        """Return the ideal picture of one instant.

        Args:
            snapshot: of the table.
            camera: lens and pose; the same lens size as the appearance's.
            t_ns: the time to stamp it with.

        """
        ...

    def close(self) -> None:
        """Release all resources; rendering afterwards is an error."""
        ...
