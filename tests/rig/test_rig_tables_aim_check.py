"""While a camera is aimed, the set-up says what is wrong with its picture, its place and its connection."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR, camera_over, photograph
from loopback_streams import MjpegServer
from setup_readings import RUNNING, picture, solution
from waiting import wait_until

from downfield.api.table_setup import SetupFinding
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import AimError, CalibrationError
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tables import aim_check
from downfield.rig.tables.aim_check import AimCheck, search_findings
from downfield.rig.tables.setup_session import SetupSession


class Table:
    """Pictures of a table that somebody aims a camera at, and a search that finds what a test says."""

    def __init__(self) -> None:
        self.image: Image | None = picture()
        self.finds: CalibrationError | None = None
        self.searches = self.looks = 0

    def images(self) -> list[Image]:
        self.looks += 1
        return [] if self.image is None else [self.image]

    def was_looked_at(self, times: int) -> bool:
        return self.looks > times

    def search(self, *_: object) -> object:
        self.searches += 1
        if self.finds is not None:
            raise self.finds
        return solution()


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    made = Table()
    monkeypatch.setattr(aim_check, "solve_field", made.search)
    monkeypatch.setattr(aim_check, "_PAUSE_S", 0.01)
    return made


@pytest.fixture
def check(table: Table) -> Iterator[AimCheck]:
    made = AimCheck(table.images)
    yield made
    made.close()


def test_a_cut_field_is_reported_until_the_camera_was_moved(table: Table, check: AimCheck) -> None:
    table.finds = AimError("the field is cut by the picture's right edge: move the camera until all of it is in view")
    table.image = np.roll(picture(), 300, axis=1)
    wait_until(lambda: check.findings)
    (finding,) = check.findings
    assert finding.text == "The field is cut by the picture's right edge."
    assert finding.remedy == "Move the camera until all of it is in view."
    table.finds = None
    table.image = picture()
    wait_until(lambda: not check.findings)


def test_a_picture_at_rest_is_searched_once(table: Table, check: AimCheck) -> None:
    wait_until(lambda: table.searches)
    rng, board = np.random.default_rng(1), picture().astype(np.int16)
    for _ in range(6):
        table.image = np.clip(board + rng.integers(-3, 4, (720, 1280, 1)), 0, 255).astype(np.uint8)
        looks = table.looks
        wait_until(partial(table.was_looked_at, looks + 1))
    assert table.searches == 1
    assert check.findings == ()


def test_what_the_search_alone_can_tell_is_left_to_it(table: Table) -> None:
    table.finds = CalibrationError("yard lines are seen, but no two lines make sidelines")
    assert search_findings(picture()) is None


def test_an_oblique_camera_is_told_before_the_field_is_searched_for(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "search", lambda *_: solution(camera_over(TUDOR, (1280, 720), tilt_deg=32.0)))
    monkeypatch.setattr(aim_check, "solve_field", table.search)
    (finding,) = search_findings(picture()) or []
    assert "obliquely (32 degrees" in finding.text


def test_a_mirrored_picture_is_found_out_by_the_search_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim_check, "preset_names", lambda: (TUDOR.name,))
    board = photograph(TUDOR, camera_over(TUDOR, (1280, 720)), figures=0).image
    (finding,) = search_findings(np.ascontiguousarray(board[:, ::-1])) or []
    assert finding.text.startswith("The picture is mirrored")
    assert finding.remedy.startswith("Switch off mirroring")


def test_the_set_up_shows_what_the_search_found(table: Table, tmp_path: Path) -> None:
    table.finds = AimError("the field is cut by the picture's left edge: move the camera")
    session = SetupSession(RigSettings(data=str(tmp_path)), RUNNING, table.images, SourceChoice, lambda _: None)
    session.open_camera(RUNNING)
    wait_until(lambda: session.view().findings)
    assert session.view().findings == (
        SetupFinding(text="The field is cut by the picture's left edge.", remedy="Move the camera."),
    )
    session.close()


def test_a_camera_that_vanishes_is_reported_until_it_is_back(tmp_path: Path) -> None:
    jpeg = cv2.imencode(".jpg", picture())[1].tobytes()
    server = MjpegServer(fps=20, encoded=lambda _: jpeg)
    session = SetupSession(RigSettings(data=str(tmp_path)), "", list, SourceChoice, lambda _: None)
    try:
        session.open_camera(server.url)
        wait_until(lambda: session.view().size_px)
        assert session.view().problem == ""
        server.refuses.set()
        server.cut()
        wait_until(lambda: session.view().problem)
        assert session.view().problem.startswith("No picture")
        assert "Check the camera's network connection and power" in session.view().problem
        server.refuses.clear()
        wait_until(lambda: not session.view().problem)
    finally:
        session.close()
        server.close()


def test_the_camera_in_play_that_vanishes_is_reported_too(tmp_path: Path) -> None:
    lost = "No picture: the cable is out. Check it."
    settings = RigSettings(data=str(tmp_path))
    session = SetupSession(settings, RUNNING, lambda: [picture()], SourceChoice, lambda _: None, lambda: lost)
    assert session.view().problem == ""
    assert session.open_camera(RUNNING).problem == lost
    session.close()
