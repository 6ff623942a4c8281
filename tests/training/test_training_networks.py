"""The two networks of training: outputs read as the runtime reads them, losses, replayed samples, checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from downfield.core.errors import InputError  # noqa: E402
from downfield.models.frame_detector import CHANNELS  # noqa: E402
from downfield.training.data.samples import (  # noqa: E402
    BALL,
    MOST_OBJECTS,
    UPRIGHT,
    FrameSamples,
    PatchSamples,
    frame_samples,
    relight,
    turn_frames,
    turn_patches,
)
from downfield.training.export.onnx import YoloGraph  # noqa: E402
from downfield.training.keep.network_training import DETECTOR, REFINER, NetworkKind, NetworkTraining, ReplayPool  # noqa: E402
from downfield.training.networks.blocks import fused  # noqa: E402
from downfield.training.networks.checkpoints import load_weights, open_average, read_checkpoint, write_checkpoint  # noqa: E402
from downfield.training.networks.refiner import RefinerNetwork, known_ball_loss, refiner_loss  # noqa: E402
from downfield.training.networks.yolo_detector import new_yolo_detector, yolo_batch  # noqa: E402

CHECKPOINTS = Path(__file__).parents[2] / "training" / "checkpoints"
SIDE = 96
BASE = torch.tensor([[14.0, -8.0], [14.0, 8.0], [-14.0, 8.0], [-14.0, -8.0], [3.0, 0.0]])


def frames_of(kind: int, at: tuple[float, float]) -> FrameSamples:
    """One gray picture with one object."""
    points = torch.zeros(1, 1, 5, 3)
    points[0, 0, :, :2], points[0, 0, :, 2] = torch.tensor(at) + BASE, 2.0
    if kind == BALL:
        points[0, 0, :4, 2] = 0
        points[0, 0, 4, :2] = torch.tensor(at)
    boxes = torch.tensor([[[at[0] - 16, at[1] - 10, at[0] + 16, at[1] + 10]]])
    image = torch.full((1, SIDE, SIDE, 3), 90, dtype=torch.uint8)
    return FrameSamples(image, torch.tensor([[kind]]), points, boxes, torch.ones(1, 1))


def patch_of(ball: tuple[float, float, float] = (40.0, 20.0, 1.0)) -> PatchSamples:
    points = torch.tensor([[49.0, 22], [49, 42], [15, 42], [15, 22], [36, 30]])[None]
    ones = torch.ones(1)
    image = torch.full((1, 64, 64, 3), 90, dtype=torch.uint8)
    return PatchSamples(image, points, torch.full((1, 5), 2.0), 0 * ones, 0 * ones, ones, torch.tensor([ball]))


def test_the_ball_is_trained_to_be_the_mean_of_its_cells_and_nowhere_where_there_is_none() -> None:
    outputs, heat = torch.zeros(1, 23), torch.full((1, 256), -12.0)
    there = heat.clone()
    there.view(16, 16)[20 // 4, 40 // 4] = 6.0
    seen, none = patch_of(), patch_of((0.0, 0.0, 0.0))
    assert float(refiner_loss(outputs, there, seen)[1]["ball"]) < float(refiner_loss(outputs, heat, seen)[1]["ball"])
    assert float(refiner_loss(outputs, there, none)[1]["ball"]) > float(refiner_loss(outputs, heat, none)[1]["ball"])


def test_a_figure_that_is_entirely_hidden_is_not_trained() -> None:
    truth = patch_of()._replace(flags=torch.ones(1, 5))
    outputs = torch.randn(1, 23, requires_grad=True)
    loss, _ = refiner_loss(outputs, torch.full((1, 256), -6.0), truth)
    loss.backward()
    assert float(outputs.grad.abs().max()) == 0.0


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_keypoints_turn_with_their_picture(quarters: int, mirrored: bool) -> None:
    truth = frames_of(UPRIGHT, (40.0, 30.0))
    image = truth.image.clone()
    for k, (x, y) in enumerate(truth.points[0, 0, :, :2].int().tolist()):
        image[0, y, x] = 100 + 20 * k
    turned = turn_frames(truth._replace(image=image), quarters, mirrored=mirrored)
    order = (1, 0, 3, 2, 4) if mirrored else (0, 1, 2, 3, 4)
    for k, (x, y) in enumerate(turned.points[0, 0, :, :2].int().tolist()):
        assert int(turned.image[0, y, x, 0]) == 100 + 20 * order[k]
    left, top, right, bottom = turned.boxes[0, 0].tolist()
    inside = (turned.points[0, 0, :, :2] >= torch.tensor([left, top])).all()
    assert inside
    assert (turned.points[0, 0, :, :2] <= torch.tensor([right, bottom])).all()


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_patch_turns_with_its_corners_its_ball_and_its_front(rotated: bool, mirrored: bool) -> None:
    truth = patch_of()
    image = truth.image.clone()
    image[0, 20, 40] = 255
    for k, (x, y) in enumerate(truth.points[0].int().tolist()):
        image[0, y, x] = 100 + 20 * k
    turned = turn_patches(truth._replace(image=image), rotated=rotated, mirrored=mirrored)
    x, y = (int(value) for value in turned.ball[0, :2])
    assert int(turned.image[0, y, x, 0]) == 255
    order = {(False, False): (0, 1, 2, 3), (True, False): (2, 3, 0, 1), (False, True): (1, 0, 3, 2)}
    mapped = order.get((rotated, mirrored), (3, 2, 1, 0))
    for k, (x, y) in enumerate(turned.points[0, :4].int().tolist()):
        assert int(turned.image[0, y, x, 0]) == 100 + 20 * mapped[k]
    ahead = turned.points[0, :2].mean(dim=0) - turned.points[0, 2:4].mean(dim=0)
    assert float(ahead[0]) > 0, "the patch's order has the front at the right"
    assert float(turned.flip) == float(rotated)


def test_some_pictures_stay_as_they_are_and_none_leaves_its_range() -> None:
    torch.manual_seed(0)
    image = torch.randint(0, 256, (64, 8, 8, 3), dtype=torch.uint8)
    lit = relight(image)
    same = ((lit * 255).round().to(torch.uint8) == image).all(dim=3).all(dim=2).all(dim=1)
    assert 0.2 < float(same.float().mean()) < 0.7
    assert 0 <= float(lit.min()) <= float(lit.max()) <= 1


def test_objects_are_padded_to_one_number_and_no_place_is_nan() -> None:
    truth = frames_of(UPRIGHT, (40.0, 30.0))
    points = torch.cat([torch.full((1, 1, 5, 3), float("nan")), truth.points], dim=1)
    kinds = torch.cat([torch.full((1, 1), -1), truth.kinds], dim=1)
    padded = frame_samples((truth.image, kinds, points, truth.boxes.repeat(1, 2, 1), truth.shown.repeat(1, 2)))
    assert padded.kinds.shape == (1, MOST_OBJECTS)
    assert padded.kinds[0, :2].tolist() == [UPRIGHT, -1]
    assert bool(padded.points.isfinite().all())


def test_the_pool_drops_the_oldest_and_draws_from_all_it_holds() -> None:
    pool = ReplayPool(6, mixed=4)
    for number in range(4):
        pool.add((torch.full((2,), number),))
    assert len(pool) == 6
    drawn = torch.cat([pool.draw(8)[0] for _ in range(20)])
    assert set(drawn.tolist()) == {1, 2, 3}
    assert len(pool.draw(5)[0]) == 5


def test_the_checkpoints_in_the_repository_open_and_are_small(tmp_path: Path) -> None:
    detector, refiner = open_average(new_yolo_detector(), CHECKPOINTS / "detector.pt"), RefinerNetwork()
    load_weights(refiner, read_checkpoint(CHECKPOINTS / "refiner.pt")["average"], CHECKPOINTS / "refiner.pt")
    assert list(detector.names.values()) == ["upright", "fallen", "ball", "hand"]
    head = YoloGraph(detector)(torch.zeros(1, 64, 96, 3, dtype=torch.uint8))
    assert head.shape == (1, CHANNELS, 8 * 12)
    patches = torch.rand(3, 3, 64, 64)
    outputs, heat = refiner.eval()(patches)
    assert (outputs.shape, heat.shape) == ((3, 23), (3, 256))
    same, _ = fused(refiner)(patches)
    torch.testing.assert_close(same, outputs, atol=1e-4, rtol=1e-4)
    kept = tmp_path / "again.pt"
    write_checkpoint(kept, {"average": refiner.state_dict(), "steps": 3})
    assert kept.stat().st_size < 4_500_000


def test_a_checkpoint_of_another_network_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another network"):
        open_average(new_yolo_detector(), CHECKPOINTS / "refiner.pt")
    junk = tmp_path / "junk"
    junk.write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match="junk: not a checkpoint"):
        open_average(RefinerNetwork(), junk)
    torch.save({"other": 1}, junk)
    with pytest.raises(InputError, match="junk: not a checkpoint"):
        open_average(RefinerNetwork(), junk)
    with pytest.raises(InputError, match="no such file"):
        open_average(RefinerNetwork(), tmp_path / "none.pt")


def test_a_network_with_more_blocks_begins_where_the_smaller_one_stood() -> None:
    network = RefinerNetwork()
    kept = {name: each for name, each in network.state_dict().items() if not name.startswith("at_8.2.")}
    other = RefinerNetwork()
    load_weights(other, kept, Path("fewer.pt"))
    torch.testing.assert_close(other.state_dict()["at_8.0.0.weight"], network.state_dict()["at_8.0.0.weight"])
    with pytest.raises(InputError, match="another network"):
        load_weights(new_yolo_detector(), kept, Path("refiner.pt"))


def test_objects_reach_the_detectors_loss_where_they_are_and_empty_rows_do_not() -> None:
    frames = frame_samples(tuple(part.repeat(2, *[1] * (part.ndim - 1)) for part in frames_of(UPRIGHT, (40.0, 30.0))))
    batch = yolo_batch(frames)
    assert batch["img"].shape == (2, 3, SIDE, SIDE)
    assert batch["batch_idx"].tolist() == [0.0, 1.0]
    left, top, right, bottom = frames.boxes[0, 0].tolist()
    middle = ((left + right + 1) / 2 / SIDE, (top + bottom + 1) / 2 / SIDE)
    torch.testing.assert_close(
        batch["bboxes"][0], torch.tensor([*middle, (right - left) / SIDE, (bottom - top) / SIDE])
    )
    torch.testing.assert_close(batch["keypoints"][1, 0, :2], (frames.points[1, 0, 0, :2] + 0.5) / SIDE)


@pytest.mark.parametrize("kind", [DETECTOR, REFINER])
def test_some_steps_on_the_same_samples_lower_the_loss(kind: NetworkKind) -> None:
    torch.manual_seed(0)
    sample = frame_samples(tuple(frames_of(UPRIGHT, (43.5, 43.5)))) if kind == DETECTOR else patch_of()
    training = NetworkTraining(kind, ReplayPool(8), 8)
    training.pool.add(tuple(sample))
    losses = [sum(float(part) for part in training.learn(2e-3).values()) for _ in range(24)]
    assert sum(losses[-6:]) < 0.9 * sum(losses[:6])  # each step sees the samples varied at random anew


def test_the_detector_learns_the_balls_that_it_can_see() -> None:
    """One lies free, one is in a figure's arm, one is nearly hidden."""
    kinds = torch.full((1, 4), -1)
    boxes = torch.zeros(1, 4, 4)
    shown = torch.ones(1, 4)
    kinds[0] = torch.tensor([0, 2, 2, 2])
    boxes[0] = torch.tensor([[40.0, 40, 80, 80], [10, 10, 24, 24], [60, 60, 74, 74], [100, 10, 114, 24]])
    shown[0, 3] = 0.1
    image = torch.zeros((1, 160, 160, 3), dtype=torch.uint8)
    batch = yolo_batch(FrameSamples(image, kinds, torch.zeros(1, 4, 5, 3), boxes, shown))
    assert batch["cls"][:, 0].tolist() == [0.0, 2.0]
    torch.testing.assert_close(160 * batch["bboxes"][1], torch.tensor([17.5, 17.5, 14.0, 14.0]))


def test_a_ball_whose_place_is_known_from_another_network_is_learned_as_that_one_has_it() -> None:
    known = torch.full((2, 256), -20.0)
    known[0, 17] = 6.0
    assert known_ball_loss(known, known) < known_ball_loss(torch.full((2, 256), -6.0), known)
