"""Downfield as a library: what most programs need.

Every name is imported when it is first used, so that ``import downfield`` costs nothing. Paths may be texts; pictures
are arrays as OpenCV has them (8 bits, BGR, gray or with alpha), or files.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from downfield.calibration.calibration import Calibration, read_calibration
    from downfield.core.arrays import Image
    from downfield.core.errors import DownfieldError
    from downfield.core.field.model import FieldModel
    from downfield.core.frame import Detection
    from downfield.core.scene import Player, Scene
    from downfield.core.track_files import TrackFile
    from downfield.models.detector import Detector
    from downfield.officiating.engine.recording import Judgment
    from downfield.officiating.events import Event
    from downfield.officiating.rulebooks.rulebook import Rulebook, load_rulebook

    __version__: str

__all__ = [
    "DownfieldError",
    "TrackFile",
    "__version__",
    "calibrate",
    "detect",
    "follow",
    "judge",
    "load_rulebook",
    "read_calibration",
    "track",
]

_ELSEWHERE: Final = {
    "DownfieldError": "downfield.core.errors",
    "TrackFile": "downfield.core.track_files",
    "load_rulebook": "downfield.officiating.rulebooks.rulebook",
    "read_calibration": "downfield.calibration.calibration",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("downfield")
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'downfield' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE[name]), name)


def calibrate(
    picture: Image | Path | str, *, field: str = "auto", camera_height_mm: float | None = None
) -> Calibration:
    """Calibrate a camera from a picture of the printed field.

    Args:
        field: a preset's name, a .toml file, or auto.
        camera_height_mm: of the lens over the board; None to measure it by the figures in the picture.

    Raises:
        InputError: the picture can't be used.
        CalibrationError: the printed field was not found, or the result is not trustworthy; says what to change.
    """
    from downfield.rig.configuration.settings import CalibrationSettings
    from downfield.rig.tables import table_calibration

    settings = CalibrationSettings(field=field, camera_height_mm=camera_height_mm or 0)
    return table_calibration.calibrate(settings, [_image(picture)], "a picture")


def detect(picture: Image | Path | str) -> tuple[Detection, ...]:
    """Return the figures, the ball and the hands in a picture, best first, by the bundled networks.

    Raises:
        InputError: the picture can't be used.
    """
    image = _image(picture)
    return tuple(_detector().detect(image))


@cache
def _detector() -> Detector:
    from downfield.models.loading import open_detector

    return open_detector()


def track(
    video: Path | str,
    calibration: Calibration | Path | str | None = None,
    *,
    roster: Path | str | None = None,
    events: Sequence[Event] | Path | str = (),
    rulebook: str | None = None,
    fps: float = 60.0,
) -> Iterator[Scene]:
    """Yield the scenes of a video or a folder of pictures.

    Args:
        calibration: of the camera; None for the ``NAME.calibration.json`` beside the video.
        roster: a roster or track file that says who stands where; None to number the figures.
        events: the declarations: line-ups keep names from play to play.
        rulebook: which declarations mean what; None for the default one.
        fps: of pictures.

    Raises:
        InputError, FormatError: a file is missing or can't be used.
    """
    from downfield.calibration.calibration import read_calibration
    from downfield.capture.sources.file_sources import ImageFolder, VideoFile
    from downfield.core.track_files import read_roster
    from downfield.models.loading import open_detector
    from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
    from downfield.officiating.rulebooks.rulebook import load_rulebook
    from downfield.review.rejudging.recorded_game import RecordedReferee, decoded
    from downfield.rig.tables.table_calibration import calibration_beside
    from downfield.vision.pipeline import Vision

    path = Path(video)
    beside = calibration_beside(str(path)) if calibration is None else calibration
    camera = read_calibration(beside) if isinstance(beside, Path | str) else beside
    known = None if roster is None else read_roster(Path(roster))
    source = ImageFolder(path, fps=fps, paced=False) if path.is_dir() else VideoFile(path, paced=False)
    try:
        vision = Vision(camera, open_detector(), known)
        referee = RecordedReferee(_events(events), load_rulebook(rulebook or DEFAULT_RULEBOOK), camera)
        for frame in decoded(source.frames()):
            yield referee.process(frame, vision)
    finally:
        source.close()


def judge(
    tracks: Path | str | Iterable[Scene],
    events: Sequence[Event] | Path | str = (),
    rulebook: Rulebook | str | None = None,
    *,
    field: FieldModel | None = None,
    players: tuple[Player, ...] = (),
) -> Judgment:
    """Return what a rulebook makes of recorded tracks.

    Args:
        tracks: a track file, or scenes in order of time, for which the field is needed.
        events: the declarations.
        rulebook: or the name of an installed one, or a league's .toml file; None for the default one.
        field: the printed field; None for that of the file.
        players: the roster, where no line-up is declared before the first play; none for that of the file.

    Raises:
        InputError, FormatError, RulebookError: a file is missing or can't be used.
    """
    from downfield.core.errors import InputError
    from downfield.core.track_files import TrackFile
    from downfield.officiating.engine.recording import judge_recording
    from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK
    from downfield.officiating.rulebooks.rulebook import load_rulebook

    named = DEFAULT_RULEBOOK if rulebook is None else rulebook
    book = load_rulebook(named) if isinstance(named, str) else named
    scenes = TrackFile(Path(tracks)) if isinstance(tracks, Path | str) else tracks
    if isinstance(scenes, TrackFile):
        field, players = field or scenes.header.field, players or scenes.header.players
    if field is None:
        raise InputError("field: is needed to judge scenes that come from no file. Give that of their calibration.")
    return judge_recording(scenes, _events(events), book, field, players=players)


def follow(url: str, topics: Sequence[str] = (), key: str = "") -> Iterator[dict[str, Any]]:
    """Yield the messages of a rig's live feed, from a snapshot on; after a lost connection it goes on where it was.

    Args:
        url: of the rig's pages, such as ``http://127.0.0.1:8317``.
        topics: their names; none for all.
        key: of a device, where the rig is on another computer.

    Raises:
        InputError: the address can't be used, or the rig refuses it.
    """
    from downfield.core.errors import InputError

    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url!r}: is no address of a rig. Give one such as http://127.0.0.1:8317.")
    address = f"{url.rstrip('/')}/api/feed" + (f"?topics={','.join(topics)}" if topics else "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    while True:
        try:
            request = urllib.request.Request(address, headers=headers)  # noqa: S310 - checked
            with urllib.request.urlopen(request, timeout=15) as answer:  # noqa: S310 - the same
                for line in answer:
                    if line.startswith(b"id: "):
                        headers["Last-Event-ID"] = line[4:].decode().strip()
                    elif line.startswith(b"data: "):
                        yield json.loads(line[6:])
        except urllib.error.HTTPError as error:
            if error.code not in {429, 503}:
                detail = error.read(4096).decode(errors="replace")
                raise InputError(f"{url}: refused the feed with status {error.code}: {detail}") from None
        except OSError:
            pass  # it is tried again
        time.sleep(1)


def _events(given: Sequence[Event] | Path | str) -> Sequence[Event]:
    from downfield.officiating.events import read_events

    return read_events(Path(given))[1] if isinstance(given, Path | str) else given


def _image(picture: Image | Path | str) -> Image:
    """Return a picture as uint8 BGR, shape (height, width, 3). Raises InputError: it is none, or can't be read."""
    import cv2
    import numpy as np

    from downfield.calibration.pictures import read_picture
    from downfield.core.errors import InputError

    if isinstance(picture, Path | str):
        return read_picture(Path(picture))
    if picture is None:
        raise InputError("the picture is None, which cv2.imread returns for a file that it can't read")
    shape, kind = getattr(picture, "shape", None), str(getattr(picture, "dtype", ""))
    if shape is None or not all(shape) or len(shape) not in {2, 3} or (len(shape) == 3 and shape[2] not in {1, 3, 4}):
        what = type(picture).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise InputError(f"the picture is {what}. Give an array of shape (height, width, 3), BGR, or a file's path.")
    if kind != "uint8":
        raise InputError(f"the picture has values of type {kind}. Give 8-bit ones: (picture * 255).astype('uint8').")
    channels = 1 if len(shape) == 2 else shape[2]
    turned = {1: cv2.COLOR_GRAY2BGR, 4: cv2.COLOR_BGRA2BGR}.get(channels)
    return picture if turned is None else np.asarray(cv2.cvtColor(picture, turned), np.uint8)
