"""What the margin of a call is of: which limit was met, and so the words and the drawings that belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from downfield.officiating.belief import Belief, Unit

Measure = Literal["", "touch", "handle", "line", "sideline", "end_line", "excess"]
"""Of what a margin is: the gap of two bases; that to a passer's handle; the way over a line across the field, a
sideline or an end line; what exceeds something allowed; empty for anything else, or for nothing."""

_CONTACT_KINDS: Final = frozenset({"tackle", "broken_tackle", "slipped_tackle", "sack", "fumble"})
_LINE_KINDS: Final = frozenset({"touchdown", "safety", "touchback", "out_of_bounds", "line_of_scrimmage", "first_down"})
_BREACH_KINDS: Final = frozenset({"formation", "pivot", "penalty", "timing", "stoppage"})
_EVEN_ODDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Wording:
    """Words of a measure: what happened when it is likelier than not, and when not; the side of the call; the limit."""

    event: str = ""
    doubtful: str = ""
    beyond: str = "inside"
    limit: str = "the limit"


_LINE: Final = _Wording("reached the line", "may have reached the line", "over", "the line")
_WORDINGS: Final[dict[Measure, _Wording]] = {
    "": _Wording(),
    "touch": _Wording("touched: gap closed", "gap may have closed"),
    "handle": _Wording("touched the handle", "may have touched the handle"),
    "line": _LINE,
    "sideline": _LINE,
    "end_line": _LINE,
    "excess": _Wording(beyond="over"),
}


def measure_of(kind: str, unit: Unit) -> Measure:
    """Return what the margin of a call is of, by its kind, where its rule names nothing else."""
    if kind in _CONTACT_KINDS and unit == "mm":
        return "touch"
    if kind in _LINE_KINDS and unit in {"mm", "yd"}:
        return "line"
    return "excess" if kind in _BREACH_KINDS else ""


def measured_words(belief: Belief, measure: Measure, when: str) -> str:
    """Return what was measured, such as ``"touched: gap closed at 9.21 s; 0.3 mm inside the limit, sure to 98 %"``.

    Args:
        belief: what is believed of it.
        measure: of what its margin is.
        when: follows what happened, such as ``" at 9.21 s"``; may be empty.

    """
    if belief.basis == "none":
        return ""
    wording = _WORDINGS[measure]
    event = wording.event if belief.probability > _EVEN_ODDS else wording.doubtful
    told = belief.told(wording.beyond, wording.limit)
    return "; ".join(part for part in (event and event + when, told) if part)
