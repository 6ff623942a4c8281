"""Light received along a ray: direct, mirrored and scattered light, and light through clear bases.

One lamp is sampled in proportion to its strength, with shadow and highlight. The ambient light depends on direction: a
sky that may be brighter above, and bright parts of the surroundings.
"""

import math

from downfield.twin.tracing.kernels import layout as col
from downfield.twin.tracing.kernels.ground import ground
from downfield.twin.tracing.kernels.solids import nearest, passing
from downfield.twin.tracing.kernels.surfaces import surface
from downfield.twin.tracing.kernels.target import (
    FOUR,
    HALF,
    NOTHING,
    ONE,
    TINY,
    TWO,
    TWO_PI,
    ZERO,
    F,
    device_function,
    pair,
)

BOUNCES = 5  # surfaces of a path: seen, passed through or mirrored, and the surface that lights it
MATT = F(0.42)  # rougher mirrors show only the sky's color
BRIGHTEST = F(6.0)  # limit of one path: rare brighter ones would be sparks
LOST = F(0.55)  # share of the ambient light at the last surface of a path
CLEAR_TINT = F(0.92)
LIFT = F(0.002)  # mm over board and table: start of a scattered ray


BRIGHTEST_GLINT = F(60.0)


@device_function
def sky(scene, heads, dx, dy, dz):
    """Return the light from a direction in which there is nothing: red, green, blue."""
    rise = ONE + heads[scene, col.SKY_RISE] * dz
    red, green, blue = heads[scene, col.SKY] * rise, heads[scene, col.SKY + 1] * rise, heads[scene, col.SKY + 2] * rise
    for lobe in range(col.MOST_LOBES):
        at = col.LOBES + lobe * col.LOBE_SIZE
        t, c = at + col.LOBE_TOWARD, at + col.LOBE_COLOR
        along = heads[scene, t] * dx + heads[scene, t + 1] * dy + heads[scene, t + 2] * dz
        if along > ZERO:
            bright = math.exp(heads[scene, at + col.LOBE_POWER] * math.log(max(along, F(1e-6))))
            red += bright * heads[scene, c]
            green += bright * heads[scene, c + 1]
            blue += bright * heads[scene, c + 2]
    return max(red, ZERO), max(green, ZERO), max(blue, ZERO)


@device_function
def sampled_lamp(scene, heads, counts, pick):
    """Return the column of a lamp chosen in proportion to its strength, and the inverse of its probability."""
    at, low = col.LAMPS, ZERO
    last = at + (counts[scene, col.I_LAMPS] - 1) * col.LAMP_SIZE
    while at < last and pick >= heads[scene, at + col.LAMP_PICK]:
        low = heads[scene, at + col.LAMP_PICK]
        at += col.LAMP_SIZE
    return at, ONE / max(heads[scene, at + col.LAMP_PICK] - low, F(1e-4))


@device_function
def glint_of(scene, heads, at, px, py, pz, dx, dy, dz, nx, ny, nz, reach, rough, f0):
    """Return a lamp's highlight (GGX, Walter et al. 2007), as from its middle, and Fresnel's share."""
    p, q, r = at + col.LAMP_PLACE, at + col.LAMP_U, at + col.LAMP_V
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
    if heads[scene, at + col.LAMP_ROUND] > HALF:
        radius = math.sqrt(u)
        u, w = radius * math.cos(TWO_PI * w), radius * math.sin(TWO_PI * w)
    else:
        u, w = TWO * u - ONE, TWO * w - ONE
    p, q, r = at + col.LAMP_PLACE, at + col.LAMP_U, at + col.LAMP_V
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


@device_function
def tangents(nx, ny, nz):
    """Return two directions square to a normal and to each other (Duff et al. 2017)."""
    sign = ONE if nz >= ZERO else -ONE
    a = -ONE / (sign + nz)
    b = nx * ny * a
    return ONE + sign * nx * nx * a, sign * b, -sign * nx, b, sign + ny * ny * a, -ny


@device_function
def on_hemisphere(nx, ny, nz, aside, turn, up):
    """Return a direction about a normal, from its part along the surface, its turn (0..1) and its normal part."""
    ax, ay, az, bx, by, bz = tangents(nx, ny, nz)
    u, w = aside * math.cos(TWO_PI * turn), aside * math.sin(TWO_PI * turn)
    return u * ax + w * bx + up * nx, u * ay + w * by + up * ny, u * az + w * bz + up * nz


@device_function
def mirrored(dx, dy, dz, nx, ny, nz, rough, u, w):
    """Return a direction mirrored in a rough surface, its half vector sampled by GGX."""
    alpha = rough * rough
    cos2 = (ONE - u) / (ONE + (alpha * alpha - ONE) * u)
    hx, hy, hz = on_hemisphere(nx, ny, nz, math.sqrt(max(ONE - cos2, ZERO)), w, math.sqrt(cos2))
    along = TWO * (hx * dx + hy * dy + hz * dz)
    return dx - along * hx, dy - along * hy, dz - along * hz


@device_function
def refracted(dx, dy, dz, nx, ny, nz, away, ior):
    """Return a direction refracted into a clear surface (Snell)."""
    ratio = ONE / ior
    bend = ratio * away - math.sqrt(max(ONE - ratio * ratio * (ONE - away * away), ZERO))
    return ratio * dx + bend * nx, ratio * dy + bend * ny, ratio * dz + bend * nz


@device_function
def path(
    scene, heads, counts, solids, groups, members, cells, lists, raster,
    ox, oy, oz, dx, dy, dz, sample, mask, seed, coarse,
):  # fmt: skip
    """Return the light received along a ray: red, green, blue."""
    red, green, blue = ZERO, ZERO, ZERO
    share_r, share_g, share_b = ONE, ONE, ONE
    skip, scattered = NOTHING, 0
    for bounce in range(BOUNCES):
        t, surface_row = ground(scene, heads, ox, oy, oz, dx, dy, dz)
        hit, s = nearest(scene, heads, counts, solids, groups, members, cells, lists, ox, oy, oz, dx, dy, dz, t, skip)
        if s >= 0:
            t, surface_row = hit, s
        if surface_row == NOTHING:
            r, g, b = sky(scene, heads, dx, dy, dz)
            red, green, blue = red + share_r * r, green + share_g * g, blue + share_b * b
            break
        px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
        ar, ag, ab, nx, ny, nz, rough, f0, opacity, ior = surface(
            scene, heads, counts, solids, raster, surface_row, px, py, pz, coarse
        )
        away = -(nx * dx + ny * dy + nz * dz)
        if away < F(0.02):  # a bevel's normal may face away from the eye
            nx, ny, nz = nx - dx * (F(0.02) - away), ny - dy * (F(0.02) - away), nz - dz * (F(0.02) - away)
            away = F(0.02)
        skip = surface_row
        u, w = pair(sample, seed, 3 + 4 * bounce, mask)
        pick, chance = pair(sample, seed, 4 + 4 * bounce, mask)
        clear = opacity < ONE and chance >= opacity
        at, light, glint, fresnel = lamp_light(
            scene, heads, counts, solids, groups, members, cells, lists,
            px, py, pz, dx, dy, dz, nx, ny, nz, rough, f0, skip, pick, u, w,
        )  # fmt: skip
        if scattered:
            glint = ZERO  # a lamp's mirror image along a scattered ray would only be a spark
        matt = ZERO if clear else ONE - fresnel
        c = at + col.LAMP_COLOR
        red += share_r * light * heads[scene, c] * (ar * matt + glint)
        green += share_g * light * heads[scene, c + 1] * (ag * matt + glint)
        blue += share_b * light * heads[scene, c + 2] * (ab * matt + glint)
        if clear:
            share_r *= CLEAR_TINT * (HALF + HALF * ar)
            share_g *= CLEAR_TINT * (HALF + HALF * ag)
            share_b *= CLEAR_TINT * (HALF + HALF * ab)
            dx, dy, dz = refracted(dx, dy, dz, nx, ny, nz, away, ior)
            ox, oy, oz = px, py, pz
            continue
        if scattered >= 1:
            r, g, b = sky(scene, heads, nx, ny, nz)
            red, green = red + share_r * ar * r * LOST, green + share_g * ag * g * LOST
            blue += share_b * ab * b * LOST
            break
        graze = ONE - away
        fresnel = f0 + (ONE - f0) * graze * graze * graze * graze * graze * (ONE - rough * HALF)
        u, w = pair(sample, seed, 5 + 4 * bounce, mask)
        choose, _ = pair(sample, seed, 6 + 4 * bounce, mask)
        odds = ZERO
        if rough < MATT:  # mirrored light needs a ray of its own, in a fixed share of a pixel's samples
            odds = min(max(fresnel, F(0.25)), F(0.9))
        else:
            along = TWO * away
            r, g, b = sky(scene, heads, dx + along * nx, dy + along * ny, abs(dz + along * nz))
            red, green, blue = red + share_r * r * fresnel, green + share_g * g * fresnel, blue + share_b * b * fresnel
        if choose < odds:
            dx, dy, dz = mirrored(dx, dy, dz, nx, ny, nz, rough, u, w)
            if dx * nx + dy * ny + dz * nz <= F(1e-4):
                break
            weight = fresnel / odds
            share_r, share_g, share_b = share_r * weight, share_g * weight, share_b * weight
        else:
            dx, dy, dz = on_hemisphere(nx, ny, nz, math.sqrt(u), w, math.sqrt(max(ONE - u, ZERO)))
            weight = (ONE - fresnel) / (ONE - odds)
            share_r, share_g, share_b = share_r * ar * weight, share_g * ag * weight, share_b * ab * weight
        scattered += 1
        ox, oy, oz = px, py, pz
        if surface_row < NOTHING:
            oz += LIFT
            skip = NOTHING
    return min(red, BRIGHTEST), min(green, BRIGHTEST), min(blue, BRIGHTEST)
