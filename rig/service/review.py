"""Serves games for review: a rig's own pages and API, on this computer alone, and nobody can change anything.

They come from bundles, a folder of bundles, or the data folder of a rig; there is no camera.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import av

from downfield.api.context.context import RigParts
from downfield.broadcast.latest_picture import LatestPicture
from downfield.calibration.calibration import Calibration
from downfield.capture.footage import Footage, FootageCalibration, FootageFrame, ScaledPicture
from downfield.capture.recording.recorded_footage import ClipFootage, RecordedFootage
from downfield.capture.recording.recording_library import recorded_videos
from downfield.capture.source import CapturedFrame, PictureTimes
from downfield.core.arrays import Image
from downfield.core.errors import InputError, NotRecordedError, RefusedError
from downfield.core.field.model import preset
from downfield.core.media.video_streams import open_video, video_stream
from downfield.game.published.hub import Hub
from downfield.game.records.commands import RigCommand, Settings
from downfield.game.service import GameService
from downfield.officiating.rulebooks.rulebook import load_rulebook
from downfield.review.bundles.reading import UnpackedBundle, import_game, read_manifest, unpack_bundle
from downfield.review.bundles.verification import is_bundle, other_zip_hint
from downfield.rig.configuration.settings import ServiceSettings
from downfield.rig.service.web_service import Service
from downfield.store.database.opening import open_for_reading
from downfield.store.writing.journals import StoredJournals
from downfield.store.writing.store import Store

_STORE: Final = "downfield.db"
_RECORDINGS: Final = "recordings"


@dataclass(frozen=True, slots=True)
class ReviewFolder:
    """A rig's data folder."""

    store: Path
    recordings: Path  # its recordings, which need not exist


def find_bundles(path: Path) -> list[Path]:
    """Return the bundles that a path names: itself, or those in a folder, by name; empty for another folder."""
    if path.is_dir():
        return [found for found in sorted(path.iterdir()) if is_bundle(found)]
    return [path] if is_bundle(path) else []


def find_rig_folder(path: Path) -> ReviewFolder:
    """Return the store and the recordings that a folder holds: a rig's data folder, or the recordings in one.

    Raises:
        InputError: it holds neither bundles nor a rig's games; the message says what it holds.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_file():
        if path.suffix == ".db":
            return ReviewFolder(path, path.parent / _RECORDINGS)
        how = f"To referee a video, use 'downfield run {path}'." if path.suffix in {".mkv", ".mp4"} else ""
        raise InputError(f"{path}: is neither a bundle nor a store of games. {how or other_zip_hint(path)}".rstrip())
    for folder in (path, path.parent):
        if (folder / _STORE).is_file():
            recordings = folder / _RECORDINGS
            return ReviewFolder(folder / _STORE, path if path != folder else recordings)
    if recorded_videos(path):
        raise InputError(
            f"{path}: has recordings, but no games: the rig's {_STORE} is not beside it. Copy it here, or referee a"
            " recording with 'downfield run FILE.mkv'."
        )
    raise InputError(f"{path}: has no bundle, and no games of a rig ({_STORE})")


def load_rig_folder(found: ReviewFolder, store: Store) -> Footage | None:
    """Copy a rig's games into a store; return its recordings, None where there are none.

    Raises:
        InputError, OutputError: its store can't be read, or the disk is full.
    """
    with open_for_reading(str(found.store)) as opened:
        rows = opened.store.games(limit=1_000_000)
        for row in reversed(rows):  # a store lists its games by the order they came in
            import_game(store, row, opened.store.entries(row.id))
    if not rows:
        raise InputError(f"{found.store}: holds no game")
    return RecordedFootage(found.recordings) if found.recordings.is_dir() else None


def load_bundles(bundles: Sequence[Path], store: Store, folder: Path) -> tuple[list[UnpackedBundle], Footage]:
    """Unpack bundles, all of different games, into a store and a folder; return what was unpacked, and their pictures.

    Raises:
        InputError: a bundle can't be read; or two are of one game.
        OutputError: the disk is full.
    """
    by_game: dict[str, Path] = {}
    began_ns: dict[Path, int] = {}
    for path in bundles:
        manifest = read_manifest(path)
        if manifest.game in by_game:
            raise InputError(f"{path}: is of the same game as {by_game[manifest.game]}. Move one of them away.")
        by_game[manifest.game], began_ns[path] = path, manifest.began_ns
    in_order = sorted(bundles, key=lambda path: began_ns[path])
    unpacked = [unpack_bundle(path, store, folder / str(number)) for number, path in enumerate(in_order, start=1)]
    return unpacked, BundledFootage(unpacked)


class BundledFootage:
    """The pictures in unpacked bundles: of recordings, and of the videos that games were played from."""

    def __init__(self, unpacked: Iterable[UnpackedBundle]) -> None:
        self._by_start: dict[int, Footage] = {}
        self._by_folder: dict[Path, Footage] = {}
        for bundle in unpacked:
            footage = _footage_of(bundle)
            if footage is not None:
                self._by_start[bundle.manifest.began_ns] = self._by_folder[bundle.folder] = footage

    def between(self, from_ns: int, to_ns: int, began_ns: int) -> tuple[FootageFrame, ...]:
        """See `Footage.between`."""
        footage = self._by_start.get(began_ns)
        if footage is None:
            raise NotRecordedError("This bundle has no video: it was made without, or recording was off.")
        return footage.between(from_ns, to_ns, began_ns)

    def picture(self, still: FootageFrame) -> Image:
        """See `Footage.picture`."""
        return self._of(still).picture(still)

    def pictures(self, stills: Iterable[FootageFrame]) -> Iterator[Image | None]:
        """See `Footage.pictures`; all of one game."""
        wanted = tuple(stills)
        return self._of(wanted[0]).pictures(wanted) if wanted else iter(())

    def scaled_pictures(self, stills: Iterable[FootageFrame], width_px: int) -> Iterator[ScaledPicture | None]:
        """See `Footage.scaled_pictures`; all of one game."""
        wanted = tuple(stills)
        return self._of(wanted[0]).scaled_pictures(wanted, width_px) if wanted else iter(())

    def calibration(self, still: FootageFrame) -> FootageCalibration:
        """See `Footage.calibration`."""
        return self._of(still).calibration(still)

    def _of(self, still: FootageFrame) -> Footage:
        return next(footage for folder, footage in self._by_folder.items() if folder in still.video.parents)


def _footage_of(bundle: UnpackedBundle) -> Footage | None:
    """Return the pictures of a bundle, a video file's with the times that playing it gives them; None for none."""
    if bundle.clip is None:
        return None if bundle.recordings is None else RecordedFootage(bundle.recordings)
    footage = ClipFootage(bundle.clip, lambda: bundle.calibration)
    times = PictureTimes()
    for index, t_ns in enumerate(_frame_times_ns(bundle.clip)):
        footage.frame_captured(CapturedFrame(index, times(t_ns).t_ns, 0))
    return footage


def _frame_times_ns(clip: Path) -> list[int]:
    """Return the times of a video's frames in the order they are shown, without decoding them; empty if damaged."""
    try:
        with open_video(clip) as container:
            stream = video_stream(container)
            packets = [packet for packet in container.demux(stream) if packet.size and not packet.is_discard]
            base = stream.time_base
    except (av.FFmpegError, OSError, ValueError):
        return []
    shown = sorted(packet.pts for packet in packets if packet.pts is not None)
    return [] if base is None else [round(pts * base * 1_000_000_000) for pts in shown]


class NoCamera:
    """Stands in for a rig where there is none, with the configuration that the games are played with; see `RigControl`.

    Args:
        calibration: of the camera; None where none is known.
        refusal: what is said of a command, which stands in it as ``{}``.
    """

    def __init__(
        self,
        calibration: Calibration | None,
        values: Mapping[str, Any],
        origins: Mapping[str, str] = MappingProxyType({}),
        refusal: str = "This is a review: no camera is connected to {}.",
    ) -> None:
        self._calibration, self._values, self._origins, self._refusal = calibration, values, origins, refusal

    def do(self, command: RigCommand) -> str:
        """Refuse a command. Raises RefusedError: always."""
        raise RefusedError(self._refusal.format(command.command.replace("_", " ")))

    def calibration(self) -> Calibration | None:
        """Return the calibration of the camera."""
        return self._calibration

    def settings(self) -> Settings:
        """Return the configuration that the games are played with."""
        return Settings(version=version("downfield"), values=dict(self._values), origins=dict(self._origins))


class ReviewService(Service):
    """Serves games until it is closed, at a port, 0 for any free one.

    Args:
        footage: pictures of the games; None where there are none.
        rig: stands in for the rig of the games.

    Raises:
        InputError: the port can't be opened.
    """

    def __init__(self, store: Store, footage: Footage | None, rig: NoCamera, port: int, folder: Path) -> None:
        hub = Hub()
        calibration = rig.calibration()
        field = preset("ultimate") if calibration is None else calibration.field
        self._game_service = GameService(StoredJournals(store), hub, rig, field, load_rulebook())
        context = RigParts(self._game_service, hub, LatestPicture(), store, footage, only_games=True)
        # Without trust in this computer everyone is a visitor, who may look at everything and change nothing.
        settings = ServiceSettings(port=port, trust_local=False, open_viewing=True)
        super().__init__(context, settings, folder)

    def close(self) -> None:
        """End the service, and then what it serves."""
        super().close()
        self._game_service.close()
