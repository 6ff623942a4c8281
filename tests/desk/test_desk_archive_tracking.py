"""Recordings of an archive tracked again and judged: by the network that is named, wherever the worker is."""

from __future__ import annotations

import gzip
import importlib.util
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest
from archived_games import (
    DIES,
    GRAY_STEP,
    NumberedDetector,
    OtherTasks,
    archive_of,
    items_of,
    make_bundles,
    tracking_of,
    two_workers,
)
from av.video.stream import VideoStream
from simulated_detector import Faults, SimulatedDetector
from tracked_tables import FIELD, Table, filmed, look_of, roster_of, standing, walking

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.cli.main import run_command
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.core.records import to_json
from downfield.core.track_files import Roster, TrackFile
from downfield.desk.archive import tracking
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.items import ItemLabels
from downfield.desk.archive.job import ArchiveJob, JobReport, JobSettings
from downfield.desk.archive.tracking import describe_network, open_shared_network, share_network
from downfield.models.card import BUNDLED, find_network

if importlib.util.find_spec("s3fs") is None or importlib.util.find_spec("ray") is None:
    pytest.skip("the extra `archive` is not installed", allow_module_level=True)

TABLE = Table(
    {"dark-7": walking(300, 200, 0), "dark-9": standing(300, 300, 0), "light-3": standing(420, 300, 180)}, 0.3
)
SIZE_PX = (960, 540)


@cache
def seen() -> tuple[tuple[Detection, ...], ...]:
    detector = SimulatedDetector(Faults(false=0.0), seed=2)
    return tuple(detector.detect(view) for view, _, _ in filmed(TABLE))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video whose pictures tell their numbers, with a calibration and a roster beside it."""
    return write_recording(tmp_path_factory.mktemp("recording"), "semifinal")


def write_recording(folder: Path, name: str, pictures: int | None = None) -> Path:
    """Write a recording of a number of pictures, None for all."""
    path = folder / f"{name}.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("mjpeg", rate=30)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = SIZE_PX
        stream.pix_fmt, stream.time_base = "yuvj420p", Fraction(1, 30)
        for number in range(len(seen()) if pictures is None else pictures):
            picture = np.full((SIZE_PX[1], SIZE_PX[0], 3), GRAY_STEP * number, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, 30)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    camera = look_of(TABLE.players).camera
    write_calibration(folder / f"{name}.calibration.json", Calibration(FIELD, camera, "truth"))
    (folder / f"{name}.roster.json").write_text(to_json(Roster, roster_of(TABLE)))
    return path


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every network that is opened is the simulated one."""
    monkeypatch.setattr(tracking, "open_detector", lambda *_, **__: NumberedDetector(seen()))


def track(files: ArchiveFiles, kept: Path, out: Path, tasks: OtherTasks | None = None) -> JobReport:
    for folder in (kept, out):
        folder.mkdir(exist_ok=True)
    settings = JobSettings.of(None, describe_network(BUNDLED))
    job = ArchiveJob(settings, files, ArchiveFiles.at(str(kept)), items_of(files))
    return job.run(lambda: tasks or OtherTasks(), lambda _done, _total: None, out)  # type: ignore[arg-type, return-value]


@pytest.mark.usefixtures("simulated")
def test_a_recording_is_tracked_and_judged_the_same_each_time(recording: Path, tmp_path: Path) -> None:
    files = archive_of(str(tmp_path / "archive"), [recording], ItemLabels(rulebook="tap"))
    (item,) = items_of(files)
    for name in ("one", "two"):
        report = track(files, tmp_path / f"kept-{name}", tmp_path / name)
        assert report.failed == ()
    names = ("calls.parquet", "changes.parquet", "games.parquet", f"tracks/{item.short}.tracks.jsonl.gz")
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    plain = tmp_path / "new.tracks.jsonl"
    plain.write_bytes(gzip.decompress((tmp_path / "one" / names[-1]).read_bytes()))
    tracks = TrackFile(plain)
    assert {player.id for player in tracks.header.players} == {"dark-7", "dark-9", "light-3"}
    scenes = list(tracks)
    assert len(scenes) == len(seen())
    walked = [figure.x_mm for scene in scenes[-1:] for figure in scene.figures if figure.id == "dark-7"]
    assert walked[0] - 300 > 5, "the figure that walks is followed"
    again = track(files, tmp_path / "kept-one", tmp_path / "again")
    assert again.before == 1


def test_tracking_comes_to_the_same_bits_on_two_workers_one_of_which_is_killed_in_the_middle(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    paths = [
        write_recording(folder, f"game-{count}", count) for count in (len(seen()), len(seen()) - 2, len(seen()) - 4)
    ]
    files = archive_of(str(tmp_path / "archive"), paths, ItemLabels(rulebook="tap"))
    tracking = tracking_of(seen(), dies_at=len(seen()) // 2)
    killed = tmp_path / "kept-two" / DIES
    killed.parent.mkdir()
    killed.write_text(items_of(files)[1].id)
    with two_workers() as cluster:
        ways = {"one": OtherTasks(cluster, tracking, cpus=2), "two": OtherTasks(cluster, tracking)}
        for name, tasks in ways.items():
            report = track(files, tmp_path / f"kept-{name}", tmp_path / name, tasks)
            assert [game.state for game in report.games] == ["done"] * 3, report.failed
    assert killed.read_text() == "died"
    written = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()}
    assert len([path for path in written if path.parent.name == "tracks"]) == 3
    for path in written:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path


@pytest.mark.usefixtures("simulated")
def test_what_tracking_needs_and_is_not_there_is_the_reason_in_the_row(recording: Path, tmp_path: Path) -> None:
    files = archive_of(str(tmp_path / "archive"), [recording])
    report = track(files, tmp_path / "kept", tmp_path / "out")
    assert [game.reason for game in report.failed] == [
        "the recording names no rulebook. Add it with --rulebook, or track it with --rulebook."
    ]
    bundled = archive_of(str(tmp_path / "bundles"), make_bundles(tmp_path / "made", 1))
    (reason,) = [game.reason for game in track(bundled, tmp_path / "kept", tmp_path / "out").failed]
    assert reason == "recording/000001-20270105-180000/0001.frames.jsonl, line 1: frame: unknown key", (
        "no place of this computer"
    )


def test_a_network_of_ones_own_reaches_a_worker_and_is_checked_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    card = (find_network(BUNDLED) / "network.json").read_text()
    (own / "network.json").write_text(card)
    (own / "first.onnx").write_bytes(b"weights")
    kept = ArchiveFiles.at(str(tmp_path / "kept"))
    described = describe_network(str(own))
    assert described.bundled == ""
    share_network(described, str(own), kept)
    opened: dict[str, bytes] = {}

    def note(folder: Path, **_: object) -> NumberedDetector:
        opened.update({path.name: path.read_bytes() for path in folder.iterdir()})
        return NumberedDetector(seen())

    monkeypatch.setattr(tracking, "open_detector", note)
    open_shared_network(described, kept)
    assert opened == {"network.json": card.encode(), "first.onnx": b"weights"}
    next(Path(tmp_path / "kept").rglob("first.onnx")).write_bytes(b"others")
    with pytest.raises(InputError, match="was changed where the job keeps it"):
        open_shared_network(described, kept)


def test_a_network_that_is_not_there_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["archive", "track", str(tmp_path), "all", "--out", str(tmp_path / "out"), "--network", "nowhere"]
    assert run_command(words) == 2
    assert capsys.readouterr().err.startswith("downfield: nowhere: no network there.")
