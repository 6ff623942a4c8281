"""``downfield calibrate table``: set up a table from its camera's picture, and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from downfield.calibration.advice import advise
from downfield.calibration.drawing import draw_calibration
from downfield.calibration.pictures import write_picture
from downfield.capture.problems import ActiveProblems
from downfield.capture.sources.source import CaptureClock
from downfield.capture.sources.source_opening import SourceChoice, open_source
from downfield.cli.console.options import CameraHeightOption, ConfigOption, StandingOption, check_outputs
from downfield.cli.console.output import say
from downfield.cli.console.progress import progress_bar
from downfield.cli.tables.field_solving import (
    FieldRequest,
    LengthOption,
    ReadingOption,
    solve_requested,
)
from downfield.core.addresses import without_password
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.table import source_choice
from downfield.rig.table_calibration import first_pictures
from downfield.rig.tables.profile import TableFolder, camera_identity, check_table_name, new_profile


def set_up_table(
    name: Annotated[str, typer.Argument(help="A name for the table.")],
    source: Annotated[str, typer.Option(help="A camera (its number or a part of its name), or a stream's address.")],
    field: Annotated[
        str, typer.Option("--field", help="The printed field: a preset's name, a .toml file, or auto.")
    ] = "auto",
    reading: ReadingOption = None,
    length: LengthOption = None,
    height_mm: CameraHeightOption = None,
    standing: StandingOption = None,
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture with the calibrated field drawn on it to this file.")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Set up a table: calibrate its camera and save both, so that 'downfield run' finds them again."""
    check_outputs(inputs=(config, Path(field)), picture=picture)
    check_table_name(name.strip())
    settings = load(config, command_line={"source.name": source}).settings
    folder = TableFolder(tables_folder(settings))
    request = FieldRequest(field, length, reading, height_mm, standing)
    request.check()
    with progress_bar(f"Setting up '{name}'") as advance:
        advance(0, text=f"opening {without_password(source)}")
        images = _live_pictures(source_choice(settings, paced=False, is_set_up=True))
        solution = solve_requested(images, request, advance)
    profile = new_profile(name, source, solution.calibration("field", [camera_identity(source)]))
    if picture is not None:
        write_picture(picture, draw_calibration(images[0], profile.calibration))
    path = folder.save(profile)
    advice = advise(profile.calibration)
    if advice:
        say(advice)
    say(f"'{profile.name}' is saved in {path}: {solution.field.title}. 'downfield run' opens it from now on.")


def _live_pictures(choice: SourceChoice) -> list[Image]:
    source = open_source(choice, CaptureClock(), ActiveProblems())
    try:
        if not source.facts.live:
            raise InputError(f"{choice.text}: is a recording. Name the table's camera, or a stream's address.")
        return first_pictures(source)
    finally:
        source.close()
