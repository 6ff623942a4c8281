from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from clip_frames import read_clip
from twin_recordings import recorded

from downfield.calibration.calibration import read_calibration
from downfield.cli import main as cli
from downfield.core.records import read_record
from downfield.core.track_files import TrackFile
from downfield.officiating.events import read_events
from downfield.twin.film.film import beside
from downfield.twin.physics.truth_file import TruthFile
from downfield.twin.plays.recording import Expected


def _run(monkeypatch: pytest.MonkeyPatch, *args: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["downfield", "twin", *args])
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = tmp_path_factory.mktemp("filmed") / "a.play"
    with pytest.MonkeyPatch.context() as patch:
        options = ["--size", "320x180", "--fps", "10", "--renderer", "compositor", "--appearance-seed", "3"]
        assert _run(patch, "render", "falls-alone", "-o", str(name), *options) == 0
    return name


def test_a_play_becomes_a_clip_and_its_truth_side_by_side(filmed: Path) -> None:
    suffixes = (".mp4", ".calibration.json", ".tracks.jsonl", ".truth.jsonl", ".events.jsonl", ".expected.json")
    assert {path.name for path in filmed.parent.iterdir()} == {filmed.name + suffix for suffix in suffixes}


def test_clip_tracks_and_truth_have_the_same_frames(filmed: Path) -> None:
    clip = [t_ns for t_ns, _ in read_clip(beside(filmed, ".mp4"))]
    tracks = TrackFile(beside(filmed, ".tracks.jsonl"))
    truth = TruthFile(beside(filmed, ".truth.jsonl"))
    scenes, frames = list(tracks), list(truth)
    assert clip == [scene.t_ns for scene in scenes] == [frame.t_ns for frame in frames]
    assert tracks.header.players == truth.header.players
    shares = {figure.id: figure.visible for figure in frames[5].figures}
    assert all(figure.visible == pytest.approx(shares[figure.id], abs=1e-3) for figure in scenes[5].figures)
    assert {figure.visible for figure in scenes[5].figures} != {1.0}
    assert any(event.type == "fell" for frame in frames for event in frame.events)


def test_the_camera_of_a_frame_is_near_its_mounting(filmed: Path) -> None:
    calibration = read_calibration(beside(filmed, ".calibration.json"))
    assert calibration.method == "truth"
    for frame in TruthFile(beside(filmed, ".truth.jsonl")):
        assert frame.camera.lens == calibration.camera.lens
        moved = frame.camera.to_pixels([100.0, 100.0]) - calibration.camera.to_pixels([100.0, 100.0])
        assert abs(moved).max() < 2


def test_declarations_and_expected_calls_are_the_plays(filmed: Path) -> None:
    header, events = read_events(beside(filmed, ".events.jsonl"))
    recording = recorded("falls-alone")
    assert header.game == "falls-alone"
    assert [event.body for event in events] == [event.body for event in recording.events]
    expected = read_record(Expected, beside(filmed, ".expected.json"))
    assert {book: [call.kind for call in calls] for book, calls in expected.calls.items()} == {
        book: [call.kind for call in calls] for book, calls in recording.expected.items()
    }


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["render", "no-such-play", "-o", "OUT/x"], "no play is named 'no-such-play'; there are: "),
        (["render", "OUT/no.toml", "-o", "OUT/x"], "no.toml: no such file"),
        (["render", "OUT/broken.toml", "-o", "OUT/x"], "broken.toml: broken TOML: "),
        (["render", "fumble", "-o", "OUT/x", "--size", "big"], "a size is given as width x height"),
        (["render", "fumble", "-o", "OUT/x", "--size", "641x360"], "width and height must be even"),
        (["render", "fumble", "-o", "OUT/x", "--size", "10x10"], "width and height must be even and 64..7680"),
        (["render", "fumble", "-o", "OUT/x", "--renderer", "crayon"], "no renderer is named 'crayon'"),
        (["render", "fumble", "-o", "OUT/x", "--fps", "0"], "fps must be 1..240"),
        (["render", "fumble", "-o", "OUT/broken.toml/x"], "broken.toml is a file, not a folder. Choose another name."),
        (["demo", "-o", "OUT/broken.toml"], "broken.toml/demo.mp4: can't be written"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    args: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.toml").write_text("name = ")
    assert _run(monkeypatch, *(arg.replace("OUT", str(tmp_path)) for arg in args)) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.startswith("downfield: ")
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("args", [["render", "fumble", "-o", "x"], ["demo", "-o", "x"]])
def test_without_mujoco_the_error_names_the_extra(args: list[str], tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['mujoco'] = None; sys.argv = ['downfield', 'twin', *sys.argv[1:]]; "
        "from downfield.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "needs the extra 'twin'. Install it with: " in done.stderr
    assert "[twin]" in done.stderr
    assert done.stderr.count("\n") == 1
