"""Contributed pictures as a data set: split by table, each once, labeled where tracks or people were sure."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
import pytest
from contributed_games import CALIBRATION, PLAY, picture, unsure
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.frame import Detection
from downfield.core.scene import Hand, Scene
from downfield.rig.games.contribution import crop_to_board, numbered_figures
from downfield.rig.games.contribution_file import ContributedFrame, Contribution, write_contribution
from downfield.training.data.labeled_frames import (
    labeled_images_of,
    labels_of,
    read_objects,
    unsure_places_of,
    write_objects,
)
from downfield.training.data.objects import Objects
from downfield.training.data.real_tables import SPLIT_OF_TENTHS, add_contributions, split_of_table

TABLES = {split_of_table(f"{number:016x}"): f"{number:016x}" for number in range(60)}
"""A table of each split."""

EARLY, LATE = PLAY.scenes[0], PLAY.scenes[210]
SIZE_PX = CALIBRATION.camera.lens.size_px


class BaseFinder:
    """A detector that finds the bases by their colors, and says that their front corners are seen."""

    name = "colors"

    def detect(self, image: Image) -> tuple[Detection, ...]:
        """Return an upright figure for each base."""
        found = []
        for low, high in (((90, 30, 0), (150, 90, 60)), ((200, 200, 200), (255, 255, 255))):
            _, _, stats, _ = cv2.connectedComponentsWithStats(cv2.inRange(image, low, high))
            for left, top, width, height, area in stats[1:]:
                if area > 20:
                    right, bottom = left + width, top + height
                    corners = ((right, top), (right, bottom), (left, bottom), (left, top))
                    box = (float(left), float(top), float(right), float(bottom))
                    points = tuple((float(x), float(y)) for x, y in corners)
                    found.append(Detection("upright", 0.9, box, points, (0.9, 0.9, 0.1, 0.1)))
        return tuple(found)


def contribution(path: Path, *scenes: Scene, table: str = TABLES["train"]) -> Path:
    """Write a contribution with a picture of each scene."""
    frames, images = [], []
    for scene in scenes:
        image, calibration = crop_to_board(picture(scene), CALIBRATION)
        plain, players = numbered_figures(scene, PLAY.players)
        frames.append(ContributedFrame(table, ("uncertain",), calibration, plain, players))
        images.append(image)
    write_contribution(path, Contribution(tuple(frames)), images)
    return path


def test_a_sure_figure_is_labeled_and_an_unsure_one_is_kept_clear(tmp_path: Path) -> None:
    added = add_contributions([contribution(tmp_path / "a.zip", unsure(LATE))], tmp_path / "set", BaseFinder())
    assert dict(added.pictures) == {"train": 1}
    assert added.figures == 1
    (image,) = labeled_images_of(tmp_path / "set", "train")
    shown = cv2.imread(str(image))
    assert shown is not None
    objects = read_objects(labels_of(image), (shown.shape[1], shown.shape[0]))
    assert objects.kinds.tolist() == [0]
    middle = objects.points[0, :4, :2].mean(axis=0)
    assert shown[round(middle[1]), round(middle[0])].min() > 180, "the light base, whose front is sure, has the label"
    assert (objects.points[0, :4, 2] == 2).sum() == 2
    places = unsure_places_of(image)
    assert places is not None
    dark = [shown[round(y), round(x)].astype(int) for x, y in places]
    assert any(pixel[0] > pixel[2] + 40 for pixel in dark), "the dark base, whose front nobody knows, is kept clear"


def test_pictures_of_a_table_are_in_one_split(tmp_path: Path) -> None:
    files = [
        contribution(tmp_path / f"{split}.zip", EARLY, LATE, table=table) for split, table in sorted(TABLES.items())
    ]
    added = add_contributions(files, tmp_path / "set", BaseFinder())
    assert dict(added.pictures) == {"train": 2, "val": 2, "test": 2}
    for split, table in TABLES.items():
        assert {image.name[:16] for image in labeled_images_of(tmp_path / "set", split)} == {table}


def test_a_picture_is_added_once(tmp_path: Path) -> None:
    one = contribution(tmp_path / "one.zip", EARLY)
    both = contribution(tmp_path / "both.zip", EARLY, LATE)
    add_contributions([one], tmp_path / "set", BaseFinder())
    added = add_contributions([both, one], tmp_path / "set", BaseFinder())
    assert (added.pictures["train"], added.known) == (1, 2)
    assert len(labeled_images_of(tmp_path / "set", "train")) == 2


def test_a_picture_in_which_nothing_is_sure_is_left_out(tmp_path: Path) -> None:
    lost = dataclasses.replace(EARLY, figures=tuple(dataclasses.replace(one, sure=False) for one in EARLY.figures))
    added = add_contributions([contribution(tmp_path / "a.zip", lost)], tmp_path / "set", BaseFinder())
    assert (added.pictures.total(), added.unlabeled) == (0, 1)
    assert not (tmp_path / "set" / "images").exists()


def test_what_a_hand_covers_is_kept_clear(tmp_path: Path) -> None:
    hand = Hand(((100.0, 100.0), (140.0, 100.0), (120.0, 140.0)))
    plain, covered = EARLY, dataclasses.replace(EARLY, hands=(hand,))
    counts = []
    for number, scene in enumerate((plain, covered)):
        out = tmp_path / f"set{number}"
        add_contributions([contribution(tmp_path / f"{number}.zip", scene)], out, BaseFinder())
        (image,) = labeled_images_of(out, "train")
        places = unsure_places_of(image)
        assert places is not None
        counts.append(len(places))
    assert counts[1] == counts[0] + 3


def test_tables_kept_for_tests_are_no_training_set(tmp_path: Path) -> None:
    file = contribution(tmp_path / "a.zip", EARLY, table=TABLES["test"])
    add_contributions([file], tmp_path / "contributed", BaseFinder())
    with pytest.raises(InputError, match="no labeled pictures of the split 'train'"):
        labeled_images_of(tmp_path / "contributed", "train")


def test_a_tables_split_never_changes() -> None:
    tables = ("0" * 16, "1" * 16, "00000000000000aa", "f" * 16)
    assert [split_of_table(table) for table in tables] == ["test", "test", "val", "train"]


def test_splits_have_their_shares() -> None:
    splits = [split_of_table(f"{number:016x}") for number in range(4000)]
    for split in ("train", "val", "test"):
        wanted = SPLIT_OF_TENTHS.count(split) / len(SPLIT_OF_TENTHS)
        assert abs(splits.count(split) / len(splits) - wanted) < 0.03


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=5), st.integers(0, 1000))
def test_labels_that_are_written_are_read_again(rows: list[tuple[int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 300, (len(rows), 5, 3))
    points[..., 2] = [[flag] * 5 for _, flag in rows] if rows else points[..., 2]
    low = rng.uniform(0, 200, (len(rows), 2))
    boxes = np.concatenate([low, low + rng.uniform(1, 100, (len(rows), 2))], axis=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.txt"
        write_objects(path, Objects(np.array([kind for kind, _ in rows], dtype=float), boxes, points), SIZE_PX)
        read = read_objects(path, SIZE_PX)
    assert read.kinds.tolist() == [kind for kind, _ in rows]
    assert np.allclose(read.boxes, boxes, atol=1e-3)
    known = points[..., 2] > 0
    assert np.array_equal(read.points[..., 2], points[..., 2])
    assert np.allclose(read.points[known], points[known], atol=1e-3)
