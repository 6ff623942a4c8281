"""Varied tables: possible, apart between splits, and without what would give the front away."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from downfield.core.arrays import Array
from downfield.core.footprint import Footprint, signed_gap
from downfield.core.scene import Player
from downfield.twin.randomization.cameras import LEAST_PX_PER_MM, board_outline_mm
from downfield.twin.randomization.colors import hanging
from downfield.twin.randomization.deck import SPLITS, Deck
from downfield.twin.randomization.molds import STANCES, draw_mold, draw_stance
from downfield.twin.randomization.tables import draw_players, draw_table, draw_varied_ball
from downfield.twin.sets.arrange import Arranger, Mix, obstacles_on, without_obstacles
from downfield.twin.table.appearance import Appearance, Solid, Wear
from downfield.twin.table.board_print import soiled
from downfield.twin.table.solids import cloud

TABLES = 24
Table = tuple[Appearance, tuple[Player, ...]]


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    out = []
    for seed in range(TABLES):
        split = SPLITS[seed % len(SPLITS)]
        players = draw_players(seed, variety="wide", split=split)[::3]
        appearance = draw_table(seed, players, variety="wide", split=split, carriers=0.2, strewn=0.2)
        out.append((appearance, players))
    return out


def figures(tables: list[Table]) -> Iterator[tuple[tuple[Solid, ...], Player]]:
    for appearance, players in tables:
        for figure, player in zip(appearance.figures, players, strict=True):
            yield tuple(solid for solid in figure.solids if solid.part not in {"ball", "strewn"}), player


def low_and_high_mm(solids: list[Solid]) -> tuple[Array, Array]:
    points = cloud(solids).reshape(-1, 3)
    return points.min(axis=0), points.max(axis=0)


def test_a_base_is_exactly_its_players_size_and_nothing_lies_over_its_top_but_the_player(tables: list[Table]) -> None:
    for solids, player in figures(tables):
        base = player.base
        assert [solid.part for solid in solids].count("base") == 1
        assert solids[0].part == "base"
        assert solids[0].size_mm[:2] == pytest.approx((base.length_mm / 2, base.width_mm / 2))
        details = [solid for solid in solids if solid.part == "other"]
        top_mm = low_and_high_mm([solids[0], *details])[1][2]
        assert base.height_mm - 1e-6 <= top_mm < base.height_mm + 0.07, "its layers reach the top"
        if details:
            low, high = low_and_high_mm(details)
            assert (np.abs([low[:2], high[:2]]) <= [base.length_mm / 2, base.width_mm / 2]).all()


def test_players_stand_on_their_bases(tables: list[Table]) -> None:
    for solids, player in figures(tables):
        body = [solid for solid in solids if solid.part in {"body", "helmet"}]
        low, high = low_and_high_mm(body)
        assert low[2] > player.base.height_mm - 4.5  # glued on aslant, or on shoes that sink into the base a little
        assert 12 < high[2] - player.base.height_mm < 85
        assert [solid.part for solid in solids].count("helmet") == 1


def test_the_front_of_a_base_is_not_told_by_its_details(tables: list[Table]) -> None:
    """A dial is at the rear of many, ahead on many others, or absent."""
    dials = [
        next((solid.position_mm[0] for solid in solids if solid.part == "other" and solid.kind == "cylinder"), 0.0)
        for solids, _ in figures(tables)
    ]
    shares = [np.mean(np.sign(dials) == sign) for sign in (-1, 0, 1)]
    assert min(shares) > 0.08


def test_helmets_stand_out_over_the_base_of_many_upright_figures(tables: list[Table]) -> None:
    out = []
    for solids, player in figures(tables):
        helmet = next(solid for solid in solids if solid.part == "helmet")
        reach = np.abs(helmet.position_mm[:2]) + helmet.size_mm[0]
        out.append((reach > [player.base.length_mm / 2, player.base.width_mm / 2]).any())
    assert 0.06 < np.mean(out) < 0.6


def test_splits_share_no_stance() -> None:
    known = [
        {STANCES.index(stance) for seed in range(40) for stance in draw_mold(Deck(split, seed)).stances}
        for split in SPLITS
    ]
    assert not known[0] & known[1]
    assert not known[0] & known[2]
    assert not known[1] & known[2]
    assert sum(map(len, known)) == len(STANCES)


def test_a_stance_is_drawn_either_way_round_and_never_twice_the_same() -> None:
    deck = Deck("train", 3)
    lopsided = dataclasses.replace(STANCES[18], loose=2.0)  # one arm back
    drawn = [draw_stance(deck, (lopsided,)) for _ in range(60)]
    twists = np.array([stance.twist for stance in drawn])
    assert min(np.mean(twists > 8), np.mean(twists < -8)) > 0.2
    assert len({stance.lean for stance in drawn}) == len(drawn)


def test_a_hanging_limb_is_raised_ahead_and_to_its_own_side() -> None:
    np.testing.assert_allclose(hanging(0, 0, 1), [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(hanging(90, 0, 1), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(hanging(0, 90, -1), [0, -1, 0], atol=1e-12)


def test_boards_are_in_the_picture_at_many_resolutions(tables: list[Table]) -> None:
    resolutions = []
    for appearance, _ in tables:
        outline = board_outline_mm(appearance.field, appearance.board)
        seen = appearance.camera.to_pixels(outline)
        assert (seen >= 0).all()
        assert (seen <= np.array(appearance.camera.lens.size_px) - 1).all()
        resolutions.append(np.ptp(seen[:, 0]) / np.ptp(outline[:, 0]))
    assert min(resolutions) > 0.7 * LEAST_PX_PER_MM
    assert max(resolutions) > 1.8 * min(resolutions)


def test_light_adds_up_to_one(tables: list[Table]) -> None:
    for appearance, _ in tables:
        assert sum(lamp.strength for lamp in appearance.lamps) + appearance.ambient == pytest.approx(1)
        assert appearance.ambient > 0.05
    assert any(lamp.half_mm for appearance, _ in tables for lamp in appearance.lamps)


def test_bases_stand_clear_of_what_lies_on_the_board(tables: list[Table]) -> None:
    met = 0
    for appearance, players in tables[:8]:
        obstacles = obstacles_on(appearance.field, appearance.clutter)
        rng = np.random.default_rng(appearance.seed)
        for pose in Arranger(appearance, players, rng, None, obstacles).arrange(10**9, 10**7)[1].figures:
            w, x, y, z = pose.rotation
            if abs(x) + abs(y) > 0.1:
                continue
            base = next(player.base for player in players if player.id == pose.id)
            footprint = Footprint(pose.position_mm[0], pose.position_mm[1], np.degrees(2 * np.arctan2(z, w)), base)
            middle = footprint.corners_mm().mean(axis=0)
            met += int((np.hypot(*(obstacles[:, :2] - middle).T) < base.width_mm / 2 - 1).sum())
    assert any(len(obstacles_on(appearance.field, appearance.clutter)) for appearance, _ in tables[:8])
    assert met == 0


def test_in_piles_bodies_lie_on_bases_teams_stand_flush_and_balls_lie_on_lines(tables: list[Table]) -> None:
    mix = Mix(fallers=0.3, piled=True, carried_chance=0.0, loose_chance=0.8)
    raised, flush, on_lines = 0, 0, 0
    for number, (appearance, players) in enumerate(tables):
        arranger = Arranger(appearance, players, np.random.default_rng(number), mix)
        for _ in range(4):
            here = arranger.arrange(10**9, 10**7)[1]
            clouds = [cloud(figure.solids).reshape(-1, 3) for figure in appearance.figures]
            turns = [Rotation.from_quat(pose.rotation, scalar_first=True) for pose in here.figures]
            lowest = [
                (turn.apply(points) + pose.position_mm)[:, 2].min()
                for turn, points, pose in zip(turns, clouds, here.figures, strict=True)
            ]
            assert min(lowest) > -1.0, "nobody is under the board"
            raised += sum(low > 2.0 and not pose.in_hand for low, pose in zip(lowest, here.figures, strict=True))
            bases = [
                (
                    Footprint(
                        pose.position_mm[0], pose.position_mm[1], turn.as_euler("zyx", degrees=True)[0], who.base
                    ),
                    who,
                )
                for pose, turn, who in zip(here.figures, turns, players, strict=True)
                if turn.as_matrix()[2, 2] > 0.9
            ]
            flush += sum(
                one[1].jersey == other[1].jersey and 0 < signed_gap(one[0], other[0]).gap_mm < 0.6
                for one, other in itertools.combinations(bases, 2)
            )
            if here.ball is not None:
                apart = appearance.field.length_mm / 20
                off = (here.ball.position_mm[0] + apart / 2) % apart - apart / 2
                on_lines += abs(off) < 1.0
    assert raised > 5
    assert flush > 5
    assert on_lines > 5


def test_a_play_of_the_physics_has_a_clear_field(tables: list[Table]) -> None:
    for appearance, _ in tables:
        clear = without_obstacles(appearance)
        for x, y, _ in obstacles_on(clear.field, clear.clutter):
            assert not (0 < x < clear.field.length_mm and 0 < y < clear.field.width_mm)
        assert set(clear.clutter) <= set(appearance.clutter)


@pytest.mark.parametrize("kind", ["foam", "magnetic"])
def test_balls_of_every_size_lie_on_the_board(kind: str) -> None:
    rest = {"foam": 2.5, "magnetic": 3.0}[kind]  # the height that arrangements put a ball's middle at
    widths = []
    for seed in range(40):
        ball = draw_varied_ball(Deck("train", seed), kind)  # type: ignore[arg-type]
        low, high = low_and_high_mm(list(ball.solids[:1]))
        assert low[2] == pytest.approx(-rest, abs=0.2)
        widths.append(high[0] - low[0])
    assert min(widths) < 4.5
    assert max(widths) > 8


def test_a_clean_board_stays_as_it_is_and_a_dirty_one_does_not() -> None:
    plain = np.full((120, 200, 3), 90, dtype=np.uint8)
    rng = np.random.default_rng(1)
    assert (soiled(plain.copy(), Wear(), 1.0, rng) == plain).all()
    marked = soiled(plain.copy(), Wear(marks=3), 1.0, rng)
    assert 0.001 < (marked != plain).any(axis=2).mean() < 0.9
    stained = soiled(plain.copy(), Wear(soil=0.05), 1.0, rng).astype(float)
    assert 1 < stained.std() < 12
