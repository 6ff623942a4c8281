"""The commands of the rig: suspend calls, find figures, use a calibration, calibrate, show the configuration."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator

import av
import numpy as np
import pytest
from rig_fakes import FakeSource, FakeVision
from waiting import wait_until

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.problems import CALLS_SUSPENDED, ActiveProblems
from downfield.capture.source import CapturedFrame, SourceFacts
from downfield.capture.sources.file_sources import bundled_demo
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, RefusedError
from downfield.core.field.model import preset
from downfield.game.published.board_topics import HealthReason
from downfield.game.records.commands import FindFigures, Recalibrate, Record, Suspend, UseCalibration
from downfield.rig import controller as controller_module
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.controller import RigController
from downfield.rig.live.annotated_picture import RecentPictures
from downfield.rig.live.connections import LoopControls, VisionStage
from downfield.rig.tables.table import NO_CALIBRATION, OpenedTable
from downfield.rig.tables.table_calibration import calibrate

FACTS = SourceFacts("camera", "Table Cam", (1920, 1080), 60.0, live=True, codec="mjpeg")
ADDRESS = "rtsp://coach:secret@table/1"


@pytest.fixture
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


def camera() -> FakeSource:
    """Return a camera whose pictures have the size of the calibration."""
    source = FakeSource(live=True)
    source.facts = FACTS
    return source


class Bench:
    """A controller with what surrounds it in a rig."""

    def __init__(self, calibration: Calibration | None) -> None:
        self.problems, self.controls, self.pictures = ActiveProblems(), LoopControls(), RecentPictures()
        self.vision: VisionStage = FakeVision()
        self.opened: list[Calibration] = []
        self.calibrated: list[Calibration] = []
        configuration = load(environment={}, command_line={"source.name": ADDRESS, "calibration.field": "ultimate"})
        self.controller = RigController(
            configuration,
            OpenedTable(camera(), calibration, preset("ultimate"), self.vision, self._open_vision, (), "a table"),
            self.problems,
            self.controls,
            recent_images=self.pictures.images,
            calibrated=self.calibrated.append,
        )

    def _open_vision(self, calibration: Calibration) -> VisionStage:
        self.opened.append(calibration)
        return FakeVision()

    def next_frame(self) -> VisionStage:
        """Apply the changes as the loop does before its next frame; return the vision stage."""
        self.vision = self.controls.apply_changes(self.vision)
        return self.vision


@pytest.fixture
def bench(calibration: Calibration) -> Iterator[Bench]:
    made = Bench(calibration)
    yield made
    made.controller.close()


def test_calls_are_suspended_and_resumed(bench: Bench) -> None:
    assert bench.controls.suspension == ""
    bench.controller.do(Suspend(on=True))
    assert bench.controls.suspension == "calls are suspended by the operator"
    assert [problem.code for problem in bench.problems.active()] == [CALLS_SUSPENDED]
    bench.controller.do(Suspend(on=False))
    assert bench.controls.suspension == ""
    assert bench.problems.level() == "ok"


@pytest.mark.parametrize("resumed", [True, False])
def test_a_game_goes_on_with_another_camera_s_picture_only_once_a_person_says_so(
    bench: Bench, *, resumed: bool
) -> None:
    bench.controller.game_begins(resumed=True)
    assert not bench.controls.suspension, "the picture is that of the table"
    bench.problems.report(HealthReason(code=CALLS_SUSPENDED, level="warning", text="The camera shows another table"))
    bench.controller.game_begins(resumed=resumed)
    assert bool(bench.controls.suspension) == resumed, "a new game is of the table that is seen"
    assert bool(bench.problems.active()) == resumed
    bench.controller.do(Suspend(on=False))
    assert not bench.controls.suspension
    assert bench.problems.active() == ()


def test_figures_are_found_again_before_the_next_frame(bench: Bench) -> None:
    vision = bench.vision
    assert isinstance(vision, FakeVision)
    bench.controller.do(FindFigures())
    assert bench.next_frame() is vision
    assert vision.searches == 1


def test_another_calibration_is_used_with_a_new_vision_stage(bench: Bench, calibration: Calibration) -> None:
    before = bench.vision
    other = dataclasses.replace(calibration, made_from=("elsewhere",))
    bench.controller.do(UseCalibration(calibration=other))
    assert bench.controller.calibration() == other
    assert bench.opened == bench.calibrated == [other]
    assert bench.next_frame() is not before


def test_a_calibration_for_another_field_or_size_is_refused(bench: Bench, calibration: Calibration) -> None:
    with pytest.raises(CalibrationError, match="Restart Downfield"):
        bench.controller.do(UseCalibration(calibration=dataclasses.replace(calibration, field=preset("mini"))))
    lens = dataclasses.replace(calibration.camera.lens, size_px=(640, 360))
    smaller = dataclasses.replace(calibration, camera=dataclasses.replace(calibration.camera, lens=lens))
    with pytest.raises(CalibrationError, match="pictures of 640x360, but the camera sends 1920x1080"):
        bench.controller.do(UseCalibration(calibration=smaller))
    assert bench.opened == []


def board() -> Image:
    """Return the first picture of the bundled recording."""
    with av.open(str(bundled_demo())) as video:
        return np.asarray(next(video.decode(video=0)).to_ndarray(format="bgr24", threads=1), dtype=np.uint8)


@pytest.fixture
def solver(calibration: Calibration, monkeypatch: pytest.MonkeyPatch) -> list[Image]:
    """Finds the bundled recording's calibration in bright pictures at once; lists the last pictures it was given."""
    given: list[Image] = []

    def solve(_: CalibrationSettings, images: list[Image], **__: object) -> Calibration:
        given.append(images[-1])
        if images[-1].mean() < 10:
            raise CalibrationError("the picture is too dark")
        return dataclasses.replace(calibration, made_from=("here",))

    for name in ("calibrate", "calibrate_again"):
        monkeypatch.setattr(controller_module, name, solve)
    return given


@pytest.mark.usefixtures("solver")
def test_recalibration_needs_pictures_and_reports_when_they_show_no_field(
    bench: Bench, calibration: Calibration
) -> None:
    with pytest.raises(RefusedError, match="too few pictures"):
        bench.controller.do(Recalibrate())
    dark = np.zeros((1080, 1920, 3), dtype=np.uint8)
    for index in range(0, 60, 6):
        bench.pictures.frame_captured(CapturedFrame(index, index, index, image=dark))
    assert bench.controller.do(Recalibrate()).startswith("Calibrating")
    (problem,) = wait_until(bench.problems.active)
    assert problem.code == NO_CALIBRATION
    assert "too dark" in problem.text
    assert bench.controller.calibration() == calibration


def test_without_a_calibration_the_rig_keeps_trying_until_the_board_is_in_the_picture(
    solver: list[Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_module, "_RETRY_S", 0.02)
    bench = Bench(None)
    bench.controller.calibrate_until_found()
    indices = itertools.count(0, 6)

    def show(image: Image, done: Callable[[], object]) -> None:
        def shown() -> object:
            index = next(indices)
            bench.pictures.frame_captured(CapturedFrame(index, index, index, image=image))
            return done()

        wait_until(shown)

    show(np.zeros((1080, 1920, 3), dtype=np.uint8), lambda: bench.problems.active() and len(solver) > 2)
    (problem,) = bench.problems.active()
    assert (problem.code, problem.level) == (NO_CALIBRATION, "alarm")
    assert bench.controller.calibration() is None
    show(board(), lambda: bench.calibrated)
    assert bench.controller.calibration() == bench.calibrated[0]
    assert bench.calibrated[0].made_from == ("here",)
    assert bench.opened == bench.calibrated
    wait_until(lambda: not bench.problems.active())
    tries = len(solver)
    show(board(), lambda: next(indices) > 500)
    assert len(solver) == tries, "it stops once a calibration is in use"


def test_the_first_picture_of_the_bundled_recording_is_enough_to_calibrate(calibration: Calibration) -> None:
    settings = load(environment={}, command_line={"calibration.field": "ultimate"}).settings.calibration
    found = calibrate(settings, [board()], "camera")
    ends = calibration.field.to_mm(np.array([(0.0, 0.0), (100.0, 53.3)]))
    found_px, expected_px = (made.camera.to_pixels(ends) for made in (found, calibration))
    np.testing.assert_allclose(found_px, expected_px, atol=2.0)


def test_with_recorded_scenes_there_is_nothing_to_record_calibrate_or_find(calibration: Calibration) -> None:
    table = OpenedTable(camera(), calibration, calibration.field, FakeVision(), None, (), "a recording")
    controller = RigController(load(environment={}), table, ActiveProblems(), LoopControls())
    for command in (Record(on=True), Recalibrate(), UseCalibration(calibration=calibration), FindFigures()):
        with pytest.raises(RefusedError):
            controller.do(command)


def test_the_configuration_is_shown_without_passwords(bench: Bench) -> None:
    shown = bench.controller.settings()
    assert shown.values["source"]["name"] == "rtsp://coach@table/1"
    assert shown.origins["source.name"] == "command line"
    assert "secret" not in shown.model_dump_json()
