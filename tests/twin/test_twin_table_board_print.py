"""The print: paint lies where the field model says, to hundredths of a millimeter."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from downfield.core.field.model import FieldModel, preset, preset_names
from downfield.core.field.painted_lines import PaintedLine
from downfield.twin.table.appearance import BoardAppearance, Color, Numerals
from downfield.twin.table.board_print import BoardPrint, paint

BLACK: Color = (0.0, 0.0, 0.0)
WHITE: Color = (1.0, 1.0, 1.0)
RED: Color = (1.0, 0.0, 0.0)


def plain(**changes: object) -> BoardAppearance:
    """White paint on black, new and without signs."""
    appearance = BoardAppearance(
        grass=(BLACK,),
        stripe_yd=5.0,
        line=WHITE,
        end_zones=(BLACK, BLACK),
        lettering=("", ""),
        midfield=0.0,
        texture=0.0,
        wear=0.0,
        gloss=0.0,
        rail=BLACK,
        rail_mm=(0.0, 0.0),
        bow_mm=0.0,
        seed=1,
        border=BLACK,
        emblem=BLACK,
    )
    return dataclasses.replace(appearance, **changes)  # type: ignore[arg-type]


def across_profile(board: BoardPrint, line: PaintedLine) -> NDArray[np.float64]:
    """Brightness along the short way across a line, away from others that cross it, per pixel of the print."""
    x_mm, y_mm = (low + 0.513 * (high - low) for low, high in (line.x_mm, line.y_mm))
    x, y = board.to_print_px(np.array([x_mm, y_mm]))
    row, column = round(y), round(x)
    strip = board.image[row, :, 0] if line.is_across else board.image[:, column, 0]
    return strip.astype(np.float64) / 255


@pytest.mark.parametrize("name", preset_names())
def test_both_edges_of_every_line_lie_where_the_field_says(name: str) -> None:
    field = dataclasses.replace(preset(name), number_every_yd=0.0, hash_every_yd=0.0)
    board = paint(field, plain(), 1.37)
    for line in field.lines():
        low, high = line.x_mm if line.is_across else line.y_mm
        strip = across_profile(board, line)
        origin = board.origin_mm[0] if line.is_across else board.origin_mm[1]
        sign = 1 if line.is_across else -1
        centers = origin + sign * (np.arange(len(strip)) + 0.5) / board.px_per_mm
        touched = np.flatnonzero((strip > 0.02) & (np.abs(centers - (low + high) / 2) < 2 * field.line_mm))
        first, last = touched[0], touched[-1]
        # Each end pixel is covered from its inner edge by its brightness.
        start = origin + sign * (first + 1 - strip[first]) / board.px_per_mm
        end = origin + sign * (last + strip[last]) / board.px_per_mm
        assert sorted((start, end)) == pytest.approx([low, high], abs=0.02)
        assert np.all(strip[first + 1 : last] > 0.99)


@settings(max_examples=15)
@given(st.floats(0.6, 3.0))
def test_the_print_covers_the_board_at_any_resolution(px_per_mm: float) -> None:
    field = preset("mini")
    board = paint(field, plain(), px_per_mm)
    x_low, y_low, x_high, y_high = field.board_mm
    upper_left, lower_right = board.to_print_px(np.array([[x_low, y_high], [x_high, y_low]]))
    np.testing.assert_allclose(upper_left, -0.5)
    rows, columns = board.image.shape[:2]
    assert np.all(lower_right <= np.array([columns, rows]) - 0.5)
    assert np.all(lower_right > np.array([columns, rows]) - 1.5)


def test_hash_marks_are_painted_and_end_where_they_should() -> None:
    field = dataclasses.replace(preset("ultimate"), number_every_yd=0.0)
    board = paint(field, plain(), 2.0)
    marks = [line for line in field.lines() if line.kind == "hash"]
    for line in marks[::17]:
        (left, top), (right, bottom) = board.to_print_px(
            np.array([[line.x_mm[0], line.y_mm[1]], [line.x_mm[1], line.y_mm[0]]])
        )
        window = board.image[int(top) - 2 : int(bottom) + 4, int(left) - 2 : int(right) + 4, 0] / 255
        area_mm2 = window.sum() / board.px_per_mm**2
        expected = (line.x_mm[1] - line.x_mm[0]) * (line.y_mm[1] - line.y_mm[0])
        assert area_mm2 == pytest.approx(expected, rel=0.03)


def test_numbers_stand_on_both_sides_of_their_line_and_face_their_sideline() -> None:
    field: FieldModel = dataclasses.replace(preset("tudor-620"), hash_every_yd=0.0)
    bare = dataclasses.replace(field, number_every_yd=0.0)
    appearance = plain(arrows=False)
    inked = paint(field, appearance, 2.0).image[:, :, 0].astype(int) - paint(bare, appearance, 2.0).image[:, :, 0]
    for number in field.numbers():
        x, y = paint_px(field, number.x_yd, number.y_yd)
        half = field.number_height_yd * field.mm_per_yd_y
        window = inked[int(y - 2 * half) : int(y + 2 * half), int(x - 12 * 7.1 / 2) : int(x + 12 * 7.1 / 2)]
        left, right = np.array_split(window > 128, 2, axis=1)
        assert left.sum() > 50
        assert right.sum() > 50
    four_low = next(n for n in field.numbers() if n.text == "40" and n.up == 1)
    assert four_low.y_yd < field.width_yd / 2


def paint_px(field: FieldModel, x_yd: float, y_yd: float) -> tuple[float, float]:
    """A place in field yards, in pixels of a print at 2 px/mm."""
    x_low, _, _, y_high = field.board_mm
    return (x_yd * field.mm_per_yd_x - x_low) * 2.0, (y_high - y_yd * field.mm_per_yd_y) * 2.0


def test_stripes_end_zones_and_border_have_their_colors() -> None:
    field = dataclasses.replace(preset("mini"), number_every_yd=0.0, hash_every_yd=0.0)
    dark, light, red, blue, gray = (0.1, 0.3, 0.1), (0.2, 0.5, 0.2), (0.8, 0.1, 0.1), (0.1, 0.1, 0.8), (0.5, 0.5, 0.5)
    board = paint(field, plain(grass=(dark, light), end_zones=(red, blue), border=gray), 2.0)

    def at(x_yd: float, y_yd: float) -> list[float]:
        column, row = board.to_print_px(field.to_mm(np.array([x_yd, y_yd]))).round().astype(int)
        return [round(float(v) / 255, 1) for v in board.image[row, column, ::-1]]

    assert at(-5, 20) == [0.8, 0.1, 0.1]
    assert at(105, 20) == [0.1, 0.1, 0.8]
    # Stripes count from the left end line: ten yards of end zone are two of them.
    assert at(2.5, 20) == [0.1, 0.3, 0.1]
    assert at(7.5, 20) == [0.2, 0.5, 0.2]
    assert at(50, -1.2) == [0.5, 0.5, 0.5]


def test_wear_removes_paint_at_places_drawn_from_the_seed() -> None:
    field = dataclasses.replace(preset("mini"), number_every_yd=0.0)
    new, worn, other = (paint(field, plain(wear=wear, seed=seed), 1.5) for wear, seed in ((0, 1), (0.6, 1), (0.6, 2)))
    assert worn.image.sum() < 0.9 * new.image.sum()
    assert np.any(worn.image != other.image)
    np.testing.assert_array_equal(worn.image, paint(field, plain(wear=0.6, seed=1), 1.5).image)


@pytest.mark.parametrize(
    ("numerals", "widens", "reddens"),
    [
        (Numerals(gap=0.0), False, False),
        (Numerals(stretch=1.5), True, False),
        (Numerals(slant=0.2), True, False),
        (Numerals(rim=RED), True, True),
        (Numerals(ink=RED), False, True),
    ],
)
def test_numbers_are_painted_in_the_style_of_the_board(numerals: Numerals, widens: bool, reddens: bool) -> None:
    usual, styled = (number_at_20(plain(numerals=style)) for style in (Numerals(), numerals))
    assert (wide_px(styled) > wide_px(usual)) == widens
    assert bool((styled[..., 2] > styled[..., 0] + 100.0).any()) == reddens


def test_a_bar_through_digits_is_painted_or_cut_out() -> None:
    usual, barred, cut = (
        number_at_20(plain(numerals=Numerals(bar=bar)), lines=False).sum() for bar in (0.0, 0.12, -0.12)
    )
    assert cut < usual < barred


def test_numbers_lie_under_the_yard_line_or_over_it_and_along_the_field_or_across() -> None:
    under, over = (
        number_at_20(plain(line=WHITE, numerals=Numerals(gap=0.0, ink=RED, is_over_lines=is_over)))
        for is_over in (False, True)
    )
    middle = under.shape[1] // 2
    assert (under[:, middle] > 200).all(), "the line is white"
    assert (over[:, middle, 0] < 100).any(), "a red digit covers it"
    across = number_at_20(plain(numerals=Numerals(gap=0.0, is_sideways=True)), lines=False)
    along = number_at_20(plain(numerals=Numerals(gap=0.0)), lines=False)
    assert wide_px(along) > tall_px(along)
    assert wide_px(across) < tall_px(across)


def number_at_20(appearance: BoardAppearance, *, lines: bool = True) -> NDArray[np.float64]:
    """What is printed within four yards and a half of the lower 20 on the left."""
    field = dataclasses.replace(preset("tudor-620"), number_height_yd=1.0, hash_every_yd=0.0)
    if not lines:
        field = dataclasses.replace(field, yard_line_every_yd=field.length_yd)
    board = paint(field, dataclasses.replace(appearance, arrows=False), 3.0)
    number = next(one for one in field.numbers() if one.text == "20" and one.x_yd == 20)
    at_mm = np.array([number.x_yd * field.mm_per_yd_x, number.y_yd * field.mm_per_yd_y])
    (x, y), reach = board.to_print_px(at_mm).round().astype(int).tolist(), round(4.5 * field.mm_per_yd_x * 3.0)
    return np.asarray(board.image[y - reach : y + reach, x - reach : x + reach], np.float64)


def wide_px(picture: NDArray[np.float64]) -> int:
    """The width of what is printed off the yard line."""
    columns = np.flatnonzero((picture.max(axis=2) > 100).any(axis=0) & ~(picture.max(axis=2) > 100).all(axis=0))
    return int(np.ptp(columns))


def tall_px(picture: NDArray[np.float64]) -> int:
    return int(np.ptp(np.flatnonzero((picture.max(axis=2) > 100).any(axis=1))))
