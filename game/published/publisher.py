"""Tells the hub what changed: each topic when its value is another, scenes a few times a second."""

from __future__ import annotations

import time
from typing import Any, Final

from downfield.core.field import FieldModel
from downfield.core.scene import Ball, Scene
from downfield.game.published.board_topics import HealthStatus, LineUpView, SourceStatus
from downfield.game.published.game_topics import CallsUpdate, CallView, Notice, RecentDeclarations, TopicModel
from downfield.game.published.scene_view import scene_view
from downfield.game.published.topic_sink import TopicSink
from downfield.game.published.views import Shown, ball_view, call_view, changed_calls, game_view, questions_view
from downfield.game.session import GameSession
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUpDeclared, OffenseSet
from downfield.officiating.engine.state import GameState

SCENES_PER_S: Final = 15

LATEST: Final = 60
"""Calls in a snapshot, and declarations in `declared`: a quarter's worth; the rest is at the endpoints."""


class StatePublisher:
    """Publishes a game's topics.

    Args:
        hub: where.
        field: the printed field.

    """

    def __init__(self, hub: TopicSink, field: FieldModel) -> None:
        self._hub = hub
        self._field = field
        self._last: dict[str, object] = {}
        self._seen: tuple[object, ...] = ()
        self._calls: tuple[CallView, ...] = ()
        self._made: dict[str, tuple[object, CallView]] = {}
        self._ball: Ball | None = None
        self._scene_at = float("-inf")

    def forget(self) -> None:
        """Begin with another game: everything is told anew."""
        self._last.clear()
        self._seen = ()
        calls, self._calls = self._calls, ()
        if calls:
            gone = CallsUpdate(calls=(), withdrawn=tuple(call.id for call in calls))
            self._hub.publish("calls", gone, full=CallsUpdate(calls=()))

    def scene(self, scene: Scene) -> None:
        """Tell where everybody is, unless that was told just now."""
        self._ball = scene.ball
        now = time.monotonic()
        if now - self._scene_at >= 1 / SCENES_PER_S:
            self._scene_at = now
            self._hub.publish("scene", scene_view(scene, self._field))

    def game(self, sitting: GameSession, *, changed: bool) -> None:
        """Tell what is new about the game.

        Args:
            sitting: the game.
            changed: whether calls or declarations may have changed; otherwise only what scenes change is looked at.

        """
        state = sitting.game.state
        seen = _glance(state)
        if not changed and seen == self._seen:
            return
        self._seen = seen
        if changed:
            self._tell_calls(sitting)
            self._tell("declared", RecentDeclarations(events=tuple(sitting.declared()[-LATEST:])))
            if state.players:
                self._tell("line_up", LineUpView(players=state.players, field=self._field, settled=_settled(sitting)))
        game = game_view(sitting.row.id, state, sitting.began, time.time_ns() // 1_000_000)
        timeless = game.model_copy(update={"t_ns": 0, "clock": state.clock})
        self._tell("game", game, timeless)
        yards = (self._field.mm_per_yd_x, self._field.mm_per_yd_y)
        self._tell("ball", ball_view(state, self._ball, yards))
        self._tell("questions", questions_view(self._calls, game))

    def calls(self, sitting: GameSession) -> tuple[CallView, ...]:
        """Every call that stands, as the feed shows it."""
        shown, known = _shown(sitting), self._made
        self._made = {}
        for call in sitting.game.calls:
            about = (call, call.id in shown.open, shown.rulings.get(call.id), shown.frames.get(call.id))
            before = known.get(call.id)
            self._made[call.id] = before if before and before[0] == about else (about, call_view(call, shown))
        return tuple(made for _, made in self._made.values())

    def call(self, sitting: GameSession, call: Call) -> CallView:
        """One call, as the feed shows it."""
        return call_view(call, _shown(sitting))

    def health(self, health: HealthStatus) -> None:
        """Tell how the rig is."""
        self._hub.publish("health", health)

    def source(self, source: SourceStatus) -> None:
        """Tell where the pictures come from."""
        self._tell("source", source)

    def notice(self, notice: Notice) -> None:
        """Tell people something once."""
        self._hub.publish("notice", notice)

    def _tell_calls(self, sitting: GameSession) -> None:
        now = self.calls(sitting)
        changed = changed_calls(now, self._calls)
        self._calls = now
        if changed != CallsUpdate(calls=()):
            self._hub.publish("calls", changed, full=CallsUpdate(calls=now[-LATEST:]))

    def _tell(self, topic: str, value: TopicModel, by: object = None) -> None:
        """Publish a topic's value if it differs from the last; compared by another value where one is given."""
        compared = value if by is None else by
        if self._last.get(topic) != compared:
            self._last[topic] = compared
            self._hub.publish(topic, value)


def _shown(sitting: GameSession) -> Shown:
    state = sitting.game.state
    return Shown(sitting.began, state.spot_text, frozenset(state.proposals), sitting.rulings, sitting.frames)


def _settled(sitting: GameSession) -> int:
    """How often somebody said who stands where; what the camera found is not said."""
    events = (said.event for said in sitting.said)
    return sum(isinstance(event.body, LineUpDeclared | OffenseSet) and event.origin != "vision" for event in events)


def _glance(state: GameState) -> tuple[Any, ...]:
    """What scenes change of all that is told, cheap to compare sixty times a second."""
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
