"""Names for the array types that everything shares."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]  # Numbers: coordinates, transforms, covariances, scores

Image: TypeAlias = NDArray[np.uint8]
"""A picture, shape (height, width, 3), blue green red; or one 8-bit channel, shape (height, width)."""

Plane: TypeAlias = NDArray[np.float32]  # one channel of a picture as numbers, shape (height, width)

Bools: TypeAlias = NDArray[np.bool_]  # which elements of another array are meant

Indices: TypeAlias = NDArray[np.intp]  # rows of another array
