"""Drawn tables: the same for the same seed, apart between splits, and all of them possible."""

from __future__ import annotations

import numpy as np
import pytest

from downfield.calibration.camera import Camera, Lens
from downfield.core.errors import InputError
from downfield.core.records import to_json
from downfield.core.scene import Player
from downfield.twin.randomization.bases import draw_bases
from downfield.twin.randomization.boards import draw_field
from downfield.twin.randomization.cameras import MAX_TILT_DEG, board_outline_mm, draw_lens, is_invertible
from downfield.twin.randomization.deck import SPLITS, Deck, Split, split_named
from downfield.twin.randomization.simple_player import POSES
from downfield.twin.randomization.tables import draw_players, draw_table
from downfield.twin.table.appearance import Appearance

TABLES = 200


@pytest.fixture(scope="module")
def tables() -> list[tuple[Appearance, tuple[Player, ...]]]:
    """Many tables of all splits, with few figures: those are looked at elsewhere."""
    out = []
    for seed in range(TABLES):
        split = SPLITS[seed % len(SPLITS)]
        players = draw_players(seed, 2, split=split)
        out.append((draw_table(seed, players, split=split), players))
    return out


def corner_shift(camera: Camera) -> float:
    """How far the lens moves the picture's corner toward the middle, as a share of its distance."""
    lens = camera.lens
    corner = np.array([[lens.size_px[0], lens.size_px[1]]], dtype=np.float64)
    straight = lens.undistort(corner)[0]
    seen = (corner[0] - lens.center_px) / lens.focal_px
    return float(1 - np.linalg.norm(seen) / np.linalg.norm(straight))


def test_the_board_is_in_the_picture_and_fills_it(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    for appearance, _ in tables:
        width, height = appearance.camera.lens.size_px
        outline = appearance.camera.to_pixels(board_outline_mm(appearance.field, appearance.board))
        assert np.all(outline >= 0)
        assert np.all(outline <= np.array([width - 1, height - 1]))
        spread = np.ptp(outline, axis=0) / (width, height)
        assert spread.max() > 0.8


def test_cameras_tilt_up_to_their_limit(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    tilts = np.array([appearance.camera.tilt_deg for appearance, _ in tables])
    assert tilts.max() <= MAX_TILT_DEG + 1e-6
    assert tilts.max() > 13
    assert tilts.min() < 1
    turned = [appearance.camera.board_to_camera[0, 0] < 0 for appearance, _ in tables]
    assert 0.15 < np.mean(turned) < 0.45
    assert all(np.linalg.det(appearance.camera.board_to_camera) > 0.999 for appearance, _ in tables)


def test_lenses_are_invertible_over_the_whole_picture(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    shifts: list[float] = []
    for appearance, _ in tables:
        lens = appearance.camera.lens
        assert is_invertible(lens)
        edge = np.array([[0, 0], [lens.size_px[0], 0], [0, lens.size_px[1]], [lens.size_px[0] / 2, 0]], dtype=float)
        back = lens.distort(lens.undistort(edge)) * lens.focal_px + lens.center_px
        np.testing.assert_allclose(back, edge, atol=1e-6)
        shifts.append(corner_shift(appearance.camera))
    assert 0.15 < max(shifts) < 0.26  # the principal point is off the middle, so one corner is further out
    assert min(shifts) < 0


def test_drawn_values_are_possible(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    for appearance, players in tables:
        assert len(appearance.figures) == len(players)
        assert 0 < appearance.ambient < 1
        assert sum(lamp.strength for lamp in appearance.lamps) + appearance.ambient == pytest.approx(1)
        assert appearance.sensor.exposure_ms * appearance.sensor.fps < 1000
        for figure, player in zip(appearance.figures, players, strict=True):
            base = [solid for solid in figure.solids if solid.part == "base"]
            assert len(base) == 1
            size = player.base
            np.testing.assert_allclose(2 * np.array(base[0].size_mm), (size.length_mm, size.width_mm, size.height_mm))
            np.testing.assert_allclose(base[0].position_mm, (0, 0, size.height_mm / 2))
            assert 27 <= size.length_mm <= 33
            assert 16 <= size.width_mm <= 20
            assert 4 <= size.height_mm <= 7
            for solid in figure.solids:
                assert all(0 <= channel <= 1 for channel in solid.color)
                assert np.linalg.norm(solid.rotation) == pytest.approx(1)


def test_clutter_lies_beside_the_field(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    for appearance, _ in tables:
        for solid in appearance.clutter:
            x, y, z = solid.position_mm
            inside = 0 < x < appearance.field.length_mm and 0 < y < appearance.field.width_mm
            assert not inside, f"{solid.kind} at {x:.0f}, {y:.0f}, {z:.0f}"


def test_a_seed_gives_one_table() -> None:
    players = draw_players(11)
    assert players == draw_players(11)
    assert to_json(Appearance, draw_table(11, players)) == to_json(Appearance, draw_table(11, players))
    assert draw_table(11, players).camera != draw_table(12, players).camera
    assert draw_field(4) == draw_field(4)


def test_the_same_seed_differs_between_splits() -> None:
    appearances = [draw_table(5, draw_players(5, split=split), split=split) for split in SPLITS]
    assert len({appearance.camera for appearance in appearances}) == len(SPLITS)
    assert len({appearance.board for appearance in appearances}) == len(SPLITS)


def drawn(split: Split) -> tuple[set[object], set[float]]:
    """Everything a split draws from a list, and from an interval."""
    deck = Deck(split, 3)
    return {deck.choice(range(25)) for _ in range(400)}, {deck.uniform(0, 1) for _ in range(2000)}


def test_splits_share_no_option_and_no_part_of_an_interval() -> None:
    shares = {split: drawn(split) for split in SPLITS}
    for one in SPLITS:
        for other in SPLITS:
            if one != other:
                assert not shares[one][0] & shares[other][0]
                a, b = (np.array(sorted(shares[split][1])) for split in (one, other))
                # Values lie in fifteenths of the interval, none of which two splits have in common.
                assert not set((a * 15).astype(int)) & set((b * 15).astype(int))
    assert set().union(*(shares[split][0] for split in SPLITS)) == set(range(25))


def test_splits_share_no_color_pose_or_lens(tables: list[tuple[Appearance, tuple[Player, ...]]]) -> None:
    focals: dict[int, set[int]] = {}
    grass: dict[int, set[tuple[float, ...]]] = {}
    for seed, (appearance, _) in enumerate(tables):
        lens = appearance.camera.lens
        field_of_view = np.degrees(2 * np.arctan(lens.size_px[0] / 2 / lens.focal_px[0]))
        focals.setdefault(seed % 3, set()).add(int((field_of_view - 48) / 40 * 15))
        grass.setdefault(seed % 3, set()).add(appearance.board.grass[0])
    assert not focals[0] & focals[1]
    assert not focals[0] & focals[2]
    assert not focals[1] & focals[2]
    assert not grass[0] & grass[1]
    assert not grass[0] & grass[2]
    assert not grass[1] & grass[2]
    assert len(POSES) >= 10


def test_a_split_needs_its_name() -> None:
    assert split_named("val") == "val"
    with pytest.raises(InputError, match="train, val, test"):
        split_named("validation")


def test_bases_of_one_make_are_nearly_alike() -> None:
    for seed in range(20):
        lengths = [size.length_mm for size in draw_bases(seed, 22)]
        gaps = np.diff(np.sort(lengths))
        assert np.sum(gaps > 0.5) <= 1  # at most two makes


def test_a_lens_that_is_not_invertible_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    off, bent = (923.5, 524.4), (-0.1101, 0.00023, -0.00057, -0.00045, 0.0)
    too_much = Lens((1920, 1080), (1020.4, 1019.6), off, bent)
    assert not is_invertible(too_much), "it reaches every corner of its picture"
    drawn = [too_much, draw_lens(Deck("train", 1), (1920, 1080))]
    monkeypatch.setattr("downfield.twin.randomization.cameras._any_lens", lambda _deck, _size: drawn.pop(0))
    assert is_invertible(draw_lens(Deck("train", 1), (1920, 1080)))
    assert not drawn


def test_lenses_of_small_pictures_are_drawn_too() -> None:
    for seed in range(20):
        lens = draw_lens(Deck("test", seed), (640, 360))
        assert lens.size_px == (640, 360)
