"""Who has won an overtime, under each rulebook that has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from downfield.officiating.declarations import Side
from downfield.officiating.engine.state import other

TOUCHDOWN_GAIN_YD: Final = 1000.0
"""A touchdown beats any number of yards (TAP-132, by the clause on ties)."""

PossessionEnd = Literal["touchdown", "safety", "field_goal", "nothing"]


@dataclass(frozen=True, slots=True)
class Possession:
    """One possession of an overtime played on the clock.

    Attributes:
        side: who had the ball.
        end: what it came to; ``"nothing"`` for a turnover, a punt, a miss or lost downs.

    """

    side: Side
    end: PossessionEnd


def yards_winner(first: Side, gains_yd: tuple[float, float]) -> Side | None:
    """The winner of a round of one play each, None when another round follows (TAP-132, TAP-134).

    Args:
        first: who went first.
        gains_yd: his and the other's yards; a turnover counts as 0 and a touchdown as `TOUCHDOWN_GAIN_YD`.

    """
    mine, theirs = gains_yd
    if mine == theirs or max(gains_yd) <= 0:
        return None
    return first if mine > theirs else other(first)


def clock_overtime_over(ended: tuple[Possession, ...], lead: int, left_s: float) -> tuple[bool, tuple[str, ...]]:
    """Whether an overtime on the clock is over, and by which clauses (EFL-071, EFL-073..076).

    It goes on while the score is tied; only after a field goal on the very first possession does the other team
    have one of its own to answer it.

    Args:
        ended: the possessions so far, in order.
        lead: either team's points less the other's.
        left_s: time left.

    """
    if lead == 0:
        return left_s <= 0, ("EFL-076",) if left_s <= 0 else ("EFL-071",)
    if ended and ended[0].end == "field_goal":
        return (True, ("EFL-074",)) if len(ended) > 1 or left_s <= 0 else (False, ("EFL-074",))
    if len(ended) <= 1:
        return True, ("EFL-073",)
    return True, ("EFL-075",)
