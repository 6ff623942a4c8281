"""Pictures that show their number, whatever encodes them."""

from __future__ import annotations

import numpy as np

from downfield.core.arrays import Image


def striped(number: int) -> Image:
    """Return a picture that shows a number below 256 in eight stripes, white for 1."""
    image = np.zeros((90, 160, 3), np.uint8)
    for bit in range(8):
        image[:, 20 * bit : 20 * bit + 20] = 255 * (number >> bit & 1)
    return image


def number_in_stripes(image: Image) -> int:
    """Return the number that a picture shows."""
    return sum(1 << bit for bit in range(8) if np.mean(image[:, 20 * bit : 20 * bit + 20]) > 127)
