"""Numbers with the noun they count."""

from __future__ import annotations

import pytest

from downfield.core.texts import counted


@pytest.mark.parametrize(
    ("number", "noun", "verb", "text"),
    [
        (1, "player", "", "1 player"),
        (0, "player", "", "0 players"),
        (2, "entry", "", "2 entries"),
        (3, "play", "", "3 plays"),
        (1, "player", "stand", "1 player stands"),
        (2, "player", "stand", "2 players stand"),
        (1, "entry", "were", "1 entry was"),
        (0, "call", "are", "0 calls are"),
    ],
)
def test_a_noun_is_in_the_plural_unless_there_is_one(number: int, noun: str, verb: str, text: str) -> None:
    assert counted(number, noun, verb) == text
