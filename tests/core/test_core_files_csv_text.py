"""Tables as CSV: no text is calculated by a spreadsheet, and every text comes back as it was typed."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from downfield.core.files.csv_text import as_typed, csv_chunks, csv_text

TEXTS = st.one_of(st.text(), st.sampled_from(["=1+1", "'=1+1", "''@x", "-2", "'-2", "+x", "\tx", "'", ""]))


@given(st.lists(st.lists(TEXTS.filter(lambda text: "\0" not in text), min_size=2, max_size=2), max_size=5))
def test_texts_come_back_as_they_were_typed_and_none_begins_a_formula(rows: list[list[str]]) -> None:
    written = csv_text(("a", "b"), rows)
    cells = list(csv.reader(io.StringIO(written, newline="")))[1:]
    assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in cells for cell in row)
    assert [[as_typed(cell) for cell in row] for row in cells] == rows


def test_numbers_stay_numbers_and_many_rows_come_in_parts() -> None:
    assert csv_text(("a", "b", "c", "d"), [(-1.5, True, None, False)]).splitlines()[1] == "-1.5,true,,false"
    assert len(list(csv_chunks(("a",), ((number,) for number in range(5000))))) == 3
