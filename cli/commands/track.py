"""``downfield track``: track the figures of a video, a folder of pictures, a camera or a stream into a track file.

The network takes nearly all of the time, so its detections in a recording are cached beside the track file until the
track file is complete. After an interruption the same command continues from there: frames that were processed before
are tracked again from the cached detections, so that the file is bit for bit the same as without interruption.

Live frames arrive whether they are processed or not, and can't be read again. When they arrive faster than they are
processed, the oldest are dropped, as in a game; an interrupt closes the source, but its frames are still processed.
"""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.calibration.calibration import read_calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.recording.detection_cache import CachingDetector, DetectionCacheHeader
from downfield.capture.source import CaptureClock, CapturedFrame, FrameSource
from downfield.capture.sources.file_sources import ImageFolder, VideoFile
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.console.options import check_outputs
from downfield.cli.console.output import print_stderr
from downfield.cli.console.process_end import END_SIGNALS
from downfield.cli.console.progress import with_progress
from downfield.core.errors import InputError, OutputError, SourceError
from downfield.core.footprint import BaseSize
from downfield.core.scene import Player, Scene
from downfield.core.texts import counted
from downfield.core.threads import BoundedQueue, supervised_thread
from downfield.core.track_files import TracksHeader, read_roster, write_tracks
from downfield.models.card import BUNDLED
from downfield.models.loading import open_detector
from downfield.rig.configuration.settings import NetworkSettings
from downfield.rig.live.vision_stages import detection_rate, worker_detector
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

_DEFAULT_FPS: Final = 30.0  # of a single picture without a frame rate


def track(
    source: Annotated[
        str,
        typer.Argument(
            help="A video, a folder of pictures in the order of their names, a camera (its number or a part of its"
            " name), or a stream's address."
        ),
    ],
    calibration: Annotated[
        Path, typer.Option("--calibration", "-c", help="The camera's calibration, *.calibration.json.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The track file to write, *.tracks.jsonl.")],
    roster: Annotated[
        Path | None,
        typer.Option(help="The players on the board: a *.roster.json, or a *.tracks.jsonl of the same figures."),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Process every picture by itself, and name its figures independently.")
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Refine every figure in every frame: slower, more exact.")
    ] = False,
    detector: Annotated[str, typer.Option(help="A bundled network, or the folder of another network.")] = BUNDLED,
) -> None:
    """Track the figures of a recording, or of a live table until Ctrl-C."""
    check_outputs(out, inputs=(Path(source), calibration, roster), kind="downfield.tracks")
    camera = read_calibration(calibration)
    path = Path(source)
    known = None if roster is None else read_roster(roster)
    with ExitStack() as closing:
        if path.is_file() or path.is_dir():
            recorded = ImageFolder(path, paced=False) if path.is_dir() else VideoFile(path, paced=False)
            frames: FrameSource = recorded
            closing.callback(frames.close)
            network = open_detector(detector, augmented=independent)
            header = DetectionCacheHeader(path.name, _version_of(path), network.name, thorough=thorough)
            rate = DetectionRate(figures_every_ns=0) if thorough else None
            cache = closing.enter_context(CachingDetector(network, out.with_name(out.name + ".detections"), header))
            if cache.note:
                print_stderr(cache.note)
            vision = Vision(camera, cache, known, continuous=not independent, rate=rate)
            scenes: Iterator[Scene] = _scenes(vision, recorded, path)
        else:
            refuse_slow_options(independent=independent, thorough=thorough)
            cache = None
            frames = open_live(source, out, print_stderr)
            closing.callback(frames.close)
            settings = NetworkSettings(name=detector)
            network = worker_detector(settings)
            vision = Vision(camera, network, known, rate=detection_rate(settings, time.perf_counter_ns))
            closing.enter_context(close_on_interrupt(frames))
            scenes = live_scenes(vision, frames, print_stderr)
        first_scenes = list(scenes) if independent else list(_until_players_known(scenes, vision))
        players = _players_in(first_scenes) if independent else vision.players
        if not players:
            raise InputError(
                f"{source}: no line-up was found, since no figures stood still for a quarter of a second. Let the"
                " recording begin with the line-up, or process every picture by itself with --independent."
            )
        fps = frames.facts.fps or _frame_rate(first_scenes)
        tracks_header = TracksHeader(camera.field, players, fps, source=f"{frames.facts.name}, by {network.name}")
        write_tracks(out, tracks_header, chain(first_scenes, scenes))
        if cache is not None:
            cache.delete()
    print_stderr(f"{out}: {counted(len(players), 'figure')}")


def _frame_rate(scenes: list[Scene]) -> float:
    """Return the frame rate of a source that reports none, measured on its first frames."""
    steps_ns = [after.t_ns - before.t_ns for before, after in pairwise(scenes)]
    return 1e9 / statistics.median(steps_ns) if steps_ns else _DEFAULT_FPS


def _scenes(vision: Vision, frames: VideoFile | ImageFolder, path: Path) -> Iterator[Scene]:
    """Yield the scenes of all pictures that can be decoded, with the progress on standard error; tell of the others."""
    damaged = 0
    for captured in with_progress(frames.frames(), f"Tracking {path.name}", frames.count):
        try:
            frame = captured.decode()
        except SourceError:
            damaged += 1
        else:
            yield vision.process(frame)
    if damaged:
        print_stderr(f"{path}: {damaged} damaged pictures were left out")


def _until_players_known(scenes: Iterator[Scene], vision: Vision) -> Iterator[Scene]:
    """Yield scenes up to the first in which the players are known."""
    for scene in scenes:
        yield scene
        if vision.players:
            return


def _players_in(scenes: list[Scene]) -> tuple[Player, ...]:
    """Return every player in scenes that were processed independently."""
    players: dict[str, Player] = {}
    for figure in chain.from_iterable(scene.figures for scene in scenes):
        base = BaseSize(figure.length_mm, figure.width_mm, corner_mm=figure.corner_mm)
        players.setdefault(figure.id, Player(figure.id, figure.jersey, base=base))
    return tuple(players[id_] for id_ in sorted(players, key=_team_and_number))


def _team_and_number(id_: str) -> tuple[str, int, str]:
    team, _, number = id_.rpartition("-")
    return team, int(number) if number.isdecimal() else 0, number


def _version_of(source: Path) -> str:
    """Return a text that differs between versions of a source."""
    status = source.stat()
    return f"{status.st_size} bytes, changed {status.st_mtime_ns}"


Report = Callable[[str], None]  # Receives a line for the user

_WAITING_FRAMES: Final = 4
_BURST_FRAMES: Final = 26  # extra capacity while no frame was dropped lately: half a second at 60 frames/s


def open_live(source: str, out: Path, report: Report) -> FrameSource:
    """Open a camera or a stream.

    Args:
        source: as for `SourceChoice`.
        report: receives a line when the picture is lost and when it is back.

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
    """Yield the scenes of arriving frames until the source is closed.

    Args:
        report: receives a line for each damaged frame, and at the end the number of dropped frames.
    """
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


def refuse_slow_options(*, independent: bool, thorough: bool) -> None:
    """Refuse options that are too slow for a live source. Raises InputError: such an option was given."""
    if independent or thorough:
        name = "--independent" if independent else "--thorough"
        raise InputError(f"{name} takes longer than live frames allow. Record the game, and track the recording.")
