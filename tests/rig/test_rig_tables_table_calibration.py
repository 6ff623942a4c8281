"""A rig calibrates from its pictures as it is configured, and anew with what it already knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from calibration_scenes import TUDOR, camera_over, photograph
from setup_readings import picture, solution

from downfield.calibration.calibration import Calibration
from downfield.calibration.field.measured_height import StandingObject
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.lens.prior import LensPrior, MeasuredLens
from downfield.calibration.stretch import DescribedProportions
from downfield.capture.problems import CALLS_SUSPENDED, ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.field.model import FieldModel
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.tables import table_calibration
from downfield.rig.tables.profile import TableFolder, new_profile
from downfield.rig.tables.table_calibration import calibrate, calibrate_again, find_calibration

CARD = "100,600=90,640=88"


class Solver:
    """Stands for the search: notes what it is given, and finds the same each time or refuses a measured lens."""

    def __init__(self, *, lens_changed: bool = False) -> None:
        self.fields: list[FieldModel] = []
        self.priors: list[LensPrior | None] = []
        self.distances: list[object] = []
        self.known: list[bool] = []
        self._lens_changed = lens_changed

    def __call__(
        self,
        images: Sequence[Image],  # noqa: ARG002 - as the search has it
        fields: Sequence[FieldModel],
        *,
        prior: LensPrior | None = None,
        distance: object = None,
        known: bool = False,
        proportions: DescribedProportions | None = None,  # noqa: ARG002 - as the search has it
    ) -> FieldSolution:
        self.known.append(known)
        self.fields.append(fields[0])
        self.priors.append(prior)
        self.distances.append(distance)
        if self._lens_changed and prior is not None:
            raise CalibrationError("the lines don't fit")
        return dataclasses.replace(solution(), field=fields[0])


def use(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> Solver:
    monkeypatch.setattr(table_calibration, "solve_field", solver)
    monkeypatch.setattr(table_calibration, "lens_from_distance", lambda *_: "figures")
    return solver


def test_what_stands_on_the_board_tells_the_height_in_place_of_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    solver, seen = use(Solver(), monkeypatch), []

    def keep(found: FieldSolution, _: object, standing: StandingObject) -> FieldSolution:
        seen.append(standing)
        return found

    monkeypatch.setattr(table_calibration, "with_standing_object", keep)
    calibrate(CalibrationSettings(field="tudor-620", standing=CARD), [picture()], "camera")
    assert seen == [StandingObject(88.0, (100.0, 600.0), (90.0, 640.0))]
    assert solver.distances == [None]
    calibrate(CalibrationSettings(field="tudor-620"), [picture()], "camera")
    assert len(seen) == 1
    assert solver.distances[1] == "figures"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (CalibrationSettings(standing=CARD, file="other.calibration.json"), r"calibration\.file"),
        (CalibrationSettings(standing=CARD, strip="nfl-strategy"), r"calibration\.strip"),
        (CalibrationSettings(standing=CARD, lens="lens.json"), r"calibration\.lens"),
        (CalibrationSettings(standing=CARD, camera_height_mm=900), r"calibration\.camera_height_mm"),
        (CalibrationSettings(standing="10,20"), "is not something that stands"),
        (CalibrationSettings(standing="10,20=30,40=8800"), "must be 15 to 500 mm"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_before_a_camera_is_opened(
    settings: CalibrationSettings, problem: str, tmp_path: Path
) -> None:
    choice = SourceChoice(str(tmp_path / "no-such-camera"))
    with pytest.raises(InputError, match=problem):
        find_calibration(settings, choice, CaptureClock(), ActiveProblems())


def test_a_table_is_found_by_print_and_pose_and_a_person_is_asked_where_the_camera_in_use_shows_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = camera_over(TUDOR)
    moved = dataclasses.replace(over, translation_mm=tuple(np.add(over.translation_mm, (40.0, -25.0, 0.0))))
    first, second = photograph(), photograph(camera=moved)
    tables = TableFolder(tmp_path)
    for name, scene in (("Second", second), ("First", first)):  # the last one is in use
        tables.save(new_profile(name, f"Webcam at the port of {name}", Calibration(TUDOR, scene.camera, "truth")))
    shown = [first.image]
    made = Calibration(TUDOR, over, "field")
    live = SimpleNamespace(facts=SimpleNamespace(live=True, name="Webcam"), close=lambda: None)
    monkeypatch.setattr(table_calibration, "open_source", lambda *_: live)
    monkeypatch.setattr(table_calibration, "first_pictures", lambda _: shown)
    monkeypatch.setattr(table_calibration, "calibrate", lambda *_: made)

    def opened(image: Image, port: str = "First") -> tuple[Calibration, list[str]]:
        shown[:], problems = [image], ActiveProblems()
        source = SourceChoice(f"Webcam at the port of {port}")
        found = find_calibration(CalibrationSettings(), source, CaptureClock(), problems, tables)
        assert {problem.code for problem in problems.active()} <= {CALLS_SUSPENDED}
        return found, [problem.text for problem in problems.active()]

    assert opened(first.image) == (tables.get("First").calibration, [])
    found, asked = opened(second.image)
    assert found == tables.get("Second").calibration, "the table is found by what the picture shows"
    assert "table 'First' shows the table 'Second'" in asked[0]
    assert opened(second.image, "Second") == (found, []), "another camera was asked for by name"
    found, asked = opened(np.full_like(first.image, 90))
    assert found is made
    assert "shows no saved table" in asked[0]


@pytest.mark.parametrize("name", [".", "..", "./", "/"])
def test_a_folder_whatever_it_is_called_has_no_calibration_beside_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    with pytest.raises(InputError, match="holds no picture"):
        find_calibration(CalibrationSettings(), SourceChoice(name), CaptureClock(), ActiveProblems())


def test_a_measured_print_stays_the_same_when_the_table_is_calibrated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dataclasses.replace(
        solution(), field=dataclasses.replace(TUDOR, name="ours", measured=False)
    ).calibration()
    solver = use(Solver(), monkeypatch)
    again = calibrate_again(CalibrationSettings(field="ours.toml"), [picture()], before, "camera")
    assert again.field == before.field
    assert (solver.fields, solver.known) == ([before.field], [True])
    (prior,) = solver.priors
    assert isinstance(prior, MeasuredLens)
    assert np.allclose(prior.mean[:2], before.camera.lens.focal_px)


def test_after_another_lens_was_mounted_the_lens_is_solved_too(monkeypatch: pytest.MonkeyPatch) -> None:
    before = solution().calibration()
    solver = use(Solver(lens_changed=True), monkeypatch)
    calibrate_again(CalibrationSettings(), [picture()], before, "camera")
    assert [prior is None for prior in solver.priors] == [False, True]
    assert solver.distances == [None, "figures"]
