"""The surface that a ray meets: its color, normal, roughness and opacity."""

import math

import numpy as np

from downfield.twin.tracing.kernels.ground import printed, surface_z, table_shade
from downfield.twin.tracing.kernels.numbers import BOARD, HALF, ONE, TWO, ZERO, F
from downfield.twin.tracing.kernels.patterns import second_share
from downfield.twin.tracing.kernels.solids import normal_at
from downfield.twin.tracing.layout import (
    BOARD_F0,
    BOARD_ROUGH,
    BOW,
    CENTER,
    COLOR,
    F0,
    IOR,
    IS_BASE,
    OPACITY,
    ROUGH,
    SECOND,
    SIZE,
    TABLE_COLOR,
    TABLE_F0,
    TABLE_ROUGH,
    TURN,
)  # fmt: skip
from downfield.twin.tracing.target import device_function

HOLLOW_RIM = F(1.3)  # mm: thickness of a base's walls, seen from below
HOLLOW_DIM = F(0.35)


@device_function
def solid_surface(solids, s, px, py, pz):
    """Return color, normal, roughness, F0, opacity and refractive index of a solid at a point of its surface."""
    cx, cy, cz = px - solids[s, CENTER], py - solids[s, CENTER + 1], pz - solids[s, CENTER + 2]
    k = TURN
    lx = solids[s, k] * cx + solids[s, k + 3] * cy + solids[s, k + 6] * cz
    ly = solids[s, k + 1] * cx + solids[s, k + 4] * cy + solids[s, k + 7] * cz
    lz = solids[s, k + 2] * cx + solids[s, k + 5] * cy + solids[s, k + 8] * cz
    mx, my, mz = normal_at(solids, s, lx, ly, lz)
    nx = solids[s, k] * mx + solids[s, k + 1] * my + solids[s, k + 2] * mz
    ny = solids[s, k + 3] * mx + solids[s, k + 4] * my + solids[s, k + 5] * mz
    nz = solids[s, k + 6] * mx + solids[s, k + 7] * my + solids[s, k + 8] * mz
    dim = ONE
    if solids[s, IS_BASE] > HALF and mz < -HALF:  # hollow from below, with rows of prongs
        a, b = solids[s, SIZE], solids[s, SIZE + 1]
        if min(a - abs(lx), b - abs(ly)) > HOLLOW_RIM:
            prong = np.int32(lx * F(0.62) + F(64.0)) % 3 == 0 and F(0.28) * b < abs(ly) < F(0.6) * b
            dim = ONE if prong else HOLLOW_DIM
    second = second_share(solids, s, lx, ly, lz, mz)
    first = (ONE - second) * dim
    second *= dim
    red = solids[s, COLOR] * first + solids[s, SECOND] * second
    green = solids[s, COLOR + 1] * first + solids[s, SECOND + 1] * second
    blue = solids[s, COLOR + 2] * first + solids[s, SECOND + 2] * second
    return red, green, blue, nx, ny, nz, solids[s, ROUGH], solids[s, F0], solids[s, OPACITY], solids[s, IOR]


@device_function
def ground_surface(scene, heads, counts, raster, surface_row, px, py, coarse):
    """Return the same values for the board or the table."""
    if surface_row != BOARD:
        shade, c = table_shade(scene, heads, px, py), TABLE_COLOR
        red, green, blue = heads[scene, c] * shade, heads[scene, c + 1] * shade, heads[scene, c + 2] * shade
        rough, f0 = heads[scene, TABLE_ROUGH], heads[scene, TABLE_F0]
        return red, green, blue, ZERO, ZERO, ONE, rough, f0, ONE, ONE
    red, green, blue = printed(scene, heads, counts, raster, px, py, coarse)
    nx, ny, nz = ZERO, ZERO, ONE
    if heads[scene, BOW] != ZERO:
        nx = F(0.25) * (surface_z(scene, heads, px - TWO, py) - surface_z(scene, heads, px + TWO, py))
        ny = F(0.25) * (surface_z(scene, heads, px, py - TWO) - surface_z(scene, heads, px, py + TWO))
        length = ONE / math.sqrt(nx * nx + ny * ny + ONE)
        nx, ny, nz = nx * length, ny * length, length
    return red, green, blue, nx, ny, nz, heads[scene, BOARD_ROUGH], heads[scene, BOARD_F0], ONE, ONE


@device_function
def surface(scene, heads, counts, solids, raster, surface_row, px, py, pz, coarse):
    """Return the same values for a ray's hit: a solid's row, `BOARD` or `TABLE`."""
    if surface_row >= 0:
        return solid_surface(solids, surface_row, px, py, pz)
    return ground_surface(scene, heads, counts, raster, surface_row, px, py, coarse)
