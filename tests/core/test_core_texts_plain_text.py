"""Texts that people wrote are one line without anything that a terminal, a log or a table interprets."""

from __future__ import annotations

import json
import tomllib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downfield.core.texts import plain_text

TEXTS = st.text(st.characters(exclude_categories=()), max_size=40)
"""Every code point, half characters too."""


@given(TEXTS)
def test_whatever_people_write_is_one_line_without_control_characters(text: str) -> None:
    shown = plain_text(text)
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in shown)
    shown.encode()


@pytest.mark.parametrize("text", ["Zürich [Eis] 🏈", "Динамо", "[/x] [bold]", "a\\nb", ""])
def test_what_is_harmless_stays_as_it_was_written(text: str) -> None:
    assert plain_text(text) == text


def test_a_text_that_reverses_what_follows_is_written_out() -> None:
    assert plain_text("safe\u202etxt.exe") == "safe\\u202etxt.exe"


@given(st.text(max_size=40))
def test_a_document_of_json_or_toml_keeps_its_values(text: str) -> None:
    line = json.dumps(text, ensure_ascii=False)
    assert json.loads(plain_text(line)) == text
    if "\x7f" not in text:  # TOML has it escaped only
        assert tomllib.loads("name = " + plain_text(line)) == {"name": text}
