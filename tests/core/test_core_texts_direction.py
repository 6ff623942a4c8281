"""Names written from right to left keep to themselves within a sentence."""

from __future__ import annotations

import pytest

from downfield.review.reports.markup import isolate_names


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Oakdale 7, הפועל ירושלים 3", "Oakdale 7, \u2068הפועל ירושלים\u2069 3"),
        ("1st & 10 at النصر 40", "1st & 10 at \u2068النصر\u2069 40"),
        ("הפועל, مكابي", "\u2068הפועל\u2069, \u2068مكابي\u2069"),
        ("הפועל ירושלים", "הפועל ירושלים"),
        ("Ō'Brien & Söhne 7, 左 3", "Ō'Brien & Söhne 7, 左 3"),
        ("", ""),
    ],
)
def test_a_name_within_a_sentence_is_isolated(text: str, shown: str) -> None:
    assert isolate_names(text) == shown
