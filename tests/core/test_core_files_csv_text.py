"""Tables as CSV: no text is calculated by a spreadsheet, and every text comes back as it was typed."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from downfield.core.files.csv_text import as_typed, csv_chunks, csv_text

TEXTS = st.one_of(
    st.text(), st.sampled_from(["=1+1", "'=1+1", "''@x", "-2", "'-2", "+x", "\tx", "'", "", "\n=x", "\uff1d1+1"])
)


@given(st.lists(st.lists(TEXTS.filter(lambda text: "\0" not in text), min_size=2, max_size=2), max_size=5))
def test_texts_come_back_as_they_were_typed_and_none_begins_a_formula(rows: list[list[str]]) -> None:
    written = csv_text(("a", "b"), rows)
    cells = list(csv.reader(io.StringIO(written, newline="")))[1:]
    assert not any(re.match("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]", cell) for row in cells for cell in row)
    assert [[as_typed(cell) for cell in row] for row in cells] == rows


def test_the_bytes_are_those_that_a_spreadsheet_opens_with_umlauts_in_place() -> None:
    written = csv_text(
        ("Mannschaft", "Trainer"), [("Grün-Weiß Müggelsee", 'Jörg "Jo" Öz, sen.'), ("=1+1", "two\nlines")]
    )
    assert written.encode() == (
        b"\xef\xbb\xbf"  # without it Excel takes the bytes for those of another alphabet
        b"Mannschaft,Trainer\r\n"
        b'Gr\xc3\xbcn-Wei\xc3\x9f M\xc3\xbcggelsee,"J\xc3\xb6rg ""Jo"" \xc3\x96z, sen."\r\n'
        b'\'=1+1,"two\nlines"\r\n'
    )


def test_numbers_stay_numbers_and_many_rows_come_in_parts() -> None:
    assert csv_text(("a", "b", "c", "d"), [(-1.5, True, None, False)]).splitlines()[1] == "-1.5,true,,false"
    assert len(list(csv_chunks(("a",), ((number,) for number in range(5000))))) == 3
