"""Rays against solids: boxes, ellipsoids, capsules and cylinders, their normals, and a walk through the grid of groups.

The walk finds the first solid that a ray meets, and how much light passes on the way to a lamp.
"""

import math

import numpy as np

from downfield.twin.tracing.kernels import layout as col
from downfield.twin.tracing.kernels.layout import BOX, CAPSULE, CYLINDER, ELLIPSOID
from downfield.twin.tracing.kernels.target import FAR, HALF, NEAR, NOTHING, ONE, TINY, ZERO, F, device_function

MOST_CELLS = 512  # along a ray
SURFACE = F(0.92)  # share of the light that a clear base's surface lets through
DARK = F(0.02)


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
    ox, oy, oz = ox - solids[s, col.CENTER], oy - solids[s, col.CENTER + 1], oz - solids[s, col.CENTER + 2]
    near = -(ox * dx + oy * dy + oz * dz)
    px, py, pz = ox + near * dx, oy + near * dy, oz + near * dz
    reach = solids[s, col.REACH]
    if px * px + py * py + pz * pz > reach * reach or near + reach < NEAR:
        return FAR
    # From the nearest point on: with a start a meter away float32 is too coarse for a base's rounding.
    t = col.TURN
    lx = solids[s, t] * px + solids[s, t + 3] * py + solids[s, t + 6] * pz
    ly = solids[s, t + 1] * px + solids[s, t + 4] * py + solids[s, t + 7] * pz
    lz = solids[s, t + 2] * px + solids[s, t + 5] * py + solids[s, t + 8] * pz
    mx = solids[s, t] * dx + solids[s, t + 3] * dy + solids[s, t + 6] * dz
    my = solids[s, t + 1] * dx + solids[s, t + 4] * dy + solids[s, t + 7] * dz
    mz = solids[s, t + 2] * dx + solids[s, t + 5] * dy + solids[s, t + 8] * dz
    kind, a, b, c = np.int32(solids[s, col.KIND]), solids[s, col.SIZE], solids[s, col.SIZE + 1], solids[s, col.SIZE + 2]
    into = FAR
    if kind == BOX:
        into = enter_box(lx, ly, lz, mx, my, mz, a, b, c, solids[s, col.CORNER])
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
    kind, a, b, c = np.int32(solids[s, col.KIND]), solids[s, col.SIZE], solids[s, col.SIZE + 1], solids[s, col.SIZE + 2]
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
        r = solids[s, col.CORNER]
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
    wide = solids[s, col.BEVEL]
    flat = under < depth
    lean = ZERO if flat else ONE
    if wide > ZERO and flat and depth < wide:
        lean = HALF * (ONE - depth / wide)
    elif wide > ZERO and not flat and under < wide:
        lean = HALF + HALF * under / wide
    nx, ny, nz = aside_x * lean, aside_y * lean, up * (ONE - lean)
    length = ONE / math.sqrt(nx * nx + ny * ny + nz * nz)
    return nx * length, ny * length, nz * length


@device_function
def inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most):
    """Return the interval of a ray over the grid and below the highest solid: from, to; from >= to if there is none."""
    into, out = ZERO, most
    if abs(dz) > TINY:
        a, b = (heads[scene, col.TOP_Z] - oz) / dz, (heads[scene, col.TABLE_Z] - oz) / dz
        into, out = max(into, min(a, b)), min(out, max(a, b))
    cell = heads[scene, col.CELL]
    half_x, half_y = HALF * cell * F(counts[scene, col.I_NX]), HALF * cell * F(counts[scene, col.I_NY])
    a, b = slab(ox - heads[scene, col.GRID_X] - half_x, dx, half_x)
    into, out = max(into, a), min(out, b)
    a, b = slab(oy - heads[scene, col.GRID_Y] - half_y, dy, half_y)
    return max(into, a), min(out, b)


@device_function
def first_step(at, cells, cell, d, into):
    """Return a walk along one axis: first cell, step, distance through a cell, and exit from the first cell."""
    place = at / cell
    index = min(max(np.int32(place), 0), cells - 1)
    way = cell / max(abs(d), TINY)
    if d > ZERO:
        return index, 1, way, into + way * (F(index + 1) - place)
    return index, -1, way, into + way * (place - F(index))


@device_function
def misses(groups, g, ox, oy, oz, dx, dy, dz, most):
    """Return whether a ray misses the sphere of a group, or meets it beyond `most`."""
    cx, cy, cz = groups[g, col.G_CENTER] - ox, groups[g, col.G_CENTER + 1] - oy, groups[g, col.G_CENTER + 2] - oz
    along, reach = cx * dx + cy * dy + cz * dz, groups[g, col.G_RADIUS]
    cx, cy, cz = cx - along * dx, cy - along * dy, cz - along * dz
    return cx * cx + cy * cy + cz * cz > reach * reach or along + reach < NEAR or along - reach > most


@device_function
def nearest_in(solids, first, last, ox, oy, oz, dx, dy, dz, best, found, skip):
    """Return distance and row of the first of some solids that a ray meets before `best`, or the earlier result."""
    for s in range(first, last):
        if s != skip:
            t = enter(solids, s, ox, oy, oz, dx, dy, dz)
            if t < best:
                best, found = t, s
    return best, found


@device_function
def passing_through(solids, first, last, ox, oy, oz, dx, dy, dz, most, skip):
    """Return the share of the light that passes some solids on the way to `most`."""
    share = ONE
    for s in range(first, last):
        if s != skip and enter(solids, s, ox, oy, oz, dx, dy, dz) < most:
            share *= (ONE - solids[s, col.OPACITY]) * SURFACE
    return share


@device_function
def nearest(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, most, skip):
    """Return distance and row of the first solid that a ray meets before `most`, or `NOTHING`."""
    best, found, skip = most, np.int64(NOTHING), np.int64(skip)  # no literals: `nearest_in` is compiled once
    into, out = inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most)
    if into >= out:
        return best, found
    nx, ny, cell = counts[scene, col.I_NX], counts[scene, col.I_NY], heads[scene, col.CELL]
    column, step_x, per_x, next_x = first_step(ox - heads[scene, col.GRID_X] + into * dx, nx, cell, dx, into)
    row, step_y, per_y, next_y = first_step(oy - heads[scene, col.GRID_Y] + into * dy, ny, cell, dy, into)
    met, base = np.int64(0), counts[scene, col.I_SOLIDS]
    for _ in range(MOST_CELLS):
        at = counts[scene, col.I_CELLS] + row * nx + column
        for k in range(cells[at], cells[at + 1]):
            g = np.int64(lists[counts[scene, col.I_LISTS] + k])
            bit = np.int64(1) << g
            g += counts[scene, col.I_GROUPS]
            if met & bit or misses(groups, g, ox, oy, oz, dx, dy, dz, best):
                met |= bit
                continue
            met |= bit
            first, last = base + members[g, 0], base + members[g, 1]
            best, found = nearest_in(solids, first, last, ox, oy, oz, dx, dy, dz, best, found, skip)
        leaves = min(next_x, next_y)
        if best < leaves or leaves >= out:
            break
        if next_x < next_y:
            column, next_x = column + step_x, next_x + per_x
        else:
            row, next_y = row + step_y, next_y + per_y
        if not (0 <= column < nx and 0 <= row < ny):
            break
    return best, found


@device_function
def board_is_in_the_way(scene, heads, ox, oy, oz, dx, dy, dz):
    """Return whether a ray that starts on the table meets the board from below."""
    if oz >= heads[scene, col.TABLE_Z] + ONE or dz <= TINY:
        return False
    t = -oz / dz
    x, y = ox + t * dx, oy + t * dy
    over = heads[scene, col.X_LOW] < x < heads[scene, col.X_HIGH]
    return over and heads[scene, col.Y_LOW] < y < heads[scene, col.Y_HIGH]


@device_function
def passing(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, most, skip):
    """Return the share of the light from a point along a ray to `most`: 0, 1, or a share through clear bases."""
    if board_is_in_the_way(scene, heads, ox, oy, oz, dx, dy, dz):
        return ZERO
    share = ONE
    into, out = inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most)
    if into >= out:
        return share
    nx, ny, cell = counts[scene, col.I_NX], counts[scene, col.I_NY], heads[scene, col.CELL]
    column, step_x, per_x, next_x = first_step(ox - heads[scene, col.GRID_X] + into * dx, nx, cell, dx, into)
    row, step_y, per_y, next_y = first_step(oy - heads[scene, col.GRID_Y] + into * dy, ny, cell, dy, into)
    met, base = np.int64(0), counts[scene, col.I_SOLIDS]
    for _ in range(MOST_CELLS):
        at = counts[scene, col.I_CELLS] + row * nx + column
        for k in range(cells[at], cells[at + 1]):
            g = np.int64(lists[counts[scene, col.I_LISTS] + k])
            bit = np.int64(1) << g
            g += counts[scene, col.I_GROUPS]
            if not (met & bit or misses(groups, g, ox, oy, oz, dx, dy, dz, FAR)):
                first, last = base + members[g, 0], base + members[g, 1]
                share *= passing_through(solids, first, last, ox, oy, oz, dx, dy, dz, most, skip)
            met |= bit
        if share < DARK:
            return ZERO
        if min(next_x, next_y) >= out:
            break
        if next_x < next_y:
            column, next_x = column + step_x, next_x + per_x
        else:
            row, next_y = row + step_y, next_y + per_y
        if not (0 <= column < nx and 0 <= row < ny):
            break
    return share
