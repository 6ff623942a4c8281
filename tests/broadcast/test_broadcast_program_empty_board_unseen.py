"""Where figures have hidden the board so far it is continued from around them: arms cover the paint from the start."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from program_scenes import BASE, FIELD, lines, nominal_camera, paint_seen, painted_area, painter

from downfield.broadcast.program.empty_board import CONTINUED, DOUBTFUL, SEEN, UNSURE, EmptyBoard, UnseenBoard
from downfield.broadcast.program.figure_volume import figure_volumes
from downfield.core.arrays import Image
from downfield.core.scene import Figure, Scene

SIZE = (960, 540)
CAMERA = nominal_camera(3, SIZE)
GREEN, WHITE, PURPLE = (60, 112, 70), (225, 230, 228), (190, 118, 130)
SKIN, CLOTH = (110, 140, 205), (120, 40, 30)
PRINTED_X_MM = 44.0 * FIELD.mm_per_yd_x + 8.0  # beside the middle of the first painted line
PLACE_MM = (44.0 * FIELD.mm_per_yd_x, 0.45 * FIELD.width_mm)
FIGURE = Figure("dark-1", "dark", *PLACE_MM, 0.0, BASE.length_mm, BASE.width_mm, BASE.corner_mm)
VOLUME = figure_volumes([FIGURE], {"dark-1": BASE.height_mm}, CAMERA)["dark-1"]


def filled(points_mm: list[tuple[float, float, float]]) -> NDArray[np.uint8]:
    """Return 255 inside an outline over the board."""
    out = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    cv2.fillConvexPoly(out, np.round(CAMERA.to_pixels(np.array(points_mm))).astype(np.int32), 255)
    return out


def printed(x_mm: float = PRINTED_X_MM) -> Image:
    """Return a green board with one printed white line across it."""
    image = np.full((SIZE[1], SIZE[0], 3), GREEN, np.uint8)
    ends = (0.0, FIELD.width_mm)
    outline = [(x_mm + side, y, 0.0) for side, y in ((-3, ends[0]), (3, ends[0]), (3, ends[1]), (-3, ends[1]))]
    image[filled(outline) > 0] = WHITE
    noise = np.random.default_rng(5).normal(0, 2.0, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def body() -> NDArray[np.uint8]:
    """Return 255 where base and body of the figure are."""
    out = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    for outline in (VOLUME.base_px, VOLUME.body_px):
        cv2.fillConvexPoly(out, np.round(outline).astype(np.int32), 255)
    return out


def arms() -> NDArray[np.uint8]:
    """Return 255 where arms of the figure are that it stretches out."""
    x, y = PLACE_MM
    return filled([(x - 3, y - 24, 40.0), (x + 3, y - 24, 40.0), (x + 3, y + 24, 40.0), (x - 3, y + 24, 40.0)])


def paint_left(image: Image) -> NDArray[np.bool_]:
    """Return where paint is seen in the first picture ever, of a figure that has not moved yet."""
    painted = painter(3, SIZE).paint(image, Scene(0, 0, "on", (FIGURE,)), lines()).image
    return paint_seen(image, painted)


def shrunk(mask: NDArray[np.uint8], size: int) -> NDArray[np.bool_]:
    return cv2.erode(mask, np.ones((size, size), np.uint8)) > 0


def grown(mask: NDArray[np.uint8], size: int) -> NDArray[np.bool_]:
    return cv2.dilate(mask, np.ones((size, size), np.uint8)) > 0


def test_arms_over_a_board_that_was_never_seen_cover_the_paint_and_nothing_beside_them_does() -> None:
    image = printed()
    image[arms() > 0] = SKIN
    image[body() > 0] = CLOTH
    area = painted_area(CAMERA)
    seen = paint_left(image)
    beside_body = shrunk(arms(), 3) & ~grown(body(), 5) & area
    assert beside_body.sum() > 60
    assert seen[beside_body].mean() < 0.05
    free = area & ~grown(arms(), 7) & ~grown(body(), 7)
    assert seen[free].mean() > 0.99


@pytest.mark.parametrize("beside_mm", [-9.0, 0.0, 9.0])
def test_a_printed_line_under_a_figure_that_has_not_moved_is_no_arm(beside_mm: float) -> None:
    image = printed(PLACE_MM[0] + beside_mm)
    image[body() > 0] = CLOTH
    near = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    cv2.fillConvexPoly(near, np.round(VOLUME.reach_px).astype(np.int32), 255)
    free = painted_area(CAMERA) & (near > 0) & ~grown(body(), 7)
    assert free.sum() > 300
    assert paint_left(image)[free].mean() > 0.97


def test_a_logo_under_a_figure_is_no_arm_where_prints_of_three_colors_meet() -> None:
    left, top, right, bottom = VOLUME.box
    image = np.full((SIZE[1], SIZE[0], 3), GREEN, np.uint8)
    image[top : bottom + 60, left:right] = PURPLE  # it goes on below the figure
    image[top:bottom, left - 60 : left] = WHITE
    image[body() > 0] = CLOTH
    near = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    cv2.fillConvexPoly(near, np.round(VOLUME.reach_px).astype(np.int32), 255)
    free = painted_area(CAMERA) & (near > 0) & ~grown(body(), 7)
    assert free.sum() > 300
    assert paint_left(image)[free].mean() > 0.95


def test_what_was_continued_is_replaced_by_what_is_seen_later() -> None:
    board = EmptyBoard(CAMERA, FIELD)
    x, y = PLACE_MM
    ((column, row),) = np.round(CAMERA.to_pixels(np.array([(x - 12.0, y, 0.0)]))).astype(int).tolist()
    hidden = printed()
    hidden[body() > 0] = CLOTH
    board.learn(hidden, 0, None, [VOLUME])
    assert board.known[row, column] in (CONTINUED, UNSURE, DOUBTFUL)
    assert np.abs(board.image[row, column].astype(int) - GREEN).max() < 12
    shown = printed()
    shown[row - 4 : row + 5, column - 4 : column + 5] = (20, 30, 160)  # a mark that nobody could have known of
    board.learn(shown, 1_000_000_000, None, [])
    assert board.known[row, column] == SEEN
    assert np.abs(board.image[row, column].astype(int) - (20, 30, 160)).max() < 12


def test_a_line_is_continued_across_a_hidden_place_and_only_the_line() -> None:
    image = printed()
    known = np.full((SIZE[1], SIZE[0]), 255, np.uint8)
    x, y = PRINTED_X_MM, 0.5 * FIELD.width_mm
    ((column, row),) = np.round(CAMERA.to_pixels(np.array([(x, y, 0.0)]))).astype(int).tolist()
    box = (column - 30, row - 20, column + 31, row + 21)
    known[box[1] : box[3], box[0] : box[2]] = 0
    truth = image[box[1] : box[3], box[0] : box[2]].astype(int)
    image[known == 0] = 0
    (dark, bright, _), there = UnseenBoard(CAMERA, FIELD).continued(image, known, box)
    assert there.all()
    away = np.minimum(*(np.abs(one.astype(int) - truth).max(axis=2) for one in (dark, bright)))
    assert (away < 30).mean() > 0.95  # at its edges the line is blurred
    assert np.abs(bright[20, 30].astype(int) - WHITE).max() < 30
    assert np.abs(dark[20, 30].astype(int) - GREEN).max() < 20
    for side in (5, 55):
        assert np.abs(dark[20, side].astype(int) - bright[20, side]).max() < 16


def test_nothing_is_continued_while_nothing_was_seen() -> None:
    nothing = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    _, there = UnseenBoard(CAMERA, FIELD).continued(printed(), nothing, (200, 200, 300, 260))
    assert not there.any()
