"""The several things measured that one call rests on, each with its own margin and probability, and their joint one.

A square tackle needs a touch and a square meeting, a catch a touch of the ball and nobody there before. As one number
the percentage of all would stand beside the measurement of one. So each is kept apart, and the probability of the call
is the one that follows from all of them.

A limit may be graded: how many people would agree that a rule is met, by how far it is met. Where a rulebook gives a
word and no tolerance ("square"), tables argue from one angle on and agree again from another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final, Literal

from downfield.core.records import Probability, record
from downfield.officiating.belief import (
    BELIEF_LIMITS,
    WORDINGS,
    Belief,
    Measure,
    Unit,
    believe,
    event_words,
    history_belief,
    is_front_sure,
    percent_text,
    share_above_zero,
    sureness,
)

Together = Literal["all", "any"]  # how conditions make a call: all of them must hold, or one is enough

_EVEN_ODDS: Final = 0.5
_CAPS: Final[frozenset[Measure]] = frozenset({"identity", "instant", "judgment"})
_ASIDE: Final[frozenset[Measure]] = frozenset({"front", "overlap", "ball"})
"""What is not worth telling once it is as good as certain."""

GradedLimit = tuple[tuple[float, float], ...]
"""Margin and share of those who agree there, ascending by margin; straight lines between, two points at one margin are
a step, constant beyond the ends. Empty for a limit that is one number."""

_NORMAL: Final = NormalDist()


def share_accepted(limit: GradedLimit, margin: float, sigma: float) -> float:
    """Return the expected share of those who agree that a limit is met, 0..1, by a margin in the limit's unit.

    On a step of the limit, an exact margin (`sigma` 0) counts on the side of more agreement.
    """
    if sigma <= 0:
        return _share_at(limit, margin)
    ends = [(at - margin) / sigma for at, _ in limit]
    total = limit[0][1] * _NORMAL.cdf(ends[0]) + limit[-1][1] * (1.0 - _NORMAL.cdf(ends[-1]))
    for (a, b), ((x_a, y_a), (x_b, y_b)) in zip(itertools.pairwise(ends), itertools.pairwise(limit), strict=True):
        if x_b > x_a:
            slope = (y_b - y_a) / (x_b - x_a)
            inside = _NORMAL.cdf(b) - _NORMAL.cdf(a)
            total += (y_a + slope * (margin - x_a)) * inside - slope * sigma * (_density(b) - _density(a))
    return min(1.0, max(0.0, total))


def opposite_limit(limit: GradedLimit) -> GradedLimit:
    """Return how many agree that a limit is not met, by how far it is not."""
    return tuple((-at, 1.0 - share) for at, share in reversed(limit))


def _share_at(limit: GradedLimit, margin: float) -> float:
    at = [share for x, share in limit if x == margin]
    if at:
        return max(at)
    if margin < limit[0][0]:
        return limit[0][1]
    for (x_a, y_a), (x_b, y_b) in itertools.pairwise(limit):
        if x_a < margin < x_b:
            return y_a + (y_b - y_a) * (margin - x_a) / (x_b - x_a)
    return limit[-1][1]


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@record
class Condition:
    """One of the things measured that a call rests on."""

    # of what the margin is. `"front"` is which end of a base is its front: all else is measured for the end that makes
    # the call likelier. `"instant"`, `"judgment"`, and an `"identity"` that is no better than even, leave a call no
    # better than even.
    measure: Measure
    probability: Probability  # that it holds, 0..1
    # margin, sigma, unit: by how much, positive on the side of the call, and the standard deviation
    margin: float | None = None
    sigma: float | None = None
    unit: Unit = ""
    limit: GradedLimit = ()  # where the limit is not one number, how many agree that it is met, by margin
    text: str = ""  # what was measured in words, such as `"11.0° off square"`, in place of the margin

    @property
    def name(self) -> str:
        """It in a word or two, such as ``"touch"``."""
        return WORDINGS[self.measure].name

    @property
    def caps(self) -> bool:
        """Whether it leaves a call no better than even, however sure all else is."""
        return self.measure in _CAPS and self.probability <= _EVEN_ODDS

    @property
    def belief(self) -> Belief:
        """What is believed of it."""
        margin, sigma, unit, probability = self.margin, self.sigma, self.unit, self.probability
        if margin is None:
            return believe(None, None, unit, probability)
        graded, sharp = share_accepted, share_above_zero
        expected = graded(self.limit, margin, sigma or 0.0) if self.limit else sharp(margin, sigma)
        if abs(expected - probability) <= BELIEF_LIMITS.tolerance:
            return Belief("frame", margin, sigma, unit, probability)
        if self.limit or unit not in {"mm", "yd"} or not sigma:
            return Belief("more", None, None, unit, probability, margin, sigma)
        return history_belief(margin, sigma, unit, probability)

    def words(self, when: str = "", *, too_close: bool = False) -> str:
        """Return it in plain words, such as ``"touched: gap closed (0.3 mm inside the limit, sure to 98 %)"``.

        `when` follows what happened, such as ``" at 9.21 s"``; `too_close` says that nobody has decided about it yet.
        """
        if self.measure == "front":
            return f"{self.text or 'not sure which end is the front'} ({percent_text(self.probability)})"
        if self.measure == "identity" and not self.caps:
            return f"{self.text or 'which figure this is'} ({percent_text(self.probability)})"
        if self.caps:
            otherwise = "not sure which figure this is" if self.measure == "identity" else "a person decides"
            return f"{self.text or otherwise}: no better than even"
        belief = self.belief
        event = event_words(self.probability, self.measure, too_close=too_close)
        if self.text or belief.basis in {"none", "more"}:
            told = ", ".join(part for part in (self.text, belief.is_doubtful and sureness(self.probability)) if part)
        else:
            told = belief.words(self.measure)
        event = event and event + when
        return f"{event} ({told})" if event and told else event or told


def joint_probability(conditions: Sequence[Condition], together: Together = "all") -> float:
    """Return the probability of a call that rests on independent conditions and on nothing else."""
    shares = [condition.probability for condition in conditions if not condition.caps]
    joint = math.prod(shares) if together == "all" else 1.0 - math.prod(1.0 - share for share in shares)
    return min(joint, _EVEN_ODDS) if any(condition.caps for condition in conditions) else joint


def worth_telling(conditions: Sequence[Condition], together: Together = "all") -> tuple[Condition, ...]:
    """Return the conditions that are told apart; none where only one matters and its limit is one number.

    What goes without saying doesn't matter once it is as good as certain (a front, say), nor does, where one condition
    is enough, one that hardly holds.
    """
    told = tuple(
        condition
        for condition in conditions
        if (condition.probability > BELIEF_LIMITS.tolerance if together == "any" else _matters_with_others(condition))
    )
    return told if len(told) > 1 or any(condition.limit for condition in told) else ()


def is_story_of(conditions: Sequence[Condition], together: Together, probability: float) -> bool:
    """Return whether a call's probability follows from its conditions, to the percentages that are shown.

    A front leaves the other end open, by which the call may hold too: it is between the joint probability and that plus
    the front's doubt; a front alone is told by its own percentage. Nothing follows from no conditions.
    """
    if not conditions:
        return False
    lowest = joint_probability(conditions, together)
    doubt = 1.0
    if together == "all":
        doubt = math.prod(condition.probability for condition in conditions if condition.measure == "front")
    is_open = len(conditions) > 1 and any(one.measure == "front" for one in conditions)
    highest = min(1.0, lowest + 1.0 - doubt) if is_open else lowest
    if any(condition.caps for condition in conditions):
        highest = min(highest, _EVEN_ODDS)
    return lowest - BELIEF_LIMITS.tolerance <= probability <= highest + BELIEF_LIMITS.tolerance


def joint_words(conditions: Sequence[Condition], together: Together, probability: float) -> str:
    """Return how sure several conditions make a call, ``"both together: sure to 80 %"``; empty without doubt."""
    doubtful = any(condition.caps or condition.belief.is_doubtful for condition in conditions)
    if not doubtful or len(conditions) < 2:
        return ""
    return f"{together_words(conditions, together)}: {sureness(probability)}"


def conditions_summary(conditions: Sequence[Condition], together: Together, probability: float) -> str:
    """Return the conditions in a few words, ``"touch 98 %, square 82 %, both together 80 %"``; empty for none."""
    if not conditions:
        return ""
    parts = [
        f"{condition.name} {'open' if condition.caps else percent_text(condition.probability)}"
        for condition in conditions
    ]
    if len(conditions) > 1:
        parts.append(f"{together_words(conditions, together)} {percent_text(probability)}")
    return ", ".join(parts)


def together_words(conditions: Sequence[Condition], together: Together) -> str:
    """Return how several conditions make a call: ``"both together"``, ``"all together"`` or ``"one is enough"``."""
    if together == "any":
        return "one is enough"
    return "both together" if len(conditions) == 2 else "all together"


def _matters_with_others(condition: Condition) -> bool:
    """Return whether a condition is worth telling: it is in doubt, or is measured and what the call is about."""
    is_aside = condition.margin is None or condition.measure in _ASIDE
    return not (is_aside and is_front_sure(condition.probability))
