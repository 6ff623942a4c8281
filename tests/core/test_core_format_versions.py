"""Files of version 1 read the same as their version-2 form, and those of a later version are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.calibration.lens.lens_calibration import LensFile, read_lens, write_lens
from downfield.core.errors import FormatError
from downfield.core.field.model import preset
from downfield.core.format_versions import KEYS, VALUES, upgrade, upgrade_json
from downfield.core.records import to_json
from downfield.core.scene import Player
from downfield.officiating.card_declarations import CardPlayed
from downfield.officiating.declarations import ChoiceMade, LineUpDeclared, SetUp
from downfield.officiating.events import Event, EventsHeader, read_events, write_events
from downfield.twin.physics.truth_file import TruthFile, TruthFrame, TruthHeader, write_truth
from downfield.twin.sets.dataset import Recipe, read_samples
from downfield.twin.sets.labels import Labels, ThingLabel
from downfield.twin.sets.sample import Sample

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


def as_version_1(path: Path) -> None:
    """Rewrite a file with the names of version 1."""
    text = path.read_text().replace('"version":2', '"version":1')
    for old, new in KEYS.items():
        text = text.replace(f'"{new}":', f'"{old}":')
    for key, values in VALUES.items():
        for old, new in values.items():
            text = text.replace(f'"{key}":"{new}"', f'"{key}":"{old}"')
    path.write_text(text)


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
    pytest.param(write_all_events, read_events, "offence", id="events"),
    pytest.param(write_a_calibration, read_calibration, "unmodelled_px", id="calibration"),
    pytest.param(write_a_lens, read_lens, "centre_px", id="lens"),
    pytest.param(write_some_truth, read_truth, "centre_px", id="truth"),
]


@pytest.mark.parametrize(("write", "read", "word"), KINDS)
def test_a_file_of_version_1_reads_the_same(
    tmp_path: Path, write: Callable[[Path], None], read: Callable[[Path], object], word: str
) -> None:
    path = tmp_path / "file"
    write(path)
    expected = read(path)
    as_version_1(path)
    assert word in path.read_text()
    assert read(path) == expected


@pytest.mark.parametrize(("write", "read", "word"), KINDS)
def test_a_file_of_a_later_version_is_refused(
    tmp_path: Path, write: Callable[[Path], None], read: Callable[[Path], object], word: str
) -> None:
    del word
    path = tmp_path / "file"
    write(path)
    path.write_text(path.read_text().replace('"version":2', '"version":3'))
    with pytest.raises(FormatError, match=r"version: the file has version 3; .* reads up to version 2\. Update"):
        read(path)


@pytest.mark.parametrize(("write", "read", "word"), KINDS)
def test_a_file_that_claims_version_2_is_not_renamed(
    tmp_path: Path, write: Callable[[Path], None], read: Callable[[Path], object], word: str
) -> None:
    del word
    path = tmp_path / "file"
    write(path)
    as_version_1(path)
    path.write_text(path.read_text().replace('"version":1', '"version":2'))
    with pytest.raises(FormatError, match=r"(offence|unmodelled_px|centre_px): unknown key"):
        read(path)


def test_a_data_set_of_version_1_reads_the_same(tmp_path: Path) -> None:
    ball = ThingLabel("ball", (1.0, 2.0, 3.0, 4.0), (2.0, 3.0), 1.0)
    sample = Sample(0, "images/val/0.jpg", "val", 0, False, "compositor", True, CALIBRATION, Labels((), (ball,)))
    recipe, truth = tmp_path / "val.recipe.json", tmp_path / "truth" / "val" / "000000.jsonl"
    truth.parent.mkdir(parents=True)
    recipe.write_text(to_json(Recipe, Recipe("val")))
    truth.write_text(to_json(Sample, sample))
    assert list(read_samples(tmp_path, "val")) == [sample]
    as_version_1(recipe)
    as_version_1(truth)
    assert "centre_px" in truth.read_text()
    assert list(read_samples(tmp_path, "val")) == [sample]


def test_single_objects_are_upgraded_without_being_changed_themselves() -> None:
    entry = {"event": {"body": {"offence": "home", "hash": "centre", "type": "set_up"}}, "by": "centre"}
    before = json.dumps(entry)
    assert upgrade(entry) == {
        "event": {"body": {"offense": "home", "hash": "center", "type": "set_up"}},
        "by": "centre",
    }
    assert json.dumps(entry) == before


def test_rulebook_parameters_in_a_journal_get_their_present_names() -> None:
    values = {"stop.defence_more": 1, "formation.under_centre_base_lengths": 1.5, "stop.turned_deg": 3.0}
    assert upgrade({"values": values}) == {
        "values": {"stop.defense_more": 1, "formation.under_center_base_lengths": 1.5, "stop.turned_deg": 3.0}
    }


def test_free_text_and_names_of_players_are_left_alone() -> None:
    assert upgrade({"note": "defence_first", "player": "centre"}) == {"note": "defence_first", "player": "centre"}


def test_numbers_survive_exactly_and_broken_json_is_left_to_its_reader() -> None:
    assert upgrade_json('{"centre_px":[0.1,1e-7,-180.0,12]}') == '{"center_px":[0.1,1e-07,-180.0,12]}'
    assert upgrade_json('{"centre_px":') == '{"centre_px":'


def test_what_is_of_version_2_is_returned_as_it_is() -> None:
    event = json.loads(to_json(Event, replace(EVENTS[0], body=CardPlayed("run", "blitz"))))
    assert upgrade(event) == event
