"""What checks look at, out of the state of the game and the latest scene: formations, adjustments, stops, clocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from downfield.core.scene import Jersey, Player
from downfield.officiating.checks.formation import Formation, formation
from downfield.officiating.checks.motion import Adjustment
from downfield.officiating.checks.movement import changes
from downfield.officiating.checks.pivots import Stop, StopKind
from downfield.officiating.checks.timing import Times
from downfield.officiating.engine.interfaces import RuleContext
from downfield.officiating.engine.play_state import PlayKind, Stoppage
from downfield.officiating.engine.state import GameState

KICKS: frozenset[PlayKind] = frozenset({"kickoff", "onside", "free_kick"})
STOP_KINDS: Mapping[str, StopKind] = {
    "coach": "coach",
    "line": "line",
    "catch": "first_touch",
    "interception": "interception",
    "fumble": "fumble",
    "kick": "kickoff",
}
"""What a stoppage's reason is to the checks; in any other stop, nobody may do anything that is checked."""


def formation_of(game: GameState, context: RuleContext) -> Formation | None:
    """The formation in the latest scene; None while there is none.

    The engine's offense receives a kickoff; a kick's formation is that of the kickers. Figures that no line-up named
    are on the field like any other.
    """
    if context.facts is None:
        return None
    scene, kick = context.facts.scene, game.play.kind in KICKS
    offense: Jersey = _jersey(game, kicking=kick)
    declared = {player.id for player in game.players}
    strangers = tuple(Player(one.id, one.jersey) for one in scene.figures if one.id not in declared)
    turn: Literal[-1, 1] = game.direction
    if kick:
        turn = -1 if turn == 1 else 1
    return formation(
        scene,
        (*game.players, *strangers),
        context.field,
        offense=offense,
        direction=turn,
        line_yd=_line_yd(game, context),
        carrier=game.play.carrier,
        gunners=game.play.gunners,
        returner=game.play.returner,
    )


def adjustment_of(game: GameState, lined_up: Formation, context: RuleContext, *, defense_after_set: bool) -> Adjustment:
    """What was changed between "set" and the snap, as far as it was seen."""
    if context.facts is None or game.play.kind in KICKS:
        return Adjustment(())
    offense = _jersey(game, kicking=False)
    since_set, since_ready = (
        changes(poses, context.facts.scene, game.players, offense=offense)
        for poses in (game.set_poses, game.ready_poses if defense_after_set else game.set_poses)
    )
    changed = [one for one in since_set if one.offense] + [one for one in since_ready if not one.offense]
    return Adjustment(tuple(changed), tuple((man.id, man.role) for man in lined_up.men))


def onside_pivots(game: GameState, context: RuleContext) -> Stop:
    """What both teams turned toward an onside kick's ball between "set" and the switch."""
    if context.facts is None:
        return Stop(context.field, "onside", ())
    offense = _jersey(game, kicking=True)
    changed = changes(game.set_poses, context.facts.scene, game.players, offense=offense)
    return Stop(context.field, "onside", changed, _target_mm(game, "onside", context))


def stop_of(game: GameState, stoppage: Stoppage, context: RuleContext) -> Stop | None:
    """The stoppage that is about to end; None where nothing is checked in it, or nothing was seen."""
    kind = _kind_of(stoppage)
    if context.facts is None or not stoppage.poses or kind is None:
        return None
    play = game.play
    changed = changes(
        stoppage.poses,
        context.facts.scene,
        game.players,
        offense=_jersey(game, kicking=play.kind in KICKS),
        fallen=[fall.player for fall in play.falls],
        swapped=stoppage.swaps,
    )
    exempt = [play.carrier, play.tackler] if kind in ("first_touch", "interception", "fumble") else []
    return Stop(context.field, kind, changed, _target_mm(game, kind, context), tuple(name for name in exempt if name))


def times_of(stoppage: Stoppage, restart_ns: int) -> Times | None:
    """The clocks of a stoppage: on a pass the offense is done when the stick is gone. None where nothing is checked."""
    kind = _kind_of(stoppage)
    if kind is None:
        return None
    return Times(
        stop=kind,
        stopped_ns=stoppage.since_ns,
        offense_done_ns=stoppage.offense_done_ns,
        defense_done_ns=stoppage.defense_done_ns or restart_ns,
        pass_ns=stoppage.pass_ns,
        stick_gone_ns=stoppage.offense_done_ns if stoppage.pass_ns is not None else None,
    )


def _line_yd(game: GameState, context: RuleContext) -> float:
    """The line to line up at; an onside kick's ball lies ahead of the line it is kicked from."""
    if game.play.kind != "onside" or "kickoff.from_yd" not in context.params.definitions:
        return game.los_yd
    return game.board_x_yd(game.length_yd - context.params.real("kickoff.from_yd"))


def _kind_of(stoppage: Stoppage) -> StopKind | None:
    return "pass" if stoppage.pass_ns is not None else STOP_KINDS.get(stoppage.reason)


def _target_mm(game: GameState, kind: StopKind, context: RuleContext) -> tuple[float, float] | None:
    """What the pivots of a stop must aim at: the ball that lies on the field, else whom the ball goes or went to."""
    if context.facts is None or kind not in ("pass", "fumble", "interception", "onside"):
        return None
    ball = context.facts.scene.ball
    if kind != "interception" and ball is not None and ball.state != "carried":
        return (ball.x_mm, ball.y_mm)
    if kind != "interception" and game.play.ball_mm is not None:
        return game.play.ball_mm
    name = game.play.receiver if kind == "pass" else game.play.carrier
    figure = context.facts.figures.get(name or "")
    return None if figure is None or kind in ("fumble", "onside") else (figure.x_mm, figure.y_mm)


def _jersey(game: GameState, *, kicking: bool) -> Jersey:
    dark = game.dark == (game.defense if kicking else game.offense)
    return "dark" if dark else "light"
