"""What leaves the house of a call or a play: a clip of it under a name that says what it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import CallMarks, FootageFrame, ScaledPicture
from downfield.core.arrays import Image
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
from downfield.review.pictures.painting import DrawingKind, PaintedCall, paint
from downfield.review.pictures.projection import Place, Projection


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """How a clip is made."""

    speed: float  # 1 for real time, 0.5 for half of it
    kinds: tuple[DrawingKind, ...]  # what is drawn; nothing, and no words either, if empty
    width_px: int  # of the picture at most


Film = Evidence | PlayEvidence
"""What a clip is made of."""


class ClipExporter:
    """Exports clips and pictures, each with the name of its file. Callable from any thread.

    Its methods raise NotFoundError for what the game does not have, NotRecordedError where none of its pictures can be
    read, BusyError where too many requests wait already.
    """

    def __init__(self, finder: EvidenceFinder) -> None:
        self._finder = finder
        self._worker = ClipWorker()

    def call(
        self, row: GameRow, call: str, form: ClipFormat, either_side_s: float, options: ClipOptions
    ) -> tuple[str, bytes]:
        """Return the name of a clip of a call, with so long before and after it, and the clip."""
        evidence = self._finder.find(row, call)
        name = f"{evidence.file_name(row)}_{either_side_s:g}s{_told(options)}.{form}"
        return name, self._encoded(replace(evidence, stills=evidence.around(either_side_s)), form, options)

    def play(self, row: GameRow, number: int, form: ClipFormat, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a clip of a whole play, and the clip. Raises RefusedError: it lasts too long."""
        evidence = self._finder.find_play(row, number)
        lasts_s = (evidence.stills[-1].t_ns - evidence.stills[0].t_ns) / 1e9 / options.speed
        longest_s = CLIP_LIMITS.longest_s[form]
        if lasts_s > longest_s:
            other = "Save it as a video, or a" if form == "gif" else "Save a"
            raise RefusedError(
                f"This play would be shown for {lasts_s:.0f} s; a {form.upper()} holds at most {longest_s:g} s."
                f" {other} clip of one of its calls."
            )
        return f"{evidence.file_name(row)}{_told(options)}.{form}", self._encoded(evidence, form, options)

    def call_picture(self, row: GameRow, call: str, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a call's decisive picture with the way to it, and the picture as PNG."""
        evidence = self._finder.find(row, call)
        name = f"{evidence.file_name(row)}{_told(options)}.png"
        return name, self._picture(evidence, evidence.decisive, options)

    def play_picture(self, row: GameRow, number: int, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a picture of the end of a play with the way to it, and the picture as PNG."""
        evidence = self._finder.find_play(row, number)
        return f"{evidence.file_name(row)}{_told(options)}.png", self._picture(evidence, evidence.last, options)

    def _picture(self, film: Film, still: FootageFrame, options: ClipOptions) -> bytes:
        (image,) = self._finder.pictures([still])
        if image is None:
            raise NotRecordedError(_unreadable(still))
        size, small = (image.shape[1], image.shape[0]), scaled(image, options.width_px)
        if options.kinds:
            painter = _Painter(film, self._finder)
            for before in film.stills[: film.stills.index(still)]:
                painter.follow(size, before)
            small = painter.paint(small, size, still, options.kinds)
        return cv2.imencode(".png", small)[1].tobytes()

    def _encoded(self, film: Film, form: ClipFormat, options: ClipOptions) -> bytes:
        if form == "gif":  # words are set for the width they are read at
            options = replace(options, width_px=min(options.width_px, CLIP_LIMITS.gif_width_px))
        images = self._images(film, options)
        return self._worker.run(lambda: encode_clip(images, form))

    def _images(self, film: Film, options: ClipOptions) -> Iterator[TimedImage]:
        """Yield the pictures of a clip as they are shown."""
        times = shown_at([still.t_ns for still in film.stills], options.speed)
        with closing(ahead(self._finder.footage.scaled_pictures(film.stills, options.width_px))) as pictures:
            yield from self._painted(film, options, zip(film.stills, times, pictures, strict=True))

    def _painted(
        self, film: Film, options: ClipOptions, pictures: Iterable[tuple[FootageFrame, int, ScaledPicture | None]]
    ) -> Iterator[TimedImage]:
        painter = _Painter(film, self._finder)
        size: tuple[int, int] | None = None
        gone = {one.after_ns: one for one in missing_pictures(film.stills, film.scenes)}
        for still, shown_ns, picture in pictures:
            if picture is not None:
                size = picture.size_px
            if size is None:
                continue  # nothing could be read so far, and the size of the pictures is not known
            small = scaled(_dark(size, _unreadable(still)), options.width_px) if picture is None else picture.image
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


class _Painter:
    """Paints the pictures of a clip one after another."""

    def __init__(self, film: Film, finder: EvidenceFinder) -> None:
        self._film, self._finder = film, finder
        self._ground: _Ground | None = None
        self._ways: dict[str, list[tuple[float, float]]] = {}

    def paint(self, image: Image, size: tuple[int, int], still: FootageFrame, kinds: Collection[DrawingKind]) -> Image:
        """Paint on a picture that the camera took in a size, px, and that may have been scaled down since."""
        marks, ground, drawing = self.follow(size, still)
        words = self._film.caption(marks, still)
        trails = tuple(np.array(way) for way in self._ways.values())
        painted = PaintedCall(drawing, ground.lines, ground.spot, trails, words)
        return paint(image, painted, kinds, image.shape[1] / size[0])

    def follow(self, size: tuple[int, int], still: FootageFrame) -> tuple[CallMarks, _Ground, FrameDrawing]:
        """Follow the ways of figures to the next picture, and return what belongs on it."""
        marks = self._film.marks(still)
        made = self._finder.footage.calibration(still).fitting(size).calibration
        ground = self._ground
        if ground is None or ground.calibration is not made or ground.call is not marks.call:
            projection = Projection(made, marks.players)
            lines, spot = draw_lines(marks, projection), draw_spot(marks.call, projection)
            ground = self._ground = _Ground(made, marks.call, projection, lines, spot)
        drawing = draw_frame(still.frame, marks, ground.projection)
        for figure in drawing.figures:
            if figure.part != "other" and figure.px:
                x, y = (sum(values) / len(values) for values in zip(*figure.px, strict=True))
                self._ways.setdefault(figure.id, []).append((x, y))
        return marks, ground, drawing


def _told(options: ClipOptions) -> str:
    """Return what tells a file from another one of the same call: its speed, and whether nothing is drawn on it."""
    speed = "" if options.speed == 1 else f"_{options.speed:g}x"
    return speed if options.kinds else f"{speed}_plain"


def _unreadable(still: FootageFrame) -> str:
    return f"Frame {still.frame} can't be read: the recording is damaged here."


def _dark(size: tuple[int, int], text: str) -> Image:
    """Return a dark picture with a text on it."""
    width, height = size
    image = np.full((height, width, 3), 30, np.uint8)
    cv2.putText(
        image, text, (width // 12, height // 2), (230, 230, 230), cv2.FontFace("sans"), max(10, width // 60), 500
    )
    return image
