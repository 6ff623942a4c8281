"""Connects the readings of a strip with the game: each is compared once the game has judged its frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from downfield.capture.observer import LoopObserver, NoticeLevel
from downfield.capture.problems import ActiveProblems
from downfield.core.errors import RefusedError
from downfield.core.scene import Scene
from downfield.core.strip import load_strip
from downfield.game.published.strip_topic import StripView
from downfield.game.published.topic_sink import TopicSink
from downfield.game.service import GameService
from downfield.game.strip.strip_follower import StripFollower
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.live.strip_vision import StripReadings


class ReadTable(Protocol):
    """An open table, as `downfield.rig.table.OpenedTable`."""

    @property
    def readings(self) -> StripReadings | None:
        """The readings of its strip; None where there is none."""
        ...


class StripTopic:
    """Publishes the topic `strip`; each new question, and once each dial under a reflection, is a notice as well.

    Args:
        sink: takes the topic.
        notify: takes the notice.

    """

    def __init__(self, sink: TopicSink, notify: Callable[[NoticeLevel, str], None]) -> None:
        self._sink, self._notify = sink, notify
        self._asked = ""
        self._hidden: set[str] = set()

    def publish(self, view: StripView) -> None:
        """Publish the topic's value."""
        self._sink.publish("strip", view)
        if view.question is not None and view.question.id != self._asked:
            self._asked = view.question.id
            self._notify("warning", f"{view.question.text} Answer on the panel.")
        for text in view.hidden:
            if text not in self._hidden:
                self._hidden.add(text)
                self._notify("warning", text)


class StripGame(LoopObserver):
    """Passes readings to the follower in the judging thread, after the declarations before them.

    Args:
        follower: follows the game.
        readings: returns those of the table that is open; None while it is not a strip.

    """

    def __init__(self, follower: StripFollower, readings: Callable[[], StripReadings | None]) -> None:
        self._follower, self._readings = follower, readings

    def entry_judged(self, entry: Scene | Event, _calls: tuple[Call, ...], /) -> None:
        """Follow the strip by the reading of a judged frame."""
        readings = self._readings()
        if isinstance(entry, Scene) and readings is not None:
            reading = readings.pop(entry.frame)
            if reading is not None:
                self._follower.follow(reading)

    def keep_game(self, question: str) -> str:
        """Keep the game as it is, against what the strip says; see `StripFollower.keep_game`."""
        return self._follower.keep_game(question)


def follow_strip(
    settings: RigSettings,
    game: GameService,
    sink: TopicSink,
    problems: ActiveProblems,
    table: Callable[[], ReadTable],
) -> StripGame | None:
    """Return what follows the configured strip; None over a table.

    Args:
        settings: the configuration.
        game: the game in play.
        sink: takes the topic `strip`.
        problems: takes notices.
        table: returns the table that is open.

    """
    if not settings.calibration.strip:
        return None
    declares = settings.game.strip_moves == "declare"
    follower = StripFollower(
        load_strip(settings.calibration.strip), game, StripTopic(sink, problems.notify).publish, declares=declares
    )
    return StripGame(follower, lambda: table().readings)


def keep_game(strip: StripGame | None, question: str) -> str:
    """Keep the game as it is, against what a strip says.

    Returns:
        What was done, as a sentence.

    Raises:
        RefusedError: no strip is followed, or that question is not open any more.

    """
    if strip is None:
        raise RefusedError("The camera looks at a table: there is no strip to keep the game against.")
    return strip.keep_game(question)
