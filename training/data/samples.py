"""Batches of the timed runs: frames for the detector and patches for the refiner, labeled, turned and relit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import torch
from torch import Tensor

from downfield.models.refiner import MIRRORED_CORNERS, ROTATED_POINTS

UPRIGHT: Final = 0
FALLEN: Final = 1
BALL: Final = 2
HAND: Final = 3  # kinds of objects, as rows of `downfield.models.card.KINDS`

MOST_OBJECTS: Final = 40  # in one picture


class FrameSamples(NamedTuple):
    """Pictures of the detector's scale; pixels have their centers at whole numbers."""

    image: Tensor  # uint8 blue green red, shape (n, height, width, 3)
    kinds: Tensor  # of the objects, -1 for none, shape (n, k)
    # x, y, flag (0 unknown, 1 hidden, 2 visible) of five keypoints, (n, k, 5, 3); balls and hands have only the last
    points: Tensor
    boxes: Tensor  # left, top, right, bottom, shape (n, k, 4)
    shown: Tensor  # visible share of figures' base tops and of balls, shape (n, k)


class PatchSamples(NamedTuple):
    """Patches of the refiner's scale; pixels have their centers at whole numbers."""

    image: Tensor  # uint8 blue green red, shape (n, 64, 64, 3)
    points: Tensor  # five keypoints in the patch's order, px, shape (n, 5, 2)
    flags: Tensor  # 0 unknown, 1 hidden, 2 visible, shape (n, 5)
    flip: Tensor  # whether the figure faces the patch's -x, 0 or 1, shape (n,)
    fallen: Tensor  # whether it has fallen, likewise
    figure: Tensor  # whether a figure is there at all, likewise
    ball: Tensor  # x, y of the ball's center and its visible share, 0 for no ball, shape (n, 3)


Samples = TypeVar("Samples", FrameSamples, PatchSamples)


def frame_samples(batch: tuple[Tensor, ...]) -> FrameSamples:
    """Return frames with exactly `MOST_OBJECTS` rows of objects, existing ones first, without NaN."""
    frames = FrameSamples(*batch[: len(FrameSamples._fields)])
    order = (frames.kinds < 0).to(torch.uint8).argsort(dim=1, stable=True)[:, :MOST_OBJECTS]
    missing = MOST_OBJECTS - order.shape[1]
    parts = []
    for part, empty in zip(frames[1:], (-1, 0.0, 0.0, 0.0), strict=True):
        index = order.reshape(*order.shape, *[1] * (part.ndim - 2)).expand(-1, -1, *part.shape[2:])
        room = torch.full((len(part), missing, *part.shape[2:]), empty, dtype=part.dtype)
        parts.append(torch.cat([part.gather(1, index), room], dim=1).nan_to_num(0.0))
    return FrameSamples(frames.image, *parts)


def patch_samples(batch: tuple[Tensor, ...]) -> PatchSamples:
    """Return patches without NaN."""
    parts = batch[: len(PatchSamples._fields)]
    return PatchSamples(*(part.nan_to_num(0.0) if part.is_floating_point() else part for part in parts))


def joined(samples: Sequence[Samples]) -> Samples:
    """Return the rows of one or more batches as one batch."""
    return type(samples[0])(*(torch.cat(parts) for parts in zip(*samples, strict=True)))


def as_input(image: Tensor) -> Tensor:
    """Return pictures (n, height, width, 3), bytes or 0..1, blue green red, as the networks take them in training."""
    shades = image if image.is_floating_point() else image.float() / 255
    return shades.flip(3).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


_MIRRORED: Final = (*MIRRORED_CORNERS, 4)
_LIT_CHANCE: Final = 0.6  # share of the pictures under other light
_BRIGHTNESS: Final = (0.75, 1.3)
_GAMMA: Final = (0.8, 1.25)
_SATURATION: Final = (0.7, 1.3)
_GAIN: Final = 0.04  # standard deviation of a channel's gain
_NOISE: Final = 4.0  # most, of 255
_NOISY_CHANCE: Final = 0.4


def varied_frames(frames: FrameSamples) -> FrameSamples:
    """Return square frames, each eighth of them in another of the square's eight positions, relit."""
    eighths = enumerate(_shared_out(frames, 8))
    whole = joined([turn_frames(part, way // 2, mirrored=way % 2 > 0) for way, part in eighths])
    return whole._replace(image=relight(whole.image))


def _shared_out(samples: Samples, ways: int) -> list[Samples]:
    """Return the rows of a batch in that many parts, or in as many as there are rows."""
    parts = zip(*(part.tensor_split(ways) for part in samples), strict=True)
    return [type(samples)(*rows) for rows in itertools.islice(parts, len(samples.image))]


def turn_frames(frames: FrameSamples, quarters: int, *, mirrored: bool) -> FrameSamples:
    """Return square frames, first mirrored left to right, then turned counter-clockwise by quarter turns."""
    image, points, boxes = frames.image, frames.points, frames.boxes
    last = image.shape[2] - 1
    if mirrored:
        image = image.flip(2)
        points = points[:, :, _MIRRORED]
        points = torch.cat([last - points[..., :1], points[..., 1:]], dim=-1)
        boxes = torch.stack([last - boxes[..., 2], boxes[..., 1], last - boxes[..., 0], boxes[..., 3]], dim=-1)
    for _ in range(quarters % 4):
        points = torch.stack([points[..., 1], last - points[..., 0], points[..., 2]], dim=-1)
        boxes = torch.stack([boxes[..., 1], last - boxes[..., 2], boxes[..., 3], last - boxes[..., 0]], dim=-1)
    return frames._replace(image=torch.rot90(image, quarters, (1, 2)), points=points, boxes=boxes)


def varied_patches(patches: PatchSamples) -> PatchSamples:
    """Return patches, each quarter of them in another of the four positions that keep bases lengthwise, relit."""
    quarters = enumerate(_shared_out(patches, 4))
    whole = joined([turn_patches(part, rotated=way // 2 > 0, mirrored=way % 2 > 0) for way, part in quarters])
    return whole._replace(image=relight(whole.image))


def turn_patches(patches: PatchSamples, *, rotated: bool, mirrored: bool) -> PatchSamples:
    """Return patches rotated by half a turn, then mirrored top to bottom."""
    image, points, flags, flip = patches.image, patches.points, patches.flags, patches.flip
    ball, last = patches.ball, image.shape[2] - 1
    if rotated:
        image, flags, flip = image.flip(1, 2), flags[:, ROTATED_POINTS], 1 - flip
        points = (last - points)[:, ROTATED_POINTS]
        ball = torch.cat([last - ball[:, :2], ball[:, 2:]], dim=1)
    if mirrored:
        image, flags = image.flip(1), flags[:, _MIRRORED]
        points = torch.stack([points[..., 0], last - points[..., 1]], dim=-1)[:, _MIRRORED]
        ball = torch.stack([ball[:, 0], last - ball[:, 1], ball[:, 2]], dim=-1)
    return patches._replace(image=image, points=points, flags=flags, flip=flip, ball=ball)


def relight(image: Tensor) -> Tensor:
    """Return pictures, uint8 (n, height, width, 3), under other light and through another sensor, 0..1.

    A part of them stays as it is.
    """

    def drawn(low: float, high: float) -> Tensor:
        return torch.empty((len(image), 1, 1, 1)).uniform_(low, high)

    shades = image.float() / 255
    gain = drawn(*_BRIGHTNESS) * (1 + _GAIN * torch.randn((len(image), 1, 1, 3)))
    noise = drawn(0, _NOISE / 255) * (drawn(0, 1) < _NOISY_CHANCE)
    lit = shades.clamp(min=1 / 512).pow(drawn(*_GAMMA)) * gain
    gray = lit.mean(dim=3, keepdim=True)
    lit = gray + (lit - gray) * drawn(*_SATURATION)
    lit = lit + noise * torch.randn_like(lit)
    return torch.where(drawn(0, 1) < _LIT_CHANCE, lit.clamp(0, 1), shades)
