"""What the Gunderson EFL leaves no choice about: run or pass, fourth down, the try, the onside kick, time-outs.

Places are in the offense's own yards, 0 its own goal line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from downfield.officiating.rulebooks.params import Param, Params

Style = Literal["run", "pass"]
Must = Literal["run", "pass", "either", "punt", "field_goal"]

PARAMS: Final = (
    Param("duty.late_s", 300.0, "s", "the source's five minutes", low=0),
    Param("duty.punt_to_yd", 50.0, "yd", "on or behind the 50 it is a punt", low=0),
    Param("duty.go_from_yd", 40.0, "yd", "from the own 40 on, one yard to go is played for", low=0),
    Param("duty.go_distance_yd", 1.0, "yd", "one yard to go", low=0),
    Param("duty.go_deficit", 4, "", "trailing late by this much, fourth down is played", low=1),
    Param("duty.two_point_deficit", 2, "", "trailing late by exactly this, the try is for two", low=1),
    Param("time_out.per_half", 2, "count", "two for each team in each half", low=0),
)


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the duties depend on.

    Attributes:
        lead: the offense's points less the defense's.
        period: 1-based; above 4 in overtime.
        left_s: time left in the period.
        down: 1..4.
        distance_yd: to go.
        spot_yd: line of scrimmage.
        style: of the series so far, None before its first play.
        gain_yd: of the play before in this series, None before its first play.

    """

    lead: int
    period: int
    left_s: float
    down: int = 1
    distance_yd: float = 10.0
    spot_yd: float = 25.0
    style: Style | None = None
    gain_yd: float | None = None


@dataclass(frozen=True, slots=True)
class Duty:
    """What must be played.

    Attributes:
        must: it; ``"pass"`` is any play with the passing quarterback, who may also run.
        clauses: why.

    """

    must: Must
    clauses: tuple[str, ...]


def is_late(period: int, left_s: float, params: Params) -> bool:
    """Whether a half is in its last minutes: under five in the second and fourth quarters (EFL-007, 008, 049)."""
    return period in {2, 4} and left_s < params.real("duty.late_s")


def play_duty(now: Situation, params: Params) -> Duty:
    """What the offense must play from scrimmage (EFL-015..036)."""
    return _fourth_down(now, params) if now.down == 4 else _series(now, params)


def _fourth_down(now: Situation, params: Params) -> Duty:
    if is_late(now.period, now.left_s, params) and now.lead <= -params.count("duty.go_deficit"):
        series = _series(now, params)
        return Duty(series.must, ("EFL-036", *series.clauses))
    short = now.distance_yd <= params.real("duty.go_distance_yd")
    if now.spot_yd > params.real("duty.punt_to_yd"):
        return Duty("pass", ("EFL-035",)) if short else Duty("field_goal", ("EFL-034",))
    if short and now.spot_yd >= params.real("duty.go_from_yd"):
        return Duty("pass", ("EFL-033",))
    return Duty("punt", ("EFL-032",))


def _series(now: Situation, params: Params) -> Duty:
    if now.style is None:
        return _first_play(now, params)
    if now.style == "pass":
        return Duty("pass", ("EFL-031",))
    gain = now.gain_yd or 0.0
    if gain > 0:
        return Duty("run", ("EFL-023",))
    # No gain is neither of the two: the source forces nothing then.
    return Duty("pass", ("EFL-024",)) if gain < 0 else Duty("either", ("EFL-023", "EFL-024"))


def _first_play(now: Situation, params: Params) -> Duty:
    if now.lead < 0:
        return Duty("pass", ("EFL-017",))
    # This clause alone says "five minutes or less"; all others say "under".
    if now.lead == 0 and now.period in {2, 4} and now.left_s <= params.real("duty.late_s"):
        return Duty("pass", ("EFL-016",))
    return Duty("run", ("EFL-015",))


def try_duty(period: int, left_s: float, lead: int, params: Params) -> Literal["extra_point", "two_point"]:
    """The try after a touchdown (EFL-064).

    Args:
        period: 1-based.
        left_s: time left in it.
        lead: the scorers' points less the others', the touchdown counted.
        params: in force.

    """
    late = period == 4 and left_s < params.real("duty.late_s")
    return "two_point" if late and lead == -params.count("duty.two_point_deficit") else "extra_point"


def onside_duty(period: int, left_s: float, lead: int, params: Params) -> bool:
    """Whether the kickoff must be an onside kick, and may be one only then (EFL-068)."""
    return period == 4 and left_s < params.real("duty.late_s") and lead < 0


def time_out_refusal(period: int, left_s: float, left: int, params: Params) -> str | None:
    """Why a time-out can't be had, None when it can (EFL-048, EFL-049)."""
    if not is_late(period, left_s, params):
        minutes = params.real("duty.late_s") / 60
        return f"time-outs are only for the last {minutes:g} minutes of the 2nd and 4th quarters (EFL-049)"
    return None if left > 0 else "no time-out is left in this half (EFL-048)"
