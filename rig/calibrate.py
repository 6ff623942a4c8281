"""`downfield calibrate`: from pixels to yards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from downfield.calibration.calibration import Calibration, write_calibration
from downfield.calibration.field_file import load_field, preset, preset_names
from downfield.calibration.from_field import solve_field
from downfield.calibration.picture import draw_calibration
from downfield.calibration.pictures import read_pictures, write_picture
from downfield.calibration.quality import to_calibration

app = typer.Typer(no_args_is_help=True, help="Turn pictures of a table into a calibration.")

_COARSE_SIGMA_YD = 0.03


@app.callback()
def _root() -> None:
    """Turn pictures of a table into a calibration."""


Source = Annotated[Path, typer.Argument(help="A picture or a video of the whole field.")]
Field = Annotated[str, typer.Option("--field", help="A preset's name, a .toml file, or auto.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Where to write the calibration.")]
Picture = Annotated[Path | None, typer.Option(help="Also draw the model over the picture, here.")]


@app.command("field")
def from_field(source: Source, out: Out, field: Field = "auto", picture: Picture = None) -> None:
    """Calibrate from the printed field alone."""
    images = read_pictures(source)
    fields = [preset(name) for name in preset_names()] if field == "auto" else [load_field(field)]
    solution = solve_field(images, fields)
    calibration = to_calibration(
        solution.field, solution.fit, solution.sightings, method="field", made_from=[source.name]
    )
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
        f"{calibration.field.name}: {quality.points} places, rms {quality.rms_px:.3f} px ="
        f" {quality.rms_mm:.3f} mm ="
        f" {max(quality.rms_yd):.4f} yd; base tops to {2 * np.median(sigma_yd):.3f} yd (two sigma); written to {out}"
    )
    if np.median(sigma_yd) > _COARSE_SIGMA_YD:
        text += (
            "\nseen so nearly straight down, the camera's height can't be told from its focal length: tilt it by"
            " 5 to 10 degrees, or measure the lens with 'downfield calibrate lens' and give it with --lens"
        )
    return text
