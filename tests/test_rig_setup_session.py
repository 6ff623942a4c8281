"""The set-up refuses what is no camera, and keeps its place when something fails."""

from __future__ import annotations

import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from downfield.api.table_setup import SolveRequest
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError, RefusedError
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.setup.picture_findings import picture_findings
from downfield.rig.setup.session import SetupSession
from downfield.rig.sources.source_opening import SourceChoice
from downfield.rig.tables.profile import TableProfile

RUNNING = "http://127.0.0.1:9/video"
DARK = np.zeros((720, 1280, 3), dtype=np.uint8)


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def session(tmp_path: Path, saved: list[TableProfile]) -> SetupSession:
    images: list[Image] = [DARK]
    return SetupSession(RigSettings(data=str(tmp_path)), RUNNING, lambda: images, SourceChoice, saved.append)


def test_a_file_of_the_rig_is_no_camera(session: SetupSession, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    cv2.imwrite(str(secret), DARK)
    for source in (str(secret), "/etc/passwd", "twin:clean-tackle", ""):
        with pytest.raises(InputError, match="is no camera of this computer"):
            session.open_camera(source)
    assert session.view().step == "camera"


def test_the_camera_in_play_is_set_up_from_its_own_pictures(session: SetupSession) -> None:
    view = session.open_camera(RUNNING)
    assert (view.step, view.size_px) == ("aim", (1280, 720))
    assert [finding.text for finding in view.findings] == ["The picture is too dark."]
    assert session.picture().startswith(b"\xff\xd8")


def test_a_refused_picture_leads_back_to_aiming_with_the_reason(session: SetupSession) -> None:
    session.open_camera(RUNNING)
    session.solve(SolveRequest())
    while session.view().step == "solving":
        time.sleep(0.02)
    view = session.view()
    assert view.step == "aim"
    assert "too dark" in view.problem
    assert session.aim_again().problem == ""


def test_nothing_is_saved_before_it_is_solved(session: SetupSession, saved: list[TableProfile]) -> None:
    session.open_camera(RUNNING)
    with pytest.raises(RefusedError, match="not found yet"):
        session.save("Attic")
    with pytest.raises(RefusedError, match="not found yet"):
        session.lines()
    with pytest.raises(InputError, match="no reading"):
        session.choose(0)
    assert saved == []


def test_a_camera_that_can_not_be_opened_leaves_the_choice(session: SetupSession) -> None:
    session.open_camera(RUNNING)
    with pytest.raises(DownfieldError):
        session.open_camera("http://127.0.0.1:1/nothing-listens-here")
    assert session.view().step == "camera"


def test_a_good_picture_has_no_findings() -> None:
    board = np.full((720, 1280, 3), 80, dtype=np.uint8)
    board[::90] = 240
    assert list(picture_findings(board)) == []
