"""Whether everybody stops at once: then the board was switched off, and nobody was stopped by whom he stands before.

It shows a few frames before the board is known to be off (`power`), which is soon enough for what is said of contacts.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Final

from downfield.vision.tracking.estimate import Estimate

_NOW_NS: Final = 30_000_000  # of late: two frames at 60 a second
_BEFORE_NS: Final = 80_000_000  # and how long before that at least, and at most, it is seen how fast they went
_KEPT_NS: Final = 250_000_000
_FAST_MM_S: Final = 10.0  # who was slower tells nothing
_FEWEST: Final = 5  # figures that went faster
_STOPPED: Final = 0.4  # share of the way they would have gone on
_SHAKEN_MM: Final = 0.15  # deviation of a place along a way, from frame to frame,
_SIGMAS: Final = 5.5  # and how many of all their ways' they must have fallen short by: it is asked sixty times a second

_Places = dict[str, tuple[float, float]]


class HaltDetector:
    """Notices that everybody stops; call `step` once for every frame that may be believed, in order of time."""

    def __init__(self) -> None:
        self._places: deque[tuple[int, _Places]] = deque()

    def step(self, estimates: Sequence[Estimate], t_ns: int) -> bool:
        """Take note of a frame, and say whether most of those who went have stopped just before it.

        Args:
            estimates: all figures; who was not looked at in this frame tells nothing.
            t_ns: capture time.

        """
        now: _Places = {one.id: (one.footprint.x_mm, one.footprint.y_mm) for one in estimates if one.seen and one.fresh}
        if not now:
            return False
        while self._places and t_ns - self._places[0][0] > _KEPT_NS:
            self._places.popleft()
        turn = next((one for one in reversed(self._places) if t_ns - one[0] >= _NOW_NS), None)
        self._places.append((t_ns, now))
        if turn is None or turn[0] - self._places[0][0] < _BEFORE_NS:
            return False
        begun_ns, begun = self._places[0]
        turned_ns, turned = turn
        went_mm = would_mm = 0.0
        movers = 0
        for id_ in now.keys() & turned.keys() & begun.keys():
            (ax, ay), (bx, by), (cx, cy) = begun[id_], turned[id_], now[id_]
            way_mm = math.hypot(bx - ax, by - ay)
            if way_mm * 1e9 < _FAST_MM_S * (turned_ns - begun_ns):
                continue
            movers += 1
            went_mm += ((cx - bx) * (bx - ax) + (cy - by) * (by - ay)) / way_mm
            would_mm += way_mm * (t_ns - turned_ns) / (turned_ns - begun_ns)
        short_mm = _SIGMAS * _SHAKEN_MM * math.sqrt(2 * movers)
        return movers >= _FEWEST and went_mm < min(_STOPPED * would_mm, would_mm - short_mm)
