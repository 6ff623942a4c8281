"""The loop: capture, unpack, look, see and judge, each in its thread, handing on what they have.

Frames may be lost, the oldest first, and are counted; scenes, declarations and calls never are. A stage that fails on
one frame reports it and goes on with the next.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from downfield.core.errors import DownfieldError, RefusedError, SourceError
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Player, Scene
from downfield.game.published.board_topics import HealthReason
from downfield.officiating.calls import Call
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.events import Event
from downfield.rig.live.handoff import BoundedQueue
from downfield.rig.live.metrics import FrameMeter
from downfield.rig.live.observer import LoopObserver
from downfield.rig.live.referee import EventPlayback, Referee
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import VisionStage
from downfield.rig.sources.source import CapturedFrame, FrameSource
from downfield.vision.thread_priority import lower_priority

FRAMES_WAITING: Final = 6
"""A tenth of a second: while some wait, the network looks more rarely, and they are soon caught up with."""

FRAMES_SPARE: Final = 12
"""For a halt of the computer or the camera's line, after which frames come in a heap."""

UNPACKERS: Final = 2
"""At once: frames that came in a heap are caught up with sooner."""

UNPACKED_WAITING: Final = 1
"""One unpacked, and one that is next, while the one before is looked at."""

LOOKED_WAITING: Final = 2
"""One that is looked at, and one that has been, while the one before is seen."""

SCENES_WAITING: Final = 120
"""Two seconds, which a ruling that replays minutes of a game may take."""

LINE_UP_REFUSED: Final = "line_up_refused"

_ENDING_S: Final = 5.0
_TICK_S: Final = 1.0  # longer than any frame is under way


@dataclass(frozen=True, slots=True)
class LinedUp:
    """Who is on the board, as the game knows it.

    Attributes:
        players: the roster; empty while it is not known.
        settled: how often somebody said who stands where.

    """

    players: tuple[Player, ...] = ()
    settled: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    entry: Scene | Event
    captured_ns: int


@dataclass(frozen=True, slots=True)
class _Unpacked:
    index: int
    frame: Future[Frame]
    captured_ns: int


@dataclass(frozen=True, slots=True)
class _Looked:
    frame: Frame
    detections: Future[Sequence[Detection] | None]
    captured_ns: int


class Loop:
    """One source, watched and judged until it is over or stopped.

    Args:
        source: where pictures come from.
        sight: sees scenes in them.
        judge: runs the game.
        troubles: told what fails.
        pulse: counts.
        prompter: says recorded declarations.
        onlookers: look on.
        suspended: why no calls are to be made from the scenes now; empty when they are.
        lined_up: who is on the board, as the game knows it; asked before each frame.
        carrier: roster id of who has the ball, as the game knows it; asked before each frame.
        ticks: whether the game's time goes on while no scenes come; not where it is that of a recording.

    """

    def __init__(
        self,
        source: FrameSource,
        sight: VisionStage,
        judge: Referee,
        troubles: ActiveProblems,
        *,
        pulse: FrameMeter | None = None,
        prompter: EventPlayback | None = None,
        onlookers: Sequence[LoopObserver] = (),
        suspended: Callable[[], tuple[str, ...]] = tuple,
        lined_up: Callable[[], LinedUp] = LinedUp,
        carrier: Callable[[], str | None] = lambda: None,
        ticks: bool = False,
    ) -> None:
        self._source = source
        self._sight = sight
        self._judge = judge
        self._troubles = troubles
        self._prompter = prompter or EventPlayback()
        self._onlookers = onlookers
        self._suspended = suspended
        self._lined_up = lined_up
        self._carrier = carrier
        self._ticks = ticks
        self._players: tuple[Player, ...] = ()
        self._settled = 0
        self._between: queue.SimpleQueue[Callable[[VisionStage], VisionStage]] = queue.SimpleQueue()
        self._frames: BoundedQueue[CapturedFrame] = BoundedQueue(FRAMES_WAITING, FRAMES_SPARE)
        self._unpacked: BoundedQueue[_Unpacked] = BoundedQueue(UNPACKED_WAITING)
        self._looked: BoundedQueue[_Looked] = BoundedQueue(LOOKED_WAITING)
        self._scenes: BoundedQueue[_Seen] = BoundedQueue(SCENES_WAITING)
        self._judged = threading.Condition()
        self._unjudged = 0
        self._captured = 0  # index of the latest frame
        self._stopped = False
        self._over: DownfieldError | None = None
        self.pulse = pulse or FrameMeter()

    @property
    def dropped(self) -> int:
        """Frames that were captured and not seen."""
        return self._frames.dropped

    def run(self) -> None:
        """Run until the source is over or `stop` is called; everything captured by then is judged.

        Raises:
            SourceError: a source that is no live one broke off.

        """
        stages = [
            threading.Thread(target=stage, name=stage.__name__.strip("_"), daemon=True)
            for stage in (self._capture, self._unpack, self._look, self._see, self._judging)
        ]
        for stage in stages:
            stage.start()
        try:
            stages[-1].join()
        finally:
            self.stop()
            for stage in stages:
                stage.join(_ENDING_S)
        if self._over is not None:
            raise self._over

    def stop(self) -> None:
        """End it, in order: no more frames, then no more scenes. Callable from any thread, more than once."""
        self._stopped = True
        self._source.close()
        self._frames.close()

    @property
    def sight(self) -> VisionStage:
        """What sees now."""
        return self._sight

    def between_frames(self, change: Callable[[VisionStage], VisionStage]) -> None:
        """Have something done to the sight before the next frame, in the thread that sees.

        Args:
            change: takes the sight, and gives the one to go on with.

        """
        self._between.put(change)

    def _capture(self) -> None:
        hand_over = self._frames.offer if self._source.facts.live else self._frames.put
        try:
            for shot in self._source.frames():
                self._captured = shot.index
                for onlooker in self._onlookers:
                    onlooker.shot(shot)
                hand_over(shot)
        except DownfieldError as error:
            self._over = error
        except Exception as error:  # a fault of ours: it ends this run, not the process
            self._over = SourceError(f"capturing failed: {type(error).__name__}: {error}")
        finally:
            self._frames.close()

    def _unpack(self) -> None:
        try:
            with ThreadPoolExecutor(UNPACKERS, "unpack", lower_priority, ("decode",)) as unpackers:
                for shot in self._frames:
                    self._unpacked.put(_Unpacked(shot.index, unpackers.submit(shot.frame), shot.captured_ns))
        finally:
            self._unpacked.close()

    def _look(self) -> None:
        lower_priority("detect")
        try:
            for unpacked in self._unpacked:
                with self._telling("unpacking", f"frame {unpacked.index} could not be read"):
                    self._look_at(unpacked.frame.result(), unpacked.captured_ns)
        finally:
            self._looked.close()

    def _look_at(self, frame: Frame, captured_ns: int) -> None:
        found = Future[Sequence[Detection] | None]()
        # What can be seen without is seen meanwhile.
        self._looked.put(_Looked(frame, found, captured_ns))
        with self._telling("looking", f"frame {frame.index} could not be looked at"):
            try:
                found.set_result(self._sight.detect(frame, waiting=self._captured - frame.index))
            finally:
                found.cancel()

    def _see(self) -> None:
        try:
            for looked in self._looked:
                self._see_one(looked)
        finally:
            self._scenes.close()

    def _see_one(self, looked: _Looked) -> None:
        frame, captured_ns = looked.frame, looked.captured_ns
        with self._telling("seeing", f"frame {frame.index} could not be seen"):
            self._wait_for_judge()
            self._prepare()
            try:
                scene = self._sight.update(frame, looked.detections.result, self._carrier())
            except CancelledError:  # as was told where it was looked at
                return
            self._tell_players(scene, captured_ns)
            why = self._suspended()
            if why:
                scene = dataclasses.replace(scene, unfit=(*scene.unfit, *why))
            self._hand_on(scene, captured_ns)
            for onlooker in self._onlookers:
                onlooker.scene(frame, scene)

    def _prepare(self) -> None:
        """What came up since the last frame."""
        while not self._between.empty():
            self._sight = self._between.get()(self._sight)
        said = self._lined_up()
        settled, self._settled = said.settled != self._settled, said.settled
        if said.players and (settled or said.players != self._players):
            self._players = said.players
            if settled or said.players != self._sight.players:
                self._sight.line_up(said.players)

    def _tell_players(self, scene: Scene, captured_ns: int) -> None:
        """Tell the game who is on the board, when the sight found that out."""
        found = self._sight.players
        if found and found != self._players:
            self._players = found
            self._hand_on(Event(f"seen-{scene.t_ns}", scene.t_ns, "vision", LineUpDeclared(found)), captured_ns)

    def _hand_on(self, entry: Scene | Event, captured_ns: int) -> None:
        with self._judged:
            self._unjudged += 1
        self._scenes.put(_Seen(entry, captured_ns))

    def _wait_for_judge(self) -> None:
        """A recording's next frame waits for what the game makes of the last: it must not depend on who is quicker."""
        if not self._source.facts.live:
            with self._judged:
                self._judged.wait_for(lambda: self._unjudged == 0)

    def _judging(self) -> None:
        while not self._scenes.ended:
            seen = self._scenes.take(_TICK_S)
            with self._telling("judging", "what was seen could not be judged"):
                if seen is not None:
                    self._judge_one(seen)
                elif self._ticks:
                    self._judge.tick()
            if seen is not None:
                with self._judged:
                    self._unjudged -= 1
                    self._judged.notify_all()
        if not self._stopped:  # what was declared later belongs to frames that never came
            self._say(None)

    def _judge_one(self, seen: _Seen) -> None:
        entry = seen.entry
        self._say(entry.t_ns)
        try:
            calls = self._judge.take(entry)
        except RefusedError as error:
            self._refused(entry, str(error))
            return
        if isinstance(entry, Scene):
            self.pulse.published(seen.captured_ns)
        else:
            self._troubles.clear(LINE_UP_REFUSED)
        self._tell(entry, calls)

    def _refused(self, entry: Scene | Event, why: str) -> None:
        """A scene comes too late, and the next will do; a line-up is told again with the next frame."""
        if isinstance(entry, Scene):
            self._troubles.note("warning", f"A scene was refused: {why}.")
            return
        self._players = ()
        remedy = "Declare the line-up on the panel, or wait until the play is over"
        text = f"The game does not take who is on the board: {why}"
        self._troubles.add(HealthReason(code=LINE_UP_REFUSED, level="warning", text=text, remedy=remedy))

    def _say(self, t_ns: int | None) -> None:
        for event in self._prompter.due(t_ns):
            try:
                self._tell(event, self._judge.take(event))
            except RefusedError as error:
                for onlooker in self._onlookers:
                    onlooker.refused(event, str(error))

    def _tell(self, entry: Scene | Event, calls: tuple[Call, ...]) -> None:
        for onlooker in self._onlookers:
            onlooker.judged(entry, calls)

    @contextmanager
    def _telling(self, stage: str, what: str) -> Iterator[None]:
        """Tell of whatever goes wrong with one frame or entry, and go on: the next may be well."""
        try:
            yield
        except Exception as error:
            known = str(error) if isinstance(error, DownfieldError) else f"{type(error).__name__}: {error}"
            self._troubles.add(HealthReason(code=f"{stage}_failed", level="alarm", text=f"{what}: {known}"))
        else:
            self._troubles.clear(f"{stage}_failed")
