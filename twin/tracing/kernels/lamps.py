"""Light that arrives at a surface, from the lamps and from the surroundings.

One lamp is sampled in proportion to its strength, with shadow and highlight. The ambient light depends on direction: a
sky that may be brighter above, and bright parts of the surroundings.
"""

import math

from downfield.twin.tracing.kernels.layout import (
    I_LAMPS,
    LAMP_PICK,
    LAMP_PLACE,
    LAMP_ROUND,
    LAMP_SIZE,
    LAMP_U,
    LAMP_V,
    LAMPS,
    LOBE_COLOR,
    LOBE_POWER,
    LOBE_SIZE,
    LOBE_TOWARD,
    LOBES,
    MOST_LOBES,
    SKY,
    SKY_RISE,
)  # fmt: skip
from downfield.twin.tracing.kernels.solids import passing
from downfield.twin.tracing.kernels.target import FOUR, HALF, ONE, TINY, TWO, TWO_PI, ZERO, F, device_function

BRIGHTEST_GLINT = F(60.0)


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


@device_function
def sampled_lamp(scene, heads, counts, pick):
    """Return the column of a lamp chosen in proportion to its strength, and the inverse of its probability."""
    lamp, low = 0, ZERO
    while lamp < counts[scene, I_LAMPS] - 1 and pick >= heads[scene, LAMPS + lamp * LAMP_SIZE + LAMP_PICK]:
        low = heads[scene, LAMPS + lamp * LAMP_SIZE + LAMP_PICK]
        lamp += 1
    at = LAMPS + lamp * LAMP_SIZE
    return at, ONE / max(heads[scene, at + LAMP_PICK] - low, F(1e-4))


@device_function
def glint_of(scene, heads, at, px, py, pz, dx, dy, dz, nx, ny, nz, reach, rough, f0):
    """Return a lamp's highlight (GGX, Walter et al. 2007), as from its middle, and Fresnel's share."""
    p, q, r = at + LAMP_PLACE, at + LAMP_U, at + LAMP_V
    bx, by, bz = heads[scene, p] - px, heads[scene, p + 1] - py, heads[scene, p + 2] - pz
    length = ONE / max(math.sqrt(bx * bx + by * by + bz * bz), ONE)
    hx, hy, hz = bx * length - dx, by * length - dy, bz * length - dz
    length = ONE / max(math.sqrt(hx * hx + hy * hy + hz * hz), TINY)
    hx, hy, hz = hx * length, hy * length, hz * length
    nh, lh = nx * hx + ny * hy + nz * hz, max(-(dx * hx + dy * hy + dz * hz), F(0.1))
    wide2 = ZERO
    for k in range(3):
        wide2 += heads[scene, q + k] * heads[scene, q + k] + heads[scene, r + k] * heads[scene, r + k]
    alpha = min(max(rough * rough, F(0.004)) + F(0.3) * math.sqrt(wide2) / reach, ONE)
    alpha *= alpha
    spread = nh * nh * (alpha - ONE) + ONE
    graze = ONE - lh
    fresnel = f0 + (ONE - f0) * graze * graze * graze * graze * graze
    return min(fresnel * alpha / (FOUR * lh * lh * spread * spread), BRIGHTEST_GLINT), fresnel


@device_function
def lamp_light(
    scene, heads, counts, solids, groups, members, cells, lists,
    px, py, pz, dx, dy, dz, nx, ny, nz, rough, f0, skip, pick, u, w,
):  # fmt: skip
    """Return one sampled lamp's column, its light on the surface, its highlight, and Fresnel's share."""
    at, odds = sampled_lamp(scene, heads, counts, pick)
    if heads[scene, at + LAMP_ROUND] > HALF:
        radius = math.sqrt(u)
        u, w = radius * math.cos(TWO_PI * w), radius * math.sin(TWO_PI * w)
    else:
        u, w = TWO * u - ONE, TWO * w - ONE
    p, q, r = at + LAMP_PLACE, at + LAMP_U, at + LAMP_V
    tx = heads[scene, p] + u * heads[scene, q] + w * heads[scene, r] - px
    ty = heads[scene, p + 1] + u * heads[scene, q + 1] + w * heads[scene, r + 1] - py
    tz = heads[scene, p + 2] + u * heads[scene, q + 2] + w * heads[scene, r + 2] - pz
    far2 = max(tx * tx + ty * ty + tz * tz, ONE)
    reach = math.sqrt(far2)
    tx, ty, tz = tx / reach, ty / reach, tz / reach
    facing = nx * tx + ny * ty + nz * tz
    if facing <= ZERO:
        return at, ZERO, ZERO, ZERO
    light = passing(scene, heads, counts, solids, groups, members, cells, lists, px, py, pz, tx, ty, tz, reach, skip)
    if light <= ZERO:
        return at, ZERO, ZERO, ZERO
    glint, fresnel = glint_of(scene, heads, at, px, py, pz, dx, dy, dz, nx, ny, nz, reach, rough, f0)
    return at, light * odds * facing / far2, glint, fresnel
