"""Thresholds and evidence weights of recognizing falls, see `falls`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FallLimits:
    """Thresholds and evidence weights of falls; weights are log-odds that a figure has fallen."""

    fallen_class: float = 2.4  # Weight of the detector's class "fallen", times its score
    # Weight of "upright": one in six fallen figures is classified so, and one in 200 standing figures as "fallen"
    upright_class: float = -1.1
    # A base that appears shorter or narrower than this is seen from its edge
    edge_mm: tuple[float, float] = (20.0, 11.0)
    edge: float = 1.0  # Weight of a base seen from its edge
    # A base that appears shorter or narrower than this share of its own size stands on its very edge
    steep_share: float = 0.45
    steep: float = 1.0  # Weight of that, besides `edge`: no side of a standing figure's base is measured so short
    full_base: float = -1.3  # Weight of a full base on a "fallen" figure: a quarter of fallen figures show one
    # Weight of a helmet over that base (90 % of standing, 50 % of fallen figures); raised to cancel `fallen_class`
    helmet_over_base: float = -1.3
    # Most that a call is worth while the base lies as it lay: nothing falls without moving its base
    unmoved: float = -0.2
    tilted_share: float = 0.7  # A base that appears shorter or narrower than this share of its own size tilts
    full_share: float = 0.85  # A base that appears at least this long and wide, as a share of its own size, lies flat
    # A flat base that walked on for this far since it gave way carries a standing figure; others slide on an edge
    walked_mm: float = 30.0
    gave_way_ns: int = 400_000_000  # A fall is recognized within this time after the base gave way
    calls_true: float = 0.83  # Share of detections of fallen figures that are called so; five in six
    calls_false: float = 0.005  # The same of standing figures of known builds
    # Time over which the calls of one standing figure are averaged: much longer than a fall takes to be recognized
    calls_memory_s: float = 2.0
    calls_at_rest_memory_s: float = 0.3  # The same while the board is off, when hardly any call is true
    # A standing figure called fallen more often than this does not stay fallen by the call alone
    calls_useless: float = 0.5
    # Share of the time for which the signs of a standing figure of a known build speak for a fall
    alarms_false: float = 0.002
    # Seconds of standing figures of known builds that count beside those of this table: half a second of a line-up
    alarms_memory_s: float = 10.0
    # Least share of the weight of signs that speak for a fall, however often they do so falsely on this table
    alarms_least_worth: float = 0.25
    # Share of the signs of a fall that counts in a second while the board is off: two seconds of them are a fall
    at_rest_per_s: float = 1.0
    # The same beside a base that it just touched, in a frame at most half: a neighbor's body may lie over this base
    crowded_per_s: float = 15.0
    crowded_share: float = 0.5
    stands_per_s: float = 5.0  # The same of the signs that who lies stands: nobody gets up, so the base must walk on
    helmet_score: float = 0.5  # Score (0..1) above which a helmet's place counts
    jump_mm: float = 4.0  # A base jumps off its way by more than this when its figure falls
    jump_sigmas: float = 2.0  # Errors of its measured place that a jump must exceed besides
    pushed_mm_per_s: float = 100.0  # Speed at which another base may push it off its way
    # Weight of a jump: half of falling figures jump, and one in 20 standing figures classified as "fallen"
    jump: float = 3.0
    fallen_probability: float = 0.5  # Probability above which a figure counts as fallen
    falls_per_s: float = 0.05  # Rate at which a figure falls while the board is on
    rises_per_s: float = 0.02  # Rate at which it stands up by itself: next to never
    start: float = -4.0  # Probability that a figure at the line-up has fallen
    # Least probability for a visible figure missed twice without a hand near: one in 14 fell too fast to detect
    vanished: float = -3.0
    in_view: float = 0.6  # Recently visible share of the base top from which an undetected figure counts as vanished
    in_view_gain: float = 0.2  # Weight of the latest detection in that recent share


FALL_LIMITS: Final = FallLimits()
