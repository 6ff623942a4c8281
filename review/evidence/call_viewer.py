"""What the viewer of a call shows: its pictures, and the drawings that belong on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import cv2

from downfield.calibration.calibration import Calibration
from downfield.capture.footage import FootageCalibration, FootageFrame
from downfield.core.arrays import Image
from downfield.core.errors import NotRecordedError
from downfield.core.field.model import FieldModel
from downfield.core.files.facts import file_state
from downfield.core.records import record
from downfield.game.records.keeping import GameRow
from downfield.review.evidence.evidence import Evidence, EvidencePicture
from downfield.review.evidence.finder import EvidenceFinder
from downfield.review.evidence.ready_pictures import ReadyPictures
from downfield.review.pictures.drawings import DrawnLine, FrameDrawing, draw_frame, draw_lines, draw_spot
from downfield.review.pictures.measuring import Point, PointUnit, RulerReading, measure
from downfield.review.pictures.painting import DRAWING_KINDS, PaintedCall, call_caption, close_up, paint
from downfield.review.pictures.projection import BoardRegion, Place, Projection, rectify

Plane = Literal["base", "paint"]

JPEG_QUALITY: Final = 92  # Of served pictures, which are examined closely

_OTHER_BASE_MM: Final = 5.5  # Height of base tops where the roster is not known: that of an ordinary base


@record
class DrawnField:
    """The printed field under the drawings.

    Attributes:
        length_mm, width_mm: goal line to goal line, sideline to sideline.
        end_zone_mm: depth of an end zone.
        mm_per_yd: millimeters for one yard, along and across.
    """

    length_mm: float
    width_mm: float
    end_zone_mm: float
    mm_per_yd: tuple[float, float]


@record
class CallDrawings:
    """Everything drawn on the pictures of a call.

    Attributes:
        size_px: size of the pictures that the drawings fit; None without a calibration: nothing is to be drawn then.
        calibration: which calibration this is, or why there is none, in words.
        base_height_mm: height over the board at which the bases of the call are seen.
        field: the printed field; None without a calibration.
        lines: of the play and the call.
        spot: where the ball is spotted; None for nowhere.
        frames: by picture, in order.
    """

    size_px: tuple[int, int] | None
    calibration: str
    base_height_mm: float
    field: DrawnField | None
    lines: tuple[DrawnLine, ...]
    spot: Place | None
    frames: tuple[FrameDrawing, ...]


class CallViewer:
    """Shows calls. Callable from any thread.

    Its methods raise NotFoundError where the game has no such call; NotRecordedError where no picture of it is kept,
    where the wanted one is none of those around it, and where what needs its calibration has none; BusyError where too
    many requests wait already.
    """

    def __init__(self, finder: EvidenceFinder) -> None:
        self._finder = finder
        self._ready = ReadyPictures(finder.pictures, encode_jpeg)

    def opened(self, row: GameRow, call: str, either_side_s: float) -> Evidence:
        """Return the evidence of a call that is to be shown; its pictures so long before and after are made ready."""
        evidence = self._finder.find(row, call)
        self._ready.prepare(evidence.around(either_side_s), evidence.decisive)
        return evidence

    def calibration(self, evidence: Evidence) -> Calibration | None:
        """Return what a call's decisive picture was calibrated by; None where that is not known."""
        return self._finder.footage.calibration(evidence.decisive).calibration

    def videos(self, row: GameRow, call: str, either_side_s: float) -> tuple[Path, ...]:
        """Return the files that the pictures so long before and after a call are in, each once, in order."""
        stills = self._finder.find(row, call).around(either_side_s)
        return tuple(dict.fromkeys(still.video for still in stills))

    def close(self) -> None:
        """Make no more pictures ready."""
        self._ready.close()

    def drawings(self, row: GameRow, call: str, either_side_s: float, plane: Plane | None = None) -> CallDrawings:
        """Return the drawings of the pictures so long before and after a call, also on a plane seen from above."""
        evidence = self._finder.find(row, call)
        calibrated = self._finder.footage.calibration(evidence.decisive)
        made = calibrated.calibration
        projection = Projection(made, evidence.players, None if plane is None else plane_mm(evidence, plane))
        marks = evidence.marks(evidence.decisive)
        field = projection.field
        return CallDrawings(
            None if made is None else made.camera.lens.size_px,
            calibrated.origin,
            base_height_mm(evidence),
            None if field is None else _drawn(field),
            draw_lines(marks, projection),
            draw_spot(evidence.call, projection),
            self._frames(evidence, evidence.around(either_side_s), calibrated, projection),
        )

    def jpeg(self, row: GameRow, call: str, frame: int, *, plain: bool) -> bytes:
        """Return exactly one picture, by its index, as JPEG."""
        if not plain:
            with self._finder.picture(row, call, frame) as picture:
                return encode_jpeg(paint(picture.image, painted(picture), DRAWING_KINDS))
        _, still = self._finder.still(row, call, frame)
        ready, file = self._ready.get(still), file_state(still.video)
        if ready is not None:
            return ready
        with self._finder.picture(row, call, frame) as picture:
            jpeg = encode_jpeg(picture.image)
        self._ready.keep(still, file, jpeg)
        return jpeg

    def above_jpeg(self, row: GameRow, call: str, frame: int, region: BoardRegion, plane: Plane) -> bytes:
        """Return a part of the board on one picture as seen from straight above, as JPEG; a plane is seen to scale."""
        with self._finder.picture(row, call, frame) as picture:
            made = _calibration(picture.calibrated)
            region = dataclasses.replace(region, plane_mm=plane_mm(picture.evidence, plane))
            return encode_jpeg(rectify(picture.image, made.camera, region))

    def measure(
        self, row: GameRow, call: str, frame: int, points: Sequence[Point], unit: PointUnit, plane: Plane
    ) -> RulerReading:
        """Measure between points of one picture. Raises InputError: one is not on the board, or two are the same."""
        evidence, still = self._finder.still(row, call, frame)
        made = _calibration(self._finder.footage.calibration(still))
        return measure(made, points, unit, plane_mm(evidence, plane))

    def close_up_jpeg(self, row: GameRow, call: str, frame: int | None = None) -> bytes:
        """Return the part of a picture, or of the decisive one, around what a call is about as JPEG, without words."""
        with self._finder.picture(row, call, frame) as picture:
            wordless = dataclasses.replace(painted(picture), caption=())
            return encode_jpeg(close_up(paint(picture.image, wordless, set(DRAWING_KINDS) - {"names"}), wordless))

    def _frames(
        self, evidence: Evidence, stills: Sequence[FootageFrame], calibrated: FootageCalibration, projection: Projection
    ) -> tuple[FrameDrawing, ...]:
        """Return the drawings of all pictures; those captured under another calibration have places on the board only.

        They would not lie on the pictures, as the lines are those of the decisive picture's calibration.
        """
        elsewhere = Projection(None, evidence.players, field=projection.field)
        return tuple(
            draw_frame(
                still.frame,
                evidence.marks(still),
                projection
                if self._finder.footage.calibration(still).calibration == calibrated.calibration
                else elsewhere,
            )
            for still in stills
        )


def _drawn(field: FieldModel) -> DrawnField:
    mm_per_yd = (field.mm_per_yd_x, field.mm_per_yd_y)
    return DrawnField(field.length_mm, field.width_mm, field.end_zone_mm, mm_per_yd)


def base_height_mm(evidence: Evidence) -> float:
    """Return the height over the board at which the bases of a call are seen."""
    heights = {player.id: player.base.height_mm for player in evidence.players}
    concerned = [heights[name] for name in evidence.call.players if name in heights]
    return next(iter(concerned or heights.values()), _OTHER_BASE_MM)


def plane_mm(evidence: Evidence, plane: Plane) -> float:
    """Return the height over the board of a plane that is measured on."""
    return base_height_mm(evidence) if plane == "base" else 0.0


def _calibration(calibrated: FootageCalibration) -> Calibration:
    if calibrated.calibration is None:
        raise NotRecordedError(calibrated.origin)
    return calibrated.calibration


def painted(picture: EvidencePicture) -> PaintedCall:
    """Return what is painted on a picture."""
    marks = picture.marks
    projection = Projection(picture.calibrated.calibration, marks.players)
    return PaintedCall(
        draw_frame(picture.still.frame, marks, projection),
        draw_lines(marks, projection),
        draw_spot(marks.call, projection),
        caption=call_caption(picture.evidence.call, marks, picture.still),
    )


def encode_jpeg(image: Image) -> bytes:
    """Return a picture as JPEG."""
    _, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return jpeg.tobytes()
