"""What is measured of a figure whose base may have either end as its front, and who may not be the figure at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from downfield.core.scene import Figure
from downfield.officiating.belief import Measure, Unit
from downfield.officiating.conditions import Condition, worth_telling
from downfield.officiating.state.facts import EVEN_ODDS, exceedance_probability


@dataclass(frozen=True, slots=True)
class EitherEndLimits:
    """Limits of what depends on a front."""

    same_for_both_ends: float = 0.005
    """Probabilities this close do not depend on which end of a base is its front."""


_LIMITS: Final = EitherEndLimits()


@dataclass(frozen=True, slots=True)
class EitherEnd:
    """A margin over both ends of a base that may be its front.

    Attributes:
        probability: that the margin is 0 or more, over both ends.
        front: probability of the end that makes it likelier; 1 where both ends are the same to it.
        margin, sigma: for that end.
        given: probability that the margin is 0 or more, for that end.
    """

    probability: float
    front: float
    margin: float
    sigma: float
    given: float

    def conditions(self, measure: Measure, unit: Unit, figure: Figure) -> tuple[Condition, ...]:
        """Return the margin, the front and who the figure is, told apart; none where only the margin is in doubt."""
        measured = Condition(measure, self.given, self.margin, self.sigma, unit)
        return worth_telling((measured, Condition("front", self.front), *identity_conditions(figure)))


def over_fronts(figure: Figure, measured: Callable[[Figure], tuple[float, float]]) -> EitherEnd:
    """Return a margin over both ends of a figure's base that may be its front.

    Args:
        figure: as seen.
        measured: returns the margin and its standard deviation, given a figure whose front is known.
    """
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
    """Return that a figure may be another one or is not seen, as `capped_if_unsure` does; none where it is sure."""
    is_sure = figure.sure and figure.posture != "unseen"
    return () if is_sure else (Condition("identity", EVEN_ODDS, text=_why_unsure(figure)),)


def _why_unsure(figure: Figure) -> str:
    return f"{figure.id} is out of view" if figure.sure else "not sure which figure this is"
