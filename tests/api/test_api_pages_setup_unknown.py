"""A print that nobody has described, in the browser: it is read in the picture, and one length gives its size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browsers import PageServer, browser, page_in
from playwright.sync_api import expect
from print_conventions import PhotographedTable, photograph_table
from setup_pages import SOLVED_MS, check_layout, drag_to
from setup_readings import RUNNING, settled, solution

from downfield.api.table_setup import HeightRequest, SolveRequest
from downfield.calibration.field.proposal import FieldProposal
from downfield.calibration.field.solution import FieldSolution
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.errors import AimError, CalibrationError, RefusedError
from downfield.rig.configuration.settings import RigSettings
from downfield.rig.tables import setup_solving as solving
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tables.setup_session import SetupSession

SEED = 8  # 50 yards, which a picture shows in two seconds
RULER_YD = ((10.0, 7.0), (40.0, 7.0))


def no_preset(*_: object, **__: object) -> FieldSolution:
    raise CalibrationError("no print that is known by name")


@pytest.fixture(scope="module")
def table() -> PhotographedTable:
    return photograph_table(SEED)


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def session(tmp_path: Path, table: PhotographedTable, saved: list[TableProfile]) -> Iterator[SetupSession]:
    settings = RigSettings(data=str(tmp_path))
    made = SetupSession(settings, RUNNING, lambda: [table.image], SourceChoice, saved.append)
    yield made
    made.close()


def test_an_unknown_print_is_saved_once_a_length_gives_its_size(
    tmp_path: Path,
    table: PhotographedTable,
    session: SetupSession,
    saved: list[TableProfile],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solving, "solve_field", no_preset)
    server = PageServer(tmp_path, table_setup=session)
    server.start()
    session.open_camera(RUNNING)
    height, width = table.image.shape[:2]
    ends = table.camera.to_pixels(np.array(RULER_YD) * table.field.mm_per_yd) / (width, height)
    try:
        with browser() as running, page_in(running) as page:
            page.goto(f"{server.url}/setup")
            page.get_by_role("button", name="Find the field").click()
            expect(page.get_by_text("its size can't be seen")).to_be_visible(timeout=SOLVED_MS)
            expect(page.locator("#summary")).to_contain_text("A field of 50 yards, each 1.05 times as long across")
            expect(page.get_by_label("Name of the table")).to_be_hidden()
            check_layout(page, "unsized")
            with pytest.raises(RefusedError, match="Measure one length"):
                session.save("Attic")
            for name, (x, y) in zip(("Start of the length", "End of the length"), ends.tolist(), strict=True):
                drag_to(page, page.get_by_role("button", name=name), (x, y))
            page.get_by_label("Distance, mm").fill(f"{30 * table.field.mm_per_yd_x:.1f}")
            page.get_by_role("button", name="Use this length").click()
            page.get_by_label("Name of the table").fill("Attic", timeout=SOLVED_MS)
            expect(page.locator("#summary")).to_contain_text("Measured field: 50 yards")
            page.get_by_role("button", name="Save and play").click()
            expect(page.get_by_text("The table is saved")).to_be_visible()
    finally:
        server.stop()
    field = saved[0].calibration.field
    assert field.length_yd == table.field.length_yd
    assert field.mm_per_yd == pytest.approx(table.field.mm_per_yd, rel=0.01)


def test_what_is_wrong_with_the_camera_or_with_any_print_is_said_as_before(
    session: SetupSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object, **__: object) -> FieldSolution:
        raise AimError("the field is cut by the picture's left edge")

    def unread(*_: object, **__: object) -> FieldProposal:
        raise CalibrationError("no kind of field")

    monkeypatch.setattr(solving, "propose_field", unread)
    session.open_camera(RUNNING)
    for solve, says in ((cut, "cut by the picture's left edge"), (no_preset, "no print that is known by name")):
        monkeypatch.setattr(solving, "solve_field", solve)
        session.solve(SolveRequest())
        assert says in settled(session).problem


def test_a_known_print_needs_no_length_and_an_unknown_one_takes_no_height_before(
    session: SetupSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "solve_field", lambda *_, **__: solution())
    session.open_camera(RUNNING)
    session.solve(SolveRequest())
    assert not settled(session).unsized
    monkeypatch.setattr(solving, "solve_field", no_preset)
    session.solve(SolveRequest())
    view = settled(session)
    assert (view.unsized, view.advice) == (True, "")
    with pytest.raises(RefusedError, match="Measure one length"):
        session.measure_height(HeightRequest(camera_height_mm=900))
