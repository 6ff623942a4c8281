"""Calls judged by an older version: what it did not keep is said, and no number is made up for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.field.model import load_field
from downfield.game.published.call_views import CallContext, call_view
from downfield.game.published.game_topics import CallView
from downfield.game.records.entries import GameStarted, record_of
from downfield.officiating.calls import Call
from downfield.officiating.conditions import Condition
from downfield.officiating.rulebooks.rulebook import load_rulebook

RECORD, FIELD = record_of(load_rulebook("efl")), load_field("ultimate")
NOTE = "Judged by Downfield 0.2.0, which kept one percentage for everything that a call rests on."


def shown(version: str, probability: float = 0.7, **changes: object) -> CallView:
    """A tackle whose gap alone would be surer than it was called with."""
    known = {"margin": 0.9, "sigma": 0.3, "unit": "mm", "probability": probability, **changes}
    call = Call("c", "tackle", 10**9, "efl", (), "called", "", ("dark-1", "light-2"), **known)  # type: ignore[arg-type]
    return call_view(call, CallContext(GameStarted(RECORD, FIELD, version=version), lambda _: ""))


def test_a_percentage_that_may_hold_more_than_the_gap_gets_no_margin_made_up_for_it() -> None:
    view = shown("0.2.0")
    assert (view.older, view.basis, view.margin, view.measured) == (NOTE, "more", None, "")
    assert view.frame_measured == "+0.90 ± 0.30 mm"
    assert view.words == "touched: gap closed at 1.00 s; sure to 70 %"
    assert shown("0.3.0").basis == "history"


@pytest.mark.parametrize("version", ["0.3.0", "0.3.1.dev1", "1.0", "10.2.0", "", "unknown"])
def test_versions_that_kept_it_and_unknown_ones_are_not_blamed(version: str) -> None:
    assert shown(version).older == ""


def test_nothing_is_said_where_nothing_was_in_doubt_or_everything_was_kept() -> None:
    assert shown("0.2.0", margin=None, sigma=None, probability=1.0).older == ""
    assert shown("0.2.0", margin=3.0, sigma=0.0, probability=1.0).older == ""
    kept = (Condition("touch", 0.9, 0.9, 0.7, "mm"), Condition("square", 0.7))
    assert shown("0.2.0", probability=0.63, conditions=kept).older == ""


@given(st.floats(-5, 5), st.floats(0.01, 3), st.floats(0, 1))
def test_a_margin_is_shown_only_where_the_percentage_is_its_own(
    margin: float, sigma: float, probability: float
) -> None:
    view = shown("0.1.0", probability, margin=margin, sigma=sigma)
    assert view.basis in {"frame", "more"}
    assert (view.margin is None) == (view.basis == "more")
