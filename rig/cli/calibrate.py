"""`downfield calibrate`: from pixels to yards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.drawing import draw_calibration
from downfield.calibration.field.fiducials import read_fiducials, solve_fiducials
from downfield.calibration.field.landmarks import Landmark, solve_landmarks
from downfield.calibration.field.solver import FieldSolution, solve_field
from downfield.calibration.lens.collector import LensCollector
from downfield.calibration.lens.lens_calibration import calibrate_lens, read_lens, write_lens
from downfield.calibration.lens.prior import LensPrior
from downfield.calibration.lens.sheet import Sheet, write_sheet
from downfield.calibration.pictures import read_pictures, write_picture
from downfield.calibration.quality import to_calibration
from downfield.core.arrays import Image
from downfield.core.errors import InputError
from downfield.core.field import load_field, preset, preset_names
from downfield.rig.live.troubles import ActiveProblems
from downfield.rig.sources.clocks import CaptureClock
from downfield.rig.sources.opening import SourceChoice, open_source
from downfield.rig.standing_figures import distance_known

app = typer.Typer(no_args_is_help=True, help="Turn pictures of a table into a calibration.")

_COARSE_SIGMA_YD = 0.03
_WOBBLY_PX = 0.4  # at 1920 px: a rolling shutter over a shaking board
_UNSEEN_TOLD = 60  # pictures without the sheet after which it is told
_LENS_FRAMES = 120  # looked at in a video of the sheet

Source = Annotated[Path, typer.Argument(help="A picture or a video of the whole field.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Where to write the calibration.")]
Picture = Annotated[Path | None, typer.Option(help="Also draw the model over the picture, here.")]
LensOption = Annotated[Path | None, typer.Option("--lens", help="A measured lens, from 'calibrate lens'.")]


@app.command("field")
def from_field(
    source: Source,
    out: Out,
    field: Annotated[str, typer.Option("--field", help="A preset's name, a .toml file, or auto.")] = "auto",
    picture: Picture = None,
    lens: LensOption = None,
    height_mm: Annotated[
        float | None, typer.Option("--camera-height", help="Of the lens over the board, mm, by a tape measure.")
    ] = None,
) -> None:
    """Calibrate from the printed field alone."""
    images = read_pictures(source)
    fields = [preset(name) for name in preset_names()] if field == "auto" else [load_field(field)]
    prior = _prior(lens)
    distance = distance_known(images[0], height_mm) if prior is None else None
    solution = solve_field(images, fields, prior=prior, distance=distance)
    _finish(solution, images, source, out, picture, by_hand=False)


@app.command("landmarks")
def from_landmarks(
    source: Source,
    out: Out,
    field: Annotated[str, typer.Option("--field", help="A preset's name or a .toml file.")],
    at: Annotated[list[str], typer.Option(help="x_yd,y_yd=px,py of one place; four or more times.")],
    picture: Picture = None,
    lens: LensOption = None,
) -> None:
    """Calibrate from four or more places shown by hand, refined to the paint."""
    images = read_pictures(source)
    solution = solve_landmarks(images, load_field(field), [parse_landmark(text) for text in at], prior=_prior(lens))
    _finish(solution, images, source, out, picture, by_hand=True)


@app.command("fiducials")
def from_fiducials(
    source: Source,
    out: Out,
    field: Annotated[str, typer.Option("--field", help="A preset's name or a .toml file.")],
    lens: Annotated[Path, typer.Option("--lens", help="A measured lens, from 'calibrate lens'.")],
    markers: Annotated[Path, typer.Option(help="A .toml file that says where each marker is stuck.")],
    picture: Picture = None,
) -> None:
    """Calibrate from square markers stuck beside the field, the lens being known."""
    images = read_pictures(source)
    plan, measured = read_fiducials(markers), read_lens(lens)
    fit, sightings = solve_fiducials(images[0], measured.lens, measured.prior(), plan.markers, plan.family)
    calibration = to_calibration(load_field(field), fit, sightings, method="fiducials", made_from=[source.name])
    _write(calibration, images, out, picture)


@app.command("sheet")
def sheet_pdf(
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to write the PDF.")],
    paper: Annotated[str, typer.Option(help="a4, a3 or letter.")] = "a4",
    square_mm: Annotated[float, typer.Option(help="Side of a square.")] = 24.0,
) -> None:
    """Write the sheet for measuring a lens, to be printed at 100% and kept flat."""
    write_sheet(out, Sheet(square_mm=square_mm, marker_mm=0.75 * square_mm), paper)
    typer.echo(f"{out}: print at 100%, check the ruler, and glue it to something flat")


@app.command("lens")
def measure_lens(
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to write the lens.")],
    views: Annotated[Path | None, typer.Argument(help="A video of the sheet, or a folder of pictures of it.")] = None,
    source: Annotated[str | None, typer.Option(help="Or a camera to show it to: its number, name or address.")] = None,
    square_mm: Annotated[float, typer.Option(help="Side of a square as printed; measure it.")] = 24.0,
) -> None:
    """Measure a lens from views of the printed sheet, shown to a camera or filmed before."""
    sheet = Sheet(square_mm=square_mm, marker_mm=0.75 * square_mm)
    if (views is None) == (source is None):
        raise InputError("give either a video or folder of the sheet, or a camera with --source")
    collector = LensCollector(sheet, hold_still=source is not None)
    if views is not None:
        _collect(collector, _lens_pictures(views))
    else:
        typer.echo("show the sheet to the camera, near, in every part of the picture, tilted; hold it still each time")
        _collect(collector, _live_pictures(source or ""), live=True)
    lens = calibrate_lens(collector.views, collector.size_px)
    write_lens(out, lens)
    typer.echo(
        f"{lens.views} views, rms {lens.rms_px:.3f} px, focal length {lens.lens.focal_px[0]:.1f} px; written to {out}"
    )


def _collect(collector: LensCollector, pictures: Iterable[Image], *, live: bool = False) -> None:
    """Tell of every new view and what is lacking; before a camera, until nothing is."""
    unseen = 0
    for image in pictures:
        if collector.add(image):
            still = "; still needed: " + "; ".join(collector.missing) if collector.missing else "; that is enough"
            typer.echo(f"view {len(collector.views)}: {len(collector.views[-1].px)} corners{still}")
        if live and collector.is_complete:
            return
        unseen = 0 if collector.sees_sheet else unseen + 1
        if live and unseen and unseen % _UNSEEN_TOLD == 0:
            typer.echo("the sheet is not seen: hold it nearer, flat, in good light")


def parse_landmark(text: str) -> Landmark:
    """A landmark written as ``x_yd,y_yd=px,py``.

    Raises:
        InputError: it is written otherwise.

    """
    try:
        yards, _, pixels = text.partition("=")
        (x_yd, y_yd), (px, py) = ((float(part) for part in pair.split(",")) for pair in (yards, pixels))
    except ValueError:
        raise InputError(f"'{text}' is no landmark: write x_yd,y_yd=px,py, such as 50,0=962.5,871") from None
    return Landmark(x_yd, y_yd, (px, py))


def _prior(lens: Path | None) -> LensPrior | None:
    return None if lens is None else read_lens(lens).prior()


def _lens_pictures(source: Path) -> Iterator[Image]:
    if source.is_dir():
        for path in sorted(source.iterdir()):
            yield from read_pictures(path)
    else:
        yield from read_pictures(source, _LENS_FRAMES)


def _live_pictures(source: str) -> Iterator[Image]:
    """A camera's pictures as they come."""
    frames = open_source(SourceChoice(source), CaptureClock(), ActiveProblems())
    try:
        for shot in frames.frames():
            yield shot.frame().image
    finally:
        frames.close()


def _finish(
    solution: FieldSolution, images: list[Image], source: Path, out: Path, picture: Path | None, *, by_hand: bool
) -> None:
    calibration = to_calibration(
        solution.field,
        solution.fit,
        solution.observations,
        method="landmarks" if by_hand else "field",
        made_from=[source.name],
    )
    _write(calibration, images, out, picture)
    if solution.fit.rows_px > _WOBBLY_PX * images[0].shape[1] / 1920:
        typer.echo(
            f"the picture's rows are displaced by up to {solution.fit.rows_px:.1f} px: switch the board off and keep"
            " the table still while calibrating"
        )


def _write(calibration: Calibration, images: list[Image], out: Path, picture: Path | None) -> None:
    write_calibration(out, calibration)
    if picture:
        write_picture(picture, draw_calibration(images[0], calibration))
    typer.echo(_summary(calibration, out))


def _summary(calibration: Calibration, out: Path) -> str:
    """What was found, how good it is, and what would make it better."""
    quality = calibration.quality
    if quality is None:
        return f"written to {out}"
    sigma_yd = [max(np.array(cell.sigma_mm) / calibration.field.mm_per_yd) for cell in quality.cells]
    text = (
        f"{calibration.field.name}: {quality.points} places, rms {quality.rms_px:.3f} px = {quality.rms_mm:.3f} mm ="
        f" {max(quality.rms_yd):.4f} yd; base tops to {2 * np.median(sigma_yd):.3f} yd (two sigma); written to {out}"
    )
    if np.median(sigma_yd) > _COARSE_SIGMA_YD:
        text += (
            "\nseen so nearly straight down, the camera's height can't be told from its focal length: tilt it by 5 to"
            " 10 degrees, or measure the lens with 'downfield calibrate lens' and give it with --lens"
        )
    return text
