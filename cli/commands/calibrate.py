"""``downfield calibrate``: calibrate a camera over a table, or a lens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from downfield.calibration.advice import advise, base_top_error_yd, describe_certainty
from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.drawing import draw_calibration
from downfield.calibration.field.fiducials import read_fiducials, solve_fiducials
from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.calibration.lens.lens_calibration import (
    LensCollector,
    Sheet,
    calibrate_lens,
    read_lens,
    write_lens,
    write_sheet,
)
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.pictures import read_pictures, write_picture
from downfield.calibration.quality import to_calibration
from downfield.capture.problems import ActiveProblems
from downfield.capture.source import CaptureClock
from downfield.capture.sources.source_opening import open_source
from downfield.capture.sources.source_types import SourceChoice
from downfield.cli.commands.field_solving import (
    GoalToGoalOption,
    LengthOption,
    ReadingOption,
    SideToSideOption,
    read_request,
    solve_requested,
)
from downfield.cli.console.options import (
    FIELD,
    CameraHeightOption,
    ConfigOption,
    JsonOption,
    StandingOption,
    check_data_name,
    check_outputs,
    complete_sources,
    number_between,
)
from downfield.cli.console.output import json_text, print_result, print_stderr, print_stdout
from downfield.cli.console.progress import progress_bar, with_progress
from downfield.core.addresses import without_password
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field.model import describe_measured, is_field_file, load_field, measured_field_toml
from downfield.core.records import write_text
from downfield.core.texts import parse_number
from downfield.rig.configuration.loading import load
from downfield.rig.configuration.settings import tables_folder
from downfield.rig.tables.profile import TableFolder, camera_identity, check_table_name, new_profile
from downfield.rig.tables.table import source_choice
from downfield.rig.tables.table_calibration import first_pictures

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Calibrate a camera from pictures of the table, or measure its lens.",
)


_SHAKING_PX: Final = 0.4  # Displacement of picture rows, at 1920 px width, by a rolling shutter over a shaking board
_MISSING_SHEET_FRAMES: Final = 60  # Frames without the sheet after which the user gets a hint
_LENS_FRAMES: Final = 120  # Number of frames used from a video of the sheet

Source = Annotated[Path, typer.Argument(help="A picture or a video that shows the whole field.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Write the calibration to this file.")]
Picture = Annotated[
    Path | None, typer.Option(help="Write a picture with the calibrated field drawn on it to this file.")
]
LensOption = Annotated[Path | None, typer.Option("--lens", help="A lens measured by 'downfield calibrate lens'.")]


@app.command("field")
def from_field(
    source: Source,
    out: Out,
    field: Annotated[str, FIELD] = "auto",
    picture: Picture = None,
    lens: LensOption = None,
    height_mm: CameraHeightOption = None,
    write_field: Annotated[
        Path | None, typer.Option(help="Write the field as it was found in the picture to this .toml file.")
    ] = None,
    length: LengthOption = None,
    standing: StandingOption = None,
    reading: ReadingOption = None,
    goal_to_goal: GoalToGoalOption = None,
    side_to_side: SideToSideOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate from the printed field alone."""
    check_outputs(out, write_field, picture=picture, inputs=(source, lens, Path(field)), kind="downfield.calibration")
    check_data_name(out)
    if write_field is not None and not is_field_file(write_field):
        raise InputError(f"{write_field}: --field takes files that end in .toml. End the name in .toml.")
    if lens is not None and (length, standing, height_mm) != (None, None, None):
        raise InputError("--length, --standing and --camera-height are for any camera's lens. Use them without --lens.")
    request = read_request(field, length, reading, height_mm, standing, goal_to_goal, side_to_side)
    prior = _prior(lens)
    with progress_bar("Calibrating") as advance:
        advance(0, text="reading the picture")
        images = read_pictures(source)
        solution = solve_requested(images, request, advance, prior=prior)
    _write(solution.calibration("field", [source.name]), images, out, picture, solution.fit.rows_px, as_json=as_json)
    if write_field is not None:
        write_text(write_field, [measured_field_toml(solution.field)])
    if as_json:
        return
    if request.known is not None or request.lengths is not None:
        print_stdout(f"{solution.field.title}; {describe_measured(None, solution.field)}. {solution.field.source}")
    described = request.fields
    found = describe_measured(described[0], solution.field) if len(described) == 1 else ""
    if found:
        print_stdout(f"Measured in the picture: {found}. The scale is that of the description.")
    if write_field is not None:
        print_stdout(f"The field is written to {write_field}.")


@app.command("table")
def set_up_table(
    name: Annotated[str, typer.Argument(help="A name for the table.")],
    source: Annotated[
        str,
        typer.Option(
            help="A camera (its number or a part of its name), or a stream's address.", autocompletion=complete_sources
        ),
    ],
    field: Annotated[str, FIELD] = "auto",
    reading: ReadingOption = None,
    length: LengthOption = None,
    height_mm: CameraHeightOption = None,
    standing: StandingOption = None,
    goal_to_goal: GoalToGoalOption = None,
    side_to_side: SideToSideOption = None,
    picture: Picture = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set up a table: calibrate its camera and save both, so that 'downfield run' finds them again."""
    check_outputs(inputs=(config, Path(field)), picture=picture)
    check_table_name(name.strip())
    settings = load(config, command_line={"source.name": source}).settings
    folder = TableFolder(tables_folder(settings))
    request = read_request(field, length, reading, height_mm, standing, goal_to_goal, side_to_side)
    with progress_bar(f"Setting up '{name}'") as advance:
        advance(0, text=f"opening {without_password(source)}")
        images = _first_pictures(source_choice(settings, paced=False, is_set_up=True))
        solution = solve_requested(images, request, advance)
    profile = new_profile(name, source, solution.calibration("field", [camera_identity(source)]))
    if picture is not None:
        write_picture(picture, draw_calibration(images[0], profile.calibration))
    path = folder.save(profile)
    lengths = "" if profile.calibration.lengths_known else describe_certainty(profile.calibration)
    saved = f"'{profile.name}' is saved in {path}: {solution.field.title}. 'downfield run' opens it from now on."
    lines = [line for line in (lengths, advise(profile.calibration), saved) if line]
    print_result(as_json, lines, name=profile.name, profile=path, quality=profile.calibration.quality)


@app.command("landmarks")
def from_landmarks(
    source: Source,
    out: Out,
    field: Annotated[str, FIELD],
    at: Annotated[list[str], typer.Option(metavar="LANDMARK", help="A landmark, X_YD,Y_YD=PX,PY; four or more.")],
    picture: Picture = None,
    lens: LensOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate from four or more landmarks given by hand, refined to the paint."""
    check_outputs(out, picture=picture, inputs=(source, lens, Path(field)), kind="downfield.calibration")
    check_data_name(out)
    landmarks, model, prior = [parse_landmark(text) for text in at], load_field(field), _prior(lens)
    with progress_bar("Calibrating") as advance:
        advance(0, text="reading the picture")
        images = read_pictures(source)
        advance(0, text="solving the landmarks")
        solution = solve_landmarks(images, model, landmarks, prior=prior)
    calibration = solution.calibration("landmarks", [source.name])
    _write(calibration, images, out, picture, solution.fit.rows_px, as_json=as_json)


@app.command("fiducials")
def from_fiducials(
    source: Source,
    out: Out,
    field: Annotated[str, FIELD],
    lens: Annotated[Path, typer.Option("--lens", help="A lens measured by 'downfield calibrate lens'.")],
    markers: Annotated[Path, typer.Option(help="A .toml file with the position of each marker.")],
    picture: Picture = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate from square markers beside the field, with a measured lens."""
    check_outputs(out, picture=picture, inputs=(source, lens, markers, Path(field)), kind="downfield.calibration")
    check_data_name(out)
    plan, measured, model = read_fiducials(markers), read_lens(lens), load_field(field)
    with progress_bar("Calibrating") as advance:
        advance(0, text="reading the picture")
        images = read_pictures(source)
        advance(0, text="finding the markers")
        fit, sightings = solve_fiducials(images[0], measured.lens, measured.prior(), plan.markers, plan.family)
    calibration = to_calibration(model, fit, sightings, method="fiducials", made_from=[source.name])
    _write(calibration, images, out, picture, as_json=as_json)


@app.command("sheet")
def sheet_pdf(
    out: Annotated[Path, typer.Option("-o", "--out", help="Write the PDF to this file.")],
    paper: Annotated[str, typer.Option(help="Paper size: a4, a3 or letter.")] = "a4",
    square_mm: Annotated[
        float, typer.Option(parser=number_between(5, 200), metavar="MM", help="Side of a square, mm.")
    ] = 24.0,
) -> None:
    """Write the sheet for measuring a lens. Print it at 100% and keep it flat."""
    check_outputs(out, inputs=())
    write_sheet(out, Sheet(square_mm=square_mm, marker_mm=0.75 * square_mm), paper)
    print_stdout(f"{out}: print it at 100%, check the ruler, and glue it to something flat")


@app.command("lens")
def measure_lens(
    out: Annotated[Path, typer.Option("-o", "--out", help="Write the lens to this file.")],
    views: Annotated[Path | None, typer.Argument(help="A video of the sheet, or a folder of pictures.")] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="A camera to show the sheet to: its number, name or address.", autocompletion=complete_sources
        ),
    ] = None,
    square_mm: Annotated[
        float,
        typer.Option(parser=number_between(5, 200), metavar="MM", help="Side of a printed square, mm; measure it."),
    ] = 24.0,
    as_json: JsonOption = False,
) -> None:
    """Measure a lens from views of the printed sheet, shown to a camera or filmed before."""
    sheet = Sheet(square_mm=square_mm, marker_mm=0.75 * square_mm)
    if (views is None) == (source is None):
        raise InputError("Give either a video or folder of the sheet, or a camera with --source.")
    check_outputs(out, inputs=(views,), kind="downfield.lens")
    check_data_name(out)
    collector = LensCollector(sheet, hold_still=source is not None)
    if views is not None:
        count = len(list(views.iterdir())) if views.is_dir() else _LENS_FRAMES
        _collect(collector, with_progress(_lens_pictures(views), "Finding the sheet", count))
    else:
        print_stderr(
            "Show the sheet to the camera from nearby, in every part of the picture, tilted. Hold it still each time."
        )
        _collect(collector, _live_pictures(source or ""), live=True)
    with progress_bar(f"Solving the lens from {len(collector.views)} views"):
        lens = calibrate_lens(collector.views, collector.size_px)
    write_lens(out, lens)
    text = (
        f"{lens.views} views, rms {lens.rms_px:.3f} px, focal length {lens.lens.focal_px[0]:.1f} px; written to {out}"
    )
    print_result(as_json, [text], file=out, views=lens.views, rms_px=lens.rms_px, focal_px=lens.lens.focal_px)


def _collect(collector: LensCollector, pictures: Iterable[Image], *, live: bool = False) -> None:
    """Print every new view and what is still missing; with a camera, until the views suffice."""
    frames_without_sheet = 0
    for image in pictures:
        if collector.add(image):
            missing = "; still needed: " + "; ".join(collector.missing) if collector.missing else "; that is enough"
            print_stderr(f"view {len(collector.views)}: {len(collector.views[-1].px)} corners{missing}")
        if live and collector.is_complete:
            return
        frames_without_sheet = 0 if collector.sees_sheet else frames_without_sheet + 1
        if live and frames_without_sheet and frames_without_sheet % _MISSING_SHEET_FRAMES == 0:
            print_stderr("The sheet is not found in the picture. Hold it nearer, flat, in good light.")


def parse_landmark(text: str) -> Landmark:
    """Return a landmark written as ``x_yd,y_yd=px,py``. Raises InputError: it is written in another form."""
    try:
        yards, _, pixels = text.partition("=")
        (x_yd, y_yd), (px, py) = ((parse_number(part) for part in pair.split(",")) for pair in (yards, pixels))
    except ValueError:
        raise InputError(f"'{text}' is not a landmark. Write X_YD,Y_YD=PX,PY, such as 50,0=962.5,871.") from None
    return Landmark(x_yd, y_yd, (px, py))


def _prior(lens: Path | None) -> LensPrior | None:
    return None if lens is None else read_lens(lens).prior()


def _first_pictures(choice: SourceChoice) -> list[Image]:
    source = open_source(choice, CaptureClock(), ActiveProblems())
    try:
        if not source.facts.live:
            raise InputError(f"{choice.text}: is a recording. Name the table's camera, or a stream's address.")
        return first_pictures(source)
    finally:
        source.close()


def _lens_pictures(source: Path) -> Iterator[Image]:
    if source.is_dir():
        for path in sorted(source.iterdir()):
            yield from read_pictures(path)
    else:
        yield from read_pictures(source, _LENS_FRAMES)


def _live_pictures(source: str) -> Iterator[Image]:
    source_frames = open_source(SourceChoice(source), CaptureClock(), ActiveProblems())
    try:
        for frame in source_frames.frames():
            yield frame.decode().image
    finally:
        source_frames.close()


def _write(
    calibration: Calibration,
    images: list[Image],
    out: Path,
    picture: Path | None,
    rows_px: float = 0.0,
    *,
    as_json: bool,
) -> None:
    """Write a calibration and print how good it is; `rows_px` is how far rows of the picture were displaced."""
    write_calibration(out, calibration)
    if picture:
        write_picture(picture, draw_calibration(images[0], calibration))
    if as_json:
        values = {"calibration": str(out), "field": calibration.field.name, "method": calibration.method}
        lengths = None if calibration.lengths_known else describe_certainty(calibration)
        notes = [text for text in (lengths, advise(calibration)) if text]
        quality, tops_yd = calibration.quality, base_top_error_yd(calibration)
        print_stdout(json_text(values | {"quality": quality, "base_tops_2_sigma_yd": tops_yd, "notes": notes}))
    else:
        print_stdout(*_summary(calibration, out))
    if rows_px > _SHAKING_PX * images[0].shape[1] / 1920:
        print_stderr(
            f"The picture's rows are displaced by up to {rows_px:.1f} px. Switch the board off and keep the table still"
            " while calibrating."
        )


def _summary(calibration: Calibration, out: Path) -> list[str]:
    """Return lines for people: the result, its accuracy, and what would improve it."""
    quality = calibration.quality
    if quality is None:
        return [f"written to {out}"]
    text = (
        f"{calibration.field.name}: {quality.points} points, rms {quality.rms_px:.3f} px = {quality.rms_mm:.3f} mm ="
        f" {max(quality.rms_yd):.4f} yd; base tops to {base_top_error_yd(calibration):.3f} yd (two sigma);"
        f" written to {out}"
    )
    open_mm = "" if calibration.lengths_known else describe_certainty(calibration)
    return [part for part in (text, open_mm, advise(calibration)) if part]
