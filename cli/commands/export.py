"""``downfield export``: a game out of the house, as a signed bundle; its tracks, its report, clips of its plays.

``downfield shadow``: what the machine called in the shadow of a game, against what people declared.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.table import Table

from downfield.broadcast.replay.highlights import highlight_film
from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.footage import Footage
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.recorded_footage import ClipFootage, RecordedFootage
from downfield.capture.recording.recording_library import index_path
from downfield.capture.source import CaptureClock, CapturedFrame
from downfield.capture.sources.file_sources import VideoFile
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.console.options import (
    ARCHIVE,
    ConfigOption,
    GameArgument,
    JsonOption,
    SetOption,
    check_outputs,
    read_input,
)
from downfield.cli.console.output import json_text, open_console, print_result, print_stderr, print_stdout, styled
from downfield.cli.console.progress import progress_bar, with_progress
from downfield.core.arrays import Image
from downfield.core.errors import InputError, NotFoundError, OutputError
from downfield.core.track_files import TrackFile
from downfield.game.records.keeping import GameRow
from downfield.game.shadow import is_shadow
from downfield.review.bundles.format import SUFFIX
from downfield.review.evidence.exports import ClipExporter, ClipOptions
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.pictures.clips import MEDIA_TYPES, ClipFormat, TimedImage, encode_fragments
from downfield.review.pictures.painting import DRAWING_KINDS
from downfield.review.rejudging.recorded_game import decoded
from downfield.review.reports.game_report import GameReport
from downfield.review.reports.shadow import CALLS_HEAD, ShadowReport
from downfield.review.tracks import TRACK_FORMATS, FileTrackTable, TrackTable
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import RigSettings, data_folder, recordings_folder, store_file
from downfield.rig.games.bundle_export import BundleExporter, PlayedClip
from downfield.rig.games.kept_games import open_rig_key
from downfield.rig.live.annotated_picture import Annotator, GameMarks
from downfield.rig.tables.table_calibration import calibration_beside, find_calibration
from downfield.store.database.opening import open_for_reading
from downfield.store.database.reader import StoreReader
from downfield.store.history import History


def export(
    game: GameArgument,
    output: Annotated[
        Path | None,
        typer.Option("--out", "--output", "-o", metavar="FILE.zip", help="The bundle. Default: named for the game."),
    ] = None,
    without_video: Annotated[bool, typer.Option("--without-video", help="Leave out the recording.")] = False,
    tracks: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv|.parquet", help="Write the tracks as a table, one row a figure a frame."),
    ] = None,
    clip: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mp4|.gif|.png", help="Write a clip or a picture of --play N or --call ID."),
    ] = None,
    play: Annotated[int | None, typer.Option(min=1, help="Only this play, of --tracks or --clip.")] = None,
    call: Annotated[str | None, typer.Option(metavar="ID", help="The call of --clip.")] = None,
    speed: Annotated[
        float, typer.Option(min=0.05, max=1.0, help="Of --clip: 1 for real time, 0.25 for slow motion.")
    ] = 1.0,
    plain: Annotated[bool, typer.Option("--plain", help="Of --clip: without drawings and words.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report, for print.")] = None,
    highlights: Annotated[
        Path | None, typer.Option(metavar="FILE.mp4", help="Write the greatest plays as a film, each with its replay.")
    ] = None,
    video: Annotated[
        Path | None, typer.Option(metavar="VIDEO", help="Of a game of a recording: the video it was played from.")
    ] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a game with all its evidence as one signed file, which `verify` checks and `review` opens anywhere.

    With --tracks, --clip, --report or --highlights it writes these alone, unless the bundle is named as well.
    """
    if play is not None and tracks is None and clip is None:
        raise InputError("--play belongs to --tracks or --clip.")
    if clip is None and (call is not None or plain or speed != 1):
        raise InputError("--call, --speed and --plain belong to --clip.")
    film = None if clip is None else ClipRequest(clip, play, call, speed, plain)
    configuration = load(config, settings).settings
    with open_for_reading(configuration.store.url or str(store_file(configuration))) as opened:
        if opened.note:
            print_stderr(f"downfield: {opened.note}")
        row = find_game(opened.store, game)
        alone = tracks or report or clip or highlights
        bundle = output or (None if alone else Path(f"{row.id}{SUFFIX}"))
        file = Path(configuration.calibration.file).expanduser() if configuration.calibration.file else None
        inputs = (store_file(configuration), file)
        check_outputs(bundle, inputs=inputs, kind=ARCHIVE)
        check_outputs(bundle, tracks, report, clip, highlights, inputs=inputs)
        if video is not None:
            known: Calibration | None = _calibration_of(video, configuration)
        else:
            known = None if file is None else read_calibration(file)
        footage = RecordedFootage(recordings_folder(configuration)) if video is None else _played(video, known)
        done: list[str] = []
        if tracks is not None:
            done.append(_write_tracks(tracks, opened.store, row, play))
        if film is not None:
            size = write_chunks(film.file, [make_clip(film, opened.store, row, footage)])
            done.append(f"{film.file}: {'the call' if play is None else f'play {play}'}, {size / 1e6:.1f} MB")
        if highlights is not None:
            done.append(_write_highlights(highlights, opened.store, row, footage))
        key = None if bundle is None and report is None else open_rig_key(data_folder(configuration), must_be_kept=True)
        if key is not None and report is not None:
            write_chunks(report, [GameReport(opened.store, History(opened.store, row)).html(key.public_text).encode()])
            done.append(f"{report}: the report of {row.id}")
        if key is not None and bundle is not None:
            played = None if video is None else PlayedClip(video, frozenset())
            exporter = BundleExporter(opened.store, configuration, key, lambda: known, played)
            source = exporter.source(row, video=not without_video)
            with progress_bar(f"Exporting {row.id}") as advance:
                size = write_chunks(bundle, exporter.chunks(row, video=not without_video), advance)
            done.append(f"{bundle}: game {row.id}, {size / 1e6:.1f} MB, signed with {key.public_text}")
            done += [f"{bundle}: {note}" for note in source.notes]
    files = [file for file in (tracks, clip, highlights, report, bundle) if file is not None]
    print_result(as_json, done, game=row.id, files=files, key=None if key is None else key.public_text)


def _write_tracks(path: Path, store: StoreReader, row: GameRow, play: int | None) -> str:
    write = TRACK_FORMATS.get(path.suffix.lower())
    if write is None:
        raise InputError(f"{path}: tracks are written as .csv or .parquet. End the name in one of these.")
    table = TrackTable(store, History(store, row), play)
    with progress_bar(f"Writing the tracks of {row.id}") as advance:
        size = write_chunks(path, write(table), advance)
    return f"{path}: tracks of {'the game' if play is None else f'play {play}'}, {size / 1e6:.1f} MB"


def _write_highlights(path: Path, store: StoreReader, row: GameRow, footage: Footage) -> str:
    plays = History(store, row).plays()
    film = highlight_film(row, plays, EvidenceFinder(store, None, footage))
    with progress_bar(f"Cutting the highlights of {row.id}") as advance:
        size = write_chunks(path, film, advance)
    return f"{path}: the highlights of {row.id}, {size / 1e6:.1f} MB"


def find_game(store: StoreReader, named: str) -> GameRow:
    """Return a game of a store by its id, or the last one. Raises InputError: there is none."""
    latest = [row for row in store.games() if not is_shadow(row)]
    found = store.game(named) if named != "last" else latest[0] if latest else None
    if found is not None:
        return found
    known = [row.id for row in latest[:5]]
    if not known:
        raise InputError(f"{store.where}: holds no game")
    raise InputError(f"{store.where}: has no game {named!a}. The latest are {', '.join(known)}.")


def write_chunks(path: Path, chunks: Iterable[bytes], advance: Callable[[int], None] = lambda _: None) -> int:
    """Write a file whole or not at all, telling `advance` the MB so far; return its size in bytes.

    Raises:
        OutputError: it can't be written.
    """
    beside = path.with_name(f".{path.name}.part")
    size = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            for chunk in chunks:
                size += file.write(chunk)
                advance(size // 1_000_000)
        beside.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: can't be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return size


def _calibration_of(video: Path, settings: RigSettings) -> Calibration:
    """Return the calibration of a video as a rig that plays it finds it: configured, beside it, or in its pictures."""
    choice = SourceChoice(str(video), paced=False)
    return find_calibration(settings.calibration, choice, CaptureClock(), ActiveProblems())


def _played(video: Path, calibration: Calibration | None) -> ClipFootage:
    """Return the pictures of a video that a game was played from; without an index all are read for their times."""
    footage = ClipFootage(video, lambda: calibration)
    for frame in with_progress(VideoFile(video, paced=False).frames(), f"Reading {video.name}"):
        footage.frame_captured(frame)
        if index_path(video).is_file():
            break
    return footage


CALL_S: Final = 1.5  # A clip of a call reaches this long before and after it, as on the page
_WIDTH_PX: Final = 1920


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """What is to be seen."""

    file: Path  # where it is written; its ending says the form
    play: int | None  # the play's number; None for a call
    call: str | None  # the call's id; None for a play
    speed: float  # 1 for real time
    plain: bool  # whether without drawings and words

    def __post_init__(self) -> None:
        """Check the request. Raises InputError: it is no clip and no picture, or both a play and a call, or neither."""
        if self.form not in {*MEDIA_TYPES, "png"}:
            raise InputError(f"{self.file}: clips are written as .mp4 or .gif, pictures as .png. End the name so.")
        if (self.play is None) == (self.call is None):
            raise InputError("--clip needs either --play N or --call ID.")

    @property
    def form(self) -> str:
        """Of the file."""
        return self.file.suffix.lower().removeprefix(".")


def make_clip(request: ClipRequest, store: StoreReader, row: GameRow, footage: Footage) -> bytes:
    """Return a clip or a picture.

    Raises:
        InputError: the game has no such play or call.
        NotRecordedError: its pictures are not kept, or can't be read.
        RefusedError: it lasts too long.
    """
    exporter = ClipExporter(EvidenceFinder(store, None, footage))
    form: ClipFormat = "gif" if request.form == "gif" else "mp4"
    options = ClipOptions(request.speed, () if request.plain else DRAWING_KINDS, _WIDTH_PX)
    try:
        if request.play is not None:
            if request.form == "png":
                return exporter.play_picture(row, request.play, options)[1]
            return exporter.play(row, request.play, form, options)[1]
        call = request.call or ""
        if request.form == "png":
            return exporter.call_picture(row, call, options)[1]
        return exporter.call(row, call, form, CALL_S, options)[1]
    except NotFoundError as error:
        calls = [view.id for view in History(store, row).calls()]
        known = f" Its calls: {', '.join(calls[-20:])}." if request.call is not None and calls else ""
        raise InputError(f"{error}{known}") from None


def shadow(
    game: GameArgument,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report, for print.")] = None,
    config: ConfigOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the calls made in shadow mode with what people declared: agreements, differences, what was missed."""
    configuration = load(config, settings).settings
    with open_for_reading(configuration.store.url or str(store_file(configuration))) as opened:
        if opened.note:
            print_stderr(f"downfield: {opened.note}")
        check_outputs(report, inputs=(store_file(configuration),))
        row = find_game(opened.store, game)
        found = ShadowReport(opened.store, row)
    if not found.starts:
        raise InputError(f"{row.id}: was not played in shadow mode. Start the rig with 'downfield run --shadow'.")
    if report is not None:
        write_chunks(report, [found.html().encode()])
    if as_json:
        calls = [dict(zip(CALLS_HEAD, line, strict=True)) for line in found.calls]
        print_stdout(json_text({"game": row.id, "summary": found.summary, "calls": calls}))
        return
    if report is not None:
        print_stdout(f"{report}: {found.summary}")
        return
    console = open_console(wrap=True)
    console.print(styled(f"{row.id}: {found.summary}"))
    lines = Table(*CALLS_HEAD)
    for line in found.calls:
        lines.add_row(*(styled(str(cell)) for cell in line))
    console.print(lines)


_AROUND_NS: Final = 2_000_000_000  # before a play and after it that its cut has too


def convert(
    tracks: Annotated[Path, typer.Argument(help="A track file, *.tracks.jsonl; - for standard input.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="A table, *.csv or *.parquet; the video with the tracks drawn, *.mp4; with --plays a folder.",
        ),
    ],
    video: Annotated[
        Path | None, typer.Option(help="The video that was tracked. Default: NAME.mp4 beside the tracks.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option("--calibration", "-c", help="Its calibration. Default: the one beside the video.")
    ] = None,
    plays: Annotated[
        bool, typer.Option("--plays", help="Cut the video into plays, a file each; a play is while the board is on.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write tracks as a table, draw them on their video, or cut it into plays."""
    with read_input(tracks) as path:
        file = TrackFile(path)
        write = TRACK_FORMATS.get(out.suffix.lower())
        if write is not None and not plays:
            check_outputs(out, inputs=(tracks,))
            size = write_chunks(out, with_progress(write(FileTrackTable(file)), f"Writing {out.name}"))
            print_result(as_json, [f"{out}: {size / 1e6:.1f} MB"], files=[out])
            return
        if out.suffix.lower() != ("" if plays else ".mp4"):
            raise InputError(f"{out}: end the name in .csv, .parquet or .mp4; with --plays name a folder.")
        video = video or tracks.with_name(tracks.name.removesuffix(".tracks.jsonl") + ".mp4")
        camera = read_calibration(calibration or calibration_beside(str(video)))
        spans = list(_plays_ns(file)) if plays else [(0, 2**63)]
        names = [out / f"play-{number:03d}.mp4" for number in range(1, len(spans) + 1)] if plays else [out]
        check_outputs(*names, inputs=(tracks, video, calibration))
        annotator = Annotator(camera.camera, camera.field, file.header.players)
        done = []
        with (
            closing(VideoFile(video, paced=False).frames()) as frames,
            closing(_drawn(frames, file, annotator)) as drawn,
        ):
            for name, span in zip(names, spans, strict=True):
                size = write_chunks(name, encode_fragments(_cut(drawn, span)))
                done.append(f"{name}: {size / 1e6:.1f} MB")
        print_result(as_json, done, files=names)


def _plays_ns(tracks: TrackFile) -> Iterator[tuple[int, int]]:
    """Yield when the board was on, with a little around it that no other play has."""
    began_ns, until_ns = None, 0
    for scene in tracks:
        if scene.board == "on":
            began_ns = max(until_ns, scene.t_ns - _AROUND_NS) if began_ns is None else began_ns
            until_ns = scene.t_ns + _AROUND_NS
        elif began_ns is not None and scene.t_ns > until_ns:
            yield began_ns, until_ns
            began_ns = None
    if began_ns is not None:
        yield began_ns, until_ns


def _drawn(
    frames: Iterable[CapturedFrame], tracks: TrackFile, annotator: Annotator
) -> Generator[tuple[int, Callable[[], Image]]]:
    """Yield the times of a video's pictures, and what draws the tracks on each."""
    scenes = iter(tracks)
    scene = next(scenes, None)
    for frame in decoded(with_progress(frames, "Drawing")):
        while scene is not None and scene.t_ns < frame.t_ns:
            scene = next(scenes, None)
        if scene is not None and scene.t_ns == frame.t_ns:
            yield frame.t_ns, partial(annotator.draw, frame.image, scene, GameMarks())
        else:
            yield frame.t_ns, partial(np.copy, frame.image)


def _cut(drawn: Iterator[tuple[int, Callable[[], Image]]], span_ns: tuple[int, int]) -> Iterator[TimedImage]:
    """Yield the pictures of a span, with their times from its first."""
    first_ns = None
    for t_ns, draw in drawn:
        if t_ns > span_ns[1]:
            break
        if t_ns >= span_ns[0]:
            first_ns = t_ns if first_ns is None else first_ns
            yield t_ns - first_ns, draw()
    if first_ns is None:
        raise InputError("The video has no picture of the time of these tracks. Name the one that was tracked: --video")
