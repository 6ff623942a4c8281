"""Training: cuts from frames have true labels, one step learns, an interrupted run continues.

Needs torch and ultralytics: `make test-training` runs it in an environment of its own.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from made_sets import make_pair
from training_frames import Shifted

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")

from typer.testing import CliRunner  # noqa: E402

from downfield.core.errors import InputError  # noqa: E402
from downfield.models.refiner import OUTPUTS, PATCH_PX, TURN, from_units  # noqa: E402
from downfield.training.command import app  # noqa: E402
from downfield.training.data.crops import CropStream, cut, read_small  # noqa: E402
from downfield.training.data.labeled_frames import (  # noqa: E402
    guesses_of,
    labeled_images_of,
    labels_of,
    make_guesses,
    read_frame,
    read_objects,
)
from downfield.training.data.objects import (  # noqa: E402
    CROP_PX,
    Objects,
    mirrored_frame,
)
from downfield.training.data.patches import (  # noqa: E402
    Batch,
    PatchStream,
    collate_patches,
    cut_guessed,
    patches_of,
)
from downfield.training.data.variation import cast_hard_shadows  # noqa: E402
from downfield.training.networks.blocks import Losses  # noqa: E402
from downfield.training.networks.checkpoints import open_average  # noqa: E402
from downfield.training.networks.refiner import (  # noqa: E402
    FigureRefiner,
    figure_refiner_loss,
)
from downfield.training.networks.yolo_detector import new_yolo_detector  # noqa: E402
from downfield.training.recipe import read_recipe  # noqa: E402
from downfield.training.runs.trainer import TASKS, load_state, save_state, train  # noqa: E402


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_pair(out, "train", 3)
    return out


@pytest.fixture
def few_crops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of the figure detector is four crops."""
    few = replace(TASKS["figure-detector"], items=2)
    monkeypatch.setitem(TASKS, "figure-detector", few)


def _signed_area(corners: np.ndarray) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def test_a_crop_keeps_the_order_of_corners_however_it_is_turned_and_mirrored(frames: Path) -> None:
    small, objects = read_small(labeled_images_of(frames, "train")[0])
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
    batch = patches_of(cut_guessed(image, Objects(np.zeros(12), np.zeros((12, 4)), points), np.random.default_rng(1)))
    shapes = []
    for patch, corners in zip(batch["img"][:12].numpy(), from_units(batch["points"][:12, :4].numpy()), strict=True):
        gray = patch.mean(axis=0)
        mask = np.zeros(gray.shape, np.uint8)
        cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1)
        shown = np.abs(gray - np.median(gray[mask > 0])) < np.abs(gray - np.median(gray[mask == 0]))
        assert (shown & (mask > 0)).sum() > 0.88 * (shown | (mask > 0)).sum()
        ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
        aside = corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)
        assert abs(ahead @ aside) < 0.02 * np.linalg.norm(ahead) * np.linalg.norm(aside), "no longer a rectangle"
        shapes.append(np.linalg.norm(ahead) / np.linalg.norm(aside))
    assert min(shapes) < 0.96 * 42 / 25 < 1.04 * 42 / 25 < max(shapes)


def test_the_refiner_is_shown_what_the_detector_found(frames: Path, tmp_path: Path) -> None:
    guessed = tmp_path / "guessed"
    shutil.copytree(frames, guessed)
    make_guesses(Shifted(guessed), guessed)
    for folder, few, many in ((frames, 0.0, 0.15), (guessed, 0.4, 1.0)):
        batch = collate_patches([PatchStream([(folder, 1.0)], "train", seed=8, plain=True)[i] for i in range(4)])
        upright = (batch["figure"] > 0) & (batch["fallen"] == 0)
        middles = batch["points"][upright][:, :4].mean(dim=1)
        aside = (middles.norm(dim=1) > 0.18).float().mean()  # 0.15 of a base's length is 0.22 of half a patch, diagonal
        assert few <= float(aside) <= many
    seen = guesses_of(labeled_images_of(guessed, "train")[0])
    assert seen is not None
    np.testing.assert_allclose(seen[-1].mean(axis=0), (60, 60), atol=1e-3)
    assert guesses_of(labeled_images_of(frames, "train")[0]) is None


def test_a_hard_lamp_darkens_the_picture_beside_figures_now_and_then(frames: Path) -> None:
    path = labeled_images_of(frames, "train")[0]
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
    batch = patches_of(cut_guessed(image, objects, np.random.default_rng(1), distractors=np.array([[100.0, 150.0]])))
    figures = batch["figure"] > 0
    assert int(figures.sum()) == 3 + 1
    assert int((batch["fallen"] > 0).sum()) == 2
    assert float(batch["figure"][int(figures.sum())]) == 0


def test_the_body_of_one_who_lies_is_he_and_not_nobody() -> None:
    image = np.full((200, 300, 3), 90, dtype=np.uint8)
    base = np.array([[15.0, -9.0], [15.0, 9.0], [-15.0, 9.0], [-15.0, -9.0], [5.0, 0.0]])
    edge = np.array([[15.0, -2.0], [15.0, 2.0], [-15.0, 2.0], [-15.0, -2.0], [0.0, 36.0]])
    points = np.concatenate(
        [np.stack([base + np.array([60.0, 60.0]), edge + np.array([160.0, 60.0])]), np.full((2, 5, 1), 2.0)], 2
    )
    objects = Objects(np.array([0.0, 1.0]), np.zeros((2, 4)), points)
    body = np.array([160.0, 84.0])
    nearest = []
    for seed in range(10):
        seen = (base[:4] + body)[None]
        cut = cut_guessed(image, objects, np.random.default_rng(seed), detected=seen, plain=True)
        middles = np.array(
            [cv2.invertAffineTransform(matrix) @ (*[(PATCH_PX - 1) / 2] * 2, 1.0) for matrix in cut.transforms]
        )
        lying, nobody = middles[1:3], middles[3:]
        assert np.linalg.norm(nobody - body, axis=1).min(initial=np.inf) > 6
        nearest.append(np.linalg.norm(lying - body, axis=1).min())
    assert min(nearest) < 3, "he is never shown where a figure detector puts him"


def test_a_mirrored_frame_has_the_same_things_with_left_and_right_exchanged(frames: Path) -> None:
    path = labeled_images_of(frames, "train")[0]
    image = read_frame(path)
    objects = read_objects(labels_of(path), (image.shape[1], image.shape[0]))
    guessed = objects.points[:3, :4, :2]
    other, moved, seen = mirrored_frame(image, objects, guessed)
    figures = (objects.kinds < 2) & (objects.points[:, :4, 2] > 0).all(axis=1)
    assert all(_signed_area(corners) > 0 for corners in moved.points[figures & (objects.kinds == 0), :4, :2])
    x, y = np.clip(np.rint(objects.points[figures, :4, :2]).astype(int), 0, (image.shape[1] - 1, image.shape[0] - 1)).T
    left, right = moved.points[figures, :4, 0].T, objects.points[figures, :4, 0].T
    np.testing.assert_allclose(left[[1, 0, 3, 2]] + right, image.shape[1] - 1)
    np.testing.assert_array_equal(other[y, image.shape[1] - 1 - x], image[y, x])
    assert seen is not None
    np.testing.assert_allclose(seen, moved.points[:3, :4, :2])
    np.testing.assert_allclose(moved.boxes[:, 2] - moved.boxes[:, 0], objects.boxes[:, 2] - objects.boxes[:, 0])
    assert mirrored_frame(image, objects, None)[2] is None


def test_the_refiner_learns_from_mirrored_frames_too(frames: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(*frame: object) -> object:
        asked.append(1)
        return mirrored_frame(*frame)  # type: ignore[arg-type]

    monkeypatch.setattr("downfield.training.data.patches.mirrored_frame", counted)
    for index in range(12):
        PatchStream([(frames, 1.0)], "train", seed=7)[index]
    assert 2 <= len(asked) <= 10
    asked.clear()
    for index in range(4):
        PatchStream([(frames, 1.0)], "train", seed=7, plain=True)[index]
    assert not asked


def test_the_refiner_s_loss_is_least_at_the_truth(frames: Path) -> None:
    batch = PatchStream([(frames, 1.0)], "train", seed=7)[0]
    right = torch.zeros(len(batch["img"]), OUTPUTS)
    right[:, :10] = batch["points"].reshape(-1, 10)
    right[:, 10:15] = -3
    right[:, TURN] = 8 * (2 * batch["flip"] - 1)
    wrong = right.clone()
    wrong[:, TURN] *= -1
    moved = right.clone()
    moved[:, :10] += 0.1
    loss = float(figure_refiner_loss(right, batch)[0])
    assert loss < float(figure_refiner_loss(wrong, batch)[0])
    assert loss < float(figure_refiner_loss(moved, batch)[0])


@pytest.mark.usefixtures("few_crops")
def test_one_step_of_the_detector_learns_and_the_next_run_continues(frames: Path, tmp_path: Path) -> None:
    state = TASKS["figure-detector"].new_state()
    before = {name: value.clone() for name, value in state.model.state_dict().items()}
    checkpoint = tmp_path / "level.pt"
    train(TASKS["figure-detector"], state, [(frames, 1.0)], 8, checkpoint=checkpoint)
    assert state.seen == 8
    moved = [name for name, value in state.model.state_dict().items() if not torch.equal(value, before[name])]
    assert len(moved) > len(before) / 2
    again = TASKS["figure-detector"].new_state()
    load_state(again, checkpoint)
    assert again.seen == 8
    train(TASKS["figure-detector"], again, [(frames, 1.0)], 12, finish=True)
    assert again.seen == 12
    save_state(again, tmp_path / "figure-detector.pt")
    network = open_average(new_yolo_detector(), tmp_path / "figure-detector.pt")
    assert list(network.names.values()) == ["upright", "fallen", "ball", "hand"]
    for name, value in again.average.ema.state_dict().items():
        torch.testing.assert_close(network.state_dict()[name], value)


def test_one_step_of_the_refiner_learns_and_the_next_run_continues(frames: Path, tmp_path: Path) -> None:
    state = TASKS["figure-refiner"].new_state()
    train(TASKS["figure-refiner"], state, [(frames, 1.0)], 120)
    save_state(state, tmp_path / "level.pt")
    again = TASKS["figure-refiner"].new_state()
    load_state(again, tmp_path / "level.pt")
    assert again.seen == state.seen > 0
    assert FigureRefiner()(torch.zeros(2, 3, 64, 64)).shape == (2, OUTPUTS)


@pytest.mark.usefixtures("few_crops")
def test_runs_of_the_command_continue_and_a_finish_leaves_the_level_part_alone(frames: Path, tmp_path: Path) -> None:
    given = [str(frames.parent), "--runs", str(tmp_path), "--recipe", str(_recipe(frames, tmp_path)), "--threads", "1"]
    for look in ("figure-detector", "figure-refiner", "ball-detector", "ball-refiner"):
        early = CliRunner().invoke(app, [look, *given, "--finish"])
        assert isinstance(early.exception, InputError)
        for more in ([], ["--finish"]):
            assert CliRunner().invoke(app, [look, *given, *more]).exit_code == 0
        assert (tmp_path / f"{look}.pt").exists()
        assert "already trained" in CliRunner().invoke(app, [look, *given]).stdout
        assert "already" not in CliRunner().invoke(app, [look, *given, "--finish"]).stdout


def test_an_interrupted_run_keeps_its_progress(frames: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, step = itertools.count(), TASKS["ball-detector"].loss

    def take(model: Any, batch: Batch) -> tuple[Any, Losses]:
        if next(begun) == 1:  # the samples before are learned
            os.kill(os.getpid(), signal.SIGTERM)
        return step(model, batch)

    monkeypatch.setitem(TASKS, "ball-detector", replace(TASKS["ball-detector"], loss=take))
    given = [str(frames.parent), "--runs", str(tmp_path), "--recipe", str(_recipe(frames, tmp_path, 10**9))]
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert CliRunner().invoke(app, ["ball-detector", *given, "--threads", "1"]).exit_code != 0
    finally:
        signal.signal(signal.SIGTERM, before)
    state = TASKS["ball-detector"].new_state()
    load_state(state, tmp_path / "ball-detector" / "level.pt")
    assert state.seen > 0


def _recipe(frames: Path, folder: Path, level: int | None = None) -> Path:
    """A recipe of a folder's pictures, of a few samples or of so many for each network."""
    recipe = folder / "mine.toml"
    sets = f'[[sets]]\nname = "{frames.name}"\nrenderer = "compositor"\nseed = 3\ncount = 2\nper_table = 2\nshare = 1\n'
    levels = {
        "figure_detector": (8, 4),
        "figure_refiner": (120, 120),
        "ball_detector": (96, 96),
        "ball_refiner": (64, 64),
    }
    plans = (f"[{name}]\nlevel = {level or few}\nfinish = {more}\n" for name, (few, more) in levels.items())
    recipe.write_text(sets + "".join(plans))
    return recipe


def test_what_is_no_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    torch.save({"model": {}}, path)
    with pytest.raises(InputError, match=r"other\.pt"):
        load_state(TASKS["figure-refiner"].new_state(), path)


def test_a_folder_without_pictures_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no labeled pictures"):
        CropStream([(tmp_path, 1.0)], "train", seed=0)


def test_a_recipe_with_an_unknown_key_is_refused_by_name(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text("[[sets]]\nname = 'a'\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.toml: sets\.0\.renderer"):
        read_recipe(recipe)


def test_what_only_balls_are_learned_from_figures_are_not(tmp_path: Path) -> None:
    recipe = read_recipe()
    with pytest.raises(InputError, match="none of the recipe's data sets"):
        recipe.sources(tmp_path)
    for name in ("balls-compositor", "photoreal2", "mujoco"):
        (tmp_path / name / "images").mkdir(parents=True)
    assert {folder.name for folder, _ in recipe.sources(tmp_path)} == {"photoreal2", "mujoco"}
    assert {folder.name for folder, _ in recipe.sources(tmp_path, practice=True)} == {
        "balls-compositor",
        "photoreal2",
        "mujoco",
    }
