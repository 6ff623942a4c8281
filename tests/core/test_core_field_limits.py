"""A field that no board can have is refused by name: wrong units, slips, and descriptions that would never end."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import FieldError
from downfield.core.field.model import FieldModel, preset, preset_names
from downfield.core.field.painted_lines import LineStyle

MM_PER_INCH = 25.4
ATTIC = FieldModel("attic", "Attic", 100, 53.333, 10, 7.05, 9.28, 1.6, hash_rows_y_yd=(23.6, 29.7))


@pytest.mark.parametrize("unit", [10.0, MM_PER_INCH, 1000.0])
def test_sizes_in_another_unit_are_refused_with_the_size_they_make(unit: float) -> None:
    for name, along, across in (("centimeters or inches", 1 / unit, 1 / unit), ("one of them", 1.0, 1 / unit)):
        with pytest.raises(FieldError, match="Give millimeters for each yard") as refused:
            dataclasses.replace(ATTIC, mm_per_yd_x=7.05 * along, mm_per_yd_y=9.28 * across, line_mm=0.1 * along)
        assert "mm" in str(refused.value), name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"length_yd": 1e9, "mm_per_yd_x": 1e-6, "line_mm": 1e-7}, "mm_per_yd_y is"),
        ({"length_yd": 400, "mm_per_yd_x": 2.5}, "length_yd can't be above 200"),
        ({"end_zone_yd": 60}, "end_zone_yd can't be above 50"),
        ({"mm_per_yd_y": 40.0}, "mm_per_yd_y is 5.7 times mm_per_yd_x"),
        ({"hash_every_yd": 1e-7}, "hash_every_yd must be 0.2 or more, or 0 for none"),
        ({"number_every_yd": 1e-7}, "number_every_yd must be 1 or more"),
        ({"hash_rows_y_yd": (20.0,) * 9}, "hash_rows_y_yd has 9 rows; 8 are the most"),
        ({"hash_length_yd": 30.0}, "hash_length_yd can't be above 26.6665"),
        ({"number_height_yd": 30.0}, "number_height_yd can't be above 26.6665"),
        ({"margin_mm": (5.0, 2000.0)}, "margin_mm can't be above 1000"),
        ({"sideline": LineStyle(150.0)}, "sideline: width_mm can't be above 100"),
        ({"name": ""}, "name is empty"),
        ({"name": "a\x1b[31mb"}, "name must have at most 60 characters"),
        ({"title": "x" * 201}, "title must have at most 200 characters"),
    ],
)
def test_what_no_board_has_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(FieldError) as refused:
        dataclasses.replace(ATTIC, **change)
    assert says in str(refused.value)


@given(
    name=st.sampled_from(preset_names()),
    scale=st.floats(0.5, 2.0),
    hashes=st.floats(0.2, 5.0),
    rows=st.lists(st.floats(1.0, 25.0), max_size=8),
)
def test_any_board_of_half_to_twice_the_usual_size_is_accepted(
    name: str, scale: float, hashes: float, rows: list[float]
) -> None:
    field = preset(name)
    changed = dataclasses.replace(
        field,
        mm_per_yd_x=field.mm_per_yd_x * scale,
        mm_per_yd_y=field.mm_per_yd_y * scale,
        line_mm=field.line_mm * scale,
        hash_every_yd=hashes,
        hash_rows_y_yd=tuple(rows),
    )
    assert 0 < len(changed.lines()) < 10_000
