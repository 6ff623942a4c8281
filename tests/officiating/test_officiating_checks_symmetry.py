"""Symmetry of the formation checks: mirrored and rotated formations give the same results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineups import At, build, figure, front_seven, line, pro_set

from downfield.officiating.checks import alignment, backs, jerseys, kicks
from downfield.officiating.checks.check import Check, ClauseResult
from downfield.officiating.checks.formation import Formation

ALL: list[Check[Formation]] = [
    check
    for module in (alignment, backs, kicks, jerseys)
    for check in vars(module).values()
    if isinstance(check, Check)
]


def result_keys(check: Check[Formation], formation: Formation) -> list[tuple[object, ...]]:
    return sorted(map(_key, check(formation)), key=repr)


def _key(result: ClauseResult) -> tuple[object, ...]:
    margin = None if result.margin is None else round(result.margin, 6)
    return (result.outcome, tuple(sorted(result.players)), result.clauses, margin, round(result.probability, 6))


players_anywhere = st.lists(
    st.builds(At, st.floats(5, 18), st.floats(-20, 20), st.sampled_from(["", "QB", "RB", "WR"]), st.floats(-60, 60)),
    max_size=4,
)


@settings(max_examples=15)
@given(backfield=players_anywhere, others=players_anywhere)
def test_mirrored_and_rotated_formations_give_the_same_results(backfield: list[At], others: list[At]) -> None:
    offense, defense = [*line(), *backfield], [*front_seven()[:7], *others]

    def formation(**options: Any) -> Formation:
        return build(
            offense, defense, sigma_mm=0.4, sigma_deg=1.0, carrier="o7", gunners=("o7",), returner="d9", **options
        )

    plain, rotated = formation(line_yd=40.0), formation(line_yd=60.0, direction=-1)
    mirrored = formation(line_yd=40.0, mirror=True)
    for check in ALL:
        assert result_keys(check, rotated) == result_keys(check, plain), check.name
        assert result_keys(check, mirrored) == result_keys(check, plain), check.name


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_a_figure_far_off_the_field_changes_nothing(check: Check[Formation]) -> None:
    far = [figure("spare", "dark", 200.0, -90.0), figure("spare2", "light", -250.0, 100.0)]

    def formation(**options: Any) -> Formation:
        return build(pro_set(), front_seven(), carrier="o8", gunners=("o10",), returner="d8", **options)

    assert result_keys(check, formation(extra=far)) == result_keys(check, formation())
