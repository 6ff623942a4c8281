"""A recording tracked with its declarations, frame by frame as at the table, and how well it was tracked.

The referee tells the vision stage what it tells it at the table: the line-ups that are declared, fronts, and who has
the ball. Everything runs in one thread, so the result does not depend on the computer's speed.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from downfield.calibration.calibration import Calibration
from downfield.capture.source import CapturedFrame
from downfield.core.errors import InputError, RefusedError, SourceError
from downfield.core.frame import Frame
from downfield.core.records import record
from downfield.core.scene import Player, Scene
from downfield.core.texts import counted
from downfield.officiating.calls import Call
from downfield.officiating.declarations import FrontDeclared, IdentitiesDeclared, LineUpDeclared
from downfield.officiating.engine.recording import REPLAY_LIMITS
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.officiating.state.game_state import HOME_AND_AWAY, Team
from downfield.review.rejudging.rejudging import Way
from downfield.vision.pipeline import Vision

NO_LINE_UP_FOUND: Final = (
    "no line-up was found, since no figures stood still for a quarter of a second. Let the recording begin with the"
    " line-up"
)


class TrackedScenes:
    """The scenes of a recording, as `vision` makes them, with the players that its first line-up shows.

    Args:
        all_first: whether every scene is made before the first is passed on.

    Raises:
        InputError: no line-up is found.
    """

    def __init__(self, vision: Vision, scenes: Iterable[Scene], *, all_first: bool = False) -> None:
        following = iter(scenes)
        self.first: list[Scene] = []  # those made until the line-up was found
        for scene in following:
            self.first.append(scene)
            if vision.players and not all_first:
                break
        if not vision.players:
            raise InputError(NO_LINE_UP_FOUND)
        self.players = vision.players
        self._scenes = chain(self.first, following)

    def __iter__(self) -> Iterator[Scene]:
        """Yield every scene, once."""
        return self._scenes


def decoded(frames: Iterable[CapturedFrame], damaged: Callable[[], None] = lambda: None) -> Iterator[Frame]:
    """Yield the frames that can be decoded; `damaged` is called for each that can't."""
    for captured in frames:
        try:
            frame = captured.decode()
        except SourceError:
            damaged()
        else:
            yield frame


class RecordedReferee:
    """Judges scenes as they come, with the declarations of the game at their times.

    Args:
        certified_yd: error the table is certified to, along and across; None for none.
    """

    def __init__(
        self,
        events: Sequence[Event],
        book: Rulebook,
        calibration: Calibration,
        teams: tuple[Team, Team] = HOME_AND_AWAY,
        certified_yd: tuple[float, float] | None = None,
    ) -> None:
        way = Way.of(events)
        standing = (event for event in events if event.id not in way.undone)
        self._waiting = deque(sorted(standing, key=lambda event: event.t_ns))
        self._declares = any(isinstance(event.body, LineUpDeclared) for event in self._waiting)
        self._engine = RulesEngine(
            book, calibration.field, way.rulings, certified_yd, lengths_known=calibration.lengths_known
        )
        self._state = self._engine.begin(teams)
        self._last_ns = 0
        self.calls: list[Call] = []
        self.refused = 0  # events that the state did not allow

    @property
    def score(self) -> tuple[int, int]:
        """Home, away."""
        return self._state.game.score

    @property
    def text(self) -> str:
        """The game on one line."""
        return self._state.game.text

    def process(self, frame: Frame, vision: Vision) -> Scene:
        """Return the scene of the next frame, judged, with what was declared until then told to the vision stage."""
        self._declare_until(frame.t_ns, vision)
        scene = vision.process(frame, self._state.game.play.carrier)
        if vision.players and not self._declares:  # figures that nobody declared are the line-up
            self._declares = True
            self._step(Event("roster", scene.t_ns, "vision", LineUpDeclared(vision.players)))
        self._step(scene)
        return scene

    def end(self) -> None:
        """Judge what was declared after the last picture, and let all that is pending be decided."""
        while self._waiting:
            self._step(self._waiting.popleft())
        self._step(Event("end", self._last_ns + REPLAY_LIMITS.last_tick_ns, "clock", Tick()))

    def _declare_until(self, t_ns: int, vision: Vision) -> None:
        while self._waiting and self._waiting[0].t_ns <= t_ns:
            event = self._waiting.popleft()
            if self._step(event) and isinstance(event.body, LineUpDeclared):
                vision.line_up(self._state.game.players, self._state.game.left_jersey)
            elif isinstance(event.body, IdentitiesDeclared):
                vision.identify(event.body.left, event.body.places)
            elif isinstance(event.body, FrontDeclared):
                vision.settle_front(event.body.player, event.body.heading_deg)

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


_MOST_LOST: Final = 0.5
"""Of the figures in all frames seen, or of frames without a figure: below, and above, most was lost."""

_NUMBERS: Final = re.compile(r"\d+(\.\d+)?")
_TOLD_FRAMES: Final = 15  # Frames in a row without calls that are told of while a recording is tracked


@record
class TrackingReport:
    """How well a recording was tracked."""

    frames: int  # tracked
    damaged: int  # pictures that could not be decoded
    empty: int  # frames in which no figure was seen
    unfit: int  # frames from which no calls can be made
    reasons: tuple[
        tuple[str, int], ...
    ]  # why, with the number of frames, the most frequent first; a frame may have more
    figures: int  # on the roster
    seen_share: float  # of the figures in all frames, those that were seen
    never_seen: tuple[str, ...]  # roster ids
    unsure: tuple[str, ...]  # roster ids that were not sure in more than half of the frames

    @property
    def is_mostly_lost(self) -> bool:
        """Whether most figures, or most frames, were lost."""
        return not self.frames or self.seen_share < _MOST_LOST or self.empty > _MOST_LOST * self.frames

    @property
    def lines(self) -> list[str]:
        """The report for people, a few lines."""
        fit = self.frames - self.unfit
        seen = f"seen in {self.seen_share:.0%} of {counted(self.frames, 'frame')}"
        lines = [f"{counted(self.figures, 'figure')}, {seen}; calls can be made from {fit}"]
        lines += [f"  {count} frames: {reason}" for reason, count in self.reasons]
        if self.damaged:
            lines.append(f"  {counted(self.damaged, 'damaged picture')} left out")
        if self.never_seen:
            lines.append(f"  never seen: {', '.join(self.never_seen)}")
        if self.unsure:
            lines.append(f"  not sure which figure is which: {', '.join(self.unsure)}")
        if self.is_mostly_lost:
            lines.append(
                "Most was lost. Check that calibration and roster are of this recording, and that the whole board is"
                " in view: downfield doctor --source RECORDING --calibration FILE"
            )
        return lines


@dataclass
class TrackingCounter:
    """Counts how well a recording is tracked."""

    status: str = ""  # since when, and why, no calls can be made, or that they can again; empty before
    _waits: int = 0
    _damaged: int = 0
    _frames: int = 0
    _empty: int = 0
    _unfit: int = 0
    _seen: Counter[str] = field(default_factory=Counter)
    _unsure: Counter[str] = field(default_factory=Counter)
    _reasons: Counter[str] = field(default_factory=Counter)
    _texts: dict[str, str] = field(default_factory=dict)

    def count_damaged(self) -> None:
        """Count a picture that could not be decoded."""
        self._damaged += 1

    def counted(self, scenes: Iterable[Scene]) -> Iterator[Scene]:
        """Yield scenes, counted."""
        for scene in scenes:
            seen = [figure for figure in scene.figures if figure.posture != "unseen" and not figure.lost]
            self._frames += 1
            self._empty += not seen
            self._unfit += bool(scene.unfit)
            self._tell_wait(scene)
            self._seen.update(figure.id for figure in seen)
            self._unsure.update(figure.id for figure in scene.figures if not figure.sure)
            keys = {_NUMBERS.sub("0", reason): reason for reason in scene.unfit}  # they count and measure
            self._texts |= keys
            self._reasons.update(keys.keys())
            yield scene

    def _tell_wait(self, scene: Scene) -> None:
        """Update the status, once frames are unfit for a while and once they are fit again."""
        if not scene.unfit and self._waits >= _TOLD_FRAMES:
            self.status = f"calls can be made again, after {self._waits} frames"
        self._waits = self._waits + 1 if scene.unfit else 0
        if self._waits == _TOLD_FRAMES:
            self.status = f"no calls since frame {scene.frame - _TOLD_FRAMES + 1}: {scene.unfit[0]}"

    def report(self, players: Sequence[Player]) -> TrackingReport:
        """Return how well the players were tracked in the scenes counted."""
        ids = [player.id for player in players]
        seen = sum(self._seen[player] for player in ids)
        return TrackingReport(
            self._frames,
            self._damaged,
            self._empty,
            self._unfit,
            tuple((self._texts[key], count) for key, count in self._reasons.most_common()),
            len(ids),
            round(seen / max(1, self._frames * len(ids)), 4),
            tuple(player for player in ids if not self._seen[player]),
            tuple(player for player in ids if self._unsure[player] > self._frames / 2),
        )
