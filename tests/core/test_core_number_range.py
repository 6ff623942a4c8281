"""Numbers out of range are found in JSON text, and what has none is not searched number by number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.records import LARGEST, number_fault

near = st.integers(-3, 3)
numbers = st.one_of(
    st.builds(lambda off, sign: sign * (LARGEST + off), near, st.sampled_from([-1, 1])),
    st.builds(lambda digits, off: 10**digits + off, st.integers(0, 30), near),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.lists(st.dictionaries(st.text(max_size=3), numbers, max_size=3), max_size=4))
def test_a_number_out_of_range_is_found_wherever_it_is(data: list[dict[str, Any]]) -> None:
    expected = any(abs(number) > LARGEST for one in data for number in one.values())
    for text in (json.dumps(data), json.dumps(data).encode()):
        assert (number_fault(text) is not None) == expected


def test_times_of_the_day_do_not_make_every_number_of_a_scene_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(_: object) -> object:
        raise AssertionError("it was parsed to be searched")

    monkeypatch.setattr(json, "loads", parsed)
    assert number_fault('{"t_ns": 1800000003247714287, "figures": [{"x_mm": 123.25}]}') is None
