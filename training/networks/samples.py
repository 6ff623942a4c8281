"""Batches of training pictures: frames for the detector and patches for the refiner, with what is true of them."""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from downfield.models.frame_detector import GRAY

UPRIGHT: Final = 0
FALLEN: Final = 1
BALL: Final = 2
HAND: Final = 3
"""Kinds of objects, as rows of `downfield.models.card.KINDS`."""

MOST_OBJECTS: Final = 40
"""In one picture."""

_SIDES_PX: Final = 32  # of the detector's input: multiples of this


class FrameSamples(NamedTuple):
    """Pictures of the detector's scale; pixels have their centers at whole numbers.

    Attributes:
        image: uint8 blue green red, shape (n, height, width, 3).
        kinds: of the objects, -1 for none, shape (n, k).
        points: x, y and flag (0 unknown, 1 hidden, 2 visible) of five keypoints, shape (n, k, 5, 3); balls and hands
            have only the last.
        boxes: left, top, right, bottom, shape (n, k, 4).
        shown: visible share of figures' base tops and of balls, shape (n, k).

    """

    image: Tensor
    kinds: Tensor
    points: Tensor
    boxes: Tensor
    shown: Tensor


class PatchSamples(NamedTuple):
    """Patches of the refiner's scale; pixels have their centers at whole numbers.

    Attributes:
        image: uint8 blue green red, shape (n, 64, 64, 3).
        points: five keypoints in the patch's order, px, shape (n, 5, 2).
        flags: 0 unknown, 1 hidden, 2 visible, shape (n, 5).
        flip: whether the figure faces the patch's -x, 0 or 1, shape (n,).
        fallen: whether it has fallen, likewise.
        figure: whether a figure is there at all, likewise.
        ball: x, y of the ball's center and its visible share, 0 for no ball, shape (n, 3).

    """

    image: Tensor
    points: Tensor
    flags: Tensor
    flip: Tensor
    fallen: Tensor
    figure: Tensor
    ball: Tensor


def frame_samples(batch: tuple[Tensor, ...]) -> FrameSamples:
    """Return frames with exactly `MOST_OBJECTS` rows of objects, existing ones first, without NaN."""
    frames = FrameSamples(*batch[: len(FrameSamples._fields)])
    order = (frames.kinds < 0).to(torch.uint8).argsort(dim=1, stable=True)[:, :MOST_OBJECTS]
    missing = MOST_OBJECTS - order.shape[1]
    parts = []
    for part, empty in zip(frames[1:], (-1, 0.0, 0.0, 0.0), strict=True):
        index = order.reshape(*order.shape, *[1] * (part.ndim - 2)).expand(-1, -1, *part.shape[2:])
        room = torch.full((len(part), missing, *part.shape[2:]), empty, dtype=part.dtype, device=part.device)
        parts.append(torch.cat([part.gather(1, index), room], dim=1).nan_to_num(0.0))
    return FrameSamples(frames.image, *parts)


def patch_samples(batch: tuple[Tensor, ...]) -> PatchSamples:
    """Return patches without NaN."""
    parts = batch[: len(PatchSamples._fields)]
    return PatchSamples(*(part.nan_to_num(0.0) if part.is_floating_point() else part for part in parts))


def letterboxed(frames: FrameSamples) -> FrameSamples:
    """Return whole pictures with gray below and beside them, up to sides that the detector takes."""
    height, width = frames.image.shape[1:3]
    room = (0, 0, 0, -width % _SIDES_PX, 0, -height % _SIDES_PX)
    return frames._replace(image=pad(frames.image, room, value=GRAY))


def as_input(image: Tensor) -> Tensor:
    """Return pictures (n, height, width, 3), bytes or 0..1, blue green red, as the networks take them in training."""
    shades = image if image.is_floating_point() else image.float() / 255
    return shades.flip(3).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
