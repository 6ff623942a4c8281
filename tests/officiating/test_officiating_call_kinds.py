"""One table of what kinds of calls mean, and lists that follow from it."""

from __future__ import annotations

from typing import get_args

import pytest

from downfield.officiating.call_kinds import (
    CONTACTS,
    CROSSINGS,
    DEAD_BALL,
    GOAL_LINE,
    MEANINGS,
    PLAY_CALLS,
    RUN_ENDS,
    SCORES,
    SPOTTED,
    TURNOVERS,
    CallKind,
)


def test_every_kind_has_one_line_in_the_order_of_the_names() -> None:
    assert tuple(MEANINGS) == get_args(CallKind)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (RUN_ENDS, CONTACTS | CROSSINGS),
        (SPOTTED, DEAD_BALL),
        (SPOTTED - {"stoppage"}, PLAY_CALLS),
        (SCORES, PLAY_CALLS),
        (TURNOVERS - {"turnover_on_downs"}, PLAY_CALLS),
    ],
)
def test_what_follows_from_one_column_holds_in_the_others(
    smaller: frozenset[CallKind], larger: frozenset[CallKind]
) -> None:
    assert smaller <= larger


def test_a_call_is_no_contact_and_crossing_at_once_and_no_score_ends_where_the_ball_is() -> None:
    assert not CONTACTS & CROSSINGS
    assert not SCORES & SPOTTED
    assert not SCORES & TURNOVERS
    assert {"touchdown", "safety"} == GOAL_LINE & SCORES
