"""The kernel that is launched, one thread or loop step per pixel: the light of windows.

A pixel's ray goes through a Brown-Conrady lens.
"""

import math

import numpy as np

from downfield.twin.tracing.kernels import layout as col
from downfield.twin.tracing.kernels.paths import path
from downfield.twin.tracing.kernels.target import (
    FOUR,
    HALF,
    ON_CUDA,
    ONE,
    TWO,
    ZERO,
    F,
    device_function,
    kernel,
    mixed,
    pair,
)

NEWTON_STEPS = 5


@device_function
def ray_of(views, v, x, y):
    """Return the ray of a pixel as a unit vector, by Newton's method on the Brown-Conrady lens."""
    k1, k2 = views[v, col.V_DISTORTION], views[v, col.V_DISTORTION + 1]
    p1, p2, k3 = views[v, col.V_DISTORTION + 2], views[v, col.V_DISTORTION + 3], views[v, col.V_DISTORTION + 4]
    u = tx = (x - views[v, col.V_CENTER]) / views[v, col.V_FOCAL]
    w = ty = (y - views[v, col.V_CENTER + 1]) / views[v, col.V_FOCAL + 1]
    for _ in range(NEWTON_STEPS):
        uu, ww, uw = u * u, w * w, u * w
        r2 = uu + ww
        radial = ONE + r2 * (k1 + r2 * (k2 + r2 * k3))
        slope = TWO * (k1 + r2 * (TWO * k2 + r2 * F(3) * k3))
        off_x = u * radial + TWO * p1 * uw + p2 * (r2 + TWO * uu) - tx
        off_y = w * radial + p1 * (r2 + TWO * ww) + TWO * p2 * uw - ty
        a = radial + uu * slope + TWO * p1 * w + F(6) * p2 * u
        b = uw * slope + TWO * p1 * u + TWO * p2 * w
        d = radial + ww * slope + F(6) * p1 * w + TWO * p2 * u
        # Drawn lenses have a larger area; outside the picture this keeps values finite, as fast arithmetic requires.
        area = max(a * d - b * b, F(0.04))
        u = min(max(u - (d * off_x - b * off_y) / area, -FOUR), FOUR)
        w = min(max(w - (a * off_y - b * off_x) / area, -FOUR), FOUR)
    length = ONE / math.sqrt(u * u + w * w + ONE)
    u, w = u * length, w * length
    t = col.V_TURN
    return (
        views[v, t] * u + views[v, t + 3] * w + views[v, t + 6] * length,
        views[v, t + 1] * u + views[v, t + 4] * w + views[v, t + 7] * length,
        views[v, t + 2] * u + views[v, t + 5] * w + views[v, t + 8] * length,
    )


@device_function
def pixel(
    job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, raster,
    spp, mask, out,
):  # fmt: skip
    """Trace one pixel of one window, and write it."""
    v = job_views[job, 0]
    scene = view_scenes[v]
    seed = mixed(np.uint32(np.uint32(job_views[job, 1]) + np.uint32(row * 65536 + column) * np.uint32(0x9E3779B1)))
    m, foot = col.J_INVERSE, jobs[job, col.J_FOOT]
    coarse = job_views[job, 2] != 0
    x, y = F(column), F(row)
    at_x = jobs[job, m] * x + jobs[job, m + 1] * y + jobs[job, m + 2]
    at_y = jobs[job, m + 3] * x + jobs[job, m + 4] * y + jobs[job, m + 5]
    # Beyond the picture its edge is repeated, as the program does when it cuts patches.
    at_x = min(max(at_x, ZERO), views[v, col.V_SIZE] - ONE)
    at_y = min(max(at_y, ZERO), views[v, col.V_SIZE + 1] - ONE)
    red, green, blue = ZERO, ZERO, ZERO
    ox, oy, oz = views[v, col.V_EYE], views[v, col.V_EYE + 1], views[v, col.V_EYE + 2]
    for sample in range(spp):
        u, w = pair(sample, seed, 0, mask)
        dx, dy, dz = ray_of(views, v, at_x + foot * (u - HALF), at_y + foot * (w - HALF))
        r, g, b = path(
            scene, heads, counts, solids, groups, members, cells, lists, raster,
            ox, oy, oz, dx, dy, dz, sample, mask, seed, coarse,
        )  # fmt: skip
        red, green, blue = red + r, green + g, blue + b
    share = ONE / F(spp)
    out[job, row, column, 0] = red * share
    out[job, row, column, 1] = green * share
    out[job, row, column, 2] = blue * share


if ON_CUDA:
    from numba import cuda

    @kernel
    def trace(
        jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, raster,
        spp, mask, out,
    ):  # fmt: skip
        """Trace windows: `out` is (jobs, height, width, 3), height a multiple of 4 and width of 8."""
        i = cuda.grid(1)
        height, width = out.shape[1], out.shape[2]
        job, rest = i // (height * width), i % (height * width)
        if job >= out.shape[0]:
            return
        block, lane = rest // 32, rest % 32  # 32 threads see 8 x 4 pixels: their rays stay together
        across = width // 8
        row, column = (block // across) * 4 + lane // 8, (block % across) * 8 + lane % 8
        pixel(
            job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists,
            raster, spp, mask, out,
        )  # fmt: skip

else:
    import numba

    @kernel
    def trace(
        jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, raster,
        spp, mask, out,
    ):  # fmt: skip
        """Trace windows: `out` is (jobs, height, width, 3)."""
        height = out.shape[1]
        for i in numba.prange(out.shape[0] * height):
            job, row = i // height, i % height
            for column in range(out.shape[2]):
                pixel(
                    job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members,
                    cells, lists, raster, spp, mask, out,
                )  # fmt: skip
