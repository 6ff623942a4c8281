"""Where one-yard marks begin and end, read in small pictures drawn from straight above."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from print_conventions import photograph_table, rough_field
from small_prints import CAMERA, FIELD, at_px, bare, with_marks

from downfield.calibration.field.marks.yard_marks import marked_steps, marks_log_odds
from downfield.calibration.field.solver import solve_field
from downfield.core.arrays import Plane

PAINT = 140.0


def with_checkered_ends(plane: Plane) -> Plane:
    """Cover the first and the last ten yards with squares of the lines' color, the goal lines in one with them."""
    for first in (0.0, 90.0):
        for i in range(3):
            for j in range(15):
                if (i + j) % 2:
                    corners = (first + i * 10 / 3, j * 50 / 15), (first + (i + 1) * 10 / 3, (j + 1) * 50 / 15)
                    cv2.rectangle(plane, at_px(*corners[0]), at_px(*corners[1]), 220.0, -1)
    return plane


@pytest.mark.parametrize("rows", [(20.0, 30.0), (0.6, 49.4), (17.0, 20.0, 30.0, 33.0)])
def test_hash_marks_and_ticks_show_the_whole_field(rows: tuple[float, ...]) -> None:
    assert marked_steps(with_marks(rows, 0.9), CAMERA, FIELD, PAINT) == (0, 20)


def test_marks_end_at_the_goal_lines_of_a_shorter_field_with_checkered_end_zones() -> None:
    plane = with_checkered_ends(with_marks((20.0, 30.0), 0.9, between_yd=(10, 90)))
    assert marked_steps(plane, CAMERA, FIELD, PAINT) == (2, 18)


@pytest.mark.parametrize("steps", [-3, 1, 4])
def test_a_camera_that_mistakes_the_goal_line_and_is_three_pixels_off_is_told_by_how_much(steps: int) -> None:
    x, y, z = CAMERA.translation_mm
    moved = dataclasses.replace(CAMERA, translation_mm=(x + steps * 40.0 + 2.4, y, z))
    plane = with_marks((20.0, 30.0), 0.9)
    assert marked_steps(plane, moved, FIELD, PAINT) == (-steps, 20 - steps)


def test_dark_marks_on_light_ground_are_marks_too() -> None:
    plane = np.asarray(255 - with_marks((20.0, 30.0), 0.9), dtype=np.float32)
    assert marked_steps(plane, CAMERA, FIELD, -PAINT) == (0, 20)


def test_a_hand_over_some_steps_hides_neither_end() -> None:
    plane = with_marks((20.0, 30.0), 0.9)
    plane[:, 400:560] = 60.0
    assert marked_steps(plane, CAMERA, FIELD, PAINT) == (0, 20)


def test_marks_that_fade_at_one_end_tell_nothing() -> None:
    faint = with_marks((20.0, 30.0), 0.9, level=80 + 0.35 * PAINT)
    clear = with_marks((20.0, 30.0), 0.9)
    x, _ = at_px(95, 0)
    plane = np.hstack([clear[:, :x], faint[:, x:]])
    assert marked_steps(plane, CAMERA, FIELD, PAINT) is None


def test_bare_ground_has_no_marks() -> None:
    assert marked_steps(bare(), CAMERA, FIELD, PAINT) is None


@pytest.mark.parametrize("seed", [1023, 1072])
def test_checkered_end_zones_and_sidelines_like_their_ground_are_no_hindrance(seed: int) -> None:
    # 1023: squares of the paint's color adjoin the goal lines, which are no ridges for it. 1072: the border's inner
    # edges hardly show and its outer ones clearly do, so that the ends of the yard lines alone tell how wide it is.
    table = photograph_table(seed)
    found = solve_field([table.image], [rough_field(table, seed)])
    length, width = table.field.length_yd, table.field.width_yd
    goals = np.array([(x, y) for x in (0.0, length) for y in (3.0, width - 3.0)])
    seen = table.camera.to_pixels(goals * table.field.mm_per_yd)
    yards = found.fit.camera.to_board(seen) / found.field.mm_per_yd
    assert np.abs(yards - goals).max() < 0.1


@pytest.mark.parametrize(("marked", "against"), [((2, 18), True), ((-1, 19), True), (None, False), ((0, 20), False)])
def test_marks_elsewhere_speak_against_the_goal_lines(marked: tuple[int, int] | None, against: bool) -> None:
    assert (marks_log_odds(marked, FIELD) < -3) == against


@pytest.mark.parametrize("marked", [(0, 18), (1, 20), (-1, 22)])
def test_covered_marks_and_checkered_end_zones_say_little(marked: tuple[int, int]) -> None:
    assert -2 < marks_log_odds(marked, FIELD) < 0 < 3 < marks_log_odds((0, 20), FIELD)
