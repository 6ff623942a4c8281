"""Contributions: which frames are chosen of a recorded game, what stays at home, and what a file may hold."""

from __future__ import annotations

import dataclasses
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from contributed_games import CALIBRATION, PLAY, SECRET, SURROUNDINGS, contributed_game, facing_deg, picture, unsure
from hypothesis import given
from hypothesis import strategies as st
from played_table import DEFENDER, RUNNER

from downfield.capture.recording.recorded_footage import RecordedFootage
from downfield.core.errors import DownfieldError, FormatError, InputError
from downfield.core.mathematics import wrap_deg
from downfield.core.scene import Ball, Figure, Scene
from downfield.officiating.declarations import FrontDeclared
from downfield.rig.games.contribution import (
    Collected,
    Moment,
    collect,
    crop_to_board,
    doubt,
    doubted,
    numbered_figures,
    spread,
    table_id,
    turned_as_declared,
)
from downfield.rig.games.contribution_file import (
    LISTING,
    ContributedFrame,
    Contribution,
    picture_name,
    read_contribution,
    write_contribution,
)
from downfield.store.database.opening import open_for_reading
from downfield.store.history import History

FIGURE = PLAY.scenes[0].figures[0]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a rig with a recorded game and one that nobody recorded."""
    return contributed_game(tmp_path_factory.mktemp("rig")).data


def collect_from(rig: Path, count: int = 24, recordings: str = "recordings") -> Collected:
    with open_for_reading(str(rig / "downfield.db")) as opened:
        games, footage = opened.store.games(), RecordedFootage(rig / recordings)
        return collect(opened.store, footage, rig, games, count, lambda _done, _total: None)


@pytest.fixture(scope="module")
def collected(rig: Path) -> Collected:
    return collect_from(rig)


def scene_of(*figures: Figure) -> Scene:
    return Scene(0, 0, "on", figures)


def test_the_turned_front_and_the_unsure_runner_are_chosen(collected: Collected) -> None:
    reasons = [frame.reasons for frame, _ in collected.frames]
    assert reasons == [("front_turned",), ("uncertain",)]
    assert collected.unrecorded == 0


def test_the_front_is_as_the_person_declared_it(collected: Collected) -> None:
    (turned, _), (later, _) = collected.frames
    defender = next(figure for figure in turned.scene.figures if figure.jersey == "light")
    assert abs(wrap_deg(defender.heading_deg - facing_deg(PLAY.scenes[0]) - 180)) < 1e-6
    assert defender.front == 1.0
    runner = next(figure for figure in later.scene.figures if figure.jersey == "dark")
    assert runner.front == 0.5


def test_the_pictures_show_the_figures_where_the_calibration_puts_them(collected: Collected) -> None:
    for frame, image in collected.frames:
        runner = next(figure for figure in frame.scene.figures if figure.jersey == "dark")
        x, y = frame.calibration.camera.to_pixels(np.array([[runner.x_mm, runner.y_mm, 6.0]]))[0]
        blue, green, red = image[round(y), round(x)].astype(int)
        assert abs(blue - 120) < 25
        assert abs(green - 60) < 25
        assert abs(red - 20) < 25


def test_nothing_of_the_surroundings_is_in_the_pictures(collected: Collected) -> None:
    full = picture(PLAY.scenes[0])
    assert np.abs(full.astype(int) - SURROUNDINGS).max(axis=2).min() == 0, "the test's pictures show surroundings"
    for frame, image in collected.frames:
        assert image.shape[1] < full.shape[1]
        assert (image.shape[1], image.shape[0]) == frame.calibration.camera.lens.size_px
        outer = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
        assert np.median(np.abs(outer.astype(int) - SURROUNDINGS).max(axis=1)) < 12, "the margin around the board"


def test_a_tilted_board_leaves_gray_corners() -> None:
    camera = dataclasses.replace(CALIBRATION.camera, rotation=(np.pi, 0.0, 0.3))
    tilted = dataclasses.replace(CALIBRATION, camera=camera)
    height, width = 360, 640
    image, cut = crop_to_board(np.full((height, width, 3), 200, np.uint8), tilted)
    assert (image == 128).all(axis=2).mean() > 0.03
    assert (image == 200).all(axis=2).mean() > 0.3
    point = np.array([[100.0, 100.0, 0.0]])
    moved = tilted.camera.to_pixels(point) - cut.camera.to_pixels(point)
    assert np.allclose(moved, np.round(moved))


def test_no_name_no_time_and_no_path_is_in_the_file(collected: Collected, rig: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    write_contribution(
        path, Contribution(tuple(frame for frame, _ in collected.frames)), [i for _, i in collected.frames]
    )
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        content += b"".join(archive.read(name) for name in archive.namelist())
    for secret in (SECRET, RUNNER, DEFENDER, str(rig), "2027-01", "final"):
        assert secret.encode() not in content, secret
    listing = zipfile.ZipFile(path).read(LISTING).decode()
    assert re.findall(r'"t_ns":(\d+)', listing) == ["0"] * len(collected.frames)


def test_a_written_file_reads_the_same(collected: Collected, tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    frames = tuple(frame for frame, _ in collected.frames)
    size = write_contribution(path, Contribution(frames), [image for _, image in collected.frames])
    assert path.stat().st_size == size
    assert path.stat().st_mode & 0o077 == 0, "only its owner may read it"
    read = list(read_contribution(path))
    assert tuple(frame for frame, _, _ in read) == frames
    for (_, image), (_, _, again) in zip(collected.frames, read, strict=True):
        assert np.abs(image.astype(int) - again.astype(int)).mean() < 3


def test_a_moment_without_a_picture_is_counted(rig: Path) -> None:
    found = collect_from(rig, recordings="no recordings")
    assert found.frames == ()
    assert found.unrecorded == 2


def test_corrections_come_first_where_few_frames_are_wanted(rig: Path) -> None:
    assert [frame.reasons for frame, _ in collect_from(rig, 1).frames] == [("front_turned",)]


def test_tables_keep_their_id_and_another_rig_has_others(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    assert table_id(one, "hall") == table_id(one, "hall")
    assert len({table_id(one, "hall"), table_id(one, "attic"), table_id(other, "hall")}) == 3


def test_undone_and_missing_corrections_choose_nothing(rig: Path) -> None:
    with open_for_reading(str(rig / "downfield.db")) as opened:
        histories = [History(opened.store, row) for row in opened.store.games()]
    assert sum(isinstance(event.body, FrontDeclared) for history in histories for event in history.events) == 1


@given(front=st.floats(0, 1), declared=st.floats(-180, 180), heading=st.floats(-180, 180))
def test_a_declared_front_is_within_a_quarter_turn(front: float, declared: float, heading: float) -> None:
    figure = dataclasses.replace(FIGURE, heading_deg=heading, front=front)
    scene = turned_as_declared(scene_of(figure), FrontDeclared(figure.id, declared))
    (turned,) = scene.figures
    assert abs(wrap_deg(turned.heading_deg - declared)) <= 90 + 1e-6
    assert turned.front == 1.0


@given(front=st.floats(0, 1))
def test_a_front_nobody_knows_is_the_greatest_doubt(front: float) -> None:
    doubts = [doubt(scene_of(dataclasses.replace(FIGURE, front=each))) for each in (0.5, front)]
    assert doubts[0] >= doubts[1] >= 0


def test_lost_and_unseen_figures_are_no_doubt() -> None:
    unseen = dataclasses.replace(FIGURE, posture="unseen", front=0.5)
    lost = dataclasses.replace(FIGURE, sigma_mm=(500.0, 500.0), front=0.5)
    assert doubt(scene_of(unseen, lost)) == 0


def test_what_was_overturned_is_not_learned_as_the_truth() -> None:
    scene = doubted(PLAY.scenes[0], [RUNNER])
    assert {figure.id: figure.sure for figure in scene.figures} == {RUNNER: False, DEFENDER: True}


def test_uncertain_moments_are_apart() -> None:
    def at(t_s: float, *, corrected: bool = False) -> Moment:
        scene = dataclasses.replace(PLAY.scenes[0], t_ns=round(t_s * 1e9))
        return Moment(scene, ("front_turned",) if corrected else ("uncertain",), 1.0)

    kept = spread([at(10, corrected=True), at(10.5, corrected=True), at(11), at(20), at(21), at(24)])
    assert [moment.scene.t_ns / 1e9 for moment in kept] == [10, 10.5, 20, 24]


def test_the_balls_carrier_is_numbered_too() -> None:
    ball = Ball("carried", 0.0, 0.0, carrier=RUNNER, touched_by=DEFENDER, touched_ns=5)
    scene, players = numbered_figures(dataclasses.replace(PLAY.scenes[0], ball=ball), PLAY.players)
    assert scene.ball is not None
    assert scene.ball.carrier in {player.id for player in players}
    assert (scene.ball.touched_by, scene.ball.touched_ns) == (None, None)
    assert [player.base for player in players] == [player.base for player in PLAY.players]
    assert all(not player.role and not player.number for player in players)


def damaged_files(good: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield files that are no contribution, each with a part of the message."""
    content = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}

    def zipped(name: str, **changed: bytes | None) -> Path:
        path = folder / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for part, data in {**parts, LISTING: changed.get("listing", parts[LISTING])}.items():
                data = changed.get("picture", data) if part == picture_name(1) else data
                if data is not None:
                    archive.writestr(part, data)
        return path

    def raw(name: str, data: bytes) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    small = cv2.imencode(".jpg", np.zeros((40, 40, 3), np.uint8))[1].tobytes()
    yield "no contribution", raw("cut.zip", content[: len(content) // 2])
    yield "no contribution", raw("text.zip", b"hello")
    yield "no contribution", zipped("no-listing", listing=None)
    yield "no contribution", zipped("no-picture", picture=None)
    yield "can't be decoded", zipped("broken-picture", picture=b"\xff\xd8 no picture")
    yield "its calibration is for", zipped("other-size", picture=small)
    at = small.index(b"\xff\xc0") + 5
    huge = small[:at] + (30_000).to_bytes(2) * 2 + small[at + 4 :]
    yield "is 30000x30000, but", zipped("gigabytes", picture=huge)
    yield "table", zipped("table", listing=parts[LISTING].replace(b'"table":"', b'"table":"../'))
    yield "version", zipped("newer", listing=parts[LISTING].replace(b'"made_by"', b'"unknown"'))
    yield "no such file", folder / "nowhere.zip"


def test_files_that_are_no_contribution_are_refused_in_one_sentence(collected: Collected, tmp_path: Path) -> None:
    good = tmp_path / "good.zip"
    listing = Contribution(tuple(frame for frame, _ in collected.frames), "0.2.0")
    write_contribution(good, listing, [image for _, image in collected.frames])
    for expected, path in damaged_files(good, tmp_path):
        with pytest.raises(DownfieldError) as refused:
            list(read_contribution(path))
        assert isinstance(refused.value, InputError | FormatError), path
        assert path.name in str(refused.value), path
        assert expected in str(refused.value).lower() or expected == "version", (path, str(refused.value))


def test_a_figure_that_is_not_among_the_players_is_refused(collected: Collected) -> None:
    frame, _ = collected.frames[0]
    with pytest.raises(InputError, match="not among the players"):
        ContributedFrame(frame.table, frame.reasons, frame.calibration, unsure(PLAY.scenes[0]), frame.players)
