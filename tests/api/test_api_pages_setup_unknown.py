"""Boards that nobody has described, in a real browser: from nothing to a running game, doing what the page says.

The set-up and the rig that plays on the saved table run in this process; `test_api_pages_setup` has them in one of
their own, which changes from the demo to the table.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from loopback_streams import MjpegServer
from setup_newcomer import Newcomer
from setup_pages import check_layout
from small_rig import open_fake_vision, play
from unknown_cameras import Photograph, photograph
from waiting import WAIT_S

from downfield.calibration.calibration import Calibration
from downfield.capture.sources.source_types import SourceChoice
from downfield.game.published.board_topics import SourceStatus
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.rig import Rig
from downfield.rig.tables.profile import TableFolder, TableProfile
from downfield.rig.tables.setup_session import SetupSession

BOARDS = range(int(os.environ["UNKNOWN_BOARDS"])) if "UNKNOWN_BOARDS" in os.environ else (1, 2)
"""Pictures of the development split: one that is read at once, and one whose corners are placed by hand."""


@pytest.fixture
def photo(request: pytest.FixtureRequest) -> Photograph:
    return photograph("development", request.param)


@pytest.fixture
def stream(photo: Photograph) -> Iterator[MjpegServer]:
    pictures = [cv2.imencode(".jpg", photo.image, [cv2.IMWRITE_JPEG_QUALITY, 94 + i])[1].tobytes() for i in range(2)]
    server = MjpegServer(fps=4, encoded=lambda number: pictures[number % 2])
    yield server
    server.close()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a set-up while nothing is in play; what it saves is said to be open."""

    def opened(table: TableProfile) -> None:
        server.hub.publish("source", SourceStatus(kind="stream", name=table.name, text=table.name, live=True))

    session = SetupSession(RigSettings(data=str(tmp_path / "data")), "", list, SourceChoice, opened)
    server = PageServer(tmp_path, table_setup=session)
    server.start()
    try:
        yield server.url
    finally:
        session.close()
        server.stop()


@pytest.mark.parametrize("photo", BOARDS, indirect=True)
def test_an_unknown_board_is_taken_from_nothing_to_a_running_game(
    tmp_path: Path, photo: Photograph, stream: MjpegServer, url: str
) -> None:
    begin_s = time.monotonic()
    with browser() as running, page_in(running) as page:
        page.goto(f"{url}/setup")
        newcomer = Newcomer(page, photo)
        newcomer.open_stream(stream.url)
        newcomer.find_field()
        check_layout(page, f"unknown-{photo.board.maker}")
        newcomer.choose_reading()
        newcomer.follow_advice()
        newcomer.save("Attic")
    effort = newcomer.effort
    minutes = (time.monotonic() - begin_s) / 60
    sys.stdout.write(f"\nmaker {photo.board.maker}: {effort.text()}, {minutes:.1f} min; {effort.refusals}\n")
    assert not any("--" in text or ".toml" in text for text in effort.refusals)
    saved = TableFolder(tmp_path / "data" / "tables").in_use()
    assert saved is not None
    assert worst_off_yd(saved.calibration, photo) < 0.3
    given = {"data": str(tmp_path / "data"), "source.name": saved.camera, "recording.on": False, "service.on": False}
    rig = Rig(load(environment={}, command_line=given), tmp_path, open_vision=open_fake_vision)
    playing = play(rig)
    try:
        assert rig.topic("source").live
        assert rig.topic("picture") is not None, "nothing is drawn by the saved calibration"
    finally:
        rig.close()
        playing.join(WAIT_S)


def worst_off_yd(calibration: Calibration, photo: Photograph) -> float:
    """Return the largest error of a base top's corner over the field, modulo a half turn."""
    board, true_yd = photo.board, photo.places_yd()
    found_mm, _ = calibration.to_board_with_cov(photo.places_px(photo.top_mm), photo.top_mm)
    turned = np.array([board.length_yd, board.width_yd]) - true_yd
    found_yd = calibration.field.to_yards(found_mm)
    return min(float(np.linalg.norm(found_yd - each, axis=1).max()) for each in (true_yd, turned))
