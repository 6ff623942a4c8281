"""``downfield judge``: what a rulebook makes of recorded tracks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from downfield.calibration.calibration import read_calibration
from downfield.core.errors import InputError
from downfield.core.track_files import TrackFile
from downfield.officiating.calls import Call, CallsHeader, write_calls
from downfield.officiating.engine.replay import Judgment, compare_calls, judge_recording
from downfield.officiating.events import read_events
from downfield.officiating.rulebooks.rulebook import load_rulebook


def judge(
    tracks: Annotated[Path, typer.Argument(help="A track file, *.tracks.jsonl.")],
    events: Annotated[Path | None, typer.Option(help="What was declared, *.events.jsonl.")] = None,
    rulebook: Annotated[str, typer.Option(help="A bundled rulebook, or a league's TOML file.")] = "tap",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where the calls go, *.calls.jsonl.")] = None,
    against: Annotated[str | None, typer.Option(help="Another rulebook to show the differences to.")] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="The table's certified calibration: calls finer than its error are too close.")
    ] = None,
    reported: Annotated[bool, typer.Option(help="Show also what is only reported.")] = False,
) -> None:
    """Judge recorded tracks under a rulebook."""
    certified_yd = None if calibration is None else _certified_yd(calibration)
    judgment = _judged(tracks, events, rulebook, certified_yd)
    if output is not None:
        header = CallsHeader(
            judgment.rulebook, tracks.name, judgment.state.text, judgment.state.score, judgment.refused
        )
        write_calls(output, header, judgment.calls)
    other = None if against is None else _judged(tracks, events, against, certified_yd)
    shown = [call for call in judgment.calls if reported or call.verdict != "reported"]
    if sys.stdout.isatty():
        _show(judgment, shown, other)
    else:
        sys.stdout.write("\n".join(_lines(judgment, shown, other)) + "\n")


def _judged(tracks: Path, events: Path | None, rulebook: str, certified_yd: tuple[float, float] | None) -> Judgment:
    book = load_rulebook(rulebook)
    recorded = TrackFile(tracks)
    declared = read_events(events)[1] if events is not None else ()
    header = recorded.header
    return judge_recording(recorded, declared, book, header.field, players=header.players, certified_yd=certified_yd)


def _certified_yd(path: Path) -> tuple[float, float]:
    """The error a table is certified to, along and across.

    Raises:
        InputError: its calibration carries no certificate.

    """
    certificate = read_calibration(path).certificate
    if certificate is None:
        raise InputError(f"{path}: not certified yet: run 'downfield certify' first")
    return certificate.p95_yd


def _lines(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> Iterator[str]:
    """Everything as plain lines, one call each, for pipes and files."""
    yield f"{judgment.rulebook}: {len(shown)} calls"
    yield from ("  ".join(part for part in _row(call) if part) for call in shown)
    yield from (f"refused {refused.event}: {refused.reason}" for refused in judgment.refused)
    yield judgment.state.text
    if other is not None:
        yield f"{judgment.rulebook} against {other.rulebook}"
        yield from (one.text for one in compare_calls(judgment.calls, other.calls))


def _show(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> None:
    """Everything as tables, on a terminal."""
    console = Console()
    table = Table(title=f"{judgment.rulebook}: {len(shown)} calls", title_justify="left")
    for name in ("time", "call", "verdict", "spot", "margin", "sure", "clauses"):
        table.add_column(name, justify="right" if name in {"time", "spot", "margin", "sure"} else "left")
    for call in shown:
        table.add_row(*_row(call), style="yellow" if call.verdict in {"too_close", "proposed"} else None)
    console.print(table)
    for refused in judgment.refused:
        console.print(f"[yellow]refused[/] {refused.event}: {refused.reason}", highlight=False)
    console.print(judgment.state.text, highlight=False)
    if other is not None:
        console.print(_comparison(judgment, other))


def _row(call: Call) -> Sequence[str]:
    spot = "" if call.spot_yd is None else f"{call.spot_yd[0]:.1f} yd"
    sure = "" if call.margin is None else f"{call.probability:.1%}"
    time = f"{call.t_ns / 1e9:.3f} s"
    return time, call.text, call.verdict.replace("_", " "), spot, call.measured, sure, " ".join(call.clauses)


def _comparison(first: Judgment, second: Judgment) -> Table:
    table = Table(title=f"{first.rulebook} against {second.rulebook}", title_justify="left")
    for name in ("time", first.rulebook, second.rulebook):
        table.add_column(name)
    for one in compare_calls(first.calls, second.calls):
        table.add_row(f"{one.t_ns / 1e9:.2f} s", *(call.text if call else "-" for call in (one.first, one.second)))
    return table
