"""One device at a time sets up a table; it keeps control while its page is open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.api.table_setup import SILENT_S, SetupControl
from downfield.core.errors import RefusedError


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_nobody_is_in_control_before_somebody_does_something() -> None:
    control = SetupControl(Clock())
    assert [control.look(device) for device in ("phone", "tablet", None)] == ["free"] * 3
    control.act("phone")
    assert [control.look(device) for device in ("phone", "tablet", None)] == ["yours", "other", "other"]


def test_others_are_refused_until_they_take_over() -> None:
    control = SetupControl(Clock())
    control.act("phone")
    control.act("phone")
    with pytest.raises(RefusedError, match="Continue here"):
        control.act("tablet")
    control.take_over("tablet")
    control.act("tablet")
    with pytest.raises(RefusedError, match="Another phone or computer"):
        control.act("phone")


def test_a_page_that_was_left_loses_control_and_one_that_looks_keeps_it() -> None:
    clock = Clock()
    control = SetupControl(clock)
    control.act("phone")
    for _ in range(3):
        clock.now_s += SILENT_S - 1
        assert control.look("phone") == "yours"
        assert control.look("tablet") == "other", "a page that only watches must not keep another's control"
    clock.now_s += SILENT_S
    assert control.look("tablet") == "free"
    control.act("tablet")
    assert control.look("phone") == "other"


def test_a_program_is_never_refused_and_never_in_control() -> None:
    control = SetupControl(Clock())
    control.act(None)
    assert control.look("phone") == "free"
    control.act("phone")
    control.act(None)
    assert control.look("phone") == "yours"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["act", "look", "take"]), st.floats(0, 20))))
def test_at_most_one_device_is_in_control(steps: list[tuple[str, str, float]]) -> None:
    clock = Clock()
    control = SetupControl(clock)
    for device, what, wait_s in steps:
        clock.now_s += wait_s
        if what == "take":
            control.take_over(device)
        elif what == "act" and control.look(device) != "other":
            control.act(device)
        seen = sorted(control.look(each) for each in "abc")
        assert seen in (["free"] * 3, ["other", "other", "yours"])
