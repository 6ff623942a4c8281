"""The loop drops nothing but live frames, survives failures of its stages, and keeps everything in order."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest
from rig_fakes import EVENTS, PLAYERS, FakeReferee, FakeSource, FakeVision, RecordingObserver
from waiting import WAIT_S, let_run, wait_until

from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CapturedFrame, LoopObserver, VideoPacket
from downfield.core.errors import RefusedError, SourceError
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.game.published.publisher import LineUpStatus
from downfield.officiating.declarations import Carrier, FrontDeclared
from downfield.officiating.events import Event
from downfield.rig.live.connections import LOOP_LIMITS, DetectionResult, LoopControls
from downfield.rig.live.loop import Loop
from downfield.rig.live.rig_health import FrameMeter


def test_a_clip_is_judged_frame_by_frame_with_its_events() -> None:
    referee, observer = FakeReferee(), RecordingObserver()
    Loop(FakeSource(), FakeVision(), referee, ActiveProblems(), events=EVENTS, observers=[observer]).run()
    assert [scene.frame for scene in referee.scenes] == list(range(90)) == observer.captured
    assert {"tackle", "line_of_scrimmage"} <= {call.kind for call in observer.calls if call.verdict == "called"}
    assert referee.game.state.players == PLAYERS


def wait_for_frames(observer: RecordingObserver, count: int, _: object) -> None:
    """Wait until so many frames are captured: as slow vision or judging does."""
    wait_until(lambda: len(observer.captured) == count)


def test_the_oldest_live_frames_are_dropped_and_counted() -> None:
    observer, referee = RecordingObserver(), FakeReferee()
    vision = FakeVision(partial(wait_for_frames, observer, 60))
    loop = Loop(FakeSource(60, live=True), vision, referee, ActiveProblems(), observers=[observer])
    loop.run()
    assert loop.dropped > 0
    assert len(vision.updated) == len(referee.scenes) == 60 - loop.dropped
    assert vision.updated == sorted(vision.updated)
    assert vision.updated[-1] == 59


def test_scenes_and_events_are_never_dropped_however_slow_the_judging() -> None:
    observer, vision = RecordingObserver(), FakeVision()
    referee = FakeReferee(partial(wait_for_frames, observer, 60))
    Loop(
        FakeSource(60, live=True, pause_s=0.001), vision, referee, ActiveProblems(), events=EVENTS, observers=[observer]
    ).run()
    assert [scene.frame for scene in referee.scenes] == vision.updated
    assert observer.refusals == []


def notices_when_frame_5_fails(source: FakeSource, vision: FakeVision) -> list[str]:
    """Run ten frames of which all but the sixth are judged; return the notices."""
    notices: list[str] = []
    problems = ActiveProblems(notify=lambda level, text: notices.append(f"{level}: {text}"))
    referee = FakeReferee()
    Loop(source, vision, referee, problems).run()
    assert [scene.frame for scene in referee.scenes] == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert problems.level() == "ok"
    return notices


def test_a_frame_whose_tracking_fails_is_reported_and_the_next_is_tracked() -> None:
    def fails(frame: Frame) -> None:
        if frame.index == 5:
            raise ZeroDivisionError("a fault")

    assert notices_when_frame_5_fails(FakeSource(10), FakeVision(fails)) == [
        "alarm: Tracking failed in frame 5: ZeroDivisionError: a fault."
    ]


def test_a_frame_whose_detection_fails_is_reported_and_the_next_is_tracked() -> None:
    class FailingVision(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            if frame.index == 5:
                raise ZeroDivisionError("a fault")
            return super().detect(frame, waiting)

    assert notices_when_frame_5_fails(FakeSource(10), FailingVision()) == [
        "alarm: Detection failed in frame 5: ZeroDivisionError: a fault."
    ]


def test_a_damaged_picture_is_counted_and_the_next_is_tracked() -> None:
    class DamagedSource(FakeSource):
        def frames(self) -> Iterator[CapturedFrame]:
            for frame in super().frames():
                damaged = dataclasses.replace(frame, packet=VideoPacket("mjpeg", b"no picture"), image=None)
                yield damaged if frame.index == 5 else frame

    meter, referee = FrameMeter(), FakeReferee()
    Loop(DamagedSource(10), FakeVision(), referee, ActiveProblems(), meter=meter).run()
    assert [scene.frame for scene in referee.scenes] == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert (meter.statistics().damaged, meter.statistics().frames) == (1, 9)


def test_frames_are_decoded_in_parallel_and_tracked_in_order() -> None:
    next_decoded = threading.Event()

    class SlowFrame(CapturedFrame):
        def decode(self) -> Frame:
            if self.index == 0:
                assert next_decoded.wait(WAIT_S)
            elif self.index == 1:
                next_decoded.set()
            return super().decode()

    class SlowSource(FakeSource):
        def frames(self) -> Iterator[CapturedFrame]:
            for frame in super().frames():
                yield SlowFrame(frame.index, frame.t_ns, frame.captured_ns, image=frame.image)

    referee = FakeReferee()
    Loop(SlowSource(4), FakeVision(), referee, ActiveProblems()).run()
    assert [scene.frame for scene in referee.scenes] == [0, 1, 2, 3]


def test_one_frame_is_detected_while_the_one_before_is_tracked() -> None:
    tracking, detected_meanwhile = threading.Event(), threading.Event()

    class WaitingVision(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            if frame.index == 1 and tracking.wait(WAIT_S):
                detected_meanwhile.set()
            return super().detect(frame, waiting)

    def waits(frame: Frame) -> None:
        if frame.index == 0:
            tracking.set()
            assert detected_meanwhile.wait(WAIT_S)

    referee = FakeReferee()
    Loop(FakeSource(3), WaitingVision(waits), referee, ActiveProblems()).run()
    assert [scene.frame for scene in referee.scenes] == [0, 1, 2]


def test_the_detector_is_told_how_many_newer_frames_wait() -> None:
    source, observer, waiting_frames = FakeSource(8, live=True, pause_s=0.001), RecordingObserver(), list[int]()

    class WaitingVision(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            wait_until(lambda: len(observer.captured) == source.count)  # some of them are decoded, and wait no more
            waiting_frames.append(waiting)
            return super().detect(frame, waiting)

    Loop(source, WaitingVision(), FakeReferee(), ActiveProblems(), observers=[observer]).run()
    assert waiting_frames[1:] == [6, 5, 4, 3, 2, 1, 0]


def test_tracking_of_a_frame_begins_while_it_is_still_being_detected() -> None:
    begun = threading.Event()

    class WaitingVision(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            assert begun.wait(WAIT_S)
            return super().detect(frame, waiting)

        def update(self, frame: Frame, detections: DetectionResult, carrier: str | None = None) -> Scene:
            begun.set()
            return super().update(frame, detections, carrier)

    referee = FakeReferee()
    Loop(FakeSource(3), WaitingVision(), referee, ActiveProblems()).run()
    assert [scene.frame for scene in referee.scenes] == [0, 1, 2]


def test_a_failure_of_the_referee_is_reported_and_the_game_goes_on() -> None:
    def fails(entry: Scene | Event) -> None:
        if isinstance(entry, Scene) and entry.frame == 5:
            raise KeyError("a fault")

    notices: list[str] = []
    referee = FakeReferee(fails)
    Loop(FakeSource(10), FakeVision(), referee, ActiveProblems(notify=lambda _, text: notices.append(text))).run()
    assert len(referee.scenes) == 9
    assert len(notices) == 1


@pytest.mark.parametrize("failing", ["frame_captured", "scene_ready", "entry_judged", "event_refused"])
def test_an_observer_that_fails_is_named_and_keeps_nothing_from_the_game_and_the_others(failing: str) -> None:
    class BrokenScoreboard(LoopObserver):
        """An observer with a fault."""

    def fail(*_: object) -> None:
        raise RuntimeError("no paper")

    setattr(BrokenScoreboard, failing, fail)
    referee, observer, problems = FakeReferee(), RecordingObserver(), ActiveProblems()
    events = (*EVENTS, Event("again", 4, "operator", Carrier("nobody")))
    observers = (BrokenScoreboard(), observer)
    Loop(FakeSource(), FakeVision(), referee, problems, events=events, observers=observers).run()
    assert len(referee.scenes) == 90
    assert len(observer.captured) == 90
    assert observer.calls
    assert len(observer.refusals) == 1
    assert [(problem.code, problem.text) for problem in problems.active()] == [
        (f"broken_scoreboard_{failing}_failed", "The broken scoreboard failed: RuntimeError: no paper")
    ]


def test_a_stage_that_ends_by_an_error_ends_the_run_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Loop) -> None:
        raise RuntimeError("out of threads")

    fail.__name__ = "_decode"
    monkeypatch.setattr(Loop, "_decode", fail)
    with pytest.raises(SourceError, match="decode failed: RuntimeError: out of threads"):
        Loop(FakeSource(), FakeVision(), FakeReferee(), ActiveProblems()).run()


def test_a_refused_event_is_reported_and_the_rest_goes_on() -> None:
    observer = RecordingObserver()
    wrong = Event("wrong", 3, "operator", Carrier("nobody"))
    Loop(
        FakeSource(60), FakeVision(), FakeReferee(), ActiveProblems(), events=(wrong, *EVENTS), observers=[observer]
    ).run()
    assert len(observer.refusals) == 1
    assert observer.refusals[0].startswith("wrong: ")
    assert any(call.kind == "tackle" for call in observer.calls)


def test_the_next_frame_of_a_recording_is_tracked_once_the_last_has_been_judged() -> None:
    referee = FakeReferee(lambda _: let_run(0.005))
    behind: list[int] = []
    vision = FakeVision(lambda frame: behind.append(frame.index - len(referee.scenes)))
    Loop(FakeSource(20), vision, referee, ActiveProblems()).run()
    assert behind == [0] * 20


def test_events_after_the_end_are_not_played_when_the_loop_was_stopped() -> None:
    observer = RecordingObserver()
    late = Event("late", 10**12, "operator", Carrier("dark-1"))
    vision = FakeVision()
    loop = Loop(FakeSource(10_000), vision, FakeReferee(), ActiveProblems(), events=(late,), observers=[observer])
    vision.before_update = lambda frame: loop.stop() if frame.index == 5 else None
    loop.run()
    assert observer.refusals == []
    Loop(FakeSource(6), FakeVision(), FakeReferee(), ActiveProblems(), events=(late,), observers=[observer]).run()
    assert len(observer.refusals) == 1


def test_while_calls_are_suspended_scenes_are_unfit_and_make_none() -> None:
    referee, observer, controls = FakeReferee(), RecordingObserver(), LoopControls()
    controls.suspension = "suspended by the operator"
    Loop(
        FakeSource(), FakeVision(), referee, ActiveProblems(), events=EVENTS, observers=[observer], controls=controls
    ).run()
    assert {scene.unfit for scene in referee.scenes} == {("suspended by the operator",)}
    assert not [call for call in observer.calls if call.kind == "tackle"]


def test_after_a_stop_the_captured_frames_are_still_judged() -> None:
    referee = FakeReferee()
    meter = FrameMeter()
    loop = Loop(FakeSource(10_000, live=True, pause_s=0.002), FakeVision(), referee, ActiveProblems(), meter=meter)
    threading.Timer(0.1, loop.stop).start()
    began = time.monotonic()
    loop.run()
    assert time.monotonic() - began < 3
    assert referee.scenes
    assert meter.statistics().frames == len(referee.scenes)


def test_without_scenes_the_clock_of_a_live_game_goes_on() -> None:
    referee = FakeReferee()
    Loop(FakeSource(1, live=True, pause_s=1.3), FakeVision(), referee, ActiveProblems(), ticks=True).run()
    assert referee.ticks >= 1
    referee.ticks = 0
    Loop(FakeSource(1, pause_s=1.3), FakeVision(), referee, ActiveProblems()).run()
    assert referee.ticks == 0


def test_a_source_that_fails_ends_the_run_with_its_error() -> None:
    class Broken(FakeSource):
        def frames(self):  # type: ignore[no-untyped-def]
            yield from super().frames()
            raise SourceError("clip.mp4: can't be decoded")

    referee = FakeReferee()
    with pytest.raises(SourceError, match="can't be decoded"):
        Loop(Broken(3), FakeVision(), referee, ActiveProblems()).run()
    assert len(referee.scenes) == 3


def test_the_line_up_goes_from_vision_to_game_and_from_game_to_vision() -> None:
    vision, referee = FakeVision(), FakeReferee()
    vision.players = PLAYERS
    Loop(FakeSource(3), vision, referee, ActiveProblems()).run()
    assert referee.game.state.players == PLAYERS
    assert vision.line_ups == []

    vision, referee = FakeVision(), FakeReferee()
    referee.line_up = LineUpStatus(PLAYERS)
    Loop(FakeSource(3), vision, referee, ActiveProblems()).run()
    assert vision.line_ups == [PLAYERS]
    assert referee.game.state.players == ()


def test_vision_gets_every_confirmation_of_the_line_up() -> None:
    vision, referee = FakeVision(), FakeReferee()
    referee.line_up = LineUpStatus(PLAYERS, 1)

    def confirm(frame: Frame) -> None:
        referee.line_up = LineUpStatus(PLAYERS, 1 + frame.index // 3)

    vision.before_update = confirm
    Loop(FakeSource(8), vision, referee, ActiveProblems()).run()
    assert vision.line_ups == [PLAYERS] * 3


def test_vision_gets_each_front_once_and_what_was_said_before_when_one_is_undone() -> None:
    vision, referee = FakeVision(), FakeReferee()
    first, second = FrontDeclared("dark-28", 10.0), FrontDeclared("dark-28", -170.0)
    old = FrontDeclared("light-9", 90.0)
    states = [{"op-1": old}, {"op-1": old, "op-2": first}, {"op-1": old, "op-2": first, "op-3": second}]
    states += [states[1], {"op-1": old}]
    referee.line_up = LineUpStatus(fronts=states[0])

    def declare(frame: Frame) -> None:
        referee.line_up = LineUpStatus(fronts=states[min(frame.index // 2, len(states) - 1)])

    vision.before_update = declare
    Loop(FakeSource(12), vision, referee, ActiveProblems()).run()
    assert vision.fronts == [("dark-28", 10.0), ("dark-28", -170.0), ("dark-28", 10.0), ("dark-28", None)]


def test_vision_gets_the_ball_carrier_with_every_frame() -> None:
    vision, referee = FakeVision(), FakeReferee()
    referee.carrier = "dark-28"
    Loop(FakeSource(3), vision, referee, ActiveProblems()).run()
    assert vision.carriers == ["dark-28"] * 3


def test_the_vision_stage_is_replaced_between_two_frames() -> None:
    first, second, controls = FakeVision(), FakeVision(), LoopControls()
    first.before_update = lambda frame: controls.change_vision(lambda _: second) if frame.index == 2 else None
    Loop(FakeSource(6), first, FakeReferee(), ActiveProblems(), controls=controls).run()
    assert first.updated == [0, 1, 2]
    assert second.updated == [3, 4, 5]


def test_a_refused_line_up_is_declared_again_until_it_is_accepted() -> None:
    vision = FakeVision()
    vision.players = PLAYERS
    refusals = iter((True, True, False))

    def refuses(entry: Scene | Event) -> None:
        if isinstance(entry, Event) and next(refusals, False):
            raise RefusedError("not now")

    notices: list[str] = []
    referee = FakeReferee(refuses)
    problems = ActiveProblems(notify=lambda _, text: notices.append(text))
    # More frames than wait to be judged, so that tracking hears of every refusal in time.
    Loop(FakeSource(4 * LOOP_LIMITS.scenes), vision, referee, problems).run()
    assert referee.game.state.players == PLAYERS
    assert len(notices) == 1
    assert problems.level() == "ok"
