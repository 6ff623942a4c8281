"""What is believed of one figure at one instant: the seam between tracking and all that is measured from it."""

from __future__ import annotations

from dataclasses import dataclass

from downfield.core.arrays import Array
from downfield.core.footprint import Footprint
from downfield.core.scene import Jersey, Posture


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure.

    Attributes:
        id: roster id.
        jersey: its color class.
        footprint: where its base stands, with the base's size as known so far.
        covariance: of x mm, y mm and heading in radians, detection and calibration error together; shape (3, 3).
        velocity: of x and y in mm/s and of the heading in rad/s; shape (3,).
        posture: as in a scene.
        fallen: probability that it lies, 0..1.
        visible: share of the base top that is seen, 0..1.
        helmet_mm: the helmet's center brought down to the board, None when not seen.
        seen: whether this frame held evidence of it, or the last that was looked at; otherwise it is carried forward.
        sure: False when its identity is in doubt.
        fell_ns: as in a scene.
        fresh: whether this frame was looked at for it; if not, it goes on as it went.

    """

    id: str
    jersey: Jersey
    footprint: Footprint
    covariance: Array
    velocity: Array
    posture: Posture = "upright"
    fallen: float = 0.0
    visible: float = 1.0
    helmet_mm: tuple[float, float] | None = None
    seen: bool = True
    sure: bool = True
    fell_ns: int | None = None
    fresh: bool = True

    def at(self, footprint: Footprint, covariance: Array) -> Estimate:
        """The same figure, its place measured again; `dataclasses.replace` takes four times as long."""
        return Estimate(
            self.id,
            self.jersey,
            footprint,
            covariance,
            self.velocity,
            self.posture,
            self.fallen,
            self.visible,
            self.helmet_mm,
            self.seen,
            self.sure,
            self.fell_ns,
        )
