"""What leaves the house of a call or a play: a clip of it under a name that says what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import CallMarks, FootageFrame, ScaledPicture
from downfield.core.arrays import Array, Image
from downfield.core.errors import NotRecordedError, RefusedError
from downfield.game.published.game_topics import CallView
from downfield.game.records.keeping import GameRow
from downfield.review.evidence.evidence import Evidence, PlayEvidence, missing_pictures
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.pictures.clips import (
    CLIP_LIMITS,
    ClipFormat,
    ClipWorker,
    TimedImage,
    ahead,
    encode_clip,
    scaled,
    shown_at,
)
from downfield.review.pictures.drawings import DrawnLine, FrameDrawing, draw_frame, draw_lines, draw_spot
from downfield.review.pictures.painting import DrawingKind, PaintedCall, call_caption, paint, play_caption
from downfield.review.pictures.projection import Place, Projection

_NAME_LENGTH: Final = 90  # of a file, without the ending: longer ones break on some phones


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """How a clip is made."""

    speed: float  # 1 for real time, 0.5 for half of it
    kinds: tuple[DrawingKind, ...]  # what is drawn; nothing, and no words either, if empty
    width_px: int  # of the picture at most


@dataclass(frozen=True, slots=True)
class _Film:
    """What a clip is made of: pictures in order, when any were measured, what is drawn on each, and the words below."""

    stills: Sequence[FootageFrame]
    measured_ns: Collection[int]
    marks: Callable[[FootageFrame], CallMarks]
    caption: Callable[[CallMarks, FootageFrame], tuple[str, ...]]


class ClipExporter:
    """Exports clips. Callable from any thread.

    Args:
        finder: finds the evidence of calls and plays.
    """

    def __init__(self, finder: EvidenceFinder) -> None:
        self._finder = finder
        self._worker = ClipWorker()

    def call(
        self, row: GameRow, call: str, form: ClipFormat, either_side_s: float, options: ClipOptions
    ) -> tuple[str, bytes]:
        """Return the name of a clip of a call, and the clip.

        Args:
            either_side_s: how long before and after the call it reaches.

        Raises:
            NotFoundError: the game has no such call.
            NotRecordedError: none of its pictures can be read.
            BusyError: too many requests wait already.
        """
        evidence = self._finder.find(row, call)
        film = _Film(
            evidence.around(either_side_s), evidence.scenes, evidence.marks, partial(call_caption, evidence.call)
        )
        name = f"{call_file_name(row, evidence)}_{either_side_s:g}s{_told(options)}.{form}"
        return name, self._encoded(film, form, options)

    def play(self, row: GameRow, number: int, form: ClipFormat, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a clip of a whole play, and the clip.

        Raises:
            NotFoundError: the game has no such play.
            NotRecordedError: none of its pictures can be read.
            RefusedError: it lasts too long.
            BusyError: too many requests wait already.
        """
        evidence = self._finder.find_play(row, number)
        lasts_s = (evidence.stills[-1].t_ns - evidence.stills[0].t_ns) / 1e9 / options.speed
        longest_s = CLIP_LIMITS.longest_s[form]
        if lasts_s > longest_s:
            other = "Save it as a video, or a" if form == "gif" else "Save a"
            raise RefusedError(
                f"This play would be shown for {lasts_s:.0f} s; a {form.upper()} holds at most {longest_s:g} s."
                f" {other} clip of one of its calls."
            )
        film = _Film(evidence.stills, evidence.scenes, evidence.marks, partial(play_caption, number))
        return f"{_play_file_name(row, evidence)}{_told(options)}.{form}", self._encoded(film, form, options)

    def call_picture(self, row: GameRow, call: str, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a call's decisive picture with the way to it, and the picture as PNG.

        Raises:
            NotFoundError, NotRecordedError, BusyError: as of `call`.
        """
        evidence = self._finder.find(row, call)
        film = _Film(evidence.stills, evidence.scenes, evidence.marks, partial(call_caption, evidence.call))
        return f"{call_file_name(row, evidence)}{_told(options)}.png", self._picture(film, evidence.decisive, options)

    def play_picture(self, row: GameRow, number: int, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a picture of the end of a play with the way to it, and the picture as PNG.

        Raises:
            NotFoundError, NotRecordedError, BusyError: as of `play`.
        """
        evidence = self._finder.find_play(row, number)
        film = _Film(evidence.stills, evidence.scenes, evidence.marks, partial(play_caption, number))
        return f"{_play_file_name(row, evidence)}{_told(options)}.png", self._picture(film, evidence.last, options)

    def _picture(self, film: _Film, still: FootageFrame, options: ClipOptions) -> bytes:
        (image,) = self._finder.pictures([still])
        if image is None:
            raise NotRecordedError(f"Frame {still.frame} can't be read: the recording is damaged here.")
        size, small = (image.shape[1], image.shape[0]), scaled(image, options.width_px)
        if options.kinds:
            painter = _Painter(film, self._finder)
            for before in film.stills[: film.stills.index(still)]:
                painter.pass_by(size, before)
            small = painter.paint(small, size, still, options.kinds)
        return cv2.imencode(".png", small)[1].tobytes()

    def _encoded(self, film: _Film, form: ClipFormat, options: ClipOptions) -> bytes:
        if form == "gif":  # words are set for the width they are read at
            options = replace(options, width_px=min(options.width_px, CLIP_LIMITS.gif_width_px))
        images = self._images(film, options)
        return self._worker.run(lambda: encode_clip(images, form))

    def _images(self, film: _Film, options: ClipOptions) -> Iterator[TimedImage]:
        """Yield the pictures of a clip as they are shown."""
        times = shown_at([still.t_ns for still in film.stills], options.speed)
        with closing(ahead(self._finder.scaled_pictures(film.stills, options.width_px))) as pictures:
            yield from self._painted(film, options, zip(film.stills, times, pictures, strict=True))

    def _painted(
        self, film: _Film, options: ClipOptions, pictures: Iterable[tuple[FootageFrame, int, ScaledPicture | None]]
    ) -> Iterator[TimedImage]:
        painter = _Painter(film, self._finder)
        size: tuple[int, int] | None = None
        gone = {one.after_ns: one for one in missing_pictures(film.stills, film.measured_ns)}
        for still, shown_ns, picture in pictures:
            if picture is not None:
                size = picture.size_px
            if size is None:
                continue  # nothing could be read so far, and the size of the pictures is not known
            small = scaled(_unreadable(size, still), options.width_px) if picture is None else picture.image
            shown = painter.paint(small, size, still, options.kinds) if options.kinds else small
            yield shown_ns, shown
            if (after := gone.get(still.t_ns)) is not None:
                pause_ns = max(CLIP_LIMITS.gif_step_ns, round((after.from_ns - still.t_ns) / options.speed))
                yield shown_ns + pause_ns, _dark((shown.shape[1], shown.shape[0]), after.text)
        if size is None:
            raise NotRecordedError("None of these pictures can be read: the recording is damaged.")


@dataclass(frozen=True, slots=True)
class _Ground:
    """What stays where it is from picture to picture under one calibration and near one call."""

    calibration: Calibration | None
    call: CallView | None
    projection: Projection
    lines: tuple[DrawnLine, ...]
    spot: Place | None

    @classmethod
    def of(cls, made: Calibration | None, marks: CallMarks) -> _Ground:
        projection = Projection(made, marks.players)
        if made is None:
            return cls(made, marks.call, projection, (), None)
        spot = draw_spot(marks.call, made.field, projection)
        return cls(made, marks.call, projection, draw_lines(marks, made.field, projection), spot)


class _Painter:
    """Paints the pictures of a clip one after another."""

    def __init__(self, film: _Film, finder: EvidenceFinder) -> None:
        self._film, self._finder = film, finder
        self._ground: _Ground | None = None
        self._ways: dict[str, list[tuple[float, float]]] = {}

    def paint(self, image: Image, size: tuple[int, int], still: FootageFrame, kinds: Collection[DrawingKind]) -> Image:
        """Paint on a picture that the camera took in a size, px, and that may have been scaled down since."""
        marks, ground, drawing = self._next(size, still)
        words = self._film.caption(marks, still)
        painted = PaintedCall(drawing, ground.lines, ground.spot, self._trails(), words)
        return paint(image, painted, kinds, image.shape[1] / size[0])

    def pass_by(self, size: tuple[int, int], still: FootageFrame) -> None:
        """Follow the ways of figures over a picture that is not painted on."""
        self._next(size, still)

    def _next(self, size: tuple[int, int], still: FootageFrame) -> tuple[CallMarks, _Ground, FrameDrawing]:
        marks = self._film.marks(still)
        made = self._finder.calibration(still).fitting(size).calibration
        ground = self._ground
        if ground is None or ground.calibration is not made or ground.call is not marks.call:
            ground = self._ground = _Ground.of(made, marks)
        drawing = draw_frame(still.frame, marks, ground.projection, None if made is None else made.field)
        for figure in drawing.figures:
            if figure.part != "other" and figure.px:
                x, y = (sum(values) / len(values) for values in zip(*figure.px, strict=True))
                self._ways.setdefault(figure.id, []).append((x, y))
        return marks, ground, drawing

    def _trails(self) -> tuple[Array, ...]:
        return tuple(np.array(way) for way in self._ways.values())


def call_file_name(row: GameRow, evidence: Evidence) -> str:
    """Return a file's name, without its ending, that says game, play and call, for any file system."""
    call = evidence.call
    play = f"play{evidence.play}" if evidence.play else "before-first-play"
    return _file_name(row, play, f"{call.kind}-{'-'.join(call.players[:2])}")


def _play_file_name(row: GameRow, evidence: PlayEvidence) -> str:
    return _file_name(row, f"play{evidence.play}", evidence.snap.kind)


def _file_name(row: GameRow, play: str, told: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9-]+", "-", told).strip("-").lower()
    return f"downfield_{row.id}_{play}_{plain}"[:_NAME_LENGTH]


def _told(options: ClipOptions) -> str:
    """Return what tells a file from another one of the same call: its speed, and whether nothing is drawn on it."""
    speed = "" if options.speed == 1 else f"_{options.speed:g}x"
    return speed if options.kinds else f"{speed}_plain"


def _unreadable(size: tuple[int, int], still: FootageFrame) -> Image:
    """Return a dark picture that says which frame can't be read."""
    return _dark(size, f"Frame {still.frame} can't be read: the recording is damaged here.")


def _dark(size: tuple[int, int], text: str) -> Image:
    """Return a dark picture with a text on it."""
    width, height = size
    image = np.full((height, width, 3), 30, np.uint8)
    cv2.putText(
        image, text, (width // 12, height // 2), (230, 230, 230), cv2.FontFace("sans"), max(10, width // 60), 500
    )
    return image
