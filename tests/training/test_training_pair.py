"""Training the two networks by the clock: the rate, samples from data sets, checkpoints and resuming."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_sets import make_pair

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from typer.testing import CliRunner  # noqa: E402

from downfield.core.errors import InputError  # noqa: E402
from downfield.models.refiner import patch_transform  # noqa: E402
from downfield.models.runtime import open_network  # noqa: E402
from downfield.training.command import app  # noqa: E402
from downfield.training.data.labeled_frames import labeled_images_of, labels_of, unsure_path_of, write_objects  # noqa: E402
from downfield.training.data.objects import Objects  # noqa: E402
from downfield.training.data.samples import UPRIGHT, PatchSamples  # noqa: E402
from downfield.training.data.set_samples import (  # noqa: E402
    HARDLY_SHOWN,
    balls_in_patches,
    detector_samples,
    refiner_samples,
    with_real_tables,
)
from downfield.training.export.onnx import DetectorGraph, RefinerGraph, after_last_convolutions, export_onnx  # noqa: E402
from downfield.training.networks.checkpoints import read_checkpoint, slim_checkpoint  # noqa: E402
from downfield.training.networks.detector import DetectorNetwork  # noqa: E402
from downfield.training.networks.refiner import RefinerNetwork  # noqa: E402
from downfield.training.recipe import read_recipe  # noqa: E402
from downfield.training.runs.network_training import (  # noqa: E402
    KINDS,
    REFINER,
    NetworkTraining,
    ReplayPool,
)
from downfield.training.runs.pair_run import PairRun, RunSizes, chosen_device  # noqa: E402
from downfield.training.runs.turns import RateSchedule, TimeBudget, TurnPlan, train_networks  # noqa: E402
from downfield.training.traced.stream import TracedRecipe  # noqa: E402

TINY = RunSizes(2, 8, 64, 256, 0, TurnPlan(seconds=2.0), TracedRecipe())


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_pair(out, "train", 3)
    return out


@given(st.floats(0, 1), st.integers(0, 10_000), st.floats(0, 1))
def test_the_rate_never_exceeds_its_level_and_is_never_zero(over: float, steps: int, level: float) -> None:
    schedule = RateSchedule(2e-3, level)
    assert 0 < schedule.at(over, steps) <= schedule.rate * (1 + 1e-12)


@given(st.floats(0.05, 1), st.floats(0.05, 1))
def test_after_the_warm_up_the_rate_never_rises(one: float, other: float) -> None:
    schedule = RateSchedule()
    early, late = sorted((one, other))
    assert schedule.at(late, 1000) <= schedule.at(early, 1000)


def test_the_rate_rises_at_first_and_ends_at_a_hundredth() -> None:
    schedule = RateSchedule(1.0, 0.5)
    assert schedule.at(0.0, 0) < 0.01
    assert schedule.at(0.3, 0) == 1.0
    assert schedule.at(1.0, 9999) == pytest.approx(0.01)
    assert RateSchedule(1.0, 1.0).at(1.0, 9999) == 1.0


def ticking(step: float = 1.0) -> Callable[[], float]:
    """A clock that moves on by a step whenever it is read."""
    count = itertools.count()
    return lambda: step * next(count)


def test_a_budget_is_up_when_all_but_its_reserve_is_over() -> None:
    now = [100.0]
    budget = TimeBudget(60.0, 10.0, lambda: now[0])
    assert (budget.over, budget.is_up) == (0.0, False)
    now[0] += 25
    assert budget.over == pytest.approx(0.5)
    now[0] += 100
    assert (budget.over, budget.is_up) == (1.0, True)


def some_patches(count: int = 8) -> PatchSamples:
    points = torch.tensor([[49.0, 22], [49, 42], [15, 42], [15, 22], [36, 30]]).repeat(count, 1, 1)
    ones, image = torch.ones(count), torch.full((count, 64, 64, 3), 90, dtype=torch.uint8)
    ball = torch.tensor([[40.0, 20.0, 1.0]]).repeat(count, 1)
    return PatchSamples(image, points, torch.full((count, 5), 2.0), 0 * ones, 0 * ones, ones, ball)


def a_training(steps: int = 0) -> NetworkTraining:
    torch.manual_seed(0)
    training = NetworkTraining(REFINER, torch.device("cpu"), ReplayPool(64), 4)
    training.pool.add(tuple(some_patches()))
    for _ in range(steps):
        training.learn(1e-3)
    return training


def test_an_interrupted_run_continues_where_it_was(tmp_path: Path) -> None:
    training = a_training(3)
    training.save(tmp_path)
    again = a_training()
    again.resume(tmp_path / "refiner.pt")
    assert (again.steps, again.own_steps) == (3, 0)
    for name, weight in training.average.state_dict().items():
        torch.testing.assert_close(again.average.state_dict()[name], weight, atol=2e-3, rtol=2e-3)
    again.learn(1e-3)
    assert again.steps == 4


def test_a_slim_checkpoint_is_a_quarter_and_continues_from_the_average(tmp_path: Path) -> None:
    training = a_training(2)
    whole = training.save(tmp_path)
    slim_checkpoint(whole, tmp_path / "slim.pt")
    assert (tmp_path / "slim.pt").stat().st_size < 0.3 * whole.stat().st_size
    again = a_training()
    again.resume(tmp_path / "slim.pt")
    assert again.steps == 2
    with pytest.raises(InputError, match="another network"):
        NetworkTraining(KINDS[0], torch.device("cpu"), ReplayPool(4), 2).resume(tmp_path / "slim.pt")


def test_a_step_that_would_spoil_the_weights_is_left_out() -> None:
    training = a_training(1)
    before = {name: each.clone() for name, each in training.average.named_parameters()}
    broken = some_patches()
    training.pool = ReplayPool(8)
    training.pool.add(tuple(broken._replace(points=broken.points * float("inf"))))
    training.learn(1e-3)
    assert all(bool(each.isfinite().all()) for each in training.average.state_dict().values())
    assert training.steps == 2
    assert before.keys() == dict(training.average.named_parameters()).keys()


def test_networks_share_the_time_and_are_kept_when_interrupted(tmp_path: Path) -> None:
    lines: list[str] = []

    def endless() -> Any:
        while True:
            yield some_patches()

    clock = ticking()
    training = a_training()
    train_networks(
        {"refiner": (training, endless())},
        TimeBudget(60.0, 0.0, clock),
        RateSchedule(),
        TurnPlan(seconds=6.0, check_s=20.0),
        tmp_path,
        clock=clock,
        report=lines.append,
    )
    assert training.steps > 2
    assert read_checkpoint(tmp_path / "refiner.pt")["steps"] == training.steps
    assert "refiner: step" in lines[-1]

    def stopped() -> Any:
        yield some_patches()
        raise KeyboardInterrupt

    training.steps = 77
    clock = ticking()
    with pytest.raises(KeyboardInterrupt):
        train_networks(
            {"refiner": (training, stopped())},
            TimeBudget(1e6, 0.0, clock),
            RateSchedule(),
            TurnPlan(seconds=2.0),
            tmp_path,
            clock=clock,
        )
    assert read_checkpoint(tmp_path / "refiner.pt")["steps"] > 77


def test_samples_of_a_data_set_have_their_points_where_the_picture_shows_them(frames: Path) -> None:
    crops = next(detector_samples([(frames, 1.0)], 5, crops=8, workers=0))
    figures = crops.kinds == UPRIGHT
    assert int(figures.sum()) > 8
    corners = crops.points[figures][:, :4]
    whole = corners[(corners[..., 2] > 0).all(dim=1)][..., :2]
    x, y = whole[..., 0], whole[..., 1]
    area = (x * y.roll(-1, 1) - y * x.roll(-1, 1)).sum(dim=1) / 2
    assert (area > 0).all(), "corners run clockwise in a picture, where y points down"
    low, high = crops.boxes[figures][:, :2], crops.boxes[figures][:, 2:]
    assert (high > low).all()
    patches = next(refiner_samples([(frames, 1.0)], 5, workers=0))
    upright = (patches.figure > 0) & (patches.fallen == 0)
    ahead = patches.points[upright][:, :2].mean(dim=1) - patches.points[upright][:, 2:4].mean(dim=1)
    assert (ahead[:, 0] > 0).all()
    assert 0 < float((patches.ball[:, 2] > 0).float().mean()) < 1


def test_each_patch_has_the_ball_nearest_to_its_center_or_none() -> None:
    corners = np.array([[[62.0, 40], [62, 60], [28, 60], [28, 40]], [[362.0, 40], [362, 60], [328, 60], [328, 40]]])
    transforms = patch_transform(corners)
    balls = np.array([[45.0, 50.0, 1.0], [60.0, 55.0, 2.0], [0.0, 0.0, 0.0]])
    told = balls_in_patches(balls, transforms)
    np.testing.assert_allclose(told[0], (31.5, 31.5, HARDLY_SHOWN))
    np.testing.assert_allclose(told[1], 0.0)
    assert balls_in_patches(np.zeros((0, 3)), transforms).tolist() == [[0.0] * 3] * 2


def test_a_run_on_the_processor_writes_checkpoints_that_the_next_continues_from(frames: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    first = PairRun(tmp_path / "first", device="cpu", sizes=TINY, clock=ticking())
    first.execute([(frames, 1.0)], 24.0, rate=1e-3, level=1.0, report=lines.append)
    steps = read_checkpoint(tmp_path / "first" / "refiner.slim.pt")["steps"]
    second = PairRun(tmp_path / "second", tmp_path / "first", "cpu", 2, TINY, ticking())
    second.execute([(frames, 1.0)], 24.0, rate=1e-3, level=0.35, report=lines.append)
    assert read_checkpoint(tmp_path / "second" / "refiner.pt")["steps"] > steps > 0
    assert any("detector: step" in line for line in lines)


def test_the_losses_of_a_network_fall_while_it_learns() -> None:
    torch.manual_seed(3)
    training = NetworkTraining(REFINER, torch.device("cpu"), ReplayPool(64), 16)
    shown = varied_places(16)
    training.pool.add(tuple(shown))
    losses = [{name: float(part) for name, part in training.learn(3e-3).items()} for _ in range(40)]
    for name in ("off_px", "turn", "figure", "ball"):
        early, late = (np.mean([each[name] for each in part]) for part in (losses[:5], losses[-5:]))
        assert late < 0.8 * early, f"{name}: {early:.3f}, then {late:.3f}"


def varied_places(count: int) -> PatchSamples:
    """Patches with a bright base, whose darker half is its rear; every fourth shows none."""
    patches = some_patches(count)
    figure = (torch.arange(count) % 4 > 0).float()
    flip = (torch.arange(count) % 2).float()
    image = patches.image.clone()
    for number in range(count):
        if figure[number] > 0:
            image[number, 22:43, 15:50] = 240
            image[number, 22:43, 32:50] = 40 if flip[number] else 240
            image[number, 22:43, 15:32] = 240 if flip[number] else 40
    ball = patches.ball * figure[:, None]
    return patches._replace(image=image, figure=figure, flip=flip, ball=ball)


def contributed_set(out: Path) -> Path:
    """Write a data set of one picture of a real table, with one labeled figure and an unsure place."""
    image = np.full((360, 480, 3), 70, np.uint8)
    cv2.rectangle(image, (200, 150), (260, 186), (230, 230, 230), -1)
    path = out / "images" / "train" / "0123456789abcdef-a.png"
    path.parent.mkdir(parents=True)
    cv2.imwrite(str(path), image)
    corners = np.array([[260, 150, 2], [260, 186, 2], [200, 186, 2], [200, 150, 2], [235, 168, 2]], float)
    boxes = np.array([[195.0, 140, 265, 190]])
    write_objects(labels_of(path), Objects(np.array([float(UPRIGHT)]), boxes, corners[None]), (480, 360))
    unsure_path_of(path).parent.mkdir(parents=True)
    np.save(unsure_path_of(path), np.array([[100.0, 100.0]], np.float32))
    assert labeled_images_of(out, "train") == [path]
    return out


def test_of_a_contributed_picture_no_patch_says_that_it_shows_no_ball(tmp_path: Path) -> None:
    real = contributed_set(tmp_path / "contributed")
    patches = next(refiner_samples([(real, 1.0)], 5, workers=0))
    assert int(patches.figure.sum()) > 0
    assert (patches.ball[:, 2] > 0).all(), "its own ball has no label, so it may be anywhere"


def test_contributed_pictures_have_their_share_of_the_patches() -> None:
    def batches(shade: int, size: int) -> Any:
        while True:
            patches = some_patches(size)
            yield patches._replace(image=torch.full_like(patches.image, shade))

    mixed = with_real_tables(batches(0, 8), batches(1, 3), 0.25)
    shown = [next(mixed).image for _ in range(200)]
    counts = [sum(len(each) for each in shown if int(each.max()) == real) for real in (0, 1)]
    assert counts[1] / counts[0] == pytest.approx(0.25, abs=0.03)


def test_a_run_learns_from_contributed_pictures_beside_its_own(
    frames: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[Any] = []
    sets = tmp_path / "sets"
    sets.mkdir()
    contributed_set(sets / "contributed")
    monkeypatch.setattr(
        PairRun, "execute", lambda _run, sources, *_times, **rest: learned.append((sources, rest["real"]))
    )
    share = read_recipe().contributed_share
    call = ["pair", str(sets), "--runs", str(tmp_path / "runs"), "--seconds", "2"]
    assert CliRunner().invoke(app, call).exit_code == 0
    (sets / "compositor").symlink_to(frames)
    assert CliRunner().invoke(app, call).exit_code == 0
    (traced, real), (drawn, again) = learned
    assert (traced, real, again) == (None, [(sets / "contributed", share)], real)
    assert [folder.name for folder, _ in drawn] == ["compositor"]


def test_the_refiner_of_a_run_sees_contributed_pictures(frames: Path, tmp_path: Path) -> None:
    real = contributed_set(tmp_path / "contributed")
    run = PairRun(tmp_path / "run", device="cpu", sizes=TINY, clock=ticking())
    crops, patches = run._samples([(frames, 1.0)], [(real, 1.0)], TINY, torch.device("cpu"))
    unknown = [(PatchSamples(*next(patches)).ball[:, 2] > 0).all() for _ in range(3)]
    assert any(unknown), "only patches of contributed pictures all have an unknown ball"
    assert not all(unknown)
    assert len(next(crops)[0])


def test_a_device_that_is_not_there_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="no device 'gpu'"):
        chosen_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device"):
            chosen_device("cuda")


def test_the_command_refuses_a_resume_folder_without_checkpoints(frames: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text((Path(__file__).parents[2] / "training" / "recipe.toml").read_text())
    sets = tmp_path / "sets"
    sets.mkdir()
    for name in ("compositor", "mujoco", "photoreal", "strewn", "fallen"):
        (sets / name).symlink_to(frames)
    result = CliRunner().invoke(
        app, ["pair", str(sets), "--runs", str(tmp_path / "runs"), "--seconds", "2", "--resume", str(tmp_path / "none")]
    )
    assert isinstance(result.exception, InputError), result.output


def test_exported_graphs_give_what_the_networks_give(tmp_path: Path) -> None:
    import onnx

    torch.manual_seed(1)
    pictures = np.random.default_rng(0).integers(0, 256, (1, 64, 64, 3), dtype=np.uint8)
    shades = torch.from_numpy(pictures[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    for network, graph, name in (
        (RefinerNetwork(), RefinerGraph, "patches"),
        (DetectorNetwork(), DetectorGraph, "frame"),
    ):
        network.eval()
        with torch.no_grad():
            parts = network(shades)
        file = tmp_path / f"{name}.onnx"
        export_onnx(graph(network), (1, 64, 64, 3), file, names=(name, "output"), any_batch=name == "patches")
        output = open_network(file, "onnxruntime", size_px=(64, 64), threads=1, precision="fp32").run(pictures)
        if name == "patches":
            np.testing.assert_allclose(output, torch.cat(parts, dim=1).numpy(), atol=2e-3)
        exact = after_last_convolutions(onnx.load(str(file)))
        kinds = {node.name: node.op_type for node in onnx.load(str(file)).graph.node}
        assert "Conv" not in {kinds[each] for each in exact}
        assert exact
