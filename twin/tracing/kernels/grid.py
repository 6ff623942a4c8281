"""A ray through the grid of groups: the first solid it meets, and how much light passes."""

import numpy as np

from downfield.twin.tracing.kernels.layout import (
    CELL,
    G_CENTER,
    G_RADIUS,
    GRID_X,
    GRID_Y,
    I_CELLS,
    I_GROUPS,
    I_LISTS,
    I_NX,
    I_NY,
    I_SOLIDS,
    OPACITY,
    TABLE_Z,
    TOP_Z,
    X_HIGH,
    X_LOW,
    Y_HIGH,
    Y_LOW,
)
from downfield.twin.tracing.kernels.solids import enter, slab
from downfield.twin.tracing.kernels.target import FAR, HALF, NEAR, NOTHING, ONE, TINY, ZERO, F, device_function

MOST_CELLS = 512  # along a ray
SURFACE = F(0.92)  # share of the light that a clear base's surface lets through
DARK = F(0.02)


@device_function
def inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most):
    """Return the interval of a ray over the grid and below the highest solid: from, to; from >= to if there is none."""
    into, out = ZERO, most
    if abs(dz) > TINY:
        a, b = (heads[scene, TOP_Z] - oz) / dz, (heads[scene, TABLE_Z] - oz) / dz
        into, out = max(into, min(a, b)), min(out, max(a, b))
    cell = heads[scene, CELL]
    half_x, half_y = HALF * cell * F(counts[scene, I_NX]), HALF * cell * F(counts[scene, I_NY])
    a, b = slab(ox - heads[scene, GRID_X] - half_x, dx, half_x)
    into, out = max(into, a), min(out, b)
    a, b = slab(oy - heads[scene, GRID_Y] - half_y, dy, half_y)
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
    cx, cy, cz = groups[g, G_CENTER] - ox, groups[g, G_CENTER + 1] - oy, groups[g, G_CENTER + 2] - oz
    along, reach = cx * dx + cy * dy + cz * dz, groups[g, G_RADIUS]
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
            share *= (ONE - solids[s, OPACITY]) * SURFACE
    return share


@device_function
def nearest(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, most, skip):
    """Return distance and row of the first solid that a ray meets before `most`, or `NOTHING`."""
    best, found = most, NOTHING
    into, out = inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most)
    if into >= out:
        return best, found
    nx, ny, cell = counts[scene, I_NX], counts[scene, I_NY], heads[scene, CELL]
    column, step_x, per_x, next_x = first_step(ox - heads[scene, GRID_X] + into * dx, nx, cell, dx, into)
    row, step_y, per_y, next_y = first_step(oy - heads[scene, GRID_Y] + into * dy, ny, cell, dy, into)
    met, base = np.int64(0), counts[scene, I_SOLIDS]
    for _ in range(MOST_CELLS):
        at = counts[scene, I_CELLS] + row * nx + column
        for k in range(cells[at], cells[at + 1]):
            g = np.int64(lists[counts[scene, I_LISTS] + k])
            bit = np.int64(1) << g
            g += counts[scene, I_GROUPS]
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
    if oz >= heads[scene, TABLE_Z] + ONE or dz <= TINY:
        return False
    t = -oz / dz
    x, y = ox + t * dx, oy + t * dy
    return heads[scene, X_LOW] < x < heads[scene, X_HIGH] and heads[scene, Y_LOW] < y < heads[scene, Y_HIGH]


@device_function
def passing(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, most, skip):
    """Return the share of the light from a point along a ray to `most`: 0, 1, or a share through clear bases."""
    if board_is_in_the_way(scene, heads, ox, oy, oz, dx, dy, dz):
        return ZERO
    share = ONE
    into, out = inside_grid(scene, heads, counts, ox, oy, oz, dx, dy, dz, most)
    if into >= out:
        return share
    nx, ny, cell = counts[scene, I_NX], counts[scene, I_NY], heads[scene, CELL]
    column, step_x, per_x, next_x = first_step(ox - heads[scene, GRID_X] + into * dx, nx, cell, dx, into)
    row, step_y, per_y, next_y = first_step(oy - heads[scene, GRID_Y] + into * dy, ny, cell, dy, into)
    met, base = np.int64(0), counts[scene, I_SOLIDS]
    for _ in range(MOST_CELLS):
        at = counts[scene, I_CELLS] + row * nx + column
        for k in range(cells[at], cells[at + 1]):
            g = np.int64(lists[counts[scene, I_LISTS] + k])
            bit = np.int64(1) << g
            g += counts[scene, I_GROUPS]
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
