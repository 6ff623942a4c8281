"""A recorded game tracked again, frame by frame as at the table, by a network, and judged as it goes.

The referee tells the vision stage what it tells it at the table: the line-ups that are declared, fronts, and who has
the ball. Everything runs in one thread, so the result does not depend on the computer's speed. The network is named
by its content, and brought to every worker through the archive.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from downfield.capture.sources.file_sources import VideoFile
from downfield.core.errors import InputError, RefusedError, SourceError
from downfield.core.records import record
from downfield.core.scene import Scene
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.desk.archive.archive_files import ArchiveFiles, file_sha256
from downfield.desk.archive.game_source import GameSource
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.results import JudgedItem
from downfield.models.card import bundled_networks, find_network, read_card
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.officiating.calls import Call
from downfield.officiating.declarations import FrontDeclared, IdentitiesDeclared, LineUpDeclared
from downfield.officiating.engine.recording import REPLAY_LIMITS, compare_calls
from downfield.officiating.engine.rules_engine import RulesEngine
from downfield.officiating.events import Event, Tick
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.rejudging.rejudging import Way
from downfield.vision.pipeline import Vision

_LARGEST_BYTES: Final = 2 << 30  # Of a network's folder; one that is larger holds something else


@record
class JobNetwork:
    """A network that a job tracks with."""

    name: str  # as its card says
    bundled: str  # its name among those that come with Downfield; empty for another
    digest: str  # SHA-256 of its files
    files: tuple[str, ...]  # their names


def describe_network(name_or_path: str) -> JobNetwork:
    """Return what a network is.

    Args:
        name_or_path: a bundled network, or the folder of another.

    Raises:
        InputError: there is no such network.
        FormatError: its card breaks the format.
    """
    folder = find_network(name_or_path)
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    if sum(path.stat().st_size for path in paths) > _LARGEST_BYTES:
        raise InputError(f"{folder}: is larger than any network. Give the folder of the network alone.")
    content = json.dumps([[path.name, file_sha256(path)] for path in paths])
    bundled = name_or_path if name_or_path in bundled_networks() else ""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return JobNetwork(read_card(folder).name, bundled, digest, tuple(path.name for path in paths))


def share_network(network: JobNetwork, name_or_path: str, kept: ArchiveFiles) -> None:
    """Put a network where workers find it, unless each has it with its Downfield.

    Raises:
        StorageError: it can't be written.
    """
    if network.bundled:
        return
    there = set(kept.names_in(_folder(network)))
    for name in network.files:
        if name not in there:
            kept.upload(f"{_folder(network)}/{name}", find_network(name_or_path) / name)


def open_shared_network(network: JobNetwork, kept: ArchiveFiles) -> Detector:
    """Return the detector of a network in a worker, for one thread, opened anew so that no game is in its memory.

    Raises:
        InputError: this worker's own is another one, or the files were changed.
        StorageError: it can't be read.
    """
    if network.bundled:
        if describe_network(network.bundled).digest != network.digest:
            raise InputError(f"the worker's bundled network '{network.bundled}' is another one than the command's")
        return open_detector(network.bundled, threads=1)
    with tempfile.TemporaryDirectory(prefix="downfield-network-") as temporary:
        folder = Path(temporary)
        for name in network.files:
            (folder / name).write_bytes(kept.read(f"{_folder(network)}/{name}"))
        if describe_network(str(folder)).digest != network.digest:
            raise InputError("the network was changed where the job keeps it")
        return open_detector(folder, threads=1)


def _folder(network: JobNetwork) -> str:
    return f"networks/{network.digest}"


_DEFAULT_FPS: Final = 30.0  # Of a video without a frame rate; scenes carry their own times


def track_and_judge(
    item: ArchivedItem, source: GameSource, detector: Detector, book: Rulebook | None, tracks: Path
) -> JudgedItem:
    """Track a game again and judge it.

    Args:
        source: what it is tracked from.
        book: rulebook to judge it under; None for its own.
        tracks: the track file to write.

    Returns:
        What it comes to, against the calls that were made at the table.

    Raises:
        InputError: no line-up is found in the pictures, or no rulebook is known.
        SourceError: a video can't be read to its end.
        OutputError: the track file can't be written.
    """
    chosen = book or source.rulebook
    if chosen is None:
        raise InputError("the recording names no rulebook. Add it with --rulebook, or track it with --rulebook.")
    vision = Vision(source.calibration, detector, source.roster)
    referee = _Referee(source, chosen)
    videos = [VideoFile(path, paced=False) for path in source.videos]
    scenes = (scene for video in videos for scene in _scenes(video, vision, referee))
    first = list(_until_players_known(scenes, vision))
    if not vision.players:
        raise InputError("no line-up was found, since no figures stood still for a quarter of a second")
    header = TracksHeader(source.calibration.field, vision.players, videos[0].facts.fps or _DEFAULT_FPS, item.game)
    write_tracks(tracks, header, chain(first, scenes))
    referee.end()
    before = source.calls
    return JudgedItem(
        item,
        chosen.name,
        "" if source.rulebook is None else source.rulebook.name,
        source.score,
        referee.calls,
        () if before is None else compare_calls(before, referee.calls),
        referee.refused,
        referee.score,
        referee.text,
    )


def _scenes(video: VideoFile, vision: Vision, referee: _Referee) -> Iterator[Scene]:
    """Yield the scenes of all pictures that can be decoded, each judged."""
    for captured in video.frames():
        try:
            frame = captured.decode()
        except SourceError:
            continue
        referee.declare_until(frame.t_ns, vision)
        scene = vision.process(frame, referee.carrier)
        referee.see(scene, vision)
        yield scene


def _until_players_known(scenes: Iterator[Scene], vision: Vision) -> Iterator[Scene]:
    for scene in scenes:
        yield scene
        if vision.players:
            return


@dataclass
class _Referee:
    """Judges scenes as they come, with the declarations of the game at their times."""

    source: GameSource
    book: Rulebook
    calls: list[Call] = field(default_factory=list)
    refused: int = 0

    def __post_init__(self) -> None:
        way = Way.of(self.source.events)
        standing = (event for event in self.source.events if event.id not in way.undone)
        self._waiting = deque(sorted(standing, key=lambda event: event.t_ns))
        self._declares = any(isinstance(event.body, LineUpDeclared) for event in self._waiting)
        calibration = self.source.calibration
        self._engine = RulesEngine(
            self.book, calibration.field, way.rulings, self.source.certified_yd, lengths_known=calibration.lengths_known
        )
        self._state = self._engine.begin(self.source.teams)
        self._last_ns = 0

    @property
    def carrier(self) -> str | None:
        """Roster id of the declared ball carrier; None for none."""
        return self._state.game.play.carrier

    @property
    def score(self) -> tuple[int, int]:
        """Home, away."""
        return self._state.game.score

    @property
    def text(self) -> str:
        """The game on one line."""
        return self._state.game.text

    def declare_until(self, t_ns: int, vision: Vision) -> None:
        """Judge the declarations up to a time, and tell the vision stage what concerns it."""
        while self._waiting and self._waiting[0].t_ns <= t_ns:
            event = self._waiting.popleft()
            if self._step(event) and isinstance(event.body, LineUpDeclared):
                vision.line_up(self._state.game.players, self._state.game.left_jersey)
            elif isinstance(event.body, IdentitiesDeclared):
                vision.identify(event.body.left, event.body.places)
            elif isinstance(event.body, FrontDeclared):
                vision.settle_front(event.body.player, event.body.heading_deg)

    def see(self, scene: Scene, vision: Vision) -> None:
        """Judge a scene; figures that nobody declared are the line-up."""
        if vision.players and not self._declares:
            self._declares = True
            self._step(Event("roster", scene.t_ns, "vision", LineUpDeclared(vision.players)))
        self._step(scene)

    def end(self) -> None:
        """Judge what was declared after the last picture, and let all that is pending be decided."""
        while self._waiting:
            self._step(self._waiting.popleft())
        self._step(Event("end", self._last_ns + REPLAY_LIMITS.last_tick_ns, "clock", Tick()))

    def _step(self, entry: Event | Scene) -> bool:
        """Judge one entry; return whether the game allowed it."""
        self._last_ns = max(self._last_ns, entry.t_ns)
        try:
            self._state, made = self._engine.step(self._state, entry)
        except RefusedError:
            self.refused += isinstance(entry, Event)
            return False
        self.calls += made
        return True
