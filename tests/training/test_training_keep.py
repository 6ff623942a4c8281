"""The trainer that keeps running: it goes on after a kill, keeps to its disk, holds its folder, says what it did."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from waiting import wait_until

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")
pytest.importorskip("numba")

from typer.testing import CliRunner  # noqa: E402

from downfield.core.errors import InputError  # noqa: E402
from downfield.training.command import CURVES, app  # noqa: E402
from downfield.training.data.sample_files import PART, read_samples_file, sample_files, write_samples  # noqa: E402
from downfield.training.data.samples import MOST_OBJECTS, FrameSamples, PatchSamples  # noqa: E402
from downfield.training.keep.folder import TrainerFolder  # noqa: E402
from downfield.training.keep.learning import Learner  # noqa: E402
from downfield.training.keep.plans import LearningPlan, TracingPlan  # noqa: E402
from downfield.training.keep.progress import status_lines  # noqa: E402
from downfield.training.keep.rows import ROWS, progress_of  # noqa: E402
from downfield.training.keep.tracing import make_table, trace_endlessly, trace_table  # noqa: E402
from downfield.training.networks.checkpoints import read_checkpoint  # noqa: E402

TINY = TracingPlan(1e9, 5, 0, 1, 1, 1, 1, 1, drawn_every=0, drawn_beside=0)
SMALL = LearningPlan(crops=1, patches=2, pool_crops=4, pool_patches=16, mixed=1, turn_s=0.05, files_per_turn=1)
ROW = {row.name: 0.1 if row.is_error else 0.9 for row in ROWS}


def folder_with(path: Path, tables: int = 2) -> TrainerFolder:
    """A folder that holds the samples of some tables."""
    folder = TrainerFolder(path)
    os.close(folder.hold())
    for number in range(tables):
        crops = torch.full((2, 320, 320, 3), 90, dtype=torch.uint8)
        objects = (torch.zeros(2, MOST_OBJECTS, *rest) for rest in ((5, 3), (4,), ()))
        kinds = torch.full((2, MOST_OBJECTS), -1)
        write_samples(FrameSamples(crops, kinds, *objects), folder.crops, number)
        patches = torch.full((4, 64, 64, 3), 90, dtype=torch.uint8)
        labels = (torch.zeros(4, *rest) for rest in ((5, 2), (5,), (), (), (), (3,)))
        write_samples(PatchSamples(patches, *labels), folder.patches, number)
    return folder


def counted(times: int) -> Callable[[], bool]:
    """A `stop` that says so after being asked so often."""
    asked = iter(range(times))
    return lambda: next(asked, None) is None


def test_tables_are_traced_into_files_and_go_on_where_they_were(tmp_path: Path) -> None:
    folder = TrainerFolder(tmp_path)
    os.close(folder.hold())
    trace_endlessly(folder, TINY, 0, 1, counted(2))
    assert [file.name for file in sample_files(folder.crops)] == ["0000000.npz", "0000001.npz"]
    trace_endlessly(folder, TINY, 0, 1, counted(1))
    assert folder.next_table() == 3
    kept = read_samples_file(sample_files(folder.patches)[2], PatchSamples)
    made = make_table(folder, TINY, 2)
    assert made.patches is not None
    assert torch.equal(kept.image, made.patches.image), "a table is a function of seed and number alone"
    assert folder.account("tracer-0").contents["tables"] == 3


def test_several_tracers_share_the_tables(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, 3)
    trace_endlessly(folder, TINY, 0, 2, counted(1))
    trace_endlessly(folder, TINY, 1, 2, counted(1))
    assert [int(file.stem) for file in sample_files(folder.crops)] == [0, 1, 2, 4, 5]


def test_one_table_in_some_is_drawn_by_the_compositor(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, 0)
    drawn = make_table(folder, dataclasses.replace(TINY, drawn_every=2), 3)
    assert drawn.patches is not None
    assert len(drawn.frames.image) == 12
    assert drawn.patches.figure.sum() > 10
    assert not list(tmp_path.glob("drawn-*")), "its pictures are deleted"


def test_varied_tables_are_drawn_beside_a_traced_one(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, 0)
    traced = trace_table(TINY, 2)
    both = make_table(folder, dataclasses.replace(TINY, drawn_beside=2), 2)
    assert torch.equal(both.frames.image[:1], traced.frames.image)
    assert len(both.frames.image) == 1 + 2 * 6
    assert traced.patches is not None
    assert both.patches is not None
    assert len(both.patches.image) > len(traced.patches.image), "the refiner sees one of them"
    assert not list(tmp_path.glob("drawn-*")), "its pictures are deleted"


def test_the_oldest_tables_give_way_to_the_bound(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, 12)
    table = sum((where / "0000000.npz").stat().st_size for where in (folder.crops, folder.patches))
    stale = folder.crops / f"0000003-1{PART}"
    stale.write_bytes(b"half")
    os.utime(stale, (0, 0))
    young = folder.crops / f"0000004-2{PART}"
    young.write_bytes(b"half")
    folder.shrink(7.5 * table)
    left = [int(file.stem) for file in sample_files(folder.crops)]
    assert left == [int(file.stem) for file in sample_files(folder.patches)] == list(range(5, 12))
    assert not stale.exists(), "whoever wrote it is gone"
    assert young.exists(), "somebody writes it"
    folder.shrink(0)
    assert len(sample_files(folder.crops)) == 4, "training needs some"
    assert folder.next_table() == 12


def test_a_folder_has_one_trainer_at_a_time(tmp_path: Path) -> None:
    folder = TrainerFolder(tmp_path)
    lock = folder.hold()
    held = [folder.is_held]
    with pytest.raises(InputError, match="a trainer works on this folder already"):
        TrainerFolder(tmp_path).hold()
    os.close(lock)
    held.append(folder.is_held)
    assert held == [True, False]
    os.close(folder.hold())


def test_a_learner_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    Learner(folder, SMALL).run(counted(60))
    steps = {name: read_checkpoint(tmp_path / f"{name}.pt")["steps"] for name in ("detector", "refiner")}
    assert min(steps.values()) > 0
    Learner(folder, SMALL).run(counted(30))
    after = {name: read_checkpoint(tmp_path / f"{name}.pt")["steps"] for name in ("detector", "refiner")}
    assert after["refiner"] > steps["refiner"]
    account = folder.account("learner").contents
    assert account["steps"] == after
    assert account["losses"]["refiner"]["ball"] >= 0


def test_a_checkpoint_that_the_disk_lost_is_replaced_by_the_best(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    Learner(folder, SMALL).run(counted(20))
    (tmp_path / "refiner.pt").rename(folder.best / "refiner.pt")
    (tmp_path / "refiner.pt").write_bytes(b"")
    learner = Learner(folder, SMALL)
    learner.run(counted(0))
    best, now = (read_checkpoint(path)["average"] for path in (folder.best / "refiner.pt", tmp_path / "refiner.pt"))
    for name, weights in best.items():
        torch.testing.assert_close(now[name], weights)


def test_the_rate_rises_soon_and_then_falls_to_nothing_within_a_cycle() -> None:
    plan = LearningPlan()
    rates = [plan.rate_at(done) for done in (0, plan.warm_up, 0.5, 0.9, 1.0)]
    assert rates[1] == plan.rate
    assert rates[1] > rates[2] > rates[3] > rates[4] > 0
    assert max(rates[0], rates[4]) == pytest.approx(0.01 * plan.rate)


def test_a_cycle_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    Learner(folder, SMALL).run(counted(20))
    first = folder.account("learner").contents["cycle_s"]
    Learner(folder, SMALL).run(counted(20))
    second = folder.account("learner").contents["cycle_s"]
    assert second > first > 0
    before = read_checkpoint(tmp_path / "detector.pt")
    assert before["cycle_begun"] == 0
    Learner(folder, dataclasses.replace(SMALL, cycle_s=second)).run(counted(40))
    assert read_checkpoint(tmp_path / "detector.pt")["cycle_begun"] > before["steps"], "the next one has begun"


def test_fewer_errors_are_better_and_a_row_that_lacks_is_left_out() -> None:
    assert progress_of(ROW, ROW) == 0
    assert progress_of(ROW | {"traced_turned": 0.05}, ROW) < 0
    assert progress_of(ROW | {"drawn_recall": 0.8}, ROW) > 0
    assert progress_of({"traced_recall": 0.95}, ROW) < 0
    assert progress_of(ROW | {"drawn_sigma": 5.0}, ROW) == 0


def test_status_says_what_was_done_and_draws_the_curves(tmp_path: Path) -> None:
    folder = folder_with(tmp_path)
    early = CliRunner().invoke(app, ["keep", str(tmp_path), "--status"])
    assert "not running, 0.0 core-hours" in early.stdout
    assert "measured: not yet" in early.stdout
    for hours, turned in ((0.0, 0.1), (1.0, 0.07), (2.0, 0.08)):
        best = turned < 0.1 and hours == 1.0
        row = ROW | {"traced_turned": turned, "drawn_turned": turned / 10}
        folder.add_row({"core_h": hours, "progress": 0.0, "best": best or hours == 0, "row": row})
    with folder.history.open("a") as file:
        file.write('{"core_h": 3.0, "ta')  # as a kill leaves it
    shown = CliRunner().invoke(app, ["keep", str(tmp_path), "--status"]).stdout
    assert "traced: 2 tables" in shown
    lines = [each.split()[-6:] for each in shown.splitlines() if ": heading wrong" in each]
    assert lines == [["10.0", "%", "7.0", "%", "8.0", "%"], ["1.0", "%", "0.7", "%", "0.8", "%"]]
    picture = cv2.imread(str(tmp_path / CURVES))
    assert picture is not None
    assert picture.std() > 5
    assert any("1.0 h" in each for each in status_lines(folder))


def test_where_no_trainer_worked_status_says_how_to_start_one(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["keep", str(tmp_path / "none"), "--status"])
    assert isinstance(result.exception, InputError)
    assert "no trainer has worked here" in str(result.exception)


RUN = """
import sys
from collections.abc import Callable
from pathlib import Path
from downfield.training.keep.keeper import Keeper
from downfield.training.keep.plans import KeepPlan, LearningPlan, TracingPlan

if __name__ == "__main__":
    tracing = TracingPlan(1e9, 5, 0, 1, 1, 1, 1, 1, drawn_every=0, drawn_beside=0)
    learning = LearningPlan(
        crops=1, patches=2, pool_crops=4, pool_patches=16, mixed=1, turn_s=0.1, files_per_turn=1, save_s=0.3
    )
    Keeper(Path(sys.argv[1]), KeepPlan(tracing, learning, 2, is_idle=False)).run()
"""


def started(folder: Path, script: Path) -> subprocess.Popen[bytes]:
    script.write_text(RUN)
    return subprocess.Popen([sys.executable, str(script), str(folder)], stdout=subprocess.DEVNULL)


def workers_of(keeper: int) -> list[int]:
    """The processes that a keeper started, even after its end: those whose command line names its script's process."""
    out = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                stat = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat[1]) == keeper and b"spawn_main" in (each / "cmdline").read_bytes():
                out.append(int(each.name))
    return out


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_after_a_kill_its_workers_end_and_the_next_one_goes_on(tmp_path: Path) -> None:
    where = tmp_path / "kept"
    folder = folder_with(where)
    first = _killed_while_learning(where, tmp_path / "keeper.py", 0)
    again = _killed_while_learning(where, tmp_path / "keeper.py", first)
    assert again > first
    for file in (*sample_files(folder.crops), *sample_files(folder.patches)):
        assert np.load(file)["image"].size, "no file is cut off"


def _killed_while_learning(where: Path, script: Path, steps: int) -> int:
    """Return the steps saved by a trainer that is killed after more than `steps`, once its workers have ended."""
    keeper = started(where, script)
    try:
        wait_until(lambda: _steps(where) > steps)
        workers = workers_of(keeper.pid)
        assert len(workers) == 2
        assert [os.getsid(worker) for worker in workers] == workers, "each in a session of its own"
        with pytest.raises(InputError, match="a trainer works on this folder"):
            TrainerFolder(where).hold()
    finally:
        keeper.send_signal(signal.SIGKILL)
        keeper.wait()
    wait_until(lambda: not any(_runs(each) for each in workers))
    return _steps(where)


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _steps(folder: Path) -> int:
    path = folder / "refiner.pt"
    return int(read_checkpoint(path)["steps"]) if path.exists() else 0
