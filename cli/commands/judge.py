"""``downfield judge``: make the calls for recorded tracks under a rulebook.

Declarations of another game would give calls that look right and are not, so they are held against the tracks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.cli.console.options import BOOK, PIPE, JsonOption, check_outputs, read_input, written_output
from downfield.cli.console.output import open_console, print_stderr, print_stdout, styled
from downfield.cli.console.process_end import MOSTLY_LOST
from downfield.cli.console.progress import with_progress
from downfield.core.errors import InputError
from downfield.core.records import record, to_json
from downfield.core.scene import Scene
from downfield.core.texts import counted
from downfield.core.track_files import TrackFile
from downfield.officiating.belief import percent_text
from downfield.officiating.calls import Call, CallsHeader, RefusedEvent, write_calls
from downfield.officiating.engine.recording import CallDifference, Judgment, compare_calls, judge_recording
from downfield.officiating.events import Event, read_events
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles import format as names
from downfield.review.bundles.reading import extract_parts
from downfield.review.bundles.verification import is_bundle, verify_bundle


def judge(
    tracks: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACKS...",
            help="Track files, *.tracks.jsonl, or bundles of games; - for a track file on standard input.",
        ),
    ],
    events: Annotated[
        Path | None, typer.Option(help="The declarations, *.events.jsonl. Default: those beside the tracks, if any.")
    ] = None,
    rulebook: Annotated[str, BOOK] = DEFAULT_RULEBOOK,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", "-o", help="Write the calls to this file, *.calls.jsonl. Of several tracks: a folder."
        ),
    ] = None,
    against: Annotated[str | None, typer.Option(help="Another rulebook to compare the calls with.")] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="The table's certified calibration: measurements within its error are too close to call."),
    ] = None,
    reported: Annotated[bool, typer.Option("--reported", help="Also show calls that are only reported.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the calls for recorded tracks under a rulebook.

    Exits with status 3 if the declarations name nobody who is in the tracks, so that few calls can be made.
    """
    if len(tracks) > 1 and events is not None:
        raise InputError("--events are those of one recording. Of several, each has its NAME.events.jsonl beside it.")
    if len(tracks) > 1 and out is not None and (out.is_file() or out.suffix or out == PIPE):
        raise InputError(f"{out}: the calls of several tracks are written into a folder. Name one.")
    files = [
        None if out is None else out if len(tracks) == 1 else out / f"{_stem(path)}.calls.jsonl" for path in tracks
    ]
    read = (*tracks, events, calibration, Path(rulebook), Path(against or rulebook))
    check_outputs(*files, inputs=(path for path in read if path != PIPE), kind="downfield.calls")
    strangers = False
    for path, file in zip(tracks, files, strict=True):
        strangers |= _judge_one(JudgedFiles(path, events, calibration), rulebook, against, file, reported, as_json)
    if strangers:
        raise typer.Exit(MOSTLY_LOST)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".tracks.jsonl").removesuffix(".zip")


def _judge_one(
    given: JudgedFiles, rulebook: str, against: str | None, out: Path | None, reported: bool, as_json: bool
) -> bool:
    """Judge one recording, and show the calls; return whether its declarations name nobody in the tracks."""
    beside = given.tracks.parent / f"{_stem(given.tracks)}.events.jsonl"
    if given.events is None and given.tracks != PIPE and not is_bundle(given.tracks) and beside.is_file():
        print_stderr(f"{given.tracks}: judged with {beside.name}, which lies beside it.")
        given = JudgedFiles(given.tracks, beside, given.calibration)
    other: Judgment | None = None
    with read_input(given.tracks) as path, judged_files(JudgedFiles(path, given.events, given.calibration)) as files:
        calibrated = None if files.calibration is None else read_calibration(files.calibration)
        if given.calibration is not None and calibrated is not None and calibrated.certificate is None:
            raise InputError(f"{given.calibration}: not certified. Run 'downfield certify' first.")
        judgment, strangers = _judge_tracks(files.tracks, files.events, rulebook, calibrated)
        if against is not None:
            other, _ = _judge_tracks(files.tracks, files.events, against, calibrated)
    if out is not None:
        header = CallsHeader(
            judgment.rulebook, given.tracks.name, judgment.state.text, judgment.state.score, judgment.refused
        )
        with written_output(out) as written:
            write_calls(written, header, judgment.calls)
    shown = [call for call in judgment.calls if reported or call.verdict != "reported"]
    if as_json:
        differences = () if other is None else compare_calls(judgment.calls, other.calls)
        reported_count, state = sum(call.verdict == "reported" for call in judgment.calls), judgment.state
        found = (str(given.tracks), judgment.rulebook, tuple(shown), reported_count, judgment.refused)
        print_stdout(to_json(JudgedTracks, JudgedTracks(*found, state.text, state.score, differences)))
    elif out == PIPE:
        print_stderr(_title(judgment, shown))
    elif sys.stdout.isatty():
        _print_tables(judgment, shown, other)
    else:
        print_stdout(*_lines(judgment, shown, other))
    return strangers


@record
class JudgedTracks:
    """What a rulebook makes of one recording, for programs."""

    tracks: str
    rulebook: str
    calls: tuple[Call, ...]
    reported: int  # how many are only reported, which are among `calls` where they were asked for
    refused: tuple[RefusedEvent, ...]
    state: str
    score: tuple[int, int]  # home, away
    differences: tuple[CallDifference, ...]


def _judge_tracks(
    tracks: Path, events: Path | None, rulebook: str, calibrated: Calibration | None
) -> tuple[Judgment, bool]:
    """Return a judgment, and whether the declarations name nobody who is in the tracks."""
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
    # That a line-up lists a player does not bring him there.
    strangers = sorted(_named(declared) - {player.id for player in header.players} - span.figures)
    for mismatch in mismatches(strangers, span, declared):
        print_stderr(f"{events}: these events may belong to other tracks. They name {mismatch}")
    if track_file.torn_line is not None:
        print_stderr(f"{tracks}: line {track_file.torn_line}, the last one, was cut off and is left out")
    return judgment, bool(strangers) and len(strangers) == len(_named(declared))


def _title(judgment: Judgment, shown: Sequence[Call]) -> str:
    hidden = len(judgment.calls) - len(shown)
    more = f", and {hidden} more that are only reported (--reported shows them)" if hidden else ""
    return f"{judgment.rulebook}: {counted(len(shown), 'call')}{more}"


def _lines(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> Iterator[str]:
    """Yield the judgment as plain lines, one per call, for pipes and files."""
    yield _title(judgment, shown)
    yield from ("  ".join(part for part in _columns(call) if part) for call in shown)
    yield from (f"refused {refused.event}: {refused.reason}" for refused in judgment.refused)
    yield judgment.state.text
    if other is not None:
        yield f"{judgment.rulebook} against {other.rulebook}"
        yield from (difference.text for difference in compare_calls(judgment.calls, other.calls))


def _print_tables(judgment: Judgment, shown: Sequence[Call], other: Judgment | None) -> None:
    console = open_console(wrap=True)
    table = Table(title=_title(judgment, shown), title_justify="left")
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
    """The times of the scenes that were read, capture clock; None before the first; and the figures in them."""

    first_ns: int | None = None
    last_ns: int | None = None
    figures: set[str] = field(default_factory=set)

    def noted(self, scenes: Iterable[Scene]) -> Iterator[Scene]:
        """Yield scenes and note their times and figures."""
        for scene in scenes:
            self.first_ns = scene.t_ns if self.first_ns is None else self.first_ns
            self.last_ns = scene.t_ns
            self.figures.update(figure.id for figure in scene.figures)
            yield scene


def _named(events: Sequence[Event]) -> set[str]:
    return {name for event in events if (name := getattr(event.body, "player", None)) is not None}


def mismatches(strangers: Sequence[str], span: TimeSpan, events: Sequence[Event]) -> Iterator[str]:
    """Yield what events name that the tracks do not have, each as a phrase."""
    if strangers:
        more = f" and {len(strangers) - _NAMED} more" if len(strangers) > _NAMED else ""
        ids = sorted(span.figures)
        there = f"{', '.join(ids[:_NAMED])}{' and others' if len(ids) > _NAMED else ''}" if ids else "nobody"
        yield (
            f"players that are not in the tracks: {', '.join(strangers[:_NAMED])}{more}. The tracks have {there}. Calls"
            " about others can't be made: track again with --events, and with a --roster that says where they stand"
        )
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

    The bundle's own events and calibration are used where none are given. Raises InputError: it was altered.
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
