"""Makes the replay of a call as a clip: exact frames seen from straight above, slower and closer, then the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

import cv2
import numpy as np

from downfield.broadcast.replay.framing import HEIGHT_PX, PACE, WIDTH_PX, Framing, ReplayShot, frame_call, shots
from downfield.broadcast.replay.replay_painting import ReplayPicture, paint_replay
from downfield.calibration.camera import Camera
from downfield.capture.footage import FootageCalibration, FootageFrame
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.game.published.game_topics import CallView
from downfield.game.records.keeping import GameRow
from downfield.officiating.call_kinds import CROSSINGS, GOAL_LINE
from downfield.review.evidence.call_viewer import base_height_mm
from downfield.review.evidence.evidence import Evidence
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.pictures.clips import TimedImage, encode_fragments
from downfield.review.pictures.drawings import DrawnLine, draw_frame, draw_lines, draw_spot
from downfield.review.pictures.projection import Place, Projection, rectify

_ON_PAINT: Final = CROSSINGS | GOAL_LINE
"""Calls about paint; of all others the tops of the bases are seen to scale."""


@dataclass(frozen=True, slots=True)
class BegunReplay:
    """A replay that is being made."""

    call: CallView
    name: str
    seconds: float
    # yields the clip, H.264 in a fragmented MP4, as it is made. Raises NotRecordedError where no picture can be read.
    parts: Iterator[bytes]


PictureReader = Callable[[Iterable[FootageFrame]], Iterator[Image | None]]
"""Yields pictures in order, None for one that can't be read; `EvidenceFinder.pictures` is one."""


class FilmWork(Protocol):
    """What a film is made of besides the files with its frames; another process can take it over."""

    def images(self, read: PictureReader) -> Iterator[TimedImage]:
        """Yield its pictures as they are shown. Raises NotRecordedError: none of them can be read."""


class ReplayRenderer:
    """Draws and encodes films, here in the thread that takes their parts."""

    def film(self, work: FilmWork, read: PictureReader) -> Iterator[bytes]:
        """Yield a film in parts as it is made, H.264 in a fragmented MP4.

        Its frames are read by `read` where the renderer does not do that itself. Raises NotRecordedError: none can be.
        """
        yield from encode_fragments(work.images(read))

    def prepare(self) -> None:
        """Get ready, as replays will be wanted; return at once."""

    def close(self) -> None:
        """Make no more."""


class ReplayMaker:
    """Makes replays. Callable from any thread."""

    def __init__(self, finder: EvidenceFinder, renderer: ReplayRenderer | None = None) -> None:
        self._finder, self.renderer = finder, renderer or ReplayRenderer()

    def is_recorded(self, row: GameRow, t_ns: int) -> bool:
        """Return whether the pictures up to an instant are on the disk: of one just now the last may not be yet."""
        return self._finder.is_recorded(row, t_ns)

    def begin(self, row: GameRow, call: str) -> BegunReplay:
        """Return the replay of a call, which is made as its parts are taken.

        Raises NotFoundError: the game has no such call; NotRecordedError: no picture of it is kept; BusyError: too many
        requests wait already.
        """
        work = replay_work(self._finder, row, call)
        _, schedule = _replayed(work.evidence)
        name = f"{work.evidence.file_name(row)}_replay.mp4"
        parts = self.renderer.film(work, self._finder.pictures)
        return BegunReplay(work.evidence.call, name, schedule[-1].shown_ns / 1e9, parts)


def replay_work(finder: EvidenceFinder, row: GameRow, call: str) -> ReplayWork:
    """Return what the replay of a call is made of. Raises as of `ReplayMaker.begin`."""
    evidence = finder.find(row, call)
    stills, _ = _replayed(evidence)
    scenes = {still.t_ns: evidence.scenes[still.t_ns] for still in stills if still.t_ns in evidence.scenes}
    return ReplayWork(replace(evidence, scenes=scenes), finder.footage.calibration(evidence.decisive))


def _replayed(evidence: Evidence) -> tuple[tuple[FootageFrame, ...], list[ReplayShot]]:
    """Return the frames that a replay is made of, and when each is shown.

    The last is the first one captured at the decisive instant or later: a gap that closed between two is closed on it.
    """
    last = next((still for still in evidence.stills if still.t_ns >= evidence.call.t_ns), evidence.decisive)
    from_ns = last.t_ns - round(PACE.before_s * 1e9)
    stills = tuple(still for still in evidence.stills if from_ns <= still.t_ns <= last.t_ns)
    return stills, shots([still.t_ns for still in stills], PACE)


@dataclass(frozen=True, slots=True)
class _ReplayGround:
    """What stays where it is on the pictures of a replay, and how they are seen."""

    framing: Framing | None
    projection: Projection
    camera: Camera | None = None
    lines: tuple[DrawnLine, ...] = ()
    spot: Place | None = None


@dataclass(frozen=True, slots=True)
class ReplayWork:
    """A replay: a `FilmWork`."""

    evidence: Evidence  # of the call, with the scenes that are shown
    calibrated: FootageCalibration  # the calibration at its decisive frame

    def images(self, read: PictureReader) -> Iterator[TimedImage]:
        """Yield its pictures as they are shown; a frame that can't be read is left out: the one before it stays.

        Raises NotRecordedError: none can be read.
        """
        stills, schedule = _replayed(self.evidence)
        pictures = read(stills)
        image: Image | None = None
        ground: _ReplayGround | None = None
        place, is_read = -1, False
        for shot in schedule:
            while place < shot.place:
                following = next(pictures)
                place += 1
                image = image if following is None else following
            if image is None:
                continue
            ground = ground or self._ground((image.shape[1], image.shape[0]))
            is_read = True
            yield shot.shown_ns, self._picture(image, stills[place], shot, ground)
        if not is_read:
            raise NotRecordedError("No picture before this call can be read: the recording is damaged.")

    def board(self, image: Image, approach: float) -> Image:
        """Return a picture of the play as seen from above, or as the camera saw it, without drawings."""
        return _seen(image, self._ground((image.shape[1], image.shape[0])), approach)

    def _ground(self, size_px: tuple[int, int]) -> _ReplayGround:
        evidence = self.evidence
        made = self.calibrated.fitting(size_px).calibration
        if made is None:
            return _ReplayGround(None, Projection(None, evidence.players))
        on_paint = evidence.call.kind in _ON_PAINT or evidence.call.measure in {"line", "short"}
        plane = 0.0 if on_paint else base_height_mm(evidence)
        projection = Projection(made, evidence.players, plane)
        marks = evidence.marks(evidence.decisive)
        lines, spot = draw_lines(marks, projection), draw_spot(evidence.call, projection)
        return _ReplayGround(frame_call(marks, made, plane), projection, made.camera, lines, spot)

    def _picture(self, image: Image, still: FootageFrame, shot: ReplayShot, ground: _ReplayGround) -> Image:
        out = _seen(image, ground, shot.approach)
        picture = ReplayPicture(self.evidence.call, shot)
        if ground.framing is not None:
            marks = self.evidence.marks(still)
            picture = replace(
                picture,
                region=ground.framing.region(shot.approach),
                drawing=None if marks.scene is None else draw_frame(still.frame, marks, ground.projection),
                lines=ground.lines,
                spot=ground.spot,
            )
        paint_replay(out, picture)
        return out


def _seen(image: Image, ground: _ReplayGround, approach: float) -> Image:
    if ground.framing is None or ground.camera is None:
        return _letterboxed(image)
    return rectify(image, ground.camera, ground.framing.region(approach), quick=True)


def _letterboxed(image: Image) -> Image:
    """Return a whole picture in the size of a replay, with bars where it has another shape."""
    height, width = image.shape[:2]
    scale = min(WIDTH_PX / width, HEIGHT_PX / height)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    out = np.zeros((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
    top, left = (HEIGHT_PX - size[1]) // 2, (WIDTH_PX - size[0]) // 2
    out[top : top + size[1], left : left + size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
    return out
