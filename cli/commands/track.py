"""``downfield track``: track the figures of a video, a folder of pictures, a camera or a stream into a track file.

The network takes nearly all of the time, so its detections in a recording are cached beside the track file until the
track file is complete. After an interruption the same command continues from there: frames that were processed before
are tracked again from the cached detections, so that the file is bit for bit the same as without interruption.

Live frames arrive whether they are processed or not, and can't be read again. When they arrive faster than they are
processed, the oldest are dropped, as in a game; an interrupt closes the source, but its frames are still processed.
"""

from __future__ import annotations

import math
import signal
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.detection_cache import CachingDetector, DetectionCacheHeader
from downfield.capture.source import CaptureClock, CapturedFrame, FrameSource
from downfield.capture.sources.camera_request import CameraRequest
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.console.options import (
    BOOK,
    EndOption,
    JsonOption,
    StartOption,
    check_outputs,
    complete_networks,
    complete_sources,
    number_between,
    written_output,
)
from downfield.cli.console.output import print_stderr, print_stdout
from downfield.cli.console.process_end import END_SIGNALS, MOSTLY_LOST
from downfield.cli.console.progress import with_progress
from downfield.core.errors import InputError, OutputError, SourceError
from downfield.core.footprint import BaseSize
from downfield.core.records import record, to_json
from downfield.core.scene import Player, Scene
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.core.track_files import Roster, TracksHeader, read_roster, write_tracks
from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector
from downfield.officiating.events import Event, read_events
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook
from downfield.review.rejudging.recorded_game import (
    RecordedReferee,
    TrackedScenes,
    TrackingCounter,
    TrackingReport,
    decoded,
)
from downfield.rig.configuration.settings import NetworkSettings
from downfield.rig.live.vision_stages import detection_rate, worker_detector
from downfield.rig.tables.table_calibration import calibration_beside, check_view
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

_DEFAULT_FPS: Final = 30.0  # of a single picture without a frame rate


def track(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Videos, folders of pictures in the order of their names, a camera (its number or a part of its name),"
            " or a stream's address.",
            autocompletion=complete_sources,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The track file to write, *.tracks.jsonl; - for standard output. Of several: a folder."
        ),
    ],
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibration",
            "-c",
            help="The camera's calibration, *.calibration.json. Default: the one beside the video, by its name.",
        ),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="The players on the board: a *.roster.json, or a *.tracks.jsonl of the same figures."),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option(
            help="The declarations, *.events.jsonl: line-ups keep names from play to play, and the ball carrier is"
            " measured in every frame, as at the table."
        ),
    ] = None,
    rulebook: Annotated[str, BOOK] = DEFAULT_RULEBOOK,
    start_s: StartOption = 0.0,
    end_s: EndOption = math.inf,
    fps: Annotated[
        float, typer.Option(parser=number_between(0.1, 1000), metavar="RATE", help="Frames per second of pictures.")
    ] = CameraRequest().fps,
    independent: Annotated[
        bool, typer.Option("--independent", help="Process every picture by itself, and name its figures independently.")
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Refine every figure in every frame: slower, more exact.")
    ] = False,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Track also where the calibration does not fit the pictures.")
    ] = False,
    detector: Annotated[
        str, typer.Option(help="A bundled network, or the folder of another network.", autocompletion=complete_networks)
    ] = BUNDLED,
    as_json: JsonOption = False,
) -> None:
    """Track the figures of recordings, or of a live table until Ctrl-C. Exits with status 3 if most of it was lost."""
    if len(sources) > 1 and (out.is_file() or out.suffix or str(out) == "-"):
        raise InputError(f"{out}: several recordings are tracked into a folder, each into a file of its own. Name one.")
    files = [out if len(sources) == 1 else out / f"{Path(source).stem}.tracks.jsonl" for source in sources]
    check_outputs(*files, inputs=(*map(Path, sources), calibration, roster, events), kind="downfield.tracks")
    if end_s <= start_s:
        raise InputError(f"--end {end_s:g} is not after --start {start_s:g}.")
    known = None if roster is None else read_roster(roster)
    declared = () if events is None else read_events(events)[1]
    book = load_rulebook(rulebook)
    options = _Options(known, declared, book, (start_s, end_s), fps, independent, thorough, unchecked, detector)
    bad = False
    for source, file in zip(sources, files, strict=True):
        with written_output(file) as written:
            report = _track(source, read_calibration(calibration or _beside(source)), written, options)
        bad |= report.is_mostly_lost
        if as_json:
            to_stdout = print_stderr if str(file) == "-" else print_stdout
            to_stdout(to_json(FileReport, FileReport(source, str(file), report)))
        else:
            print_stderr(*(f"{file}: {line}" if place == 0 else line for place, line in enumerate(report.lines)))
    if bad:
        raise typer.Exit(MOSTLY_LOST)


@record
class FileReport:
    """How well one recording was tracked, for programs."""

    source: str
    tracks: str
    report: TrackingReport


@dataclass(frozen=True, slots=True)
class _Options:
    """What all recordings of a command are tracked with."""

    roster: Roster | None
    events: tuple[Event, ...]
    book: Rulebook
    span_s: tuple[float, float]
    fps: float
    independent: bool
    thorough: bool
    unchecked: bool
    detector: str


def _beside(source: str) -> Path:
    path = calibration_beside(source)
    if not path.is_file():
        if not Path(source).exists():
            raise InputError(f"{source}: is no file. Of a camera or a stream name the calibration: --calibration")
        raise InputError(f"{source}: has no {path.name} beside it. Name its calibration with --calibration.")
    return path


def _track(source: str, camera: Calibration, out: Path, options: _Options) -> TrackingReport:
    path, counter = Path(source), TrackingCounter()
    scenes: Iterator[Scene]
    with ExitStack() as closing:
        if path.is_file() or path.is_dir():
            recorded = _opened(path, options.fps)
            frames: FrameSource = recorded
            closing.callback(frames.close)
            captured = within(recorded.frames(), *options.span_s)
            if not options.unchecked:
                try:
                    check_view(_opened(path, options.fps), camera)
                except InputError as error:
                    raise InputError(f"{error} --unchecked tracks it all the same.") from None
            network = open_detector(options.detector, augmented=options.independent)
            status, declared = path.stat(), [event.id for event in options.events]
            version = f"{status.st_size} bytes, changed {status.st_mtime_ns}{options.span_s}{options.fps}{declared}"
            header = DetectionCacheHeader(path.name, version, network.name, thorough=options.thorough)
            rate = DetectionRate(figures_every_ns=0) if options.thorough else None
            cache = closing.enter_context(CachingDetector(network, out.with_name(out.name + ".detections"), header))
            if cache.note:
                print_stderr(cache.note)
            vision = Vision(camera, cache, options.roster, continuous=not options.independent, rate=rate)
            shown = with_progress(captured, f"Tracking {path.name}", recorded.count, lambda: counter.status)
            pictures = decoded(shown, counter.count_damaged)
            if options.events:
                referee = RecordedReferee(options.events, options.book, camera)
                scenes = (referee.process(frame, vision) for frame in pictures)
            else:
                scenes = (vision.process(frame) for frame in pictures)
        else:
            if options.independent or options.thorough:
                slow = "--independent" if options.independent else "--thorough"
                raise InputError(
                    f"{slow} takes longer than live frames allow. Record the game, and track the recording."
                )
            if options.events:
                raise InputError("--events are those of a recording; a live table's come from its pages: downfield run")
            cache = None
            frames = open_live(source, out, print_stderr)
            closing.callback(frames.close)
            settings = NetworkSettings(name=options.detector)
            network = worker_detector(settings)
            vision = Vision(camera, network, options.roster, rate=detection_rate(settings, time.perf_counter_ns))
            closing.enter_context(close_on_interrupt(frames))
            scenes = live_scenes(vision, frames, print_stderr)
        scenes = counter.counted(scenes)
        try:
            found = TrackedScenes(vision, scenes, all_first=options.independent)
        except InputError as error:
            raise InputError(f"{source}: {error}, or process every picture by itself with --independent.") from None
        players = _players_in(found.first) if options.independent else found.players
        facts = frames.facts
        tracks_header = TracksHeader(
            camera.field, players, facts.fps or _frame_rate(found.first), source=f"{facts.name}, by {network.name}"
        )
        write_tracks(out, tracks_header, found)
        if cache is not None:
            cache.delete()
    return counter.report(players)


def _opened(path: Path, fps: float) -> ImageFolder | VideoFile:
    return ImageFolder(path, fps=fps, paced=False) if path.is_dir() else VideoFile(path, paced=False)


def _frame_rate(scenes: list[Scene]) -> float:
    """Return the frame rate of a source that reports none, measured on its first frames."""
    steps_ns = [after.t_ns - before.t_ns for before, after in pairwise(scenes)]
    return 1e9 / statistics.median(steps_ns) if steps_ns else _DEFAULT_FPS


def within(frames: Iterable[CapturedFrame], start_s: float, end_s: float) -> Iterator[CapturedFrame]:
    """Yield the frames of a part of a recording, in seconds from its first frame."""
    first_ns: int | None = None
    for frame in frames:
        first_ns = frame.t_ns if first_ns is None else first_ns
        at_s = (frame.t_ns - first_ns) / 1e9
        if at_s >= end_s:
            return
        if at_s >= start_s:
            yield frame


def _players_in(scenes: list[Scene]) -> tuple[Player, ...]:
    players: dict[str, Player] = {}
    for figure in chain.from_iterable(scene.figures for scene in scenes):
        base = BaseSize(figure.length_mm, figure.width_mm, corner_mm=figure.corner_mm)
        players.setdefault(figure.id, Player(figure.id, figure.jersey, base=base))
    return tuple(players[id_] for id_ in sorted(players, key=_team_and_number))


def _team_and_number(id_: str) -> tuple[str, int, str]:
    team, _, number = id_.rpartition("-")
    return team, int(number) if number.isdecimal() else 0, number


Report = Callable[[str], None]  # Receives a line for the user

_WAITING_FRAMES: Final = 4
_BURST_FRAMES: Final = 26  # extra capacity while no frame was dropped lately: half a second at 60 frames/s


def open_live(source: str, out: Path, report: Report) -> FrameSource:
    """Open a camera or a stream, which reports a line when its picture is lost and when it is back.

    Raises:
        InputError: no source has that name.
        SourceError: it can't be opened.
        OutputError: the track file exists already, and its game can't be tracked again.
    """
    part = out.with_name(out.name + ".part")
    for path in (out, part):
        if path.exists():
            raise OutputError(f"{path}: exists, and a live source can't be tracked again. Remove it or name another.")
    problems = ActiveProblems(notify=lambda _, text: report(text))
    frames = open_source(SourceChoice(source, paced=False), CaptureClock(), problems)
    for note in frames.facts.notes:
        report(note)
    return frames


def live_scenes(vision: Vision, source: FrameSource, report: Report) -> Iterator[Scene]:
    """Yield the scenes of arriving frames until the source is closed; report damaged frames, and how many were lost."""
    waiting = BoundedQueue[CapturedFrame](_WAITING_FRAMES, _BURST_FRAMES)
    latest_index = 0

    def capture() -> None:
        nonlocal latest_index
        put = waiting.put_or_drop if source.facts.live else waiting.put
        try:
            for captured in source.frames():
                latest_index = captured.index
                put(captured)
        except SourceError as error:
            report(str(error))
        finally:
            waiting.close()

    supervised_thread(capture, "capture", lambda cause: report(f"Downfield made an error: {cause}")).start()
    for captured in waiting:
        try:
            frame = captured.decode()
        except SourceError as error:
            report(str(error))
            continue
        yield vision.update(frame, partial(vision.detect, frame, latest_index - captured.index))
    if waiting.dropped:
        report(f"{waiting.dropped} frames were dropped: they arrived faster than this computer could process them.")


@contextmanager
def close_on_interrupt(source: FrameSource) -> Iterator[None]:
    """Have Ctrl-C, SIGTERM or SIGHUP close the source; a second one ends the process as usual."""
    numbers = [number for number in END_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    previous = [signal.getsignal(number) for number in numbers]

    def close(*_: object) -> None:
        restore()
        source.close()

    def restore() -> None:
        for number, handler in zip(numbers, previous, strict=True):
            signal.signal(number, handler)

    for number in numbers:
        signal.signal(number, close)
    try:
        yield
    finally:
        restore()
