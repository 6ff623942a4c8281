"""What is believed of a measurement: one object from which number, error, percentage, drawing and words are all made.

The sign is the same everywhere: 0 is the rule's limit, a positive margin is on the side of the call, a negative one on
the other. A margin and its error are a normal distribution, and the probability of the call is the share of it on the
positive side. Where a call was made from more than one frame, the margin of a single frame says something else than the
probability, so it is kept apart and shown as what it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

from downfield.officiating.call_kinds import MEANINGS, CallKind

Unit = Literal["", "mm", "yd", "deg", "s", "count"]
Basis = Literal["none", "frame", "history", "more", "joint"]
"""What a belief rests on: nothing measured, the margin alone, all frames up to the call, the margin and more, or
several things measured, each with a margin of its own."""
Measure = Literal[
    "",
    "touch",
    "handle",
    "line",
    "short",
    "sideline",
    "end_line",
    "excess",
    "square",
    "off_square",
    "overlap",
    "slight_overlap",
    "turn",
    "ball",
    "first",
    "front",
    "identity",
    "instant",
    "judgment",
]
"""Of what a margin is: the gap of two bases; that to a passer's handle; the way over a line across the field, or short
of it, over a sideline or an end line; what exceeds something allowed; how squarely two faces meet, or fail to; how much
of them does, or too little; a turn; the gap to a free ball; the time before a rival; which end of a base is its front;
which figure it is; when it was; what a rulebook leaves to a person; empty for anything else, or for nothing."""

_EVEN_ODDS: Final = 0.5
_NORMAL: Final = NormalDist()
_UNITS: Final[dict[Unit, str]] = {"": "", "mm": " mm", "yd": " yd", "deg": "°", "s": " s", "count": ""}


@dataclass(frozen=True, slots=True)
class BeliefLimits:
    """Limits of what is shown together."""

    tolerance: float = 0.005  # a margin and a probability agree within half a percent, to which percentages are shown
    rounding: float = 1e-6  # an exact margin this far below 0 is 0: lengths are differences of hundreds of mm
    extreme: float = 1e-4  # a history is never shown as surer than this leaves: 3.7 standard deviations


BELIEF_LIMITS: Final = BeliefLimits()


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of one measurement."""

    basis: Basis
    # by how much the rule is met, in `unit`; positive on the side of the call; None where no number stands for it
    margin: float | None
    sigma: float | None  # standard deviation of the margin; 0 where it is exact
    unit: Unit  # of the margins and errors
    probability: float  # that the call is right, 0..1; with an error, the positive share of the distribution
    # frame_margin, frame_sigma: what the decisive frame alone showed, where that is not the belief
    frame_margin: float | None = None
    frame_sigma: float | None = None
    front: float = 1.0  # probability that the ends of bases it rests on are the fronts; 1 where it rests on none

    @property
    def measured(self) -> str:
        """Margin, error and unit, such as ``"+0.42 ± 0.11 mm"``; empty where no number stands for the belief."""
        return margin_text(self.margin, self.sigma, self.unit)

    @property
    def frame_measured(self) -> str:
        """The same of the decisive frame alone; empty where the belief is that frame's, or nothing was measured."""
        return margin_text(self.frame_margin, self.frame_sigma, self.unit)

    def words(self, measure: Measure = "") -> str:
        """Return it as ``"0.3 mm over the line, sure to 98 %"``, by of what it is; empty where nothing was measured."""
        parts, wording = [], WORDINGS[measure]
        is_measured = self.basis == "frame" or bool(self.sigma)  # a history without errors has no margin of its own
        if self.margin is not None and self.unit != "count" and is_measured:
            parts.append(_side_text(self.margin, self.unit, wording))
        if self.basis == "more" and not is_front_sure(self.front):
            parts.append(f"not sure which end is the front ({percent_text(self.front)})")
        elif self.basis == "more" and self.probability == _EVEN_ODDS:
            parts.append("not sure which figure this is")
        if self.basis != "none" and self.is_doubtful:
            parts.append(sureness(self.probability))
        return ", ".join(parts)

    @property
    def is_doubtful(self) -> bool:
        """Whether a percentage is worth saying: it was measured with an error, or is neither 0 nor 1."""
        return bool(self.sigma or self.frame_sigma or 0.0 < self.probability < 1.0)


def believe(margin: float | None, sigma: float | None, unit: Unit, probability: float, front: float = 1.0) -> Belief:
    """Return what is believed of a call, from what one frame showed and the probability it was called with.

    Where the two disagree, the call rests on more than that frame. For a length that is the history of the gap: the
    belief is the distribution with the frame's error that has the history's probability on the positive side. Most of
    that error lasts from frame to frame, so that frames together make it surer on which side the truth is, but hardly
    narrower. Where the doubt is of another kind (which figure it was, which end of it is the front, what a rulebook
    calls square), no number stands for it.

    Args:
        margin: measured in the decisive frame, positive on the side of the call; None where nothing was measured.
        sigma: its standard deviation; None or 0 where it is exact.
        probability: that the call is right, 0..1.
        front: probability that the ends of bases the call rests on are the fronts; 1 where it rests on none.
    """
    if margin is None:
        return Belief("none", None, None, unit, probability, front=front)
    if not is_front_sure(front):
        return Belief("more", None, None, unit, probability, margin, sigma, front)
    if unit == "count" or abs(share_above_zero(margin, sigma) - probability) <= BELIEF_LIMITS.tolerance:
        return Belief("frame", margin, sigma, unit, probability)
    is_other_doubt = probability == _EVEN_ODDS or unit not in {"mm", "yd"}
    if is_other_doubt or (not sigma and probability < 1.0):
        return Belief("more", None, None, unit, probability, margin, sigma)
    return history_belief(margin, sigma, unit, probability)


def history_belief(margin: float, sigma: float | None, unit: Unit, probability: float) -> Belief:
    """Return what is believed of a length by all frames up to a call, from what one frame showed; see `believe`."""
    if not sigma:
        return Belief("history", 0.0, sigma, unit, probability, margin, sigma)
    bounded = min(max(probability, BELIEF_LIMITS.extreme), 1.0 - BELIEF_LIMITS.extreme)
    return Belief("history", sigma * _NORMAL.inv_cdf(bounded), sigma, unit, probability, margin, sigma)


@dataclass(frozen=True, slots=True)
class Wording:
    """Words of a measure: its name; what happened if it is likelier than not, and if not; both sides and the limit."""

    name: str
    event: str = ""
    doubtful: str = ""
    beyond: str = "inside"
    limit: str = "the limit"
    not_beyond: str = "short of"


_LINE: Final = ("reached the line", "may have reached the line", "over", "the line")
WORDINGS: Final[dict[Measure, Wording]] = {
    "": Wording("measured"),
    "touch": Wording("touch", "touched: gap closed", "gap may have closed", "past", "first touch"),
    "handle": Wording(
        "touch of the handle", "touched the handle", "may have touched the handle", "past", "first touch"
    ),
    "line": Wording("line", *_LINE),
    "short": Wording(
        "line", "stayed short of the line", "may have stayed short of the line", "short of", "the line", "over"
    ),
    "sideline": Wording("sideline", *_LINE),
    "end_line": Wording("end line", *_LINE),
    "excess": Wording("limit", beyond="beyond"),  # whether it is too much or too little
    "square": Wording("square", "met squarely", "may have met squarely"),
    "off_square": Wording("off square", "met too far off square", "may have met too far off square"),
    "overlap": Wording("width of the meeting", "enough of the faces met", "enough of the faces may have met"),
    "slight_overlap": Wording(
        "width of the meeting", "too little of the faces met", "too little of the faces may have met"
    ),
    "turn": Wording("turn", "turned", "may have turned", beyond="beyond"),
    "ball": Wording("touch of the ball", "reached the ball", "may have reached the ball"),
    "first": Wording("first there", "was there first", "may have been there first"),
    "front": Wording("front"),
    "identity": Wording("which figure"),
    "instant": Wording("when"),
    "judgment": Wording("judgment"),
}


def measure_of(kind: CallKind, unit: Unit) -> Measure:
    """Return what the margin of a call is of, by its kind, where its rule names nothing else."""
    about = MEANINGS[kind].about
    if about == "contact" and unit == "mm":
        return "touch"
    if about == "line" and unit in {"mm", "yd"}:
        return "line"
    return "excess" if about == "breach" else ""


def event_words(probability: float, measure: Measure, *, too_close: bool = False) -> str:
    """Return what happened, such as ``"touched: gap closed"``, or that it may have; empty where it has no words."""
    wording = WORDINGS[measure]
    return wording.event if probability > _EVEN_ODDS and not too_close else wording.doubtful


def sureness(probability: float) -> str:
    """Return how sure something is: ``"sure to 98 %"``, or ``"12 % likely"``."""
    percent = percent_text(probability)
    return f"sure to {percent}" if probability >= _EVEN_ODDS else f"{percent} likely"


def is_front_sure(front: float) -> bool:
    """Return whether a front is as good as certain, to the percentages that are shown."""
    return front >= 1.0 - BELIEF_LIMITS.tolerance


def share_above_zero(margin: float, sigma: float | None) -> float:
    """Return the share of a normal distribution at 0 and above; without an error, 1 from a margin of 0 on."""
    if not sigma:
        return 1.0 if margin >= -BELIEF_LIMITS.rounding else 0.0
    return _NORMAL.cdf(margin / sigma)


def margin_text(margin: float | None, sigma: float | None, unit: Unit) -> str:
    """Return a margin with error and unit, such as ``"+0.42 ± 0.11 mm"``; empty for None and for counts."""
    if margin is None or unit == "count":
        return ""
    error = f" ± {sigma:.2f}" if sigma else ""
    shown = round(margin, 2) + 0.0  # a negative zero has no sign to show
    return f"{shown:+.2f}{error}{_UNITS[unit]}"


def percent_text(share: float) -> str:
    """Return a probability in percent; never 100 % or 0 %: one that a number rounds to 1 was measured all the same."""
    if share > 0.99:
        return "more than 99 %"
    if share < 0.01:
        return "less than 1 %"
    return f"{math.floor(100 * share + 0.5)} %"  # halves go up, as on pages


def _side_text(margin: float, unit: Unit, wording: Wording) -> str:
    digits = 1 if unit in {"mm", "deg"} else 2
    if abs(margin) < 0.5 * 10**-digits:
        return f"at {wording.limit}"
    side = wording.beyond if margin > 0 else wording.not_beyond
    return f"{abs(margin):.{digits}f}{_UNITS[unit]} {side} {wording.limit}"
