"""A recorded game tracked again by a network, frame by frame as at the table, and judged as it goes.

The referee tells the vision stage what it tells it at the table: the line-ups that are declared, fronts, and who has
the ball. Everything runs in one thread, so the result does not depend on the computer's speed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from downfield.capture.sources.file_sources import VideoFile
from downfield.core.errors import InputError, RefusedError, SourceError
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.desk.archive.game_source import GameSource
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.results import JudgedItem
from downfield.models.detector import Detector
from downfield.officiating.calls import Call
from downfield.officiating.declarations import FrontDeclared, LineUpDeclared
from downfield.officiating.engine.replay import REPLAY_LIMITS, compare_calls
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.rejudging.rejudging import Way
from downfield.vision.pipeline import Vision

_DEFAULT_FPS: Final = 30.0
"""Of a video without a frame rate; scenes carry their own times."""


def track_and_judge(
    item: ArchivedItem, source: GameSource, detector: Detector, book: Rulebook | None, tracks: Path
) -> JudgedItem:
    """Track a game again and judge it.

    Args:
        item: of the archive.
        source: what it is tracked from.
        detector: finds figures in pictures.
        book: rulebook to judge it under; None for its own.
        tracks: the track file to write.

    Returns:
        What it comes to, against the calls that were made at the table.

    Raises:
        InputError: no line-up is found in the pictures, or no rulebook is known.
        SourceError: a video can't be read to its end.
        OutputError: the track file can't be written.

    """
    chosen = book or source.rulebook
    if chosen is None:
        raise InputError("the recording names no rulebook. Add it with --rulebook, or track it with --rulebook.")
    vision = Vision(source.calibration, detector, source.roster)
    referee = _Referee(source, chosen)
    videos = [VideoFile(path, paced=False) for path in source.videos]
    scenes = (scene for video in videos for scene in _scenes(video, vision, referee))
    first = list(_until_players_known(scenes, vision))
    if not vision.players:
        raise InputError("no line-up was found, since no figures stood still for a quarter of a second")
    header = TracksHeader(source.calibration.field, vision.players, videos[0].facts.fps or _DEFAULT_FPS, item.game)
    write_tracks(tracks, header, chain(first, scenes))
    referee.end()
    before = source.calls
    return JudgedItem(
        item,
        chosen.name,
        "" if source.rulebook is None else source.rulebook.name,
        source.score,
        referee.calls,
        () if before is None else compare_calls(before, referee.calls),
        referee.refused,
        referee.score,
        referee.text,
    )


def _scenes(video: VideoFile, vision: Vision, referee: _Referee) -> Iterator[Scene]:
    """Yield the scenes of all pictures that can be decoded, each judged."""
    for captured in video.frames():
        try:
            frame = captured.decode()
        except SourceError:
            continue
        referee.declare_until(frame.t_ns, vision)
        scene = vision.process(frame, referee.carrier)
        referee.see(scene, vision)
        yield scene


def _until_players_known(scenes: Iterator[Scene], vision: Vision) -> Iterator[Scene]:
    for scene in scenes:
        yield scene
        if vision.players:
            return


@dataclass
class _Referee:
    """Judges scenes as they come, with the declarations of the game at their times."""

    source: GameSource
    book: Rulebook
    calls: list[Call] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        way = Way.of(self.source.events)
        standing = (event for event in self.source.events if event.id not in way.undone)
        self._waiting = deque(sorted(standing, key=lambda event: event.t_ns))
        self._declares = any(isinstance(event.body, LineUpDeclared) for event in self._waiting)
        self._engine = RulesEngine(self.book, self.source.calibration.field, way.rulings, self.source.certified_yd)
        self._state = self._engine.begin(self.source.teams)
        self._last_ns = 0

    @property
    def carrier(self) -> str | None:
        """Roster id of the declared ball carrier; None for none."""
        return self._state.game.play.carrier

    @property
    def score(self) -> tuple[int, int]:
        """Home, away."""
        return self._state.game.score

    @property
    def text(self) -> str:
        """The game on one line."""
        return self._state.game.text

    def declare_until(self, t_ns: int, vision: Vision) -> None:
        """Judge the declarations up to a time, and tell the vision stage what concerns it."""
        while self._waiting and self._waiting[0].t_ns <= t_ns:
            event = self._waiting.popleft()
            if self._step(event) and isinstance(event.body, LineUpDeclared):
                vision.line_up(self._state.game.players)
            elif isinstance(event.body, FrontDeclared):
                vision.settle_front(event.body.player, event.body.heading_deg)

    def see(self, scene: Scene, vision: Vision) -> None:
        """Judge a scene; figures that nobody declared are the line-up."""
        if vision.players and not self._declares:
            self._declares = True
            self._step(Event("roster", scene.t_ns, "vision", LineUpDeclared(vision.players)))
        self._step(scene)

    def end(self) -> None:
        """Judge what was declared after the last picture, and let all that is pending be decided."""
        while self._waiting:
            self._step(self._waiting.popleft())
        self._step(Event("end", self._last_ns + REPLAY_LIMITS.last_tick_ns, "clock", Tick()))

    def _step(self, entry: Event | Scene) -> bool:
        """Judge one entry; return whether the game allowed it."""
        self._last_ns = max(self._last_ns, entry.t_ns)
        try:
            self._state, made = self._engine.step(self._state, entry)
        except RefusedError:
            self.refused += isinstance(entry, Event)
            return False
        self.calls += made
        return True
