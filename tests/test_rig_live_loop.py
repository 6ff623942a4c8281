"""The loop: nothing but frames is ever lost, and nothing but its end ends it."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator

import pytest
from rig_fakes import EVENTS, PLAYERS, FakeReferee, FakeSource, FakeVision, Notes

from downfield.core.errors import RefusedError, SourceError
from downfield.core.frame import Detection, Frame
from downfield.core.scene import Scene
from downfield.officiating.declarations import Carrier
from downfield.officiating.events import Event
from downfield.rig.live.handoff import BoundedQueue
from downfield.rig.live.loop import SCENES_WAITING, LinedUp, Loop
from downfield.rig.live.metrics import FrameMeter
from downfield.rig.live.referee import EventPlayback
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import DetectionResult
from downfield.rig.sources.source import CapturedFrame, VideoPacket


def test_a_clip_is_judged_frame_by_frame_with_its_declarations() -> None:
    judge, notes = FakeReferee(), Notes()
    Loop(FakeSource(), FakeVision(), judge, ActiveProblems(), prompter=EventPlayback(EVENTS), onlookers=[notes]).run()
    assert [scene.frame for scene in judge.scenes] == list(range(90)) == notes.frames
    assert {"tackle", "line_of_scrimmage"} <= {call.kind for call in notes.calls if call.verdict == "called"}
    assert judge.game.state.players == PLAYERS


def test_a_live_source_loses_its_oldest_frames_and_they_are_counted() -> None:
    sight, judge, troubles = FakeVision(lambda _: time.sleep(0.01)), FakeReferee(), ActiveProblems()
    loop = Loop(FakeSource(60, live=True, pause_s=0.002), sight, judge, troubles)
    loop.run()
    assert loop.dropped > 0
    assert len(sight.seen) == len(judge.scenes) == 60 - loop.dropped
    assert sight.seen == sorted(sight.seen)
    assert sight.seen[-1] == 59


def test_scenes_and_declarations_are_never_lost_however_slow_the_judging() -> None:
    judge, notes = FakeReferee(lambda _: time.sleep(0.004)), Notes()
    sight = FakeVision()
    Loop(
        FakeSource(60, live=True, pause_s=0.001),
        sight,
        judge,
        ActiveProblems(),
        prompter=EventPlayback(EVENTS),
        onlookers=[notes],
    ).run()
    assert [scene.frame for scene in judge.scenes] == sight.seen
    assert notes.refusals == []


def told_but_for_frame_5(source: FakeSource, sight: FakeVision) -> list[str]:
    """What is told of ten frames of which all but the sixth are judged."""
    told: list[str] = []
    troubles = ActiveProblems(noticed=lambda level, text: told.append(f"{level}: {text}"))
    judge = FakeReferee()
    Loop(source, sight, judge, troubles).run()
    assert [scene.frame for scene in judge.scenes] == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert troubles.level() == "ok"
    return told


def test_a_frame_that_fails_is_told_and_the_next_is_seen() -> None:
    def fails(frame: Frame) -> None:
        if frame.index == 5:
            raise ZeroDivisionError("a fault")

    assert told_but_for_frame_5(FakeSource(10), FakeVision(fails)) == [
        "alarm: frame 5 could not be seen: ZeroDivisionError: a fault."
    ]


def test_a_frame_that_can_not_be_looked_at_is_told_and_the_next_is_seen() -> None:
    class Blinking(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            if frame.index == 5:
                raise ZeroDivisionError("a fault")
            return super().detect(frame, waiting)

    assert told_but_for_frame_5(FakeSource(10), Blinking()) == [
        "alarm: frame 5 could not be looked at: ZeroDivisionError: a fault."
    ]


def test_a_broken_picture_is_told_and_the_next_is_seen() -> None:
    class Torn(FakeSource):
        def frames(self) -> Iterator[CapturedFrame]:
            for shot in super().frames():
                torn = dataclasses.replace(shot, packed=VideoPacket("mjpeg", b"no picture"), image=None)
                yield torn if shot.index == 5 else shot

    assert told_but_for_frame_5(Torn(10), FakeVision()) == [
        "alarm: frame 5 could not be read: frame 5: the picture is broken."
    ]


def test_a_frame_is_unpacked_beside_the_one_before_and_still_seen_after_it() -> None:
    next_unpacked = threading.Event()

    class Slow(CapturedFrame):
        def frame(self) -> Frame:
            if self.index == 0:
                assert next_unpacked.wait(5)
            elif self.index == 1:
                next_unpacked.set()
            return super().frame()

    class Heap(FakeSource):
        def frames(self) -> Iterator[CapturedFrame]:
            for shot in super().frames():
                yield Slow(shot.index, shot.t_ns, shot.captured_ns, image=shot.image)

    judge = FakeReferee()
    Loop(Heap(4), FakeVision(), judge, ActiveProblems()).run()
    assert [scene.frame for scene in judge.scenes] == [0, 1, 2, 3]


def test_one_frame_is_looked_at_while_the_one_before_is_seen() -> None:
    seeing, looked_meanwhile = threading.Event(), threading.Event()

    class Watched(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            if frame.index == 1 and seeing.wait(5):
                looked_meanwhile.set()
            return super().detect(frame, waiting)

    def waits(frame: Frame) -> None:
        if frame.index == 0:
            seeing.set()
            assert looked_meanwhile.wait(5)

    judge = FakeReferee()
    Loop(FakeSource(3), Watched(waits), judge, ActiveProblems()).run()
    assert [scene.frame for scene in judge.scenes] == [0, 1, 2]


def test_who_looks_at_a_frame_is_told_how_many_have_come_since() -> None:
    source, notes, late = FakeSource(8, live=True, pause_s=0.001), Notes(), list[int]()

    class Watched(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            while len(notes.frames) < source.count:  # of which some are unpacked, and wait no more
                time.sleep(0.001)
            late.append(waiting)
            return super().detect(frame, waiting)

    Loop(source, Watched(), FakeReferee(), ActiveProblems(), onlookers=[notes]).run()
    assert late[1:] == [6, 5, 4, 3, 2, 1, 0]


def test_what_can_be_seen_without_a_look_is_seen_while_it_goes_on() -> None:
    begun = threading.Event()

    class Watched(FakeVision):
        def detect(self, frame: Frame, waiting: int = 0) -> tuple[Detection, ...]:
            assert begun.wait(5)
            return super().detect(frame, waiting)

        def update(self, frame: Frame, detections: DetectionResult, carrier: str | None = None) -> Scene:
            begun.set()
            return super().update(frame, detections, carrier)

    judge = FakeReferee()
    Loop(FakeSource(3), Watched(), judge, ActiveProblems()).run()
    assert [scene.frame for scene in judge.scenes] == [0, 1, 2]


def test_a_fault_of_the_judge_is_told_and_the_game_goes_on() -> None:
    def fails(entry: Scene | Event) -> None:
        if isinstance(entry, Scene) and entry.frame == 5:
            raise KeyError("a fault")

    told: list[str] = []
    judge = FakeReferee(fails)
    Loop(FakeSource(10), FakeVision(), judge, ActiveProblems(noticed=lambda _, text: told.append(text))).run()
    assert len(judge.scenes) == 9
    assert len(told) == 1


def test_a_refused_declaration_is_told_and_the_rest_goes_on() -> None:
    notes = Notes()
    wrong = Event("wrong", 3, "operator", Carrier("nobody"))
    Loop(
        FakeSource(60),
        FakeVision(),
        FakeReferee(),
        ActiveProblems(),
        prompter=EventPlayback((wrong, *EVENTS)),
        onlookers=[notes],
    ).run()
    assert len(notes.refusals) == 1
    assert notes.refusals[0].startswith("wrong: ")
    assert any(call.kind == "tackle" for call in notes.calls)


def test_a_recordings_next_frame_is_seen_when_the_last_has_been_judged() -> None:
    judge = FakeReferee(lambda _: time.sleep(0.005))
    behind: list[int] = []
    sight = FakeVision(lambda frame: behind.append(frame.index - len(judge.scenes)))
    Loop(FakeSource(20), sight, judge, ActiveProblems()).run()
    assert behind == [0] * 20


def test_what_was_to_be_declared_after_the_end_is_not_declared_when_it_was_stopped() -> None:
    notes = Notes()
    late = Event("late", 10**12, "operator", Carrier("dark-1"))
    sight = FakeVision()
    loop = Loop(
        FakeSource(10_000), sight, FakeReferee(), ActiveProblems(), prompter=EventPlayback((late,)), onlookers=[notes]
    )
    sight.before = lambda frame: loop.stop() if frame.index == 5 else None
    loop.run()
    assert notes.refusals == []
    Loop(
        FakeSource(6), FakeVision(), FakeReferee(), ActiveProblems(), prompter=EventPlayback((late,)), onlookers=[notes]
    ).run()
    assert len(notes.refusals) == 1


def test_suspended_scenes_say_so_and_make_no_calls() -> None:
    judge, notes = FakeReferee(), Notes()
    Loop(
        FakeSource(),
        FakeVision(),
        judge,
        ActiveProblems(),
        prompter=EventPlayback(EVENTS),
        onlookers=[notes],
        suspended=lambda: ("suspended by the operator",),
    ).run()
    assert {scene.unfit for scene in judge.scenes} == {("suspended by the operator",)}
    assert not [call for call in notes.calls if call.kind == "tackle"]


def test_stopping_ends_it_after_what_was_captured_is_judged() -> None:
    judge = FakeReferee()
    loop = Loop(FakeSource(10_000, live=True, pause_s=0.002), FakeVision(), judge, ActiveProblems())
    threading.Timer(0.1, loop.stop).start()
    began = time.monotonic()
    loop.run()
    assert time.monotonic() - began < 3
    assert judge.scenes
    assert loop.pulse.beat().frames == len(judge.scenes)


def test_without_scenes_the_game_still_hears_the_clock() -> None:
    judge = FakeReferee()
    Loop(FakeSource(1, live=True, pause_s=1.3), FakeVision(), judge, ActiveProblems(), ticks=True).run()
    assert judge.ticks >= 1
    judge.ticks = 0
    Loop(FakeSource(1, pause_s=1.3), FakeVision(), judge, ActiveProblems()).run()
    assert judge.ticks == 0


def test_a_source_that_breaks_off_ends_the_run_with_its_reason() -> None:
    class Broken(FakeSource):
        def frames(self):  # type: ignore[no-untyped-def]
            yield from super().frames()
            raise SourceError("clip.mp4: can't be decoded")

    judge = FakeReferee()
    with pytest.raises(SourceError, match="can't be decoded"):
        Loop(Broken(3), FakeVision(), judge, ActiveProblems()).run()
    assert len(judge.scenes) == 3


def test_the_pulse_measures_from_capture_to_publication() -> None:
    pulse = FrameMeter()
    for _ in range(20):
        pulse.published(time.monotonic_ns() - 30_000_000)
    beat = pulse.beat()
    assert beat.frames == 20
    assert beat.latency_ms == pytest.approx(30, abs=5)
    assert beat.latency_p99_ms is not None
    assert FrameMeter().beat().fps is None


def test_a_handover_closed_while_somebody_waits_lets_both_sides_go() -> None:
    handover: BoundedQueue[int] = BoundedQueue(1)
    handover.put(1)
    threading.Timer(0.05, handover.close).start()
    handover.put(2)
    assert list(handover) == [1]
    assert handover.offer(3)


def test_a_heap_of_frames_after_a_halt_is_taken_whole() -> None:
    handover: BoundedQueue[int] = BoundedQueue(2, spare=3)
    assert all(handover.offer(i) for i in range(5))
    handover.close()
    assert list(handover) == [0, 1, 2, 3, 4]


def test_where_too_much_comes_steadily_nothing_waits_longer_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("downfield.rig.live.handoff.time.monotonic", lambda: now)
    handover: BoundedQueue[int] = BoundedQueue(2, spare=3)
    for i in range(6):
        handover.offer(i)
    assert (len(handover), handover.dropped) == (5, 1)
    handover.offer(6)  # too much again: only the usual room is left
    assert (len(handover), handover.dropped) == (2, 5)
    now += 1.0
    handover.offer(7)
    assert (len(handover), handover.dropped) == (2, 6)
    now += 2.5  # nothing was lost for long enough
    assert all(handover.offer(i) for i in (8, 9, 10))
    handover.close()
    assert list(handover) == [6, 7, 8, 9, 10]


def test_who_is_on_the_board_goes_from_the_sight_to_the_game_and_from_the_game_to_the_sight() -> None:
    sight, judge = FakeVision(), FakeReferee()
    sight.players = PLAYERS
    Loop(FakeSource(3), sight, judge, ActiveProblems()).run()
    assert judge.game.state.players == PLAYERS
    assert sight.rosters == []

    sight, judge = FakeVision(), FakeReferee()
    Loop(FakeSource(3), sight, judge, ActiveProblems(), lined_up=lambda: LinedUp(PLAYERS)).run()
    assert sight.rosters == [PLAYERS]
    assert judge.game.state.players == ()


def test_the_sight_is_told_each_time_that_somebody_says_who_stands_where() -> None:
    sight, said = FakeVision(), LinedUp(PLAYERS, 1)

    def again(frame: Frame) -> None:
        nonlocal said
        said = LinedUp(PLAYERS, 1 + frame.index // 3)

    sight.before = again
    Loop(FakeSource(8), sight, FakeReferee(), ActiveProblems(), lined_up=lambda: said).run()
    assert sight.rosters == [PLAYERS] * 3


def test_the_sight_is_told_who_has_the_ball() -> None:
    sight = FakeVision()
    Loop(FakeSource(3), sight, FakeReferee(), ActiveProblems(), carrier=lambda: "dark-28").run()
    assert sight.carriers == ["dark-28"] * 3


def test_the_sight_is_changed_between_two_frames() -> None:
    first, second = FakeVision(), FakeVision()
    source = FakeSource(6)
    loop = Loop(source, first, FakeReferee(), ActiveProblems())
    first.before = lambda frame: loop.between_frames(lambda _: second) if frame.index == 2 else None
    loop.run()
    assert first.seen == [0, 1, 2]
    assert second.seen == [3, 4, 5]


def test_a_line_up_that_is_refused_is_told_again_until_it_is_taken() -> None:
    sight = FakeVision()
    sight.players = PLAYERS
    refusals = iter((True, True, False))

    def refuses(entry: Scene | Event) -> None:
        if isinstance(entry, Event) and next(refusals, False):
            raise RefusedError("not now")

    told: list[str] = []
    judge = FakeReferee(refuses)
    troubles = ActiveProblems(noticed=lambda _, text: told.append(text))
    # More than wait between seeing and judging, so that the seeing hears of every refusal in time.
    Loop(FakeSource(4 * SCENES_WAITING), sight, judge, troubles).run()
    assert judge.game.state.players == PLAYERS
    assert len(told) == 1
    assert troubles.level() == "ok"
