"""Whether a base stands in the way between two others."""

from __future__ import annotations

import math

from downfield.core.scene import Figure


def segment_meets_base(base: Figure, start: Figure, end: Figure) -> bool:
    """Whether the straight line between the centers of two figures meets a third one's base.

    The line is clipped against the base's slab along its heading, then against the slab across it.
    """
    turn = math.radians(base.heading_deg)
    cos, sin = math.cos(turn), math.sin(turn)
    low, high = 0.0, 1.0
    for ux, uy, half in ((cos, sin, base.length_mm / 2), (-sin, cos, base.width_mm / 2)):
        from_mm = (start.x_mm - base.x_mm) * ux + (start.y_mm - base.y_mm) * uy
        step = (end.x_mm - start.x_mm) * ux + (end.y_mm - start.y_mm) * uy
        if abs(step) < 1e-9:
            if abs(from_mm) > half:
                return False
            continue
        enter, leave = sorted(((-half - from_mm) / step, (half - from_mm) / step))
        low, high = max(low, enter), min(high, leave)
        if low > high:
            return False
    return True
