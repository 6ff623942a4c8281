"""Truth files round trip, and broken ones are refused by file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from downfield.calibration.camera import Camera, Lens
from downfield.core.errors import FormatError, InputError, OutputError
from downfield.core.field.model import preset
from downfield.core.scene import Player
from downfield.twin.physics.truth_file import FigureTruth, TruthEvent, TruthFile, TruthFrame, TruthHeader, write_truth

HEADER = TruthHeader(preset("ultimate"), (Player("dark-1", "dark"), Player("light-9", "light")), 30.0, 42)
CAMERA = Camera(
    Lens((1280, 720), (1000.0, 1000.5), (639.5, 359.5), (-0.2, 0.05, 0.0, 0.0, 0.0)), (3.1, 0.0, 0.1), (-5.0, 2.0, 1e3)
)
TOP = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0), (7.0, 8.5))
FRAMES = tuple(
    TruthFrame(
        frame=i,
        t_ns=33_333_333 * i,
        camera=CAMERA,
        figures=(
            FigureTruth("dark-1", 0.02, (True, True, False, True), 0.58, TOP),
            FigureTruth("light-9", 93.5, (False, False, False, False), 0.0),
        ),
        events=(
            TruthEvent("touched", 33_333_333 * i - 7, "dark-1", "light-9"),
            TruthEvent("fell", 33_333_333 * i, "light-9"),
        ),
    )
    for i in range(3)
)


def test_truth_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "clip.truth.jsonl"
    write_truth(path, HEADER, FRAMES)
    file = TruthFile(path)
    assert file.header == HEADER
    assert tuple(file) == FRAMES
    assert tuple(file) == FRAMES  # it can be read again


@pytest.mark.parametrize(
    ("line", "old", "new", "message"),
    [
        (1, '"downfield.truth"', '"downfield.tracks"', "line 1: format: "),
        (1, '"version":2', '"version":3', "line 1: version: the file has version 3"),
        (2, '"visible":0.58', '"visible":"much"', "line 2: figures.0.visible: "),
        (3, '"type":"fell"', '"type":"flew"', "line 3: events.1.type: "),
        (3, '"light-9","tilt', '"light-8","tilt', "line 3: figures.1.id: 'light-8' is not on the roster of the header"),
        (4, '"t_ns":66666666', '"t_ns":1', "line 4: t_ns: time does not rise: 1 ns after 33333333 ns"),
        (4, '"frame":2,', "", "line 4: frame: missing"),
    ],
)
def test_broken_truth_is_refused_by_line_and_field(tmp_path: Path, line: int, old: str, new: str, message: str) -> None:
    path = tmp_path / "clip.truth.jsonl"
    write_truth(path, HEADER, FRAMES)
    lines = path.read_text().splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_text("\n".join(lines))
    with pytest.raises(FormatError) as caught:
        tuple(TruthFile(path))
    assert f"{path}, {message}" in str(caught.value)


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        TruthFile(tmp_path / "none.truth.jsonl")
    empty = tmp_path / "empty.truth.jsonl"
    empty.touch()
    with pytest.raises(FormatError, match="must begin with a header line"):
        TruthFile(empty)
    with pytest.raises(OutputError, match="can't be written"):
        write_truth(empty / "below.truth.jsonl", HEADER, FRAMES)
