"""Tables of tracks as CSV and Parquet, chunk by chunk."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from downfield.core.errors import MissingExtraError
from downfield.core.files.csv_text import csv_chunks
from downfield.review.games.track_rows import COLUMN_TYPES, COLUMNS, TrackRow, TrackTable
from downfield.review.write_sink import WriteSink

_ROWS_OF_A_GROUP: Final = 50_000
"""Of a Parquet file: read and written together, about 8 MB."""


def tracks_csv(table: TrackTable) -> Iterator[bytes]:
    """Yield a table as CSV."""
    return csv_chunks(COLUMNS, map(_cells, table))


def tracks_parquet(table: TrackTable) -> Iterator[bytes]:
    """Yield a table as Parquet, compressed by Zstandard.

    Raises:
        MissingExtraError: pyarrow is not installed.

    """
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("analysis", "A Parquet file")
    return _parquet(table)


TRACK_FORMATS: Final[dict[str, Callable[[TrackTable], Iterator[bytes]]]] = {
    ".csv": tracks_csv,
    ".parquet": tracks_parquet,
}
"""By the ending of a file's name."""


def _parquet(table: TrackTable) -> Iterator[bytes]:
    import pyarrow
    import pyarrow.parquet

    whole, real, text, truth = pyarrow.int64(), pyarrow.float64(), pyarrow.string(), pyarrow.bool_()
    kinds: dict[type, Any] = {int: whole, float: real, str: text, bool: truth}
    schema = pyarrow.schema([(name, kinds[COLUMN_TYPES[name]]) for name in COLUMNS])
    sink = WriteSink()
    rows = map(_cells, table)
    with pyarrow.parquet.ParquetWriter(pyarrow.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        while group := list(islice(rows, _ROWS_OF_A_GROUP)):
            columns = zip(*group, strict=True)
            arrays = [pyarrow.array(column, kind.type) for column, kind in zip(columns, schema, strict=True)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            yield sink.take()
    yield sink.take()


def _cells(row: TrackRow) -> list[object]:
    return [getattr(row, name) for name in COLUMNS]
