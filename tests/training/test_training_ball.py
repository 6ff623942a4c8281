"""Training the networks for the ball: what they are asked is true, and what they learned survives an export.

Needs torch and ultralytics: `make test-training` runs it in an environment of its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from made_sets import make_pair
from numpy.typing import NDArray
from training_frames import Shifted

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")


from downfield.core.arrays import Image  # noqa: E402
from downfield.core.errors import InputError  # noqa: E402
from downfield.models.ball_detection import CELLS, BallDetector  # noqa: E402
from downfield.models.refiner import from_units  # noqa: E402
from downfield.models.runtime import open_network  # noqa: E402
from downfield.models.two_stage_detector import TwoStageDetector  # noqa: E402
from downfield.training.data.ball_pictures import (  # noqa: E402
    BALL_CELL_PX,
    BALL_PATCHES_PER_FRAME,
    BallPatches,
    ball_patches_of,
    crops_of,
)
from downfield.training.data.labeled_frames import (  # noqa: E402
    ball_guesses_of,
    guesses_of,
    labeled_images_of,
    make_guesses,
    read_frame,
)
from downfield.training.data.objects import Objects  # noqa: E402
from downfield.training.data.patches import collate_patches  # noqa: E402
from downfield.training.data.variation import recolor  # noqa: E402
from downfield.training.export.onnx import PictureGraph, export_onnx, quantize  # noqa: E402
from downfield.training.networks.ball import (  # noqa: E402
    BallDetectorNetwork,
    BallRefinerNetwork,
    ball_detector_loss,
    ball_refiner_loss,
)
from downfield.training.networks.checkpoints import open_average  # noqa: E402
from downfield.training.runs.trainer import TASKS, save_state, train  # noqa: E402


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_pair(out, "train", 3)
    return out


def _board_with_balls(*middles: tuple[float, float]) -> tuple[Image, Objects]:
    """A green picture with a red figure's base, and red balls of 12 pixels."""
    image = np.full((700, 900, 3), (60, 120, 50), dtype=np.uint8)
    points = np.zeros((1 + len(middles), 5, 3))
    points[0, :4, :2] = [[315, 291], [315, 309], [285, 309], [285, 291]]
    points[0, :4, 2] = 2
    for row, (x, y) in enumerate(middles, 1):
        cv2.circle(image, (round(x), round(y)), 6, (0, 0, 255), -1)
        points[row, 4] = x, y, 2
    boxes = np.concatenate([points[:, 4, :2] - 6, points[:, 4, :2] + 6], axis=1)
    boxes[0] = 285, 291, 315, 309
    return image, Objects(np.array([0.0] + [2.0] * len(middles)), boxes, points)


def test_a_ball_is_asked_for_where_it_is_in_a_crop() -> None:
    image, objects = _board_with_balls((420.0, 250.0), (480.0, 300.0))
    asked = 0
    for seed in range(12):
        batch = crops_of(image, objects, np.random.default_rng(seed), np.zeros((0, 2)))
        for crop in range(len(batch["img"])):
            rows, columns = np.nonzero(batch["ball"][crop].numpy())
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
                right, down = batch["place"][crop, :, row, column].tolist()
                x, y = (BALL_CELL_PX * (column + 0.5 + right) - 0.5, BALL_CELL_PX * (row + 0.5 + down) - 0.5)
                if min(x, y) < 4 or max(x, y) > batch["img"].shape[3] - 5:
                    continue
                asked += 1
                red, green = (int(batch["img"][crop, color, round(y), round(x)]) for color in (0, 1))
                assert red > green, f"seed {seed}: no ball at {x:.0f}, {y:.0f} of crop {crop}"
                assert batch["known"][crop, row, column] == batch["placed"][crop, row, column] == 1
    assert asked > 40


def test_of_a_ball_that_need_not_be_seen_nothing_is_asked() -> None:
    image, objects = _board_with_balls((420.0, 250.0))
    batch = crops_of(image, objects, np.random.default_rng(3), np.array([[420.0, 250.0]]))
    assert float(batch["ball"].sum()) == 0
    assert 0 < float((1 - batch["known"]).sum()) < 30 * len(batch["img"])


def test_the_ball_detector_s_loss_is_least_at_the_truth() -> None:
    image, objects = _board_with_balls((420.0, 250.0))
    batch = crops_of(image, objects, np.random.default_rng(4), np.zeros((0, 2)))
    right = torch.cat([12 * batch["ball"][:, None] - 6, batch["place"]], dim=1)
    elsewhere = torch.cat([right[:, :1].roll(3, dims=2), right[:, 1:]], dim=1)
    aside = torch.cat([right[:, :1], right[:, 1:] + 0.2], dim=1)
    loss = float(ball_detector_loss(right, batch)[0])
    assert loss < float(ball_detector_loss(elsewhere, batch)[0])
    assert loss < float(ball_detector_loss(aside, batch)[0])


def test_a_trained_ball_detector_gives_the_same_when_exported(frames: Path, tmp_path: Path) -> None:
    state = TASKS["ball-detector"].new_state()
    train(TASKS["ball-detector"], state, [(frames, 1.0)], 96)
    assert state.seen == 96
    save_state(state, tmp_path / "ball-detector.pt")
    size_px = (320, 176)
    graph = PictureGraph(open_average(BallDetectorNetwork(), tmp_path / "ball-detector.pt"))
    shape = (1, size_px[1], size_px[0], 3)
    export_onnx(graph, shape, tmp_path / "ball.onnx", names=("frame", "cells"), any_batch=False)
    opened = open_network(tmp_path / "ball.onnx", "openvino", size_px=size_px, threads=1, precision="fp32")
    picture = np.random.default_rng(5).integers(0, 255, (1, size_px[1], size_px[0], 3), dtype=np.uint8)
    taken = torch.from_numpy(picture[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255)
    said = state.average.ema.eval()(taken).detach().numpy()
    np.testing.assert_allclose(opened.run(picture), said, atol=2e-3)


def test_a_ball_is_asked_for_where_it_is_in_a_patch_and_nothing_where_it_hardly_shows() -> None:
    image, objects = _board_with_balls((306.0, 300.0), (420.0, 250.0))
    unasked = []
    for hidden in (False, True):
        objects.points[1, 4, 2] = 1 if hidden else 2
        batch = ball_patches_of(image, objects, np.random.default_rng(2), plain=True)
        assert len(batch["img"]) <= BALL_PATCHES_PER_FRAME
        assert 0 < float(batch["ball"].sum()) < len(batch["img"])
        for patch in np.flatnonzero(batch["ball"].numpy()):
            x, y = np.rint(from_units(batch["ball_place"][patch].numpy())).astype(int).tolist()
            red, green = (int(batch["img"][patch, color, y, x]) for color in (0, 1))
            assert red > green, f"no ball at {x}, {y} of patch {patch}"
        unasked.append(int(((batch["ball_known"] == 0) & (batch["ball"] == 0)).sum()))
    assert unasked[0] < unasked[1], "the ball that hardly shows is in the figure's own patch"


def test_under_other_light_a_ball_keeps_its_color_where_that_is_asked_for() -> None:
    brown = np.full((64, 64, 3), (35, 60, 110), dtype=np.uint8)

    def hues(*, faithful: bool) -> NDArray[np.float64]:
        lit = [recolor(brown, np.random.default_rng(seed), faithful=faithful).mean(axis=(0, 1)) for seed in range(60)]
        hsv = cv2.cvtColor(np.array([lit], dtype=np.float32) / 255, cv2.COLOR_BGR2HSV)
        return np.abs((hsv[0, :, 0] - 20 + 180) % 360 - 180).astype(np.float64)

    assert np.percentile(hues(faithful=True), 90) < 12 < np.percentile(hues(faithful=False), 80)


def test_false_balls_are_shown_first_with_the_truth(frames: Path, tmp_path: Path) -> None:
    class Hopeful:
        """A ball detector's network that takes the middle of every picture for the ball."""

        name, size_px = "hopeful", (256, 144)

        def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
            cells = np.full((len(pictures), 3, 18, 32), -9.0, np.float32)
            cells[:, :, 9, 16] = 3.0, -0.5, -0.5  # a cell's upper left corner
            return cells

    guessed = tmp_path / "guessed"
    shutil.copytree(frames, guessed)
    make_guesses(TwoStageDetector(Shifted(guessed), Hopeful(), ball_detector=BallDetector(Hopeful())), guessed)
    path = labeled_images_of(guessed, "train")[0]
    image = read_frame(path)
    about = ball_guesses_of(path)
    assert about is not None
    np.testing.assert_allclose(about.mean(axis=1), [(image.shape[1] / 2 - 0.5, image.shape[0] / 2 - 0.5)], atol=1e-3)
    assert guesses_of(path) is not None
    assert ball_guesses_of(labeled_images_of(frames, "train")[0]) is None
    plain, objects = _board_with_balls((420.0, 250.0))
    for middle, there in (((420.0, 250.0), 1.0), ((600.0, 500.0), 0.0)):
        base = np.array([[[15.0, -9], [15, 9], [-15, 9], [-15, -9]]]) + middle
        batch = ball_patches_of(plain, objects, np.random.default_rng(2), plain=True, taken_for_ball=base)
        row = 0 if there else int((batch["ball"] > 0).sum())
        assert float(batch["ball"][row]) == there
        assert (np.abs(batch["ball_place"][row].numpy()) < 0.15).all() or not there


def test_balls_that_hardly_show_are_known_from_the_data_set(frames: Path) -> None:
    stream = BallPatches([(frames, 1.0)], "train", seed=1)
    batch = collate_patches([stream[i] for i in range(6)])
    assert len(batch["img"]) <= 6 * BALL_PATCHES_PER_FRAME
    assert set(batch["ball"].unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(stream[3]["img"], BallPatches([(frames, 1.0)], "train", seed=1)[3]["img"])


def test_the_ball_refiner_s_loss_is_least_at_the_truth() -> None:
    image, objects = _board_with_balls((306.0, 300.0))
    batch = ball_patches_of(image, objects, np.random.default_rng(4))
    column, row = ((batch["ball_place"] + 1) * CELLS / 2 - 0.5).round().long().unbind(dim=1)
    right = torch.full((len(batch["img"]), CELLS**2), -8.0)
    right.scatter_(1, (row * CELLS + column).clamp(0, CELLS**2 - 1)[:, None], (16 * batch["ball"] - 8)[:, None])
    elsewhere = right.roll(5, dims=1)
    loss = float(ball_refiner_loss(right, batch)[0])
    assert loss < float(ball_refiner_loss(elsewhere, batch)[0])
    assert loss < float(ball_refiner_loss(torch.full_like(right, -8.0), batch)[0])


def _export_ball_refiner(checkpoint: Path, out: Path) -> None:
    graph = PictureGraph(open_average(BallRefinerNetwork(), checkpoint))
    export_onnx(graph, (1, 64, 64, 3), out, names=("patches", "said"), any_batch=True)


def test_a_trained_ball_refiner_gives_the_same_when_exported(frames: Path, tmp_path: Path) -> None:
    state = TASKS["ball-refiner"].new_state()
    train(TASKS["ball-refiner"], state, [(frames, 1.0)], 64)
    assert state.seen == 64
    save_state(state, tmp_path / "ball-refiner.pt")
    _export_ball_refiner(tmp_path / "ball-refiner.pt", tmp_path / "close.onnx")
    opened = open_network(tmp_path / "close.onnx", "openvino", size_px=(64, 64), threads=1, precision="fp32")
    picture = np.random.default_rng(5).integers(0, 255, (1, 64, 64, 3), dtype=np.uint8)
    taken = torch.from_numpy(picture[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255)
    np.testing.assert_allclose(opened.run(picture), state.average.ema.eval()(taken).detach().numpy(), atol=2e-3)


def test_a_quantized_ball_refiner_gives_nearly_the_same(tmp_path: Path) -> None:
    torch.manual_seed(6)
    save_state(TASKS["ball-refiner"].new_state(), tmp_path / "ball-refiner.pt")
    full, small = tmp_path / "close.onnx", tmp_path / "close.int8.onnx"
    _export_ball_refiner(tmp_path / "ball-refiner.pt", full)
    rng = np.random.default_rng(6)
    pictures = [rng.integers(0, 255, (1, 64, 64, 3), dtype=np.uint8) for _ in range(20)]
    quantize(full, small, pictures)
    assert small.stat().st_size < full.stat().st_size / 2
    said, nearly = (
        open_network(path, "openvino", size_px=(64, 64), threads=1, precision="fp32").run(np.concatenate(pictures))
        for path in (full, small)
    )
    assert np.abs(nearly - said).mean() < 0.25 * said.std()


def test_a_checkpoint_of_another_network_is_refused_by_name(tmp_path: Path) -> None:
    save_state(TASKS["figure-refiner"].new_state(), tmp_path / "second.pt")
    with pytest.raises(InputError, match=r"second\.pt: The weights belong to another network"):
        open_average(BallDetectorNetwork(), tmp_path / "second.pt")
