"""Files of another version of their format are refused, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.calibration.lens.lens_calibration import LensFile, read_lens, write_lens
from downfield.core.errors import FormatError
from downfield.core.field.model import preset
from downfield.core.records import to_json
from downfield.core.scene import Player
from downfield.officiating.declarations import ChoiceMade, LineUpDeclared, SetUp
from downfield.officiating.events import Event, EventsHeader, read_events, write_events
from downfield.twin.physics.truth_file import TruthFile, TruthFrame, TruthHeader, write_truth
from downfield.twin.sets.dataset import read_samples
from downfield.twin.sets.labels import Labels, Sample, ThingLabel
from downfield.twin.sets.table_frames import Recipe

LENS = Lens((1280, 720), (1000.0, 1000.5), (639.5, 359.5), (-0.2, 0.05, 0.0, 0.0, 0.0))
CAMERA = Camera(LENS, (3.1, 0.0, 0.1), (-5.0, 2.0, 1e3))
CALIBRATION = Calibration(preset("mini"), CAMERA, "truth", unmodeled_px=0.07)
EVENTS = (
    Event("1", 0, "operator", SetUp("home", 1, 34.0, hash="center")),
    Event("2", 1, "operator", LineUpDeclared((Player("dark-1", "dark"),), "dark")),
    Event("3", 2, "operator", ChoiceMade("defense_first", "away")),
    Event("4", 3, "operator", ChoiceMade("offense_first", "home")),
)
HEADER = TruthHeader(preset("mini"), (Player("dark-1", "dark"),), 30.0, 42)
FRAMES = (TruthFrame(0, 5, CAMERA, ()),)


def write_all_events(path: Path) -> None:
    write_events(path, EventsHeader("final"), EVENTS)


def write_a_calibration(path: Path) -> None:
    write_calibration(path, CALIBRATION)


def write_a_lens(path: Path) -> None:
    write_lens(path, LensFile(LENS, (1.0,) * 9, 0.2, 12))


def write_some_truth(path: Path) -> None:
    write_truth(path, HEADER, FRAMES)


def read_truth(path: Path) -> object:
    file = TruthFile(path)
    return file.header, tuple(file)


KINDS = [
    pytest.param(write_all_events, read_events, id="events"),
    pytest.param(write_a_calibration, read_calibration, id="calibration"),
    pytest.param(write_a_lens, read_lens, id="lens"),
    pytest.param(write_some_truth, read_truth, id="truth"),
]


@pytest.mark.parametrize(("write", "read"), KINDS)
@pytest.mark.parametrize(("version", "remedy"), [(3, "Update Downfield"), (1, "Make it again")])
def test_a_file_of_another_version_is_refused(
    tmp_path: Path, write: Callable[[Path], None], read: Callable[[Path], object], version: int, remedy: str
) -> None:
    path = tmp_path / "file"
    write(path)
    assert '"version":2' in path.read_text()
    path.write_text(path.read_text().replace('"version":2', f'"version":{version}'))
    message = rf"version: the file has version {version}; this Downfield reads version 2\. {remedy}"
    with pytest.raises(FormatError, match=message):
        read(path)


def test_a_data_set_of_another_version_is_refused(tmp_path: Path) -> None:
    ball = ThingLabel("ball", (1.0, 2.0, 3.0, 4.0), (2.0, 3.0), 1.0)
    sample = Sample(0, "images/val/0.jpg", "val", 0, False, "compositor", True, CALIBRATION, Labels((), (ball,)))
    recipe, truth = tmp_path / "val.recipe.json", tmp_path / "truth" / "val" / "000000.jsonl"
    truth.parent.mkdir(parents=True)
    text = to_json(Recipe, Recipe("val"))
    recipe.write_text(text)
    truth.write_text(to_json(Sample, sample))
    assert list(read_samples(tmp_path, "val")) == [sample]
    recipe.write_text(text.replace('"version":', '"version":9'))
    with pytest.raises(FormatError, match="the file has version 9"):
        list(read_samples(tmp_path, "val"))
