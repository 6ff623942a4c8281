"""Data sets: exact labels, the same whatever the workers, and resumed without doing anything twice."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from downfield.core.errors import InputError, OutputError
from downfield.core.footprint import Footprint, signed_gap
from downfield.twin.commands import app
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.sets.arrange import Arranger, Mix
from downfield.twin.sets.dataset import make_dataset, read_samples
from downfield.twin.sets.labels import CLASSES, KEYPOINTS, Sample
from downfield.twin.sets.table_frames import Recipe, table_pictures

SMALL = Recipe("val", seed=3, size_px=(640, 360), per_table=2)
LARGE = Recipe("train", seed=4, size_px=(1280, 720), per_table=1)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a data set, by its path in it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small finished split."""
    out = tmp_path_factory.mktemp("set")
    make_dataset(out, SMALL, 6)
    return out


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split of two large pictures without balls but those of the game."""
    out = tmp_path_factory.mktemp("plain")
    make_dataset(out, LARGE, 2)
    return out


def test_every_picture_has_its_labels_and_its_truth(made: Path) -> None:
    samples = list(read_samples(made, "val"))
    assert [sample.index for sample in samples] == list(range(6))
    assert [sample.table for sample in samples] == [0, 0, 1, 1, 2, 2]
    for sample in samples:
        image = cv2.imread(str(made / sample.image))
        assert image is not None
        assert image.shape == (360, 640, 3)
        assert sample.calibration.method == "truth"
        assert sample.calibration.camera.lens.size_px == (640, 360)
        assert len(sample.labels.figures) == 22


def test_labeled_corners_are_the_bases_of_the_truth(made: Path) -> None:
    seen = 0
    for sample in read_samples(made, "val"):
        camera = sample.calibration.camera
        for figure in sample.labels.figures:
            if figure.tilt_deg > 0.5:
                continue
            x, y, z = figure.position_mm
            half_length, half_width = figure.base_mm[0] / 2, figure.base_mm[1] / 2
            turn = np.radians(figure.heading_deg)
            ahead, aside = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
            corners = [
                [*(np.array([x, y]) + a * half_length * ahead + b * half_width * aside), z + figure.base_mm[2]]
                for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))
            ]
            # A shutter that rolls while the picture shakes moves rows by a little, which the camera does not say.
            np.testing.assert_allclose(figure.corners_px, camera.to_pixels(np.array(corners)), atol=0.6)
            seen += 1
    assert seen > 40


def yolo_rows(path: Path) -> Iterator[list[float]]:
    """The numbers of every line of a label file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield [float(number) for number in line.split()]


def test_yolo_labels_equal_the_truth(made: Path) -> None:
    for sample in read_samples(made, "val"):
        rows = list(yolo_rows(made / "labels" / "val" / f"{sample.index:06d}.txt"))
        assert rows
        for row in rows:
            assert len(row) == 5 + 3 * len(KEYPOINTS)
            assert CLASSES[int(row[0])]
            x, y, width, height = row[1:5]
            assert x - width / 2 >= -1e-6
            assert x + width / 2 <= 1 + 1e-6
            assert y - height / 2 >= -1e-6
            assert y + height / 2 <= 1 + 1e-6
            assert {int(flag) for flag in row[7::3]} <= {0, 1, 2}
        figure = next(f for f in sample.labels.figures if f.shown > 0.9)
        row = rows[[f.id for f in sample.labels.figures if f.shown >= 0.08].index(figure.id)]
        corner = np.array(row[5:7]) * (640, 360) - 0.5
        np.testing.assert_allclose(corner, figure.corners_px[0], atol=2e-3)
        assert row[7] == (2 if figure.corners_visible[0] else 1)


def test_data_yaml_names_classes_keypoints_and_splits(made: Path) -> None:
    text = (made / "data.yaml").read_text(encoding="utf-8")
    assert "kpt_shape: [5, 3]" in text
    assert "flip_idx: [1, 0, 3, 2, 4]" in text
    for i, name in enumerate(CLASSES):
        assert re.search(rf"^  {i}: {name}$", text, re.MULTILINE)
    for split in ("train", "val", "test"):
        assert f"{split}: images/{split}\n" in text


def test_two_workers_make_the_same_files_as_one(made: Path, tmp_path: Path) -> None:
    make_dataset(tmp_path, SMALL, 6, workers=2)
    assert contents(tmp_path) == contents(made)


def test_carriers_make_many_figures_carry_a_labeled_ball(plain: Path, tmp_path: Path) -> None:
    make_dataset(tmp_path, dataclasses.replace(LARGE, carriers=0.5), 2)
    changed = []
    for sample, bare in zip(read_samples(tmp_path, "train"), read_samples(plain, "train"), strict=True):
        assert [figure.corners_px for figure in sample.labels.figures] == [
            figure.corners_px for figure in bare.labels.figures
        ]
        game = [thing for thing in bare.labels.things if thing.kind == "ball"]
        own = [thing for thing in sample.labels.things if thing.kind == "ball" and thing not in game]
        assert 4 < len(own) < 18
        assert len({ball.carrier for ball in own}) == len(own)
        image, without = (
            np.asarray(cv2.imread(str(folder / one.image)), dtype=np.int64)
            for folder, one in ((tmp_path, sample), (plain, bare))
        )
        for ball in own:
            assert ball.state == "carried"
            if ball.shown > 0.8:
                left, top, right, bottom = (round(side) for side in ball.box_px)
                part = np.s_[top + 1 : bottom, left + 1 : right]
                changed.append(float(np.abs(image[part] - without[part]).max(axis=2).mean()))
    assert len(changed) > 2
    assert np.median(changed) > 20, "nothing is drawn where balls are labeled"


def test_strewn_balls_lie_on_the_board_with_their_labels(plain: Path, tmp_path: Path) -> None:
    make_dataset(tmp_path, dataclasses.replace(LARGE, strewn=0.5), 2)
    states, changed = [], []
    for sample, bare in zip(read_samples(tmp_path, "train"), read_samples(plain, "train"), strict=True):
        game = [thing for thing in bare.labels.things if thing.kind == "ball"]
        strewn = [thing for thing in sample.labels.things if thing.kind == "ball" and thing not in game]
        assert 4 < len(strewn) < 18
        image, without = (
            np.asarray(cv2.imread(str(folder / one.image)), dtype=np.int64)
            for folder, one in ((tmp_path, sample), (plain, bare))
        )
        for ball in strewn:
            assert ball.carrier is None
            states.append(ball.state)
            if ball.shown > 0.8:
                x, y = (round(value) for value in ball.center_px)
                part = np.s_[y - 1 : y + 2, x - 1 : x + 2]
                changed.append(float(np.abs(image[part] - without[part]).max(axis=2).mean()))
    assert set(states) == {"loose", "magnetic"}
    assert len(changed) > 4
    assert np.median(changed) > 20, "nothing is drawn where balls are labeled"


def test_no_ball_is_strewn_around_a_fallen_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("train", seed=4, size_px=(640, 360), per_table=1, strewn=1.0)
    make_dataset(tmp_path / "told", recipe, 4)
    monkeypatch.setattr("downfield.twin.sets.labels._LYING_MM", np.inf)
    make_dataset(tmp_path / "anywhere", recipe, 4)
    astray, fallen = 0, 0
    for sample, anywhere in zip(
        read_samples(tmp_path / "told", "train"), read_samples(tmp_path / "anywhere", "train"), strict=True
    ):
        shown = [
            (one.shown, other.shown) for one, other in zip(sample.labels.things, anywhere.labels.things, strict=True)
        ]
        lifted = sum(figure.kind == "fallen" or figure.in_hand for figure in sample.labels.figures)
        changed = [here for here, there in shown if here != there]
        assert set(changed) <= {0.0}
        assert len(changed) <= lifted
        astray, fallen = astray + len(changed), fallen + lifted
    assert astray > fallen / 3 > 1


def test_more_balls_than_figures_are_refused() -> None:
    with pytest.raises(InputError, match="leave room for the carriers"):
        Recipe("train", carriers=0.6, strewn=0.5)


def test_a_high_share_of_fallers_makes_many_figures_lie_near_others(tmp_path: Path) -> None:
    recipe = Recipe("train", seed=4, size_px=(320, 180), per_table=1)
    make_dataset(tmp_path / "few", recipe, 8)
    make_dataset(tmp_path / "many", dataclasses.replace(recipe, fallers=0.4), 8)
    shares, nearest = {}, {}
    for name in ("few", "many"):
        samples = [one for one in read_samples(tmp_path / name, "train") if not one.play]
        lying = [[figure.kind == "fallen" for figure in one.labels.figures] for one in samples]
        shares[name] = np.mean([share for one in lying for share in one])
        apart = []
        for sample, down in zip(samples, lying, strict=True):
            spots = np.array([np.mean(figure.corners_px, axis=0) for figure in sample.labels.figures])
            gaps = np.linalg.norm(spots[:, None] - spots[None], axis=2) + np.where(np.eye(len(spots)) > 0, np.inf, 0)
            apart += [float(gap) for gap, is_down in zip(gaps.min(axis=1), down, strict=True) if is_down]
        nearest[name] = np.percentile(apart, 5)
    assert shares["few"] < 0.16 < 0.28 < shares["many"] < 0.52
    assert nearest["many"] < nearest["few"]
    with pytest.raises(InputError, match="share of fallers"):
        Recipe("train", fallers=1.5)


def test_an_interrupted_run_continues_without_repeating_work(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []

    def counted(recipe: Recipe, table: int, count: int) -> Iterator[object]:
        drawn.append(table)
        for number, picture in enumerate(table_pictures(recipe, table, count)):
            if len(drawn) == 2 and number == 1:
                raise KeyboardInterrupt
            yield picture

    monkeypatch.setattr("downfield.twin.sets.dataset.table_pictures", counted)
    with pytest.raises(KeyboardInterrupt):
        make_dataset(tmp_path, SMALL, 6)
    assert drawn == [0, 1]
    assert [sample.index for sample in read_samples(tmp_path, "val")] == [0, 1]
    told: list[tuple[int, int]] = []
    make_dataset(tmp_path, SMALL, 6, progress=lambda done, of: told.append((done, of)))
    assert drawn == [0, 1, 1, 2]
    assert told == [(2, 6), (4, 6), (6, 6)]
    assert contents(tmp_path) == contents(made)
    make_dataset(tmp_path, SMALL, 6)
    assert drawn == [0, 1, 1, 2]


def test_a_set_grows_to_a_larger_count(made: Path, tmp_path: Path) -> None:
    make_dataset(tmp_path, SMALL, 3)
    assert len(list(read_samples(tmp_path, "val"))) == 3
    make_dataset(tmp_path, SMALL, 6)
    assert contents(tmp_path) == contents(made)


def test_crops_show_figures_at_their_scale(tmp_path: Path) -> None:
    recipe = Recipe("train", seed=1, size_px=(1280, 720), scale=0.5, crop_px=160, per_table=6)
    make_dataset(tmp_path, recipe, 6)
    figures = 0
    for sample in read_samples(tmp_path, "train"):
        assert sample.calibration.camera.lens.size_px == (160, 160)
        figures += len(sample.labels.figures)
        for figure in sample.labels.figures:
            assert -0.5 <= figure.box_px[0] < figure.box_px[2] <= 159.5
    assert figures > 6


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--count", "0"], "the count must be at least 1, not 0"),
        (["--count", "2", "--split", "dev"], "no split is named 'dev'"),
        (["--count", "2", "--renderer", "magic"], "no renderer is named 'magic'"),
        (["--count", "2", "--size", "big"], "such as 1920x1080, not 'big'"),
        (["--count", "2", "--scale", "0"], "the scale must be above 0"),
        (["--count", "2", "--crop", "5000"], "the crop must be 0"),
        (["--count", "2", "--workers", "0"], "at least 1 worker"),
        (["--count", "2", "--format", "gif"], "can't be written as 'gif'"),
    ],
)
def test_impossible_recipes_are_refused(tmp_path: Path, given: list[str], problem: str) -> None:
    result = CliRunner().invoke(app, ["dataset", str(tmp_path / "set"), *given])
    assert isinstance(result.exception, InputError)
    assert problem in str(result.exception)
    assert not (tmp_path / "set" / "images").exists()


def test_another_recipe_in_the_same_folder_is_refused(made: Path) -> None:
    with pytest.raises(InputError, match="started with seed 3, not 4"):
        make_dataset(made, Recipe("val", seed=4, size_px=(640, 360), per_table=2), 6)


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "set").write_text("not a folder")
    with pytest.raises(OutputError, match="set"):
        make_dataset(tmp_path / "set", SMALL, 2)


def test_a_split_without_samples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished pictures of the split 'test'"):
        list(read_samples(tmp_path, "test"))


def test_the_command_makes_a_set(tmp_path: Path) -> None:
    given = [str(tmp_path), "--count", "1", "--split", "test", "--size", "320x180", "--format", "png"]
    result = CliRunner().invoke(app, ["dataset", *given])
    assert result.exit_code == 0, result.output
    sample: Sample = next(read_samples(tmp_path, "test"))
    assert sample.image == "images/test/000000.png"


def test_arranged_bases_never_overlap_and_the_rare_is_common() -> None:
    players = draw_players(1)
    appearance = draw_table(1, players)
    fallen = hands = carried = magnetic = loose = touching = 0
    for seed in range(60):
        _, here, _ = Arranger(appearance, players, np.random.default_rng(seed)).arrange(0, 33_000_000)
        upright = []
        for pose, player in zip(here.figures, players, strict=True):
            w, x, y, z = pose.rotation
            if np.hypot(x, y) > 0.3:
                fallen += 1
            elif not pose.in_hand:
                heading = np.degrees(2 * np.arctan2(z, w))
                upright.append(Footprint(*pose.position_mm[:2], float(heading), player.base))
        hands += bool(here.hands)
        carried += here.ball is not None and here.ball.carrier is not None
        magnetic += here.ball is not None and here.ball.kind == "magnetic"
        loose += here.ball is not None and here.ball.kind == "foam" and here.ball.carrier is None
        for i, a in enumerate(upright):
            for b in upright[:i]:
                if np.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) < 40:
                    gap = signed_gap(a, b).gap_mm
                    assert gap > -0.3
                    touching += gap < 1
    assert fallen > 40
    assert hands > 8
    assert min(carried, magnetic, loose) > 5
    assert touching > 60


def test_a_calm_mix_has_no_fallen_figures() -> None:
    players = draw_players(2, 4)
    mix = Mix(fallen_chance=0.0, hand_chance=0.0, stick_chance=0.0)
    for seed in range(10):
        _, here, _ = Arranger(draw_table(2, players), players, np.random.default_rng(seed), mix).arrange(0, 1)
        assert all(np.hypot(*pose.rotation[1:3]) < 0.1 for pose in here.figures)
        assert not here.hands
        assert not here.sticks
