"""Checks: what is made of one clause about a formation, a stoppage or a clock, and how a check is written.

A check measures and tells; it never decides what follows. Yards, downs and the switch are no business of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Literal, TypeVar

from downfield.core.records import record
from downfield.officiating.calls import Unit
from downfield.officiating.engine.facts import exceedance_probability
from downfield.officiating.rulebooks.params import Param, Params

Outcome = Literal["kept", "broken", "too_close", "unknown"]
Subject = TypeVar("Subject")

CONFIDENCE = 0.95
"""Asked for where no rulebook says otherwise: one call in twenty wrong at the limit."""


@record
class Checked:
    """What one check found about one man, pair or count.

    Attributes:
        check: the check's name.
        clauses: catalog ids it speaks about.
        outcome: the clause is kept or broken; ``"too_close"`` when the measurement can't tell at the confidence asked
            for; ``"unknown"`` when what the clause needs was neither seen nor named.
        text: what was measured and what is allowed, in words.
        players: roster ids concerned.
        margin: by how much the clause is kept (negative: broken), in `unit`; None where nothing was measured.
        sigma: its standard deviation.
        unit: of both.
        probability: that the clause is broken, 0..1; 0.5 when unknown.

    """

    check: str
    clauses: tuple[str, ...]
    outcome: Outcome
    text: str
    players: tuple[str, ...] = ()
    margin: float | None = None
    sigma: float | None = None
    unit: Unit = ""
    probability: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """One measurement a check hands over; the check makes a `Checked` of it.

    Attributes:
        text: what was measured and what is allowed.
        players: roster ids concerned.
        margin: by how much the clause is kept; None when it can't be known.
        sigma: its standard deviation.
        unit: of both.
        strict: whether a margin of exactly 0 breaks the clause ("less than" rather than "at most").
        broken: probability that the clause is broken, where margin and sigma don't say it (counts).
        clauses: the ids this measurement speaks about, where they are not all of its check's.

    """

    text: str
    players: tuple[str, ...] = ()
    margin: float | None = None
    sigma: float = 0.0
    unit: Unit = ""
    strict: bool = False
    broken: float | None = None
    clauses: tuple[str, ...] = ()

    @property
    def probability(self) -> float:
        """That the clause is broken."""
        if self.broken is not None or self.margin is None:
            return 0.5 if self.broken is None else self.broken
        margin = round(self.margin, 9)
        return (
            exceedance_probability(-margin, self.sigma)
            if self.strict
            else 1 - exceedance_probability(margin, self.sigma)
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Check(Generic[Subject]):
    """One check: call it with what it looks at.

    Attributes:
        name: its name, unique among checks.
        clauses: catalog ids it implements, of all books that share it.
        params: what a league may change in it.
        on_claim: whether its result may be told only once the opposing coach has claimed it.
        measure: the function it was made of.

    """

    name: str
    clauses: tuple[str, ...]
    params: tuple[Param, ...]
    on_claim: bool
    measure: Callable[[Subject, Params], Iterator[Measured]]

    def __call__(
        self, subject: Subject, params: Params | None = None, *, book: str = "", confidence: float | None = None
    ) -> tuple[Checked, ...]:
        """What the check finds, as far as the book has a clause about it.

        Args:
            subject: what it looks at.
            params: in force; the defaults when None.
            book: prefix of the catalog ids to speak of, such as ``"TAP-"``; empty for all.
            confidence: how sure a clause must be broken, or kept, to say so; the rulebook's when None.

        """
        params = Params(self.params) if params is None else params
        if confidence is None:
            confidence = params.real("calls.confidence") if "calls.confidence" in params.definitions else CONFIDENCE
        told = (self._checked(one, confidence, book) for one in self.measure(subject, params))
        return tuple(one for one in told if one.clauses)

    def _checked(self, one: Measured, confidence: float, book: str) -> Checked:
        clauses = tuple(clause for clause in one.clauses or self.clauses if clause.startswith(book))
        broken = one.probability
        if one.margin is None and one.broken is None:
            return Checked(self.name, clauses, "unknown", one.text, one.players, probability=broken)
        outcome: Outcome = "broken" if broken >= confidence else "kept" if broken <= 1 - confidence else "too_close"
        return Checked(
            self.name, clauses, outcome, one.text, one.players, one.margin, one.sigma, one.unit, probability=broken
        )


def check(
    *clauses: str, params: tuple[Param, ...] = (), on_claim: bool = False
) -> Callable[[Callable[[Subject, Params], Iterator[Measured]]], Check[Subject]]:
    """Make a check of a function that yields measurements; it is named as the function is."""

    def make(measure: Callable[[Subject, Params], Iterator[Measured]]) -> Check[Subject]:
        return Check(measure.__name__, clauses, params, on_claim, measure)

    return make


def counts(chances: Iterable[float]) -> list[float]:
    """How likely each number of independent things is, 0 first, from how likely each thing is."""
    likely = [1.0]
    for one in chances:
        likely = [
            (likely[k] * (1 - one) if k < len(likely) else 0.0) + (likely[k - 1] * one if k else 0.0)
            for k in range(len(likely) + 1)
        ]
    return likely


def at_most(limit: int, chances: Iterable[float], text: str, players: tuple[str, ...] = ()) -> Measured:
    """A count that may not exceed a limit, of things that are each more or less sure."""
    likely = counts(chances)
    best = max(range(len(likely)), key=likely.__getitem__)
    return Measured(text, players, limit - best, unit="count", broken=round(sum(likely[limit + 1 :]), 9))
