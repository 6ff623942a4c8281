"""The health report: problems, frame statistics, and whether calls are suspended."""

from __future__ import annotations

import dataclasses
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rig_fakes import tackle
from setup_readings import solution
from waiting import WAIT_S

from downfield.calibration.calibration import read_calibration
from downfield.calibration.stretch import ScaleError
from downfield.capture.problems import CAMERA_LOST, ActiveProblems
from downfield.capture.source import SourceFacts
from downfield.capture.sources.file_sources import bundled_demo
from downfield.capture.sources.phone_session import PhoneSession
from downfield.core.frame import Frame
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.rig.live import rig_health
from downfield.rig.live.rig_health import FrameMeter, HealthReporter
from downfield.vision.board.picture_health import PictureHealth
from downfield.vision.hands import HAND_OVER_FIGURES
from downfield.vision.pipeline import NO_LINE_UP

FACTS = SourceFacts("camera", "Table Cam", (1920, 1080), 60.0, live=True, codec="mjpeg")


def test_latency_is_measured_from_capture_to_publication() -> None:
    meter = FrameMeter()
    for _ in range(20):
        meter.frame_published(time.monotonic_ns() - 30_000_000)
    statistics = meter.statistics()
    assert statistics.frames == 20
    assert statistics.latency_ms == pytest.approx(30, abs=5)
    assert statistics.latency_p99_ms is not None
    assert FrameMeter().statistics().fps is None


def test_problems_are_reported_at_once_and_only_a_lost_camera_suspends_calls() -> None:
    reports: list[HealthStatus] = []
    reported, wake = threading.Event(), threading.Event()

    def report(health: HealthStatus) -> None:
        reports.append(health)
        reported.set()

    problems, meter = ActiveProblems(wake.set), FrameMeter()
    picture: dict[str, PictureHealth | None] = {"health": None}
    reporter = HealthReporter(
        report,
        problems,
        meter,
        wake,
        facts=lambda: FACTS,
        dropped=lambda: 2,
        calibration=lambda: None,
        picture_health=lambda: picture["health"],
    )
    meter.frame_published(time.monotonic_ns() - 20_000_000)
    assert (reporter.health().level, reporter.health().calls) == ("ok", "on")
    problems.report(HealthReason(code="disk_full", level="alarm", text="Recording stopped"))
    assert (reporter.health().level, reporter.health().calls) == ("alarm", "on")
    problems.resolve("disk_full")
    problems.report(HealthReason(code=CAMERA_LOST, level="alarm", text="No picture"))
    assert reporter.health().calls == "suspended"
    problems.resolve(CAMERA_LOST)
    picture["health"] = PictureHealth(warnings=("the picture is dim",))
    assert (reporter.health().level, reporter.health().text) == ("warning", "the picture is dim")
    picture["health"] = PictureHealth(more_figures=8)
    [reason] = reporter.health().reasons
    assert (reason.code, reason.text) == (
        "more_figures",
        "8 figures on the board are not in the line-up, and no call is made about them",
    )
    assert reporter.health().calls == "on"
    picture["health"] = None
    blank = np.zeros((2, 2, 3), dtype=np.uint8)
    reporter.scene_ready(Frame(0, 0, blank), dataclasses.replace(tackle(5), unfit=("the camera was moved",)))
    health = reporter.health()
    assert (health.level, health.calls, health.text) == ("warning", "suspended", "the camera was moved")
    assert not health.setting_up
    reporter.scene_ready(Frame(1, 1, blank), dataclasses.replace(tackle(6), unfit=(HAND_OVER_FIGURES, NO_LINE_UP)))
    assert reporter.health().setting_up
    problems.report(HealthReason(code=CAMERA_LOST, level="alarm", text="No picture"))
    assert not reporter.health().setting_up, "a lost camera is taken for people at the board"
    problems.resolve(CAMERA_LOST)
    assert (health.board, health.dropped, health.frames, health.camera) == ("on", 2, 1, "Table Cam")
    reporter.start()
    assert reported.wait(WAIT_S)
    reported.clear()
    problems.report(HealthReason(code="disk_full", level="alarm", text="Recording stopped"))
    assert reported.wait(0.9)
    reporter.close()
    assert reports[-1].level == "alarm"


def test_frames_without_calls_are_shown_by_reason_with_their_numbers_until_ten_seconds_later() -> None:
    reporter = HealthReporter(
        lambda _: None,
        ActiveProblems(),
        FrameMeter(),
        threading.Event(),
        facts=lambda: FACTS,
        dropped=lambda: 0,
        calibration=lambda: None,
    )
    blank = np.zeros((2, 2, 3), dtype=np.uint8)

    def show(index: int, *unfit: str, t_s: float | None = None) -> None:
        t_ns = round((index / 30 if t_s is None else t_s) * 1e9)
        scene = dataclasses.replace(tackle(5), frame=index, t_ns=t_ns, unfit=unfit)
        reporter.scene_ready(Frame(index, t_ns, blank), scene)

    show(9)
    assert reporter.health().unfit == ()
    for index in (10, 11, 13):
        show(index, f"{index} % of the figures are not visible: clear the view of the board")
    show(14)
    show(15, "moved")
    show(16, "moved", "dark")
    told = [(one.reason[:10], one.first, one.last, one.count) for one in reporter.health().unfit]
    assert told == [("… % of the", 10, 13, 3), ("moved", 15, 16, 2), ("dark", 16, 16, 1)]
    show(17)
    show(18, "moved")
    assert [one.count for one in reporter.health().unfit if one.reason == "moved"] == [2, 1]
    show(400, t_s=13.0)
    assert reporter.health().unfit == ()


def test_a_print_of_unknown_size_is_told_of_with_what_to_measure() -> None:
    sized = solution().calibration()
    calibration = dataclasses.replace(solution(), scale=ScaleError(0.3)).calibration()
    found = [sized, calibration]
    reporter = HealthReporter(
        lambda _: None,
        ActiveProblems(),
        FrameMeter(),
        threading.Event(),
        facts=lambda: dataclasses.replace(FACTS, size_px=sized.camera.lens.size_px),
        dropped=lambda: 0,
        calibration=lambda: found[0],
    )
    assert reporter.health().reasons == ()
    found.pop(0)
    (reason,) = reporter.health().reasons
    assert (reason.code, reason.level) == ("lengths_unknown", "warning")
    assert "goal line to goal line" in reason.remedy
    assert reporter.health().calls == "on"


def test_a_problem_gives_one_notice_when_it_begins_and_one_when_it_ends() -> None:
    notices: list[str] = []
    problems = ActiveProblems(notify=lambda level, text: notices.append(f"{level}: {text}"))
    for text in ("No picture: it was unplugged", "No picture: it is not plugged in"):
        problems.report(HealthReason(code=CAMERA_LOST, level="alarm", text=text, remedy="Check the cable."))
    problems.resolve(CAMERA_LOST, "The camera picture is back.")
    problems.resolve(CAMERA_LOST, "The camera picture is back.")
    assert notices == ["alarm: No picture: it was unplugged. Check the cable.", "info: The camera picture is back."]


def test_damaged_pictures_are_counted_and_told_of_together() -> None:
    meter = FrameMeter()
    reporter = HealthReporter(
        lambda _: None,
        ActiveProblems(),
        meter,
        threading.Event(),
        facts=lambda: FACTS,
        dropped=lambda: 0,
        calibration=lambda: None,
    )
    meter.frame_damaged()
    assert reporter.health().level == "alarm"
    assert reporter.health().text == "No picture of the last second could be decoded"
    meter.frame_published(time.monotonic_ns())
    meter.frame_damaged()
    health = reporter.health()
    assert (health.level, health.damaged, health.frames) == ("warning", 2, 1)
    assert health.text == "Left out 2 pictures of the last 10 s that could not be decoded"


def test_a_camera_with_another_size_than_it_is_calibrated_for_is_an_alarm() -> None:
    calibration = read_calibration(bundled_demo().with_name("demo.calibration.json"))
    facts = [dataclasses.replace(FACTS, size_px=calibration.camera.lens.size_px)]
    problems = ActiveProblems()
    reporter = HealthReporter(
        lambda _: None,
        problems,
        FrameMeter(),
        threading.Event(),
        facts=lambda: facts[0],
        dropped=lambda: 0,
        calibration=lambda: calibration,
        picture_health=lambda: PictureHealth(warnings=("No frames came for 4 s",)),
    )
    assert (reporter.health().level, reporter.health().calls) == ("warning", "on")
    facts[0] = dataclasses.replace(FACTS, size_px=(640, 480))
    problems.report(HealthReason(code="tracking_failed", level="alarm", text="Tracking failed in frame 9"))
    problems.report(HealthReason(code="disk_full", level="alarm", text="Recording stopped"))
    health = reporter.health()
    assert (health.level, health.calls) == ("alarm", "suspended")
    assert [reason.code for reason in health.reasons] == [
        "disk_full",
        "camera_size_changed",
    ]  # what follows is left out
    assert "; The camera sends 640x480 pixels, and is calibrated for " in health.text


def test_a_phone_whose_picture_slides_is_told_to_switch_off_stabilization(monkeypatch: pytest.MonkeyPatch) -> None:
    reporter = HealthReporter(
        lambda _: None,
        ActiveProblems(),
        FrameMeter(),
        threading.Event(),
        facts=lambda: FACTS,
        dropped=lambda: 0,
        calibration=lambda: None,
    )
    moved = dataclasses.replace(tackle(5), unfit=("the camera was moved: fasten it",))
    reporter.scene_ready(Frame(0, 0, np.zeros((2, 2, 3), np.uint8)), moved)
    assert reporter.health().reasons == (), "another camera has no stabilizer"
    monkeypatch.setattr(
        rig_health, "PHONE_LINK", SimpleNamespace(session=PhoneSession("phone", FACTS.name), report=lambda: None)
    )
    (reason,) = reporter.health().reasons
    assert "switch off stabilization" in reason.remedy
