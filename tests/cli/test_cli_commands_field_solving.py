"""A field is solved from the command line as it was requested: which reading, and what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calibration_scenes import TUDOR
from setup_readings import goal_line_readings, mirrored_or_not, picture, solution

from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.proposal import FieldProposal
from downfield.calibration.field.solution import FieldSolution
from downfield.cli.commands import field_solving
from downfield.cli.commands.field_solving import FieldRequest, read_request, solve_requested
from downfield.core.errors import CalibrationError, InputError


def advance(*_: object, **__: object) -> None:
    """Show nothing."""


def solve(request: FieldRequest, monkeypatch: pytest.MonkeyPatch, found: Exception | FieldSolution) -> FieldSolution:
    def answer(*_: object, **__: object) -> FieldSolution:
        if isinstance(found, FieldSolution):
            return found
        raise found

    monkeypatch.setattr(field_solving, "solve_field", answer)
    monkeypatch.setattr(field_solving, "propose_field", answer)
    monkeypatch.setattr(field_solving, "lens_from_distance", lambda *_: None)
    return solve_requested([picture()], request, advance)


@pytest.mark.parametrize("reading", [None, 3])
def test_readings_are_listed_when_none_is_chosen(reading: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="--reading 1: left end; --reading 2: right end"):
        solve(read_request("auto", reading=reading), monkeypatch, goal_line_readings())


def test_the_chosen_reading_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    corner = TUDOR.to_mm(np.array([[0.0, 0.0]]))
    ways = goal_line_readings()
    for number, way in enumerate(ways.readings, start=1):
        found = solve(read_request("auto", reading=number), monkeypatch, goal_line_readings())
        off = found.fit.camera.to_pixels(corner) - way.solution.fit.camera.to_pixels(corner)
        assert np.abs(off).max() < 0.5


def test_a_reading_of_an_unknown_print_can_be_chosen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    request = read_request("auto", length="100,200=300,400=100", reading=1)
    assert solve(request, monkeypatch, goal_line_readings()).field == TUDOR


def test_the_mirrored_reading_says_what_to_switch_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CalibrationError, match="mirror"):
        solve(read_request("auto", reading=2), monkeypatch, mirrored_or_not())


def test_a_tape_and_what_stands_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def keep(found: FieldSolution, _: object, measured: object) -> FieldSolution:
        seen.append(measured)
        return found

    monkeypatch.setattr(field_solving, "with_camera_height", keep)
    monkeypatch.setattr(field_solving, "with_standing_object", keep)
    solve(read_request("auto", height_mm=1100.0), monkeypatch, solution())
    request = read_request("auto", standing="10,20=30,40=88")
    solve(request, monkeypatch, solution())
    assert seen == [1100.0, request.standing]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"field": "auto", "standing": "10,20"}, "is not something that stands"),
        ({"field": "auto", "standing": "10,20=30,40=88", "height_mm": 1000.0}, "Use one of them"),
        ({"field": "auto", "standing": "10,20=30,40=8800"}, "must be 15 to 500 mm"),
        ({"field": "tudor-620", "length": "1,2=3,4=100"}, "Use it without --field"),
        ({"field": "auto", "length": "here=there"}, "is not a length"),
        ({"field": "no-such-field"}, "no-such-field"),
    ],
)
def test_what_is_written_wrongly_is_refused_before_anything_is_read(written: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_request(**written)


def test_lengths_between_lines_are_taken_in_inches_and_millimeters(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def propose(*_: object, measurements: object, **__: object) -> FieldProposal:
        seen.append(measurements)
        return FieldProposal(TUDOR, solution(), "")

    monkeypatch.setattr(field_solving, "propose_field", propose)
    solve_requested([picture()], read_request("auto", goal_to_goal="30in", side_to_side="445 mm"), advance)
    assert seen == [FieldMeasurements(762.0, 445.0)]


def test_lengths_set_the_size_of_a_print_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    request = read_request("tudor-620", goal_to_goal="40in")
    found = solve(request, monkeypatch, solution())
    assert found.field.length_mm == pytest.approx(1016.0)
    assert found.calibration().lengths_known


@pytest.mark.parametrize("text", ["30", "30ft", "thirty in", "-3in", "nan in", "10mm"])
def test_a_length_without_a_unit_or_of_no_board_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Write it with its unit|must be 100 to 5000 mm"):
        read_request("auto", goal_to_goal=text)
