"""Hash rows and the side of the repeated digit, read in small pictures drawn from straight above."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
from setup_readings import solution
from small_prints import CAMERA, FIELD, SCALE, at_px, bare, with_marks

from downfield.calibration.field.marks.mark_rows import with_hash_rows
from downfield.calibration.field.marks.mirroring import mirrored_probability
from downfield.calibration.field.marks.repeated_digit import repeated_digit_sides
from downfield.calibration.field.verification import find_problems, gather_evidence
from downfield.core.arrays import Plane


@pytest.mark.parametrize("rows", [(20.0, 30.0), (23.5, 26.5), (17.0, 20.0, 30.0, 33.0)])
def test_hash_rows_are_found_where_they_are_also_double_ones(rows: tuple[float, ...]) -> None:
    wrong = dataclasses.replace(FIELD, hash_rows_y_yd=(15.0, 35.0))
    found = with_hash_rows(with_marks(rows, 0.9), CAMERA, wrong, 140.0)
    assert found is not None
    assert found.hash_rows_y_yd == pytest.approx(rows, abs=0.15)
    assert found.hash_length_yd == pytest.approx(0.9, abs=0.35)


@pytest.mark.parametrize("picture", [bare(), with_marks((0.8, 49.2), 0.9)])
def test_a_print_without_hash_rows_has_none_and_ticks_along_the_sidelines_are_none(picture: Plane) -> None:
    found = with_hash_rows(picture, CAMERA, FIELD, 140.0)
    assert found is not None
    assert (found.hash_rows_y_yd, [line for line in found.lines() if line.kind == "hash"]) == ((), [])


@pytest.mark.parametrize("off_yd", [0.3, 0.5, 1.25])
def test_marks_beside_the_yards_are_no_bare_ground(off_yd: float) -> None:
    aside = dataclasses.replace(CAMERA, translation_mm=(-400.0 + 8.0 * off_yd, 200.0, 560.0))
    assert with_hash_rows(with_marks((20.0, 30.0), 0.9), aside, FIELD, 140.0) is None


def test_a_row_in_one_half_only_is_no_hash_row() -> None:
    assert with_hash_rows(with_marks((14.0,), 0.9), CAMERA, FIELD, 140.0) is None


def with_numbers(face: int) -> Plane:
    """Paint the numbers with OpenCV's lettering, which the reader of digits has among its styles only in part."""
    image = bare()
    for number in FIELD.numbers():
        for i, mark in enumerate(number.text):
            digit = np.zeros((60, 44), np.uint8)
            cv2.putText(digit, "O" if mark == "0" else mark, (6, 48), face, 1.5, (140,), 4)
            small = cv2.resize(digit, (17, 40), interpolation=cv2.INTER_AREA).astype(np.float32)
            turned = number.up < 0
            if turned:
                small = small[::-1, ::-1]
            right = (i == 1) != turned
            x, y = at_px(number.x_yd, number.y_yd)
            left = x + 2 if right else x - 18
            image[y - 20 : y + 20, left : left + 17] += small
    return image


@pytest.mark.parametrize("face", [cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_SCRIPT_SIMPLEX])
def test_the_zeros_are_on_the_right_in_any_lettering_and_on_the_left_in_a_mirror(face: int) -> None:
    plane = with_numbers(face)
    assert repeated_digit_sides(plane, CAMERA, FIELD) == (1, 1)
    assert repeated_digit_sides(np.ascontiguousarray(plane[:, ::-1]), CAMERA, FIELD) == (-1, -1)


def test_numbers_that_are_covered_leave_open_whether_the_picture_is_mirrored() -> None:
    before = pytest.approx(0.03)  # of any camera
    assert mirrored_probability(bare(), CAMERA, FIELD) == before
    assert mirrored_probability(bare(), CAMERA, dataclasses.replace(FIELD, number_every_yd=0.0)) == before


def test_no_numbers_tell_nothing() -> None:
    assert repeated_digit_sides(bare(), CAMERA, FIELD) == (0, 0)


def test_numbers_on_other_lines_tell_nothing() -> None:
    plane = np.roll(with_numbers(cv2.FONT_HERSHEY_SIMPLEX), round(5 * 8 * SCALE), axis=1)
    assert repeated_digit_sides(plane, CAMERA, FIELD) == (0, 0)


def test_a_script_that_no_template_reads_is_accepted_as_it_is_and_never_in_a_mirror() -> None:
    plane = with_numbers(cv2.FONT_HERSHEY_SCRIPT_SIMPLEX)
    assert mirrored_probability(plane, CAMERA, FIELD) < 0.01
    assert mirrored_probability(np.ascontiguousarray(plane[:, ::-1]), CAMERA, FIELD) > 0.5


def test_marks_half_way_between_the_yards_of_a_reading_speak_against_it() -> None:
    """A print of 100 yards with a line every ten looks like one of 50 with a line every five, but for its marks."""
    text, fit = "marks half-way between the yards", solution().fit
    picture = with_marks((20.0, 30.0), 0.9)
    for field, wrong in (
        (FIELD, False),
        (dataclasses.replace(FIELD, length_yd=50.0, mm_per_yd_x=16.0, yard_line_every_yd=5.0), True),
    ):
        evidence = gather_evidence(picture, CAMERA, field, 1.8)
        assert any(text in problem for problem in find_problems(evidence, fit, field)) == wrong
