"""One picture of a camera or a recording, with its place in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from downfield.core.arrays import Image
from downfield.core.records import record


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture.

    Attributes:
        index: in its source, from 0; a gap in the indices is frames that were lost.
        t_ns: capture time.
        image: uint8 blue green red, shape (height, width, 3), raw.
        hum: decades by which a microphone makes it likelier that the board is on than off, as of `power_hum.Hum`; 0
            where there is none.

    """

    index: int
    t_ns: int
    image: Image
    hum: float = 0.0


DetectionKind = Literal["upright", "fallen", "ball", "hand"]
Pixel = tuple[float, float]


@record
class Detection:
    """One thing seen.

    Attributes:
        kind: what it is.
        score: confidence, 0..1.
        box_px: left, top, right, bottom; of a ball with some room about it.
        corners_px: the base top's front-left, front-right, rear-right, rear-left corners, as the figure faces; empty
            for what has no base.
        corner_scores: confidence per corner, 0..1: low where it is hidden.
        corner_sigma_px: standard deviation of each corner, in both directions; empty where the detector doesn't tell.
        helmet_px: center of the helmet; of a ball its own, of a hand its fingertips; None where it is not told.
        helmet_score: its confidence, 0..1.
        front_score: confidence that the front is the front and not the rear; 1 where the detector doesn't tell.

    """

    kind: DetectionKind
    score: float
    box_px: tuple[float, float, float, float]
    corners_px: tuple[Pixel, ...] = ()
    corner_scores: tuple[float, ...] = ()
    corner_sigma_px: tuple[float, ...] = ()
    helmet_px: Pixel | None = None
    helmet_score: float = 0.0
    front_score: float = 1.0
