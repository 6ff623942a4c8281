"""Training: what is cut from frames is true, one step learns, a sitting goes on where the last one ended.

Needs torch and ultralytics: `make test-training` runs it in an environment of its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from typer.testing import CliRunner  # noqa: E402

from downfield.calibration.errors import InputError  # noqa: E402
from downfield.models.ball_look import BallLook  # noqa: E402
from downfield.models.detection import Detection  # noqa: E402
from downfield.models.detector import Image  # noqa: E402
from downfield.models.network import open_network  # noqa: E402
from downfield.models.patch import from_units  # noqa: E402
from downfield.models.second_look import SecondLook as LookAgain  # noqa: E402
from downfield.models.training.augment import recolour  # noqa: E402
from downfield.models.training.ball_crops import CELL_PX, crops_of  # noqa: E402
from downfield.models.training.ball_look_run import BALL_LOOK, ball_look_loss  # noqa: E402
from downfield.models.training.ball_patches import PER_ITEM, BallPatches, ball_patches_of  # noqa: E402
from downfield.models.training.close_look import CELLS  # noqa: E402
from downfield.models.training.close_look_run import CLOSE_LOOK, close_look_loss  # noqa: E402
from downfield.models.training.commands import app  # noqa: E402
from downfield.models.training.crops import CROP_PX, CropStream, cut, read_small  # noqa: E402
from downfield.models.training.export import export_ball_look, export_close_look  # noqa: E402
from downfield.models.training.first_look import FIRST_LOOK, save_weights  # noqa: E402
from downfield.models.training.guesses import ball_guesses_of, guesses_of, make_guesses  # noqa: E402
from downfield.models.training.labelled_frames import Objects, frames_of, labels_of, read_frame, read_objects  # noqa: E402
from downfield.models.training.learner import learn, load_learner, save_learner  # noqa: E402
from downfield.models.training.patches import PatchStream, collate_patches, patches_of  # noqa: E402
from downfield.models.training.recipe import read_recipe  # noqa: E402
from downfield.models.training.second_look import FLIP, OUTPUTS, SecondLook  # noqa: E402
from downfield.models.training.second_look_run import SECOND_LOOK, second_look_loss  # noqa: E402
from downfield.models.training.shadows import cast_hard_shadows  # noqa: E402
from downfield.twin.sets.dataset import Recipe, make_dataset  # noqa: E402


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_dataset(out, Recipe(split="train", seed=3, per_table=2), 2)
    return out


def _signed_area(corners: np.ndarray) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def test_a_crop_keeps_the_order_of_corners_however_it_is_turned_and_mirrored(frames: Path) -> None:
    small, objects = read_small(frames_of(frames, "train")[0])
    rng = np.random.default_rng(0)
    seen = 0
    for _ in range(20):
        image, cropped = cut(small, objects, rng)
        assert image.shape == (CROP_PX, CROP_PX, 3)
        for points in cropped.points[cropped.kinds == 0]:
            if (points[:4, 2] > 0).all():
                seen += 1
                # Front-left, front-right, rear-right, rear-left run clockwise in a picture, where y points down.
                assert _signed_area(points[:4, :2]) > 0
    assert seen > 20


def test_boxes_of_a_crop_lie_inside_it_and_hold_their_corners(frames: Path) -> None:
    for item in range(6):
        for crop in CropStream([(frames, 1.0)], "train", seed=5)[item]:
            boxes, points = crop["bboxes"].numpy(), crop["keypoints"].numpy()
            low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
            assert (low > -1e-5).all()
            assert (high < 1 + 1e-5).all()
            seen = (points[:, :4, 2] > 0) & (crop["cls"].numpy() == 0)
            slack = 2.5 / CROP_PX  # corners are those of the sharp rectangle, boxes those of the rounded base
            inside = (points[:, :4, :2] > low[:, None] - slack) & (points[:, :4, :2] < high[:, None] + slack)
            assert inside.all(axis=2)[seen].all()


def test_items_of_a_stream_are_a_function_of_seed_and_index(frames: Path) -> None:
    one, same, other = (CropStream([(frames, 1.0)], "train", seed=seed)[4] for seed in (1, 1, 2))
    assert torch.equal(one[0]["img"], same[0]["img"])
    assert not torch.equal(one[0]["img"], other[0]["img"])


def test_patches_show_the_front_to_the_right_or_say_that_it_is_not(frames: Path) -> None:
    batch = collate_patches([PatchStream([(frames, 1.0)], "train", seed=6, plain=True)[i] for i in range(4)])
    upright = (batch["figure"] > 0) & (batch["fallen"] == 0)
    corners = batch["points"][upright][:, :4]
    ahead = corners[:, :2].mean(dim=1) - corners[:, 2:].mean(dim=1)
    assert (ahead[:, 0] > 0).all()
    assert 0.2 < float(batch["flip"][upright].mean()) < 0.8
    assert 0 < float(batch["figure"].mean()) < 1


def test_bases_are_shown_longer_and_wider_than_they_are_with_what_is_true_of_them() -> None:
    half = np.array([[21.0, -12.5], [21, 12.5], [-21, 12.5], [-21, -12.5]])
    turns = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    points, image = np.zeros((12, 5, 3)), np.full((300, 1000, 3), 40, np.uint8)
    for k, turn in enumerate(turns):
        turned = half @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        points[k, :4, :2] = turned + np.array([100 + 160 * (k % 6), 80 + 140 * (k // 6)])
        points[k, 4, :2] = points[k, :4, :2].mean(axis=0)
        cv2.fillPoly(image, [np.round(points[k, :4, :2] * 16).astype(np.int32)], (200, 200, 200), cv2.LINE_AA, 4)
    points[..., 2] = 2
    batch = patches_of(image, Objects(np.zeros(12), np.zeros((12, 4)), points), np.random.default_rng(1))
    shapes = []
    for patch, corners in zip(batch["img"][:12].numpy(), from_units(batch["points"][:12, :4].numpy()), strict=True):
        grey = patch.mean(axis=0)
        mask = np.zeros(grey.shape, np.uint8)
        cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1)
        shown = np.abs(grey - np.median(grey[mask > 0])) < np.abs(grey - np.median(grey[mask == 0]))
        assert (shown & (mask > 0)).sum() > 0.88 * (shown | (mask > 0)).sum()
        ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
        aside = corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)
        assert abs(ahead @ aside) < 0.02 * np.linalg.norm(ahead) * np.linalg.norm(aside), "no longer a rectangle"
        shapes.append(np.linalg.norm(ahead) / np.linalg.norm(aside))
    assert min(shapes) < 0.96 * 42 / 25 < 1.04 * 42 / 25 < max(shapes)


class Shifted:
    """A first look that sees every upright figure a little aside, and one where there is none."""

    name = "shifted"

    def __init__(self, frames: Path) -> None:
        self._images = iter(frames_of(frames, "train"))

    def detect(self, image: Image) -> tuple[Detection, ...]:
        objects = read_objects(labels_of(next(self._images)), (image.shape[1], image.shape[0]))
        figures = [points[:4, :2] for points, kind in zip(objects.points, objects.kinds, strict=True) if kind == 0]
        length = np.linalg.norm(figures[0][:2].mean(axis=0) - figures[0][2:].mean(axis=0))
        nowhere = figures[0] - figures[0].mean(axis=0) + (60, 60)
        said = [*(corners + 0.15 * length for corners in figures), nowhere]
        return tuple(
            Detection("upright", 0.2, (0, 0, 1, 1), tuple((float(x), float(y)) for x, y in corners)) for corners in said
        )


def test_a_second_look_is_shown_what_a_first_look_guessed(frames: Path, tmp_path: Path) -> None:
    guessed = tmp_path / "guessed"
    shutil.copytree(frames, guessed)
    make_guesses(Shifted(guessed), guessed)
    for folder, few, many in ((frames, 0.0, 0.15), (guessed, 0.4, 1.0)):
        batch = collate_patches([PatchStream([(folder, 1.0)], "train", seed=8, plain=True)[i] for i in range(4)])
        upright = (batch["figure"] > 0) & (batch["fallen"] == 0)
        middles = batch["points"][upright][:, :4].mean(dim=1)
        aside = (middles.norm(dim=1) > 0.18).float().mean()  # 0.15 of a base's length is 0.22 of half a patch, diagonal
        assert few <= float(aside) <= many
    seen = guesses_of(frames_of(guessed, "train")[0])
    assert seen is not None
    np.testing.assert_allclose(seen[-1].mean(axis=0), (60, 60), atol=1e-3)
    assert guesses_of(frames_of(frames, "train")[0]) is None


def test_a_hard_lamp_darkens_the_picture_beside_figures_now_and_then(frames: Path) -> None:
    path = frames_of(frames, "train")[0]
    image = read_frame(path)
    objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
    cast = 0
    for seed in range(20):
        lit, spots = cast_hard_shadows(image, objects, np.random.default_rng(seed))
        if not len(spots):
            assert lit is image
            continue
        cast += 1
        assert (lit <= image).all()
        assert 0 < (lit < image).any(axis=2).mean() < 0.3
        inside = (spots >= 0).all(axis=1) & (spots < (image.shape[1], image.shape[0])).all(axis=1)
        x, y = spots[inside].astype(int).T
        assert (lit[y, x].sum(axis=1) < image[y, x].sum(axis=1)).mean() > 0.8
    assert 1 <= cast <= 14


def test_who_lies_is_shown_again_and_lures_are_nobody() -> None:
    image = np.full((200, 300, 3), 90, dtype=np.uint8)
    base = np.array([[15.0, -9.0], [15.0, 9.0], [-15.0, 9.0], [-15.0, -9.0], [5.0, 0.0]])
    points = np.concatenate(
        [np.stack([base + at for at in ((60, 60), (160, 60), (240, 60))]), np.full((3, 5, 1), 2.0)], 2
    )
    objects = Objects(np.array([0.0, 0.0, 1.0]), np.zeros((3, 4)), points)
    batch = patches_of(image, objects, np.random.default_rng(1), lures=np.array([[100.0, 150.0]]))
    figures = batch["figure"] > 0
    assert int(figures.sum()) == 3 + 1
    assert int((batch["fallen"] > 0).sum()) == 2
    assert float(batch["figure"][int(figures.sum())]) == 0


def test_the_second_look_s_loss_falls_with_the_truth(frames: Path) -> None:
    batch = PatchStream([(frames, 1.0)], "train", seed=7)[0]
    right = torch.zeros(len(batch["img"]), OUTPUTS)
    right[:, :10] = batch["points"].reshape(-1, 10)
    right[:, 10:15] = -3
    right[:, FLIP] = 8 * (2 * batch["flip"] - 1)
    wrong = right.clone()
    wrong[:, FLIP] *= -1
    moved = right.clone()
    moved[:, :10] += 0.1
    loss = float(second_look_loss(right, batch)[0])
    assert loss < float(second_look_loss(wrong, batch)[0])
    assert loss < float(second_look_loss(moved, batch)[0])


def test_one_step_of_the_first_look_learns_and_the_next_sitting_goes_on(frames: Path, tmp_path: Path) -> None:
    learner = FIRST_LOOK.new()
    before = {name: value.clone() for name, value in learner.model.state_dict().items()}
    checkpoint = tmp_path / "level.pt"
    learn(FIRST_LOOK, learner, [(frames, 1.0)], 32, checkpoint=checkpoint)
    assert learner.seen == 32
    moved = [name for name, value in learner.model.state_dict().items() if not torch.equal(value, before[name])]
    assert len(moved) > len(before) / 2
    again = FIRST_LOOK.new()
    load_learner(again, checkpoint)
    assert again.seen == 32
    learn(FIRST_LOOK, again, [(frames, 1.0)], 48, finish=True)
    assert again.seen == 48
    from ultralytics import YOLO

    save_weights(again, tmp_path / "first-look.pt")
    network = YOLO(str(tmp_path / "first-look.pt"))
    assert network.task == "pose"
    assert list(network.names.values()) == ["upright", "fallen", "ball", "hand"]


def test_one_step_of_the_second_look_learns_and_the_next_sitting_goes_on(frames: Path, tmp_path: Path) -> None:
    learner = SECOND_LOOK.new()
    learn(SECOND_LOOK, learner, [(frames, 1.0)], 120)
    save_learner(learner, tmp_path / "level.pt")
    again = SECOND_LOOK.new()
    load_learner(again, tmp_path / "level.pt")
    assert again.seen == learner.seen > 0
    assert SecondLook()(torch.zeros(2, 3, 64, 64)).shape == (2, OUTPUTS)


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
                x, y = (CELL_PX * (column + 0.5 + right) - 0.5, CELL_PX * (row + 0.5 + down) - 0.5)
                if min(x, y) < 4 or max(x, y) > batch["img"].shape[3] - 5:
                    continue
                asked += 1
                red, green = (int(batch["img"][crop, colour, round(y), round(x)]) for colour in (0, 1))
                assert red > green, f"seed {seed}: no ball at {x:.0f}, {y:.0f} of crop {crop}"
                assert batch["known"][crop, row, column] == batch["placed"][crop, row, column] == 1
    assert asked > 40


def test_of_a_ball_that_need_not_be_seen_nothing_is_asked() -> None:
    image, objects = _board_with_balls((420.0, 250.0))
    batch = crops_of(image, objects, np.random.default_rng(3), np.array([[420.0, 250.0]]))
    assert float(batch["ball"].sum()) == 0
    assert 0 < float((1 - batch["known"]).sum()) < 30 * len(batch["img"])


def test_the_ball_look_s_loss_falls_with_the_truth() -> None:
    image, objects = _board_with_balls((420.0, 250.0))
    batch = crops_of(image, objects, np.random.default_rng(4), np.zeros((0, 2)))
    right = torch.cat([12 * batch["ball"][:, None] - 6, batch["place"]], dim=1)
    elsewhere = torch.cat([right[:, :1].roll(3, dims=2), right[:, 1:]], dim=1)
    aside = torch.cat([right[:, :1], right[:, 1:] + 0.2], dim=1)
    loss = float(ball_look_loss(right, batch)[0])
    assert loss < float(ball_look_loss(elsewhere, batch)[0])
    assert loss < float(ball_look_loss(aside, batch)[0])


def test_a_ball_look_that_learnt_says_the_same_when_it_is_exported(frames: Path, tmp_path: Path) -> None:
    learner = BALL_LOOK.new()
    learn(BALL_LOOK, learner, [(frames, 1.0)], 96)
    assert learner.seen == 96
    save_learner(learner, tmp_path / "ball-look.pt")
    size_px = (320, 176)
    export_ball_look(tmp_path / "ball-look.pt", tmp_path / "ball.onnx", size_px)
    opened = open_network(tmp_path / "ball.onnx", "openvino", size_px=size_px, threads=1, precision="fp32")
    picture = np.random.default_rng(5).integers(0, 255, (1, size_px[1], size_px[0], 3), dtype=np.uint8)
    taken = torch.from_numpy(picture[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255)
    said = learner.average.ema.eval()(taken).detach().numpy()
    np.testing.assert_allclose(opened.run(picture), said, atol=2e-3)


def test_a_ball_is_asked_for_where_it_is_in_a_patch_and_nothing_where_it_hardly_shows() -> None:
    image, objects = _board_with_balls((306.0, 300.0), (420.0, 250.0))
    unasked = []
    for hidden in (False, True):
        objects.points[1, 4, 2] = 1 if hidden else 2
        batch = ball_patches_of(image, objects, np.random.default_rng(2), plain=True)
        assert len(batch["img"]) <= PER_ITEM
        assert 0 < float(batch["ball"].sum()) < len(batch["img"])
        for patch in np.flatnonzero(batch["ball"].numpy()):
            x, y = np.rint(from_units(batch["ball_place"][patch].numpy())).astype(int).tolist()
            red, green = (int(batch["img"][patch, colour, y, x]) for colour in (0, 1))
            assert red > green, f"no ball at {x}, {y} of patch {patch}"
        unasked.append(int(((batch["ball_known"] == 0) & (batch["ball"] == 0)).sum()))
    assert unasked[0] < unasked[1], "the ball that hardly shows is in the figure's own patch"


def test_under_other_light_a_ball_keeps_its_colour_where_that_is_asked_for() -> None:
    brown = np.full((64, 64, 3), (35, 60, 110), dtype=np.uint8)

    def hues(*, faithful: bool) -> NDArray[np.float64]:
        lit = [recolour(brown, np.random.default_rng(seed), faithful=faithful).mean(axis=(0, 1)) for seed in range(60)]
        hsv = cv2.cvtColor(np.array([lit], dtype=np.float32) / 255, cv2.COLOR_BGR2HSV)
        return np.abs((hsv[0, :, 0] - 20 + 180) % 360 - 180).astype(np.float64)

    assert np.percentile(hues(faithful=True), 90) < 12 < np.percentile(hues(faithful=False), 80)


def test_what_a_ball_look_took_for_the_ball_is_shown_first_with_the_truth(frames: Path, tmp_path: Path) -> None:
    class Hopeful:
        """A ball look's network that takes the middle of every picture for the ball."""

        name, size_px = "hopeful", (256, 144)

        def run(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
            cells = np.full((len(pictures), 3, 18, 32), -9.0, np.float32)
            cells[:, :, 9, 16] = 3.0, -0.5, -0.5  # a cell's upper left corner
            return cells

    guessed = tmp_path / "guessed"
    shutil.copytree(frames, guessed)
    make_guesses(LookAgain(Shifted(guessed), Hopeful(), ball=BallLook(Hopeful())), guessed)
    path = frames_of(guessed, "train")[0]
    image = read_frame(path)
    about = ball_guesses_of(path)
    assert about is not None
    np.testing.assert_allclose(about.mean(axis=1), [(image.shape[1] / 2 - 0.5, image.shape[0] / 2 - 0.5)], atol=1e-3)
    assert guesses_of(path) is not None
    assert ball_guesses_of(frames_of(frames, "train")[0]) is None
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
    assert len(batch["img"]) <= 6 * PER_ITEM
    assert set(batch["ball"].unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(stream[3]["img"], BallPatches([(frames, 1.0)], "train", seed=1)[3]["img"])


def test_the_close_look_s_loss_falls_with_the_truth() -> None:
    image, objects = _board_with_balls((306.0, 300.0))
    batch = ball_patches_of(image, objects, np.random.default_rng(4))
    column, row = ((batch["ball_place"] + 1) * CELLS / 2 - 0.5).round().long().unbind(dim=1)
    right = torch.full((len(batch["img"]), CELLS**2), -8.0)
    right.scatter_(1, (row * CELLS + column).clamp(0, CELLS**2 - 1)[:, None], (16 * batch["ball"] - 8)[:, None])
    elsewhere = right.roll(5, dims=1)
    loss = float(close_look_loss(right, batch))
    assert loss < float(close_look_loss(elsewhere, batch))
    assert loss < float(close_look_loss(torch.full_like(right, -8.0), batch))


def test_a_close_look_that_learnt_says_the_same_when_it_is_exported(frames: Path, tmp_path: Path) -> None:
    learner = CLOSE_LOOK.new()
    learn(CLOSE_LOOK, learner, [(frames, 1.0)], 64)
    assert learner.seen == 64
    save_learner(learner, tmp_path / "close-look.pt")
    export_close_look(tmp_path / "close-look.pt", tmp_path / "close.onnx")
    opened = open_network(tmp_path / "close.onnx", "openvino", size_px=(64, 64), threads=1, precision="fp32")
    picture = np.random.default_rng(5).integers(0, 255, (1, 64, 64, 3), dtype=np.uint8)
    taken = torch.from_numpy(picture[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255)
    np.testing.assert_allclose(opened.run(picture), learner.average.ema.eval()(taken).detach().numpy(), atol=2e-3)


def test_a_checkpoint_of_another_look_is_refused_by_name(tmp_path: Path) -> None:
    save_learner(SECOND_LOOK.new(), tmp_path / "second.pt")
    with pytest.raises(InputError, match=r"second\.pt: not a checkpoint of a ball look"):
        export_ball_look(tmp_path / "second.pt", tmp_path / "ball.onnx", (320, 176))


def test_sittings_of_the_command_go_on_and_a_finish_leaves_them_where_they_were(frames: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    sets = f'[[sets]]\nname = "{frames.name}"\nrenderer = "compositor"\nseed = 3\ncount = 2\nper_table = 2\nshare = 1\n'
    levels = {"first_look": (32, 16), "second_look": (120, 120), "ball_look": (96, 96), "close_look": (64, 64)}
    plans = "".join(f"[{name}]\nlevel = {level}\nfinish = {more}\n" for name, (level, more) in levels.items())
    recipe.write_text(sets + plans)
    given = [str(frames.parent), "--runs", str(tmp_path), "--recipe", str(recipe), "--threads", "1"]
    for look in ("first-look", "second-look", "ball-look", "close-look"):
        early = CliRunner().invoke(app, [look, *given, "--finish"])
        assert isinstance(early.exception, InputError)
        for more in ([], ["--finish"]):
            assert CliRunner().invoke(app, [look, *given, *more]).exit_code == 0
        assert (tmp_path / f"{look}.pt").exists()
        assert "already seen" in CliRunner().invoke(app, [look, *given]).stdout
        assert "already" not in CliRunner().invoke(app, [look, *given, "--finish"]).stdout


def test_what_is_no_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    torch.save({"model": {}}, path)
    with pytest.raises(InputError, match=r"other\.pt"):
        load_learner(SECOND_LOOK.new(), path)


def test_a_folder_without_pictures_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no labelled pictures"):
        CropStream([(tmp_path, 1.0)], "train", seed=0)


def test_a_recipe_with_an_unknown_key_is_refused_by_name(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text("[[sets]]\nname = 'a'\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.toml: sets\.0\.renderer"):
        read_recipe(recipe)
