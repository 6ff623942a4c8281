"""What follows from a measured place: how far it is past a line, with the error of both, and what else it may be.

A spot between two calls is not one of them: a first down, a safety or a touchback is as sure as the place of the ball
against the line that decides it. What is surely on one side follows; in between the first reading becomes a call that
is too close, with the other one beside it, and the game waits for a measurement by a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from downfield.officiating.belief import Measure, share_above_zero
from downfield.officiating.call_numbers import CallNumbers
from downfield.officiating.calls import Finding
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import Outcome, RuleContext


@dataclass(frozen=True, slots=True)
class PastLine:
    """How far a place is past a line."""

    margin_yd: float  # past it when positive
    sigma_yd: float = 0.0  # standard deviation of that, of the place and the line together; 0 where both are exact
    place_yd: tuple[float, float] | None = None  # the place itself, along x of the board and across

    @property
    def probability(self) -> float:
        """Probability that the place is on the line or past it."""
        return share_above_zero(self.margin_yd, self.sigma_yd)

    @property
    def short(self) -> PastLine:
        """How far the place is short of the line."""
        return PastLine(-self.margin_yd, self.sigma_yd, self.place_yd)

    def told(self, finding: Finding, measure: Measure = "line", within: float = 1.0) -> Finding:
        """Return a finding with this as what was measured of it.

        Args:
            within: probability of whatever else it rests on: a chain is as sure as its weakest link.
        """
        probability = min(self.probability, within, finding.probability)
        if not self.sigma_yd:
            return replace(finding, probability=probability)
        margin, sigma = self.margin_yd, self.sigma_yd
        if self.place_yd is not None:
            numbers = replace(finding.numbers or CallNumbers(), measured_yd=self.place_yd)
            finding = replace(finding, numbers=numbers)
        return replace(finding, margin=margin, sigma=sigma, unit="yd", measure=measure, probability=probability)


def decide(state: GameState, over: Finding, short: Sequence[Finding], past: PastLine, context: RuleContext) -> Outcome:
    """Return what follows from a place that may be past a line.

    Args:
        state: the game as it is if the place is short of the line; what follows past it starts from there too.
        short: what follows short of it, beside the state.
    """
    first = tuple(past.short.told(finding, "short") for finding in short[:1])
    shorts = (*first, *short[1:])
    if past.probability <= 1.0 - context.params.real("calls.confidence"):
        return Outcome(state, shorts)
    if short and over.against_kind == "info":
        over = replace(over, against=short[0].text, against_kind=short[0].kind)
    return Outcome(state, (past.told(over),), shorts)
