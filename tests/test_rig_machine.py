"""What the rig does when it is asked, and what it says of its health."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable

import av
import numpy as np
import pytest
from rig_fakes import FakeSource, FakeVision, tackle

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.core.errors import CalibrationError, RefusedError
from downfield.core.field import preset
from downfield.core.frame import Frame
from downfield.game.commands import FindFigures, Recalibrate, Record, Suspend, UseCalibration
from downfield.game.published.board_topics import HealthReason, HealthStatus
from downfield.rig import machine as machine_module
from downfield.rig.configuration.loading import load
from downfield.rig.live.health import HealthWatch
from downfield.rig.live.metrics import FrameMeter
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.live.vision_seam import VisionStage
from downfield.rig.machine import SUSPENDED, RigMachine
from downfield.rig.recording.clip import bundled_demo
from downfield.rig.sources.reconnecting import LOST
from downfield.rig.sources.source import SourceFacts
from downfield.rig.table import NO_CALIBRATION, OpenedTable
from downfield.vision.board.health import PictureHealth

FACTS = SourceFacts("camera", "OpenedTable Cam", (1920, 1080), 60.0, live=True, codec="mjpeg")
ADDRESS = "rtsp://coach:secret@table/1"


@pytest.fixture
def calibration() -> Calibration:
    return read_calibration(bundled_demo().with_suffix(".calibration.json"))


def camera() -> FakeSource:
    """One that sends pictures of the size the calibration is of."""
    source = FakeSource(live=True)
    source.facts = FACTS
    return source


class Bench:
    """A machine with a sight beside it, as the loop has."""

    def __init__(self, calibration: Calibration | None) -> None:
        self.troubles = ActiveProblems()
        self.sight: VisionStage = FakeVision()
        self.made: list[Calibration] = []
        configuration = load(environment={}, command_line={"source.name": ADDRESS, "calibration.field": "ultimate"})
        table = OpenedTable(camera(), calibration, preset("ultimate"), self.sight, self._make, (), "a table")
        self.machine = RigMachine(configuration, table, self.troubles)
        self.machine.between_frames = self._between

    def _make(self, calibration: Calibration) -> VisionStage:
        self.made.append(calibration)
        return FakeVision()

    def _between(self, change: Callable[[VisionStage], VisionStage]) -> None:
        self.sight = change(self.sight)


@pytest.fixture
def bench(calibration: Calibration) -> Bench:
    return Bench(calibration)


def test_calls_are_suspended_and_made_again(bench: Bench) -> None:
    assert bench.machine.suspended() == ()
    bench.machine.do(Suspend(on=True))
    assert bench.machine.suspended()
    assert [reason.code for reason in bench.troubles.now()] == [SUSPENDED]
    bench.machine.do(Suspend(on=False))
    assert bench.machine.suspended() == ()
    assert bench.troubles.level() == "ok"


def test_the_figures_are_found_anew(bench: Bench) -> None:
    sight = bench.sight
    assert isinstance(sight, FakeVision)
    bench.machine.do(FindFigures())
    assert sight.found == 1


def test_another_calibration_is_used_with_a_sight_of_its_own(bench: Bench, calibration: Calibration) -> None:
    before = bench.sight
    other = dataclasses.replace(calibration, made_from=("elsewhere",))
    bench.machine.do(UseCalibration(calibration=other))
    assert bench.machine.calibration() == other
    assert bench.made == [other]
    assert bench.sight is not before


def test_a_calibration_of_another_field_or_size_is_refused(bench: Bench, calibration: Calibration) -> None:
    with pytest.raises(CalibrationError, match="start the rig anew"):
        bench.machine.do(UseCalibration(calibration=dataclasses.replace(calibration, field=preset("mini"))))
    lens = dataclasses.replace(calibration.camera.lens, size_px=(640, 360))
    smaller = dataclasses.replace(calibration, camera=dataclasses.replace(calibration.camera, lens=lens))
    with pytest.raises(CalibrationError, match="another size"):
        bench.machine.do(UseCalibration(calibration=smaller))
    assert bench.made == []


def test_recalibrating_needs_pictures_and_says_when_they_show_no_field(bench: Bench, calibration: Calibration) -> None:
    with pytest.raises(RefusedError, match="too few pictures"):
        bench.machine.do(Recalibrate())
    dark = np.zeros((1080, 1920, 3), dtype=np.uint8)
    for index in range(0, 60, 6):
        bench.machine.scene(Frame(index, index, dark), tackle(index))
    assert bench.machine.do(Recalibrate()).startswith("calibrating")
    until = time.monotonic() + 60
    while not bench.troubles.now() and time.monotonic() < until:
        time.sleep(0.01)
    (reason,) = bench.troubles.now()
    assert reason.code == NO_CALIBRATION
    assert "too dark" in reason.text
    assert bench.machine.calibration() == calibration


def test_without_a_calibration_one_is_tried_for_until_the_board_is_in_the_picture(
    calibration: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_module, "_TRY_EVERY_S", 0.0)
    bench = Bench(None)
    calibrated: list[Calibration] = []
    bench.machine.calibrated = calibrated.append
    shown = itertools.count(0, 6)

    def show(image: np.ndarray, enough: Callable[[], object]) -> None:
        end = time.monotonic() + 120
        while not enough():
            assert time.monotonic() < end
            index = next(shown)
            bench.machine.scene(Frame(index, index, image), tackle(index))
            time.sleep(0.02)

    show(np.zeros((1080, 1920, 3), dtype=np.uint8), bench.troubles.now)
    (reason,) = bench.troubles.now()
    assert (reason.code, reason.level) == (NO_CALIBRATION, "alarm")
    assert bench.machine.calibration() is None
    with av.open(str(bundled_demo())) as video:
        board = next(video.decode(video=0)).to_ndarray(format="bgr24")
    show(board, lambda: calibrated)
    assert bench.machine.calibration() == calibrated[0]
    assert bench.made == calibrated
    ends = calibration.field.to_mm(np.array([(0.0, 0.0), (100.0, 53.3)]))
    found, known = (one.camera.to_pixels(ends) for one in (calibrated[0], calibration))
    np.testing.assert_allclose(found, known, atol=2.0)
    assert not bench.troubles.now()


def test_nothing_to_record_or_calibrate_with_recorded_scenes(calibration: Calibration) -> None:
    table = OpenedTable(camera(), calibration, calibration.field, FakeVision(), None, (), "a recording")
    machine = RigMachine(load(environment={}), table, ActiveProblems())
    for command in (Record(on=True), Recalibrate(), UseCalibration(calibration=calibration), FindFigures()):
        with pytest.raises(RefusedError):
            machine.do(command)


def test_the_configuration_is_shown_without_passwords(bench: Bench) -> None:
    shown = bench.machine.settings()
    assert shown.values["source"]["name"] == "rtsp://coach@table/1"
    assert shown.origins["source.name"] == "command line"
    assert "secret" not in shown.model_dump_json()


def test_health_tells_of_troubles_at_once_and_suspends_calls_only_for_what_concerns_them() -> None:
    told: list[HealthStatus] = []
    heard = threading.Event()

    def tell(health: HealthStatus) -> None:
        told.append(health)
        heard.set()

    troubles, pulse, sight = ActiveProblems(), FrameMeter(), FakeVision()
    watch = HealthWatch(
        tell, troubles, pulse, facts=lambda: FACTS, dropped=lambda: 2, calibration=lambda: None, sight=lambda: sight
    )
    pulse.published(time.monotonic_ns() - 20_000_000)
    assert (watch.health().level, watch.health().calls) == ("ok", "on")
    troubles.add(HealthReason(code="disk_full", level="alarm", text="Recording has stopped"))
    assert (watch.health().level, watch.health().calls) == ("alarm", "on")
    troubles.clear("disk_full")
    troubles.add(HealthReason(code=LOST, level="alarm", text="No picture"))
    assert watch.health().calls == "suspended"
    troubles.clear(LOST)
    sight.health = PictureHealth("warn", warnings=("the picture is dim",))
    assert (watch.health().level, watch.health().text) == ("warning", "the picture is dim")
    sight.health = None
    blank = np.zeros((2, 2, 3), dtype=np.uint8)
    watch.scene(Frame(0, 0, blank), dataclasses.replace(tackle(5), unfit=("the camera was moved",)))
    now = watch.health()
    assert (now.level, now.calls, now.text, now.board) == ("warning", "suspended", "the camera was moved", "on")
    assert (now.dropped, now.frames, now.camera) == (2, 1, "OpenedTable Cam")
    watch.begin()
    assert heard.wait(10)
    heard.clear()
    watch.look()
    assert heard.wait(0.9)
    watch.end()
