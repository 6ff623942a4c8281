"""Whether the board is switched on, from what everybody on it does at once.

A figure alone proves nothing: a hand moves figures on a dead board, and a blocked figure stands on a live one. But most
of twenty-two figures go somewhere while the board is on, and none does when it is off. So each figure votes by whether
it has moved over the last moments more than the measurement shakes, votes are counted as evidence, and the evidence of
successive frames is weighed against how rarely boards are switched. Print shake and the microphone, where there are
any, vote too.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Power
from downfield.vision.tracking.estimate import Estimate

_WINDOW_NS: Final = 80_000_000  # over which movement is measured: 2 mm for a slow figure
_LEAST_MM: Final = 0.5  # below this nothing counts as movement
_SHAKES: Final = 3.5  # standard deviations of a place, or of the measurement's shaking, that a movement must exceed
_FASTEST_MM_S: Final = 150.0  # no base walks as fast
_MOVES_ON: Final = 0.5  # share of figures that move on a live board; blocked and stationary ones don't
_MOVES_OFF: Final = 0.03  # and on a dead one: those that a hand moves
_SWITCHES_PER_S: Final = 0.3
_SURE: Final = 0.9  # probability from which the state is told; in between it stays as it was
_MOST_SURE: Final = 1e-4
_FEWEST: Final = 3  # figures that must be seen
_LONGEST_STEP_NS: Final = 500_000_000  # after a longer gap in the frames nothing is known
_MEMORY_S: Final = 1.0  # of the measurement's shaking
_DECADE: Final = math.log(10.0)
_HEARD: Final = 0.5  # decades: a room's noise alone says less
_SHAKE_SPREAD: Final = 0.5  # deviation of the logarithm of the print's shake in one state
_SHAKE_APART: Final = 1.0  # by how much the two states must differ before it is listened to


_Place = tuple[float, float, float]  # x and y mm, and the standard deviation of these


@dataclass(frozen=True, slots=True)
class PowerReading:
    """What is known of the switch.

    Attributes:
        power: as in a scene.
        on: probability that the board is on, 0..1.
        moving: share of the seen figures that move, 0..1.

    """

    power: Power
    on: float
    moving: float


class PowerDetector:
    """Tells whether the board is on; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._places: deque[tuple[int, dict[str, _Place]]] = deque()
        self._last: dict[str, tuple[int, _Place]] = {}  # when and where each figure was last seen,
        self._put: dict[str, int] = {}  # and when before it went faster than any walks
        self._jitter_mm = 0.0
        self._odds = 0.0  # logarithm, for on
        self._power: Power = "unknown"
        self._hears = False  # whether the microphone has heard the board
        self._print = _PrintShake()

    def step(
        self, estimates: Sequence[Estimate], t_ns: int, *, shake_px: float | None = None, hum: float = 0.0
    ) -> PowerReading:
        """Take note of a frame.

        Args:
            estimates: all figures.
            t_ns: capture time.
            shake_px: how far the print moved since the frame before; None where it is not followed.
            hum: decades by which the microphone makes on likelier than off; as of `HumDetector`.

        """
        seen = {
            one.id: (one.footprint.x_mm, one.footprint.y_mm, _sigma_mm(one))
            for one in estimates
            if one.seen and one.posture not in {"lifted", "unseen"}
        }
        if self._places and t_ns - self._places[-1][0] > _LONGEST_STEP_NS:
            self._places.clear()
            self._odds = 0.0
        step_s = (t_ns - self._places[-1][0]) / 1e9 if self._places else 0.0
        self._note_jitter(seen, step_s)
        self._note_put(seen, t_ns)
        moving, evidence = self._votes(seen, t_ns)
        self._places.append((t_ns, seen))
        self._odds = _switched(self._odds, step_s)
        looks = min(step_s / (_WINDOW_NS / 1e9), 1.0)  # frames share most of their window: they are not fresh evidence
        self._odds += (evidence + self._heard(hum)) * looks
        if shake_px is not None:
            self._odds += self._print.evidence(shake_px, self._odds) * looks
        most = math.log(1 / _MOST_SURE)
        self._odds = min(max(self._odds, -most), most)
        on = 1 / (1 + math.exp(-self._odds))
        if on >= _SURE:
            self._power = "on"
        elif on <= 1 - _SURE:
            self._power = "off"
        return PowerReading(self._power, on, moving)

    def _heard(self, hum: float) -> float:
        """What the microphone says for on; silence speaks only once the board has been heard: it may be far off."""
        self._hears |= hum > _HEARD and self._power == "on"
        return _DECADE * (hum if self._hears else max(hum, 0.0))

    def _votes(self, seen: dict[str, _Place], t_ns: int) -> tuple[float, float]:
        """The share of figures that moved over the window, and what that says for on."""
        while len(self._places) > 1 and t_ns - self._places[1][0] >= _WINDOW_NS:
            self._places.popleft()
        if not self._places:
            return 0.0, 0.0
        begun_ns, then = self._places[0]
        known = [id_ for id_ in seen if id_ in then]
        both = [id_ for id_ in known if self._put.get(id_, begun_ns - 1) < begun_ns]
        if 2 * len(both) < len(known):  # the recording was cut, or the table pushed
            self._places.clear()
            return 0.0, 0.0
        if len(both) < _FEWEST:
            return 0.0, 0.0
        moved = sum(self._moved(then[id_], seen[id_]) for id_ in both)
        evidence = moved * math.log(_MOVES_ON / _MOVES_OFF) + (len(both) - moved) * math.log(
            (1 - _MOVES_ON) / (1 - _MOVES_OFF)
        )
        return moved / len(both), evidence

    def _moved(self, before: _Place, now: _Place) -> bool:
        """Whether a figure moved; whoever is half covered, by a hand say, seems to as far as his place is unsure."""
        unsure = max(math.hypot(now[2], before[2]), math.sqrt(2) * self._jitter_mm)
        return math.dist(now[:2], before[:2]) > max(_LEAST_MM, _SHAKES * unsure)

    def _note_put(self, seen: dict[str, _Place], t_ns: int) -> None:
        """Note who went faster than any walks since he was last seen: he was put there, or taken for another."""
        for id_, here in seen.items():
            then_ns, there = self._last.get(id_, (t_ns, here))
            walks_mm = _FASTEST_MM_S * (t_ns - then_ns) / 1e9
            if math.dist(here[:2], there[:2]) > _LEAST_MM + walks_mm + max(here[2], there[2]):
                self._put[id_] = then_ns
            self._last[id_] = t_ns, here

    def _note_jitter(self, seen: dict[str, _Place], step_s: float) -> None:
        """Learn how much places shake from frame to frame: what is left when steady movement is taken out."""
        if len(self._places) < 2 or step_s <= 0:
            return
        last, older = self._places[-1][1], self._places[-2][1]
        known = [(seen[id_], last[id_], older[id_]) for id_ in seen if id_ in last and id_ in older]
        if len(known) < _FEWEST:
            return
        bends = [abs(now[axis] - 2 * before[axis] + first[axis]) for now, before, first in known for axis in (0, 1)]
        jitter = statistics.median(bends) / (0.6745 * math.sqrt(6))
        keep = math.exp(-step_s / _MEMORY_S)
        self._jitter_mm = jitter if self._jitter_mm == 0 else keep * self._jitter_mm + (1 - keep) * jitter


def _sigma_mm(one: Estimate) -> float:
    return math.sqrt(max(float(one.covariance[0, 0]), float(one.covariance[1, 1])))


def _switched(odds: float, step_s: float) -> float:
    """The odds after a time in which the board may have been switched."""
    on = 1 / (1 + math.exp(-odds))
    flip = 0.5 * (1 - math.exp(-2 * _SWITCHES_PER_S * step_s))
    on = on * (1 - flip) + (1 - on) * flip
    return math.log(on / (1 - on))


class _PrintShake:
    """How the print shakes while the board is on and while it is off, learned from what the figures say."""

    def __init__(self) -> None:
        self._known: dict[bool, float] = {}

    def evidence(self, shake_px: float, odds: float) -> float:
        """What a shake says for on, logarithm; nothing before both states were seen and found to differ."""
        size = math.log(max(shake_px, 1e-3))
        evidence = 0.0
        if len(self._known) == 2 and abs(self._known[True] - self._known[False]) > _SHAKE_APART:
            off, on = (((size - self._known[state]) / _SHAKE_SPREAD) ** 2 / 2 for state in (False, True))
            evidence = min(max(off - on, -2 * _DECADE), 2 * _DECADE)
        if abs(odds) > 2 * _DECADE:
            state = odds > 0
            self._known[state] = self._known.get(state, size) + 0.05 * (size - self._known.get(state, size))
        return evidence
