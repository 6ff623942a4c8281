"""Solves pictures as the set-up page requests: from the print, landmarks placed by hand, or something measured.

A search may find several ways to read a print: the page shows one, and asks when the picture alone does not decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from downfield.api.table_setup import MeasurementRequest, PlacedLandmark, SetupLandmark, SetupReading, SolveRequest
from downfield.calibration.calibration import Calibration
from downfield.calibration.drawing import draw_field
from downfield.calibration.field.free_solver import ROUGH, UNKNOWN
from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.calibration.field.measured_height import (
    StandingObject,
    with_camera_height,
    with_lengths,
    with_standing_object,
)
from downfield.calibration.field.measurements import FieldMeasurements
from downfield.calibration.field.print_prior import UNKNOWN_SCALE, kinds_of_field, rarer_kinds
from downfield.calibration.field.progress import ProgressListener
from downfield.calibration.field.proposal import PROPOSED, KnownLength, proposal_of, propose_field
from downfield.calibration.field.solution import FieldReading, FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.stretch import DescribedProportions, ScaleError
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError
from downfield.core.field.model import FieldModel, load_field, preset, preset_names
from downfield.rig.tables.table_calibration import lens_from_distance, with_size_by_bases


def landmarks_of(calibration: Calibration) -> tuple[SetupLandmark, ...]:
    """Return where every line across the field meets its sidelines and its rows of hash marks.

    Shown at first are the corners, the quarters of both sidelines and one mark in each half: a finger tells them apart.
    """
    field = calibration.field
    step = field.yard_line_every_yd
    quarter = round(field.length_yd / 4 / step) * step
    quarters = (0.0, quarter, field.length_yd / 2, field.length_yd - quarter, field.length_yd)
    rows = _rows(field)
    places = [(x, y) for y in rows for x in (0.0, *field.yard_lines_yd(), field.length_yd)]
    px = calibration.camera.to_pixels(field.to_mm(np.array(places)))
    hashes = [y for y in rows if 0 < y < field.width_yd]
    marks = {(quarters[1], hashes[0]), (quarters[3], hashes[-1])} if hashes else set()
    return tuple(
        SetupLandmark(
            name=_name(field, x, rows[y]),
            x_yd=x,
            y_yd=y,
            px=(float(u), float(v)),
            corner=_is_corner(field, x, y),
            shown=(x, y) in marks or (x in quarters and y in {0.0, field.width_yd}),
        )
        for (x, y), (u, v) in zip(places, px.tolist(), strict=True)
        if np.isfinite((u, v)).all()
    )


def kinds_by_name() -> dict[str, FieldModel]:
    """Return what a print that nobody knows may be: fields of so many yards, named by them, of a usual size."""
    every = [*kinds_of_field(), *rarer_kinds()]
    first = [kind for kind in every if kind.length_yd == _USUAL_LENGTH_YD]
    named = [(f"yards-{kind.length_yd:g}", kind) for kind in (*first, *every)]
    return {name: dataclasses.replace(kind, name=name) for name, kind in named}


def solve_placed(
    images: Sequence[Image],
    name: str,
    placed: Sequence[PlacedLandmark],
    shown: Calibration | None,
    lengths: FieldMeasurements | None = None,
) -> FieldSolution:
    """Solve from landmarks placed by hand.

    Args:
        name: of the field: a preset's, that of a kind of field of which no more is known, or of what was shown.
        shown: what was solved before; a field that was measured there is known by its name.
        lengths: of the print, of which no more is known.

    Raises:
        InputError, CalibrationError: the field is not known, or no camera fits the landmarks.
    """
    marks = [Landmark(mark.x_yd, mark.y_yd, mark.px) for mark in placed]
    if name in preset_names():
        return solve_landmarks(images, load_field(name), marks)
    if shown is not None and name == shown.field.name:
        # Its proportions were measured with the camera that is solved again, so they are as open as that left them.
        proportions = DescribedProportions.of(shown.field, ROUGH.spread)
        solution = solve_landmarks(images, shown.field, marks, proportions=proportions)
        return dataclasses.replace(solution, scale=ScaleError(shown.scale_spread))
    kinds = kinds_by_name()
    if name not in kinds:
        raise _unknown_field(name)
    return _placed_on_unknown(images, kinds[name], marks, lengths)


def _unknown_field(name: str) -> InputError:
    known = ", ".join((*preset_names(), *kinds_by_name()))
    return InputError(f"There is no printed field '{name}'. Choose one of {known}.")


def _placed_on_unknown(
    images: Sequence[Image], kind: FieldModel, marks: Sequence[Landmark], lengths: FieldMeasurements | None
) -> FieldSolution:
    """Solve a print by landmarks of which its yards are known and nothing else, unless its lengths were measured."""
    along, across = (None, None) if lengths is None else lengths.mm_per_yd(kind)
    measured = along is not None and across is not None
    field = dataclasses.replace(kind, mm_per_yd_x=along, mm_per_yd_y=across) if along and across else kind
    proportions = DescribedProportions.of(field, (ROUGH if measured else UNKNOWN).spread)
    found = solve_landmarks(images, field, marks, proportions=proportions, is_known=measured)
    return proposal_of(images, dataclasses.replace(found, scale=UNKNOWN_SCALE), None, lengths).solution


def _rows(field: FieldModel) -> dict[float, str]:
    """Return the rows of places across the field by their yard, with their names, the lower sideline first."""
    hashes = sorted(field.hash_rows_y_yd)
    if not field.hash_every_yd or not hashes:
        return {0.0: "lower sideline", field.width_yd: "upper sideline"}
    marks = {hashes[0]: "lower hash marks", hashes[-1]: "upper hash marks"}
    return {0.0: "lower sideline", **marks, field.width_yd: "upper sideline"}


def _is_corner(field: FieldModel, x_yd: float, y_yd: float) -> bool:
    return x_yd in {0.0, field.length_yd} and y_yd in {0.0, field.width_yd}


def _name(field: FieldModel, x_yd: float, row: str) -> str:
    side = "Left" if x_yd < field.length_yd / 2 else "Right"
    if x_yd in {0.0, field.length_yd}:
        if row.endswith("sideline"):
            return f"{row.split()[0].capitalize()} {side.lower()} corner"
        return f"{side} goal line, {row}"
    if x_yd == field.length_yd / 2:
        return f"Midfield, {row}"
    return f"{side} {field.number_text(x_yd)}-yard line, {row}"


def solve_as_requested(
    images: Sequence[Image], request: SolveRequest, shown: Calibration | None, report: ProgressListener
) -> FieldSolution:
    """Return the solution as it was requested, after another that was shown.

    A print that is to be found out and is none of the known ones is read in the picture.

    Raises:
        CalibrationError: no trustworthy solution; says what to change.
        InputError: landmarks or a length don't suit the picture.
    """
    lengths = _lengths(request)
    if request.landmarks:
        return _solve_as_placed(images, request, shown, lengths)
    solution = _solve_print(images, request, lengths, report)
    height_mm = request.camera_height_mm
    return solution if height_mm is None else with_camera_height(solution, images, height_mm)


def _solve_as_placed(
    images: Sequence[Image], request: SolveRequest, shown: Calibration | None, lengths: FieldMeasurements | None
) -> FieldSolution:
    """Return the solution by placed landmarks; corners that fit no field so are tried as those of the end lines."""
    name, placed = request.field, request.landmarks
    try:
        return solve_placed(images, name, placed, shown, lengths)
    except CalibrationError as refused:
        field = load_field(name) if name in preset_names() else kinds_by_name().get(name)
        if field is None or len(placed) != 4 or not all(_is_corner(field, one.x_yd, one.y_yd) for one in placed):
            raise
        ends = {0.0: -field.end_zone_yd, field.length_yd: field.length_yd + field.end_zone_yd}
        outer = [one.model_copy(update={"x_yd": ends[one.x_yd]}) for one in placed]
        try:
            return solve_placed(images, name, outer, shown, lengths)
        except CalibrationError:
            raise refused from None


def _solve_print(
    images: Sequence[Image], request: SolveRequest, lengths: FieldMeasurements | None, report: ProgressListener
) -> FieldSolution:
    """Return the solution of a print that is named or found out, with lengths of it where there are any."""
    # A measured height is used once the print's size is known as well as it will be.
    distance = lens_from_distance(images[0], None) if request.camera_height_mm is None else None
    if request.field in preset_names():
        solution = solve_field(images, [load_field(request.field)], distance=distance, progress=report)
        return solution if lengths is None else with_lengths(solution, images, lengths)
    if request.field != "auto" and request.field not in kinds_by_name():
        raise _unknown_field(request.field)
    if request.length is None and lengths is None:
        found = solve_field(images, [preset(name) for name in preset_names()], distance=distance, progress=report)
        return with_size_by_bases(found, images[0])
    known = None if request.length is None else KnownLength(request.length.length_mm, request.length.ends_px)
    return propose_field(images, known, measurements=lengths, distance=distance, progress=report).solution


def _lengths(request: SolveRequest | MeasurementRequest) -> FieldMeasurements | None:
    lengths = FieldMeasurements(request.goal_to_goal_mm, request.side_to_side_mm)
    return lengths if lengths.count else None


def solve_with_measurement(
    images: Sequence[Image], solution: FieldSolution, request: MeasurementRequest
) -> FieldSolution:
    """Return a solution of pictures, solved again with something that was measured.

    Raises InputError: nothing is given, or two heights; or it does not suit the picture.
    """
    lengths, height_mm, standing = _lengths(request), request.camera_height_mm, request.standing
    if (lengths is None or standing is not None) and (height_mm is None) == (standing is None):
        raise InputError("Enter a length of the print, or how high the lens is over the board.")
    if lengths is not None:
        named = solution.field.name in preset_names()
        solution = (
            with_lengths(solution, images, lengths) if named else proposal_of(images, solution, None, lengths).solution
        )
    if height_mm is not None:
        return with_camera_height(solution, images, height_mm)
    if standing is None:
        return solution
    return with_standing_object(solution, images, StandingObject(standing.height_mm, standing.foot_px, standing.top_px))


JPEG_QUALITY: Final = 82
_WIDTH_PX: Final = 640
_USUAL_LINES_YD: Final = 5.0
_USUAL_LENGTH_YD: Final = 100.0


@dataclass(frozen=True, slots=True)
class FoundReadings:
    """The ways to read a picture."""

    camera: str = ""  # its name, which the calibration names as its origin
    readings: tuple[FieldReading, ...] = ()  # the ways, the likeliest first; none while nothing is found
    index: int = 0  # of the one that is shown
    undecided: bool = False  # whether nobody has chosen one of several yet
    calibration: Calibration | None = None  # of the one that is shown; None while nothing is found

    @staticmethod
    def of(readings: Sequence[FieldReading], camera: str) -> FoundReadings:
        """Return the first of some readings, to be decided on if there are several."""
        return FoundReadings(camera, tuple(readings), undecided=len(readings) > 1)._showing(0)

    def choose(self, index: int) -> FoundReadings:
        """Return them with another one shown, which is thereby decided on.

        Raises InputError: there is none; CalibrationError: the picture is mirrored in it; says what to change.
        """
        self.at(index).accepted()
        return dataclasses.replace(self, undecided=False)._showing(index)

    def at(self, index: int) -> FieldReading:
        """Return a reading. Raises InputError: there is none of that number."""
        if index >= len(self.readings):
            raise InputError(f"There is no reading {index}. There are {len(self.readings)}.")
        return self.readings[index]

    def views(self) -> tuple[SetupReading, ...]:
        """Return the readings to choose from; none where there is only one."""
        several = self.readings if len(self.readings) > 1 else ()
        return tuple(SetupReading(label=reading.label, mirrored=reading.mirrored) for reading in several)

    @property
    def summary(self) -> str:
        """What was found, for people; without sizes while they are unknown, empty while nothing is found."""
        if self.calibration is None:
            return ""
        field, quality = self.calibration.field, self.calibration.quality
        along, across = field.mm_per_yd_x, field.mm_per_yd_y
        if not self.calibration.lengths_known:
            lines = (
                "" if field.yard_line_every_yd == _USUAL_LINES_YD else f" (a line every {field.yard_line_every_yd:g})"
            )
            text = (
                f"A field of {field.length_yd:g} yards{lines}, each {across / along:.2f} times as long across as along"
            )
            return text if quality is None else f"{text}; lines fit to {quality.rms_px:.2f} px"
        sizes = "" if field.name == PROPOSED else f": {along:.2f} mm a yard along, {across:.2f} across"
        fit = "" if quality is None else f"; lines fit to {quality.rms_px:.2f} px ({quality.rms_mm:.2f} mm)"
        lens = f"; the lens then hangs {self.calibration.camera.position_mm[2] / 1000:.2f} m above the board"
        return f"{field.title}{sizes}{fit}{lens}"

    def picture(self, index: int, image: Image) -> bytes:
        """Return a small picture as a JPEG, a reading's field drawn on it, the other way round if that is mirrored."""
        chosen = self.at(index)
        thickness = max(round(image.shape[1] / _WIDTH_PX), 1)
        drawn = draw_field(image, chosen.solution.calibration("field", [self.camera]), thickness)
        size = (_WIDTH_PX, round(image.shape[0] * _WIDTH_PX / image.shape[1]))
        small = cv2.resize(drawn, size, interpolation=cv2.INTER_AREA)
        shown = np.ascontiguousarray(small[:, ::-1]) if chosen.mirrored else small
        return cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()

    def _showing(self, index: int) -> FoundReadings:
        calibration = self.readings[index].solution.calibration("field", [self.camera])
        return dataclasses.replace(self, index=index, calibration=calibration)


NOTHING_FOUND: Final = FoundReadings()
