"""A recorded game tracked again by a network, and judged as it goes, in a worker of a job.

The network is named by its content, and brought to every worker through the archive.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Final

from downfield.capture.sources.file_sources import VideoFile
from downfield.core.errors import InputError
from downfield.core.files.facts import file_digest
from downfield.core.records import record
from downfield.core.track_files import TracksHeader, write_tracks
from downfield.desk.archive.archive_files import ArchiveFiles
from downfield.desk.archive.game_source import GameSource
from downfield.desk.archive.items import ArchivedItem
from downfield.desk.archive.results import JudgedItem
from downfield.models.card import bundled_networks, find_network, read_card
from downfield.models.detector import Detector
from downfield.models.loading import open_detector
from downfield.officiating.engine.recording import compare_calls
from downfield.officiating.rulebooks.rulebook import Rulebook
from downfield.review.rejudging.recorded_game import RecordedReferee, TrackedScenes, decoded
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
    """Return what a network is, bundled or in a folder. Raises InputError: none is there; FormatError: a bad card."""
    folder = find_network(name_or_path)
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    if sum(path.stat().st_size for path in paths) > _LARGEST_BYTES:
        raise InputError(f"{folder}: is larger than any network. Give the folder of the network alone.")
    content = json.dumps([[path.name, file_digest(path)] for path in paths])
    bundled = name_or_path if name_or_path in bundled_networks() else ""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return JobNetwork(read_card(folder).name, bundled, digest, tuple(path.name for path in paths))


def share_network(network: JobNetwork, name_or_path: str, kept: ArchiveFiles) -> None:
    """Put a network where workers find it, unless it came with Downfield. Raises StorageError: it can't be written."""
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
    referee = RecordedReferee(source.events, chosen, source.calibration, source.teams, source.certified_yd)
    videos = [VideoFile(path, paced=False) for path in source.videos]
    frames = (frame for video in videos for frame in decoded(video.frames()))
    scenes = TrackedScenes(vision, (referee.process(frame, vision) for frame in frames))
    header = TracksHeader(source.calibration.field, scenes.players, videos[0].facts.fps or _DEFAULT_FPS, item.game)
    write_tracks(tracks, header, scenes)
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
