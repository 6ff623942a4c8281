"""float32 constants of the kernels."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

F: Final = np.float32
ZERO: Final = F(0)
ONE: Final = F(1)
HALF: Final = F(0.5)
TWO: Final = F(2)
FOUR: Final = F(4)
FAR: Final = F(1e9)  # mm: no hit
NEAR: Final = F(1e-3)  # mm: a ray ignores surfaces closer to its start
TINY: Final = F(1e-9)
TWO_PI: Final = F(2 * math.pi)

# Hits other than solids, in place of a solid's row.
NOTHING: Final = -1
BOARD: Final = -2
TABLE: Final = -3
