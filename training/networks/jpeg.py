"""The losses of a JPEG in torch: 8 x 8 blocks, quantized by the tables of ITU-T T.81, annex K; colors at half size."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

LOSSLESS_QUALITY: Final = 99.5
"""From this quality on nothing is lost."""

_LUMA: Final = (
    "16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62 "
    "18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99"
)
_CHROMA: Final = (
    "17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99 " + "99 " * 32
)


def through_jpeg(pictures: Tensor, quality: Tensor) -> Tensor:
    """Return pictures as a JPEG of each one's quality keeps them.

    Args:
        pictures: red green blue, 0..255, float (n, 3, height, width); a block begins at the first pixel.
        quality: 1..100, shape (n,), as libjpeg counts it.

    """
    height, width = pictures.shape[2:]
    x = functional.pad(pictures, (0, -width % 16, 0, -height % 16), mode="replicate")
    dct, luma, chroma = _tables(x.device)
    bounded = quality.clamp(1, 100)
    scale = torch.where(bounded < 50, 5000 / bounded, 200 - 2 * bounded)[:, None, None] / 100
    luma_steps, chroma_steps = ((table * scale).round().clamp(1, 255) for table in (luma, chroma))
    y = 0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2]
    colors = torch.stack([(x[:, 2] - y) * 0.564, (x[:, 0] - y) * 0.713], dim=1)
    y = _quantized(y[:, None] - 128, luma_steps, dct)[:, 0] + 128
    colors = _quantized(functional.avg_pool2d(colors, 2), chroma_steps, dct)
    blue, red = functional.interpolate(colors, scale_factor=2, mode="bilinear", align_corners=False).unbind(dim=1)
    kept = torch.stack([y + 1.403 * red, y - 0.344 * blue - 0.714 * red, y + 1.773 * blue], dim=1)
    return torch.where((quality >= LOSSLESS_QUALITY)[:, None, None, None], pictures, kept[:, :, :height, :width])


def _quantized(planes: Tensor, steps: Tensor, dct: Tensor) -> Tensor:
    """Return planes (n, c, height, width) without what the steps, (n, 8, 8), leave out of their blocks."""
    n, c, height, width = planes.shape
    blocks = planes.reshape(n, c, height // 8, 8, width // 8, 8).permute(0, 1, 2, 4, 3, 5)
    size = steps[:, None, None, None]
    kept = ((dct @ blocks @ dct.T) / size).round() * size
    return (dct.T @ kept @ dct).permute(0, 1, 2, 4, 3, 5).reshape(n, c, height, width)


@lru_cache(maxsize=8)
def _tables(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the matrix of the cosine transform, and the steps of quality 50 for brightness and color."""
    k = np.arange(8)
    dct = np.sqrt(2 / 8) * np.cos((2 * k[None] + 1) * k[:, None] * np.pi / 16)
    dct[0] /= np.sqrt(2)
    steps = [np.array(text.split(), dtype=np.float32).reshape(8, 8) for text in (_LUMA, _CHROMA)]
    matrix, luma, chroma = (torch.from_numpy(table.astype(np.float32)).to(device) for table in (dct, *steps))
    return matrix, luma, chroma
