"""Requests to the set-up in any order, repeated and out of place: each is done or refused, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from setup_readings import RUNNING, goal_line_readings, mirrored_or_not, session_with, solution

from downfield.api.table_setup import (
    MeasuredLength,
    MeasurementRequest,
    PlacedLandmark,
    SetupStep,
    SetupView,
    SolveRequest,
)
from downfield.calibration.field.solution import FieldSolution
from downfield.core.errors import CalibrationError, DownfieldError, InputError
from downfield.rig.tables import setup_session as session_module
from downfield.rig.tables.profile import TableProfile
from downfield.rig.tables.setup_session import SetupSession

STEPS = 30


@pytest.fixture(scope="module")
def found() -> FieldSolution:
    return solution()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_sequence_of_requests_keeps_the_set_up_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: FieldSolution, seed: int
) -> None:
    chance = random.Random(seed)
    saved: list[TableProfile] = []
    setup = session_with(tmp_path, saved)

    def solve(*_: object) -> FieldSolution:
        refusals: list[DownfieldError] = [
            CalibrationError("covered"),
            InputError("too short"),
            goal_line_readings(),
            mirrored_or_not(),
        ]
        if chance.random() < 0.5:
            raise chance.choice(refusals)
        return found

    monkeypatch.setattr(session_module, "solve_as_requested", solve)
    monkeypatch.setattr(session_module, "solve_with_measurement", solve)
    monkeypatch.setattr(session_module, "picture_findings", lambda _: iter(()))  # is not what this is about
    monkeypatch.setattr(session_module, "supervised_thread", lambda work, *_: _AtOnce(work))
    requests = _requests(setup, chance)
    seen: set[SetupStep] = set()
    for _ in range(STEPS):
        before = setup.view()
        name, request = chance.choice(requests)
        try:
            after = request()
        except DownfieldError:
            after = setup.view()
            assert after == before, f"{name} was refused and changed something"
        _check(setup, after)
        if name in {"corners", "length", "height"} and before.step == "confirm":
            assert after.step == "confirm", f"{name} lost what was shown"
        seen.add(after.step)
        if after.step == "saved":
            assert saved[-1].camera == RUNNING
            setup.close()
            setup = session_with(tmp_path, saved)  # as the rig does
            requests = _requests(setup, chance)
    setup.close()
    assert {"aim", "confirm"} <= seen, "the sequence is too short to show anything"


class _AtOnce:
    """A thread whose work is done when it is started."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.start = work


def _requests(setup: SetupSession, chance: random.Random) -> list[tuple[str, Callable[[], SetupView]]]:
    corners = tuple(PlacedLandmark(x_yd=0.0, y_yd=0.0, px=(5.0, 5.0)) for _ in range(4))
    length = MeasuredLength(ends_px=((5.0, 5.0), (500.0, 5.0)), length_mm=300.0)
    return [
        ("camera", lambda: setup.open_camera(chance.choice([RUNNING, RUNNING, RUNNING, "/etc/passwd"]))),
        ("solve", lambda: setup.solve(SolveRequest())),
        ("solve", lambda: setup.solve(SolveRequest())),
        ("corners", lambda: setup.solve(SolveRequest(field="tudor-620", landmarks=corners))),
        ("length", lambda: setup.solve(SolveRequest(length=length))),
        ("height", lambda: setup.measure(MeasurementRequest(camera_height_mm=900))),
        ("reading", lambda: setup.choose(chance.randrange(3))),
        ("aim", setup.aim_again),
        ("save", lambda: setup.save(chance.choice(["Attic", "\u200b", ""]))),
    ]


def _check(setup: SetupSession, view: SetupView) -> None:
    """What the page shows in a step has to be there."""
    assert view.step != "solving"
    if view.step == "confirm":
        assert setup.lines().startswith("<svg")
        assert view.landmarks
        assert view.size_px is not None
        assert view.undecided <= (len(view.readings) > 1)
        assert view.reading < max(1, len(view.readings))
    else:
        assert (view.readings, view.landmarks, view.field, view.undecided) == ((), (), "", False)
    if view.step == "aim":
        assert setup.picture().startswith(b"\xff\xd8")
