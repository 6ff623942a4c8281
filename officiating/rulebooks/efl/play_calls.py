"""The play calls that the EFL prescribes: run or pass, fourth down, the try, the onside kick; and time-outs.

Places are in the offense's own yards, 0 its own goal line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from downfield.officiating.calls import Finding
from downfield.officiating.params import Params
from downfield.officiating.state.game_state import GameState
from downfield.officiating.state.interfaces import RuleContext

Style = Literal["run", "pass"]
PlayCall = Literal["run", "pass", "either", "punt", "field_goal"]
"""``"pass"`` is any play with the passing quarterback, who may also run."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The values that the prescribed play call depends on."""

    lead: int  # the offense's points less the defense's
    period: int  # 1-based; above 4 in overtime
    left_s: float  # time left in the period
    down: int = 1  # 1..4
    distance_yd: float = 10.0  # to go
    spot_yd: float = 25.0  # line of scrimmage
    style: Style | None = None  # of the series so far, None before its first play
    gain_yd: float | None = None  # of the previous play in this series, None before its first play


@dataclass(frozen=True, slots=True)
class RequiredPlay:
    """The play call that the rulebook prescribes."""

    call: PlayCall
    clauses: tuple[str, ...]  # catalog ids that prescribe it


def in_late_minutes(period: int, left_s: float, params: Params) -> bool:
    """Return whether a half has less than five minutes left (EFL-007, 008, 049)."""
    return period in {2, 4} and left_s < params.real("play_call.late_s")


def required_play(situation: Situation, params: Params) -> RequiredPlay:
    """Return the play call that the offense must make from scrimmage (EFL-015..036)."""
    return _on_fourth_down(situation, params) if situation.down == 4 else _in_series(situation, params)


def _on_fourth_down(now: Situation, params: Params) -> RequiredPlay:
    if in_late_minutes(now.period, now.left_s, params) and now.lead <= -params.count("play_call.go_deficit"):
        series = _in_series(now, params)
        return RequiredPlay(series.call, ("EFL-036", *series.clauses))
    short = now.distance_yd <= params.real("play_call.go_distance_yd")
    if now.spot_yd > params.real("play_call.punt_to_yd"):
        return RequiredPlay("pass", ("EFL-035",)) if short else RequiredPlay("field_goal", ("EFL-034",))
    if short and now.spot_yd >= params.real("play_call.go_from_yd"):
        return RequiredPlay("pass", ("EFL-033",))
    return RequiredPlay("punt", ("EFL-032",))


def _in_series(now: Situation, params: Params) -> RequiredPlay:
    if now.style is None:
        return _on_first_play(now, params)
    if now.style == "pass":
        return RequiredPlay("pass", ("EFL-031",))
    gain = now.gain_yd or 0.0
    if gain > 0:
        return RequiredPlay("run", ("EFL-023",))
    # No gain is neither positive nor negative: the source prescribes nothing then.
    return RequiredPlay("pass", ("EFL-024",)) if gain < 0 else RequiredPlay("either", ("EFL-023", "EFL-024"))


def _on_first_play(now: Situation, params: Params) -> RequiredPlay:
    if now.lead < 0:
        return RequiredPlay("pass", ("EFL-017",))
    # Only this clause has "five minutes or less"; all others have "under".
    if now.lead == 0 and now.period in {2, 4} and now.left_s <= params.real("play_call.late_s"):
        return RequiredPlay("pass", ("EFL-016",))
    return RequiredPlay("run", ("EFL-015",))


def required_try(period: int, left_s: float, lead: int, params: Params) -> Literal["extra_point", "two_point"]:
    """Return the try that must follow a touchdown (EFL-064), by the scorers' lead with it counted."""
    late = period == 4 and left_s < params.real("play_call.late_s")
    return "two_point" if late and lead == -params.count("play_call.two_point_deficit") else "extra_point"


def is_onside_required(period: int, left_s: float, lead: int, params: Params) -> bool:
    """Return whether the kickoff must be an onside kick; it may be one only then (EFL-068)."""
    return period == 4 and left_s < params.real("play_call.late_s") and lead < 0


def time_out_refusal(period: int, left_s: float, left: int, params: Params) -> str | None:
    """Return why a team can't take a time-out, None when it can (EFL-048, EFL-049)."""
    if not in_late_minutes(period, left_s, params):
        minutes = params.real("play_call.late_s") / 60
        return f"allowed only in the last {minutes:g} minutes of the 2nd and 4th quarters (EFL-049)"
    return None if left > 0 else "none left in this half (EFL-048)"


def time_left_s(game: GameState, context: RuleContext) -> float:
    """Return the time left in the period; a full one while no clock has been set."""
    left = game.clock.left_at_s(context.t_ns)
    return context.params.real("clock.period_s") if left is None else left


def current_situation(game: GameState, context: RuleContext) -> Situation:
    """Return the current situation of the game."""
    first = game.down == 1 or game.note("style") is None
    return Situation(
        lead=game.points(game.offense) - game.points(game.defense),
        period=game.period,
        left_s=time_left_s(game, context),
        down=game.down,
        distance_yd=game.distance_yd,
        spot_yd=game.line_yd,
        style=None if first else "pass" if game.note("style") == 1.0 else "run",
        gain_yd=None if first else game.gain_yd,
    )


def report_play_call(game: GameState, required: RequiredPlay, played: str, context: RuleContext) -> tuple[Finding, ...]:
    """Report a play call that differs from the one the rulebook prescribes."""
    if required.call in {"either", played}:
        return ()
    names = {"pass": "a play with the passing quarterback", "run": "a run"}
    must = names.get(required.call, f"a {required.call.replace('_', ' ')}")
    text = f"{game.team(game.offense).name} plays {played.replace('_', ' ')} but must play {must}"
    return (Finding("duty", "info", context.t_ns, text, required.clauses, played, reported=True, detail="duty"),)
