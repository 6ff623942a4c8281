"""The surface that a ray meets: its color, normal, roughness and opacity.

A solid's pattern mixes in its second color; what a pattern's values mean is said by `Material`.
"""

import math

import numpy as np

from downfield.twin.tracing.kernels import layout as col
from downfield.twin.tracing.kernels.ground import cloudy, knot, printed, surface_z, table_shade
from downfield.twin.tracing.kernels.solids import normal_at
from downfield.twin.tracing.kernels.target import BOARD, FOUR, HALF, ONE, TWO, ZERO, F, device_function

HOLLOW_RIM = F(1.3)  # mm: thickness of a base's walls, seen from below
HOLLOW_DIM = F(0.35)


# Strokes of the digits: bits of top, upper left and right, middle, lower left and right, bottom.
STROKES = (
    0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010, 0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011
)  # fmt: skip


@device_function
def in_digit(digit, x, y):
    """Return whether a point of -1..1 (right, up) lies on a digit's strokes."""
    if abs(x) > F(0.8) or abs(y) > F(0.95):
        return False
    bits = STROKES[digit]
    level, upright = 0, 0
    if abs(y) > F(0.65):
        level = bits & (64 if y > ZERO else 1)
    elif abs(y) < F(0.16):
        level = bits & 8
    if x < -F(0.38):
        upright = bits & (32 if y > ZERO else 4)
    elif x > F(0.38):
        upright = bits & (16 if y > ZERO else 2)
    return level != 0 or upright != 0


@device_function
def in_number(tens, ones, x, y):
    """Return 1 on the strokes of a number of one digit (tens below 0) or two, in -1..1 (right, up)."""
    digit, at = ones, x * TWO - ONE
    if tens < 0:
        at = x * F(1.5)
    elif x < ZERO:
        digit, at = tens, x * TWO + ONE
    return ONE if in_digit(digit, at, y) else ZERO


@device_function
def body_number(tens, ones, side, size, lx, ly, lz, a, b, c):
    """Return 1 on a number on an ellipsoid: behind (side 1), on both sides (2) or ahead (3)."""
    if abs(lx) < F(0.25) * a or (lx > ZERO and side < F(1.5)) or (lx < ZERO and side > F(2.5)):
        return ZERO
    x, y = ly / (b * size), lz / (c * size)
    return in_number(tens, ones, -x if lx < ZERO else x, y)


@device_function
def written(scale, seed, lx, ly, a, b):
    """Return 1 where a page or a screen has ink: lines of words."""
    if abs(lx) > F(0.86) * a or abs(ly) > F(0.9) * b:
        return ZERO
    row = np.int32((ly + b) * scale + F(64.0))
    if row & 1:
        return ZERO
    return ONE if knot(np.int32((lx + a) * scale * F(1.3) + F(64.0)), row, np.int32(seed)) > F(0.3) else ZERO


@device_function
def worn(wide, start, threshold, lx, ly, lz, nz, a, b, c):
    """Return how worn the upper edges of a box are at a point."""
    depth = min(a - abs(lx), b - abs(ly)) if nz >= HALF else c - lz
    if depth > wide:
        return ZERO
    n = cloudy(lx * F(0.7) + start, ly * F(0.7) + lz * F(0.7), F(29))
    return min(max((n - threshold - F(0.3) * depth / wide) * FOUR, ZERO), ONE)


@device_function
def on_top(pattern, p, q, r, wide, lx, ly, a, b):
    """Return the share of the second color of patterns on the top of a solid."""
    if pattern == 4:
        return ONE if abs(lx - p * a) < r * a and abs(ly - q * b) < wide * b else ZERO
    if pattern == 5:
        return ONE if min(a - abs(lx), b - abs(ly)) < p else ZERO
    if pattern == 7:
        return written(p, q, lx, ly, a, b)
    if pattern == 8:
        x, y = abs(lx) / a, abs(ly) / b
        corner = (x - HALF) * (x - HALF) + (y - HALF) * (y - HALF) < F(0.04)
        return ONE if corner or x * x + y * y < F(0.04) else ZERO
    across = np.int32((lx + a) * p + F(64.0)) & 1
    along = np.int32((ly + b) * p + F(64.0)) & 1
    return r if across == 1 and (q < HALF or along == 1) else ZERO


@device_function
def second_share(solids, s, lx, ly, lz, nz):
    """Return the share of a solid's second color at a point of it, 0..1; `nz` is the normal's upward part there."""
    pattern = np.int32(solids[s, col.PATTERN])
    if pattern == 0:
        return ZERO
    v = col.VALUES
    p, q, r, wide = solids[s, v], solids[s, v + 1], solids[s, v + 2], solids[s, v + 3]
    a, b, c = solids[s, col.SIZE], solids[s, col.SIZE + 1], solids[s, col.SIZE + 2]
    share = ZERO
    if pattern == 1:
        share = ONE if abs(ly - q * b) < p * b else ZERO
    elif pattern == 2:
        share = in_number(np.int32(p), np.int32(q), -ly / b if r > ZERO else ly / b, lz / c)
    elif pattern == 3:
        share = ONE if abs(lz - q * b) < p * b else ZERO
    elif pattern == 6:
        share = min(max((cloudy(lx * p + q, ly * p + lz * p, F(23)) - r) * FOUR, ZERO), ONE)
    elif pattern == 9:
        share = body_number(np.int32(p), np.int32(q), r, wide, lx, ly, lz, a, b, c)
    elif pattern == 10:
        share = worn(p, q, r, lx, ly, lz, nz, a, b, c)
    elif nz >= HALF:
        share = on_top(pattern, p, q, r, wide, lx, ly, a, b)
    return share


@device_function
def solid_surface(solids, s, px, py, pz):
    """Return color, normal, roughness, col.F0, opacity and refractive index of a solid at a point of its surface."""
    cx, cy, cz = px - solids[s, col.CENTER], py - solids[s, col.CENTER + 1], pz - solids[s, col.CENTER + 2]
    k = col.TURN
    lx = solids[s, k] * cx + solids[s, k + 3] * cy + solids[s, k + 6] * cz
    ly = solids[s, k + 1] * cx + solids[s, k + 4] * cy + solids[s, k + 7] * cz
    lz = solids[s, k + 2] * cx + solids[s, k + 5] * cy + solids[s, k + 8] * cz
    mx, my, mz = normal_at(solids, s, lx, ly, lz)
    nx = solids[s, k] * mx + solids[s, k + 1] * my + solids[s, k + 2] * mz
    ny = solids[s, k + 3] * mx + solids[s, k + 4] * my + solids[s, k + 5] * mz
    nz = solids[s, k + 6] * mx + solids[s, k + 7] * my + solids[s, k + 8] * mz
    dim = ONE
    if solids[s, col.IS_BASE] > HALF and mz < -HALF:  # hollow from below, with rows of prongs
        a, b = solids[s, col.SIZE], solids[s, col.SIZE + 1]
        if min(a - abs(lx), b - abs(ly)) > HOLLOW_RIM:
            prong = np.int32(lx * F(0.62) + F(64.0)) % 3 == 0 and F(0.28) * b < abs(ly) < F(0.6) * b
            dim = ONE if prong else HOLLOW_DIM
    second = second_share(solids, s, lx, ly, lz, mz)
    first = (ONE - second) * dim
    second *= dim
    red = solids[s, col.COLOR] * first + solids[s, col.SECOND] * second
    green = solids[s, col.COLOR + 1] * first + solids[s, col.SECOND + 1] * second
    blue = solids[s, col.COLOR + 2] * first + solids[s, col.SECOND + 2] * second
    rough, f0 = solids[s, col.ROUGH], solids[s, col.F0]
    return red, green, blue, nx, ny, nz, rough, f0, solids[s, col.OPACITY], solids[s, col.IOR]


@device_function
def ground_surface(scene, heads, counts, raster, surface_row, px, py, coarse):
    """Return the same values for the board or the table."""
    if surface_row != BOARD:
        shade, c = table_shade(scene, heads, px, py), col.TABLE_COLOR
        red, green, blue = heads[scene, c] * shade, heads[scene, c + 1] * shade, heads[scene, c + 2] * shade
        rough, f0 = heads[scene, col.TABLE_ROUGH], heads[scene, col.TABLE_F0]
        return red, green, blue, ZERO, ZERO, ONE, rough, f0, ONE, ONE
    red, green, blue = printed(scene, heads, counts, raster, px, py, coarse)
    nx, ny, nz = ZERO, ZERO, ONE
    if heads[scene, col.BOW] != ZERO:
        nx = F(0.25) * (surface_z(scene, heads, px - TWO, py) - surface_z(scene, heads, px + TWO, py))
        ny = F(0.25) * (surface_z(scene, heads, px, py - TWO) - surface_z(scene, heads, px, py + TWO))
        length = ONE / math.sqrt(nx * nx + ny * ny + ONE)
        nx, ny, nz = nx * length, ny * length, length
    return red, green, blue, nx, ny, nz, heads[scene, col.BOARD_ROUGH], heads[scene, col.BOARD_F0], ONE, ONE


@device_function
def surface(scene, heads, counts, solids, raster, surface_row, px, py, pz, coarse):
    """Return the same values for a ray's hit: a solid's row, `BOARD` or `TABLE`."""
    if surface_row >= 0:
        return solid_surface(solids, surface_row, px, py, pz)
    return ground_surface(scene, heads, counts, raster, surface_row, px, py, coarse)
