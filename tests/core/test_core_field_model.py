"""The printed field as data: presets, paint, yards, and refusals that name the key."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import FieldError, FormatError, InputError
from downfield.core.field.model import (
    FieldModel,
    describe_measured,
    load_field,
    measured_field_toml,
    preset,
    preset_names,
)
from downfield.core.field.painted_lines import LineStyle, LineZero
from downfield.core.records import from_data


@pytest.mark.parametrize("name", preset_names())
def test_presets_say_where_their_dimensions_come_from(name: str) -> None:
    field = preset(name)
    assert field.name == name
    assert field.measured or "easure" in field.source


@pytest.mark.parametrize(
    ("name", "length_in", "width_in"),
    [("ultimate", 48, 24), ("tudor-620", 36, 21), ("mini", 26, 15), ("arena-50", 42, 18), ("canadian", 36, 21)],
)
def test_presets_fill_the_boards_they_are_named_for(name: str, length_in: float, width_in: float) -> None:
    x0, y0, x1, y1 = preset(name).board_mm
    assert x1 - x0 == pytest.approx(length_in * 25.4, abs=2)
    assert y1 - y0 == pytest.approx(width_in * 25.4, abs=3)


def test_monster_is_60_by_26_5_inches_inbounds() -> None:
    field = preset("monster")
    assert field.length_mm + 2 * field.end_zone_mm == pytest.approx(60 * 25.4, abs=1)
    assert field.width_mm == pytest.approx(26.5 * 25.4, abs=1)


def test_a_yard_has_its_own_scale_along_and_across() -> None:
    field = preset("tudor-620")
    assert np.allclose(field.to_yards(np.array([71.0, 93.0])), [10, 10])
    assert field.mm_per_yd_y / field.mm_per_yd_x > 1.2


@given(st.sampled_from(preset_names()), st.floats(-20, 130), st.floats(-5, 70))
def test_yards_and_millimeters_round_trip(name: str, x_yd: float, y_yd: float) -> None:
    field = preset(name)
    there = np.array([x_yd, y_yd])
    assert np.allclose(field.to_yards(field.to_mm(there)), there, atol=1e-9)


@pytest.mark.parametrize("name", preset_names())
def test_sidelines_lie_out_of_bounds_and_goal_lines_in_the_end_zone(name: str) -> None:
    field = preset(name)
    sidelines = [line for line in field.lines() if line.kind == "sideline"]
    goals = [line for line in field.lines() if line.kind == "goal_line"]
    assert [line.y_mm for line in sidelines] == [(-field.line_mm, 0), (field.width_mm, field.width_mm + field.line_mm)]
    assert [line.x_mm for line in goals] == [(-field.line_mm, 0), (field.length_mm, field.length_mm + field.line_mm)]


@pytest.mark.parametrize("name", preset_names())
def test_yard_lines_are_centered_and_hash_marks_leave_them_free(name: str) -> None:
    field = preset(name)
    lines = field.lines()
    yard_lines = [line for line in lines if line.kind == "yard_line"]
    assert len(yard_lines) == field.length_yd / field.yard_line_every_yd - 1
    for line in yard_lines:
        assert sum(line.x_mm) / 2 / field.mm_per_yd_x % field.yard_line_every_yd == pytest.approx(0, abs=1e-6)
        assert line.is_across
    for mark in (line for line in lines if line.kind == "hash"):
        nearest = min(abs(sum(mark.x_mm) / 2 - sum(line.x_mm) / 2) for line in yard_lines)
        assert nearest > field.mm_per_yd_x * 0.9


def test_the_paint_is_symmetric_under_a_half_turn() -> None:
    field = preset("ultimate")
    turned = {
        (line.kind, *(round(field.length_mm - x, 6) for x in line.x_mm[::-1]))
        for line in field.lines()
        if line.kind != "hash"
    }
    assert turned == {(line.kind, *(round(x, 6) for x in line.x_mm)) for line in field.lines() if line.kind != "hash"}


def test_numbers_count_up_to_midfield_and_down_again() -> None:
    lower = [number.text for number in preset("ultimate").numbers() if number.y_yd < 20]
    assert lower == ["10", "20", "30", "40", "50", "40", "30", "20", "10"]


def test_a_canadian_field_has_two_fifties_and_an_arena_none() -> None:
    canadian = [number.text for number in preset("canadian").numbers() if number.y_yd < 30]
    assert canadian == ["10", "20", "30", "40", "50", "50", "40", "30", "20", "10"]
    assert max(int(number.text) for number in preset("arena-50").numbers()) == 20


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "field.toml"
    path.write_text(text)
    return str(path)


GOOD = """
name = "attic"
title = "Attic board"
length_yd = 100
width_yd = 53.3
end_zone_yd = 10
mm_per_yd_x = 7.0
mm_per_yd_y = 9.0
line_mm = 1.5
"""


def test_a_user_writes_a_field_in_toml(tmp_path: Path) -> None:
    assert load_field(written(tmp_path, GOOD)).mm_per_yd_y == 9.0


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (("line_mm = 1.5", "line_mm = 0"), "line_mm must be above 0"),
        (("line_mm = 1.5", "line_mm = 90"), "line_mm (90) would cover"),
        (("line_mm = 1.5", ""), "line_mm: missing"),
        (("line_mm = 1.5", "line_mmm = 1.5"), "line_mmm: unknown key"),
        (("mm_per_yd_x = 7.0", 'mm_per_yd_x = "wide"'), "mm_per_yd_x: must be a number"),
        (("mm_per_yd_x = 7.0", "mm_per_yd_x = nan"), "mm_per_yd_x: must be a finite number"),
        (("line_mm = 1.5", "line_mm = 1.5\nyard_line_every_yd = 7"), "does not divide"),
        (("line_mm = 1.5", "line_mm = 1.5\nhash_rows_y_yd = [70]"), "hash_rows_y_yd: 70 is outside"),
        (('name = "attic"', "name = attic"), "broken TOML"),
    ],
)
def test_a_broken_field_is_refused_by_name(tmp_path: Path, change: tuple[str, str], names: str) -> None:
    with pytest.raises(FormatError, match=r"field\.toml") as refusal:
        load_field(written(tmp_path, GOOD.replace(*change)))
    assert names in str(refusal.value)


def test_an_unknown_preset_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(InputError, match=r"no field is named 'nope'\. Give one of arena-50, canadian"):
        load_field("nope")


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_field(str(tmp_path / "gone.toml"))


def test_an_impossible_field_is_refused_in_python_too() -> None:
    with pytest.raises(FieldError, match="width_yd must be above 0"):
        dataclasses.replace(preset("mini"), width_yd=-1)


def test_a_field_without_end_zones_or_hashes_still_has_its_lines() -> None:
    field = FieldModel("street", "Street", 50, 20, 0, 10, 10, 2, hash_every_yd=0)
    kinds = {line.kind for line in field.lines()}
    assert kinds == {"sideline", "goal_line", "yard_line"}


def test_each_kind_of_line_has_its_own_width_and_place() -> None:
    thick = LineStyle(4.0, "center")
    field = dataclasses.replace(preset("mini"), goal_line=thick, sideline=LineStyle(6.0, "outer"))
    goals = [line.x_mm for line in field.lines() if line.kind == "goal_line"]
    sides = [line.y_mm for line in field.lines() if line.kind == "sideline"]
    assert goals == [(-2.0, 2.0), (field.length_mm - 2.0, field.length_mm + 2.0)]
    assert sides == [(0.0, 6.0), (field.width_mm - 6.0, field.width_mm)]


@given(
    st.sampled_from(preset_names()),
    st.text(max_size=12),
    st.one_of(st.none(), st.floats(0.2, 3)),
    st.sampled_from((None, "inner", "center", "outer")),
    st.booleans(),
)
def test_a_field_written_as_toml_is_read_back(
    name: str, source: str, width_mm: float | None, zero: LineZero | None, measured: bool
) -> None:
    style = LineStyle(width_mm and round(width_mm, 4), zero)
    field = dataclasses.replace(preset(name), source=source, goal_line=style, end_line=style, measured=measured)
    assert from_data(FieldModel, tomllib.loads(measured_field_toml(field)), path="x") == field


def test_what_a_picture_showed_of_a_print_is_said_in_one_line() -> None:
    described = preset("tudor-620")
    found = dataclasses.replace(
        described,
        mm_per_yd_y=9.4,
        goal_line=LineStyle(3.12, "center"),
        sideline=LineStyle(4.6, "inner"),
        number_rows_y_yd=(11.2, 42.1),
    )
    text = describe_measured(described, found)
    assert "goal lines 3.1 mm, centered on the goal" in text
    assert "border 4.6 mm" in text
    assert "numbers 11.2 yd from the sidelines" in text
    assert "a yard across is 1.324 yards along" in text
    assert not describe_measured(described, described)
