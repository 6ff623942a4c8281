"""The set-up refuses what is no camera, and keeps its place when something fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest
from waiting import WAIT_S, wait_until

from downfield.api.table_setup import SolveRequest
from downfield.capture.sources.file_sources import bundled_demo, open_clip
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import DownfieldError, InputError, NotFoundError, RefusedError, SourceError
from downfield.rig.configuration.settings import RigSettings, tables_folder
from downfield.rig.tables import aim_check
from downfield.rig.tables import setup_session as session_module
from downfield.rig.tables.aim_check import picture_findings, with_remedy
from downfield.rig.tables.profile import TableFolder, TableProfile, new_profile
from downfield.rig.tables.setup_session import SetupSession

RUNNING = "http://127.0.0.1:9/video"
DARK = np.zeros((720, 1280, 3), dtype=np.uint8)


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def session(tmp_path: Path, saved: list[TableProfile]) -> Iterator[SetupSession]:
    images: list[Image] = [DARK]
    made = SetupSession(RigSettings(data=str(tmp_path)), RUNNING, lambda: images, SourceChoice, saved.append)
    yield made
    made.close()


def test_a_file_of_the_rig_is_no_camera(session: SetupSession, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    cv2.imwrite(str(secret), DARK)
    for source in (str(secret), "/etc/passwd", "twin:clean-tackle", ""):
        with pytest.raises(InputError, match="is no camera of this computer"):
            session.open_camera(source)
    with pytest.raises(InputError, match="no source is registered as wached"):
        session.open_camera("wached:/x")
    assert session.view().step == "camera"


def test_the_camera_in_play_is_set_up_from_its_own_pictures(session: SetupSession) -> None:
    view = session.open_camera(RUNNING)
    assert (view.step, view.size_px) == ("aim", (1280, 720))
    assert [finding.text for finding in view.findings] == ["The picture is too dark."]
    assert session.picture().startswith(b"\xff\xd8")


def test_a_refused_picture_leads_back_to_aiming_with_the_reason(session: SetupSession) -> None:
    session.open_camera(RUNNING)
    session.solve(SolveRequest())
    wait_until(lambda: session.view().step != "solving")
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


def test_a_camera_that_sends_no_pictures_anymore_is_not_searched(tmp_path: Path, saved: list[TableProfile]) -> None:
    lost = [""]
    settings = RigSettings(data=str(tmp_path))
    made = SetupSession(settings, RUNNING, lambda: [DARK], SourceChoice, saved.append, lambda: lost[0])
    made.open_camera(RUNNING)
    lost[0] = "The camera is unplugged."
    assert made.view().problem == lost[0]
    with pytest.raises(RefusedError, match="unplugged"):
        made.solve(SolveRequest())
    assert made.view().step == "aim"
    lost[0] = ""
    assert made.solve(SolveRequest()).step == "solving"
    made.close()


def test_while_a_camera_is_opened_others_watch_and_can_not_interfere(
    session: SetupSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, may_open = threading.Event(), threading.Event()

    def open_slowly(_: object) -> None:
        opening.set()
        assert may_open.wait(WAIT_S)
        raise SourceError("it does not answer")

    monkeypatch.setattr(session_module, "CameraPreview", open_slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.open_camera, "http://127.0.0.1:1/slow")
        assert opening.wait(WAIT_S)
        assert session.view().step == "camera"
        changes: list[Callable[[], object]] = [
            partial(session.open_camera, RUNNING),
            partial(session.solve, SolveRequest()),
            session.aim_again,
        ]
        for change in changes:
            with pytest.raises(RefusedError, match="being opened"):
                change()
        may_open.set()
        with pytest.raises(SourceError):
            first.result(WAIT_S)
    assert session.open_camera(RUNNING).step == "aim"


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        ("connection refused", "start the camera's app or server"),
        ("timed out", "in the same network"),
        ("Name or service not known", "Check the spelling"),
        ("answered 404 Not Found", "says the path of the video"),
        ("answered 501 Not Implemented", "close other viewers"),
        ("answered 503 Service Unavailable", "close other viewers"),
        ("it refuses the user name or the password", "Check user and password"),
        ("Invalid data found when processing input", "no video at this address"),
    ],
)
def test_an_error_of_a_camera_says_what_to_do(answer: str, remedy: str) -> None:
    told = str(with_remedy(SourceError(f"http://camera/video: {answer}")))
    assert answer in told
    assert remedy in told
    assert with_remedy(SourceError("something else")).args == ("something else",)


def a_table(name: str, source: str = "http://127.0.0.1:1/video") -> TableProfile:
    return new_profile(name, source, open_clip(bundled_demo()).calibration)


def test_a_table_is_played_on_once_its_camera_answers_and_says_why_until_then(
    session: SetupSession, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [True]

    class Preview:
        def __init__(self, choice: SourceChoice) -> None:
            if away[0]:
                raise SourceError(f"{choice.text}: connection refused")

        def close(self) -> None: ...

    monkeypatch.setattr(aim_check, "CameraPreview", Preview)
    monkeypatch.setattr(aim_check, "_REOPENED_S", 0.01)
    attic = a_table("Attic")
    session.wait_for(attic.source, "The table 'Attic' can't be opened yet.", partial(saved.append, attic))
    assert (session.view().step, session.view().problem) == ("camera", "The table 'Attic' can't be opened yet.")
    assert saved == []
    away[0] = False
    wait_until(lambda: [table.name for table in saved] == ["Attic"])


def test_tables_are_opened_renamed_and_removed(
    session: SetupSession, saved: list[TableProfile], tmp_path: Path
) -> None:
    folder = TableFolder(tables_folder(RigSettings(data=str(tmp_path))))
    for name in ("Attic", "Cellar"):
        folder.save(a_table(name))
    assert {table.name: table.in_use for table in session.view().tables} == {"Attic": False, "Cellar": True}
    with pytest.raises(RefusedError, match="'Cellar' is in use"):
        session.remove_table("Cellar")
    with pytest.raises(InputError, match="Another table is called 'cellar'"):
        session.rename_table("Attic", "cellar")
    for old, new in (("Attic", "Loft"), ("Cellar", "Vault")):
        session.rename_table(old, new)
    assert {table.name: table.in_use for table in session.view().tables} == {"Loft": False, "Vault": True}
    assert session.use_table("Loft").step == "saved"
    assert [table.name for table in saved] == ["Loft"]
    assert session.remove_table("Vault").tables == session.view().tables
    assert [table.name for table in session.view().tables] == ["Loft"]
    with pytest.raises(NotFoundError, match="no table 'Vault'"):
        session.remove_table("Vault")
