"""Public files round trip, and broken ones are refused by file, line and field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from downfield.calibration.calibration import Calibration, read_calibration, write_calibration
from downfield.calibration.camera import Camera, Lens
from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.field.model import preset
from downfield.core.records import from_json
from downfield.core.scene import Ball, Contact, Figure, Hand, Player, Scene
from downfield.core.track_files import TrackFile, TracksHeader, write_tracks
from downfield.officiating.declarations import Carrier, Roll
from downfield.officiating.events import Event, EventsHeader, read_events, write_events

HEADER = TracksHeader(preset("ultimate"), (Player("dark-1", "dark", "1", "QB"), Player("light-9", "light")), 60.0)
SCENES = tuple(
    Scene(
        frame=i,
        t_ns=1_000_000_000 + 16_666_667 * i,
        board="on",
        figures=(
            Figure("dark-1", "dark", 100.0 + i, 200.0, 12.5, 30, 18, 1, sigma_mm=(0.2, 0.1), helmet_mm=(101.0, 200.0)),
            Figure(
                "light-9",
                "light",
                131.0,
                200.0,
                -180.0,
                30,
                18,
                1,
                posture="fallen",
                visible=0.4,
                sure=False,
                front=0.62,
            ),
        ),
        contacts=(Contact("dark-1", "light-9", -0.1, 0.2, 0.7, "front", "front", 0.0, 17.0, 1_000_000_000),),
        ball=Ball("carried", 100.0, 200.0, "dark-1"),
        hands=(Hand(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), ("light-9",)),),
        unfit=("hand over the carrier",),
    )
    for i in range(3)
)


def test_tracks_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "game.tracks.jsonl"
    write_tracks(path, HEADER, SCENES)
    tracks = TrackFile(path)
    assert tracks.header == HEADER
    assert tuple(tracks) == SCENES


def test_tracks_of_before_fronts_had_a_probability_still_open(tmp_path: Path) -> None:
    path = tmp_path / "old.tracks.jsonl"
    write_tracks(path, HEADER, SCENES)
    text = re.sub(r',"front":[0-9.]+', "", path.read_text())
    assert '"front":' not in text
    path.write_text(text)
    assert {figure.front for scene in TrackFile(path) for figure in scene.figures} == {1.0}


def test_events_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "game.events.jsonl"
    events = (Event("1", 5, "operator", Carrier("dark-1")), Event("2", 9, "referee", Roll((3, 4))))
    write_events(path, EventsHeader("final"), events)
    assert read_events(path) == (EventsHeader("final"), events)


def test_calibrations_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "table.calibration.json"
    lens = Lens((1920, 1080), (1500.0, 1500.5), (959.5, 539.5), (-0.2, 0.05, 0.001, 0.0, 0.0))
    calibration = Calibration(preset("mini"), Camera(lens, (3.14, 0.0, 0.1), (-500.0, 250.0, 1200.0)), "truth")
    write_calibration(path, calibration)
    assert read_calibration(path) == calibration


@pytest.mark.parametrize(
    ("line", "change", "says"),
    [
        (3, ('"heading_deg":12.5', '"heading_deg":"north"'), "line 3: figures.0.heading_deg: must be"),
        (3, ('"posture":"fallen"', '"posture":"asleep"'), "line 3: figures.1.posture: must be 'upright'"),
        (4, ('"board":"on",', ""), "line 4: board: missing"),
        (2, ('"frame":0', '"frame":0,"fame":1'), "line 2: fame: unknown key"),
        (1, ('"version":1', '"version":2'), "line 1: version: the file has version 2; this"),
        (
            1,
            ("downfield.tracks", "downfield.events"),
            "line 1: format: this is 'downfield.events'; 'downfield.tracks' is needed",
        ),
        (4, ('"t_ns":', '"t_ns":-'), "line 4: t_ns: time does not rise"),
        (2, ("{", ""), "line 2: broken JSON"),
    ],
)
def test_broken_tracks_name_file_line_and_field(tmp_path: Path, line: int, change: tuple[str, str], says: str) -> None:
    path = tmp_path / "game.tracks.jsonl"
    write_tracks(path, HEADER, SCENES)
    lines = path.read_text().splitlines()
    assert change[0] in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(*change, 1)
    path.write_text("\n".join(lines))
    with pytest.raises(FormatError) as refusal:
        list(TrackFile(path))
    assert str(refusal.value).startswith(str(path))
    assert says in str(refusal.value)


@pytest.mark.parametrize("reader", [TrackFile, read_events, read_calibration])
def test_missing_empty_and_binary_files_are_refused(tmp_path: Path, reader: type[TrackFile]) -> None:
    with pytest.raises(InputError, match="no such file"):
        reader(tmp_path / "gone")
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError):
        reader(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x9f")
    with pytest.raises(InputError, match=r"the text is UTF-16\. Save it as UTF-8"):
        reader(tmp_path / "binary")
    (tmp_path / "binary").write_bytes(b"\x9f\xff")
    with pytest.raises(InputError, match="not a text file"):
        reader(tmp_path / "binary")
    with pytest.raises(InputError, match="is a folder, not a file"):
        reader(tmp_path)


def test_an_unknown_declaration_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "game.events.jsonl"
    write_events(path, EventsHeader(), (Event("1", 5, "operator", Roll((3, 4))),))
    path.write_text(path.read_text().replace('"type":"roll"', '"type":"rll"'))
    with pytest.raises(FormatError, match=r"line 2: body: .*'roll'"):
        read_events(path)


def test_an_unwritable_place_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="can't be written"):
        write_tracks(tmp_path / "file" / "game.tracks.jsonl", HEADER, SCENES)


def test_a_writer_that_fails_midway_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "game.tracks.jsonl"
    write_tracks(path, HEADER, SCENES[:1])
    before = path.read_text()

    def breaks_off() -> object:
        yield SCENES[0]
        raise RuntimeError("source lost")

    with pytest.raises(RuntimeError):
        write_tracks(path, HEADER, breaks_off())  # type: ignore[arg-type]
    assert path.read_text() == before


@pytest.mark.parametrize("value", [-0.1, 1.000001, 7, "x"])
@pytest.mark.parametrize("field", ["probability", "visible", "front"])
def test_a_probability_beyond_0_and_1_is_refused(field: str, value: object) -> None:
    figure = {"id": "dark-1", "jersey": "dark", "x_mm": 1, "y_mm": 1, "heading_deg": 0, "length_mm": 26, "width_mm": 15}
    contact = {"a": "dark-1", "b": "light-1", "face_a": "front", "face_b": "front", "gap_mm": 1, "sigma_mm": 1}
    kind, data = (Contact, {**contact, "angle_deg": 0}) if field == "probability" else (Figure, figure)
    with pytest.raises(FormatError, match=field):
        from_json(kind, json.dumps({**data, field: value}), path="x")
