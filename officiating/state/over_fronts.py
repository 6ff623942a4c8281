"""A figure in doubt: either end of its base may be its front, it may not be the figure, or be between two frames.

What is measured of it is measured over both fronts; where it was at the instant of a contact is told with its error.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from downfield.core.mathematics import wrap_deg
from downfield.core.records import replace
from downfield.core.scene import Figure, Scene
from downfield.officiating.belief import Measure, Unit
from downfield.officiating.conditions import Condition, worth_telling
from downfield.officiating.state.facts import EVEN_ODDS, Facts, exceedance_probability, find_figure


@dataclass(frozen=True, slots=True)
class EitherEndLimits:
    """Limits of what depends on a front."""

    same_for_both_ends: float = 0.005  # probabilities this close do not depend on which end of a base is its front
    least_known_s: float = 0.1  # an instant with a larger error is not known: a figure walks half a yard in that time
    certain: float = 0.995  # an identity this probable goes without saying


_LIMITS: Final = EitherEndLimits()


@dataclass(frozen=True, slots=True)
class EitherEnd:
    """A margin over both ends of a base that may be its front."""

    probability: float  # that the margin is 0 or more, over both ends
    front: float  # probability of the end that makes it likelier; 1 where both ends are the same to it
    margin: float
    sigma: float
    given: float  # probability that the margin is 0 or more, for that end

    def conditions(self, measure: Measure, unit: Unit, figure: Figure) -> tuple[Condition, ...]:
        """Return the margin, the front and who the figure is, told apart; none where only the margin is in doubt."""
        measured = Condition(measure, self.given, self.margin, self.sigma, unit)
        return worth_telling((measured, Condition("front", self.front), *identity_conditions(figure)))


def over_fronts(figure: Figure, measured: Callable[[Figure], tuple[float, float]]) -> EitherEnd:
    """Return a margin, measured with its standard deviation of a known front, over both ends that may be a figure's."""
    margin, sigma = measured(figure)
    seen = exceedance_probability(margin, sigma)
    if figure.front >= 1.0:
        return EitherEnd(seen, 1.0, margin, sigma, seen)
    other_margin, other_sigma = measured(figure.turned_around())
    turned = exceedance_probability(other_margin, other_sigma)
    mixed = figure.front * seen + (1.0 - figure.front) * turned
    # Where it does not matter which end is the front, a doubtful front must not make the call doubtful.
    if abs(seen - turned) <= _LIMITS.same_for_both_ends:
        return EitherEnd(mixed, 1.0, margin, sigma, seen)
    if seen > turned:
        return EitherEnd(mixed, figure.front, margin, sigma, seen)
    return EitherEnd(mixed, 1.0 - figure.front, other_margin, other_sigma, turned)


def identity_conditions(figure: Figure) -> tuple[Condition, ...]:
    """Return that a figure may be another one or is not seen, as `capped_if_unsure` does; none where it is certain."""
    if figure.sure and figure.posture != "unseen":
        return (Condition("identity", figure.identity),) if figure.identity < _LIMITS.certain else ()
    why = f"{figure.id} is out of view" if figure.sure else "not sure which figure this is"
    return (Condition("identity", EVEN_ODDS, text=why),)


def unknown_instant(error_s: float) -> tuple[Condition, ...]:
    """Return that no picture tells when something was; none where it is known well enough."""
    if error_s < _LIMITS.least_known_s:
        return ()
    return (Condition("instant", EVEN_ODDS, text=f"no pictures tell when it was, within {2 * error_s:.1f} s"),)


@dataclass(frozen=True, slots=True)
class InstantLimits:
    """Times over which motion is measured."""

    # a figure's motion up to an instant is measured over this time: a few frames, so that their errors average out
    motion_ns: int = 100_000_000
    speed_ns: int = 200_000_000  # a figure's speed is measured over this time: longer than one vibration
    fastest_mm_s: float = 300.0  # no base goes faster: what seems to was measured over too short a time
    unmeasured_mm_s: float = 80.0  # how fast a figure goes that was not seen before: as fast as most do


_INSTANT_LIMITS: Final = InstantLimits()


def facts_as_of(facts: Facts, t_ns: int, player: str, sigma_s: float = 0.0) -> Facts:
    """Return the facts as they were at an instant up to this frame, as far as they concern one figure's place.

    The figure is taken to have moved on as in the frames before, since what happened at the instant (a contact) may
    have stopped or turned it, but no farther than it got. Its error is that of its place and of the instant.
    """
    scenes, after = _around(facts, t_ns)
    now, figure = find_figure(after, player), _figure_at(scenes, after, player, t_ns)
    if now is None or figure is None:
        return facts
    if sigma_s > 0.0:
        along_mm_s, across_mm_s = _speed_mm_s(facts, player)
        along, across = figure.sigma_mm
        sigma_mm = (math.hypot(along, sigma_s * along_mm_s), math.hypot(across, sigma_s * across_mm_s))
        figure = replace(figure, sigma_mm=sigma_mm)
    ball = after.ball
    if ball is not None and ball.state == "carried" and ball.carrier == player:  # it goes with its carrier
        ball = replace(ball, x_mm=ball.x_mm + figure.x_mm - now.x_mm, y_mm=ball.y_mm + figure.y_mm - now.y_mm)
    figures = tuple(figure if one.id == player else one for one in after.figures)
    scene = replace(after, t_ns=min(t_ns, after.t_ns), figures=figures, contacts=(), ball=ball)
    before = tuple(one for one in scenes if one.t_ns < scene.t_ns)
    return Facts(scene, before, facts.state, facts.field)


def _around(facts: Facts, t_ns: int) -> tuple[tuple[Scene, ...], Scene]:
    first_after = bisect(facts.recent, t_ns, key=lambda scene: scene.t_ns)
    return facts.recent[:first_after], (*facts.recent, facts.scene)[first_after]


def _figure_at(scenes: tuple[Scene, ...], after: Scene, player: str, t_ns: int) -> Figure | None:
    now, then = find_figure(after, player), find_figure(scenes[-1], player) if scenes else None
    if now is None or then is None or t_ns >= after.t_ns:
        return now
    last = scenes[-1]
    earlier = next((scene for scene in scenes if last.t_ns - scene.t_ns <= _INSTANT_LIMITS.motion_ns), last)
    start = find_figure(earlier, player)
    if start is None or earlier.t_ns >= last.t_ns:
        share = (t_ns - last.t_ns) / (after.t_ns - last.t_ns)
        return replace(
            then, x_mm=then.x_mm + share * (now.x_mm - then.x_mm), y_mm=then.y_mm + share * (now.y_mm - then.y_mm)
        )
    share = (t_ns - last.t_ns) / (last.t_ns - earlier.t_ns)
    turn, most = share * wrap_deg(then.heading_deg - start.heading_deg), wrap_deg(now.heading_deg - then.heading_deg)
    return replace(
        then,
        x_mm=_limit_to(then.x_mm + share * (then.x_mm - start.x_mm), then.x_mm, now.x_mm),
        y_mm=_limit_to(then.y_mm + share * (then.y_mm - start.y_mm), then.y_mm, now.y_mm),
        heading_deg=wrap_deg(then.heading_deg + _limit_to(turn, 0.0, most)),
    )


def _speed_mm_s(facts: Facts, player: str) -> tuple[float, float]:
    now = find_figure(facts.scene, player)
    for scene in facts.recent:
        then = find_figure(scene, player)
        if now is not None and then is not None and facts.t_ns - scene.t_ns <= _INSTANT_LIMITS.speed_ns:
            dt_s = (facts.t_ns - scene.t_ns) / 1e9
            most_mm = _INSTANT_LIMITS.fastest_mm_s * dt_s
            return min(abs(now.x_mm - then.x_mm), most_mm) / dt_s, min(abs(now.y_mm - then.y_mm), most_mm) / dt_s
    return _INSTANT_LIMITS.unmeasured_mm_s, _INSTANT_LIMITS.unmeasured_mm_s


def _limit_to(value: float, a: float, b: float) -> float:
    """Return a value limited to lie between two others: nothing is spotted where the figure has not been."""
    return min(max(value, min(a, b)), max(a, b))
