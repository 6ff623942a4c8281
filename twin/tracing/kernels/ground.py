"""The bowed board and the table under it: intersections with rays, and colors."""

import numpy as np

from downfield.twin.tracing.kernels import layout as col
from downfield.twin.tracing.kernels.target import (
    BOARD,
    FAR,
    HALF,
    NEAR,
    NOTHING,
    ONE,
    TABLE,
    TWO,
    ZERO,
    F,
    device_function,
    mixed,
    unit,
)

BOW_STEPS = 3


@device_function
def ground(scene, heads, ox, oy, oz, dx, dy, dz):
    """Return the distance to the ground along a ray, and its kind: `BOARD`, `TABLE` or `NOTHING`."""
    if dz > -F(1e-6):
        return FAR, NOTHING
    x_low, y_low = heads[scene, col.X_LOW], heads[scene, col.Y_LOW]
    x_high, y_high = heads[scene, col.X_HIGH], heads[scene, col.Y_HIGH]
    t = -oz / dz
    bow = heads[scene, col.BOW]
    if bow != ZERO:
        for _ in range(BOW_STEPS):
            t = (surface_z(scene, heads, ox + t * dx, oy + t * dy) - oz) / dz
    x, y = ox + t * dx, oy + t * dy
    if t > NEAR and x_low <= x <= x_high and y_low <= y <= y_high:
        return t, BOARD
    t = (heads[scene, col.TABLE_Z] - oz) / dz
    if t > NEAR:
        return t, TABLE
    return FAR, NOTHING


@device_function
def surface_z(scene, heads, x, y):
    """Return the height of the bowed board over the plane of its edges."""
    x_low, y_low = heads[scene, col.X_LOW], heads[scene, col.Y_LOW]
    x_high, y_high = heads[scene, col.X_HIGH], heads[scene, col.Y_HIGH]
    u = min(max((TWO * x - x_low - x_high) / (x_high - x_low), -ONE), ONE)
    w = min(max((TWO * y - y_low - y_high) / (y_high - y_low), -ONE), ONE)
    return -heads[scene, col.BOW] * (ONE - u * u) * (ONE - w * w)


@device_function
def as_light(c):
    """Return a display value, 0..1, as linear light (sRGB's curve to a percent)."""
    return c * (c * (c * F(0.305306011) + F(0.682171111)) + F(0.012522878))


@device_function
def knot(ix, iy, seed):
    """Return a number from 0 to 1 for a point of a lattice."""
    return unit(
        mixed(np.uint32(np.uint32(ix) * np.uint32(73856093) ^ np.uint32(iy) * np.uint32(19349663) ^ np.uint32(seed)))
    )


@device_function
def cloudy(x, y, seed):
    """Return smooth noise from 0 to 1 with features about 1 wide; for a literal seed numba would compile it anew."""
    x, y = x + F(4096.0), y + F(4096.0)
    ix, iy = np.int32(x), np.int32(y)
    jx, jy = np.int32(ix + 1), np.int32(iy + 1)  # of the same type
    u, w = x - F(ix), y - F(iy)
    u, w = u * u * (F(3) - TWO * u), w * w * (F(3) - TWO * w)
    a, b, c, d = knot(ix, iy, seed), knot(jx, iy, seed), knot(ix, jy, seed), knot(jx, jy, seed)
    return (a * (ONE - u) + b * u) * (ONE - w) + (c * (ONE - u) + d * u) * w


@device_function
def texel(raster, at, columns, u, w):
    """Interpolate between four pixels of a print: red, green and blue as display values, 0..1."""
    x, y = np.int32(u), np.int32(w)
    fx, fy = u - F(x), w - F(y)
    p = at + (np.int64(y) * columns + x) * 3
    q = p + columns * 3
    a, b, c, d = (ONE - fx) * (ONE - fy), fx * (ONE - fy), (ONE - fx) * fy, fx * fy
    scale = F(1 / 255.0)
    blue = F(raster[p]) * a + F(raster[p + 3]) * b + F(raster[q]) * c + F(raster[q + 3]) * d
    green = F(raster[p + 1]) * a + F(raster[p + 4]) * b + F(raster[q + 1]) * c + F(raster[q + 4]) * d
    red = F(raster[p + 2]) * a + F(raster[p + 5]) * b + F(raster[q + 2]) * c + F(raster[q + 5]) * d
    return red * scale, green * scale, blue * scale


@device_function
def printed(scene, heads, counts, raster, x, y, coarse):
    """Return the board's paint at a point: linear red, green, blue."""
    level = 1 if coarse else 0
    part = level * col.RASTER_SIZE
    rows, columns = counts[scene, col.I_ROWS + part], counts[scene, col.I_COLUMNS + part]
    at, scale = counts[scene, col.I_RASTER + part], heads[scene, col.PX_PER_MM + level]
    u = min(max((x - heads[scene, col.RASTER_X]) * scale - HALF, ZERO), F(columns) - F(1.01))
    w = min(max((heads[scene, col.RASTER_Y] - y) * scale - HALF, ZERO), F(rows) - F(1.01))
    r, g, b = texel(raster, at, columns, u, w)
    return as_light(r), as_light(g), as_light(b)


@device_function
def table_shade(scene, heads, x, y):
    """Return the darkening of the table by its grain at a point: speckles, wood, cloth or stone."""
    kind = np.int32(heads[scene, col.TABLE_TOP])
    if kind == 0:
        n = cloudy(x * F(0.5), y * F(0.5), F(7)) * HALF + cloudy(x * F(0.02), y * F(0.02), F(9)) * HALF
    elif kind == 1:  # long fibers, and boards
        n = cloudy(x * F(0.008), y * F(0.25), F(3)) * F(0.6) + cloudy(x * F(0.03), y * F(1.1), F(5)) * F(0.4)
    elif kind == 2:  # a weave, and checks
        n = cloudy(x * F(0.9), y * F(0.12), F(11)) * HALF + cloudy(x * F(0.12), y * F(0.9), F(13)) * HALF
        if (np.int32(x * F(0.04) + F(512.0)) + np.int32(y * F(0.04) + F(512.0))) & 1:
            n *= F(0.55)
    else:
        n = cloudy(x * F(0.1) + F(3) * cloudy(x * F(0.03), y * F(0.03), F(17)), y * F(0.1), F(19))
    return ONE - heads[scene, col.GRAIN] * n
