"""What leaves the house of a call: a clip of it under a name that says what it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.calibration.calibration import Calibration
from downfield.core.arrays import Array, Image
from downfield.core.errors import NotRecordedError
from downfield.game.evidence import Evidence, EvidenceFinder
from downfield.game.footage import CallMarks, FootageFrame
from downfield.game.store_reader import GameRow
from downfield.review.call_viewer import caption
from downfield.review.clips import ClipFormat, ClipWorker, TimedImage, encode_clip, scaled, shown_at
from downfield.review.drawings import DrawnLine, FrameDrawing, Place, Projection, draw_frame, draw_lines, draw_spot
from downfield.review.painting import DrawingKind, PaintedCall, paint

_NAME_LENGTH: Final = 90  # of a file, without the ending: longer ones break on some phones


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """How a clip is made.

    Attributes:
        either_side_s: how long before and after the call it reaches.
        speed: 1 for real time, 0.5 for half of it.
        kinds: what is drawn; nothing, and no words either, if empty.
        width_px: of the picture at most.

    """

    either_side_s: float
    speed: float
    kinds: tuple[DrawingKind, ...]
    width_px: int


class ClipExporter:
    """Exports clips. Callable from any thread.

    Args:
        finder: finds the evidence of calls.

    """

    def __init__(self, finder: EvidenceFinder) -> None:
        self._finder = finder
        self._worker = ClipWorker()

    def call(self, row: GameRow, call: str, form: ClipFormat, options: ClipOptions) -> tuple[str, bytes]:
        """Return the name of a clip of a call, and the clip.

        Raises:
            NotFoundError: the game has no such call.
            NotRecordedError: none of its pictures can be read.
            BusyError: too many requests wait already.

        """
        evidence = self._finder.find(row, call)
        images = self._images(evidence, options)
        return f"{clip_name(row, evidence)}.{form}", self._worker.run(lambda: encode_clip(images, form))

    def _images(self, evidence: Evidence, options: ClipOptions) -> Iterator[TimedImage]:
        """Yield the pictures of a clip as they are shown."""
        stills = evidence.around(options.either_side_s)
        painter = _Painter(evidence, self._finder)
        size: tuple[int, int] | None = None
        pictures = self._finder.pictures(stills)
        times = shown_at([still.t_ns for still in stills], options.speed)
        for still, shown_ns, image in zip(stills, times, pictures, strict=True):
            if image is not None:
                size = (image.shape[1], image.shape[0])
            if size is None:
                continue  # nothing could be read so far, and the size of the pictures is not known
            whole = _unreadable(size, still) if image is None else image
            small = scaled(whole, options.width_px)
            yield shown_ns, painter.paint(small, size, still, options.kinds) if options.kinds else small
        if size is None:
            raise NotRecordedError("No picture around this call can be read: the recording is damaged.")


@dataclass(frozen=True, slots=True)
class _Ground:
    """What stays where it is from picture to picture under one calibration."""

    calibration: Calibration | None
    projection: Projection
    lines: tuple[DrawnLine, ...]
    spot: Place | None

    @classmethod
    def of(cls, made: Calibration | None, marks: CallMarks) -> _Ground:
        projection = Projection(made, marks.players)
        if made is None:
            return cls(made, projection, (), None)
        spot = draw_spot(marks.call, made.field, projection)
        return cls(made, projection, draw_lines(marks, made.field, projection), spot)


class _Painter:
    """Paints the pictures of a call one after another."""

    def __init__(self, evidence: Evidence, finder: EvidenceFinder) -> None:
        self._evidence, self._finder = evidence, finder
        self._ground: _Ground | None = None
        self._trails: dict[str, list[tuple[float, float]]] = {}

    def paint(self, image: Image, size: tuple[int, int], still: FootageFrame, kinds: Collection[DrawingKind]) -> Image:
        """Paint on a picture that the camera took in a size, px, and that may have been scaled down since."""
        marks = self._evidence.marks(still)
        made = self._finder.calibration(still).fitting(size).calibration
        if self._ground is None or self._ground.calibration is not made:
            self._ground = _Ground.of(made, marks)
        ground = self._ground
        drawing = draw_frame(still.frame, marks, ground.projection)
        painted = PaintedCall(drawing, ground.lines, ground.spot, self._trails_to(drawing), caption(marks, still))
        return paint(image, painted, kinds, image.shape[1] / size[0])

    def _trails_to(self, drawing: FrameDrawing) -> tuple[Array, ...]:
        for figure in drawing.figures:
            if figure.part != "other" and figure.px:
                x, y = np.mean(figure.px, axis=0).tolist()
                self._trails.setdefault(figure.id, []).append((x, y))
        return tuple(np.array(trail) for trail in self._trails.values())


def clip_name(row: GameRow, evidence: Evidence) -> str:
    """Return a file's name that says game, play and call, for any file system."""
    call = evidence.call
    play = f"play{evidence.play}" if evidence.play else "before-first-play"
    players = "-".join(call.players[:2])
    told = re.sub(r"[^A-Za-z0-9-]+", "-", f"{call.kind}-{players}").strip("-").lower()
    return f"downfield_{row.id}_{play}_{told}"[:_NAME_LENGTH]


def _unreadable(size: tuple[int, int], still: FootageFrame) -> Image:
    """Return a dark picture that says which frame can't be read."""
    width, height = size
    image = np.full((height, width, 3), 30, np.uint8)
    text = f"Frame {still.frame} can't be read: the recording is damaged here."
    cv2.putText(
        image, text, (width // 12, height // 2), (230, 230, 230), cv2.FontFace("sans"), max(10, width // 45), 500
    )
    return image
