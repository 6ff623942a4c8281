"""Checks: one clause about a formation, a stoppage or a clock, measured and compared with what is allowed.

A check only measures and reports. Yards, downs and possession are decided elsewhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, Literal, TypeVar

from downfield.core.records import made_of, record
from downfield.officiating.belief import Unit
from downfield.officiating.conditions import Condition
from downfield.officiating.params import Param, Params, read_params
from downfield.officiating.state.facts import exceedance_probability

ClauseOutcome = Literal["kept", "broken", "too_close", "unknown"]
Subject = TypeVar("Subject")


@dataclasses.dataclass(frozen=True, slots=True)
class CheckLimits:
    """Thresholds of the checks that no rulebook sets."""

    confidence: float = 0.95  # used where no rulebook sets another: one report in twenty is wrong at the limit
    clear_sigmas: int = 3  # figures clear of each other by this many standard deviations are not measured any further
    rounding_mm: float = 1e-9  # added to the clearance, so that bases that exactly touch are measured without error too


CHECK_LIMITS: Final = CheckLimits()


@record
class ClauseResult:
    """What one check found about one figure, pair or count."""

    check: str  # the check's name
    clauses: tuple[str, ...]  # catalog ids the result is about
    # the clause is kept or broken; `"too_close"` when the measurement can't tell at the required confidence;
    # `"unknown"` when what the clause needs was neither seen nor declared
    outcome: ClauseOutcome
    text: str  # what was measured and what is allowed, as a sentence
    players: tuple[str, ...] = ()  # roster ids concerned
    margin: float | None = None  # by how much the clause is kept (negative: broken), in `unit`; None without any
    sigma: float | None = None  # its standard deviation
    unit: Unit = ""  # of both
    probability: float = 0.0  # that the clause is broken, 0..1; 0.5 when unknown
    # measured, allowed: what was counted or timed and the most that is allowed, same unit; None where the margin is of
    # another kind
    measured: float | None = None
    allowed: float | None = None
    conditions: tuple[Condition, ...] = ()  # the measured things that break the clause together, where they are several


@dataclasses.dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement of a check; the check turns it into a `ClauseResult`."""

    text: str  # what was measured and what is allowed
    players: tuple[str, ...] = ()  # roster ids concerned
    margin: float | None = None  # by how much the clause is kept; None when it can't be known
    sigma: float = 0.0  # its standard deviation
    unit: Unit = ""
    strict: bool = False  # whether a margin of exactly 0 breaks the clause ("less than" rather than "at most")
    broken: float | None = None  # probability that the clause is broken, where margin and sigma don't give it (counts)
    clauses: tuple[str, ...] = ()  # catalog ids the measurement is about, where they are not all of its check's
    allowed: float | None = None  # the most that is allowed, in the unit, where the margin is that less the measured
    # the things measured that break the clause together, where those are several
    conditions: tuple[Condition, ...] = ()

    @property
    def measured(self) -> float | None:
        """What was counted or timed, in the unit; None where no limit is known."""
        return None if self.allowed is None or self.margin is None else self.allowed - self.margin

    @property
    def probability(self) -> float:
        """Probability that the clause is broken."""
        if self.broken is not None or self.margin is None:
            return 0.5 if self.broken is None else self.broken
        # A margin of 0 that a sum of lengths makes 1e-15 must be 0 for strict clauses and others alike.
        margin = round(self.margin, 9)
        if self.strict:
            return exceedance_probability(-margin, self.sigma)
        return 1 - exceedance_probability(margin, self.sigma)


@dataclasses.dataclass(frozen=True, slots=True)
class Check(Generic[Subject]):
    """One check; call it with a subject (a formation, a stoppage, a timeline)."""

    name: str  # its name, unique among checks
    clauses: tuple[str, ...]  # catalog ids it implements, of all rulebooks that share it
    params: tuple[Param, ...]  # what a league may change in it
    on_claim: bool  # whether the result may be shown only after the opposing coach has claimed it
    measure: Callable[[Subject, Params], Iterator[Measurement]]  # yields the measurements of a subject

    def __call__(self, subject: Subject, params: Params | None = None, *, book: str = "") -> tuple[ClauseResult, ...]:
        """Return the results for a subject, by the parameters in force, or their defaults.

        They are limited to the clauses of one rulebook by the prefix of its catalog ids, such as ``"TAP-"``.
        """
        params = Params(self.params) if params is None else params
        defined = "calls.confidence" in params.definitions
        confidence = params.real("calls.confidence") if defined else CHECK_LIMITS.confidence
        results = (self._result(measurement, confidence, book) for measurement in self.measure(subject, params))
        return tuple(result for result in results if result.clauses)

    def _result(self, measured: Measurement, confidence: float, book: str) -> ClauseResult:
        clauses = tuple(clause for clause in measured.clauses or self.clauses if clause.startswith(book))
        broken = measured.probability
        if measured.margin is None and measured.broken is None:
            return ClauseResult(self.name, clauses, "unknown", measured.text, measured.players, probability=broken)
        outcome: ClauseOutcome = (
            "broken" if broken >= confidence else "kept" if broken <= 1 - confidence else "too_close"
        )
        return made_of(ClauseResult, measured, check=self.name, clauses=clauses, outcome=outcome, probability=broken)


_PARAMS: Final = {param.name: param for param in read_params("downfield.officiating.checks")}


def check(
    *clauses: str, params: tuple[str, ...] = (), on_claim: bool = False
) -> Callable[[Callable[[Subject, Params], Iterator[Measurement]]], Check[Subject]]:
    """Turn a function that yields measurements into a check named after the function; its parameters are named."""

    def make(measure: Callable[[Subject, Params], Iterator[Measurement]]) -> Check[Subject]:
        return Check(measure.__name__, clauses, tuple(_PARAMS[name] for name in params), on_claim, measure)

    return make


def count_distribution(chances: Iterable[float]) -> list[float]:
    """Return the probability of each count (0 first) of independent events, from the probability of each event."""
    distribution = [1.0]
    for probability in chances:
        distribution = [
            (distribution[k] * (1 - probability) if k < len(distribution) else 0.0)
            + (distribution[k - 1] * probability if k else 0.0)
            for k in range(len(distribution) + 1)
        ]
    return distribution


def at_most(limit: int, chances: Iterable[float], text: str, players: tuple[str, ...] = ()) -> Measurement:
    """Measure a count that may not exceed a limit, of events each more or less certain."""
    distribution = count_distribution(chances)
    likeliest = max(range(len(distribution)), key=distribution.__getitem__)
    broken = round(sum(distribution[limit + 1 :]), 9)
    return Measurement(text, players, limit - likeliest, unit="count", broken=broken, allowed=limit)
