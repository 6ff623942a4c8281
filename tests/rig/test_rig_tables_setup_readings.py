"""A picture that can be read in several ways: somebody has to choose, and a mirrored one is never saved."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from calibration_scenes import TUDOR
from setup_readings import (
    CAMERA,
    RUNNING,
    goal_line_readings,
    mirrored_or_not,
    one_step_aside,
    searched,
    session_with,
    settled,
    solution,
)

from downfield.api.table_setup import MeasuredLength, MeasurementRequest, PlacedLandmark, SolveRequest, StandingMark
from downfield.calibration.advice import AdviceLimits
from downfield.calibration.field.print_prior import UNKNOWN_SCALE
from downfield.calibration.field.solution import AmbiguousField, FieldReading, FieldSolution
from downfield.core.arrays import Image
from downfield.core.errors import InputError, RefusedError
from downfield.rig.tables import setup_session as session
from downfield.rig.tables import setup_solving as solving
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tables.setup_session import SetupSession
from downfield.rig.tables.setup_solving import FoundReadings


@pytest.fixture
def saved() -> list[TableProfile]:
    return []


@pytest.fixture
def opened(tmp_path: Path, saved: list[TableProfile]) -> Iterator[SetupSession]:
    made = session_with(tmp_path, saved)
    made.open_camera(RUNNING)
    yield made
    made.close()


def give(monkeypatch: pytest.MonkeyPatch, found: AmbiguousField | FieldSolution) -> None:
    def answer(*_: object, **__: object) -> FieldSolution:
        if isinstance(found, FieldSolution):
            return found
        raise found

    monkeypatch.setattr(solving, "solve_field", answer)


def decoded(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, dtype=np.uint8)


def test_one_of_several_readings_has_to_be_chosen_before_the_table_is_saved(
    opened: SetupSession, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, goal_line_readings())
    view = searched(opened)
    assert (view.step, view.undecided) == ("confirm", True)
    assert [(reading.label, reading.mirrored) for reading in view.readings] == [
        ("left end", False),
        ("right end", False),
    ]
    with pytest.raises(RefusedError, match="Choose one of them first"):
        opened.save("Attic")
    chosen = opened.choose(1)
    assert (chosen.reading, chosen.undecided) == (1, False)
    assert opened.save("Attic").step == "saved"
    corner = TUDOR.to_mm(np.array([[0.0, 0.0]]))
    at_px = saved[0].calibration.camera.to_pixels(corner)
    assert np.linalg.norm(at_px - CAMERA.to_pixels(corner)) > 20, "the first reading was saved, not the chosen one"


def test_each_reading_is_shown_with_its_own_lines(opened: SetupSession, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, goal_line_readings())
    searched(opened)
    first, second = (decoded(opened.reading_picture(i)) for i in (0, 1))
    assert first.shape == second.shape == (360, 640, 3)
    assert np.abs(first.astype(int) - second).max() > 100
    with pytest.raises(InputError, match="no reading 2"):
        opened.reading_picture(2)


def test_the_mirrored_reading_is_shown_the_other_way_round_and_refused(
    opened: SetupSession, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, mirrored_or_not())
    assert [reading.mirrored for reading in searched(opened).readings] == [False, True]
    plain, mirrored = (decoded(opened.reading_picture(i)).astype(int) for i in (0, 1))
    assert np.abs(plain[:, ::-1] - mirrored).mean() < 3 < np.abs(plain - mirrored).mean()
    view = opened.choose(1)
    assert view.step == "aim"
    assert "switch off mirroring" in view.problem
    with pytest.raises(RefusedError, match="not found yet"):
        opened.save("Attic")
    assert saved == []


def test_a_single_reading_needs_no_choice(opened: SetupSession, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, solution())
    view = searched(opened)
    assert (view.readings, view.undecided) == ((), False)
    assert opened.save("Attic").step == "saved"


def test_every_line_of_the_field_can_be_dragged_where_it_meets_sidelines_and_hash_marks(
    opened: SetupSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, solution())
    marks = searched(opened).landmarks
    assert len({mark.name for mark in marks}) == len(marks) == 4 * 21
    assert sorted((mark.x_yd, mark.y_yd) for mark in marks if mark.corner) == [
        (x, y) for x in (0.0, TUDOR.length_yd) for y in (0.0, TUDOR.width_yd)
    ]
    assert sum(mark.shown for mark in marks) == 12
    named = {mark.name: mark for mark in marks}
    place = named["Left 35-yard line, upper hash marks"]
    assert (place.x_yd, place.y_yd) == (35.0, max(TUDOR.hash_rows_y_yd))
    assert place.px == pytest.approx(CAMERA.to_pixels(TUDOR.to_mm(np.array([[35.0, place.y_yd]])))[0], abs=0.3)


def test_places_of_a_measured_field_are_solved_as_that_field(
    opened: SetupSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = []

    def answer(_: object, field: object, marks: list[object], **__: object) -> FieldSolution:
        fields.append((field, len(marks)))
        return solution()

    monkeypatch.setattr(solving, "solve_landmarks", answer)
    monkeypatch.setattr(solving, "preset_names", lambda: ("another",))  # so that the print counts as measured
    monkeypatch.setattr(solving, "preset", lambda _: TUDOR)
    give(monkeypatch, solution())
    placed = tuple(PlacedLandmark(x_yd=x, y_yd=1.0 + x, px=(x, x)) for x in (0.0, 10.0, 20.0, 30.0))
    request = SolveRequest(field=TUDOR.name, landmarks=placed)
    assert "no printed field" in searched(opened, request).problem
    searched(opened)
    assert searched(opened, request).step == "confirm"
    assert fields == [(TUDOR, 4)]


def test_a_measured_height_solves_again_what_is_shown(
    opened: SetupSession, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, solution())
    with pytest.raises(RefusedError, match="not found yet"):
        opened.measure(MeasurementRequest(camera_height_mm=1100))
    assert searched(opened).advice == ""  # exact enough
    monkeypatch.setattr(session, "ADVICE_LIMITS", AdviceLimits(wanted_yd=0.0))
    before = searched(opened)
    assert "base tops are known to" in before.advice
    monkeypatch.setattr(solving, "with_camera_height", lambda *_: solution(one_step_aside()))
    opened.measure(MeasurementRequest(camera_height_mm=1100))
    after = settled(opened)
    assert (after.step, after.problem) == ("confirm", "")
    assert after.revision > before.revision
    opened.save("Attic")
    corner = TUDOR.to_mm(np.array([[0.0, 0.0]]))
    assert np.linalg.norm(saved[0].calibration.camera.to_pixels(corner) - CAMERA.to_pixels(corner)) > 20


def test_a_height_that_does_not_suit_leaves_the_solution(
    opened: SetupSession, saved: list[TableProfile], monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, solution())
    searched(opened)
    mark = StandingMark(foot_px=(640.0, 360.0), top_px=(641.0, 360.0), height_mm=88.0)
    for request in (
        MeasurementRequest(),
        MeasurementRequest(standing=mark, camera_height_mm=900),
        MeasurementRequest(standing=mark),
    ):
        opened.measure(request)
        view = settled(opened)
        assert view.step == "confirm"
        assert view.problem
    assert "apart" in view.problem
    assert opened.save("Attic").step == "saved"
    assert len(saved) == 1


@pytest.mark.parametrize("chosen", [None, 1])
def test_a_correction_that_does_not_suit_leaves_readings_choice_and_lines_as_they_are(
    opened: SetupSession, monkeypatch: pytest.MonkeyPatch, chosen: int | None
) -> None:
    give(monkeypatch, goal_line_readings())
    before = searched(opened)
    if chosen is not None:
        before = opened.choose(chosen)
    lines = opened.lines()
    at_one_place = tuple(PlacedLandmark(x_yd=0.0, y_yd=0.0, px=(10.0, 10.0)) for _ in range(4))
    for request in (
        SolveRequest(field=TUDOR.name, landmarks=at_one_place),
        SolveRequest(length=MeasuredLength(ends_px=((5.0, 5.0), (5.0, 5.0)), length_mm=300.0)),
    ):
        after = searched(opened, request)
        assert after.problem
        assert after.model_copy(update={"problem": before.problem, "remedy": before.remedy}) == before
        assert opened.lines() == lines
    assert searched(opened, SolveRequest()).revision > before.revision


@pytest.mark.parametrize(("every_yd", "lines"), [(5.0, "yards, each"), (10.0, "yards (a line every 10), each")])
def test_lines_that_are_farther_apart_than_usual_are_in_the_summary(every_yd: float, lines: str) -> None:
    field = dataclasses.replace(TUDOR, yard_line_every_yd=every_yd)
    unsized = dataclasses.replace(solution(), field=field, scale=UNKNOWN_SCALE)
    found = FoundReadings.of([FieldReading("seen", unsized)], "camera")
    assert f"A field of 100 {lines} " in found.summary
