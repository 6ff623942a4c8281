"""The pipeline with a detector that skips frames and runs in the background."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from filmed_table import TABLE, detections, open_vision, scenes_of, shot
from simulated_detector import ListDetector
from tracked_tables import FIELD, look_of, roster_of
from waiting import WAIT_S

from downfield.calibration.calibration import Calibration
from downfield.calibration.camera import Camera
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.vision import pipeline
from downfield.vision.detection_schedule import BACKGROUND, DetectionRate
from downfield.vision.measuring.estimate import Estimate
from downfield.vision.pipeline import Vision

HAND = (Detection("hand", 0.9, (100.0, 100.0, 200.0, 200.0), helmet_px=(150.0, 180.0), helmet_score=0.9),)


class CountingDetector(ListDetector):
    """Notes which runs it gets."""

    def __init__(self) -> None:
        super().__init__(detections())
        self.runs: list[str] = []
        self.shown: list[int] = []
        self.found = 0
        self.for_ball: list[bool] = []
        self.hand_there = False
        self.hands: list[int] = []
        self.examined: list[int] = []

    def detect(self, image: Image) -> tuple[Detection, ...]:
        self.runs.append("all")
        return super().detect(image)

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        self.runs.append("single")
        return super().detect(image)

    def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:  # noqa: ARG002 - the seam's signature
        self.found += 1
        self.for_ball.append(ball)
        return HAND if self.hand_there else ()

    def refine_candidates(
        self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        del image, found
        self.examined.append(len(seen))
        return ()

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        self.runs.append("tracked" if found is None else "all")
        self.shown.append(len(seen))
        self.hands.append(sum(one.kind == "hand" for one in found or ()))
        return super().detect(image)


@pytest.mark.parametrize(
    ("every_ms", "expected"), [(100, ["all", "tracked", "tracked"] * 2), (0, ["all"] * 6), (34, ["all"] * 6)]
)
def test_full_frame_runs_follow_the_interval_and_known_figures_are_tracked_in_between(
    every_ms: int, expected: list[str]
) -> None:
    detector = CountingDetector()
    vision = Vision(
        Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, rate=DetectionRate(every_ms * 1_000_000)
    )
    for number in range(6):
        vision.detect(shot(number))
    assert detector.runs == expected
    assert detector.shown[0] == 0
    assert all(detector.shown[1:])


def test_hands_count_in_the_frame_in_which_they_are_found() -> None:
    detector = CountingDetector()
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, rate=DetectionRate(0))
    for number in range(6):
        detector.hand_there = number < 3
        vision.detect(shot(number))
    assert detector.hands == [1, 1, 1, 0, 0, 0]


def test_figures_keep_their_motion_in_skipped_frames() -> None:
    """The same recording at its own frame rate, and with a frame between every two."""
    own, detector = scenes_of(open_vision(roster_of(TABLE))), CountingDetector()
    calibration, rate = (
        Calibration(FIELD, look_of(TABLE.players).camera, "truth"),
        DetectionRate(figures_every_ns=33_000_000),
    )
    vision = Vision(calibration, detector, roster_of(TABLE), rate=rate)
    frames = [
        replace(shot(number), index=2 * number + between, t_ns=number * 33_333_333 + between * 16_666_666)
        for number in range(len(detections()))
        for between in (0, 1)
    ]
    for frame in frames[1::2]:
        frame.image[32:64, :32] = 255  # another picture, not the same once more
    scenes = [vision.process(frame) for frame in frames]
    assert len(detector.runs) == len(frames) // 2
    detected, skipped = scenes[::2], scenes[1::2]
    for before, at, after in zip(detected, skipped, detected[1:], strict=False):
        if not before.figures:
            continue
        assert not at.unfit
        assert {figure.id: figure.visible for figure in at.figures} == {
            figure.id: figure.visible for figure in before.figures
        }
        walker = [
            next(figure.x_mm for figure in scene.figures if figure.id == "dark-4") for scene in (before, at, after)
        ]
        assert abs(walker[1] - (walker[0] + walker[2]) / 2) < 1.5  # it starts to walk within a frame
    gaps = [
        {(contact.a, contact.b): contact.gap_mm for contact in run[-1].contacts}["dark-4", "light-4"]
        for run in (own, detected)
    ]
    assert gaps[0] == pytest.approx(gaps[1], abs=0.1)


def slow() -> DetectionRate:
    """The rate of a computer whose detector runs take 20 ms each."""
    return DetectionRate(clock=iter(range(0, 10**12, 20_000_000)).__next__)


@pytest.mark.parametrize("carrier", [None, "dark-4"])
def test_skipped_frames_are_refined_only_while_there_is_a_carrier(
    carrier: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []

    def refined(image: Image, camera: Camera, estimates: Sequence[Estimate]) -> list[None]:
        del image, camera
        measured.append(len(estimates))
        return [None] * len(estimates)

    monkeypatch.setattr(pipeline, "refine_outlines", refined)
    calibration, detector = Calibration(FIELD, look_of(TABLE.players).camera, "truth"), CountingDetector()
    vision = Vision(calibration, detector, roster_of(TABLE), rate=DetectionRate(figures_every_ns=66_000_000))
    detected: list[bool] = []
    for number in range(len(detections())):
        before, known = len(detector.runs), bool(vision.players)
        measured.clear()
        vision.process(shot(number), carrier)
        if known:
            detected.append(len(detector.runs) > before)
            assert bool(measured) == (detected[-1] or carrier is not None)
    assert set(detected) == {True, False}


def test_slow_full_frame_runs_are_done_in_the_background() -> None:
    detector = CountingDetector()
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, rate=slow())
    results = []
    for number in range(60):
        results.append(vision.detect(replace(shot(number % 30), t_ns=number * 16_666_667)))
        BACKGROUND.submit(int).result()  # background runs are over
    assert detector.runs == ["all"] + ["tracked"] * (len(detector.runs) - 1)
    assert 2 < detector.found == 1 + len(detector.examined) < len(detector.runs)
    assert all(detector.examined)
    assert sum(result is not None for result in results) == len(detector.runs)
    assert all(result is None or result for result in results)


def test_results_of_a_background_run_are_used_from_the_next_run_on() -> None:
    """A vague figure walks a tenth of a pixel per frame; a new one, a hand and a better view of it come late."""

    def at(x: float, y: float, sigma_px: float) -> Detection:
        corners = ((x + 30, y), (x + 30, y + 30), (x - 20, y + 30), (x - 20, y))
        return Detection("upright", 0.9, (x - 20, y, x + 30, y + 30), corners, (1.0,) * 4, (sigma_px,) * 4)

    new, hand = at(400, 300, 1.0), Detection("hand", 0.9, (0.0, 0.0, 9.0, 9.0))

    class Walker(CountingDetector):
        begun: ClassVar[list[int]] = []
        tracked: ClassVar[list[tuple[int, tuple[Detection, ...]]]] = []
        gate = threading.Event()

        def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
            super().find_candidates(image, ball=ball)
            if self.tracked:
                self.begun.append(int(image[0, 0, 0]))
                assert self.gate.wait(WAIT_S)
            return (hand,)

        def refine_candidates(
            self, image: Image, found: Sequence[Detection], seen: Sequence[Detection]
        ) -> tuple[Detection, ...]:
            assert found == (hand,)
            assert 0 < int(image[0, 0, 0]) / 10 - (seen[0].corners_px[0][0] - 30) < 0.8  # of a few frames before
            return (new, dataclasses.replace(seen[0], corner_sigma_px=(0.3,) * 4))

        def track(
            self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
        ) -> tuple[Detection, ...]:
            del found
            self.tracked.append((int(image[0, 0, 0]), tuple(seen)))
            return (at(int(image[0, 0, 0]) / 10, 100, 3.0),)

    detector = Walker()
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, rate=slow())
    for number in range(1, 60):
        frame = replace(shot(number % 30), t_ns=number * 16_666_667)
        frame.image[0, 0, 0] = number
        vision.detect(frame)
        if detector.begun and number > detector.begun[0] + 6:
            break
    alone = [seen for _, seen in detector.tracked[1:]]
    assert len(alone) > 2
    assert all(len(seen) == 1 for seen in alone)  # nothing has been found yet
    detector.gate.set()
    BACKGROUND.submit(int).result()
    last = detector.tracked[-1][0]
    while detector.tracked[-1][0] == last:
        number += 1
        frame = replace(shot(number % 30), t_ns=number * 16_666_667)
        frame.image[0, 0, 0] = number
        vision.detect(frame)
    better, seen_hand, seen_new = detector.tracked[-1][1]
    assert (seen_hand, seen_new) == (hand, new)
    assert better.corner_sigma_px == (0.3,) * 4
    np.testing.assert_allclose(better.corners_px, at(last / 10, 100, 0.3).corners_px)


def test_a_slow_computer_loses_no_figure_and_is_reported() -> None:
    rate = DetectionRate(clock=iter(range(0, 10**12, 60_000_000)).__next__)  # every run takes as long
    vision = Vision(
        Calibration(FIELD, look_of(TABLE.players).camera, "truth"), CountingDetector(), roster_of(TABLE), rate=rate
    )
    scenes = scenes_of(vision)
    assert vision.health is not None
    assert any("slow" in warning for warning in vision.health.warnings)
    assert len(scenes[-1].figures) == len(TABLE.players)
    assert all(figure.visible > 0 for figure in scenes[-1].figures)


def test_single_images_are_always_detected_in_full() -> None:
    detector = CountingDetector()
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, continuous=False)
    for number in range(3):
        vision.detect(shot(number))
    assert detector.runs == ["single"] * 3
    assert detector.found == 0


def test_the_ball_is_searched_for_three_times_a_second() -> None:
    class Seeing(CountingDetector):
        def track(
            self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
        ) -> tuple[Detection, ...]:
            del image, seen, found
            return (Detection("hand", 0.9, (0.0, 0.0, 9.0, 9.0)),)

    detector = Seeing()
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector)
    for number in range(90):
        vision.detect(shot(number))
    seconds = (shot(89).t_ns - shot(0).t_ns) / 1e9
    assert detector.for_ball[0]
    assert 2 * seconds < sum(detector.for_ball) < 4 * seconds + 1
    assert sum(detector.for_ball) < detector.found / 2


def test_a_failed_background_run_is_reported_and_tried_again() -> None:
    class Broken(CountingDetector):
        def find_candidates(self, image: Image, *, ball: bool = True) -> tuple[Detection, ...]:
            super().find_candidates(image, ball=ball)
            if self.found == 1:
                return ()
            raise InputError("the network is gone")

    detector, failed, done = Broken(), 0, 0
    vision = Vision(Calibration(FIELD, look_of(TABLE.players).camera, "truth"), detector, rate=slow())
    for number in range(90):
        try:
            done += vision.detect(replace(shot(number % 30), t_ns=number * 16_666_667)) is not None
        except InputError as error:
            failed += "gone" in str(error)
        BACKGROUND.submit(int).result()
    assert detector.found > 3
    assert detector.found - 1 - failed in {0, 1}
    assert done > failed
