"""How calls fared with people, by kind: what a league sets its policies from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final

from downfield.game.published.game_topics import CallView
from downfield.officiating.calls import CallKind, Policy
from downfield.review.reports.statistics import ReportTable
from downfield.store.history import History


@dataclass(frozen=True, slots=True)
class SuggestionLimits:
    """When the outcomes of a kind of call suggest a policy."""

    decided: int = 5
    """Fewer decisions of people say nothing about how often a call is wrong."""

    overturned_share: float = 0.2
    """A kind that people overturn this often should be proposed to a person first."""

    undisputed: int = 30
    """A kind of which this many stood, and none was overturned, needs no person: it is wrong less than one time in ten,
    sure to 95 % (the rule of three)."""


_LIMITS: Final = SuggestionLimits()


@dataclass(frozen=True, slots=True)
class PolicySuggestion:
    """A policy that the outcomes of a kind of call suggest.

    Attributes:
        policy: suggested; None for none.
        why: in words.
    """

    policy: Policy | None
    why: str


@dataclass(frozen=True, slots=True)
class CallOutcomes:
    """The calls of one kind.

    Attributes:
        called: made by the rulebook alone, and never disputed.
        too_close: that stood as too close to call, whoever decided them later.
        open: that nobody has decided.
        by_hand: that a person made because the rulebook had not.
    """

    kind: CallKind
    called: int = 0
    confirmed: int = 0
    overturned: int = 0
    too_close: int = 0
    open: int = 0
    by_hand: int = 0

    @property
    def overturned_share(self) -> float | None:
        """The share of people's decisions that went against the call; None where there were none."""
        decided = self.confirmed + self.overturned
        return self.overturned / decided if decided else None

    @property
    def suggestion(self) -> PolicySuggestion:
        """What a league might set."""
        decided, stood = self.confirmed + self.overturned, self.called + self.confirmed
        share = self.overturned_share
        if share is not None and decided >= _LIMITS.decided and share >= _LIMITS.overturned_share:
            return PolicySuggestion("propose", f"People overturned {self.overturned} of {decided} that they decided.")
        if self.overturned == 0 and stood >= _LIMITS.undisputed:
            return PolicySuggestion("auto", f"{stood} stood, and nobody overturned one.")
        if self.overturned == 0:
            return PolicySuggestion(None, f"Nobody overturned one; {stood} so far, too few to tell.")
        return PolicySuggestion(None, f"People overturned {self.overturned} of {decided} that they decided.")


_COUNTS: Final = tuple(field.name for field in fields(CallOutcomes) if field.name != "kind")


def call_outcomes(games: Iterable[History]) -> list[CallOutcomes]:
    """Return how the calls of games fared, by kind; calls that only note something are left out."""
    found: dict[CallKind, CallOutcomes] = {}
    for history in games:
        # What a person put in the place of a call is his, not the rulebook's: the call it replaced is counted.
        own = (call for call in history.calls() if call.ruling is None or not call.ruling.replaced)
        for call in (*own, *history.replaced(), *history.struck()):
            name = _outcome(call)
            if name:
                _count(found, call.kind, name)
                if call.verdict == "too_close" and name != "too_close":
                    _count(found, call.kind, "too_close")
    return sorted(found.values(), key=lambda one: -sum(getattr(one, name) for name in _COUNTS))


def outcome_table(outcomes: Iterable[CallOutcomes]) -> ReportTable:
    """Return them as a table."""
    head = ("Call", "Called", "Confirmed", "Overturned", "Too close", "Open", "By hand", "Overturned (%)")
    rows = tuple(
        (
            one.kind.replace("_", " "),
            *(getattr(one, name) for name in _COUNTS),
            "" if one.overturned_share is None else round(100 * one.overturned_share),
        )
        for one in outcomes
    )
    return ReportTable(head, rows)


def _count(found: dict[CallKind, CallOutcomes], kind: CallKind, name: str) -> None:
    before = found.get(kind, CallOutcomes(kind))
    found[kind] = replace(before, **{name: getattr(before, name) + 1})


def _outcome(call: CallView) -> str:
    if call.ruling is not None and call.ruling.decision in {"overturn", "strike"}:
        return "overturned"
    named = {"confirmed": "confirmed", "manual": "by_hand"}.get(call.standing)
    if named is not None:
        return named
    if call.standing == "open":
        return "open" if call.verdict != "too_close" else "too_close"
    return "called" if call.verdict == "called" else ""
