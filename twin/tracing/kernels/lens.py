"""The ray of a pixel through a Brown-Conrady lens."""

import math

from downfield.twin.tracing.kernels.numbers import FOUR, ONE, TWO, F
from downfield.twin.tracing.layout import V_CENTER, V_DISTORTION, V_FOCAL, V_TURN
from downfield.twin.tracing.target import device_function

NEWTON_STEPS = 5


@device_function
def ray_of(views, v, x, y):
    """Return the ray of a pixel as a unit vector, by Newton's method on the Brown-Conrady lens."""
    k1, k2 = views[v, V_DISTORTION], views[v, V_DISTORTION + 1]
    p1, p2, k3 = views[v, V_DISTORTION + 2], views[v, V_DISTORTION + 3], views[v, V_DISTORTION + 4]
    u = tx = (x - views[v, V_CENTER]) / views[v, V_FOCAL]
    w = ty = (y - views[v, V_CENTER + 1]) / views[v, V_FOCAL + 1]
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
    t = V_TURN
    return (
        views[v, t] * u + views[v, t + 3] * w + views[v, t + 6] * length,
        views[v, t + 1] * u + views[v, t + 4] * w + views[v, t + 7] * length,
        views[v, t + 2] * u + views[v, t + 5] * w + views[v, t + 8] * length,
    )
