"""``downfield judge``: make the calls for recorded tracks under a rulebook.

Declarations of another game would give calls that look right and are not, so they are held against the tracks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.cli.console.options import check_outputs
from downfield.cli.console.output import open_console, print_stderr, print_stdout, styled
from downfield.cli.console.progress import with_progress
from downfield.core.errors import InputError
from downfield.core.scene import Player, Scene
from downfield.core.texts import counted
from downfield.core.track_files import TrackFile
from downfield.officiating.belief import percent_text
from downfield.officiating.calls import Call, CallsHeader, write_calls
from downfield.officiating.declarations import LineUpDeclared
from downfield.officiating.engine.recording import Judgment, compare_calls, judge_recording
from downfield.officiating.events import Event, read_events
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles import format as names
from downfield.review.bundles.reading import extract_parts
from downfield.review.bundles.verification import is_bundle, verify_bundle


def judge(
    tracks: Annotated[Path, typer.Argument(help="A track file, *.tracks.jsonl, or a bundle of a game.")],
    events: Annotated[Path | None, typer.Option(help="The declarations, *.events.jsonl.")] = None,
    rulebook: Annotated[str, typer.Option(help="An installed rulebook, or a league's .toml file.")] = DEFAULT_RULEBOOK,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the calls to this file, *.calls.jsonl.")
    ] = None,
    against: Annotated[str | None, typer.Option(help="Another rulebook to compare the calls with.")] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="The table's certified calibration: measurements within its error are too close to call."),
    ] = None,
    reported: Annotated[bool, typer.Option("--reported", help="Also show calls that are only reported.")] = False,
) -> None:
    """Make the calls for recorded tracks under a rulebook."""
    check_outputs(
        output, inputs=(tracks, events, calibration, Path(rulebook), Path(against or rulebook)), kind="downfield.calls"
    )
    other: Judgment | None = None
    with judged_files(JudgedFiles(tracks, events, calibration)) as files:
        calibrated = None if files.calibration is None else read_calibration(files.calibration)
        if calibration is not None and calibrated is not None and calibrated.certificate is None:
            raise InputError(f"{calibration}: not certified. Run 'downfield certify' first.")
        judgment = _judge_tracks(files.tracks, files.events, rulebook, calibrated)
        if against is not None:
            other = _judge_tracks(files.tracks, files.events, against, calibrated)
    if output is not None:
        header = CallsHeader(
            judgment.rulebook, tracks.name, judgment.state.text, judgment.state.score, judgment.refused
        )
        write_calls(output, header, judgment.calls)
    shown = [call for call in judgment.calls if reported or call.verdict != "reported"]
    if sys.stdout.isatty():
        _print_tables(judgment, shown, other)
    else:
        print_stdout(*_lines(judgment, shown, other))


def _judge_tracks(tracks: Path, events: Path | None, rulebook: str, calibrated: Calibration | None) -> Judgment:
    book = load_rulebook(rulebook)
    track_file = TrackFile(tracks)
    declared = read_events(events)[1] if events is not None else ()
    header = track_file.header
    span = TimeSpan()
    scenes = span.noted(with_progress(track_file, f"Judging {tracks.name} under {book.title}"))
    certificate = None if calibrated is None else calibrated.certificate
    judgment = judge_recording(
        scenes,
        declared,
        book,
        header.field,
        players=header.players,
        certified_yd=None if certificate is None else certificate.p95_yd,
        lengths_known=calibrated is None or calibrated.lengths_known,
    )
    for mismatch in mismatches(header.players, span, declared):
        print_stderr(f"{events}: these events may belong to other tracks. They name {mismatch}")
    if track_file.torn_line is not None:
        print_stderr(f"{tracks}: line {track_file.torn_line}, the last one, was cut off and is left out")
    return judgment


def _lines(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> Iterator[str]:
    """Yield the judgment as plain lines, one per call, for pipes and files."""
    yield f"{judgment.rulebook}: {counted(len(shown), 'call')}"
    yield from ("  ".join(part for part in _columns(call) if part) for call in shown)
    yield from (f"refused {refused.event}: {refused.reason}" for refused in judgment.refused)
    yield judgment.state.text
    if other is not None:
        yield f"{judgment.rulebook} against {other.rulebook}"
        yield from (difference.text for difference in compare_calls(judgment.calls, other.calls))


def _print_tables(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> None:
    """Print the judgment as tables on a terminal."""
    console = open_console(wrap=True)
    table = Table(title=f"{judgment.rulebook}: {counted(len(shown), 'call')}", title_justify="left")
    for name in ("time", "call", "verdict", "spot", "margin", "sure", "clauses"):
        table.add_column(name, justify="right" if name in {"time", "spot", "margin", "sure"} else "left")
    for call in shown:
        table.add_row(*_columns(call), style="yellow" if call.verdict in {"too_close", "proposed"} else None)
    console.print(table)
    for refused in judgment.refused:
        refusal = styled(f" {refused.event}: {refused.reason}")
        console.print(Text.assemble(styled("refused", "yellow"), refusal))
    console.print(judgment.state.text)
    if other is not None:
        console.print(_comparison(judgment, other))


def _columns(call: Call) -> Sequence[str]:
    spot = "" if call.spot_yd is None else f"{call.spot_yd[0]:.1f} yd"
    sure = "" if call.margin is None and not call.told_apart else percent_text(call.probability)
    time = f"{call.t_ns / 1e9:.3f} s"
    return time, call.text, call.verdict.replace("_", " "), spot, call.measured, sure, " ".join(call.clauses)


def _comparison(first: Judgment, second: Judgment) -> Table:
    table = Table(title=f"{first.rulebook} against {second.rulebook}", title_justify="left")
    for name in ("time", first.rulebook, second.rulebook):
        table.add_column(name)
    for difference in compare_calls(first.calls, second.calls):
        texts = (call.text if call else "-" for call in (difference.first, difference.second))
        table.add_row(f"{difference.t_ns / 1e9:.2f} s", *texts)
    return table


_BESIDE_NS: Final = 5_000_000_000
"""Time before the first scene and after the last in which declarations are usual: figures are still set up."""

_NAMED: Final = 5  # Most players named in one line


@dataclass(slots=True)
class TimeSpan:
    """The times of the scenes that were read, capture clock; None before the first."""

    first_ns: int | None = None
    last_ns: int | None = None

    def noted(self, scenes: Iterable[Scene]) -> Iterator[Scene]:
        """Yield scenes and note their times."""
        for scene in scenes:
            self.first_ns = scene.t_ns if self.first_ns is None else self.first_ns
            self.last_ns = scene.t_ns
            yield scene


def mismatches(players: Sequence[Player], span: TimeSpan, events: Sequence[Event]) -> Iterator[str]:
    """Yield what events name that the tracks do not have, each as a phrase."""
    known = {player.id for player in players}
    line_ups = [event.body for event in events if isinstance(event.body, LineUpDeclared)]
    known.update(player.id for line_up in line_ups for player in line_up.players)
    named = {name for event in events if (name := getattr(event.body, "player", None)) is not None}
    unknown = sorted(named - known)
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        yield f"players that are not in the tracks: {', '.join(unknown[:_NAMED])}{more}"
    if span.first_ns is None or span.last_ns is None:
        return
    first_ns, last_ns = span.first_ns - _BESIDE_NS, span.last_ns + _BESIDE_NS
    outside = [event for event in events if not first_ns <= event.t_ns <= last_ns]
    if outside:
        begin_s, end_s = span.first_ns / 1e9, span.last_ns / 1e9
        count = f"{len(outside)} of {len(events)}" if len(outside) < len(events) else "all"
        yield (
            f"times that the tracks do not have, in {count} events: the tracks are of {begin_s:.1f} s to {end_s:.1f} s,"
            f" '{outside[0].id}' is at {outside[0].t_ns / 1e9:.1f} s"
        )


@dataclass(frozen=True, slots=True)
class JudgedFiles:
    """What is judged."""

    tracks: Path
    events: Path | None  # the declarations; None for none
    calibration: Path | None  # the table's calibration; None for none


@contextmanager
def judged_files(given: JudgedFiles) -> Iterator[JudgedFiles]:
    """Unpack a bundle in the place of tracks for as long as it is judged; other files stay as they are.

    Args:
        given: by the user; the bundle's own events and calibration are used where none are given.

    Raises:
        InputError: the bundle was altered.
    """
    if not is_bundle(given.tracks):
        yield given
        return
    found = verify_bundle(given.tracks)
    if not found.intact or found.manifest is None:
        raise InputError(f"{given.tracks}: was altered, so it is not judged. 'downfield verify' says where.")
    parts = {part.name for part in found.manifest.parts}
    with tempfile.TemporaryDirectory(prefix="downfield-judge-") as temporary:
        folder = Path(temporary)
        extract_parts(given.tracks, found.manifest, (names.TRACKS, names.EVENTS, names.CALIBRATION), folder)
        own = folder / names.CALIBRATION if names.CALIBRATION in parts else None
        yield JudgedFiles(folder / names.TRACKS, given.events or folder / names.EVENTS, given.calibration or own)
