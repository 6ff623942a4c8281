"""What a job finds, as tables: one row for each game, each call and each change, written as Parquet.

Nothing in a row depends on when, where or in what order games were judged, and tables are joined in the order of the
games, so the same job makes the same bytes on any number of machines.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from downfield.core.records import record
from downfield.desk.archive.items import ArchivedItem
from downfield.officiating.calls import Call, CallNumbers
from downfield.officiating.engine.recording import CallDifference

GAMES, CALLS, CHANGES = "games", "calls", "changes"
TABLES: Final = (CALLS, CHANGES, GAMES)
"""In the order they are written for a game: it is finished once it has its row in the last one."""

_ROWS_OF_A_GROUP: Final = 50_000  # Of a Parquet file: read and written together


@record
class GameResult:
    """What became of one game in a job: a row of ``games.parquet``."""

    item: str  # id of the item in the archive
    game: str  # id of the game; the name of a recording
    began_ns: int  # when it began, wall clock, ns since 1970; 0 where that is not known
    # title, home, away, table, event: as in the archive
    title: str
    home: str
    away: str
    table: str
    event: str
    rulebook_before: str  # the rulebook it was played under; empty where not known
    rulebook: str  # the rulebook it was judged under; empty where it failed
    state: str  # `done`, or `failed`
    reason: str  # why it failed, in words; empty where it did not
    calls: int  # how many calls it has now
    changes: int  # how many of them are new, changed or gone
    refused: int  # how many events the state did not allow
    # home_score_before, away_score_before: as the game stood in the bundle; empty where not known
    home_score_before: int | None
    away_score_before: int | None
    # home_score, away_score: now; empty where it failed
    home_score: int | None
    away_score: int | None
    text: str  # the game at the end, on one line


@record
class CallResult:
    """One call that a game has now: a row of ``calls.parquet``, without its numbers."""

    # item, game: of the game
    item: str
    game: str
    number: int  # of the call in the game, from 1
    call: str
    t_ns: int  # the instant it is about, ns on the clock of the recording
    rulebook: str  # under which it was made
    # kind, verdict, text, players, clauses, side, detail: as of the call
    kind: str
    verdict: str
    text: str
    players: tuple[str, ...]
    clauses: tuple[str, ...]
    side: str | None
    detail: str
    # spot_x_yd, spot_y_yd: where the ball is spotted, field yards along and across
    spot_x_yd: float | None
    spot_y_yd: float | None
    # margin, sigma, unit: by how much the rule is met and the standard deviation of that
    margin: float | None
    sigma: float | None
    unit: str
    probability: float  # that it is right
    front: float  # probability that the ends of bases it rests on are the fronts
    # frame_margin, frame_sigma: what the decisive frame alone showed
    frame_margin: float | None
    frame_sigma: float | None
    conditions: tuple[str, ...]  # the things measured that the probability is the joint one of, where those are several
    # condition_probabilities, condition_margins, condition_sigmas, condition_units: of each of them
    condition_probabilities: tuple[float, ...]
    condition_margins: tuple[float | None, ...]
    condition_sigmas: tuple[float | None, ...]
    condition_units: tuple[str, ...]
    together: str  # whether all of them must hold, or `any` is enough
    because: tuple[str, ...]  # ids of the events and calls it rests on
    readings: tuple[str, ...]  # both readings of a call that is too close, in words


_AS_OF_THE_CALL: Final = {field.name for field in dataclasses.fields(Call)} & {
    field.name for field in dataclasses.fields(CallResult)
} - {"conditions", "readings"}
"""What a row has as the call has it."""


@record
class ChangeResult:
    """One call that is new, changed or gone: a row of ``changes.parquet``."""

    # item, game: of the game
    item: str
    game: str
    number: int  # of the change in the game, from 1, in order of time
    t_ns: int  # when, ns on the clock of the recording
    change: str  # `made` now, `changed`, or `withdrawn`
    # kind_before, verdict_before, text_before, clauses_before: of the call in the bundle; empty where it has none
    kind_before: str | None
    verdict_before: str | None
    text_before: str | None
    clauses_before: tuple[str, ...]
    # spot_x_yd_before, spot_y_yd_before: where that spotted the ball, field yards
    spot_x_yd_before: float | None
    spot_y_yd_before: float | None
    # kind, verdict, text, clauses, spot_x_yd, spot_y_yd: of the call now; empty where there is none
    kind: str | None
    verdict: str | None
    text: str | None
    clauses: tuple[str, ...]
    spot_x_yd: float | None
    spot_y_yd: float | None


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item with what it comes to."""

    item: ArchivedItem
    rulebook: str
    rulebook_before: str  # it was played under; empty where not known
    score_before: tuple[int, int] | None  # home, away; None where that is not known
    calls: Sequence[Call]
    differences: Sequence[CallDifference]  # between the two, in order of time
    refused: int  # how many events the state did not allow
    score: tuple[int, int]  # home, away
    text: str  # the game at the end, on one line

    @property
    def game_row(self) -> GameResult:
        """Its row of ``games.parquet``."""
        home_before, away_before = self.score_before or (None, None)
        return GameResult(
            *_labels(self.item),
            rulebook_before=self.rulebook_before,
            rulebook=self.rulebook,
            state="done",
            reason="",
            calls=len(self.calls),
            changes=len(self.differences),
            refused=self.refused,
            home_score_before=home_before,
            away_score_before=away_before,
            home_score=self.score[0],
            away_score=self.score[1],
            text=self.text,
        )

    @property
    def call_rows(self) -> list[dict[str, Any]]:
        """Its rows of ``calls.parquet``."""
        return [_call_row(self.item, number, call) for number, call in enumerate(self.calls, start=1)]

    @property
    def change_rows(self) -> list[dict[str, Any]]:
        """Its rows of ``changes.parquet``."""
        return [_change_row(self.item, number, one) for number, one in enumerate(self.differences, start=1)]


def failed(item: ArchivedItem, reason: str) -> GameResult:
    """Return the row of a game that could not be judged."""
    return GameResult(*_labels(item), item.rulebook, "", "failed", reason, 0, 0, 0, None, None, None, None, "")


def parquet_bytes(table: str, rows: Sequence[dict[str, Any]]) -> bytes:
    """Return rows of one of the `TABLES` as a Parquet file; the same bytes for the same rows."""
    out = io.BytesIO()
    _write(out, table, iter([list(rows)]))
    return out.getvalue()


def game_rows(content: bytes) -> list[GameResult]:
    """Return the rows of a ``games.parquet``."""
    import pyarrow.parquet

    return [GameResult(**row) for row in pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()]


def join_tables(table: str, parts: Iterable[bytes], out: Path) -> None:
    """Write the Parquet files of games as one of the `TABLES`, in their order. Raises OSError: it can't be written."""
    import pyarrow.parquet

    with out.open("wb") as file:
        _write(file, table, (pyarrow.parquet.read_table(io.BytesIO(part)).to_pylist() for part in parts))


def _write(out: Any, table: str, parts: Iterator[list[dict[str, Any]]]) -> None:
    """Write rows that come part by part, so that a season need not be in memory."""
    import pyarrow
    import pyarrow.parquet

    kinds = {GAMES: GameResult, CALLS: CallResult, CHANGES: ChangeResult}
    columns = {name: _column(hint) for name, hint in get_type_hints(kinds[table]).items()}
    if table == CALLS:
        columns |= {f"n_{name}": _column(hint) for name, hint in get_type_hints(CallNumbers).items()}
    schema = pyarrow.schema(list(columns.items()))
    rows: list[dict[str, Any]] = []
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for part in parts:
            rows += part
            while len(rows) >= _ROWS_OF_A_GROUP:
                writer.write_table(pyarrow.Table.from_pylist(rows[:_ROWS_OF_A_GROUP], schema))
                rows = rows[_ROWS_OF_A_GROUP:]
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _column(hint: Any) -> Any:
    import pyarrow

    plain = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    if hint in plain:
        return plain[hint]
    if get_origin(hint) is Literal:
        return pyarrow.string()
    inner = [one for one in get_args(hint) if one not in (type(None), Ellipsis)]
    if get_origin(hint) in (Union, UnionType):
        return _column(inner[0])
    return pyarrow.list_(_column(inner[0]))


def _labels(item: ArchivedItem) -> tuple[str, str, int, str, str, str, str, str]:
    return item.id, item.game, item.began_ns, item.title, item.home, item.away, item.table, item.event


def _call_row(item: ArchivedItem, number: int, call: Call) -> dict[str, Any]:
    told_apart = call.told_apart
    row = CallResult(
        **{name: getattr(call, name) for name in _AS_OF_THE_CALL},
        item=item.id,
        game=item.game,
        number=number,
        call=call.id,
        spot_x_yd=_spot(call)[0],
        spot_y_yd=_spot(call)[1],
        conditions=tuple(one.measure for one in told_apart),
        condition_probabilities=tuple(one.probability for one in told_apart),
        condition_margins=tuple(one.margin for one in told_apart),
        condition_sigmas=tuple(one.sigma for one in told_apart),
        condition_units=tuple(one.unit for one in told_apart),
        readings=tuple(reading.text for reading in call.readings),
    )
    numbers = call.numbers or CallNumbers()
    return {**as_row(row), **{f"n_{name}": value for name, value in as_row(numbers).items()}}


def _change_row(item: ArchivedItem, number: int, difference: CallDifference) -> dict[str, Any]:
    before, now = difference.first, difference.second
    row = ChangeResult(
        item=item.id,
        game=item.game,
        number=number,
        t_ns=difference.t_ns,
        change="made" if before is None else "withdrawn" if now is None else "changed",
        **{f"{name}_before": value for name, value in _verdict(before).items()},
        **_verdict(now),
    )
    return as_row(row)


def _verdict(call: Call | None) -> dict[str, Any]:
    """Return what a change says of a call, by name; of none that there is nothing."""
    said = {name: getattr(call, name, None) for name in ("kind", "verdict", "text")}
    clauses = () if call is None else call.clauses
    return {**said, "clauses": clauses, "spot_x_yd": _spot(call)[0], "spot_y_yd": _spot(call)[1]}


def _spot(call: Call | None) -> tuple[float, float] | tuple[None, None]:
    return (None, None) if call is None or call.spot_yd is None else call.spot_yd


def as_row(one: Any) -> dict[str, Any]:
    """Return the fields of a record by name, not those of records in it."""
    return {field.name: getattr(one, field.name) for field in dataclasses.fields(one)}
