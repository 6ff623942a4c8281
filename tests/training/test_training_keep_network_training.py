"""A network in training: it learns, and goes on where it was from its checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from downfield.core.errors import InputError  # noqa: E402
from downfield.training.data.samples import PatchSamples  # noqa: E402
from downfield.training.keep.network_training import DETECTOR, REFINER, NetworkTraining, ReplayPool  # noqa: E402
from downfield.training.networks.checkpoints import slim_checkpoint  # noqa: E402


def some_patches(count: int = 8) -> PatchSamples:
    points = torch.tensor([[49.0, 22], [49, 42], [15, 42], [15, 22], [36, 30]]).repeat(count, 1, 1)
    ones, image = torch.ones(count), torch.full((count, 64, 64, 3), 90, dtype=torch.uint8)
    ball = torch.tensor([[40.0, 20.0, 1.0]]).repeat(count, 1)
    return PatchSamples(image, points, torch.full((count, 5), 2.0), 0 * ones, 0 * ones, ones, ball)


def a_training(steps: int = 0) -> NetworkTraining:
    torch.manual_seed(0)
    training = NetworkTraining(REFINER, ReplayPool(64), 4)
    training.pool.add(tuple(some_patches()))
    for _ in range(steps):
        training.learn(1e-3)
    return training


def test_an_interrupted_run_continues_where_it_was(tmp_path: Path) -> None:
    training = a_training(3)
    training.save(tmp_path)
    again = a_training()
    again.resume(tmp_path / "refiner.pt")
    assert again.steps == 3
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
        NetworkTraining(DETECTOR, ReplayPool(4), 2).resume(tmp_path / "slim.pt")


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


def test_the_losses_of_a_network_fall_while_it_learns() -> None:
    torch.manual_seed(3)
    training = NetworkTraining(REFINER, ReplayPool(64), 16)
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
