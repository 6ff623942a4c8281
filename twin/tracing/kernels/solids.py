"""Intersections of rays with boxes, ellipsoids, capsules and cylinders, and the normals there."""

import math

import numpy as np

from downfield.twin.tracing.kernels.layout import (
    BEVEL,
    BOX,
    CAPSULE,
    CENTER,
    CORNER,
    CYLINDER,
    ELLIPSOID,
    KIND,
    REACH,
    SIZE,
    TURN,
)
from downfield.twin.tracing.kernels.target import FAR, HALF, NEAR, ONE, TINY, ZERO, F, device_function


@device_function
def slab(o, d, half):
    """Return the interval in which a line is within half a width of 0: from, to."""
    if abs(d) < TINY:
        if abs(o) > half:
            return FAR, -FAR
        return -FAR, FAR
    way = ONE / d
    a, b = (-half - o) * way, (half - o) * way
    return min(a, b), max(a, b)


@device_function
def disc(ox, oy, dx, dy, radius):
    """Return the interval in which a line is within a radius of 0 in two dimensions: from, to."""
    a = dx * dx + dy * dy
    if a < F(1e-12):
        if ox * ox + oy * oy > radius * radius:
            return FAR, -FAR
        return -FAR, FAR
    b = ox * dx + oy * dy
    # From the nearest point on: the square of a far start minus a small radius would exceed float32's precision.
    near = -b / a
    px, py = ox + near * dx, oy + near * dy
    under = radius * radius - (px * px + py * py)
    if under <= ZERO:
        return FAR, -FAR
    reach = math.sqrt(under / a)
    return near - reach, near + reach


@device_function
def enter_box(ox, oy, oz, dx, dy, dz, a, b, c, r):
    """Return where a ray enters a box whose upright edges are rounded; `FAR` if it does not."""
    z0, z1 = slab(oz, dz, c)
    x0, x1 = slab(ox, dx, a)
    y0, y1 = slab(oy, dy, b)
    into, out = max(z0, max(x0, y0)), min(z1, min(x1, y1))
    if into >= out:
        return FAR
    if r > ZERO:
        low, high = FAR, -FAR
        n0, n1 = slab(ox, dx, a - r)
        s0, s1 = max(n0, y0), min(n1, y1)
        if s0 < s1:
            low, high = s0, s1
        n0, n1 = slab(oy, dy, b - r)
        s0, s1 = max(n0, x0), min(n1, x1)
        if s0 < s1:
            low, high = min(low, s0), max(high, s1)
        for corner in range(4):
            cx = a - r if corner & 1 else r - a
            cy = b - r if corner & 2 else r - b
            s0, s1 = disc(ox - cx, oy - cy, dx, dy, r)
            if s0 < s1:
                low, high = min(low, s0), max(high, s1)
        into, out = max(z0, low), min(z1, high)
        if into >= out:
            return FAR
    return into


@device_function
def enter_ellipsoid(ox, oy, oz, dx, dy, dz, a, b, c):
    """Return where a ray enters an ellipsoid."""
    ia, ib, ic = ONE / a, ONE / b, ONE / c
    ox, oy, oz, dx, dy, dz = ox * ia, oy * ib, oz * ic, dx * ia, dy * ib, dz * ic
    q = dx * dx + dy * dy + dz * dz
    near = -(ox * dx + oy * dy + oz * dz) / q
    px, py, pz = ox + near * dx, oy + near * dy, oz + near * dz
    under = ONE - (px * px + py * py + pz * pz)
    if under <= ZERO:
        return FAR
    return near - math.sqrt(under / q)


@device_function
def enter_capsule(ox, oy, oz, dx, dy, dz, r, h):
    """Return where a ray enters a capsule about the z axis."""
    into = FAR
    c0, c1 = disc(ox, oy, dx, dy, r)
    if c0 >= c1:
        return FAR
    z0, z1 = slab(oz, dz, h)
    if max(c0, z0) < min(c1, z1):
        into = max(c0, z0)
    for end in range(2):
        mz = oz - h if end else oz + h
        near = -(ox * dx + oy * dy + mz * dz)
        px, py, pz = ox + near * dx, oy + near * dy, mz + near * dz
        under = r * r - (px * px + py * py + pz * pz)
        if under > ZERO:
            into = min(into, near - math.sqrt(under))
    return into


@device_function
def enter(solids, s, ox, oy, oz, dx, dy, dz):
    """Return where a ray enters a solid, mm along the ray; `FAR` if it does not, or starts inside."""
    ox, oy, oz = ox - solids[s, CENTER], oy - solids[s, CENTER + 1], oz - solids[s, CENTER + 2]
    near = -(ox * dx + oy * dy + oz * dz)
    px, py, pz = ox + near * dx, oy + near * dy, oz + near * dz
    reach = solids[s, REACH]
    if px * px + py * py + pz * pz > reach * reach or near + reach < NEAR:
        return FAR
    # From the nearest point on: with a start a meter away float32 is too coarse for a base's rounding.
    t = TURN
    lx = solids[s, t] * px + solids[s, t + 3] * py + solids[s, t + 6] * pz
    ly = solids[s, t + 1] * px + solids[s, t + 4] * py + solids[s, t + 7] * pz
    lz = solids[s, t + 2] * px + solids[s, t + 5] * py + solids[s, t + 8] * pz
    mx = solids[s, t] * dx + solids[s, t + 3] * dy + solids[s, t + 6] * dz
    my = solids[s, t + 1] * dx + solids[s, t + 4] * dy + solids[s, t + 7] * dz
    mz = solids[s, t + 2] * dx + solids[s, t + 5] * dy + solids[s, t + 8] * dz
    kind, a, b, c = np.int32(solids[s, KIND]), solids[s, SIZE], solids[s, SIZE + 1], solids[s, SIZE + 2]
    into = FAR
    if kind == BOX:
        into = enter_box(lx, ly, lz, mx, my, mz, a, b, c, solids[s, CORNER])
    elif kind == ELLIPSOID:
        into = enter_ellipsoid(lx, ly, lz, mx, my, mz, a, b, c)
    elif kind == CAPSULE:
        into = enter_capsule(lx, ly, lz, mx, my, mz, a, b)
    else:
        c0, c1 = disc(lx, ly, mx, my, a)
        z0, z1 = slab(lz, mz, b)
        if max(c0, z0) < min(c1, z1):
            into = max(c0, z0)
    if into >= FAR or into + near < NEAR:
        return FAR
    return into + near


@device_function
def normal_at(solids, s, lx, ly, lz):
    """Return the normal on a solid, in its own frame; edges of boxes are shaded as bevels."""
    kind, a, b, c = np.int32(solids[s, KIND]), solids[s, SIZE], solids[s, SIZE + 1], solids[s, SIZE + 2]
    if kind == ELLIPSOID:
        nx, ny, nz = lx / (a * a), ly / (b * b), lz / (c * c)
        length = ONE / math.sqrt(nx * nx + ny * ny + nz * nz)
        return nx * length, ny * length, nz * length
    if kind == CAPSULE:
        mz = lz - min(max(lz, -b), b)
        length = ONE / max(math.sqrt(lx * lx + ly * ly + mz * mz), TINY)
        return lx * length, ly * length, mz * length
    up = ONE if lz > ZERO else -ONE
    if kind == CYLINDER:
        radius = max(math.sqrt(lx * lx + ly * ly), TINY)
        aside_x, aside_y, depth, under = lx / radius, ly / radius, a - radius, b - abs(lz)
    else:
        r = solids[s, CORNER]
        qx, qy = abs(lx) - (a - r), abs(ly) - (b - r)
        sx = ONE if lx > ZERO else -ONE
        sy = ONE if ly > ZERO else -ONE
        if r > ZERO and qx > ZERO and qy > ZERO:
            q = max(math.sqrt(qx * qx + qy * qy), TINY)
            aside_x, aside_y, depth = sx * qx / q, sy * qy / q, r - q
        elif a - abs(lx) < b - abs(ly):
            aside_x, aside_y, depth = sx, ZERO, a - abs(lx)
        else:
            aside_x, aside_y, depth = ZERO, sy, b - abs(ly)
        under = c - abs(lz)
    wide = solids[s, BEVEL]
    flat = under < depth
    lean = ZERO if flat else ONE
    if wide > ZERO and flat and depth < wide:
        lean = HALF * (ONE - depth / wide)
    elif wide > ZERO and not flat and under < wide:
        lean = HALF + HALF * under / wide
    nx, ny, nz = aside_x * lean, aside_y * lean, up * (ONE - lean)
    length = ONE / math.sqrt(nx * nx + ny * ny + nz * nz)
    return nx * length, ny * length, nz * length
