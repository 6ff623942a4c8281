"""``downfield calibrate table``: set up a table from its camera's picture, and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.drawing import draw_calibration
from downfield.calibration.field.proposal import KnownLength, propose_field
from downfield.calibration.field.solution import AmbiguousField, FieldSolution
from downfield.calibration.field.solver import solve_field
from downfield.calibration.pictures import write_picture
from downfield.core.addresses import without_password
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field import load_field, preset, preset_names
from downfield.rig.cli.options import CameraHeightOption, ConfigOption, check_outputs, parse_span
from downfield.rig.cli.output import say
from downfield.rig.cli.progress import Advance, progress_bar, show_solving
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.live.rig_health import ActiveProblems
from downfield.rig.sources.source import CaptureClock
from downfield.rig.sources.source_opening import SourceChoice, open_source
from downfield.rig.table import source_choice
from downfield.rig.table_calibration import first_pictures, lens_from_distance
from downfield.rig.tables.profile import TableFolder, camera_identity, new_profile

LengthOption = Annotated[
    str | None,
    typer.Option(
        "--length",
        metavar="ENDS",
        help="A measured length that sets the scale of an unknown print: both ends in the picture and the millimeters"
        " between them, PX,PY=PX,PY=MM.",
    ),
]


def set_up_table(
    name: Annotated[str, typer.Argument(help="A name for the table.")],
    source: Annotated[str, typer.Option(help="A camera (its number or a part of its name), or a stream's address.")],
    field: Annotated[
        str, typer.Option("--field", help="The printed field: a preset's name, a .toml file, or auto.")
    ] = "auto",
    reading: Annotated[
        int | None, typer.Option(min=1, help="Which reading to take, if the print can be read in several ways.")
    ] = None,
    length: LengthOption = None,
    height_mm: CameraHeightOption = None,
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture with the calibrated field drawn on it to this file.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Set up a table: calibrate its camera and save both, so that 'downfield run' finds them again."""
    check_outputs(inputs=(config, Path(field)), picture=picture)
    settings = load(config, command_line={"source.name": source}).settings
    folder = TableFolder(tables_folder(settings))
    known = known_length(length, field)
    fields = [preset(each) for each in preset_names()] if field == "auto" else [load_field(field)]
    with progress_bar(f"Setting up '{name}'") as advance:
        advance(0, text=f"opening {without_password(source)}")
        images = _live_pictures(source_choice(settings, paced=False, is_set_up=True))
        try:
            if known is not None:
                solution = propose_field(images, known, progress=show_solving(advance)).solution
            else:
                distance = lens_from_distance(images[0], height_mm)
                solution = solve_field(images, fields, distance=distance, progress=show_solving(advance))
        except AmbiguousField as ways:
            solution = _chosen(ways, reading, advance)
    profile = new_profile(name, source, solution.calibration("field", [camera_identity(source)]))
    if picture is not None:
        write_picture(picture, draw_calibration(images[0], profile.calibration))
    path = folder.save(profile)
    say(f"'{profile.name}' is saved in {path}: {solution.field.title}. 'downfield run' opens it from now on.")


def _live_pictures(choice: SourceChoice) -> list[Image]:
    source = open_source(choice, CaptureClock(), ActiveProblems())
    try:
        if not source.facts.live:
            raise InputError(f"{choice.text}: is a recording. Name the table's camera, or a stream's address.")
        return first_pictures(source)
    finally:
        source.close()


def _chosen(ways: AmbiguousField, reading: int | None, advance: Advance) -> FieldSolution:
    """Return the reading that the user chose; refuse, with all of them, if none was."""
    if reading is None or reading > len(ways.readings):
        listed = "; ".join(f"--reading {i}: {way.label}" for i, way in enumerate(ways.readings, start=1))
        raise InputError(f"The print can be read in {len(ways.readings)} ways. Choose one with {listed}.")
    advance(100, 100, f"taking reading {reading}")
    return ways.readings[reading - 1].accepted()


def known_length(text: str | None, field: str) -> KnownLength | None:
    """Return a length written as ``px,py=px,py=mm``; None for none.

    Args:
        text: the length.
        field: the print as it was named; only that of an unknown one has no scale.

    Raises:
        InputError: it is written in another form, or the print is named.

    """
    if text is None:
        return None
    if field != "auto":
        raise InputError("--length sets the scale of an unknown print. Use it without --field.")
    start, end, length_mm = parse_span(text, "a length")
    return KnownLength(length_mm, (start, end))
