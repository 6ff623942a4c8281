"""Pixels of windows: their light, and the owner at a pixel's middle."""

import numpy as np

from downfield.twin.tracing.kernels.grid import nearest
from downfield.twin.tracing.kernels.ground import ground
from downfield.twin.tracing.kernels.lens import ray_of
from downfield.twin.tracing.kernels.numbers import HALF, NOTHING, ONE, ZERO, F
from downfield.twin.tracing.kernels.paths import path
from downfield.twin.tracing.kernels.sampling import mixed, pair
from downfield.twin.tracing.layout import J_FOOT, J_INVERSE, OWNER, V_EYE, V_SIZE
from downfield.twin.tracing.target import device_function


@device_function
def pixel(
    job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, raster,
    spp, mask, out,
):  # fmt: skip
    """Trace one pixel of one window, and write it."""
    v = job_views[job, 0]
    scene = view_scenes[v]
    seed = mixed(np.uint32(np.uint32(job_views[job, 1]) + np.uint32(row * 65536 + column) * np.uint32(0x9E3779B1)))
    m, foot = J_INVERSE, jobs[job, J_FOOT]
    coarse = job_views[job, 2] != 0
    x, y = F(column), F(row)
    at_x = jobs[job, m] * x + jobs[job, m + 1] * y + jobs[job, m + 2]
    at_y = jobs[job, m + 3] * x + jobs[job, m + 4] * y + jobs[job, m + 5]
    # Beyond the picture its edge is repeated, as the program does when it cuts patches.
    at_x = min(max(at_x, ZERO), views[v, V_SIZE] - ONE)
    at_y = min(max(at_y, ZERO), views[v, V_SIZE + 1] - ONE)
    red, green, blue = ZERO, ZERO, ZERO
    for sample in range(spp):
        u, w = pair(sample, seed, 0, mask)
        dx, dy, dz = ray_of(views, v, at_x + foot * (u - HALF), at_y + foot * (w - HALF))
        r, g, b = path(
            scene, heads, counts, solids, groups, members, cells, lists, raster,
            views[v, V_EYE], views[v, V_EYE + 1], views[v, V_EYE + 2], dx, dy, dz, sample, mask, seed, coarse,
        )  # fmt: skip
        red, green, blue = red + r, green + g, blue + b
    share = ONE / F(spp)
    out[job, row, column, 0] = red * share
    out[job, row, column, 1] = green * share
    out[job, row, column, 2] = blue * share


@device_function
def owner_at(v, views, view_scenes, heads, counts, solids, groups, members, cells, lists, x, y):
    """Return the owner at a pixel's middle at mid exposure, plus 1; 0 for none."""
    scene = view_scenes[v]
    dx, dy, dz = ray_of(views, v, x, y)
    ox, oy, oz = views[v, V_EYE], views[v, V_EYE + 1], views[v, V_EYE + 2]
    t, _ = ground(scene, heads, ox, oy, oz, dx, dy, dz)
    _, s = nearest(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, t, NOTHING)
    return np.int32(0) if s < 0 else np.int32(solids[s, OWNER]) + np.int32(1)
