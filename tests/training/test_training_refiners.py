"""Teaching a network's refiners further: patches in files, traced or cut, and the network that comes of it."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest
from made_sets import make_pair

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from typer.testing import CliRunner  # noqa: E402

from downfield.core.errors import InputError  # noqa: E402
from downfield.models.card import BUNDLED, OpinionWeights, find_network, read_card, write_card  # noqa: E402
from downfield.models.loading import open_detector  # noqa: E402
from downfield.models.refiner import OUTPUTS, TURN  # noqa: E402
from downfield.models.runtime import open_network  # noqa: E402
from downfield.training.command import app  # noqa: E402
from downfield.training.data.patch_files import count_blocks, read_block, read_blocks, write_blocks  # noqa: E402
from downfield.training.data.samples import PatchSamples  # noqa: E402
from downfield.training.export.networks import write_retrained  # noqa: E402
from downfield.training.networks.checkpoints import read_checkpoint  # noqa: E402
from downfield.training.runs.pack import pack  # noqa: E402
from downfield.training.runs.pair_run import PairRun, RunSizes  # noqa: E402
from downfield.training.runs.refiner_run import RefinerPlan, RefinerRun  # noqa: E402
from downfield.training.runs.turns import (  # noqa: E402
    RateSchedule,
    TurnPlan,
)
from downfield.training.traced.stream import TracedRecipe, traced_refiner_samples  # noqa: E402
from downfield.training.traced.tables import TableRecipe  # noqa: E402

CHECKPOINT = Path(__file__).parents[2] / "training" / "checkpoints" / "refiner.pt"
POINTS = torch.tensor([[49.0, 22], [49, 42], [15, 42], [15, 22], [36, 30]])


def some_patches(shade: int, count: int = 32) -> PatchSamples:
    """Patches with a base whose brighter half is its front."""
    ones, flip = torch.ones(count), (torch.arange(count) % 2).float()
    image = torch.full((count, 64, 64, 3), shade, dtype=torch.uint8)
    for number in range(count):
        image[number, 22:43, 15:32] = 240 if flip[number] else 40
        image[number, 22:43, 32:50] = 40 if flip[number] else 240
    points = POINTS.repeat(count, 1, 1)
    return PatchSamples(image, points, torch.full((count, 5), 2.0), flip, 0 * ones, ones, torch.zeros(count, 3))


def written(folder: Path, *shades: int, first: int = 0) -> Path:
    write_blocks(iter([some_patches(shade) for shade in shades]), folder, len(shades), first=first)
    return folder


def test_patches_come_back_from_files_as_they_were(tmp_path: Path) -> None:
    written(tmp_path, 70)
    for kept, was in zip(read_block(tmp_path / "000000.npz"), some_patches(70), strict=True):
        torch.testing.assert_close(kept, was)


def test_every_folder_counts_the_same_and_all_of_its_files_are_read(tmp_path: Path) -> None:
    many, one = written(tmp_path / "many", 10, 11, 12), written(tmp_path / "one", 20)
    blocks = read_blocks([many, one], 1)
    shades = [int(next(blocks).image[0, 0, 0, 0]) for _ in range(12)]
    assert shades[1::2] == [20] * 6
    assert sorted(shades[::2]) == [10, 10, 11, 11, 12, 12]


def test_files_that_appear_while_others_learn_are_read_as_well(tmp_path: Path) -> None:
    written(tmp_path, 10)
    blocks = read_blocks([tmp_path], 1)
    next(blocks)
    written(tmp_path, 30, first=1)
    assert {int(next(blocks).image[0, 0, 0, 0]) for _ in range(2)} == {10, 30}


def test_files_that_are_deleted_while_others_learn_are_left_out(tmp_path: Path) -> None:
    written(tmp_path, 10, 20, 30)
    blocks = read_blocks([tmp_path], 1)
    gone = {10: "000000", 20: "000001", 30: "000002"}
    gone.pop(int(next(blocks).image[0, 0, 0, 0]))
    (kept, _), (_, deleted) = sorted(gone.items())
    (tmp_path / f"{deleted}.npz").unlink()
    assert int(next(blocks).image[0, 0, 0, 0]) == kept
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(InputError, match="holds no patches"):
        next(blocks)


def test_a_file_that_is_cut_off_or_holds_something_else_is_named(tmp_path: Path) -> None:
    whole = (written(tmp_path, 10) / "000000.npz").read_bytes()
    for contents in (whole[: len(whole) // 2], b"", b"no patches"):
        (tmp_path / "000000.npz").write_bytes(contents)
        with pytest.raises(InputError, match=r"000000\.npz: holds no patches"):
            read_block(tmp_path / "000000.npz")
    np.savez(tmp_path / "other.npz", image=np.zeros(3))
    with pytest.raises(InputError, match=r"other\.npz: holds no patches"):
        read_block(tmp_path / "other.npz")


def test_each_webcam_develops_the_same_light_in_its_own_way() -> None:
    recipe = TracedRecipe(TableRecipe(scenes=1, views=1), patch_samples=1, webcams=2)
    patches = next(traced_refiner_samples(recipe, 3, torch.device("cpu"), workers=0))
    half = len(patches.image) // 2
    for part in patches[1:]:
        torch.testing.assert_close(part[:half], part[half:])
    first, second = patches.image[:half].float(), patches.image[half:].float()
    assert float((first - second).abs().mean()) > 2, "two cameras never take the same picture"
    # Light is the same: where one picture is bright, the other is.
    alike = torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1]
    assert float(alike) > 0.5


def test_tables_traced_later_are_those_that_an_uninterrupted_run_would_have_traced() -> None:
    recipe = TracedRecipe(TableRecipe(scenes=1, views=1), patch_samples=1)
    cpu = torch.device("cpu")
    through = traced_refiner_samples(recipe, 3, cpu, workers=0)
    next(through)
    resumed = traced_refiner_samples(recipe, 3, cpu, workers=0, first=1)
    torch.testing.assert_close(next(resumed).points, next(through).points)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network whose refiners were taught for 12 steps, each, and its checkpoints."""
    out = tmp_path_factory.mktemp("taught")
    run = a_run(out)
    run.execute(24.0, out / "network", schedule=RateSchedule(1e-4, 1.0), name="taught", report=lambda _line: None)
    return out


def a_run(out: Path) -> RefinerRun:
    count = itertools.count()
    plan = RefinerPlan(batch=32, pool=64, mixed=2, turns=TurnPlan(seconds=4.0, sampling=0.25))
    folders = [written(out / "patches", 90, 140)]
    return RefinerRun(
        find_network(BUNDLED), out / "runs", folders, CHECKPOINT, plan=plan, clock=lambda: float(next(count))
    )


def test_both_refiners_learn_and_the_rest_stays_as_it_was(taught: Path) -> None:
    old, new = find_network(BUNDLED), taught / "network"
    card, before = read_card(new), read_card(old)
    assert card.name == "taught"
    assert (card.opinions, card.thresholds) == (before.opinions, before.thresholds)
    for unchanged in ("first-look.onnx", "close-look.int8.onnx", "hand-look.onnx"):
        assert (new / unchanged).read_bytes() == (old / unchanged).read_bytes()
    for changed in ("second-look.onnx", "second-look.int8.onnx", "second-opinion.onnx", "second-opinion.int8.onnx"):
        assert (new / changed).read_bytes() != (old / changed).read_bytes()
    for name in ("first-refiner", "refiner"):
        assert read_checkpoint(taught / "runs" / f"{name}.pt")["steps"] > 0
    assert open_detector(new).detect(np.full((360, 640, 3), 90, np.uint8)) == ()


def test_what_is_exported_says_what_was_trained(taught: Path) -> None:
    patches = some_patches(90, 8).image.numpy()
    flips = np.arange(8) % 2

    def loss(network: Path) -> float:
        path = network / "second-look.onnx"
        opened = open_network(path, "openvino", size_px=(64, 64), threads=1, precision="fp32", batches=(8,))
        outputs = opened.run(patches)
        assert outputs.shape == (8, OUTPUTS)
        return float(np.logaddexp(0, np.where(flips > 0, -1, 1) * outputs[:, TURN]).mean())

    assert loss(taught / "network") < loss(find_network(BUNDLED)), "a few steps on such patches make it surer"


def test_the_next_run_goes_on_from_the_checkpoints(taught: Path) -> None:
    steps = {name: read_checkpoint(taught / "runs" / f"{name}.pt")["steps"] for name in ("first-refiner", "refiner")}
    a_run(taught).execute(
        24.0, taught / "again", schedule=RateSchedule(1e-4, 1.0), name="again", report=lambda _line: None
    )
    for name, before in steps.items():
        assert read_checkpoint(taught / "runs" / f"{name}.pt")["steps"] > before


def test_patches_are_cut_from_data_sets_and_an_interrupted_command_goes_on(tmp_path: Path) -> None:
    sets, out = tmp_path / "sets", tmp_path / "patches"
    make_pair(sets / "compositor", "train", 2)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[[sets]]\nname = "compositor"\nrenderer = "compositor"\nseed = 1\ncount = 2\nper_table = 1\nshare = 1.0\n'
        + "".join(
            f"[{name}]\nlevel = 1\nfinish = 1\n" for name in ("figure_detector", "figure_refiner", "ball_detector")
        )
        + "[ball_refiner]\nlevel = 1\nfinish = 1\n"
    )
    for count in (1, 2, 2):
        called = CliRunner().invoke(
            app, ["patches", str(out), str(sets), "--recipe", str(recipe), "--count", str(count)]
        )
        assert called.exit_code == 0, called.output
        assert count_blocks(out) == count
    first, second = (read_block(out / f"00000{number}.npz") for number in range(2))
    assert len(first.image) != len(second.image) or bool((first.image != second.image).any())


def test_what_another_run_taught_stays_out_of_a_network(taught: Path, tmp_path: Path) -> None:
    """The folder of the checkpoints may hold the first refiner's, too."""
    run = dataclasses.replace(a_run(tmp_path), first=False)
    run.runs.mkdir()
    shutil.copy(taught / "runs" / "first-refiner.pt", run.runs)
    run.execute(24.0, tmp_path / "out", schedule=RateSchedule(1e-4, 1.0), name="one", report=lambda _line: None)
    old = find_network(BUNDLED)
    assert (tmp_path / "out" / "second-look.onnx").read_bytes() == (old / "second-look.onnx").read_bytes()
    assert (tmp_path / "out" / "second-opinion.onnx").read_bytes() != (old / "second-opinion.onnx").read_bytes()


def test_parts_that_were_taught_elsewhere_are_assembled_into_a_network(taught: Path, tmp_path: Path) -> None:
    runs, out, sets = tmp_path / "runs", tmp_path / "network", tmp_path / "set"
    runs.mkdir()
    shutil.copy(taught / "runs" / "refiner.pt", runs)
    shutil.copy(CHECKPOINT.with_name("detector.pt"), runs)
    make_pair(sets, "train", 2)
    folder = written(tmp_path / "patches", 90)
    call = ["assemble", BUNDLED, str(runs), str(out), "--patches", str(folder), "--train", str(sets), "--name", "mine"]
    called = CliRunner().invoke(app, call)
    assert called.exit_code == 0, called.output
    old = find_network(BUNDLED)
    assert read_card(out).name == "mine"
    for name in ("second-look.onnx", "first-look.onnx"):
        assert (out / name).read_bytes() == (old / name).read_bytes()
    for name in ("second-opinion.onnx", "hand-look.int8.onnx"):
        assert (out / name).read_bytes() != (old / name).read_bytes()
    assert open_detector(out).detect(np.full((360, 640, 3), 90, np.uint8)) == ()


def test_a_part_that_a_network_lacks_is_named(tmp_path: Path) -> None:
    card = dataclasses.replace(
        read_card(find_network(BUNDLED)), second_opinion=None, hand_look=None, opinions=OpinionWeights()
    )
    shutil.copytree(find_network(BUNDLED), tmp_path / "one")
    write_card(tmp_path / "one", card)
    runs = tmp_path / "runs"
    runs.mkdir()
    shutil.copy(CHECKPOINT, runs)
    with pytest.raises(InputError, match=r"no part that .*refiner\.pt could replace"):
        write_retrained(tmp_path / "one", runs, tmp_path / "out", name="one", patches=())
    assert not (tmp_path / "out").exists()


def test_a_run_of_the_pair_teaches_the_figure_refiner_as_well_where_it_has_its_checkpoint(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    pack(packed, CHECKPOINT.parent, None, network=find_network(BUNDLED))
    begin = packed / "checkpoints"
    assert {path.name for path in begin.iterdir()} == {"detector.pt", "refiner.pt", "first-refiner.pt"}
    make_pair(tmp_path / "set", "train", 2)
    count = itertools.count()
    sizes = RunSizes(2, 8, 64, 256, 0, TurnPlan(seconds=2.0), TracedRecipe())
    run = PairRun(tmp_path / "runs", begin, "cpu", sizes=sizes, clock=lambda: float(next(count)))
    run.execute([(tmp_path / "set", 1.0)], 60.0, rate=1e-3, level=1.0, report=lambda _line: None)
    taught = read_checkpoint(tmp_path / "runs" / "first-refiner.slim.pt")
    assert taught["steps"] > 0
    before = read_checkpoint(begin / "first-refiner.pt")["average"]
    assert any(bool((taught["average"][name] != each).any()) for name, each in before.items())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give at least one folder of patches"),
        (["--patches", "EMPTY", "--first"], "Make some with 'downfield train patches'"),
        (["--patches", "FULL", "--second", "nowhere.pt"], "nowhere.pt: no such file"),
        (["--patches", "FULL"], "There is nothing to train"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "EMPTY").mkdir()
    written(tmp_path / "FULL", 90)
    given = [str(tmp_path / each) if each.isupper() else each for each in options]
    call = ["refiners", BUNDLED, str(tmp_path / "out"), "--runs", str(tmp_path / "runs"), *given]
    called = CliRunner().invoke(app, [*call, "--seconds", "1"])
    assert called.exit_code != 0
    assert isinstance(called.exception, InputError)
    assert words in str(called.exception)
    assert not (tmp_path / "out").exists()
