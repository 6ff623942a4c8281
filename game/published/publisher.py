"""Tells the hub what changed: each topic when its value is another, scenes a few times a second."""

from __future__ import annotations

import time
from typing import Any, Final

from downfield.core.field import FieldModel
from downfield.core.scene import Ball, Scene
from downfield.game.published.board_topics import HealthNow, LineUpNow, SourceNow
from downfield.game.published.game_topics import CallNow, CallsChanged, DeclaredLately, Notice, Payload
from downfield.game.published.scene_view import scene_now
from downfield.game.published.topic_sink import TopicSink
from downfield.game.published.views import Shown, ball_now, call_now, changed_calls, game_now, questions_now
from downfield.game.session import Sitting
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUp, Set
from downfield.officiating.engine.state import GameState

SCENES_PER_S: Final = 15

LATEST: Final = 60
"""Calls in a snapshot, and declarations in `declared`: a quarter's worth; the rest is at the endpoints."""


class Teller:
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
        self._calls: tuple[CallNow, ...] = ()
        self._made: dict[str, tuple[object, CallNow]] = {}
        self._ball: Ball | None = None
        self._scene_at = float("-inf")

    def forget(self) -> None:
        """Begin with another game: everything is told anew."""
        self._last.clear()
        self._seen = ()
        calls, self._calls = self._calls, ()
        if calls:
            gone = CallsChanged(calls=(), withdrawn=tuple(call.id for call in calls))
            self._hub.publish("calls", gone, full=CallsChanged(calls=()))

    def scene(self, scene: Scene) -> None:
        """Tell where everybody is, unless that was told just now."""
        self._ball = scene.ball
        now = time.monotonic()
        if now - self._scene_at >= 1 / SCENES_PER_S:
            self._scene_at = now
            self._hub.publish("scene", scene_now(scene, self._field))

    def game(self, sitting: Sitting, *, changed: bool) -> None:
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
            self._tell("declared", DeclaredLately(events=tuple(sitting.declared()[-LATEST:])))
            if state.players:
                self._tell("line_up", LineUpNow(players=state.players, field=self._field, settled=_settled(sitting)))
        game = game_now(sitting.row.id, state, sitting.began, time.time_ns() // 1_000_000)
        timeless = game.model_copy(update={"t_ns": 0, "clock": state.clock})
        self._tell("game", game, timeless)
        yards = (self._field.mm_per_yd_x, self._field.mm_per_yd_y)
        self._tell("ball", ball_now(state, self._ball, yards))
        self._tell("questions", questions_now(self._calls, game))

    def calls(self, sitting: Sitting) -> tuple[CallNow, ...]:
        """Every call that stands, as the feed shows it."""
        shown, known = _shown(sitting), self._made
        self._made = {}
        for call in sitting.game.calls:
            about = (call, call.id in shown.open, shown.rulings.get(call.id), shown.frames.get(call.id))
            before = known.get(call.id)
            self._made[call.id] = before if before and before[0] == about else (about, call_now(call, shown))
        return tuple(made for _, made in self._made.values())

    def call(self, sitting: Sitting, call: Call) -> CallNow:
        """One call, as the feed shows it."""
        return call_now(call, _shown(sitting))

    def health(self, health: HealthNow) -> None:
        """Tell how the rig is."""
        self._hub.publish("health", health)

    def source(self, source: SourceNow) -> None:
        """Tell where the pictures come from."""
        self._tell("source", source)

    def notice(self, notice: Notice) -> None:
        """Tell people something once."""
        self._hub.publish("notice", notice)

    def _tell_calls(self, sitting: Sitting) -> None:
        now = self.calls(sitting)
        changed = changed_calls(now, self._calls)
        self._calls = now
        if changed != CallsChanged(calls=()):
            self._hub.publish("calls", changed, full=CallsChanged(calls=now[-LATEST:]))

    def _tell(self, topic: str, value: Payload, by: object = None) -> None:
        """Publish a topic's value if it differs from the last; compared by another value where one is given."""
        compared = value if by is None else by
        if self._last.get(topic) != compared:
            self._last[topic] = compared
            self._hub.publish(topic, value)


def _shown(sitting: Sitting) -> Shown:
    state = sitting.game.state
    return Shown(sitting.began, state.spot_text, frozenset(state.proposals), sitting.rulings, sitting.frames)


def _settled(sitting: Sitting) -> int:
    """How often somebody said who stands where; what the camera found is not said."""
    events = (said.event for said in sitting.said)
    return sum(isinstance(event.body, LineUp | Set) and event.origin != "vision" for event in events)


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
        play.stops,
    )
