"""Detects whether the board is on, from the movement of figures, the shake of the print, and the sound of its hum.

One figure alone proves nothing: a hand moves figures on a board that is off, and a blocked figure stands still on one
that is on. But most of twenty-two figures move while the board is on, and none does while it is off. Each figure votes
by whether it moved lately by more than the measurement noise, or on a slow board moves on and on; successive votes add
up as evidence, weighed against how rarely boards are switched. Print shake and the microphone vote where there is any.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Power
from downfield.vision.measuring.estimate import Estimate


@dataclass(frozen=True, slots=True)
class PowerLimits:
    """Thresholds of the power and halt detectors."""

    # Figures as evidence.
    window_ns: int = 80_000_000  # Movement is measured over this time: 2 mm for a figure of ordinary speed
    # Slow movement is measured over this time, 3 mm at 10 mm/s, and in both halves of it: a push is over sooner
    steady_ns: int = 300_000_000
    # Least share of that distance in either half; so a stop shows after a quarter of the time
    steady_share: float = 0.3
    min_steady_mm: float = 1.0  # A shorter distance is no slow movement
    # A figure whose usual way within `window_ns` is this many times what shows there is not slow: its stops show
    slow_ratio: float = 1.5
    min_movement_mm: float = 0.5  # A smaller displacement is no movement
    # A movement exceeds this many standard deviations of a position, or of the measured jitter
    movement_sigmas: float = 3.5
    max_speed_mm_s: float = 150.0  # No base walks this fast; a faster figure was moved by hand
    # Share of figures that move while the board is on; blocked and stationary figures don't
    moving_share_on: float = 0.5
    moving_share_off: float = 0.03  # Share of figures that move while the board is off: those that a hand moves
    min_figures: int = 3  # Least number of figures that must be seen
    jitter_memory_s: float = 1.0  # Time constant of the measured jitter of positions
    # From evidence to state.
    switches_per_s: float = 0.3  # Rate at which a board is switched
    sure_probability: float = 0.9  # The state changes above this; in between it stays as it was
    min_error: float = 1e-4  # The state is never surer than this
    max_step_ns: int = 500_000_000  # After a longer gap between frames the state is unknown
    # Print shake as evidence.
    shake_spread: float = 0.5  # Standard deviation of the logarithm of the print's shake in one state
    min_shake_difference: float = 1.0  # The logarithms of both states must differ by this before shake counts
    shake_gain: float = 0.05  # Weight of one frame in the learned shake of a state
    # The microphone as evidence.
    heard_decades: float = 0.5  # Evidence from which the board counts as heard: a room's noise alone gives less
    # A halt of all figures at once.
    halt_now_ns: int = 30_000_000  # Time in which the halt is searched for: the last two frames at 60 frames per second
    halt_before_ns: int = 80_000_000  # Speeds before the halt are measured over at least this time
    halt_history_ns: int = 250_000_000  # Speeds before the halt are measured over at most this time
    halt_min_speed_mm_s: float = 10.0  # Slower figures are left out
    halt_min_figures: int = 5  # Least number of figures that must have been moving
    halt_way_share: float = 0.4  # They have stopped if they covered less than this share of the predicted distance
    # Standard deviation of a position along its direction of movement, from frame to frame
    halt_jitter_mm: float = 0.15
    # They must fall short by this many standard deviations of all distances: halts are tested 60 times per second
    halt_sigmas: float = 5.5


_LIMITS: Final = PowerLimits()
_DECADE: Final = math.log(10.0)
_Position = tuple[float, float]
_Measured = tuple[float, float, float]  # x and y in mm, and their standard deviation


@dataclass(frozen=True, slots=True)
class PowerReading:
    """The state of the board's switch."""

    power: Power
    probability: float  # that the board is on, 0..1
    moving: float  # share of the seen figures that move, 0..1


class PowerDetector:
    """Detects whether the board is on; call `step` once for every frame, in order of time."""

    def __init__(self) -> None:
        self._window: deque[tuple[int, dict[str, _Measured]]] = deque()
        self._last: dict[str, tuple[int, _Measured]] = {}  # when and where each figure was last seen
        self._placed_ns: dict[str, int] = {}  # when a figure was last seen before it moved faster than any base walks
        self._jitter_mm = 0.0
        self._log_odds = 0.0
        self._power: Power = "unknown"
        self._heard = False  # whether the microphone has heard this board
        self._print = _PrintShake()

    def step(
        self, estimates: Sequence[Estimate], t_ns: int, *, shake_px: float | None = None, hum: float = 0.0
    ) -> PowerReading:
        """Add a frame and return the state of the switch.

        Args:
            shake_px: displacement of the print since the previous frame; None if it is not tracked.
            hum: evidence of the microphone, from `HumDetector`.
        """
        seen = {
            figure.id: (figure.footprint.x_mm, figure.footprint.y_mm, _sigma_mm(figure))
            for figure in estimates
            if figure.seen and figure.posture not in {"lifted", "unseen"}
        }
        if self._window and t_ns - self._window[-1][0] > _LIMITS.max_step_ns:
            self._window.clear()
            self._log_odds = 0.0
        step_s = (t_ns - self._window[-1][0]) / 1e9 if self._window else 0.0
        self._learn_jitter(seen, step_s)
        self._note_placed(seen, t_ns)
        moving, evidence = self._count_votes(seen, t_ns)
        self._window.append((t_ns, seen))
        self._log_odds = _after_switching(self._log_odds, step_s)
        # Frames share most of their window, so each adds only its part of the evidence.
        fresh = min(step_s / (_LIMITS.window_ns / 1e9), 1.0)
        self._log_odds += (evidence + self._hum_evidence(hum)) * fresh
        if shake_px is not None:
            self._log_odds += self._print.evidence(shake_px, self._log_odds) * fresh
        most = math.log(1 / _LIMITS.min_error)
        self._log_odds = min(max(self._log_odds, -most), most)
        probability = 1 / (1 + math.exp(-self._log_odds))
        if probability >= _LIMITS.sure_probability:
            self._power = "on"
        elif probability <= 1 - _LIMITS.sure_probability:
            self._power = "off"
        return PowerReading(self._power, probability, moving)

    def _hum_evidence(self, hum: float) -> float:
        """Return the microphone's log-odds; silence counts only once the board was heard: it may be far."""
        self._heard |= hum > _LIMITS.heard_decades and self._power == "on"
        return _DECADE * (hum if self._heard else max(hum, 0.0))

    def _count_votes(self, seen: dict[str, _Measured], t_ns: int) -> tuple[float, float]:
        """Return the share of figures that moved over the window, and its log-odds that the board is on."""
        while len(self._window) > 1 and t_ns - self._window[1][0] >= _LIMITS.steady_ns:
            self._window.popleft()
        if not self._window:
            return 0.0, 0.0
        begin_ns, before = self._since(t_ns - _LIMITS.window_ns)
        known = [id_ for id_ in seen if id_ in before]
        voters = [id_ for id_ in known if self._placed_ns.get(id_, begin_ns - 1) < begin_ns]
        if 2 * len(voters) < len(known):  # the recording was cut, or the table pushed
            self._window.clear()
            return 0.0, 0.0
        if len(voters) < _LIMITS.min_figures:
            return 0.0, 0.0
        (first_ns, first), (_, middle) = self._window[0], self._since(t_ns - _LIMITS.steady_ns // 2)
        followed = [id_ for id_ in voters if id_ in first and id_ in middle]
        steady = {id_ for id_ in followed if self._placed_ns.get(id_, first_ns - 1) < first_ns}
        moved = sum(
            self._has_moved(before[id_], seen[id_])
            or (id_ in steady and self._moves_steadily(first[id_], middle[id_], seen[id_]))
            for id_ in voters
        )
        on, off = _LIMITS.moving_share_on, _LIMITS.moving_share_off
        evidence = moved * math.log(on / off) + (len(voters) - moved) * math.log((1 - on) / (1 - off))
        return moved / len(voters), evidence

    def _has_moved(self, before: _Measured, now: _Measured) -> bool:
        """Return whether a figure moved; a half-covered figure must move further, since its position is uncertain."""
        return math.dist(now[:2], before[:2]) > max(_LIMITS.min_movement_mm, self._noise_mm(before, now))

    def _noise_mm(self, before: _Measured, now: _Measured) -> float:
        """Return the distance that measurement noise alone hardly ever makes of a figure at rest."""
        return _LIMITS.movement_sigmas * max(math.hypot(now[2], before[2]), math.sqrt(2) * self._jitter_mm)

    def _moves_steadily(self, first: _Measured, middle: _Measured, now: _Measured) -> bool:
        """Return whether a slow figure moved on and on."""
        way = now[0] - first[0], now[1] - first[1]
        distance_mm, noise_mm = math.hypot(*way), self._noise_mm(first, now)
        usual_mm = math.dist(middle[:2], first[:2]) * _LIMITS.window_ns / (_LIMITS.steady_ns / 2)
        is_slow = usual_mm < _LIMITS.slow_ratio * max(_LIMITS.min_movement_mm, noise_mm)
        if not is_slow or distance_mm <= max(_LIMITS.min_steady_mm, noise_mm):
            return False
        share = ((middle[0] - first[0]) * way[0] + (middle[1] - first[1]) * way[1]) / distance_mm**2
        return _LIMITS.steady_share <= share <= 1 - _LIMITS.steady_share

    def _since(self, t_ns: int) -> tuple[int, dict[str, _Measured]]:
        """Return the last frame of the window up to a time; the first where all are later."""
        return next((then for then in reversed(self._window) if then[0] <= t_ns), self._window[0])

    def _note_placed(self, seen: dict[str, _Measured], t_ns: int) -> None:
        """Note figures that moved faster than any base walks: they were placed by hand, or confused with another."""
        for id_, now in seen.items():
            last_ns, last = self._last.get(id_, (t_ns, now))
            walks_mm = _LIMITS.max_speed_mm_s * (t_ns - last_ns) / 1e9
            if math.dist(now[:2], last[:2]) > _LIMITS.min_movement_mm + walks_mm + max(now[2], last[2]):
                self._placed_ns[id_] = last_ns
            self._last[id_] = t_ns, now

    def _learn_jitter(self, seen: dict[str, _Measured], step_s: float) -> None:
        """Learn the frame-to-frame jitter of positions: the remainder after steady movement."""
        if len(self._window) < 2 or step_s <= 0:
            return
        last, older = self._window[-1][1], self._window[-2][1]
        known = [(seen[id_], last[id_], older[id_]) for id_ in seen if id_ in last and id_ in older]
        if len(known) < _LIMITS.min_figures:
            return
        bends = [abs(now[axis] - 2 * before[axis] + first[axis]) for now, before, first in known for axis in (0, 1)]
        jitter = statistics.median(bends) / (0.6745 * math.sqrt(6))
        keep = math.exp(-step_s / _LIMITS.jitter_memory_s)
        self._jitter_mm = jitter if self._jitter_mm == 0 else keep * self._jitter_mm + (1 - keep) * jitter


def _sigma_mm(figure: Estimate) -> float:
    return math.sqrt(max(float(figure.covariance[0, 0]), float(figure.covariance[1, 1])))


def _after_switching(log_odds: float, step_s: float) -> float:
    """Return the log-odds after a time in which the board may have been switched."""
    on = 1 / (1 + math.exp(-log_odds))
    flip = 0.5 * (1 - math.exp(-2 * _LIMITS.switches_per_s * step_s))
    on = on * (1 - flip) + (1 - on) * flip
    return math.log(on / (1 - on))


class _PrintShake:
    """The shake of the print while the board is on and while it is off, learned from the figures' evidence."""

    def __init__(self) -> None:
        self._known: dict[bool, float] = {}

    def evidence(self, shake_px: float, log_odds: float) -> float:
        """Return the log-odds of a shake; 0 until both states were seen and found to differ."""
        size = math.log(max(shake_px, 1e-3))
        evidence = 0.0
        if len(self._known) == 2 and abs(self._known[True] - self._known[False]) > _LIMITS.min_shake_difference:
            off, on = (((size - self._known[state]) / _LIMITS.shake_spread) ** 2 / 2 for state in (False, True))
            evidence = min(max(off - on, -2 * _DECADE), 2 * _DECADE)
        if abs(log_odds) > 2 * _DECADE:
            state = log_odds > 0
            known = self._known.get(state, size)
            self._known[state] = known + _LIMITS.shake_gain * (size - known)
        return evidence


class HaltDetector:
    """Detects that all figures stop at once: the board was switched off, and no figure stopped because of a contact.

    The halt shows a few frames before `PowerDetector` reports the board off, soon enough for contacts. Call `step`
    once for every frame that is fit, in order of time.
    """

    def __init__(self) -> None:
        self._history: deque[tuple[int, dict[str, _Position]]] = deque()

    def step(self, estimates: Sequence[Estimate], t_ns: int) -> bool:
        """Add a frame and return whether most of the moving figures stopped just before it.

        Args:
            estimates: all figures; those that were not measured in this frame are left out.
        """
        now: dict[str, _Position] = {
            figure.id: (figure.footprint.x_mm, figure.footprint.y_mm)
            for figure in estimates
            if figure.seen and figure.fresh
        }
        if not now:
            return False
        while self._history and t_ns - self._history[0][0] > _LIMITS.halt_history_ns:
            self._history.popleft()
        middle = next((then for then in reversed(self._history) if t_ns - then[0] >= _LIMITS.halt_now_ns), None)
        self._history.append((t_ns, now))
        if middle is None or middle[0] - self._history[0][0] < _LIMITS.halt_before_ns:
            return False
        (first_ns, first), (middle_ns, then) = self._history[0], middle
        went_mm = expected_mm = 0.0
        movers = 0
        for id_ in (known for known in now if known in then and known in first):
            (ax, ay), (bx, by), (cx, cy) = first[id_], then[id_], now[id_]
            way_mm = math.hypot(bx - ax, by - ay)
            if way_mm * 1e9 < _LIMITS.halt_min_speed_mm_s * (middle_ns - first_ns):
                continue
            movers += 1
            went_mm += ((cx - bx) * (bx - ax) + (cy - by) * (by - ay)) / way_mm
            expected_mm += way_mm * (t_ns - middle_ns) / (middle_ns - first_ns)
        short_mm = _LIMITS.halt_sigmas * _LIMITS.halt_jitter_mm * math.sqrt(2 * movers)
        stopped = went_mm < min(_LIMITS.halt_way_share * expected_mm, expected_mm - short_mm)
        return movers >= _LIMITS.halt_min_figures and stopped
