"""A rig calibrates from its pictures as it is configured, and anew with what it already knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from calibration_scenes import TUDOR
from setup_readings import picture, solution

from downfield.calibration.field.measured_height import StandingObject
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.lens.prior import LensPrior, MeasuredLens
from downfield.calibration.stretch import DescribedProportions
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.field.model import FieldModel
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.tables import table_calibration
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
