"""The tracks of a game or a play, read back from its journal: a row for each figure and frame, as CSV or Parquet."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any, Final, get_type_hints

from downfield.core.errors import InputError, MissingExtraError, NotFoundError
from downfield.core.field.model import FieldModel
from downfield.core.files.csv_text import csv_chunks
from downfield.core.records import record
from downfield.core.scene import Figure, Scene
from downfield.core.track_files import TrackFile
from downfield.game.records.entries import unpack_scenes
from downfield.review.zip_container import WriteSink
from downfield.store.database.reader import StoreReader
from downfield.store.history import History


def batched_scenes(
    store: StoreReader, history: History, from_ns: float = -math.inf, to_ns: float = math.inf
) -> Iterator[Scene]:
    """Yield the scenes of all batches that reach into a span of time, as the journal has them; no other is read."""
    for batch in history.batches:
        if batch.last_ns >= from_ns and batch.first_ns <= to_ns:
            attachment = store.attachment(history.row.id, batch.seq) or b""
            yield from unpack_scenes(attachment, where=f"game {history.row.id}, entry {batch.seq}")


def game_scenes(store: StoreReader, history: History, span_ns: tuple[int, int] | None = None) -> Iterator[Scene]:
    """Yield a game's scenes; their times rise, as one that is not later than all before it is left out.

    Args:
        span_ns: the first and the last instant; None for the whole game. Only the entries of the span are read.

    Raises:
        FormatError: the journal can't be read.
        OutputError: the store can't be read.
    """
    from_ns, to_ns = span_ns or (-math.inf, math.inf)
    latest_ns = -math.inf
    for scene in batched_scenes(store, history, from_ns, to_ns):
        if scene.t_ns > latest_ns:
            latest_ns = scene.t_ns
            time.sleep(0)  # lets go of the interpreter: a game at the table goes on meanwhile
            if from_ns <= scene.t_ns <= to_ns:
                yield scene


@record
class TrackRow:
    """One figure in one frame."""

    t_ns: int  # capture time, ns on the clock of the recording
    t_s: float  # seconds since the play's snap; before the first snap since the first frame
    frame: int  # index in the recording
    play: int  # number of the play in the game, from 1; 0 before the first snap
    figure: str  # roster id
    jersey: str  # `dark` or `light`
    number: str  # on its back; empty where it is not known
    # x_yd, y_yd: center of the base, field yards along from the left goal line and across from the lower sideline;
    # empty while the figure is lost
    x_yd: float | None
    y_yd: float | None
    # x_mm, y_mm: the same on the board, mm
    x_mm: float | None
    y_mm: float | None
    heading_deg: float | None  # where its front points, degrees counter-clockwise from +x, -180 to 180
    # sigma_x_mm, sigma_y_mm: standard deviation of the position, mm
    sigma_x_mm: float
    sigma_y_mm: float
    sigma_deg: float  # of the heading, degrees
    posture: str  # `upright`, `fallen`, `lifted` (in a hand) or `unseen` (the position is predicted)
    sure: bool  # whether vision is sure which figure it is
    board: str  # whether the board's motor runs: `on`, `off` or `unknown`
    touching: bool  # whether it more probably than not touches an opponent's base


COLUMNS: Final = tuple(field.name for field in dataclasses.fields(TrackRow))

COLUMN_TYPES: Final[dict[str, type]] = {
    name: next(kind for kind in (int, float, str, bool) if kind in {hint, *getattr(hint, "__args__", ())})
    for name, hint in get_type_hints(TrackRow).items()
}
"""Of each column: int, float, str or bool."""

_EVEN_ODDS: Final = 0.5

_Place = tuple[float | None, float | None, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class TrackTable:
    """The rows of a game, or of one of its plays; read anew each time. Raises NotFoundError: it has no such play."""

    store: StoreReader
    history: History
    play: int | None = None  # number of the play; None for the whole game

    def __post_init__(self) -> None:
        count = len(self.history.snaps())
        if self.play is not None and not 1 <= self.play <= count:
            known = f"It has the plays 1 to {count}." if count else "No play of it has begun."
            raise NotFoundError(f"The game has no play {self.play}. {known}")

    def __iter__(self) -> Iterator[TrackRow]:
        """Yield the rows in order of time, those of a frame in the order of the roster."""
        started = self.history.started
        if started is None:
            raise InputError(f"game {self.history.row.id}: its journal does not start with the start of the game")
        snaps_ns = [snap.t_ns for snap in self.history.snaps()]
        first_ns: int | None = None
        numbers: dict[str, str] = {}
        numbered_play = -1
        for scene in game_scenes(self.store, self.history, self._span_ns(snaps_ns)):
            first_ns = scene.t_ns if first_ns is None else first_ns
            play = bisect_right(snaps_ns, scene.t_ns)
            if play != numbered_play:
                numbers = {player.id: player.number for player in self.history.players(scene.t_ns)}
                numbered_play = play
            from_ns = snaps_ns[play - 1] if play else first_ns
            yield from _rows(scene, play, from_ns, numbers, started.field)

    def _span_ns(self, snaps_ns: list[int]) -> tuple[int, int] | None:
        if self.play is None:
            return None
        end_ns = snaps_ns[self.play] - 1 if self.play < len(snaps_ns) else 2**63 - 1
        return snaps_ns[self.play - 1], end_ns


@dataclass(frozen=True, slots=True)
class FileTrackTable:
    """The rows of a track file; a play begins whenever the board is switched on. Read anew each time."""

    tracks: TrackFile

    def __iter__(self) -> Iterator[TrackRow]:
        """Yield the rows in order of time, those of a frame in the order of the roster."""
        header = self.tracks.header
        numbers = {player.id: player.number for player in header.players}
        play, from_ns, board = 0, None, ""
        for scene in self.tracks:
            if from_ns is None or (scene.board == "on" != board):
                play, from_ns = play + (scene.board == "on"), scene.t_ns
            board = scene.board
            yield from _rows(scene, play, from_ns, numbers, header.field)


def _rows(scene: Scene, play: int, from_ns: int, numbers: dict[str, str], field: FieldModel) -> Iterator[TrackRow]:
    jersey = {figure.id: figure.jersey for figure in scene.figures}
    touching = {
        name
        for contact in scene.contacts
        if contact.probability > _EVEN_ODDS and jersey.get(contact.a) != jersey.get(contact.b)
        for name in (contact.a, contact.b)
    }
    for figure in scene.figures:
        yield TrackRow(
            scene.t_ns,
            round((scene.t_ns - from_ns) / 1e9, 6),
            scene.frame,
            play,
            figure.id,
            figure.jersey,
            numbers.get(figure.id, ""),
            *_place(figure, field),
            round(figure.sigma_mm[0], 3),
            round(figure.sigma_mm[1], 3),
            round(figure.sigma_deg, 3),
            figure.posture,
            figure.sure,
            scene.board,
            figure.id in touching,
        )


def _place(figure: Figure, field: FieldModel) -> _Place:
    """Return where a figure is in yards and mm, and its heading; all None while it may be anywhere."""
    if figure.lost:
        return None, None, None, None, None
    return (
        round(figure.x_mm / field.mm_per_yd_x, 4),
        round(figure.y_mm / field.mm_per_yd_y, 4),
        round(figure.x_mm, 3),
        round(figure.y_mm, 3),
        round(figure.heading_deg, 3),
    )


_ROWS_OF_A_GROUP: Final = 50_000  # Of a Parquet file: read and written together, about 8 MB


def tracks_csv(table: Iterable[TrackRow]) -> Iterator[bytes]:
    """Yield a table as CSV."""
    return csv_chunks(COLUMNS, map(_cells, table))


def tracks_parquet(table: Iterable[TrackRow]) -> Iterator[bytes]:
    """Yield a table as Parquet, compressed by Zstandard. Raises MissingExtraError: pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("analysis", "A Parquet file")
    return _parquet(table)


TRACK_FORMATS: Final[dict[str, Callable[[Iterable[TrackRow]], Iterator[bytes]]]] = {
    ".csv": tracks_csv,
    ".parquet": tracks_parquet,
}
"""By the ending of a file's name."""


def _parquet(table: Iterable[TrackRow]) -> Iterator[bytes]:
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


_cells: Final = attrgetter(*COLUMNS)
