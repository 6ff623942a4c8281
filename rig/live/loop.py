"""The live loop: capture, decode, detect, track and judge, each in its own thread, connected by queues.

On two cores the stages overlap: while one frame is tracked, the next is already detected and the one after it decoded.
Detection passes a frame on before its own result is there, since tracking begins with work that needs no detections.
Removing any of the threads would add the time of its stage to the latency of every frame.

Live frames may be dropped, the oldest first, and are counted; scenes, events and calls never are. Recorded frames wait:
the next one is tracked once the game has judged the last, so that the result does not depend on thread timing. A stage
that fails on one frame reports the failure and continues with the next frame.
"""

from __future__ import annotations

import dataclasses
import gc
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Final

from downfield.capture.problems import ActiveProblems, sentences
from downfield.capture.source import CapturedFrame, FrameSource, LoopObserver
from downfield.core.errors import DownfieldError, RefusedError, SourceError
from downfield.core.frame import Detection, Frame
from downfield.core.platform.processes import lower_priority
from downfield.core.scene import Player, Scene
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.game.published.board_topics import HealthReason
from downfield.officiating.declarations import FrontDeclared, IdentitiesDeclared, LineUpDeclared
from downfield.officiating.events import Event
from downfield.rig.live.connections import (
    LOOP_LIMITS,
    DecodingFrame,
    DetectedFrame,
    Entry,
    LoopControls,
    Referee,
    VisionStage,
)
from downfield.rig.live.rig_health import FrameMeter

LINE_UP_REFUSED: Final = "line_up_refused"  # Code of the problem "the game refused the line-up seen on the board"


class Loop:
    """Runs one source through vision and game until it ends or is stopped.

    Attributes:
        vision: the stage in use.

    Args:
        events: recorded ones, in any order, to be played back at their times.
        observers: notified of frames, scenes and calls, in this order for each.
        ticks: whether the game's clock advances while no scenes come; False for recordings, which have their own time.
    """

    def __init__(
        self,
        source: FrameSource,
        vision: VisionStage,
        referee: Referee,
        problems: ActiveProblems,
        *,
        meter: FrameMeter | None = None,
        events: Iterable[Event] = (),
        observers: Sequence[LoopObserver] = (),
        controls: LoopControls | None = None,
        ticks: bool = False,
    ) -> None:
        self._source, self.vision, self._referee, self._problems = source, vision, referee, problems
        self._meter = meter or FrameMeter()
        self._pending = sorted(events, key=lambda event: event.t_ns, reverse=True)
        self._observers, self._controls = observers, controls or LoopControls()
        self._ticks = ticks
        self._players: tuple[Player, ...] = ()
        self._line_up_revision = 0
        self._fronts: Mapping[str, FrontDeclared] = referee.line_up.fronts  # those of before are about other tracks
        self._identities: Mapping[str, IdentitiesDeclared] = referee.line_up.identities
        self._captured: BoundedQueue[CapturedFrame] = BoundedQueue(
            LOOP_LIMITS.captured_frames, LOOP_LIMITS.burst_frames
        )
        self._decoding: BoundedQueue[DecodingFrame] = BoundedQueue(LOOP_LIMITS.decoded_frames)
        self._detected: BoundedQueue[DetectedFrame] = BoundedQueue(LOOP_LIMITS.detected_frames)
        self._entries: BoundedQueue[Entry] = BoundedQueue(LOOP_LIMITS.scenes)
        self._judged = threading.Condition()
        self._unjudged = 0
        self._latest_index = 0
        self._stopped = False
        self._failure: DownfieldError | None = None

    @property
    def dropped(self) -> int:
        """Number of frames that were captured and dropped."""
        return self._captured.dropped

    def run(self) -> None:
        """Run until the source ends or `stop` is called; all frames captured by then are judged.

        Raises:
            SourceError: a recording could not be read to its end.
        """
        stages = [
            supervised_thread(stage, _words(stage.__name__), partial(self._end_by, _words(stage.__name__)))
            for stage in (self._capture, self._decode, self._detect, self._track, self._judge)
        ]
        for stage in stages:
            stage.start()
        try:
            stages[-1].join()  # the last to end: each stage ends once the queue before it is closed and empty
        finally:
            self.stop()
            for stage in stages:
                stage.join(LOOP_LIMITS.stop_timeout_s)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop capturing; the frames that wait are still judged. Callable from any thread, more than once."""
        self._stopped = True
        self._source.close()
        self._captured.close()

    def _capture(self) -> None:
        put = self._captured.put_or_drop if self._source.facts.live else self._captured.put
        try:
            for frame in self._source.frames():
                self._latest_index = frame.index
                self._observe("frame_captured", frame)  # the recorder has the frames that are dropped below, too
                put(frame)
        except DownfieldError as error:
            self._failure = error
        finally:
            self._captured.close()

    def _decode(self) -> None:
        try:
            with ThreadPoolExecutor(LOOP_LIMITS.decoders, "decode", lower_priority, ("decode",)) as decoders:
                for frame in self._captured:
                    # What is queued is the promise of a picture: several are decoded at once, and stay in order.
                    self._decoding.put(DecodingFrame(frame.index, decoders.submit(frame.decode), frame.captured_ns))
        finally:
            self._decoding.close()

    def _detect(self) -> None:
        lower_priority("detect")
        try:
            for decoding in self._decoding:
                with self._reporting("decoding", f"Frame {decoding.index} could not be decoded"):
                    try:
                        frame = decoding.frame.result()
                    except SourceError:  # a damaged picture; health tells of them together
                        self._meter.frame_damaged()
                        continue
                    self._detect_in(frame, decoding.captured_ns)
        finally:
            self._detected.close()

    def _detect_in(self, frame: Frame, captured_ns: int) -> None:
        detections = Future[Sequence[Detection] | None]()
        # Meanwhile, tracking begins with the work that needs no detections.
        self._detected.put(DetectedFrame(frame, detections, captured_ns))
        with self._reporting("detection", f"Detection failed in frame {frame.index}"):
            try:
                detections.set_result(self.vision.detect(frame, waiting=self._latest_index - frame.index))
            finally:
                detections.cancel()  # tracking never waits for what failed; a result stays

    def _track(self) -> None:
        try:
            for detected in self._detected:
                with self._reporting("tracking", f"Tracking failed in frame {detected.frame.index}"):
                    self._track_in(detected)
        finally:
            self._entries.close()

    def _track_in(self, detected: DetectedFrame) -> None:
        frame, captured_ns = detected.frame, detected.captured_ns
        if not self._source.facts.live:  # a recording waits until the game has judged the last frame
            with self._judged:
                self._judged.wait_for(lambda: self._unjudged == 0)
        self.vision = self._controls.apply_changes(self.vision)
        self._update_line_up()
        self._update_identities()
        self._update_fronts()
        try:
            scene = self.vision.update(frame, detected.detections.result, self._referee.carrier)
        except CancelledError:  # reported where detection failed
            return
        self._declare_line_up(scene, captured_ns)  # before the scene, whose figures it names
        if self._controls.suspension:
            scene = dataclasses.replace(scene, unfit=(*scene.unfit, self._controls.suspension))
        self._submit(scene, captured_ns)
        self._observe("scene_ready", frame, scene)

    def _update_line_up(self) -> None:
        line_up = self._referee.line_up
        confirmed = line_up.revision != self._line_up_revision
        self._line_up_revision = line_up.revision
        if line_up.players and (confirmed or line_up.players != self._players):
            self._players = line_up.players
            if confirmed or line_up.players != self.vision.players:
                self.vision.line_up(line_up.players, line_up.left)

    def _update_identities(self) -> None:
        before, self._identities = self._identities, self._referee.line_up.identities
        for event, declared in self._identities.items():
            if event not in before:
                self.vision.identify(declared.left, declared.places)

    def _update_fronts(self) -> None:
        before, self._fronts = self._fronts, self._referee.line_up.fronts
        if before == self._fronts:
            return
        for event, declared in before.items():
            if event not in self._fronts:  # undone: the declaration before it counts again
                earlier = [front for front in self._fronts.values() if front.player == declared.player]
                self.vision.settle_front(declared.player, earlier[-1].heading_deg if earlier else None)
        for event, declared in self._fronts.items():
            if before.get(event) != declared:
                self.vision.settle_front(declared.player, declared.heading_deg)

    def _declare_line_up(self, scene: Scene, captured_ns: int) -> None:
        players = self.vision.players
        if players and players != self._players:
            self._players = players
            self._submit(Event(f"seen-{scene.t_ns}", scene.t_ns, "vision", LineUpDeclared(players)), captured_ns)

    def _submit(self, content: Scene | Event, captured_ns: int) -> None:
        with self._judged:
            self._unjudged += 1
        self._entries.put(Entry(content, captured_ns))

    def _judge(self) -> None:
        while not self._entries.finished:
            entry = self._entries.get(LOOP_LIMITS.tick_s)
            with self._reporting("judging", "A scene could not be judged"):
                if entry is not None:
                    self._judge_entry(entry)
                elif self._ticks:  # no scene has come for a while, but clocks of the game run on
                    self._referee.tick()
            if entry is not None:
                with self._judged:
                    self._unjudged -= 1
                    self._judged.notify_all()
        if not self._stopped:  # later events belong to frames that were never read
            self._play_events(None)

    def _judge_entry(self, entry: Entry) -> None:
        content = entry.content
        self._play_events(content.t_ns)
        try:
            calls = self._referee.take(content)
        except RefusedError as error:
            self._report_refusal(content, str(error))
            return
        if isinstance(content, Scene):
            self._meter.frame_published(entry.captured_ns)
        else:
            self._problems.resolve(LINE_UP_REFUSED)
        self._observe("entry_judged", content, calls)

    def _report_refusal(self, content: Scene | Event, reason: str) -> None:
        """Report a refusal by the game: a scene came too late; a line-up is declared again with the next frame."""
        if isinstance(content, Scene):
            self._problems.notify("warning", sentences(f"The game refused a scene: {reason}"))
            return
        self._players = ()
        remedy = "Declare the line-up on the panel, or wait until the play is over"
        text = f"The game refused the line-up seen on the board: {reason}"
        self._problems.report(HealthReason(code=LINE_UP_REFUSED, level="warning", text=text, remedy=remedy))

    def _play_events(self, t_ns: int | None) -> None:
        """Play back the remaining events up to an instant, in order; None for all."""
        while self._pending and (t_ns is None or self._pending[-1].t_ns <= t_ns):
            event = self._pending.pop()
            try:
                self._observe("entry_judged", event, self._referee.take(event))
            except RefusedError as error:
                self._observe("event_refused", event, str(error))

    def _observe(self, notice: str, *content: object) -> None:
        """Notify every observer; one that fails is reported by its name, and keeps nothing from the others."""
        for observer in self._observers:
            name = _words(type(observer).__name__)
            with self._reporting(f"{name} {notice}".replace(" ", "_"), f"The {name} failed"):
                getattr(observer, notice)(*content)

    def _end_by(self, stage: str, cause: str) -> None:
        """End the loop by an error in Downfield, which no frame caused; `run` then says why."""
        self._failure = SourceError(f"{stage} failed: {cause}")
        self.stop()
        for waiting in (self._decoding, self._detected, self._entries):  # so that no other stage waits for this one
            waiting.close()

    @contextmanager
    def _reporting(self, stage: str, text: str) -> Iterator[None]:
        """Report an error with one frame or entry, and continue with the next, which may succeed."""
        try:
            yield
        except Exception as error:
            cause = str(error) if isinstance(error, DownfieldError) else f"{type(error).__name__}: {error}"
            self._problems.report(HealthReason(code=f"{stage}_failed", level="alarm", text=f"{text}: {cause}"))
        else:
            self._problems.resolve(f"{stage}_failed")


@cache
def _words(name: str) -> str:
    """Return the name of a class or a function as words for people, such as "annotated picture"."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name.strip("_")).lower()


def set_aside_loaded_objects() -> None:
    """Collect garbage, and keep what is loaded out of later collections: one between two frames would take 0.1 s."""
    gc.collect()
    gc.freeze()
