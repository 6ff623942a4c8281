"""Files are in the order in which they were written, whatever the computer's clock said meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from downfield.core.files.facts import by_date, date_last


@given(st.lists(st.integers(0, 2**62), max_size=8))
def test_files_are_in_the_order_in_which_they_were_written(clock_ns: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for number, at_ns in enumerate(clock_ns):
            path = Path(folder, f"{number * 37 % 11}")
            path.write_bytes(b"")
            os.utime(path, ns=(at_ns, at_ns))
            date_last(path, Path(folder).iterdir())
            written.append(path)
        assert by_date(Path(folder).iterdir()) == written


def test_a_clock_that_goes_on_is_believed(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for path, at_ns in ((first, 10**18), (second, 2 * 10**18)):
        path.write_bytes(b"")
        os.utime(path, ns=(at_ns, at_ns))
    date_last(second, [first, second, tmp_path / "gone"])
    assert second.stat().st_mtime_ns == 2 * 10**18
