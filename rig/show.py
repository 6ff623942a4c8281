"""Play a recording through the referee, at its own pace, for whoever watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Protocol

import cv2

from downfield.api.hub import Hub
from downfield.api.picture import LatestPicture
from downfield.calibration.errors import RefusedError
from downfield.calibration.records import adapter
from downfield.officiating.calls import Call
from downfield.officiating.events import Event
from downfield.officiating.game import Game
from downfield.officiating.rulebook import Rulebook
from downfield.rig.annotate import Annotator
from downfield.rig.recording import Image, Recording
from downfield.vision.scene import Scene

_JPEG_QUALITY = 80
_PICTURES_PER_S = 20  # of the annotated picture: enough to follow, and half the work of every frame


class Watcher(Protocol):
    """Someone who is told of the game as it goes."""

    def situation(self, text: str, t_ns: int) -> None:
        """The state of the game has changed."""
        ...

    def call(self, call: Call) -> None:
        """A call was made."""
        ...

    def refused(self, event: Event, reason: str) -> None:
        """A declaration was refused."""
        ...


class Show:
    """One recording under one rulebook.

    Args:
        recording: what to play.
        rulebook: what to judge it under.
        watcher: told of situations and calls.
        hub, picture: where the service takes what it serves.

    """

    def __init__(
        self, recording: Recording, rulebook: Rulebook, watcher: Watcher, hub: Hub, picture: LatestPicture
    ) -> None:
        self._recording = recording
        self._rulebook = rulebook
        self._watcher = watcher
        self._hub = hub
        self._picture = picture
        header = recording.tracks.header
        self._annotator = Annotator(recording.calibration.camera, header.field, header.players)

    def play(self, stop: threading.Event, *, paced: bool = True) -> Game:
        """Play it once, or until told to stop; the game as it stands then."""
        game = Game(self._rulebook, self._recording.tracks.header.field)
        self._tell(game, ())
        drawn_ns: int | None = None
        clock = _Pace(paced)
        for image, entry in self._entries():
            if stop.is_set():
                break
            clock.wait_for(entry.t_ns, stop)
            self._take(game, entry)
            due = drawn_ns is None or entry.t_ns - drawn_ns >= 1e9 / _PICTURES_PER_S
            if isinstance(entry, Scene) and image is not None and due:
                drawn_ns = entry.t_ns
                self._show(image, entry, game)
        return game

    def _entries(self) -> Iterator[tuple[Image | None, Scene | Event]]:
        """Frames and declarations in the order of their times, a declaration before a frame of its instant."""
        waiting = sorted(self._recording.events, key=lambda event: event.t_ns)
        for image, scene in self._recording.frames():
            while waiting and waiting[0].t_ns <= scene.t_ns:
                yield None, waiting.pop(0)
            yield image, scene
        for event in waiting:
            yield None, event

    def _take(self, game: Game, entry: Scene | Event) -> None:
        before = game.state.text
        try:
            taken = game.take(entry)
        except RefusedError as error:
            if isinstance(entry, Event):
                self._watcher.refused(entry, str(error))
            return
        for call in taken.calls:
            self._watcher.call(call)
        if taken.calls or game.state.text != before:
            self._tell(game, taken.calls)

    def _tell(self, game: Game, calls: tuple[Call, ...]) -> None:
        state = game.state
        self._watcher.situation(state.text, state.now_ns)
        teams = state.teams
        self._hub.publish(
            "state",
            {
                "text": state.situation,
                "score": f"{teams[0].name} {state.score[0]}  {teams[1].name} {state.score[1]}",
                "phase": state.phase.value.replace("_", " "),
            },
        )
        if calls or not game.calls:
            self._hub.publish("calls", [adapter(Call).dump_python(call, mode="json") for call in game.calls])

    def _show(self, image: Image, scene: Scene, game: Game) -> None:
        drawn = self._annotator.draw(image, scene, game.state)
        written, jpeg = cv2.imencode(".jpg", drawn, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if written:
            self._picture.put(jpeg.tobytes())
        board = f"board {scene.board}"
        self._hub.publish("health", {"text": "; ".join((board, *scene.unfit))})


class _Pace:
    """Holds a recording to its own pace, or lets it run."""

    def __init__(self, paced: bool) -> None:
        self._paced = paced
        self._offset_s: float | None = None

    def wait_for(self, t_ns: int, stop: threading.Event) -> None:
        if not self._paced:
            return
        now = time.monotonic()
        if self._offset_s is None:
            self._offset_s = now - t_ns / 1e9
        stop.wait(max(0.0, self._offset_s + t_ns / 1e9 - now))
