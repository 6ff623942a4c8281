"""``downfield track``: from a video, a folder of pictures, a camera or a stream to a track file.

The network takes nearly all of the time, and what it saw of a recording is kept beside the track file while that is
being made. After an interruption the same command goes on there: frames it has seen before are tracked again from what
was kept, so that the file comes out bit for bit as if there had been no interruption. What is live ends with one
(`track_live`).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated

import av
import typer
from rich.console import Console
from rich.progress import track as bar

from downfield.calibration.calibration import read_calibration
from downfield.core.errors import InputError
from downfield.core.footprint import BaseSize
from downfield.core.roster import read_roster
from downfield.core.scene import Player, Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.models.card import BUNDLED
from downfield.models.opening import open_detector
from downfield.rig.cli.track_live import interrupt_ends, live_scenes, open_live, refuse
from downfield.rig.configuration.settings import NetworkSettings
from downfield.rig.live.network_vision import detection_rate, elsewhere
from downfield.rig.recording.detection_cache import CachingDetector, DetectionCacheHeader
from downfield.rig.sources.images import STILLS, ImageFolder
from downfield.rig.sources.source import CapturedFrame, FrameSource
from downfield.rig.sources.video_file import VideoFile
from downfield.vision.detection_schedule import DetectionRate
from downfield.vision.pipeline import Vision

_FPS = 30.0  # of a single picture that tells no frame rate


def track(
    source: Annotated[
        str,
        typer.Argument(
            help="A video, a folder of pictures in the order of their names, a camera (0, a part of its name) or a"
            " stream's address."
        ),
    ],
    calibration: Annotated[Path, typer.Option("--calibration", "-c", help="Of the camera, *.calibration.json.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The track file, *.tracks.jsonl.")],
    roster: Annotated[
        Path | None,
        typer.Option(help="Who is on the board: a *.roster.json, or the *.tracks.jsonl of the same figures."),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="See every picture by itself, naming its figures anew.")
    ] = False,
    thorough: Annotated[
        bool,
        typer.Option(
            "--thorough", help="Look at every figure in every frame, however fast they come: slower, more exact."
        ),
    ] = False,
    detector: Annotated[str, typer.Option(help="A network's name or folder.")] = BUNDLED,
) -> None:
    """Track the figures of a recording, or of a table until Ctrl-C."""
    known = read_calibration(calibration)
    console = Console(stderr=True, highlight=False)
    path = Path(source)
    named = None if roster is None else read_roster(roster)
    with ExitStack() as closing:
        if path.is_file() or path.is_dir():
            network = open_detector(detector, augmented=independent)
            header = DetectionCacheHeader(path.name, _stamp(path), network.name, thorough=thorough)
            rate = DetectionRate(figures_every_ns=0) if thorough else None
            frames: FrameSource = ImageFolder(path, paced=False) if path.is_dir() else VideoFile(path, paced=False)
            closing.callback(frames.close)
            seen = closing.enter_context(CachingDetector(network, out.with_name(out.name + ".seen"), header))
            if seen.note:
                console.print(seen.note)
            vision = Vision(known, seen, named, continuous=not independent, rate=rate)
            scenes: Iterator[Scene] = (vision.process(shot.frame()) for shot in _shown(frames, path))
        else:
            refuse(independent=independent, thorough=thorough)
            seen = None
            frames = open_live(source, out, console.print)
            closing.callback(frames.close)
            table = NetworkSettings(name=detector)
            network = elsewhere(table)
            vision = Vision(known, network, named, rate=detection_rate(table, time.perf_counter_ns))
            closing.enter_context(interrupt_ends(frames))
            scenes = live_scenes(vision, frames, console.print)
        ready = list(scenes) if independent else list(_until_known(scenes, vision))
        players = _all_of(ready) if independent else vision.players
        if not players:
            raise InputError(
                f"{source}: no figures stood still for a quarter of a second, so nobody is known; let the recording"
                " begin with the line-up, or see every picture by itself with --independent"
            )
        facts = frames.facts
        about = TracksHeader(known.field, players, facts.fps or _rate(ready), source=f"{facts.name}, by {network.name}")
        write_tracks(out, about, chain(ready, scenes))
        if seen is not None:
            seen.forget()
    console.print(f"{out}: {len(players)} figures")


def _rate(scenes: list[Scene]) -> float:
    """Frames a second of what tells no rate, by how fast the first ones came."""
    between = [after.t_ns - before.t_ns for before, after in pairwise(scenes)]
    return 1e9 / statistics.median(between) if between else _FPS


def _shown(frames: FrameSource, source: Path) -> Iterator[CapturedFrame]:
    """The frames, with a bar on standard error where that is a terminal."""
    total = None
    if source.is_file():
        with av.open(str(source)) as video:
            total = video.streams.video[0].frames or None
    else:
        total = sum(1 for path in source.iterdir() if path.suffix.lower() in STILLS)
    console, silent = Console(stderr=True), not sys.stderr.isatty()
    yield from bar(frames.frames(), source.name, total=total, console=console, transient=True, disable=silent)


def _until_known(scenes: Iterator[Scene], vision: Vision) -> Iterator[Scene]:
    """The scenes up to the first in which it is known who is on the board."""
    for scene in scenes:
        yield scene
        if vision.players:
            return


def _all_of(scenes: list[Scene]) -> tuple[Player, ...]:
    """Everybody in scenes that were each named by themselves."""
    players: dict[str, Player] = {}
    for figure in chain.from_iterable(scene.figures for scene in scenes):
        base = BaseSize(figure.length_mm, figure.width_mm, corner_mm=figure.corner_mm)
        players.setdefault(figure.id, Player(figure.id, figure.jersey, base=base))
    return tuple(players[id_] for id_ in sorted(players, key=_team_and_number))


def _team_and_number(id_: str) -> tuple[str, int, str]:
    team, _, number = id_.rpartition("-")
    return team, int(number) if number.isdecimal() else 0, number


def _stamp(source: Path) -> str:
    """What tells one version of a source from another."""
    about = source.stat()
    return f"{about.st_size} bytes, changed {about.st_mtime_ns}"
