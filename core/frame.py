"""One frame of a camera or a recording, and the detections in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from downfield.core.arrays import Image
from downfield.core.records import Probability, record
from downfield.core.scene import SentScene

TIME_UNKNOWN_NS: Final = 1_000_000_000
"""Error of the time of a picture that came together with others, so that nothing tells when it was taken."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture and when it was taken."""

    index: int  # in its source, from 0; a gap in the indices means dropped frames
    t_ns: int
    image: Image  # uint8 blue green red, shape (height, width, 3), raw
    hum: float = 0.0  # log10 of the odds that the board is on, from a microphone; 0 without one
    t_sigma_ns: int = 0  # standard deviation of its time; 0 where nothing speaks against it
    sent: SentScene | None = None  # what another program has seen, in place of a picture; None for a camera


DetectionKind = Literal["upright", "fallen", "ball", "hand"]
Pixel = tuple[float, float]


@record
class Detection:
    """One detected figure, ball or hand, in pixels of the raw picture."""

    kind: DetectionKind  # kind of object
    score: Probability  # confidence, 0..1
    box_px: tuple[float, float, float, float]  # left, top, right, bottom; for a ball, with a margin
    # base top: front-left, front-right, rear-right, rear-left corners, as the figure faces; empty for ball or hand
    corners_px: tuple[Pixel, ...] = ()
    corner_scores: tuple[Probability, ...] = ()  # confidence per corner, 0..1: low where it is hidden
    # standard deviation of each corner, in both directions; empty where the detector gives none
    corner_sigma_px: tuple[float, ...] = ()
    helmet_px: Pixel | None = None  # center of the helmet, the ball, or a hand's fingertips; None where none is given
    helmet_score: Probability = 0.0  # its confidence, 0..1
    front_score: Probability = 1.0  # confidence that front and rear are not swapped, 0..1; 1 where none is given
