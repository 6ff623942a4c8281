"""A game, its calls, its ball and its questions, and a scene, as the values of their topics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Final

from downfield.core.field.model import FieldModel
from downfield.core.records import made_of
from downfield.core.scene import Asked, Ball, Figure, Scene
from downfield.game.published import board_topics, game_topics
from downfield.game.published.game_topics import (
    CallsUpdate,
    CallView,
    ClauseView,
    ConditionView,
    DeclarationView,
    ReadingView,
    RulingView,
    Standing,
)
from downfield.game.records.commands import TeamSheet
from downfield.game.records.entries import GameStarted
from downfield.officiating.calls import Call
from downfield.officiating.conditions import conditions_summary, joint_words
from downfield.officiating.declarations import Side
from downfield.officiating.engine.engine_state import calls_to_append
from downfield.officiating.rulebooks.installed import load_system, load_systems
from downfield.officiating.state.game_state import GameState

_HITS: Final = ("side", "rear")
_STANDING: Final[dict[str, Standing]] = {
    "confirm": "confirmed",
    "overturn": "overturned",
    "manual": "manual",
    "strike": "struck",
}
"""A call's standing after a person's ruling on it."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call is shown with."""

    started: GameStarted  # how its game was started
    spot: Callable[[float], str]  # returns a place along the field in words
    open: frozenset[str] = frozenset()  # ids of calls that wait for a person
    rulings: Mapping[str, RulingView] = field(default_factory=dict)  # by call id
    frames: Mapping[str, int] = field(default_factory=dict)  # the frame a call was made at, by call id
    game: str = ""  # id of its game


def call_view(call: Call, context: CallContext) -> CallView:
    """Return a call as topics show it."""
    belief = call.belief
    return made_of(
        CallView,
        call,
        game=context.game,
        standing=_standing(call, context),
        clauses=tuple(ClauseView(id=name, text=_clause_text(name, context)) for name in call.clauses),
        spot_text="" if call.spot_yd is None else context.spot(call.spot_yd[0]),
        margin=_finite(belief.margin),
        sigma=_finite(belief.sigma),
        measure=call.measured_quantity,
        measured=belief.measured,
        basis=belief.basis,
        frame_measured=belief.frame_measured,
        conditions=_conditions(call),
        joint_words=joint_words(call.told_apart, call.together, call.probability),
        summary=conditions_summary(call.told_apart, call.together, call.probability),
        readings=tuple(made_of(ReadingView, reading) for reading in call.readings),
        ruling=context.rulings.get(call.id),
        frame=context.frames.get(call.id),
    )


def _conditions(call: Call) -> tuple[ConditionView, ...]:
    """Return the things measured that a call rests on, each in words of its own; the first says when."""
    when = call.when_words
    return tuple(
        made_of(
            ConditionView,
            condition,
            words=condition.words("" if place else when, too_close=call.verdict == "too_close"),
            margin=_finite(condition.belief.margin),
            sigma=_finite(condition.belief.sigma),
            measured=condition.belief.measured,
            basis=condition.belief.basis,
            frame_measured=condition.belief.frame_measured,
        )
        for place, condition in enumerate(call.told_apart)
    )


def _standing(call: Call, context: CallContext) -> Standing:
    ruling = context.rulings.get(call.id)
    if ruling is not None:
        return _STANDING.get(ruling.decision, "stands")
    if call.verdict == "reported":
        return "noted"
    return "open" if call.id in context.open else "stands"


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _clause_text(clause: str, context: CallContext) -> str:
    """Return a clause's text in short: a house rule's, or that of any rulebook, as a game may change its own."""
    house = context.started.rulebook.house_clauses.get(clause)
    return _clause_texts().get(clause, "") if house is None else house.text


@cache
def _clause_texts() -> dict[str, str]:
    return {name: clause.text for system in load_systems()[0] for name, clause in system.catalog.items()}


def changed_calls(
    game: str,
    now: Sequence[CallView],
    before: Sequence[CallView],
    rulings: Mapping[str, RulingView],
    cause: DeclarationView | None,
) -> CallsUpdate:
    """Return the calls of a game that are new, changed, withdrawn or moved, with what led to it."""
    known = {call.id: call for call in before}
    stand = dict.fromkeys(call.id for call in now)
    gone = [call for call in before if call.id not in stand]
    return CallsUpdate(
        game=game,
        calls=tuple(call for call in now if known.get(call.id) != call),
        withdrawn=tuple(call.id for call in gone),
        struck=tuple(_ruled(call, rulings[call.id]) for call in gone if call.id in rulings),
        cause=cause,
        moved=calls_to_append(known, tuple(stand)),
    )


def _ruled(call: CallView, ruling: RulingView) -> CallView:
    return call.model_copy(update={"ruling": ruling, "standing": _STANDING[ruling.decision]})


def game_view(
    game: str, state: GameState, started: GameStarted, at_ms: int, *, shadow: bool = False
) -> game_topics.GameView:
    """Return the topic `game` at an instant of the wall clock."""
    left_s = state.clock.left_at_s(state.now_ns)
    return made_of(
        game_topics.GameView,
        state,
        game=game,
        rulebook=started.rulebook.name,
        rulebook_title=started.rulebook.title,
        system=started.rulebook.system,
        accepts=_accepted_types(started.rulebook.system),
        dice_anytime=load_system(started.rulebook.system).dice_anytime,
        hits=tuple(hit for hit in _HITS if started.rulebook.values.get(f"tackle.{hit}_bonus_yd")),
        home=_team(state, "home", started.home),
        away=_team(state, "away", started.away),
        possession=state.play.ball_side,
        direction=1 if state.ball_direction > 0 else -1,
        distance_yd=round(state.distance_yd, 2),
        spot_yd=round(state.los_yd, 2),
        spot_text=state.spot_text(state.los_yd),
        to_gain_yd=round(state.to_gain_yd, 2),
        clock=game_topics.ClockView(left_s=left_s, running=state.clock.running, at_ms=at_ms, text=clock_text(left_s)),
        phase_text=state.phase.value.replace("_", " "),
        wait=_wait(state),
        shadow=shadow,
        under_review=bool(state.proposals),
        t_ns=state.now_ns,
    )


@cache
def _accepted_types(system: str) -> tuple[str, ...]:
    kinds = load_system(system).handlers
    return tuple(sorted(str(field.default) for kind in kinds for field in fields(kind) if field.name == "type"))


def _team(state: GameState, side: Side, sheet: TeamSheet) -> game_topics.TeamView:
    place = 0 if side == "home" else 1
    return made_of(
        game_topics.TeamView,
        sheet,
        jersey="dark" if state.dark == side else "light",
        points=state.score[place],
        time_outs=None if state.time_outs is None else state.time_outs[place],
    )


def _wait(state: GameState) -> game_topics.WaitView | None:
    wait = state.wait
    if wait is None:
        return None
    if wait.kind == "ruling":
        text = f"{wait.purpose}: over the line or short of it"
        return game_topics.WaitView(kind=wait.kind, purpose=wait.purpose, text=text)
    action = {"roll": "roll", "coin": "flip a coin", "choice": "choose"}[wait.kind]
    coach = "" if wait.by is None else f"{state.team(wait.by).name}: "
    purpose = wait.purpose.replace("_", " ")
    options = [option.replace("_", " ") for option in wait.options]
    offered = (
        "" if not options else f": {' '.join(options)}" if wait.kind == "choice" else f", or {' or '.join(options)}"
    )
    text = f"{coach}{action} for {purpose}{offered}"
    return made_of(game_topics.WaitView, wait, text=text)


def ball_view(state: GameState, ball: Ball | None, mm_per_yd: tuple[float, float]) -> game_topics.BallView:
    """Return the topic `ball`. `ball`: as last detected; None when it was not."""
    carrier = state.player(state.play.carrier)
    side = state.play.ball_side
    if carrier is not None:
        text = f"{carrier.jersey} {carrier.number or carrier.id} has the ball"
    else:
        text = f"{state.team(side).name} ball"
    return game_topics.BallView(
        player=state.play.carrier,
        number="" if carrier is None else carrier.number,
        jersey=None if carrier is None else carrier.jersey,
        side=side,
        state=None if ball is None else ball.state,
        x_yd=None if ball is None else round(ball.x_mm / mm_per_yd[0], 2),
        y_yd=None if ball is None else round(ball.y_mm / mm_per_yd[1], 2),
        text=text,
    )


_ASKED: Final[dict[Asked, str]] = {
    "sides": "Which team is on the left of the picture?",
    "names": "Is every figure who it is drawn as?",
}


def questions_view(
    calls: Iterable[game_topics.CallView], game: game_topics.GameView, asks: Asked = ""
) -> game_topics.Questions:
    """Return the topic `questions`. `asks`: what the latest scene asks about who is who."""
    questions: list[game_topics.Question] = [
        game_topics.Question(id=call.id, kind="ruling", text=call.text, call=call)
        for call in calls
        if call.standing == "open"
    ]
    wait = game.wait
    if wait is not None and wait.kind != "ruling":  # the calls above are what it waits for
        questions.append(made_of(game_topics.Question, wait, id=f"{wait.kind}:{wait.purpose}", call=None))
    if asks:
        identity = game_topics.Question(id=f"identity:{asks}", kind="identity", text=_ASKED[asks], purpose=asks)
        questions.insert(0, identity)
    return game_topics.Questions(game=game.game, questions=tuple(questions))


def scene_view(scene: Scene, field: FieldModel) -> board_topics.SceneView:
    """Return the topic `scene`."""
    ball = scene.ball
    return board_topics.SceneView.model_construct(
        frame=scene.frame,
        t_ns=scene.t_ns,
        board=scene.board,
        figures=tuple(_figure(figure, field) for figure in scene.figures),
        touching=tuple((contact.a, contact.b) for contact in scene.contacts if contact.since_ns is not None),
        ball_mm=None if ball is None else (round(ball.x_mm, 1), round(ball.y_mm, 1)),
        hands=tuple(tuple((round(x), round(y)) for x, y in hand.outline_mm) for hand in scene.hands),
    )


def _figure(figure: Figure, field: FieldModel) -> board_topics.FigureView:
    return board_topics.FigureView.model_construct(
        id=figure.id,
        jersey=figure.jersey,
        x_yd=round(figure.x_mm / field.mm_per_yd_x, 2),
        y_yd=round(figure.y_mm / field.mm_per_yd_y, 2),
        x_mm=round(figure.x_mm, 1),
        y_mm=round(figure.y_mm, 1),
        heading=round(figure.heading_deg, 1),
        posture=figure.posture,
        sigma_mm=round(max(figure.sigma_mm), 2),
        sure=figure.sure,
        front=round(figure.front, 2),
        identity=round(figure.identity, 2),
    )


def clock_text(left_s: float | None) -> str:
    """Return time left as a clock shows it, such as ``"4:07"``; empty without one."""
    if left_s is None:
        return ""
    whole_s = max(0, int(left_s + 0.999))
    return f"{whole_s // 60}:{whole_s % 60:02d}"
