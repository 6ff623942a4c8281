"""Ambient light by direction: a sky that may be brighter above, and bright parts of the surroundings."""

import math

from downfield.twin.tracing.kernels.numbers import ONE, ZERO, F
from downfield.twin.tracing.layout import (
    LOBE_COLOR,
    LOBE_POWER,
    LOBE_SIZE,
    LOBE_TOWARD,
    LOBES,
    MOST_LOBES,
    SKY,
    SKY_RISE,
)
from downfield.twin.tracing.target import device_function


@device_function
def sky(scene, heads, dx, dy, dz):
    """Return the light from a direction in which there is nothing: red, green, blue."""
    rise = ONE + heads[scene, SKY_RISE] * dz
    red, green, blue = heads[scene, SKY] * rise, heads[scene, SKY + 1] * rise, heads[scene, SKY + 2] * rise
    for lobe in range(MOST_LOBES):
        at = LOBES + lobe * LOBE_SIZE
        t, c = at + LOBE_TOWARD, at + LOBE_COLOR
        along = heads[scene, t] * dx + heads[scene, t + 1] * dy + heads[scene, t + 2] * dz
        if along > ZERO:
            bright = math.exp(heads[scene, at + LOBE_POWER] * math.log(max(along, F(1e-6))))
            red += bright * heads[scene, c]
            green += bright * heads[scene, c + 1]
            blue += bright * heads[scene, c + 2]
    return max(red, ZERO), max(green, ZERO), max(blue, ZERO)
