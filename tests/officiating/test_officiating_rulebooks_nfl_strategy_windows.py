"""NFL Strategy's card windows as numbers: the roll and the hash select the result and its dot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from card_games import CardGameTable
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.errors import RefusedError
from downfield.core.records import from_json, to_json
from downfield.officiating.rulebooks.nfl_strategy.handlers import read_windows
from downfield.officiating.unseen_declarations import CardPlayed, CardWindow, WindowResult

WINDOWS = (
    CardWindow(20, WindowResult("-2", "black"), WindowResult("-1", "red"), WindowResult("0", "blue")),
    CardWindow(45, WindowResult("3", "black"), WindowResult("4", "red"), WindowResult("5", "red")),
    CardWindow(70, WindowResult("6", "red"), WindowResult("7", "black"), WindowResult("8", "blue")),
    CardWindow(90, WindowResult("12", "red"), WindowResult("10F", "red"), WindowResult("9", "blue")),
    CardWindow(100, WindowResult("30", "red"), WindowResult("40", "blue"), WindowResult("25", "black")),
)
RUN = CardPlayed("run", roll=60, windows=WINDOWS)


def test_the_roll_and_the_hash_select_the_result_and_the_next_hash() -> None:
    table = CardGameTable().at(25)
    table.declare(RUN)
    assert (table.state.situation, table.state.hash) == ("2nd & 3 at H 32", "left")
    table.declare(RUN)
    assert (table.state.situation, table.state.hash) == ("1st & 10 at H 38", "center")


def test_after_a_penalty_roll_the_second_roll_selects() -> None:
    card = replace(RUN, roll=31, reroll=95)
    assert (read_windows(card, "right").shown, read_windows(card, "right").dot) == ("25", "black")


def test_a_result_beside_the_windows_must_agree() -> None:
    assert read_windows(replace(RUN, shown="7"), "center").dot == "black"
    with pytest.raises(RefusedError, match="is 7, not 6"):
        read_windows(replace(RUN, shown="6"), "center")
    with pytest.raises(RefusedError, match="dot in the windows is black, not red"):
        read_windows(replace(RUN, dot="red"), "center")


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        (replace(RUN, roll=None), "need a roll"),
        (replace(RUN, windows=WINDOWS[:2]), "no window is for a roll of 60"),
        (replace(RUN, windows=WINDOWS[::-1]), "higher roll"),
        (replace(RUN, windows=(replace(WINDOWS[0], rolls_to=101),)), "1 to 100"),
        (replace(RUN, windows=(replace(WINDOWS[4], blue=WindowResult("far")),)), "is not a result"),
        (CardPlayed("kneel", windows=WINDOWS), "without a card"),
    ],
)
def test_impossible_windows_are_refused_and_change_nothing(card: CardPlayed, reason: str) -> None:
    table = CardGameTable().at(25)
    before = table.state
    with pytest.raises(RefusedError, match=reason):
        table.declare(card)
    assert table.state == before


@given(roll=st.integers(1, 100))
def test_every_roll_is_in_exactly_one_window(roll: int) -> None:
    shown = read_windows(replace(RUN, roll=roll), "left").shown
    low = [0, *(window.rolls_to for window in WINDOWS)]
    place = next(k for k in range(5) if low[k] < roll <= low[k + 1])
    assert shown == WINDOWS[place].black.shown


def test_windows_are_kept_in_the_journal_s_form() -> None:
    assert from_json(CardPlayed, to_json(CardPlayed, RUN), path="card") == RUN
