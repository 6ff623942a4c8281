"""Football's own bookkeeping: the next spot, downs, possession, points. Shared by every rulebook.

Each consequence returns the state after a call. Further results (a first down, a turnover on downs, a safety) are
returned as findings, so that each becomes a call of its own that a person can strike or amend.
"""

from __future__ import annotations

import math
from typing import Final, Literal

from downfield.core.records import replace
from downfield.officiating.call_kinds import CallKind
from downfield.officiating.calls import Call, Finding
from downfield.officiating.consequences.measured_places import PastLine, decide
from downfield.officiating.declarations import Side
from downfield.officiating.params import Params, read_params
from downfield.officiating.state.facts import EVEN_ODDS
from downfield.officiating.state.game_state import GameState, PendingInput, Phase, opponent
from downfield.officiating.state.interfaces import Consequence, Outcome, RuleContext, RuleSystem
from downfield.officiating.state.play_state import HowGained, PlayState

DOWNS: Final = "downs"  # rule id of findings that follow from the state alone

DOWNS_PARAMS: Final = read_params("downfield.officiating.consequences", "downs")
TOUCHDOWN: Final = 6
FIELD_GOAL: Final = 3
SAFETY: Final = 2
FREE_KICK_FROM_YD: Final = 20.0  # after a safety, where the book says nothing of free kicks (TAP-G2, EFL-G1)

ON_THE_LINE_YD: Final = 1e-3  # a ball no farther out than this is still on its goal line

GAINED_BY: Final[dict[CallKind, HowGained]] = {
    "reception": "reception",
    "interception": "interception",
    "fumble_recovery": "recovery",
}
"""How a call gives somebody the ball; any other does by a kick."""

SHORT_OF_GOAL_YD: Final = 0.01
"""The nearest to a goal line that a ball is spotted: one dead past it while the touchdown is too close to call, too. So
near to the line to gain it is if a person takes the first down back."""


def follow_up(context: RuleContext, name: str, kind: CallKind, text: str, **more: object) -> Finding:
    """Return a finding that follows from the state, with the clauses the rulebook cites for it."""
    return Finding(rule=DOWNS, kind=kind, t_ns=context.t_ns, text=text, clauses=context.clauses(name), **more)  # type: ignore[arg-type]


def spot_dead_ball(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Spot the dead ball at the call's spot: a tackle, a fall, out of bounds, a sack."""
    if call.spot_yd is None:
        return spot_dead_ball_at(game, game.los_yd, game.width_yd / 2, call.t_ns, context)
    return spot_dead_ball_at(game, *call.spot_yd, call.t_ns, context, call.spot_sigma_yd[0])


def spot_dead_ball_at(
    game: GameState, x_yd: float, y_yd: float, t_ns: int, context: RuleContext, sigma_yd: float = 0.0
) -> Outcome:
    """Spot the dead ball: a down, a first down after a return, a safety, a touchback, or a failed try.

    Its place is along x of the board and across; `sigma_yd` is the standard deviation along the field.
    """
    # On a try there is no next down: a dead ball short of the goal line ends it.
    if game.due in {"extra_point", "two_point"}:
        return fail_try(game, context)
    behind = PastLine(-game.progress_yd(x_yd, game.ball_direction), sigma_yd, (x_yd, y_yd))
    confidence = context.params.real("calls.confidence")
    if behind.probability >= confidence:
        return Outcome(end_play(game), behind_goal_line(game, behind, context))
    outcome = _spot_in_front(game, x_yd, y_yd, t_ns, context, sigma_yd)
    if behind.probability <= 1.0 - confidence:
        return outcome
    over = replace(behind_goal_line(game, behind, context)[0], against="the ball is in front of the goal line")
    return decide(outcome.state, over, outcome.findings, behind, context)


def _spot_in_front(
    game: GameState, x_yd: float, y_yd: float, t_ns: int, context: RuleContext, sigma_yd: float
) -> Outcome:
    """Spot the dead ball between the goal lines: a new series for who has gained it in the play, else the next down."""
    holder, direction = game.play.ball_side, game.ball_direction
    progress = game.progress_yd(x_yd, direction)
    x_yd = game.board_x_yd(min(max(progress, SHORT_OF_GOAL_YD), game.length_yd - SHORT_OF_GOAL_YD), direction)
    if game.play.changed_sides(game.offense) or game.play.kind in {"kickoff", "onside", "free_kick"}:
        game = start_series(game, holder, direction, x_yd, y_yd, t_ns, context, sigma_yd)
        spot_yd, error_yd = (x_yd, y_yd), (sigma_yd, 0.0)
        text = f"{game.team(game.offense).name} ball, first down at {game.spot_text(game.los_yd)}"
        ball = follow_up(
            context, "first_down", "first_down", text, side=holder, spot_yd=spot_yd, spot_sigma_yd=error_yd
        )
        return Outcome(game, (ball,))
    return play_next_down(game, x_yd, y_yd, context, sigma_yd)


def play_next_down(game: GameState, x_yd: float, y_yd: float, context: RuleContext, sigma_yd: float = 0.0) -> Outcome:
    """Spot the ball for the offense: the next down, a first down, or a turnover on downs."""
    progress, line = game.progress_yd(x_yd), game.progress_yd(game.to_gain_yd)
    past = PastLine(progress - line, math.hypot(sigma_yd, game.to_gain_sigma_yd))
    if game.goal_to_go:  # whether the ball is past a goal line is judged where it crosses it, as a touchdown
        past = PastLine(past.margin_yd)
    down, allowed = game.down + 1, context.params.count("downs.allowed")
    # Short of the line, so near to it as it is seen: a person may find that it did not reach it.
    short_yd = game.board_x_yd(min(progress, line - SHORT_OF_GOAL_YD))
    gained = progress - game.line_yd
    state = _spotted(game, short_yd if past.probability > 0.0 else x_yd, y_yd, context)
    state = replace(state, gain_yd=gained, due="scrimmage", down=min(down, allowed))
    if down <= allowed and past.probability <= 1.0 - context.params.real("calls.confidence"):
        return Outcome(state)
    place = {"spot_yd": (x_yd, y_yd), "spot_sigma_yd": (sigma_yd, 0.0)}
    first = follow_up(context, "first_down", "first_down", "first down", side=game.offense, **place)
    if down <= allowed:
        return decide(state, replace(first, against=f"short of the line to gain: {state.situation}"), (), past, context)
    lost = follow_up(context, "downs", "turnover_on_downs", "turnover on downs", side=game.defense, **place)
    return decide(state, first, (lost,), past, context)


def apply_incompletion(game: GameState, _call: Call, context: RuleContext) -> Outcome:
    """Use up the down; the ball goes back to the line of scrimmage."""
    if game.due in {"two_point", "extra_point"}:
        return fail_try(game, context)
    lateral = game.width_yd / 2 if game.lateral_yd is None else game.lateral_yd
    return play_next_down(game, game.los_yd, lateral, context)


def award_first_down(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the call's side a first down at the call's spot, without one where the ball is."""
    x_yd, y_yd = call.spot_yd or (game.los_yd, game.lateral_yd)
    side, sigma_yd = call.side or game.offense, call.spot_sigma_yd[0]
    return Outcome(start_series(game, side, game.direction_of(side), x_yd, y_yd, call.t_ns, context, sigma_yd))


def turn_over_on_downs(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Give the defense a first down where the ball is."""
    side, sigma_yd = game.defense, call.spot_sigma_yd[0]
    direction = -game.direction
    return Outcome(start_series(game, side, direction, game.los_yd, game.lateral_yd, call.t_ns, context, sigma_yd))


def give_ball_to(
    game: GameState, side: Side, x_yd: float, y_yd: float | None, t_ns: int, context: RuleContext
) -> GameState:
    """Return the game with a side's first down at a place, toward the goal it attacks."""
    return start_series(game, side, game.direction_of(side), x_yd, y_yd, t_ns, context)


def award_touchback_at(param: str) -> Consequence:
    """Return a consequence: first down at the call's spot, or at the side's own yard line that a parameter names."""

    def touchback(game: GameState, call: Call, context: RuleContext) -> Outcome:
        side = call.side or (game.defense if game.play.kind == "punt" else game.play.ball_side)
        own = game.board_x_yd(context.params.real(param), game.direction_of(side))
        x_yd = call.spot_yd[0] if call.spot_yd else own
        return Outcome(give_ball_to(game, side, x_yd, game.width_yd / 2, call.t_ns, context))

    return touchback


def start_series(
    game: GameState,
    side: Side,
    direction: int,
    x_yd: float,
    y_yd: float | None,
    t_ns: int,
    context: RuleContext,
    sigma_yd: float = 0.0,
) -> GameState:
    """Return the game with a side's first down at a place, ten yards to gain, as surely as the place, or the goal."""
    # The set-up clock is longer after a change of possession, so its instant is kept.
    changed = t_ns if side != game.offense or game.due != "scrimmage" else game.changed_ns
    game = replace(game, offense=side, direction=1 if direction > 0 else -1, changed_ns=changed)
    game = replace(game, due="scrimmage", try_for=None)
    game = _spotted(game, x_yd, y_yd, context)
    line = game.progress_yd(x_yd) + context.params.real("downs.to_gain_yd")
    to_gain_yd = game.board_x_yd(min(game.length_yd, line))
    return replace(game, down=1, to_gain_yd=to_gain_yd, to_gain_sigma_yd=sigma_yd if line < game.length_yd else 0.0)


def score_touchdown(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score six points and begin the rulebook's try; on a try, score its two points."""
    side = call.side or game.play.ball_side
    if game.due in {"extra_point", "two_point"}:
        text = f"two-point conversion, {game.team(side).name}"
        return Outcome(game, (follow_up(context, "two_point", "two_point", text, side=side, detail="good"),))
    direction = game.direction_of(side)
    game = add_points(game, side, TOUCHDOWN, call.t_ns)
    game = replace(game, offense=side, direction=1 if direction > 0 else -1, try_for=side, due="extra_point", down=1)
    game = replace(game, phase=Phase.BETWEEN_PLAYS, wait=None, play=PlayState(ball_side=side))
    return Outcome(game) if context.system.begin_try is None else context.system.begin_try(game, "try", context)


def gained_in_end_zone(
    game: GameState, call: Call, context: RuleContext, clauses: tuple[str, ...]
) -> tuple[Finding, ...]:
    """Return the touchdown of who gained the ball at or past the goal line that he attacks; none for any other gain.

    Where the camera sees him the goal line's own rule judges him, with its margin.
    """
    if context.facts is not None and set(call.players) & set(context.facts.figures):
        return ()
    side = game.play.ball_side
    in_zone = call.spot_yd is not None and game.progress_yd(call.spot_yd[0], game.direction_of(side)) >= game.length_yd
    if not in_zone:
        return ()
    text = f"touchdown, {game.team(side).name}"
    return (
        Finding(DOWNS, "touchdown", call.t_ns, text, clauses, "caught", call.players, spot_yd=call.spot_yd, side=side),
    )


def offer_try(game: GameState) -> Outcome:
    """Wait for the coach's choice of a try."""
    wait = PendingInput("choice", "try", ("extra_point", "two_point"), by=game.offense)
    return Outcome(replace(game, phase=Phase.PENDING_CHOICE, wait=wait))


def line_up_try(game: GameState, due: Literal["extra_point", "two_point"], from_yd: float) -> GameState:
    """Return the game lined up for a try played, or kicked, from so many yards before the goal line."""
    los_yd, goal_yd = game.board_x_yd(game.length_yd - from_yd), game.board_x_yd(game.length_yd)
    play = PlayState(kind=due, ball_side=game.offense)
    return replace(game, phase=Phase.LINE_UP, wait=None, due=due, los_yd=los_yd, to_gain_yd=goal_yd, down=1, play=play)


def score_two_point(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score two points when the try was good, and end the try."""
    side = call.side or game.offense
    if call.detail == "good":
        game = add_points(game, side, 2, call.t_ns)
    return Outcome(end_try(game, context))


def ends_try(game: GameState, side: Side) -> bool:
    """Return whether a try is over because the other side has the ball, which can't score on it."""
    return game.due in {"extra_point", "two_point"} and side != game.offense


def fail_try(game: GameState, context: RuleContext) -> Outcome:
    """End a two-point try whose ball is dead without a score."""
    text = f"two-point conversion fails, {game.team(game.offense).name}"
    return Outcome(game, (follow_up(context, "two_point", "two_point", text, side=game.offense, detail="failed"),))


def score_extra_point(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score the extra point when it was good, and end the try."""
    if call.detail == "good":
        game = add_points(game, call.side or game.offense, 1, call.t_ns)
    return Outcome(end_try(game, context))


def score_field_goal(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score three points; after a miss, the defense's first down where the line of scrimmage was."""
    side = call.side or game.offense
    if call.detail == "good":
        return Outcome(schedule_kick(add_points(game, side, FIELD_GOAL, call.t_ns), side, "kickoff", context))
    x_yd = call.spot_yd[0] if call.spot_yd else game.los_yd
    lateral = call.spot_yd[1] if call.spot_yd else game.lateral_yd
    return Outcome(start_series(game, opponent(side), -game.direction, x_yd, lateral, call.t_ns, context))


def reach_line(game: GameState, call: Call, _context: RuleContext) -> Outcome:
    """Note that the carrier is past the line: he may not pass any more, even if he drifts back. The board runs on."""
    return Outcome(replace(game, play=replace(game.play, line_reached_ns=call.t_ns)))


def score_safety(game: GameState, call: Call, context: RuleContext) -> Outcome:
    """Score two points against the side with the ball, which then has a free kick."""
    side = call.side or opponent(game.play.ball_side)
    game = add_points(game, side, SAFETY, call.t_ns)
    return Outcome(schedule_kick(game, opponent(side), "free_kick", context))


def end_try(game: GameState, context: RuleContext) -> GameState:
    """Return the game after the try: the side that scored kicks off."""
    return schedule_kick(replace(game, try_for=None), game.try_for or game.offense, "kickoff", context)


def schedule_kick(game: GameState, kicking: Side, kick: str, context: RuleContext) -> GameState:
    """Return the game with a kickoff or free kick due; the receivers count as offense until they have the ball."""
    receiving = opponent(kicking)
    # Both sides keep the goal lines that they defend; only who counts as the offense changes.
    flip = 1 if receiving == game.offense else -1
    direction = game.direction * flip
    game = replace(
        game,
        phase=Phase.BETWEEN_PLAYS,
        wait=None,
        offense=receiving,
        direction=1 if direction > 0 else -1,
        due=kick,  # type: ignore[arg-type]
        kicking=kicking,
        try_for=None,
        changed_ns=context.t_ns,
        play=PlayState(ball_side=receiving),
        separated_ns=None,
        set_ns=None,
    )
    return at_kick_spot(game, context.system, context.params)


def with_kicker(game: GameState) -> GameState:
    """Return the game with the side that kicks off now recorded, the first of the game as its opening kicker.

    At the first kickoff that is the side set up to defend. A free kick after a safety opens no half.
    """
    kicking = game.kicking or game.defense
    opening = game.opening_kicker or (None if game.due == "free_kick" else kicking)
    return replace(game, kicking=kicking, opening_kicker=opening)


def kick_from_yd(game: GameState, params: Params) -> float:
    """Return where the kickoff or free kick that is due is kicked from, in the kickers' own yards."""
    name = "kickoff.from_yd" if game.due != "free_kick" else "free_kick.from_yd"
    return params.real(name) if name in params.definitions else FREE_KICK_FROM_YD


def at_kick_spot(game: GameState, system: RuleSystem, params: Params) -> GameState:
    """Return the game with the ball where the rulebook has the kick that is due kicked from."""
    if system.kick_from_yd is None:
        return game
    return replace(game, los_yd=game.board_x_yd(game.length_yd - system.kick_from_yd(game, params)))


def add_points(game: GameState, side: Side, points: int, t_ns: int) -> GameState:
    """Return the game with points added."""
    home, away = game.score
    score = (home + points, away) if side == "home" else (home, away + points)
    return replace(game, score=score, changed_ns=t_ns)


def end_play(game: GameState) -> GameState:
    """Return the game with the play over and its state cleared."""
    play = PlayState(ball_side=game.offense)
    return replace(game, phase=Phase.BETWEEN_PLAYS, wait=None, play=play, separated_ns=None, set_ns=None)


def _spotted(game: GameState, x_yd: float, y_yd: float | None, context: RuleContext) -> GameState:
    x_yd = min(max(x_yd, SHORT_OF_GOAL_YD), game.length_yd - SHORT_OF_GOAL_YD)
    lateral = None if context.params.flag("downs.mid_field") else y_yd
    return replace(end_play(game), los_yd=x_yd, lateral_yd=lateral)


def behind_goal_line(game: GameState, behind: PastLine, context: RuleContext) -> tuple[Finding, ...]:
    """Return what follows from a ball dead behind its holder's goal line: a safety, or a touchback.

    It is a safety for who took it there himself: the offense that has not lost the ball, and who gained it in front of
    the line or came out with it. Who never left the end zone in which he gained it has a touchback.
    """
    holder = game.play.ball_side
    players = (game.play.carrier,) if game.play.carrier else ()
    own_play = not game.play.changed_sides(game.offense) and game.play.kind not in {"kickoff", "onside", "free_kick"}
    is_safety = own_play or context.params.flag("downs.safety_on_returns")
    taken_back = 1.0 if is_safety else _taken_back(game, holder)
    text = f"safety, {game.team(opponent(holder)).name}"
    safety = follow_up(context, "safety", "safety", text, side=opponent(holder), players=players)
    text = f"touchback, {game.team(holder).name}"
    touchback = follow_up(context, "touchback", "touchback", text, side=holder, players=players)
    first, second = (safety, touchback) if taken_back >= EVEN_ODDS else (touchback, safety)
    told = behind.told(first, within=max(taken_back, 1.0 - taken_back))
    return (replace(told, against=second.text, against_kind=second.kind),)


def _taken_back(game: GameState, holder: Side) -> float:
    """Return the probability that a side had the ball in front of its goal line before it was behind it."""
    direction, share = game.direction_of(holder), 0.0
    for hold in game.play.holds_since_gained:
        for spot_yd in (hold.spot_yd, hold.lost_yd):
            if spot_yd is not None:
                was_yd = game.progress_yd(spot_yd[0], direction)
                share = max(share, PastLine(was_yd - ON_THE_LINE_YD, hold.spot_sigma_yd[0]).probability)
        if hold.farthest_yd is not None:
            share = max(share, PastLine(hold.farthest_yd - ON_THE_LINE_YD, hold.farthest_sigma_yd).probability)
    return share


def held_by_fumbler(play: PlayState, call: Call) -> PlayState:
    """Return the play with the ball in the hands of the side whose fumble it is said to be, whoever had it."""
    if call.side is None or call.side == play.ball_side:
        return play
    return play.gained(call.side, None, "recovery", call.t_ns, call.spot_yd)


def gain_ball(play: PlayState, call: Call, side: Side) -> PlayState:
    """Return the play with the ball in the hands that a catch, a recovery or a kick's landing gives it to."""
    player = call.players[0] if call.players else None
    how = GAINED_BY.get(call.kind, "kick")
    spot_sigma_yd, sigma_s = call.spot_sigma_yd, call.t_sigma_s
    return play.gained(side, player, how, call.t_ns, call.spot_yd, spot_sigma_yd=spot_sigma_yd, sigma_s=sigma_s)
