"""What is drawn on the pictures of a call, as data: on the board and in the camera's picture.

Everything comes from the scenes that were judged; nothing is measured anew. Pages draw it in the browser, exports paint
it (`painting`), so that both show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, cast

import numpy as np

from downfield.capture.footage import CallMarks
from downfield.core.field.model import FieldModel
from downfield.core.footprint import Face, outlines_of, rectangles_mm
from downfield.core.records import record
from downfield.core.scene import Jersey, Posture, Power
from downfield.game.published.game_topics import CallView
from downfield.officiating.call_kinds import GOAL_LINE
from downfield.review.pictures.projection import Outline, Place, Point, Projection

LineOnBoard = Literal["scrimmage", "to_gain", "goal", "call"]
FigurePart = Literal["first", "second", "other"]

_ABOUT_GOAL_LINES: Final = GOAL_LINE | {"info"}  # a punt into the end zone is information
_LINE_POINTS: Final = 24  # a lens bends straight lines
_SIDES: Final[dict[Face, tuple[int, int]]] = {"front": (0, 1), "right": (1, 2), "rear": (2, 3), "left": (3, 0)}


@record
class DrawnFigure:
    """A base as it was measured on one picture.

    Attributes:
        id: roster id.
        jersey: its color class.
        part: whether the call names it first or after that, or not at all.
        posture: as it was seen.
        height_mm: height over the board at which its outline is drawn.
        mm: its corners on the board: front-left, front-right, rear-right, rear-left.
        px: the same in the camera's picture; empty without a calibration, or out of its view.
        above: the same on the plane of the view from above; empty without one.
    """

    id: str
    jersey: Jersey
    part: FigurePart
    posture: Posture
    height_mm: float
    mm: Outline
    px: Outline
    above: Outline = ()


@record
class DrawnGap:
    """The gap that a call is about: between its first two figures on one picture, or from its spot to a line.

    Attributes:
        ends: the nearest points of the two outlines, of the first figure and of the second; or the spot, and the line
            to gain or goal line beside it: the stake.
        faces: the side of each base that meets the other, as two points each; None where a corner does.
        gap_mm: signed distance, negative when the outlines overlap.
        sigma_mm: its standard deviation, by this picture alone; 0 when it is exact.
        touching: probability of a touch by all pictures so far; None where it was not judged.
        label: the gap in words, short enough to stand beside it.
        text: the same with the instant, and how sure a touch is.
    """

    ends: tuple[Place, Place]
    faces: tuple[tuple[Place, Place] | None, tuple[Place, Place] | None]
    gap_mm: float
    sigma_mm: float
    touching: float | None
    label: str
    text: str


@record
class DrawnLine:
    """A line across the board, or along it.

    Attributes:
        kind: what it is; ``"call"`` for the line the call is about.
        mm: its two ends on the board.
        px: its course in the picture; empty without a calibration.
        above: its course on the plane of the view from above; empty without one.
    """

    kind: LineOnBoard
    mm: tuple[Point, Point]
    px: Outline
    above: Outline = ()


@record
class FrameDrawing:
    """What is drawn on one picture.

    Attributes:
        frame: its index.
        figures: every figure that was seen.
        gap: of the first two figures of the call; None where they are fewer or not seen.
        board: whether the board was switched on.
    """

    frame: int
    figures: tuple[DrawnFigure, ...]
    gap: DrawnGap | None
    board: Power = "unknown"


def _line(projection: Projection, kind: LineOnBoard, start_mm: Point, end_mm: Point) -> DrawnLine:
    """Return a straight line on the paint."""
    points = np.linspace(start_mm, end_mm, _LINE_POINTS)
    course = projection.places(points, np.zeros(len(points)))
    return DrawnLine(
        kind, (start_mm, end_mm), _whole(place.px for place in course), _whole(place.above for place in course)
    )


def _whole(course: Iterable[Point | None]) -> Outline:
    """Return a course; none of it if a part is out of view."""
    points = tuple(course)
    return () if None in points else cast("Outline", points)


def draw_lines(marks: CallMarks, projection: Projection) -> tuple[DrawnLine, ...]:
    """Return the lines of a play and of the call about it; none where the field is not known."""
    field = projection.field
    if field is None:
        return ()
    lines: list[tuple[LineOnBoard, tuple[Point, Point]]] = [
        ("goal", _across(field, 0.0)),
        ("goal", _across(field, field.length_yd)),
    ]
    snap = marks.snap
    if snap is not None and snap.kind == "scrimmage":
        lines.append(("scrimmage", _across(field, snap.spot_yd)))
        to_gain_yd = snap.spot_yd + snap.direction * snap.distance_yd
        if 0 < to_gain_yd < field.length_yd:
            lines.append(("to_gain", _across(field, to_gain_yd)))
    of_call = _line_of_call(marks, field)
    if of_call is not None:
        lines.append(("call", of_call))
    return tuple(_line(projection, kind, *ends) for kind, ends in lines)


def draw_spot(call: CallView | None, projection: Projection) -> Place | None:
    """Return where the ball is spotted by a call; None if it spots none, or the field is not known."""
    if call is None or call.spot_yd is None or projection.field is None:
        return None
    return projection.places(projection.field.to_mm(np.array([call.spot_yd])), np.zeros(1))[0]


def draw_frame(frame: int, marks: CallMarks, projection: Projection) -> FrameDrawing:
    """Return what is drawn on the picture of an index; on a known field, with a measured place's gap to its line."""
    if marks.scene is None:
        return FrameDrawing(frame, (), None)
    parts: dict[str, FigurePart] = dict.fromkeys(marks.concerned, "second")
    parts |= dict.fromkeys(marks.concerned[:1], "first")
    seen = [figure for figure in marks.scene.figures if figure.posture != "unseen" and not figure.lost]
    corners_mm, _ = rectangles_mm(outlines_of([figure.footprint for figure in seen]))
    heights_mm = [projection.height_mm(figure) for figure in seen]
    outlines = projection.outlines(corners_mm, np.array(heights_mm))
    figures = [
        DrawnFigure(one.id, one.jersey, parts.get(one.id, "other"), one.posture, height_mm, *places)
        for one, height_mm, places in zip(seen, heights_mm, outlines, strict=True)
    ]
    gap = _draw_gap(marks, figures, projection)
    if gap is None and projection.field is not None:
        gap = _draw_measurement(marks, projection.field, projection)
    return FrameDrawing(frame, tuple(figures), gap, marks.scene.board)


def _draw_gap(marks: CallMarks, drawn: Sequence[DrawnFigure], projection: Projection) -> DrawnGap | None:
    pair = marks.pair
    if pair is None:
        return None
    outlines = {figure.id: figure for figure in drawn}
    first, second = outlines[pair.a.id], outlines[pair.b.id]
    ends_mm = np.array([pair.gap.point_a_mm, pair.gap.point_b_mm])
    end_a, end_b = projection.places(ends_mm, np.array([first.height_mm, second.height_mm]))
    return DrawnGap(
        (end_a, end_b),
        (_side(first, pair.gap.face_a), _side(second, pair.gap.face_b)),
        round(pair.gap_mm, 3),
        round(pair.sigma_mm, 3),
        pair.touching,
        pair.label,
        marks.gap_text,
    )


def _draw_measurement(marks: CallMarks, field: FieldModel, projection: Projection) -> DrawnGap | None:
    """Return the gap between the spot of a call and the stake that decides it; None where none was measured."""
    measured = _measured(marks, field)
    if measured is None:
        return None
    (x_yd, y_yd), line_yd, (past_yd, sigma_yd) = measured
    ends_mm = field.to_mm(np.array([(x_yd, y_yd), (line_yd, y_yd)]))
    spot, stake = projection.places(ends_mm, np.zeros(2))
    side = "past" if past_yd > 0 else "short of"
    label = f"{abs(past_yd):.2f} yd {side.removesuffix(' of')}"
    text = f"the spot is {abs(past_yd):.2f} ± {sigma_yd:.2f} yd {side} the line"
    gap_mm, sigma_mm = (round(yards * field.mm_per_yd_x, 3) for yards in (-past_yd, sigma_yd))
    return DrawnGap((spot, stake), (None, None), gap_mm, sigma_mm, 0.0, label, text)


def _measured(marks: CallMarks, field: FieldModel) -> tuple[Point, float, tuple[float, float]] | None:
    """Return a measured place, the line along the field that it was held against, and how far it is past that line.

    All in yards, the last with its error; None where a call is about no such place.
    """
    call, snap, place_yd = marks.call, marks.snap, measured_place_yd(marks.call)
    past_yd = None if call is None else _past_line_yd(call, field)
    if call is None or place_yd is None or past_yd is None:
        return None
    if call.kind in _ABOUT_GOAL_LINES:
        return place_yd, 0.0 if place_yd[0] < field.length_yd / 2 else field.length_yd, past_yd
    return None if snap is None else (place_yd, snap.spot_yd + snap.direction * snap.distance_yd, past_yd)


def measured_place_yd(call: CallView | None) -> tuple[float, float] | None:
    """Return the place that a call holds against a line: of a safety or a touchback it is not the next spot."""
    if call is None:
        return None
    return call.spot_yd if call.numbers is None or call.numbers.measured_yd is None else call.numbers.measured_yd


def _past_line_yd(call: CallView, field: FieldModel) -> tuple[float, float] | None:
    """Return how far a measured place is past its line and the error of that; None where a call is about no such place.

    The goal line that a carrier crosses is measured in millimeters, perhaps beside which end of his base is the front.
    """
    if call.kind == "touchdown" and call.unit == "mm":
        of_line = next((one for one in call.conditions if one.measure == "line"), call)
        to_yd = 1.0 / field.mm_per_yd_x
        return None if of_line.margin is None else (of_line.margin * to_yd, (of_line.sigma or 0.0) * to_yd)
    if call.margin is None or call.unit != "yd" or call.measure not in {"line", "short"}:
        return None
    return call.margin * (1 if call.measure == "line" else -1), call.sigma or 0.0


def _side(figure: DrawnFigure, face: Face) -> tuple[Place, Place] | None:
    if face not in _SIDES:
        return None
    first, last = (
        Place(figure.mm[end], figure.px[end] if figure.px else None, figure.above[end] if figure.above else None)
        for end in _SIDES[face]
    )
    return first, last


def _line_of_call(marks: CallMarks, field: FieldModel) -> tuple[Point, Point] | None:
    """Return the line on the board that a call is about."""
    call = marks.call
    if call is None:
        return None
    if call.kind == "line_of_scrimmage" and marks.snap is not None:
        return _across(field, marks.snap.spot_yd)
    measured = _measured(marks, field)
    if measured is not None:
        return _across(field, measured[1])
    if call.spot_yd is None:
        return None
    x_yd, y_yd = call.spot_yd
    if call.kind in GOAL_LINE:
        return _across(field, 0.0 if x_yd < field.length_yd / 2 else field.length_yd)
    if call.measure == "end_line":
        beyond_yd = -field.end_zone_yd if x_yd < field.length_yd / 2 else field.length_yd + field.end_zone_yd
        return _across(field, beyond_yd)
    if call.kind == "out_of_bounds":
        y_mm = 0.0 if y_yd < field.width_yd / 2 else field.width_mm
        return (-field.end_zone_mm, y_mm), (field.length_mm + field.end_zone_mm, y_mm)
    return _across(field, x_yd)


def _across(field: FieldModel, x_yd: float) -> tuple[Point, Point]:
    x_mm = x_yd * field.mm_per_yd_x
    return (x_mm, 0.0), (x_mm, field.width_mm)
