"""Calibrates the camera of a table from the printed field, with the figures on it to measure the camera's height."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from downfield.calibration.calibration import Calibration, read_calibration
from downfield.calibration.field.measured_height import (
    StandingObject,
    is_sized,
    with_bases,
    with_camera_height,
    with_standing_object,
)
from downfield.calibration.field.solution import FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.lens.figure_lean import StandingFigures, estimate_lens_from_lean
from downfield.calibration.lens.lens_calibration import read_lens
from downfield.calibration.lens.prior import LensFromDistance, LensPrior, lens_at_height
from downfield.calibration.online.recalibration import known_lens, known_proportions, with_size_of
from downfield.calibration.picture_match import check_same_view
from downfield.capture.problems import CALLS_SUSPENDED, ActiveProblems
from downfield.capture.source import CaptureClock, FrameSource
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.core.arrays import Image
from downfield.core.errors import CalibrationError, InputError, SourceError
from downfield.core.field.model import FieldModel, load_field, preset, preset_names
from downfield.core.strip import load_strip
from downfield.game.published.board_topics import HealthReason
from downfield.models.loading import open_detector
from downfield.rig.configuration.settings import CalibrationSettings
from downfield.rig.live.annotated_picture import CALIBRATION_PICTURES, CALIBRATION_STEP
from downfield.rig.tables.profile import TableFolder
from downfield.vision.strip.strip_calibration import calibrate_strip

_OTHER_PICTURE: Final = (
    "The camera of the table '{name}' shows {shown}: it was moved, or another camera is in its place"
)

_LOOK: Final = (
    "Look at its picture before the game goes on, then use the camera again. Cameras without serial numbers are told"
    " apart by their ports"
)

_MIN_SCORE: Final = 0.6  # Least score of a figure and its helmet to be used


def find_calibration(
    settings: CalibrationSettings,
    choice: SourceChoice,
    clock: CaptureClock,
    problems: ActiveProblems,
    tables: TableFolder | None = None,
) -> Calibration:
    """Return the configured calibration, that beside a clip or that of a saved table; otherwise calibrate.

    Something that stands on the board is measured for this calibration, so one that was made before is not taken.

    Raises:
        InputError: the configured file can't be read, or settings contradict each other.
        CalibrationError: the printed field was not found, or the result is not trustworthy; says what to change.
    """
    standing = _standing_object(settings)
    beside = calibration_beside(choice.text)
    if settings.file:
        return read_calibration(Path(settings.file))
    if standing is None and Path(choice.text).is_file() and beside.is_file():
        return read_calibration(beside)
    source = open_source(SourceChoice(choice.text, choice.camera, paced=False), clock, problems)
    try:
        images = first_pictures(source)
    finally:
        source.close()
    saved = tables if source.facts.live and not settings.strip and standing is None else None
    known = None if saved is None else saved.recognize(choice.text, images[-1])
    in_use = None if saved is None else saved.in_use()
    if in_use is not None and in_use.source == choice.text and (known is None or known.id != in_use.id):
        shown = "no saved table" if known is None else f"the table '{known.name}'"
        text = _OTHER_PICTURE.format(name=in_use.name, shown=shown)
        problems.report(HealthReason(code=CALLS_SUSPENDED, level="warning", text=text, remedy=_LOOK))
    if known is not None:
        problems.notify("info", f"The table '{known.name}' is recognized.")
        return known.calibration
    return calibrate(settings, images, source.facts.name)


def calibration_beside(source: str) -> Path:
    """Return where a clip, named by a text, has its calibration beside it; a folder, such as ``.``, has none."""
    path = Path(source)
    return path.parent / f"{path.stem}.calibration.json"


def calibrate(settings: CalibrationSettings, images: list[Image], name: str) -> Calibration:
    """Calibrate from the printed field in pictures of a source.

    Raises:
        InputError: settings contradict each other, or what stands on the board does not suit the picture.
        CalibrationError: the printed field was not found, or the result is not trustworthy; says what to change.
    """
    prior = read_lens(Path(settings.lens)).prior() if settings.lens else None
    standing = _standing_object(settings)
    if settings.strip:
        return _calibrate_by_strip(settings, images, prior, name)
    is_known = prior is not None or standing is not None or settings.camera_height_mm
    distance = None if is_known else lens_from_distance(images[0], None)
    solution = with_size_by_bases(_solve(images, candidate_fields(settings), name, prior, distance), images[0])
    if standing is not None:
        solution = with_standing_object(solution, images, standing)
    elif settings.camera_height_mm and prior is None:
        solution = with_camera_height(solution, images, settings.camera_height_mm)
    return solution.calibration("field", [name])


def calibrate_again(settings: CalibrationSettings, images: list[Image], before: Calibration, name: str) -> Calibration:
    """Calibrate a table anew from pictures of a source: its print is known, and its lens unless that was changed.

    Raises:
        CalibrationError: the printed field was not found, or the result is not trustworthy; says what to change.
    """
    if settings.strip:
        return calibrate(settings, images, name)
    try:
        proportions = known_proportions(before)
        solution = solve_field(images, [before.field], prior=known_lens(before), known=True, proportions=proportions)
    except CalibrationError:
        sized = before.lengths_known  # else millimeters tell no distance
        distance = lens_from_distance(images[0], settings.camera_height_mm or None) if sized else None
        solution = _solve(images, [before.field], name, None, distance, known=True)
    return with_size_of(solution, before).calibration("field", [name])


def _solve(
    images: list[Image],
    fields: Sequence[FieldModel],
    name: str,
    prior: LensPrior | None,
    distance: LensFromDistance | None,
    *,
    known: bool = False,
) -> FieldSolution:
    try:
        return solve_field(images, fields, prior=prior, distance=distance, known=known)
    except CalibrationError as error:
        raise CalibrationError(f"{name}: can't be calibrated from the printed field: {error}") from None


def _standing_object(settings: CalibrationSettings) -> StandingObject | None:
    if not settings.standing:
        return None
    others = {"file": settings.file, "strip": settings.strip, "lens": settings.lens}
    others["camera_height_mm"] = str(settings.camera_height_mm or "")
    for key, value in others.items():
        if value:
            raise InputError(f"What stands on the board is of no use with calibration.{key}. Use one of them.")
    return StandingObject.of_text(settings.standing)


def _calibrate_by_strip(
    settings: CalibrationSettings, images: list[Image], prior: LensPrior | None, name: str
) -> Calibration:
    """Calibrate from the print of a card game's strip, turned so that its dials are upright."""
    height_mm = settings.camera_height_mm or None
    distance = None if height_mm is None or prior is not None else lens_from_distance(images[0], height_mm)
    try:
        return calibrate_strip(images, load_strip(settings.strip), distance, prior=prior, name=name).calibration
    except CalibrationError as error:
        raise CalibrationError(f"{name}: can't be calibrated from the strip: {error}") from None


def candidate_fields(settings: CalibrationSettings) -> list[FieldModel]:
    """Return the printed fields that the board, or the strip, may have."""
    if settings.strip:
        return [load_strip(settings.strip).field]
    return [preset(name) for name in preset_names()] if settings.field == "auto" else [load_field(settings.field)]


def first_pictures(source: FrameSource) -> list[Image]:
    """Return a few of a source's first pictures. Raises SourceError: the source ended or failed before it sent any."""
    images: list[Image] = []
    for frame in source.frames():
        if frame.index % CALIBRATION_STEP == 0:
            images.append(frame.decode().image)
            if len(images) == CALIBRATION_PICTURES:
                break
    return images


def check_view(recording: FrameSource, calibration: Calibration) -> None:
    """Refuse a recording whose first pictures don't show the calibrated board from where it was calibrated.

    The recording is closed. One whose first pictures are damaged is not refused.

    Raises:
        InputError: none of them does; says how much of the field is where the calibration has it.
    """
    problem: CalibrationError | None = None
    try:
        with suppress(SourceError):
            for image in first_pictures(recording):
                try:
                    check_same_view(image, calibration)
                except CalibrationError as error:
                    problem = error
                else:
                    return
    finally:
        recording.close()
    if problem is not None:
        raise InputError(f"{recording.facts.name}: {problem}")


def lens_from_distance(image: Image, height_mm: float | None) -> LensFromDistance:
    """Return the way to find a camera's distance: by its measured height, otherwise by the figures in its picture.

    The figures are detected once a solution wants to know, so that a picture without a field is refused before that.
    """
    if height_mm is not None:
        return partial(lens_at_height, height_mm=height_mm)
    return lambda camera: estimate_lens_from_lean(camera, _standing_figures(image))


def with_size_by_bases(solution: FieldSolution, image: Image) -> FieldSolution:
    """Return a solution of a picture, of a print of unknown size, sized by the bases on it; else as it is."""
    return solution if is_sized(solution) else with_bases(solution, _standing_figures(image).corners_px)


def _standing_figures(image: Image) -> StandingFigures:
    """Return the upright figures with a visible helmet, by the bundled network, opened for this picture alone."""
    figures = [
        (figure.corners_px, figure.helmet_px)
        for figure in open_detector().detect(image)
        if figure.kind == "upright" and figure.helmet_px and min(figure.score, figure.helmet_score) >= _MIN_SCORE
    ]
    corners = np.array([corners for corners, _ in figures], dtype=np.float64).reshape(-1, 4, 2)
    return StandingFigures(corners, np.array([helmet for _, helmet in figures], dtype=np.float64).reshape(-1, 2))
