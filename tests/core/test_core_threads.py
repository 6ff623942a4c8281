"""Threads never end in silence."""

from __future__ import annotations

import threading
from typing import cast

import numpy as np
import pytest
from waiting import WAIT_S

from downfield.broadcast.latest_picture import LatestPicture
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import SourceFacts
from downfield.core.arrays import Image
from downfield.core.frame import Frame
from downfield.core.scene import Scene
from downfield.core.threads import supervised_thread
from downfield.rig.live.annotated_picture import AnnotatedPicture, Annotator
from downfield.rig.live.rig_health import FrameMeter, HealthReporter


@pytest.fixture(autouse=True)
def _restarts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("downfield.core.threads.RESTART_S", 0.0)


class Failing:
    """Work that fails a number of times, then succeeds."""

    def __init__(self, times: int) -> None:
        self.left, self.done = times, threading.Event()

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left >= 0:
            raise ZeroDivisionError("a fault")
        self.done.set()


def test_work_that_goes_on_is_begun_again_and_each_failure_is_reported() -> None:
    work, reported = Failing(3), list[str]()
    thread = supervised_thread(work, "work", reported.append, restarts=True)
    thread.start()
    thread.join(WAIT_S)
    assert work.done.is_set()
    assert reported == ["ZeroDivisionError: a fault"] * 3


def test_work_that_is_done_once_reports_its_failure_and_ends() -> None:
    reported = list[str]()
    thread = supervised_thread(Failing(1), "work", reported.append)
    thread.start()
    thread.join(WAIT_S)
    assert reported == ["ZeroDivisionError: a fault"]


def test_a_library_that_ends_the_program_ends_its_own_work_only_and_is_reported() -> None:
    reported = list[str]()

    def end_the_program() -> None:
        raise SystemExit(3)

    thread = supervised_thread(end_the_program, "work", reported.append)
    thread.start()
    thread.join(WAIT_S)
    assert reported == ["SystemExit: 3"]


def test_a_failing_report_or_a_closed_owner_ends_nothing_else() -> None:
    def report(_: str) -> None:
        raise OSError("nobody listens")

    thread = supervised_thread(Failing(9), "work", report, restarts=True, closed=lambda: True)
    thread.start()
    thread.join(WAIT_S)
    assert not thread.is_alive()


def test_the_health_goes_on_after_a_report_that_failed_and_says_so() -> None:
    report, notices = Failing(1), list[str]()
    reporter = HealthReporter(
        report,
        ActiveProblems(notify=lambda _, text: notices.append(text)),
        FrameMeter(),
        threading.Event(),
        facts=lambda: SourceFacts("camera", "Table Cam", (1920, 1080), 60.0, live=True),
        dropped=lambda: 0,
        calibration=lambda: None,
    )
    reporter.start()
    assert report.done.wait(WAIT_S)
    reporter.close()
    assert any("could not be reported: ZeroDivisionError: a fault" in text for text in notices)


def test_the_picture_for_the_pages_goes_on_after_one_that_could_not_be_drawn() -> None:
    overlay, failures = Failing(1), list[str]()
    latest = LatestPicture()
    failed = threading.Event()

    class BrokenAnnotator:
        def draw(self, image: Image, *_: object) -> Image:
            overlay()
            return image

    def report(cause: str) -> None:
        failures.append(cause)
        failed.set()

    picture = AnnotatedPicture(latest, failed=report)
    picture.annotator = cast("Annotator", BrokenAnnotator())
    image = np.zeros((8, 8, 3), dtype=np.uint8)
    picture._newest.put_or_drop((Frame(0, 1, image), Scene(0, 1, "off", ())))
    assert failed.wait(WAIT_S)
    picture._newest.put_or_drop((Frame(1, 2, image), Scene(1, 2, "off", ())))
    assert overlay.done.wait(WAIT_S)
    picture.close()
    assert failures == ["ZeroDivisionError: a fault"]
