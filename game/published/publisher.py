"""Publishes the topics of a game: each when its value changes, scenes a few times a second."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from downfield.core.field.model import FieldModel
from downfield.core.platform.clock import RUN_CLOCK
from downfield.core.scene import Asked, Ball, Jersey, Player, Scene
from downfield.game.published import board_topics, game_topics
from downfield.game.published.hub import Hub
from downfield.game.published.views import (
    CallContext,
    ball_view,
    call_view,
    changed_calls,
    game_view,
    questions_view,
    scene_view,
)
from downfield.game.records.entries import GameStarted
from downfield.game.records.keeping import StoreProblem
from downfield.game.records.models import TopicModel
from downfield.officiating.calls import Call
from downfield.officiating.declarations import FrontDeclared, IdentitiesDeclared
from downfield.officiating.state.game_state import GameState

_SCENES_PER_S: Final = 15  # Scenes published in a second: enough for a smooth picture in a browser

LATEST: Final = 60
"""Calls in a snapshot and declarations in `declared`: about a quarter of a game; the endpoints have the rest."""


@dataclass(frozen=True, slots=True)
class LineUpStatus:
    """The figures on the board."""

    players: tuple[Player, ...] = ()  # the roster of the last line-up
    revision: int = 0  # counts the line-ups and "set" declarations of this game made by a person
    # where figures face, as declared by a person, by event id in order
    fronts: Mapping[str, FrontDeclared] = field(default_factory=dict)
    # who is who, as declared by a person, by event id in order
    identities: Mapping[str, IdentitiesDeclared] = field(default_factory=dict)
    left: Jersey | None = None  # jersey of the team that the rules have on the left, at smaller x; None before a game


@dataclass(frozen=True, slots=True)
class ChangedGame:
    """A game after its calls or declarations changed."""

    state: GameState
    calls: tuple[Call, ...]  # every call that stands, in order
    rulings: Mapping[str, game_topics.RulingView]  # what people decided, by call id
    frames: Mapping[str, int]  # the frame a call was made at, by call id
    declarations: Sequence[game_topics.DeclarationView]  # the latest declarations and rulings, in order
    line_up: LineUpStatus  # the figures on the board


class StatePublisher:
    """Publishes one game after another; in shadow mode the machine's calls are made beside it, and not shown."""

    def __init__(self, hub: Hub, field: FieldModel, *, shadow: bool = False) -> None:
        self._hub, self._shadow = hub, shadow
        self._field = field
        self._game_id = ""
        self._started: GameStarted | None = None
        self._source: board_topics.SourceStatus | None = None
        self._published: dict[str, object] = {}
        self._visible: tuple[object, ...] = ()
        self._calls: tuple[game_topics.CallView, ...] = ()
        self._earlier: tuple[game_topics.CallView, ...] = ()  # made in this game under another rulebook
        self._calls_of = ""  # id of the game whose calls were published last
        self._told = ""  # id of the latest declaration that was published
        self._call_views: dict[str, tuple[object, game_topics.CallView]] = {}
        self._ball: Ball | None = None
        self._scene_at_s = float("-inf")
        self._asks: Asked = ""
        self._game: game_topics.GameView | None = None

    def use_field(self, field: FieldModel) -> None:
        """Publish everything on another printed field from now on."""
        self._field = field
        self._published.clear()
        self._visible = ()

    def start_game(self, game_id: str, started: GameStarted) -> None:
        """Publish another game, or the same one under another rulebook, from its next publication on."""
        self._calls = self._earlier = self._calls if game_id == self._game_id else ()
        self._game_id, self._started = game_id, started
        self._published.clear()
        self._visible = ()

    def publish_challenges(self, challenges: TopicModel) -> None:
        """Publish the challenges of the game in play."""
        self._publish("challenges", challenges)

    def publish_scene(self, scene: Scene) -> None:
        """Publish where every figure is, unless a scene was just published."""
        self._ball = scene.ball
        if scene.asks != self._asks:
            self._asks = scene.asks
            if self._game is not None:
                self._publish("questions", questions_view(self._calls, self._game, self._asks))
        now_s = time.monotonic()
        if now_s - self._scene_at_s >= 1 / _SCENES_PER_S:
            self._scene_at_s = now_s
            self._hub.publish("scene", scene_view(scene, self._field))

    def publish_state(self, state: GameState) -> None:
        """Publish what a scene changed, where it made no call."""
        if _visible(state) != self._visible:
            self._publish_game(state)
            self._publish_ball_and_questions(state)

    def publish_changes(self, game: ChangedGame) -> tuple[game_topics.CallView, ...]:
        """Publish a game after its calls or declarations changed. Returns every call that stands, as published."""
        state, line_up = game.state, game.line_up
        calls, before = self.call_views(game), self._calls
        self._calls = calls
        self._publish_game(state)  # first: a reader knows which game its calls are of, and what it comes to by them
        newest = game.declarations[-1] if game.declarations else None
        cause = newest if newest is not None and newest.id != self._told else None
        if self._calls_of != self._game_id:
            self._calls_of = self._game_id
            self._publish_calls(calls, changed_calls(self._game_id, calls, (), game.rulings, None))
        elif calls != before:
            self._publish_calls(calls, changed_calls(self._game_id, calls, before, game.rulings, cause))
        self._told = "" if newest is None else newest.id
        self._publish("declared", game_topics.RecentDeclarations(game=self._game_id, events=tuple(game.declarations)))
        if line_up.players:
            value = board_topics.LineUpView(players=line_up.players, field=self._field, revision=line_up.revision)
            self._publish("line_up", value)
        self._publish_ball_and_questions(state)
        return calls

    def publish_reviewed(
        self, game: game_topics.GameView, calls: Sequence[game_topics.CallView], changed: game_topics.CallsUpdate
    ) -> None:
        """Publish what a ruling changed in a finished game: as that game, where it is still shown."""
        if self._game is None or self._game.game != game.game:
            self._hub.publish("reviewed", game_topics.ReviewedCalls(game=game, calls=changed))
            return
        self._game, self._calls = game, tuple(calls)
        self._publish("game", game)
        self._publish_calls(calls, changed)

    def _publish_calls(self, calls: Sequence[game_topics.CallView], changed: game_topics.CallsUpdate) -> None:
        latest = game_topics.CallsUpdate(game=changed.game, calls=tuple(calls[-LATEST:]))
        self._hub.publish("calls", changed, full=latest)

    def call_views(self, game: ChangedGame) -> tuple[game_topics.CallView, ...]:
        """Return every call that stands, as it is published."""
        if self._started is None:
            return ()
        waiting = frozenset(game.state.proposals)
        context = CallContext(self._started, game.state.spot_text, waiting, game.rulings, game.frames, self._game_id)
        known, self._call_views = self._call_views, {}
        for call in game.calls:
            about = (call, call.id in context.open, context.rulings.get(call.id), context.frames.get(call.id))
            before = known.get(call.id)
            self._call_views[call.id] = before if before and before[0] == about else (about, call_view(call, context))
        return (*self._earlier, *(view for _, view in self._call_views.values()))

    def publish_source(self, source: board_topics.SourceStatus) -> None:
        """Publish where the pictures come from."""
        self._source = source
        self._publish("source", source)

    def publish_health(self, health: board_topics.HealthStatus, problem: StoreProblem | None) -> None:
        """Publish the health of the rig, with what is wrong with the store; and another camera in the same place."""
        source, name = self._source, health.camera
        if source is not None and source.live and name not in {"", source.name}:
            text = name if source.text == source.name else source.text
            self.publish_source(source.model_copy(update={"name": name, "text": text}))
        self._hub.publish("health", _with_store_problem(health, problem))

    def publish_notice(self, notice: game_topics.Notice) -> None:
        """Publish a line for people, once."""
        self._hub.publish("notice", notice)

    def _publish_game(self, state: GameState) -> None:
        if self._started is None:
            return
        self._visible = _visible(state)
        game = game_view(self._game_id, state, self._started, RUN_CLOCK.now_ms(), shadow=self._shadow)
        # A change of the time alone is not published; a browser counts a running clock down by itself.
        self._publish("game", game, game.model_copy(update={"t_ns": 0, "clock": state.clock}))
        self._game = game

    def _publish_ball_and_questions(self, state: GameState) -> None:
        if self._game is None:
            return
        mm_per_yd = (self._field.mm_per_yd_x, self._field.mm_per_yd_y)
        self._publish("ball", ball_view(state, self._ball, mm_per_yd))
        self._publish("questions", questions_view(self._calls, self._game, self._asks))

    def _publish(self, topic: str, value: TopicModel, compared: object = None) -> None:
        """Publish a topic's value if it differs from the last; compared by another value where one is given."""
        compared = value if compared is None else compared
        if self._published.get(topic) != compared:
            self._published[topic] = compared
            self._hub.publish(topic, value)


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


def _with_store_problem(health: board_topics.HealthStatus, problem: StoreProblem | None) -> board_topics.HealthStatus:
    """Return the rig's health with what is wrong with the store; a warning while everything is on some disk."""
    if problem is None:
        return health
    if problem.kept_in:
        text = f"The store is behind: {problem.reason}. Everything is kept on this computer meanwhile"
        remedy = f"See to the disk or server. What waits in {problem.kept_in} is stored by itself, also after a restart"
        reason = board_topics.HealthReason(code="store_behind", level="warning", text=text, remedy=remedy)
    else:
        reason = board_topics.HealthReason(
            code="store_behind",
            level="alarm",
            text=f"Declarations are not saved: {problem.reason}",
            remedy="Free some disk space, or see to the server. Unsaved entries are written as soon as possible.",
        )
    return health.with_reason(reason).model_copy(update={"store": "behind"})
