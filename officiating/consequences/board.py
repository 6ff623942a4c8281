"""The board's switch: a snap, a stoppage, a restart.

A switch turned on or off waits among the pending findings, behind a contact that may have ended the play before it.
This module holds its effect on the game.
"""

from __future__ import annotations

from typing import Final

from downfield.core.records import replace
from downfield.core.scene import Scene
from downfield.officiating.calls import POWER, CallNumbers, Finding
from downfield.officiating.checks.pivots import pivot_limits
from downfield.officiating.declarations import Side
from downfield.officiating.params import Param
from downfield.officiating.state.facts import FACT_LIMITS
from downfield.officiating.state.game_state import GameState, Phase
from downfield.officiating.state.interfaces import Outcome, RuleContext
from downfield.officiating.state.play_state import BOARD_S, Stoppage, board_s, poses_of

ANY_NUMBER: Final = -1  # value of `stoppage.allowed` under which any number of stoppages is allowed


def is_switched(game: GameState, scene: Scene) -> bool:
    """Return whether a scene tells how the switch stands: one that is off just after it came on tells of before."""
    late_ns = scene.t_ns - (game.play.board_on_ns or 0)
    is_late = game.board == "on" and scene.board == "off" and late_ns < FACT_LIMITS.switched_late_ns
    return scene.board != "unknown" and not is_late


def power_finding(t_ns: int, *, on: bool, by: Side | None, sigma_s: float = 0.0) -> Finding:
    """Return the finding that the board was switched on or off, as measured or declared."""
    text, detail = ("board on", "on") if on else ("board off", "off")
    settle_ns = None if on else t_ns + FACT_LIMITS.coast_ns
    found = Finding(POWER, "info", t_ns, text, (), str(t_ns), t_sigma_s=sigma_s, side=by, detail=detail)
    return replace(found, settle_ns=settle_ns, settle_early=False)


def stoppage_params(allowed: int, reason: str, *, after_line: bool) -> tuple[Param, ...]:
    """Return the parameters of `apply_switch` with a rulebook's defaults."""
    return (
        Param("stoppage.allowed", allowed, "count", f"{reason}; {ANY_NUMBER} for any number", low=ANY_NUMBER, high=99),
        Param("stoppage.after_line", after_line, "", "whether the offense may stop past the line of scrimmage"),
    )


def apply_switch(game: GameState, power: Finding, context: RuleContext) -> Outcome:
    """Return the effect of switching the board on or off."""
    if power.detail == "on":
        return _switch_on(game, power, context)
    return _switch_off(game, power.t_ns, context)


def _switch_on(game: GameState, power: Finding, context: RuleContext) -> Outcome:
    play, t_ns = game.play, power.t_ns
    if game.phase in {Phase.LINE_UP, Phase.SET}:
        phase = Phase.KICK if game.due in {"kickoff", "free_kick"} else Phase.LIVE
        # An onside kick lies free from the start: the first touch is what is looked for.
        if game.due == "onside":
            phase = Phase.IN_AIR
        play = replace(
            play,
            kind=game.due,
            snapped_to=play.carrier,
            snap_ns=t_ns,
            board_on_ns=t_ns,
            board_on_sigma_s=power.t_sigma_s,
            ball_side=game.offense,
            falls=(),
            handled=(),
        )
        if phase is Phase.LIVE:
            play = play.gained(game.offense, play.carrier, "snap", t_ns)
        return Outcome(replace(game, phase=phase, play=play), context.system.at_snap(game, context))
    if game.phase in {Phase.STOPPED, Phase.PASS}:
        reason = play.stoppage.reason if play.stoppage is not None else ""
        ball_free = reason == "air" or (reason == "fumble" and play.carrier is None)
        phase = Phase.IN_AIR if game.phase is Phase.PASS or ball_free else Phase.LIVE
        checks = context.system.at_restart(game, context)
        play = replace(play, board_on_ns=t_ns, board_on_sigma_s=power.t_sigma_s, stoppage=None, handled=())
        return Outcome(replace(game, phase=phase, play=play), checks)
    return Outcome(game)


def _switch_off(game: GameState, t_ns: int, context: RuleContext) -> Outcome:
    if game.phase is Phase.KICK:
        return context.system.kick_over(stop_board(game, t_ns, context, reason="kick"), t_ns, context)
    if game.phase is Phase.IN_AIR:
        return Outcome(stop_board(game, t_ns, context, reason="air"))
    if game.phase is not Phase.LIVE:
        return Outcome(game)
    return _stoppage(game, t_ns, context)


def _stoppage(game: GameState, t_ns: int, context: RuleContext) -> Outcome:
    """Return the effect of a stoppage of a live ball: one of the offense's, a forced stop, or one stop too many."""
    play = game.play
    # The rulebook itself asked for this stop, so it is not one of the offense's.
    if play.forced_stop:
        game = replace(game, play=replace(play, forced_stop=""))
        return Outcome(stop_board(game, t_ns, context, reason=play.forced_stop))
    allowed = (
        context.params.count("stoppage.allowed") if "stoppage.allowed" in context.params.definitions else ANY_NUMBER
    )
    number = play.stoppages_used + 1
    fault = ""
    on_return = play.ball_side != game.offense or play.kind in {"kickoff", "free_kick"}
    if on_return or allowed == ANY_NUMBER:
        pass  # stoppages are not counted
    elif play.line_reached_ns is not None and not context.params.flag("stoppage.after_line"):
        fault = "the line of scrimmage has been reached, so no stoppage is left"
    elif number > allowed:
        fault = f"only {allowed} are allowed"
    text = f"stoppage {number}" + (f": {fault}" if fault else "")
    # Only a fault of number has a margin in stops.
    is_free = allowed == ANY_NUMBER or (bool(fault) and number <= allowed)  # not decided by their number
    game = stop_board(replace(game, play=replace(play, stoppages_used=number)), t_ns, context, reason="coach")
    offense, defense = pivot_limits(game, context.params)
    found = Finding(POWER, "stoppage", t_ns, text, context.clauses("stoppage"), reported=True)
    if not is_free:
        found = replace(found, margin=float(number - allowed if fault else allowed - number), unit="count")
    most = None if allowed == ANY_NUMBER else allowed
    numbers = CallNumbers(pivots_allowed=(offense.most, defense.most), measured=number, allowed=most)
    return Outcome(game, (replace(found, detail="illegal" if fault else "legal", numbers=numbers),))


def with_rest_poses(game: GameState, scene: Scene) -> GameState:
    """Return the game with the poses of a stoppage as the figures came to rest, not as the switch was turned."""
    stoppage = game.play.stoppage
    if stoppage is None or not 0 <= scene.t_ns - stoppage.since_ns <= FACT_LIMITS.rest_ns:
        return game
    return replace(game, play=replace(game.play, stoppage=replace(stoppage, poses=poses_of(scene))))


def stop_board(game: GameState, t_ns: int, context: RuleContext, *, reason: str) -> GameState:
    """Return the game with the board stopped in mid-play, with the poses of all figures as it stopped."""
    poses = poses_of(context.facts.scene) if context.facts is not None else ()
    number = game.play.stoppages_used if reason == "coach" else 0
    stoppage = Stoppage(number=number, since_ns=t_ns, poses=poses, reason=reason)
    play = game.play.with_note(BOARD_S, board_s(game.play, t_ns))
    return replace(game, phase=Phase.STOPPED, play=replace(play, stoppage=stoppage))
