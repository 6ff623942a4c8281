"""Records with changes: the same that `dataclasses.replace` makes, and refused where it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from downfield.core.errors import InputError
from downfield.core.records import check, record, replace


@record
class Spot:
    yd: float
    side: str = "home"
    notes: tuple[str, ...] = ()


@record
class Checked:
    yd: float
    side: str = "home"

    def __post_init__(self) -> None:
        check(self.yd >= 0, InputError, "a spot lies on the field")


@dataclasses.dataclass(frozen=True)
class Open:
    yd: float
    side: str = "home"


@pytest.mark.parametrize(
    "before", [Spot(3.0, notes=("a",)), Checked(3.0), Open(3.0)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("changes", [{}, {"yd": 4.0}, {"side": "away", "yd": 0.0}])
def test_a_record_with_changes_is_the_one_that_python_makes(before: Any, changes: dict[str, object]) -> None:
    kept = dataclasses.asdict(before)
    assert replace(before, **changes) == dataclasses.replace(before, **changes)
    assert dataclasses.asdict(before) == kept, "what was there is as it was"


def test_what_a_record_checks_is_checked_in_a_changed_one() -> None:
    with pytest.raises(InputError, match="a spot lies on the field"):
        replace(Checked(3.0), yd=-1.0)


@pytest.mark.parametrize("before", [Spot(3.0), Checked(3.0)])
def test_a_field_that_a_record_does_not_have_is_refused(before: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'yards'"):
        replace(before, yards=4.0)
