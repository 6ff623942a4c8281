"""Patterns of solids: the share of the second color at a point of a surface. Their values are those of `Material`."""

import numpy as np

from downfield.twin.tracing.kernels.ground import cloudy, knot
from downfield.twin.tracing.kernels.numbers import FOUR, HALF, ONE, TWO, ZERO, F
from downfield.twin.tracing.layout import PATTERN, SIZE, VALUES
from downfield.twin.tracing.target import device_function


@device_function
def strokes(digit):
    """Return the strokes of a digit: bits of top, upper left and right, middle, lower left and right, bottom."""
    if digit == 0:
        return 0b1110111
    if digit == 1:
        return 0b0010010
    if digit == 2:
        return 0b1011101
    if digit == 3:
        return 0b1011011
    if digit == 4:
        return 0b0111010
    if digit == 5:
        return 0b1101011
    if digit == 6:
        return 0b1101111
    if digit == 7:
        return 0b1010010
    if digit == 8:
        return 0b1111111
    return 0b1111011


@device_function
def in_digit(digit, x, y):
    """Return whether a point of -1..1 (right, up) lies on a digit's strokes."""
    if abs(x) > F(0.8) or abs(y) > F(0.95):
        return False
    bits = strokes(digit)
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
    n = cloudy(lx * F(0.7) + start, ly * F(0.7) + lz * F(0.7), 29)
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
    pattern = np.int32(solids[s, PATTERN])
    if pattern == 0:
        return ZERO
    p, q, r, wide = solids[s, VALUES], solids[s, VALUES + 1], solids[s, VALUES + 2], solids[s, VALUES + 3]
    a, b, c = solids[s, SIZE], solids[s, SIZE + 1], solids[s, SIZE + 2]
    share = ZERO
    if pattern == 1:
        share = ONE if abs(ly - q * b) < p * b else ZERO
    elif pattern == 2:
        share = in_number(np.int32(p), np.int32(q), -ly / b if r > ZERO else ly / b, lz / c)
    elif pattern == 3:
        share = ONE if abs(lz - q * b) < p * b else ZERO
    elif pattern == 6:
        share = min(max((cloudy(lx * p + q, ly * p + lz * p, 23) - r) * FOUR, ZERO), ONE)
    elif pattern == 9:
        share = body_number(np.int32(p), np.int32(q), r, wide, lx, ly, lz, a, b, c)
    elif pattern == 10:
        share = worn(p, q, r, lx, ly, lz, nz, a, b, c)
    elif nz >= HALF:
        share = on_top(pattern, p, q, r, wide, lx, ly, a, b)
    return share
