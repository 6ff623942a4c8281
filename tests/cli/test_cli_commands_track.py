from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from simulated_detector import Faults, ListDetector, SimulatedDetector
from tracked_tables import FIELD, Table, filmed, look_of, roster_of, standing, walking
from typer.testing import CliRunner, Result

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.cli.commands import track
from downfield.cli.main import app
from downfield.core.arrays import Image
from downfield.core.frame import Detection, Frame
from downfield.core.records import to_json
from downfield.core.scene import Scene
from downfield.core.track_files import Roster, TrackFile
from downfield.officiating.declarations import Carrier, LineUpDeclared
from downfield.officiating.events import Event, EventsHeader, write_events
from downfield.vision.pipeline import Vision

TABLE = Table(
    {"dark-7": walking(300, 200, 0), "dark-9": standing(300, 300, 0), "light-3": standing(420, 300, 180)}, 0.3
)


class Interrupted(Exception):  # noqa: N818 - stands for Ctrl-C
    """The work ends here."""


class CountingDetector(ListDetector):
    """Counts its calls, and is interrupted.

    Args:
        after: how many pictures.
    """

    def __init__(self, after: int = 1000) -> None:
        super().__init__(seen()[:0])
        self.calls = 0
        self._after = after

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return the detections of the picture whose number it shows."""
        if self.calls == self._after:
            raise Interrupted
        self.calls += 1
        return seen()[int(image[4, 4, 0])]


@cache
def seen() -> list[tuple[Detection, ...]]:
    detector = SimulatedDetector(Faults(false=0.0), seed=2)
    return [detector.detect(view) for view, _, _ in filmed(TABLE)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with pictures that each show their number as a gray level, a calibration and a roster."""
    folder = tmp_path_factory.mktemp("filled")
    pictures = folder / "pictures"
    pictures.mkdir()
    for i in range(len(filmed(TABLE))):
        cv2.imwrite(str(pictures / f"{i}.png"), np.full((540, 960, 3), i, dtype=np.uint8))
    write_calibration(folder / "c.json", Calibration(FIELD, look_of(TABLE.players).camera, "truth"))
    (folder / "r.roster.json").write_text(to_json(Roster, roster_of(TABLE)))
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(scope="module")
def whole(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the tracks of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copytree(filled, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        result = run(folder, CountingDetector(), patch)
    assert result.exit_code == 0, result.output
    assert not (folder / "out.tracks.jsonl.detections").exists()
    return (folder / "out.tracks.jsonl").read_text()


def run(folder: Path, detector: CountingDetector, monkeypatch: pytest.MonkeyPatch, *more: str) -> Result:

    def opened(_: str, *, augmented: bool) -> CountingDetector:
        assert augmented == ("--independent" in more)
        return detector

    monkeypatch.setattr(track, "open_detector", opened)
    words = ["track", str(folder / "pictures"), "--unchecked", "--fps", "30"]
    words += ["-c", str(folder / "c.json"), "-o", str(folder / "out.tracks.jsonl")]
    return CliRunner().invoke(app, [*words, "--roster", str(folder / "r.roster.json"), *more])


def test_a_folder_is_tracked_into_a_file(whole: str, tmp_path: Path) -> None:
    (tmp_path / "out.tracks.jsonl").write_text(whole)
    tracks = TrackFile(tmp_path / "out.tracks.jsonl")
    scenes = list(tracks)
    assert [player.id for player in tracks.header.players] == ["dark-7", "dark-9", "light-3"]
    assert len(scenes) == len(filmed(TABLE))
    assert len(scenes[-1].figures) == 3


def test_after_an_interruption_the_result_is_the_same(
    folder: Path, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = run(folder, CountingDetector(after=15), monkeypatch)
    assert isinstance(broken.exception, Interrupted)
    with (folder / "out.tracks.jsonl.detections").open("a") as torn:
        torn.write('{"detections": [{"kind"')
    rest = CountingDetector()
    result = run(folder, rest, monkeypatch)
    assert "after 15 frames" in result.output
    assert rest.calls == len(filmed(TABLE)) - 15
    assert (folder / "out.tracks.jsonl").read_text() == whole


def test_the_cache_of_another_recording_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, CountingDetector(after=15), monkeypatch)
    cv2.imwrite(str(folder / "pictures" / "99.png"), np.zeros((540, 960, 3), dtype=np.uint8))
    again = CountingDetector()
    result = run(folder, again, monkeypatch)
    assert "Starting from the beginning" in result.output
    assert again.calls == len(filmed(TABLE)) + 1


def test_independent_pictures_each_have_their_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(folder, CountingDetector(), monkeypatch, "--independent").exit_code == 0
    assert all(len(scene.figures) == 3 for scene in TrackFile(folder / "out.tracks.jsonl"))


def test_a_recording_without_a_line_up_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in sorted((folder / "pictures").iterdir())[8:]:
        path.unlink()
    result = run(folder, CountingDetector(), monkeypatch)
    assert "no line-up was found" in str(result.exception)
    assert not (folder / "out.tracks.jsonl").exists()


class CountingTrackingDetector(CountingDetector):
    """One that can also track, with the same result."""

    tracked = 0

    def detect_raw(self, image: Image) -> tuple[Detection, ...]:
        return self.detect(image)

    def find_candidates(self, *_: object, **__: object) -> tuple[Detection, ...]:
        return ()

    def refine_candidates(self, *_: object) -> tuple[Detection, ...]:
        raise AssertionError("a recording's frames wait: nothing is done beside them")

    def track(
        self, image: Image, seen: Sequence[Detection], found: Sequence[Detection] | None = None
    ) -> tuple[Detection, ...]:
        assert seen or found is not None
        self.tracked += found is None
        return self.detect(image)


def test_with_a_tracking_detector_an_interrupted_run_gives_the_same_result(
    folder: Path, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = run(folder, CountingTrackingDetector(after=15), monkeypatch)
    assert isinstance(broken.exception, Interrupted)
    rest = CountingTrackingDetector()
    run(folder, rest, monkeypatch)
    assert 0 < rest.tracked < rest.calls == len(filmed(TABLE)) - 15
    assert (folder / "out.tracks.jsonl").read_text() == whole


def test_it_is_said_how_well_a_recording_was_tracked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(folder, CountingDetector(), monkeypatch, "--json", "--start", "0.1")
    report = json.loads(done.stdout)["report"]
    assert report["frames"] == len(filmed(TABLE)) - 3, "--start leaves out a tenth of a second"
    assert report["figures"] == 3
    assert report["seen_share"] > 0.6, "all but those before the line-up was found"
    assert report["never_seen"] == []
    again = run(folder, CountingDetector(), monkeypatch)
    assert "exists already. Add --overwrite" in str(again.exception)


def test_a_recording_that_was_mostly_lost_has_a_status_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blinded(CountingDetector):
        def detect(self, image: Image) -> tuple[Detection, ...]:
            return super().detect(image) if self.calls < 10 else ()

    result = run(folder, Blinded(), monkeypatch)
    assert result.exit_code == 3, result.output
    said = " ".join(result.output.split())
    assert "3 figures, seen in " in said
    assert "Most was lost. Check that calibration and roster are of this recording" in said


def test_a_recording_of_another_view_is_refused_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    detector = CountingDetector()
    monkeypatch.setattr(track, "open_detector", lambda *_, **__: detector)
    words = ["track", str(folder / "pictures"), "-c", str(folder / "c.json"), "-o", str(folder / "out.tracks.jsonl")]
    result = CliRunner().invoke(app, words)
    assert "0% of the yard lines of" in str(result.exception)
    assert "--unchecked tracks it all the same" in str(result.exception)
    assert detector.calls == 0


def test_with_declarations_the_carrier_is_who_was_declared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    process = Vision.process

    def noted(vision: Vision, frame: Frame, carrier: str | None = None) -> Scene:
        asked.append(carrier)
        return process(vision, frame, carrier)

    monkeypatch.setattr(Vision, "process", noted)
    declared = [
        Event("e1", 0, "operator", LineUpDeclared(roster_of(TABLE).players, "dark")),
        Event("e2", 200_000_000, "operator", Carrier("dark-7")),
    ]
    write_events(folder / "e.events.jsonl", EventsHeader(), declared)
    result = run(folder, CountingDetector(), monkeypatch, "--events", str(folder / "e.events.jsonl"))
    assert result.exit_code == 0, result.output
    assert (asked[0], asked[-1]) == (None, "dark-7")
