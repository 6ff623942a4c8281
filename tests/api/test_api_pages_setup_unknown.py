"""Boards that nobody has described, in a real browser: from nothing to a running game, doing what the page says."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from browsers import browser, page_in
from loopback_streams import MjpegServer
from setup_newcomer import Newcomer
from setup_pages import check_layout, newcomers_rig
from unknown_cameras import Photograph, photograph

from downfield.calibration.calibration import Calibration
from downfield.rig.tables.profile import TableFolder

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
def rig_address(tmp_path: Path) -> Iterator[str]:
    with newcomers_rig(tmp_path) as address:
        yield address


@pytest.mark.parametrize("photo", BOARDS, indirect=True)
def test_an_unknown_board_is_taken_from_nothing_to_a_running_game(
    tmp_path: Path, photo: Photograph, stream: MjpegServer, rig_address: str
) -> None:
    begin_s = time.monotonic()
    with browser() as running, page_in(running) as page:
        page.goto(f"{rig_address}/setup")
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


def worst_off_yd(calibration: Calibration, photo: Photograph) -> float:
    """Return the largest error of a base top's corner over the field, modulo a half turn."""
    board, true_yd = photo.board, photo.places_yd()
    found_mm, _ = calibration.to_board_with_cov(photo.places_px(photo.top_mm), photo.top_mm)
    turned = np.array([board.length_yd, board.width_yd]) - true_yd
    found_yd = calibration.field.to_yards(found_mm)
    return min(float(np.linalg.norm(found_yd - each, axis=1).max()) for each in (true_yd, turned))
