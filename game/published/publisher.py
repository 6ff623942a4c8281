"""Publishes the topics of a game: each when its value changes, scenes a few times a second."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Final

from downfield.core.field.model import FieldModel
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.scene import Ball, Figure, Player, Scene
from downfield.game.published import board_topics, game_topics
from downfield.game.published.call_views import CallContext, call_view, changed_calls
from downfield.game.published.topic_sink import TopicSink
from downfield.game.records.commands import TeamSheet
from downfield.game.records.entries import GameStarted
from downfield.officiating.calls import Call
from downfield.officiating.declarations import FrontDeclared, Side
from downfield.officiating.rulebooks.installed import load_system
from downfield.officiating.state.game_state import GameState


@dataclass(frozen=True, slots=True)
class PublishingLimits:
    """Limits of what is published."""

    scenes_per_s: int = 15
    """Scenes published in a second: enough for a smooth picture in a browser."""

    latest: int = 60
    """Calls in a snapshot and declarations in `declared`: about a quarter; the endpoints have the rest."""


PUBLISHING_LIMITS: Final = PublishingLimits()


@dataclass(frozen=True, slots=True)
class LineUpStatus:
    """The figures on the board.

    Attributes:
        players: the roster of the last line-up.
        revision: counts the line-ups and "set" declarations of this game made by a person.
        fronts: where figures face, as declared by a person, by event id in order.

    """

    players: tuple[Player, ...] = ()
    revision: int = 0
    fronts: Mapping[str, FrontDeclared] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GameSnapshot:
    """A game after its calls or declarations changed.

    Attributes:
        state: its state.
        calls: every call that stands, in order.
        rulings: what people decided, by call id.
        frames: the frame a call was made at, by call id.
        declarations: the latest declarations and rulings, in order.
        line_up: the figures on the board.

    """

    state: GameState
    calls: tuple[Call, ...]
    rulings: Mapping[str, game_topics.RulingView]
    frames: Mapping[str, int]
    declarations: Sequence[game_topics.DeclarationView]
    line_up: LineUpStatus


class StatePublisher:
    """Publishes one game after another.

    Args:
        sink: where.
        field: the printed field.
        shadow: whether the machine's calls are made in the shadow of the game, and not shown.

    """

    def __init__(self, sink: TopicSink, field: FieldModel, *, shadow: bool = False) -> None:
        self._sink, self._shadow = sink, shadow
        self._field = field
        self._game_id = ""
        self._started: GameStarted | None = None
        self._published: dict[str, object] = {}
        self._visible: tuple[object, ...] = ()
        self._calls: tuple[game_topics.CallView, ...] = ()
        self._call_views: dict[str, tuple[object, game_topics.CallView]] = {}
        self._ball: Ball | None = None
        self._scene_at_s = float("-inf")

    def use_field(self, field: FieldModel) -> None:
        """Publish everything on another printed field from now on."""
        self._field = field
        self._published.clear()
        self._visible = ()

    def start_game(self, game_id: str, started: GameStarted) -> None:
        """Withdraw the calls of the game before, and publish this one in full with its first snapshot."""
        self._game_id, self._started = game_id, started
        self._published.clear()
        self._visible = ()
        calls, self._calls = self._calls, ()
        if calls:
            withdrawn = game_topics.CallsUpdate(calls=(), withdrawn=tuple(call.id for call in calls))
            self._sink.publish("calls", withdrawn, full=game_topics.CallsUpdate(calls=()))

    def publish_challenges(self, challenges: game_topics.TopicModel) -> None:
        """Publish the challenges of the game in play."""
        self._publish("challenges", challenges)

    def publish_scene(self, scene: Scene) -> None:
        """Publish where every figure is, unless a scene was just published."""
        self._ball = scene.ball
        now_s = time.monotonic()
        if now_s - self._scene_at_s >= 1 / PUBLISHING_LIMITS.scenes_per_s:
            self._scene_at_s = now_s
            self._sink.publish("scene", scene_view(scene, self._field))

    def publish_state(self, state: GameState) -> None:
        """Publish what a scene changed, where it made no call."""
        if _visible(state) != self._visible:
            self._publish_state(state)

    def publish_changes(self, snapshot: GameSnapshot) -> tuple[game_topics.CallView, ...]:
        """Publish a game after its calls or declarations changed.

        Returns:
            Every call that stands, as published.

        """
        state, line_up = snapshot.state, snapshot.line_up
        calls, before = self.call_views(snapshot), self._calls
        if calls != before:
            latest = game_topics.CallsUpdate(calls=calls[-PUBLISHING_LIMITS.latest :])
            self._sink.publish("calls", changed_calls(calls, before), full=latest)
            self._calls = calls
        self._publish("declared", game_topics.RecentDeclarations(events=tuple(snapshot.declarations)))
        if line_up.players:
            value = board_topics.LineUpView(players=line_up.players, field=self._field, revision=line_up.revision)
            self._publish("line_up", value)
        self._publish_state(state)
        return calls

    def call_views(self, snapshot: GameSnapshot) -> tuple[game_topics.CallView, ...]:
        """Return every call that stands, as it is published."""
        if self._started is None:
            return ()
        context = CallContext(
            self._started,
            snapshot.state.spot_text,
            frozenset(snapshot.state.proposals),
            snapshot.rulings,
            snapshot.frames,
        )
        known, self._call_views = self._call_views, {}
        for call in snapshot.calls:
            about = (call, call.id in context.open, context.rulings.get(call.id), context.frames.get(call.id))
            before = known.get(call.id)
            self._call_views[call.id] = before if before and before[0] == about else (about, call_view(call, context))
        return tuple(view for _, view in self._call_views.values())

    def publish_source(self, source: board_topics.SourceStatus) -> None:
        """Publish where the pictures come from."""
        self._publish("source", source)

    def publish_health(self, health: board_topics.HealthStatus) -> None:
        """Publish the health of the rig."""
        self._sink.publish("health", health)

    def publish_notice(self, notice: game_topics.Notice) -> None:
        """Publish a line for people, once."""
        self._sink.publish("notice", notice)

    def _publish_state(self, state: GameState) -> None:
        if self._started is None:
            return
        self._visible = _visible(state)
        game = game_view(self._game_id, state, self._started, RUN_CLOCK.now_ms(), shadow=self._shadow)
        # A change of the time alone is not published; a browser counts a running clock down by itself.
        self._publish("game", game, game.model_copy(update={"t_ns": 0, "clock": state.clock}))
        mm_per_yd = (self._field.mm_per_yd_x, self._field.mm_per_yd_y)
        self._publish("ball", ball_view(state, self._ball, mm_per_yd))
        self._publish("questions", questions_view(self._calls, game))

    def _publish(self, topic: str, value: game_topics.TopicModel, compared: object = None) -> None:
        """Publish a topic's value if it differs from the last; compared by another value where one is given."""
        compared = value if compared is None else compared
        if self._published.get(topic) != compared:
            self._published[topic] = compared
            self._sink.publish(topic, value)


def _visible(state: GameState) -> tuple[Any, ...]:
    """Return the published values that scenes can change: cheap to compare 60 times a second."""
    play = state.play
    return (
        state.phase,
        state.board,
        state.suspended,
        state.proposals,
        state.clock,
        state.score,
        state.wait,
        play.carrier,
        play.ball_side,
        play.stoppages_used,
    )


def game_view(
    game: str, state: GameState, started: GameStarted, at_ms: int, *, shadow: bool = False
) -> game_topics.GameView:
    """Return the topic `game` at an instant of the wall clock."""
    left_s = state.clock.left_at_s(state.now_ns)
    return game_topics.GameView(
        game=game,
        rulebook=started.rulebook.name,
        rulebook_title=started.rulebook.title,
        system=started.rulebook.system,
        accepts=_accepted_types(started.rulebook.system),
        dice_anytime=load_system(started.rulebook.system).dice_anytime,
        home=_team(state, "home", started.home),
        away=_team(state, "away", started.away),
        score=state.score,
        possession=state.play.ball_side,
        offense=state.offense,
        direction=1 if state.ball_direction > 0 else -1,
        down=state.down,
        distance_yd=round(state.distance_yd, 2),
        goal_to_go=state.goal_to_go,
        spot_yd=round(state.los_yd, 2),
        spot_text=state.spot_text(state.los_yd),
        to_gain_yd=round(state.to_gain_yd, 2),
        lateral_yd=state.lateral_yd,
        hash=state.hash,
        due=state.due,
        period=state.period,
        clock=game_topics.ClockView(left_s=left_s, running=state.clock.running, at_ms=at_ms, text=clock_text(left_s)),
        phase=state.phase,
        phase_text=state.phase.value.replace("_", " "),
        board=state.board,
        wait=_wait(state),
        suspended=state.suspended,
        shadow=shadow,
        under_review=bool(state.proposals),
        situation=state.situation,
        text=state.text,
        t_ns=state.now_ns,
    )


@cache
def _accepted_types(system: str) -> tuple[str, ...]:
    kinds = load_system(system).handlers
    return tuple(sorted(str(field.default) for kind in kinds for field in fields(kind) if field.name == "type"))


def _team(state: GameState, side: Side, sheet: TeamSheet) -> game_topics.TeamView:
    place = 0 if side == "home" else 1
    return game_topics.TeamView(
        name=sheet.name,
        short=sheet.short,
        color=sheet.color,
        ink=sheet.ink,
        logo=sheet.logo,
        jersey="dark" if state.dark == side else "light",
        points=state.score[place],
        time_outs=None if state.time_outs is None else state.time_outs[place],
    )


def _wait(state: GameState) -> game_topics.WaitView | None:
    wait = state.wait
    if wait is None:
        return None
    action = {"roll": "roll", "coin": "flip a coin", "choice": "choose"}[wait.kind]
    coach = "" if wait.by is None else f"{state.team(wait.by).name}: "
    purpose = wait.purpose.replace("_", " ")
    options = [option.replace("_", " ") for option in wait.options]
    offered = (
        "" if not options else f": {' '.join(options)}" if wait.kind == "choice" else f", or {' or '.join(options)}"
    )
    text = f"{coach}{action} for {purpose}{offered}"
    return game_topics.WaitView(kind=wait.kind, purpose=wait.purpose, options=wait.options, by=wait.by, text=text)


def ball_view(state: GameState, ball: Ball | None, mm_per_yd: tuple[float, float]) -> game_topics.BallView:
    """Return the topic `ball`.

    Args:
        state: the game.
        ball: as last detected; None when it was not.
        mm_per_yd: along the field and across.

    """
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


def questions_view(calls: Iterable[game_topics.CallView], game: game_topics.GameView) -> game_topics.Questions:
    """Return the topic `questions`."""
    questions: list[game_topics.Question] = [
        game_topics.Question(id=call.id, kind="ruling", text=call.text, call=call)
        for call in calls
        if call.standing == "open"
    ]
    wait = game.wait
    if wait is not None:
        questions.append(
            game_topics.Question(
                id=f"{wait.kind}:{wait.purpose}",
                kind=wait.kind,
                text=wait.text,
                purpose=wait.purpose,
                options=wait.options,
                by=wait.by,
            )
        )
    return game_topics.Questions(questions=tuple(questions))


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
    )


def clock_text(left_s: float | None) -> str:
    """Return time left as a clock shows it, such as ``"4:07"``; empty without one."""
    if left_s is None:
        return ""
    whole_s = max(0, int(left_s + 0.999))
    return f"{whole_s // 60}:{whole_s % 60:02d}"
