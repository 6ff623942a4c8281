"""Training: cuts from frames have true labels.

Needs torch and ultralytics: `make test-training` runs it in an environment of its own.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from made_sets import make_pair

torch = pytest.importorskip("torch")
pytest.importorskip("ultralytics")


from downfield.core.errors import InputError  # noqa: E402
from downfield.models.refiner import OUTPUTS, PATCH_PX, TURN  # noqa: E402
from downfield.training.data.labeled_frames import labeled_images_of  # noqa: E402
from downfield.training.data.objects import CROP_PX, Objects  # noqa: E402
from downfield.training.data.places import place_patches  # noqa: E402
from downfield.training.data.samples import UPRIGHT  # noqa: E402
from downfield.training.data.set_samples import crops_of, cut_samples, patches_of  # noqa: E402
from downfield.training.networks.refiner import figure_refiner_loss  # noqa: E402


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_pair(out, "train", 3)
    return out


def _middle(matrix: np.ndarray) -> np.ndarray:
    """The place in the picture of a patch's middle."""
    back: np.ndarray = np.asarray(cv2.invertAffineTransform(matrix))
    return back @ (*[(PATCH_PX - 1) / 2] * 2, 1.0)


def _signed_area(corners: np.ndarray) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def test_a_crop_keeps_the_order_of_corners_however_it_is_turned_and_mirrored(frames: Path) -> None:
    crops = crops_of(labeled_images_of(frames, "train")[0], 20, np.random.default_rng(0))
    assert crops.image.shape == (20, CROP_PX, CROP_PX, 3)
    points = crops.points[crops.kinds == UPRIGHT].numpy()
    whole = points[(points[:, :4, 2] > 0).all(axis=1), :4, :2]
    assert len(whole) > 20
    # Front-left, front-right, rear-right, rear-left run clockwise in a picture, where y points down.
    assert all(_signed_area(corners) > 0 for corners in whole)


def test_boxes_of_a_crop_lie_inside_it_and_hold_their_corners(frames: Path) -> None:
    crops = crops_of(labeled_images_of(frames, "train")[1], 12, np.random.default_rng(5))
    upright = crops.kinds == UPRIGHT
    boxes, points = crops.boxes[upright].numpy(), crops.points[upright].numpy()
    low, high = boxes[:, :2], boxes[:, 2:]
    assert (low > -0.5 - 1e-3).all()
    assert (high < CROP_PX - 0.5 + 1e-3).all()
    slack = 2.5  # corners are those of the sharp rectangle, boxes those of the rounded base
    corners = points[:, :4, :2]
    inside = ((corners > low[:, None] - slack) & (corners < high[:, None] + slack)).all(axis=2)
    assert bool((inside | (points[:, :4, 2] == 0)).all())


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
    patches = cut_samples(image, Objects(np.zeros(12), np.zeros((12, 4)), points), np.random.default_rng(1))
    shapes = []
    for patch, corners in zip(patches.image[:12].numpy(), patches.points[:12, :4].numpy(), strict=True):
        gray = patch.mean(axis=2)
        mask = np.zeros(gray.shape, np.uint8)
        cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1)
        shown = np.abs(gray - np.median(gray[mask > 0])) < np.abs(gray - np.median(gray[mask == 0]))
        assert (shown & (mask > 0)).sum() > 0.88 * (shown | (mask > 0)).sum()
        ahead = corners[:2].mean(axis=0) - corners[2:].mean(axis=0)
        aside = corners[[0, 3]].mean(axis=0) - corners[[1, 2]].mean(axis=0)
        assert abs(ahead @ aside) < 0.02 * np.linalg.norm(ahead) * np.linalg.norm(aside), "no longer a rectangle"
        shapes.append(np.linalg.norm(ahead) / np.linalg.norm(aside))
    assert min(shapes) < 0.96 * 42 / 25 < 1.04 * 42 / 25 < max(shapes)


def test_who_lies_is_shown_again_and_lures_are_nobody() -> None:
    base = np.array([[15.0, -9.0], [15.0, 9.0], [-15.0, 9.0], [-15.0, -9.0], [5.0, 0.0]])
    points = np.concatenate(
        [np.stack([base + at for at in ((60, 60), (160, 60), (240, 60))]), np.full((3, 5, 1), 2.0)], 2
    )
    objects = Objects(np.array([0.0, 0.0, 1.0]), np.zeros((3, 4)), points)
    lure = np.array([[100.0, 150.0]])
    places = place_patches(objects, (300, 200), np.random.default_rng(1), distractors=lure)
    assert sorted(places.kinds.tolist()) == [0.0, 0.0, 1.0, 1.0]
    away = [np.linalg.norm(_middle(matrix) - lure[0]) for matrix in places.transforms[4:]]
    assert min(away) < 15


def test_the_body_of_one_who_lies_is_he_and_not_nobody() -> None:
    base = np.array([[15.0, -9.0], [15.0, 9.0], [-15.0, 9.0], [-15.0, -9.0], [5.0, 0.0]])
    edge = np.array([[15.0, -2.0], [15.0, 2.0], [-15.0, 2.0], [-15.0, -2.0], [0.0, 36.0]])
    points = np.concatenate(
        [np.stack([base + np.array([60.0, 60.0]), edge + np.array([160.0, 60.0])]), np.full((2, 5, 1), 2.0)], 2
    )
    objects = Objects(np.array([0.0, 1.0]), np.zeros((2, 4)), points)
    body = np.array([160.0, 84.0])
    nearest = []
    for seed in range(10):
        places = place_patches(objects, (300, 200), np.random.default_rng(seed))
        middles = np.array([_middle(matrix) for matrix in places.transforms])
        lying, nobody = middles[1:3], middles[3:]
        assert np.linalg.norm(nobody - body, axis=1).min(initial=np.inf) > 6
        nearest.append(np.linalg.norm(lying - body, axis=1).min())
    assert min(nearest) < 3, "he is never shown where a figure detector puts him"


def test_the_refiner_s_loss_is_least_at_the_truth(frames: Path) -> None:
    truth = patches_of(labeled_images_of(frames, "train")[0], np.random.default_rng(7))
    right = torch.zeros(len(truth.image), OUTPUTS)
    right[:, :10] = ((truth.points + 0.5) / (PATCH_PX / 2) - 1).reshape(-1, 10)
    right[:, 10:15] = -3
    right[:, TURN] = 8 * (2 * truth.flip - 1)
    wrong = right.clone()
    wrong[:, TURN] *= -1
    moved = right.clone()
    moved[:, :10] += 0.1
    loss = float(figure_refiner_loss(right, truth)[0])
    assert loss < float(figure_refiner_loss(wrong, truth)[0])
    assert loss < float(figure_refiner_loss(moved, truth)[0])


def test_a_folder_without_pictures_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no labeled pictures"):
        labeled_images_of(tmp_path, "train")
