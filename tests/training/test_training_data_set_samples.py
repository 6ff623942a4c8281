"""Samples of data sets: points where the picture shows them, balls, pictures of real tables."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from made_sets import make_pair

torch = pytest.importorskip("torch")

from downfield.models.refiner import patch_transform  # noqa: E402
from downfield.training.data.labeled_frames import labeled_images_of, labels_of, unsure_path_of, write_objects  # noqa: E402
from downfield.training.data.objects import BALL_KIND, BALL_POINT, Objects  # noqa: E402
from downfield.training.data.places import balls_in_patches  # noqa: E402
from downfield.training.data.samples import UPRIGHT, joined  # noqa: E402
from downfield.training.data.set_samples import patches_of  # noqa: E402


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("frames")
    make_pair(out, "train", 3)
    return out


def test_patches_of_a_data_set_have_their_figures_ahead_and_now_and_then_a_ball(frames: Path) -> None:
    rng = np.random.default_rng(5)
    patches = joined([patches_of(path, rng) for path in labeled_images_of(frames, "train")])
    upright = (patches.figure > 0) & (patches.fallen == 0)
    ahead = patches.points[upright][:, :2].mean(dim=1) - patches.points[upright][:, 2:4].mean(dim=1)
    assert (ahead[:, 0] > 0).all()
    assert 0 < float((patches.ball[:, 2] > 0).float().mean()) < 1


def test_each_patch_has_the_ball_that_shows_most_or_none() -> None:
    corners = np.array([[[62.0, 40], [62, 60], [28, 60], [28, 40]], [[362.0, 40], [362, 60], [328, 60], [328, 40]]])
    transforms = patch_transform(corners)
    points = np.zeros((3, 5, 3))
    points[:, BALL_POINT] = [[45.0, 50.0, 1.0], [60.0, 55.0, 2.0], [0.0, 0.0, 0.0]]
    balls = Objects(np.full(3, float(BALL_KIND)), np.zeros((3, 4)), points)
    told = balls_in_patches(balls, np.array([0.1, 0.6, 1.0]), transforms)
    place = transforms[0] @ (60.0, 55.0, 1.0)
    np.testing.assert_allclose(told[0], (*place, 0.6))
    np.testing.assert_allclose(told[1], 0.0)
    none = Objects(np.zeros(0), np.zeros((0, 4)), np.zeros((0, 5, 3)))
    assert balls_in_patches(none, np.zeros(0), transforms).tolist() == [[0.0] * 3] * 2


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
    (picture,) = labeled_images_of(real, "train")
    patches = patches_of(picture, np.random.default_rng(5))
    assert int(patches.figure.sum()) > 0
    assert (patches.ball[:, 2] > 0).all(), "its own ball has no label, so it may be anywhere"
